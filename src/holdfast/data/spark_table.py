"""A Spark table that is watched: every scan is of the very rows of the opening.

A DataFrame is a query: what it reads may be written by others, and what it computes may differ from
one run to the next. So every row of a scan carries a hash of what it holds, and the sum of these
hashes must be that of the opening. A hash of all columns would have a scan of two columns read them
all; so the first scan that reads some columns sums the hashes of all columns and of these, and
later ones that read the same only the latter.

An accident goes unnoticed with a chance of about 2^-64.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from logging import LogRecord, getLogger
from typing import TYPE_CHECKING

from holdfast.data.sample import check_names, reading
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["EPOCH", "WatchedTable", "asking_spark"]

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"

_EXACT_DIGITS = 15  # as in holdfast.data.plain: such decimals are one exact division
_DECIMAL = re.compile(r"decimal\((\d+),-?\d+\)")
_TYPES = {
    "boolean": ColumnType.BOOLEAN,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), ColumnType.INTEGER),
    **dict.fromkeys(("float", "double"), ColumnType.FLOAT),
    "date": ColumnType.DATE,
    "timestamp": ColumnType.DATETIME,
    "timestamp_ntz": ColumnType.DATETIME,
}
_TEXT = re.compile(r"(string|varchar|char)\b.*")
# How each type comes to be the one of its kind, whatever the session's time zone and collation.
_PLAIN = {
    ColumnType.BOOLEAN: "{}",
    ColumnType.INTEGER: "CAST({} AS BIGINT)",
    ColumnType.FLOAT: "CAST({} AS DOUBLE)",
    ColumnType.TEXT: "collate(CAST({} AS STRING), 'UTF8_BINARY')",
    ColumnType.DATE: "{}",
    ColumnType.DATETIME: "{}",
    ColumnType.OTHER: "CAST({} AS STRING)",
}
_INSTANT = f"timestampadd(MICROSECOND, unix_micros({{}}), {EPOCH})"
_LOW_BITS = (1 << 32) - 1
_MOST_IN_BIGINT = 1 << 30  # rows of which a sum of 32 bits each surely fits
# What Spark calls its errors where the table or a file of it is no longer there.
_GONE = ("FAILED_READ_FILE", "PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND")
_LOGGER = "SQLQueryContextLogger"  # of pyspark: what it writes can quote rows

_asking: ContextVar[bool] = ContextVar("asking", default=False)


def _unless_asking(_: LogRecord) -> bool:
    return not _asking.get()


@contextmanager
def asking_spark() -> Iterator[None]:
    """No word of Spark's about a query of ours: it may quote rows."""
    logger = getLogger(_LOGGER)
    if _unless_asking not in logger.filters:
        logger.addFilter(_unless_asking)
    before = _asking.set(True)
    try:
        yield
    except HoldfastError:
        raise
    except Exception as error:
        if any(f"[{name}" in str(error) for name in _GONE):
            raise _changed("it, or a file of it, is gone") from None
        raise
    finally:
        _asking.reset(before)


def _changed(how: str) -> DataChanged:
    return DataChanged(
        f"the Spark table is not as it was opened: {how}. Open the ledger again, with the original "
        "table."
    )


class WatchedTable:
    """The rows of a DataFrame, each column as the one type of its kind, under names of our own.

    `names` are these names, by column.
    """

    def __init__(self, frame: DataFrame) -> None:
        if frame.isStreaming:
            raise InvalidArgument(
                "data is a stream of Spark, whose rows keep coming; save it as a table, and open "
                "that."
            )
        with reading(), asking_spark():
            dtypes = frame.dtypes
            check_names([name for name, _ in dtypes])
            self.types: Mapping[str, ColumnType] = {name: _kind(dtype) for name, dtype in dtypes}
            self.names: Mapping[str, str] = {
                name: f"own{place}" for place, name in enumerate(self.types)
            }
            # Renamed by their places: no name of a column is ever part of a query.
            self.rows = frame.toDF(*self.names.values()).selectExpr(
                *(
                    f"{_plain(self.names[name], dtype)} AS {self.names[name]}"
                    for name, dtype in dtypes
                )
            )
            self._known: dict[frozenset[str], int] = {}
            self._few = False  # before they are counted: whether sums fit 64 bits
            every = list(self.types)
            hashed = self.rows.selectExpr(*self.watched(every))
            (found,) = hashed.selectExpr(*self.sums_of(every)).collect()
            self.n = int(found[0])
            self._few = self.n < _MOST_IN_BIGINT
            self.require_rows(every, found)

    def watched(self, columns: Sequence[str]) -> list[str]:
        """What a scan of these columns selects beside them: hashes of each row, by names w0, ..."""
        return [
            f"xxhash64({', '.join(sorted(self.names[name] for name in each))}) AS w{place}"
            for place, each in enumerate(self._sets(columns))
        ]

    def sums_of(self, columns: Sequence[str]) -> list[str]:
        """What it then sums, for `require_rows`: how many rows, and the hashes in two parts."""
        hashes = [f"w{place}" for place in range(len(self._sets(columns)))]
        parts = [part for name in hashes for part in (f"{name} >> 32", f"{name} & {_LOW_BITS}")]
        return ["count(*)", *(self.summed(part) for part in parts)]

    def summed(self, code: str) -> str:
        """The exact sum of whole numbers of at most 33 bits: with ANSI mode, and without."""
        return f"sum({code if self._few else f'CAST({code} AS DECIMAL(20, 0))'})"

    def require_rows(self, columns: Sequence[str], found: Sequence[int | None]) -> None:
        """Refuse what a scan of these columns saw, unless they are the rows of the opening."""
        rows, *parts = (int(each or 0) for each in found)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        totals = {
            each: (high << 32) + low
            for each, (high, low) in zip(self._sets(columns), pairs, strict=True)
        }
        known = {each: total for each, total in totals.items() if each in self._known}
        if rows != self.n or any(self._known[each] != total for each, total in known.items()):
            raise _changed("rows were added, removed or changed")
        self._known |= totals

    def hashes_in(self, columns: Sequence[pl.Series]) -> list[int]:
        """The two parts of the sums of hashes in a batch of rows, as a scan would sum them."""
        numbers = [each.to_numpy() for each in columns]
        return [int(part.sum()) for each in numbers for part in (each >> 32, each & _LOW_BITS)]

    def _sets(self, columns: Sequence[str]) -> list[frozenset[str]]:
        """The columns of a scan; and all of them, unless what it should find is known."""
        own, every = frozenset(columns).intersection(self.types), frozenset(self.types)
        if not own or own == every:
            return [every]
        return [own] if own in self._known else [own, every]


def _kind(dtype: str) -> ColumnType:
    decimal = _DECIMAL.fullmatch(dtype)
    if decimal:
        return ColumnType.FLOAT if int(decimal[1]) <= _EXACT_DIGITS else ColumnType.OTHER
    if _TEXT.fullmatch(dtype):
        return ColumnType.TEXT
    return _TYPES.get(dtype, ColumnType.OTHER)


def _plain(name: str, dtype: str) -> str:
    if dtype == "timestamp":
        return _INSTANT.format(name)
    if dtype == "binary":
        return name
    return _PLAIN[_kind(dtype)].format(name)
