"""One door for every kind of table."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.data.fingerprint import FileStamp, file_stamps
from holdfast.data.sample import Sample, reading
from holdfast.errors import HoldfastError, InvalidArgument

if TYPE_CHECKING:
    import polars as pl

__all__ = ["files_of", "frame_of", "open_sample", "stamps"]

_PARQUET = frozenset({".parquet", ".pq"})
_CSV = frozenset({".csv"})
_DUCKDB = frozenset({".duckdb", ".db", ".ddb"})


def open_sample(data: object, *, table: str | None = None) -> Sample:
    """The table as a sample.

    `data` is a pandas, Polars (eager or lazy) or pyarrow table, a DuckDB relation, or a path or
    glob of Parquet or CSV files or of a DuckDB database file (with `table`, if it holds several).
    CSV files are read through once to find their columns' types.
    """
    sample = _opened(data, table)
    if not sample.types:
        raise InvalidArgument("The table has no columns.")
    if sample.n == 0:
        raise InvalidArgument("The table has no rows.")
    return sample


def stamps(data: object) -> tuple[FileStamp, ...]:
    """The stamps of the files behind the data; none for data in memory."""
    return file_stamps(files_of(data))


def files_of(data: object) -> list[Path]:
    """The files that a path or glob names, sorted; none for data in memory."""
    if not isinstance(data, str | Path):
        return []
    if "://" in str(data):
        raise InvalidArgument(f"data is {str(data)!r}; only files on this machine are read.")
    path = Path(data)
    if path.is_file():
        return [path]
    found = sorted(Path(each) for each in glob.glob(str(data), recursive=True))
    files = [each for each in found if each.is_file()]
    if not files:
        what = "is a folder; name its files, such as" if path.is_dir() else "names no file; give a"
        example = "'folder/*.parquet'" if path.is_dir() else "path or a glob of files that exist"
        raise InvalidArgument(f"data is {str(data)!r}, which {what} {example}.")
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
        return pl.DataFrame(data)
    return None


def _opened(data: object, table: str | None) -> Sample:
    files = files_of(data)
    if files and {file.suffix.lower() for file in files} <= _DUCKDB:
        if len(files) > 1:
            raise InvalidArgument(f"data is {str(data)!r}, which names {len(files)} databases.")
        from holdfast.data.duckdb import open_table

        return open_table(files[0], table)
    if table is not None:
        raise InvalidArgument("table is only for DuckDB database files.")
    return _relation(data) or _polars(data, files)


def _relation(data: object) -> Sample | None:
    if type(data).__name__ != "DuckDBPyRelation":
        return None
    from holdfast.data.duckdb import DuckDBSample

    return DuckDBSample(data)  # type: ignore[arg-type]  # told by its name, not to import DuckDB


def _polars(data: object, files: list[Path]) -> Sample:
    import polars as pl

    from holdfast.data.polars import PolarsSample

    if files:
        return PolarsSample(_scanned(files))
    if isinstance(data, pl.LazyFrame):
        return PolarsSample(data)
    frame = frame_of(data)
    if frame is None:
        raise InvalidArgument(
            f"data is a {type(data).__name__}; give a pandas, Polars or pyarrow table, a DuckDB "
            "relation, or the path of Parquet, CSV or DuckDB files."
        )
    return PolarsSample(frame)


def _scanned(files: list[Path]) -> pl.LazyFrame:
    import polars as pl

    suffixes = {file.suffix.lower() for file in files}
    if not (suffixes <= _PARQUET or suffixes <= _CSV):
        listed = ", ".join(sorted(suffix or "none" for suffix in suffixes))
        raise InvalidArgument(
            f"The files end in {listed}; Parquet (.parquet), CSV (.csv) or one DuckDB database "
            "(.duckdb) is read."
        )
    paths = [str(file) for file in files]
    if suffixes <= _PARQUET:
        return pl.scan_parquet(paths, hive_partitioning=False)
    try:
        with reading():
            # All rows are looked at, so that no later row can surprise a question.
            found = pl.scan_csv(paths, infer_schema_length=None, try_parse_dates=True)
            return pl.scan_csv(paths, schema=found.collect_schema())
    except HoldfastError:
        raise InvalidArgument(
            f"The file {paths[0]!r} cannot be read as CSV with a line of names and rows below it."
        ) from None
