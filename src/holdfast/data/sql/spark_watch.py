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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from logging import LogRecord, getLogger
from typing import TYPE_CHECKING

from holdfast.data.sample import check_names, reading
from holdfast.data.sql.language import sql_column_type
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"

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
MOST_IN_BIGINT = 1 << 30  # rows of which a sum of 32 bits each surely fits
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
            raise _changed("it, or a file of it, is gone or cannot be read") from None
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
        try:
            self._open(frame)
        except DataChanged:
            raise InvalidArgument(
                "data is a table of Spark that, or a file of which, is gone or cannot be read; see "
                "that Spark itself can count its rows."
            ) from None

    def _open(self, frame: DataFrame) -> None:
        with reading(), asking_spark():
            if frame.isStreaming:
                raise InvalidArgument(
                    "data is a stream of Spark, whose rows keep coming; save it as a table, and "
                    "open that."
                )
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
            watch = self.watch(self.types)
            sums = ["count(*)", *(f"sum({part})" for part in watch.parts)]
            (line,) = self.rows.selectExpr(*watch.selected).selectExpr(*sums).collect()
            self.n, *parts = (int(each or 0) for each in line)  # a sum of no rows is NULL
            watch.require(self.n, parts)
            self._few = self.n < MOST_IN_BIGINT

    def watch(self, columns: Iterable[str]) -> Watch:
        """What a scan of these columns looks at beside them."""
        own, every = frozenset(columns).intersection(self.types), frozenset(self.types)
        if not own or own == every:
            return Watch(self, (every,))
        return Watch(self, (own,) if own in self._known else (own, every))

    def exact(self, code: str) -> str:
        """Whole numbers of at most 33 bits, for an exact sum with ANSI mode and without."""
        return code if self._few else f"CAST({code} AS DECIMAL(20, 0))"

    def require_rows(self, rows: int, totals: Mapping[frozenset[str], int]) -> None:
        """Refuse what a scan saw, unless these are the rows of the opening.

        `totals` are the sums of the hashes of columns.
        """
        pairs = (
            (self._known[each], total) for each, total in totals.items() if each in self._known
        )
        if rows != self.n or any(before != now for before, now in pairs):
            raise _changed("rows were added, removed or changed")
        self._known |= totals


@dataclass(frozen=True, slots=True)
class Watch:
    """What one scan looks at to see that its rows are those of the opening.

    The sets of columns of which each row has a hash: those that are read, and all of them unless
    it is known what their hashes add up to.
    """

    table: WatchedTable
    sets: tuple[frozenset[str], ...]

    @property
    def hashes(self) -> list[str]:
        """The names of the hashes."""
        return [f"w{place}" for place in range(len(self.sets))]

    @property
    def selected(self) -> list[str]:
        """What is selected beside the columns: the hashes.

        Spark's hash passes over NULL, so that where one stands is hashed beside each value.
        """
        names = self.table.names
        hashed = (sorted(names[each] for each in columns) for columns in self.sets)
        values = (", ".join(f"{each}, {each} IS NULL" for each in columns) for columns in hashed)
        return [
            f"xxhash64({each}) AS {name}" for each, name in zip(values, self.hashes, strict=True)
        ]

    @property
    def parts(self) -> list[str]:
        """What is to be summed of them, for `require`: each in two parts, which fit 64 bits."""
        halves = ((f"shiftright({name}, 32)", f"({name} & {_LOW_BITS})") for name in self.hashes)
        return [self.table.exact(half) for pair in halves for half in pair]

    def parts_of(self, rows: pl.DataFrame) -> list[int]:
        """The sums of the parts over some rows."""
        return parts_of_hashes([rows[name] for name in self.hashes])

    def require(self, rows: int, parts: Sequence[int]) -> None:
        """Refuse so many rows with these sums, unless they are those of the opening."""
        halves = zip(parts[::2], parts[1::2], strict=True)
        totals = (int(high << 32) + int(low) for high, low in halves)
        self.table.require_rows(rows, dict(zip(self.sets, totals, strict=True)))


def parts_of_hashes(hashes: Sequence[pl.Series]) -> list[int]:
    """The sums of the upper and of the lower half of each hash."""
    words = (each.to_numpy() for each in hashes)
    return [int(half.sum()) for each in words for half in (each >> 32, each & _LOW_BITS)]


def _kind(dtype: str) -> ColumnType:
    return ColumnType.TEXT if _TEXT.fullmatch(dtype) else sql_column_type(dtype, _TYPES)


def _plain(name: str, dtype: str) -> str:
    if dtype == "timestamp":
        return _INSTANT.format(name)
    if dtype == "binary":
        return name
    return _PLAIN[_kind(dtype)].format(name)
