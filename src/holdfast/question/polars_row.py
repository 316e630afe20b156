"""Rows valued by a Polars expression: the same frames as a Python function sees, row by row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidQuestion, NotBounded
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema, bounds_pair
from holdfast.question.functions import bounded, invented_rows
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["PolarsRow", "from_polars"]

# Nodes that Polars may call row by row but that run code of which nothing is known.
_UNKNOWN_CODE = ("Anonymous", "Python", "Plugin", "Ffi")


@dataclass(frozen=True, slots=True, eq=False)
class PolarsRow:
    """A Polars expression that gives each row its value by itself.

    Its identity is the expression as Polars writes it down: spelled differently, it is a different
    question, and it may be a different one in another version of Polars.
    """

    expression: pl.Expr
    columns: tuple[str, ...]
    text: str

    def __eq__(self, other: object) -> bool:
        # `==` between Polars expressions would make a third one.
        return isinstance(other, PolarsRow) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """The expression's numbers, one for each row."""
        import polars as pl

        value = self.expression.cast(pl.Float64).alias("value")
        return frame.select(value).to_series().to_numpy()


def from_polars(
    expression: pl.Expr, schema: Schema, bounds: tuple[float, float] | None = None
) -> RowValue:
    """A Polars expression as a row value; a Boolean one needs no bounds.

    Refused unless Polars itself says that it works row by row: aggregations, windows and Python
    functions do not. Values outside `bounds` count as the nearest bound, NaN and null as missing.
    """
    identity = _identity(expression)  # first: of unknown code nothing else can be said
    row = PolarsRow(expression, _columns(expression, schema), identity)
    is_condition = _tried(row, schema)
    if bounds is None and not is_condition:
        raise NotBounded("A Polars expression that is not Boolean needs bounds=(low, high).")
    found = Range(0.0, 1.0) if bounds is None else bounds_pair(bounds)
    return bounded(row, found, is_condition=is_condition and found == (0.0, 1.0))


def _columns(expression: pl.Expr, schema: Schema) -> tuple[str, ...]:
    meta = expression.meta
    if meta.has_multiple_outputs():
        raise InvalidQuestion("The Polars expression must give one value for each row.")
    names = tuple(sorted(set(meta.root_names())))
    if not names:
        raise InvalidQuestion("The Polars expression uses no column.")
    for name in names:
        schema.column(name, quoted=True)
    if not (meta.is_row_separable() and meta.is_length_preserving()):
        raise InvalidQuestion(
            "The Polars expression must give each row its value by itself, without aggregations, "
            "windows or neighbouring rows."
        )
    return names


def _identity(expression: pl.Expr) -> str:
    try:
        written = json.loads(expression.meta.undo_aliases().meta.serialize(format="json"))
    except Exception:  # Polars cannot write Python functions down
        written = None
    if written is None or any(mark in word for word in _words(written) for mark in _UNKNOWN_CODE):
        raise InvalidQuestion(
            "The Polars expression holds code that cannot be written down; use row_function(...)."
        )
    return f"polars {json.dumps(written, sort_keys=True, separators=(',', ':'))}"


def _words(written: Any) -> Iterator[str]:
    """The names of everything the written expression is made of (not the values it holds)."""
    if isinstance(written, dict):
        for word, inside in written.items():
            yield word
            if word not in ("Literal", "Column"):
                yield from _words(inside)
    elif isinstance(written, list):
        for inside in written:
            yield from _words(inside)
    elif isinstance(written, str):
        yield written


def _tried(row: PolarsRow, schema: Schema) -> bool:
    """Whether the expression is Boolean, found on invented rows, together and one by one."""
    import polars as pl

    frame = invented_rows(schema, row.columns)
    value = row.expression.alias("value")
    try:
        together = frame.select(value).to_series()
        one_by_one = pl.concat([each.select(value).to_series() for each in frame.iter_slices(1)])
    except Exception as failure:
        raise InvalidQuestion(
            f"The Polars expression fails on an invented row with {type(failure).__name__}; "
            "what it does must be defined for every row."
        ) from None
    if not (together.dtype.is_numeric() or together.dtype == pl.Boolean):
        raise InvalidQuestion("The Polars expression must give a number or a Boolean for each row.")
    if not together.equals(one_by_one):
        raise InvalidQuestion("The Polars expression must give each row its value by itself.")
    return together.dtype == pl.Boolean
