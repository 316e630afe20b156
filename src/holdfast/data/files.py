"""A table in files: how they are written, and scans of the very files that were opened.

What an operating system says of a file changes with its content: its size, when it was written,
when its record was last touched (nobody can set that one back) and which file the name stands for.
It is compared before a scan, so that a changed file is not read, and after it, so that one that
changed meanwhile gives no answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from holdfast import require
from holdfast.data.histogram import Histogram
from holdfast.data.sample import Moments, Sample
from holdfast.errors import DataChanged, InvalidArgument
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "AS_USUAL",
    "BUCKETS",
    "FileSample",
    "FileStamp",
    "TableForm",
    "file_stamps",
    "is_bucket",
    "is_path",
    "table_form",
]


# How addresses of files that lie elsewhere begin, and the extension by which DuckDB reads them.
BUCKETS = {
    **dict.fromkeys(("s3", "s3a", "s3n", "gs", "gcs", "r2", "http", "https"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfss"), "azure"),
}


def is_path(data: object) -> TypeGuard[str | Path]:
    """Whether it names files of this machine, and is no address of something elsewhere."""
    return isinstance(data, str | Path) and "://" not in str(data)


def is_bucket(data: object) -> bool:
    """Whether it is the address of files in a bucket."""
    if not isinstance(data, str) or "://" not in data:
        return False
    return data.partition("://")[0].lower() in BUCKETS


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What an operating system says of a file. Equal stamps: take the content to be unchanged."""

    path: str
    size: int
    modified_ns: int
    changed_ns: int
    inode: int


def file_stamps(paths: Iterable[Path]) -> tuple[FileStamp, ...]:
    """The stamps of files, by path."""
    return tuple(_stamp(str(path)) for path in sorted(Path(path).resolve() for path in paths))


def _stamp(path: str) -> FileStamp:
    try:
        status = os.stat(path)
    except OSError:
        raise DataChanged(
            f"the file {path!r} is gone or cannot be looked at; put it back, or open the ledger "
            "with the table's new place."
        ) from None
    return FileStamp(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class FileSample:
    """A sample whose rows are read from files again and again."""

    sample: Sample
    stamps: tuple[FileStamp, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.sample.n

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types."""
        return self.sample.types

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Try the engine's form of the rows' values; reads none of them."""
        self.sample.prepare(rows)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """Exact sums of grid units."""
        with self._unchanged():
            return self.sample.sums(rows)

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """Exact sums of grid units and of their squares."""
        with self._unchanged():
            return self.sample.moments(rows)

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Exact counts in narrow bins."""
        with self._unchanged():
            return self.sample.histograms(asked)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Batches of the columns."""
        with self._unchanged():
            yield from self.sample.frames(columns)

    def joined(self, key: str, frame: pl.DataFrame) -> FileSample:
        """The rows of the same files, with more columns beside them."""
        return replace(self, sample=self.sample.joined(key, frame))

    def require_unchanged(self) -> None:
        """Refuse files that are not those of the opening any more."""
        for stamp in self.stamps:
            if _stamp(stamp.path) != stamp:
                raise DataChanged(
                    f"the file {stamp.path!r} was changed, replaced or touched since it was "
                    "opened; open the ledger again, with the original table."
                )

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        self.require_unchanged()
        try:
            yield
        finally:  # a scan that failed may have failed because of the change
            self.require_unchanged()


# How a table is written in its files, where these do not say it themselves.


_NO_SEPARATOR = frozenset('"\r\n')
_DECIMALS = (".", ",")
_THOUSANDS = (".", ",", " ", "'", "_")


@dataclass(frozen=True, slots=True)
class TableForm:
    """What separates the cells of CSV files, and which texts stand for a missing one.

    `flags` are columns of 0 and 1, of any file, that are conditions: they are read as false and
    true. `decimal` and `thousands` are the signs in numbers of CSV files, `date_format` is how
    their dates are written: "%d.%m.%Y". All this is declared, and kept in the ledger: it says what
    a table means.
    """

    separator: str = ","
    null: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        signs = (self.decimal, self.thousands)
        if self.decimal not in _DECIMALS or self.thousands not in (None, *_THOUSANDS):
            raise InvalidArgument(
                f"decimal is {self.decimal!r} and thousands {self.thousands!r}; decimal must be "
                "'.' or ',', and thousands one of '.', ',', a space, \"'\" and '_'."
            )
        if self.decimal == self.thousands:
            raise InvalidArgument(
                f"decimal and thousands are both {signs[0]!r}; a number could be read in two ways."
            )
        if self.date_format is not None and not all(
            each in self.date_format for each in ("%d", "%m", "%Y")
        ):
            raise InvalidArgument(
                f"date_format is {self.date_format!r}; it must say where day, month and year are: "
                "'%d.%m.%Y'."
            )
        sign = self.separator
        if len(sign) != 1 or not sign.isascii() or sign in _NO_SEPARATOR:
            raise InvalidArgument(
                f"separator is {sign!r}; it must be one character that stands between cells, "
                "such as ';' or a tab, and neither a quote nor the end of a line."
            )

    @property
    def is_of_csv(self) -> bool:
        """Whether it says something that only CSV files have."""
        return bool(self.null) or self.separator != AS_USUAL.separator or self.is_of_cells

    @property
    def is_of_cells(self) -> bool:
        """Whether it says how numbers or dates are written."""
        usual = (AS_USUAL.decimal, AS_USUAL.thousands, AS_USUAL.date_format)
        return (self.decimal, self.thousands, self.date_format) != usual

    def body(self) -> dict[str, Any]:
        """The part of a ledger's first entry; nothing where nothing was declared."""
        if self == AS_USUAL:
            return {}
        cells = {} if self.is_of_cells else dict.fromkeys(_CELLS)
        return {"form": {name: each for name, each in asdict(self).items() if name not in cells}}

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> TableForm:
        """What `body` wrote."""
        form = body.get("form")
        if form is None:
            return AS_USUAL
        cells = {name: form[name] for name in _CELLS if name in form}  # older ones have none
        return cls(form["separator"], tuple(form["null"]), tuple(form["flags"]), **cells)


_CELLS = ("decimal", "thousands", "date_format")
AS_USUAL = TableForm()


def table_form(
    separator: str | None = None,
    null: str | Sequence[str] | None = None,
    flags: Sequence[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
) -> TableForm:
    """The form that arguments say; what they leave out is as usual."""
    texts = [null] if isinstance(null, str) else null
    return TableForm(
        AS_USUAL.separator if separator is None else require.text("separator", separator),
        () if texts is None else tuple(sorted(set(require.texts("null", texts)))),
        () if flags is None else tuple(sorted(set(require.texts("flags", flags)))),
        AS_USUAL.decimal if decimal is None else require.text("decimal", decimal),
        None if thousands is None else require.text("thousands", thousands),
        None if date_format is None else require.text("date_format", date_format),
    )
