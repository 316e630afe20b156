"""One door for every kind of table: in files, a database or memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from holdfast import require
from holdfast.data.database import is_database_url
from holdfast.data.histogram import Histogram
from holdfast.data.sample import Moments, Sample, check_names, reading, require_narrow_decimals
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

# A table in files: how they are written, and scans of the very files that were opened.
#
# What an operating system says of a file changes with its content: its size, when it was written,
# when its record was last touched (nobody can set that one back) and which file the name stands
# for. It is compared before a scan, so that a changed file is not read, and after it, so that one
# that changed meanwhile gives no answer.


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


# A table as people give it.


_Frame = TypeVar("_Frame", "pl.DataFrame", "pl.LazyFrame")
_PROCESS = os.getpid()  # the one whose threads Polars may have started
_PARQUET = frozenset({".parquet", ".pq"})
_CSV = frozenset({".csv"})
_DUCKDB = frozenset({".duckdb", ".db", ".ddb"})


@dataclass(frozen=True, slots=True)
class KnownTable:
    """What is known of a table before it is read: how it is written, and the types of columns.

    One that was `seen` before is not looked at again: a ledger compares it with what it was.
    """

    form: TableForm = AS_USUAL
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    seen: bool = False


_NOTHING = KnownTable()


def open_sample(data: object, *, table: str | None = None, known: KnownTable = _NOTHING) -> Sample:
    """The table as a sample that does not change: a copy, or files that are watched.

    `data` is a pandas, Polars (eager or lazy) or pyarrow table, a DuckDB relation, or a path or
    glob of Parquet or CSV files, a folder of Parquet files in partitions, the address of Parquet
    files in a bucket, the path of a DuckDB database file (with `table`, if it holds several),
    or the address of a PostgreSQL database (with `table`) or a Spark DataFrame, which are watched.
    Tables in memory are copied, lazy frames and relations collected, once. CSV files are read
    through once to find their columns' types, but for those that are `known`.
    """
    require_unforked()
    sample = _opened(data, table, known)
    if not sample.types:
        raise InvalidArgument("The table has no columns.")
    if sample.n == 0:
        raise InvalidArgument("The table has no rows; give one that has some.")
    return sample


def require_unforked() -> None:
    """Refuse a process that is a fork: the threads of Polars do not come along, and it hangs."""
    if os.getpid() != _PROCESS:
        raise InvalidArgument(
            f"this process is a fork of process {_PROCESS}, and Polars hangs in forks; start "
            "processes by 'spawn' or 'forkserver' (multiprocessing.get_context), and open tables "
            "there."
        )


def is_query(data: object, sample: Sample) -> bool:
    """Whether the sample holds what a query gave, which may give other rows another time."""
    lazy = type(data).__name__ in ("DuckDBPyRelation", "LazyFrame")
    file = isinstance(data, str | Path) and not is_database_url(data)
    return lazy or (file and not isinstance(sample, FileSample))


def files_of(data: object) -> list[Path]:
    """The files that a path or glob names, sorted, of a folder the Parquet files in it.

    None for data in memory, in a database or in a bucket.
    """
    if not isinstance(data, str | Path) or is_database_url(data) or is_bucket(data):
        return []
    if "://" in str(data):
        raise InvalidArgument(
            f"data is {str(data)!r}; only files on this machine and in buckets (s3://, gs://, "
            "az://, https://) are read, and tables of postgresql:// databases."
        )
    path = Path(data)
    try:
        # Resolved at once: neither another working folder nor a link changes which files they are.
        if path.is_file():
            return [path.resolve()]
        folder = path.is_dir()
        candidates = path.rglob("*") if folder else map(Path, glob.glob(str(data), recursive=True))
        files = [each.resolve() for each in sorted(candidates) if each.is_file()]
        if folder:
            files = [each for each in files if each.suffix.lower() in _PARQUET]
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"data is {str(data)!r}, which cannot be the name of a file ({error}); give the path "
            "of a file."
        ) from None
    if not files:
        fault = "is a folder without Parquet files" if folder else "names no file"
        raise InvalidArgument(
            f"data is {str(data)!r}, which {fault}; give the path of a CSV or Parquet file."
        )
    return files


def csv_paths(data: object) -> list[str]:
    """The files that a path or glob names, if they are CSV."""
    named = files_of(data)
    return [str(file) for file in named] if _are(named, _CSV) else []


def require_form(data: object, form: TableForm) -> None:
    """Refuse what is said of CSV files, where there are none."""
    if form.is_of_csv and not csv_paths(data):
        raise InvalidArgument(
            "separator, null, decimal, thousands and date_format say how CSV files are written, "
            "and the data is in none; leave them out."
        )


def frame_of(data: Any) -> pl.DataFrame | None:
    """A table in memory as a Polars frame, or None if it is something else."""
    import polars as pl

    if isinstance(data, pl.DataFrame):
        return data
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas" and type(data).__name__ == "DataFrame":
        return from_pandas(data)
    if kind != "duckdb" and hasattr(data, "__arrow_c_stream__") and not isinstance(data, pl.Series):
        if kind == "pyarrow":
            require_narrow_decimals({field.name: field.type for field in data.schema})
        try:
            return pl.DataFrame(data)
        # Whatever the library of that table raises, or Polars where it gives up.
        except (Exception, pl.exceptions.PanicException):
            raise InvalidArgument(
                f"data is a {type(data).__name__} that Polars cannot read; see that its columns "
                "have different names and types that Arrow knows."
            ) from None
    return None


def _opened(data: object, table: str | None, known: KnownTable) -> Sample:
    if isinstance(data, str) and is_database_url(data):
        from holdfast.data.sql.postgres import open_database_table

        return open_database_table(data, table)
    files = files_of(data)
    if _are(files, _DUCKDB):
        if len(files) > 1:
            raise InvalidArgument(f"data is {str(data)!r}, which names {len(files)} databases.")
        from holdfast.data.sql.duckdb import open_table

        return open_table(files[0], table)
    if table is not None:
        raise InvalidArgument("table is only for databases: DuckDB files and PostgreSQL.")
    if is_bucket(data) or (files and Path(str(data)).is_dir()):
        from holdfast.data.sql.duckdb import open_bucket, open_folder

        return open_folder(Path(str(data)), files) if files else open_bucket(str(data))
    if files:
        return _in_files(files, known)
    return _relation(data) or _spark_table(data) or _in_memory(data, known)


def _are(files: Sequence[Path], suffixes: frozenset[str]) -> bool:
    return bool(files) and {file.suffix.lower() for file in files} <= suffixes


def _relation(data: object) -> Sample | None:
    if type(data).__name__ != "DuckDBPyRelation":
        return None
    from holdfast.data.sql.duckdb import copied

    return copied(data)  # type: ignore[arg-type]  # told by its name, not to import DuckDB


def _spark_table(data: object) -> Sample | None:
    kind = type(data)
    if not kind.__module__.startswith("pyspark.sql") or kind.__name__ != "DataFrame":
        return None
    from holdfast.data.sql.spark import SparkSample

    frame: Any = data  # told by its name, not to import Spark
    return SparkSample(frame)


def _in_memory(data: object, known: KnownTable) -> Sample:
    import polars as pl

    from holdfast.data.polars import PolarsSample, owned

    if isinstance(data, pl.LazyFrame):
        with reading():
            require_narrow_decimals(data.collect_schema())
            return PolarsSample(owned(_with_flags(data, known).collect(engine="streaming")))
    frame = frame_of(data)
    if frame is None:
        raise InvalidArgument(
            f"data is a {type(data).__name__}; give a pandas, Polars, pyarrow or Spark table, a "
            "DuckDB relation, or the path of Parquet, CSV or DuckDB files."
        )
    return PolarsSample(owned(_with_flags(frame, known)))


def _in_files(files: list[Path], known: KnownTable) -> Sample:
    from holdfast.data.polars import PolarsSample

    stamps = file_stamps(files)  # before anything is read: what changes later is noticed
    with _readable(files):
        return FileSample(PolarsSample(frame_in_files(files, known)), stamps)


def frame_in_files(files: Sequence[Path], known: KnownTable = _NOTHING) -> pl.LazyFrame:
    """The rows of Parquet or CSV files, to be read."""
    import polars as pl

    paths = [str(file) for file in files]
    with _readable(files):
        if _are(files, _PARQUET):
            return _with_flags(pl.scan_parquet(paths, hive_partitioning=False), known)
        if _are(files, _CSV):
            from holdfast.data.csv import scan_csv

            return _with_flags(scan_csv(paths, known.form, known.types), known)
    listed = ", ".join(sorted({file.suffix.lower() or "none" for file in files}))
    raise InvalidArgument(
        f"The files end in {listed}; Parquet (.parquet), CSV (.csv) or one DuckDB database "
        "(.duckdb) is read."
    )


def _with_flags(frame: _Frame, known: KnownTable) -> _Frame:
    from holdfast.data.csv import flagged, require_zero_or_one

    flags = known.form.flags
    if not flags:
        return frame
    if not known.seen:
        require_zero_or_one(frame.lazy(), flags)
    return flagged(frame, flags)


@contextmanager
def _readable(files: Sequence[Path]) -> Iterator[None]:
    """Say of files that cannot even be opened what they were taken for."""
    form = "Parquet" if _are(files, _PARQUET) else "CSV with a line of names and rows below it"
    try:
        with reading():
            yield
    except InvalidArgument:
        raise
    except HoldfastError:
        raise InvalidArgument(
            f"The file {str(files[0])!r} cannot be read as {form}; see that it is whole and of "
            "that kind" + (f", and so for the other {len(files) - 1:,}." if len(files) > 1 else ".")
        ) from None


# A pandas frame as a Polars frame, the same with and without pyarrow installed.


def from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    """The columns of a pandas frame; its index is left out; NaN, NaT and NA are null."""
    import polars as pl

    names = [str(name) for name in frame.columns]
    check_names(names)
    columns = [_pandas_column(name, frame.iloc[:, place]) for place, name in enumerate(names)]
    return pl.DataFrame(columns)


def _pandas_column(name: str, series: pd.Series[Any]) -> pl.Series:
    try:
        return _plain_column(name, series)
    except InvalidArgument:
        raise
    except Exception:  # whatever a type of another library raises
        raise InvalidArgument(
            f"Column {name!r} is of the pandas type {series.dtype}, which cannot be read; make it "
            "numbers, text, dates or booleans, or drop the column."
        ) from None


def _plain_column(name: str, series: pd.Series[Any]) -> pl.Series:
    import numpy as np
    import polars as pl

    kind = getattr(series.dtype, "kind", "O")
    missing = series.isna().to_numpy(dtype=bool)
    if kind in "biuf":
        numpy_type = cast("Any", getattr(series.dtype, "numpy_dtype", series.dtype))
        filled = series.to_numpy(dtype=numpy_type, na_value=0) if missing.any() else series
        numbers = pl.Series(name, np.ascontiguousarray(filled, dtype=numpy_type))
        return _with_nulls(numbers, missing) if missing.any() else numbers
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = series.to_numpy()
        unit = np.datetime_data(moments.dtype)[0]
        return pl.Series(name, moments if unit in ("ms", "us", "ns") else moments.astype("M8[us]"))
    # An array of its own kind hands out one cell at a time, each a call: as objects it is quick.
    cells = series.astype(object) if str(series.dtype) in ("str", "string") else series
    values = [None if absent else value for value, absent in zip(cells, missing, strict=True)]
    try:
        return pl.Series(name, values)
    except (TypeError, pl.exceptions.PolarsError):
        raise InvalidArgument(
            f"Column {name!r} mixes values of several types; make them one type or drop the column."
        ) from None


def _with_nulls(series: pl.Series, missing: Any) -> pl.Series:
    import polars as pl

    values = pl.when(pl.Series("missing", missing).not_()).then(series)
    return pl.select(values.alias(series.name)).to_series()
