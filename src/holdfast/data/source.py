"""One door for every kind of table."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.data.database import is_database_url
from holdfast.data.files import FileSample, FileStamp, file_stamps, is_bucket
from holdfast.data.sample import Sample, reading
from holdfast.errors import HoldfastError, InvalidArgument

if TYPE_CHECKING:
    import polars as pl

__all__ = ["files_of", "frame_of", "is_query", "open_sample", "require_unforked"]

_PROCESS = os.getpid()  # the one whose threads Polars may have started
_PARQUET = frozenset({".parquet", ".pq"})
_CSV = frozenset({".csv"})
_DUCKDB = frozenset({".duckdb", ".db", ".ddb"})

# The types that were found in CSV files with these stamps; none, where that is not known.
_Recall: TypeAlias = Callable[[tuple[FileStamp, ...]], Mapping[str, str]]


def _nothing(_: tuple[FileStamp, ...]) -> Mapping[str, str]:
    return {}


def open_sample(data: object, *, table: str | None = None, recall: _Recall = _nothing) -> Sample:
    """The table as a sample that does not change: a copy, or files that are watched.

    `data` is a pandas, Polars (eager or lazy) or pyarrow table, a DuckDB relation, or a path or
    glob of Parquet or CSV files, a folder of Parquet files in partitions, the address of Parquet
    files in a bucket, the path of a DuckDB database file (with `table`, if it holds several),
    or the address of a PostgreSQL database (with `table`) or a Spark DataFrame, which are watched.
    Tables in memory are copied, lazy frames and relations collected, once. CSV files are read
    through once to find their columns' types, unless `recall` has them.
    """
    require_unforked()
    sample = _opened(data, table, recall)
    if not sample.types:
        raise InvalidArgument("The table has no columns.")
    if sample.n == 0:
        raise InvalidArgument("The table has no rows.")
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
        found = path.rglob("*") if folder else map(Path, glob.glob(str(data), recursive=True))
        files = [each.resolve() for each in sorted(found) if each.is_file()]
        if folder:
            files = [each for each in files if each.suffix.lower() in _PARQUET]
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"data is {str(data)!r}, which cannot be the name of a file ({error}); give a path or "
            "a glob of files that exist."
        ) from None
    if not files:
        what = "is a folder without Parquet files; name others" if folder else "names no file; give"
        raise InvalidArgument(
            f"data is {str(data)!r}, which {what} by a path or a glob of files that exist."
        )
    return files


def frame_of(data: Any) -> pl.DataFrame | None:
    """A table in memory as a Polars frame, or None if it is something else."""
    import polars as pl

    if isinstance(data, pl.DataFrame):
        return data
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas" and type(data).__name__ == "DataFrame":
        from holdfast.data.pandas import from_pandas

        return from_pandas(data)
    if kind != "duckdb" and hasattr(data, "__arrow_c_stream__") and not isinstance(data, pl.Series):
        try:
            return pl.DataFrame(data)
        except Exception:  # whatever the library of that table raises
            raise InvalidArgument(
                f"data is a {type(data).__name__} that Polars cannot read; see that its columns "
                "have different names and types that Arrow knows."
            ) from None
    return None


def _opened(data: object, table: str | None, recall: _Recall) -> Sample:
    if isinstance(data, str) and is_database_url(data):
        from holdfast.data.postgres import open_database_table

        return open_database_table(data, table)
    files = files_of(data)
    if files and {file.suffix.lower() for file in files} <= _DUCKDB:
        if len(files) > 1:
            raise InvalidArgument(f"data is {str(data)!r}, which names {len(files)} databases.")
        from holdfast.data.duckdb import open_table

        return open_table(files[0], table)
    if table is not None:
        raise InvalidArgument("table is only for databases: DuckDB files and PostgreSQL.")
    if is_bucket(data) or (files and Path(str(data)).is_dir()):
        from holdfast.data.partitioned import open_bucket, open_folder

        return open_folder(Path(str(data)), files) if files else open_bucket(str(data))
    if files:
        return _in_files(files, recall)
    return _relation(data) or _spark_table(data) or _in_memory(data)


def _relation(data: object) -> Sample | None:
    if type(data).__name__ != "DuckDBPyRelation":
        return None
    from holdfast.data.duckdb import copied

    return copied(data)  # type: ignore[arg-type]  # told by its name, not to import DuckDB


def _spark_table(data: object) -> Sample | None:
    kind = type(data)
    if not kind.__module__.startswith("pyspark.sql") or kind.__name__ != "DataFrame":
        return None
    from holdfast.data.spark import SparkSample

    frame: Any = data  # told by its name, not to import Spark
    return SparkSample(frame)


def _in_memory(data: object) -> Sample:
    import polars as pl

    from holdfast.data.owned import owned
    from holdfast.data.polars import PolarsSample

    if isinstance(data, pl.LazyFrame):
        with reading():
            return PolarsSample(owned(data.collect(engine="streaming")))
    frame = frame_of(data)
    if frame is None:
        raise InvalidArgument(
            f"data is a {type(data).__name__}; give a pandas, Polars, pyarrow or Spark table, a "
            "DuckDB relation, or the path of Parquet, CSV or DuckDB files."
        )
    return PolarsSample(owned(frame))


def _in_files(files: list[Path], recall: _Recall) -> Sample:
    import polars as pl

    from holdfast.data.polars import PolarsSample

    suffixes = {file.suffix.lower() for file in files}
    paths = [str(file) for file in files]
    stamps = file_stamps(files)  # before anything is read: what changes later is noticed
    if suffixes <= _PARQUET:
        with _readable(paths, "Parquet"):
            return FileSample(PolarsSample(pl.scan_parquet(paths, hive_partitioning=False)), stamps)
    if suffixes <= _CSV:
        from holdfast.data.csv import csv_schema, named

        with _readable(paths, "CSV with a line of names and rows below it"):
            schema = csv_schema(paths, recall(stamps))
            return FileSample(
                PolarsSample(pl.scan_csv(paths, schema=schema)), stamps, named(schema)
            )
    listed = ", ".join(sorted(suffix or "none" for suffix in suffixes))
    raise InvalidArgument(
        f"The files end in {listed}; Parquet (.parquet), CSV (.csv) or one DuckDB database "
        "(.duckdb) is read."
    )


@contextmanager
def _readable(paths: list[str], form: str) -> Iterator[None]:
    """Say of files that cannot even be opened what they were taken for."""
    try:
        with reading():
            yield
    except InvalidArgument:
        raise
    except HoldfastError:
        raise InvalidArgument(
            f"The file {paths[0]!r} cannot be read as {form}; see that it is whole and of that kind"
            + (f", and so for the other {len(paths) - 1:,}." if len(paths) > 1 else ".")
        ) from None
