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


def read_csv(source: Source) -> EvalLog:
    """A CSV file with a header."""
    import polars as pl

    with _readable(source, "CSV"):
        rows = pl.read_csv(source.path, infer_schema_length=None).to_dicts()
    return _log(source, rows)


def read_parquet(source: Source) -> EvalLog:
    """A Parquet file."""
    import polars as pl

    with _readable(source, "Parquet"):
        rows = pl.read_parquet(source.path).to_dicts()
    return _log(source, rows)


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
def _readable(source: Source, what: str) -> Iterator[None]:
    import polars as pl

    try:
        yield
    except (Exception, pl.exceptions.PanicException) as error:  # whatever a broken file raises
        if isinstance(error, MemoryError):
            raise
        raise InvalidArgument(
            f"the file {source} cannot be read as {what}; see that it is whole, or name the "
            "format that it is (format=, --format)."
        ) from None
