"""Parquet in many files, read by DuckDB: a folder of partitions, or a bucket.

In a folder of Hive's kind (`year=2013/carrier=AA/part.parquet`) what the names of folders say is a
column, too. Its files are watched as any others. What lies in a bucket may change at any time and
nothing tells whether it has: it is copied, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.data.duckdb import LOCKED, DuckDBSample, copied, duckdb_library
from holdfast.data.files import BUCKETS, FileSample, file_stamps
from holdfast.data.sample import Sample, reading
from holdfast.errors import InvalidArgument
from holdfast.question.sql import quoted_text

__all__ = ["open_bucket", "open_folder"]

# No extension comes by itself, and no variable of Python is a table.
_UNLOCKED = {
    name: value
    for name, value in LOCKED.items()
    if name not in ("enable_external_access", "lock_configuration")
}


def open_folder(folder: Path, files: Sequence[Path]) -> Sample:
    """The Parquet files of a folder as one table; nothing else is read."""
    stamps = file_stamps(files)  # before anything is read: what changes later is noticed
    connection = duckdb_library().connect(config=dict(_UNLOCKED))
    connection.execute(f"SET allowed_directories = [{quoted_text(f'{folder.resolve()}/')}]")
    for name in ("enable_external_access", "lock_configuration"):
        connection.execute(f"SET {name} = {LOCKED[name]}")
    try:
        with reading():
            rows = connection.read_parquet([str(file) for file in files], hive_partitioning=True)
            return FileSample(DuckDBSample(rows, connection=connection), stamps)
    except InvalidArgument:
        raise
    except Exception:
        raise InvalidArgument(
            f"data is {str(folder)!r}, of whose {len(files):,} Parquet files one cannot be read; "
            "see that they are whole and have the same columns."
        ) from None


def open_bucket(url: str) -> Sample:
    """A copy of the Parquet files that an address of a bucket names; it may be a pattern."""
    if "?" in url:
        raise InvalidArgument(
            "data is the address of a bucket with a question mark, behind which keys are written; "
            "keep them as a secret of DuckDB (CREATE PERSISTENT SECRET)."
        )
    duckdb = duckdb_library()
    extension = BUCKETS[url.partition("://")[0].lower()]
    connection = duckdb.connect(config=dict(_UNLOCKED))
    try:
        connection.execute(f"LOAD {extension}")
    except duckdb.Error:
        raise InvalidArgument(
            f"data is {url!r}, which DuckDB reads by its extension {extension!r}, and that is not "
            f"installed; run INSTALL {extension} in DuckDB once, where there is a network, or copy "
            "the files to this machine."
        ) from None
    try:
        rows = connection.read_parquet(url, hive_partitioning=True)
        return copied(rows)
    except InvalidArgument:
        raise
    except Exception:
        raise InvalidArgument(
            f"data is {url!r}, where DuckDB can read no Parquet files; see that they are there, "
            "that the network is, and that DuckDB has a secret for the bucket (CREATE SECRET)."
        ) from None
