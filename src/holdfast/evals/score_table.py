"""Plain tables of scores: CSV, Parquet and JSON lines with a column of items.

Every other column that holds numbers or booleans is a scorer; `epoch` says which try it was.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from holdfast.did_you_mean import number_meant
from holdfast.errors import InvalidArgument
from holdfast.evals.archive import Source
from holdfast.evals.formats import EvalLog, Scored
from holdfast.question.columns import no_column

# What people call the column of items; the first that is there.
_ITEMS = ("item", "item_id", "id", "sample_id", "key")
_EPOCH = "epoch"
_LONGEST_SHOWN = 60
_MOST_SHOWN = 4
_MOST_CELLS = 5_000_000
_LARGEST_NAMES = 64 * 2**20  # bytes, of all items together
_NUMBER = r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|nan)"
_CELLS: Sequence[tuple[re.Pattern[str], Callable[[str], Any]]] = (
    (re.compile(r"[+-]?[0-9]{1,4000}"), int),  # longer ones Python does not read
    (re.compile(_NUMBER, re.IGNORECASE), float),
    (re.compile(r"true|false", re.IGNORECASE), lambda cell: cell.lower() == "true"),
)


class Frame(NamedTuple):
    """A table in memory, and which of its columns are meant."""

    what: str
    key: str | None = None
    by: str | None = None


def read_csv(source: Source) -> EvalLog:
    """A CSV file with a header, read without an engine: two files of scores need none."""
    if any(byte < ord("\t") for byte in source.head):  # packed, which would be unpacked unlimited
        raise _unreadable(source, "CSV")
    limit = csv.field_size_limit(_LARGEST_NAMES)  # a transcript may be in a cell
    try:
        with source.opened() as file:
            content = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            names, *rows = [row for row in csv.reader(content, strict=True) if row] or [[]]
    except (csv.Error, UnicodeDecodeError):
        raise _unreadable(source, "CSV") from None
    finally:
        csv.field_size_limit(limit)
    if len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        raise _unreadable(source, "CSV")
    columns = [_typed([row[place] for row in rows]) for place in range(len(names))]
    cells = zip(*columns, strict=True)
    return log_of_rows(source, [dict(zip(names, row, strict=True)) for row in cells])


def _typed(cells: Sequence[str]) -> Sequence[Any]:
    """A column of whole numbers, numbers, booleans or text, whichever all its cells are.

    An empty cell is none of them, and missing.
    """
    bare = [cell.strip() for cell in cells]
    for pattern, read in _CELLS:
        if all(pattern.fullmatch(cell) for cell in bare if cell):
            return [read(cell) if cell else None for cell in bare]
    return [cell or None for cell in cells]


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
    return log_of_rows(source, frame.to_dicts())


def read_json_lines(source: Source) -> EvalLog:
    """One JSON object for each item."""
    return log_of_rows(source, [line for _, line in source.lines()])


def log_of_rows(source: Source | Frame, rows: Sequence[Mapping[str, Any]]) -> EvalLog:
    """The rows of a table, with the column of items and that of categories that are named."""
    if not rows:
        return EvalLog([])
    names = list(dict.fromkeys(name for row in rows for name in row))
    item, by = _item_column(source, names), source.by
    if by is not None and by not in names:
        raise InvalidArgument(f"by names {no_column(by, names)}")
    scorers = [
        name
        for name in names
        if name not in (item, by, _EPOCH)
        and any(isinstance(row.get(name), bool | int | float) for row in rows)
    ]
    for name, value in () if scorers else rows[0].items():
        number = None if name == item else number_meant(value)
        if number is not None:
            raise InvalidArgument(
                f"{source.what} has no scores that are numbers; {name!r} holds texts such as "
                f"{value!r}: write {number:.10g}."
            )
    return EvalLog(
        [
            Scored(
                row.get(item),
                {name: row.get(name) for name in scorers},
                row.get(_EPOCH, 1),
                category=None if by is None else row.get(by),
            )
            for row in rows
        ],
        key=item,
    )


def _item_column(source: Source | Frame, names: Sequence[str]) -> str:
    if source.key is not None:
        if source.key not in names:
            raise InvalidArgument(f"key names {no_column(source.key, names)}")
        return source.key
    for name in _ITEMS:
        if name in names:
            return name
    for mark in (";", "\t"):
        if len(names) == 1 and mark in names[0]:
            raise InvalidArgument(
                f"{source.what} has one column, {names[0][:_LONGEST_SHOWN]!r}, which looks like "
                f"several separated by {mark!r}; write it with commas."
            )
    raise InvalidArgument(
        f"{source.what} has no column of items ({', '.join(_ITEMS)}) among {_some(names)}; name "
        "the one that has them: key= (--key), or begin the file with a line of names: item,score."
    )


def _some(names: Sequence[str]) -> str:
    listed = [repr(name[:_LONGEST_SHOWN]) for name in names[:_MOST_SHOWN]]
    return ", ".join([*listed, *(["..."] if len(names) > len(listed) else [])])


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
