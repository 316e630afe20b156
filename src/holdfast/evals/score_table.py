"""Plain tables of scores: CSV, Parquet and JSON lines with a column of items.

Every other column that holds numbers or booleans is a scorer; `epoch` says which try it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.evals.archive import Source
from holdfast.evals.formats import EvalLog, Scored
from holdfast.question.columns import no_column

__all__ = ["read_csv", "read_json_lines", "read_parquet"]

# What people call the column of items; the first that is there.
_ITEMS = ("item", "item_id", "id", "sample_id", "key")
_EPOCH = "epoch"
_MOST_CELLS = 5_000_000
_LARGEST_NAMES = 64 * 2**20  # bytes, of all items together


def read_csv(source: Source) -> EvalLog:
    """A CSV file with a header."""
    import polars as pl

    if any(byte < ord("\t") for byte in source.head):  # packed, which would be unpacked unlimited
        raise _unreadable(source, "CSV")
    with _readable(source, "CSV"):
        frame = pl.read_csv(source.path, infer_schema_length=None)
    return _log(source, frame.to_dicts())


def read_parquet(source: Source) -> EvalLog:
    """A Parquet file: columns of numbers, booleans, and names of items; others are not unpacked."""
    import polars as pl
    import polars.selectors as cs

    with _readable(source, "Parquet"):
        packed = pl.scan_parquet(source.path).select(cs.numeric() | cs.boolean() | cs.string())
        many = packed.select(pl.len()).collect().item() * len(packed.collect_schema())
    if many > _MOST_CELLS:
        raise InvalidArgument(
            f"the file {source} has {many:,} cells, and at most {_MOST_CELLS:,} are read; leave "
            "out columns that are no scores, or write fewer items."
        )
    with _readable(source, "Parquet"):
        frame = packed.collect()
        texts = frame.select(cs.string())
        named = [name for name in texts.columns if name in (*_ITEMS, source.key)]
        frame = frame.drop(name for name in texts.columns if name not in named)
        # A text that is there once in the file may be in every row: packed it takes no room.
        size = sum(frame[name].str.len_bytes().sum() for name in named)
    if size > _LARGEST_NAMES:
        raise InvalidArgument(
            f"the file {source} has {size:,} bytes of names of items, and at most "
            f"{_LARGEST_NAMES:,} are read; give items shorter names."
        )
    return _log(source, frame.to_dicts())


def read_json_lines(source: Source) -> EvalLog:
    """One JSON object for each item."""
    return _log(source, [line for _, line in source.lines()])


def _log(source: Source, rows: Sequence[Mapping[str, Any]]) -> EvalLog:
    if not rows:
        return EvalLog([])
    names = list(dict.fromkeys(name for row in rows for name in row))
    item = _item_column(source, names)
    scorers = [
        name
        for name in names
        if name not in (item, _EPOCH)
        and any(isinstance(row.get(name), bool | int | float) for row in rows)
    ]
    return EvalLog(
        [
            Scored(row.get(item), {name: row.get(name) for name in scorers}, row.get(_EPOCH, 1))
            for row in rows
        ]
    )


def _item_column(source: Source, names: Sequence[str]) -> str:
    if source.key is not None:
        if source.key not in names:
            raise InvalidArgument(f"key names {no_column(source.key, names)}")
        return source.key
    for name in _ITEMS:
        if name in names:
            return name
    raise InvalidArgument(
        f"the file {source} has no column of items ({', '.join(_ITEMS)}); name the one that has "
        "them: key= (--key)."
    )


@contextmanager
def _readable(source: Source, kind: str) -> Iterator[None]:
    import polars as pl

    try:
        yield
    except (Exception, pl.exceptions.PanicException) as error:  # whatever a broken file raises
        if isinstance(error, MemoryError):
            raise
        raise _unreadable(source, kind) from None


def _unreadable(source: Source, kind: str) -> InvalidArgument:
    return InvalidArgument(
        f"the file {source} cannot be read as {kind}; see that it is whole, or name the format "
        "that it is (format=, --format)."
    )
