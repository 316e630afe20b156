"""Columns computed from protected rows, known by what was declared and never by their content.

What such a column holds is protected, and so is whether two of them hold the same. Its identity is
the declared digest (of a model, say), or the column's name where there is none: public before data
is touched, whatever the values are. They are numbers in bounds, or conditions (`bounds=bool`), as
was declared too, so that not even their type says anything of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from holdfast import require
from holdfast.data.attached import ColumnValues
from holdfast.data.keys import KeyOrder, named_keys
from holdfast.data.sample import Sample, plain_frames, values_of_batch
from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import ColumnType, ValueKind
from holdfast.question.functions import RowFunction, row_function

__all__ = [
    "Computed",
    "ScoreBounds",
    "computed",
    "computed_values",
    "declared_bounds",
    "declared_digest",
    "scores_in",
    "type_within",
]

# Numbers between two ends, or true and false: 1 and 0.
ScoreBounds = tuple[float, float] | type[bool]

_LONGEST_DIGEST = 200
_NUMBERS = (ValueKind.NUMBER, ValueKind.BOOLEAN)
_UNIT = Range(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Computed:
    """A column to be computed from rows of the table; made by `computed`.

    Without `bounds` it is a condition.
    """

    function: Callable[[pl.DataFrame], object]
    columns: tuple[str, ...]
    bounds: Range | None
    digest: str | None = None

    @property
    def type(self) -> ColumnType:
        """What its values are."""
        return type_within(self.bounds)

    def named(self, name: str) -> RowFunction:
        """The function of the column with this name."""
        bounds = _UNIT if self.bounds is None else self.bounds
        return row_function(
            self.function, columns=self.columns, bounds=bounds, name=name, version="1"
        )


def computed(
    function: Callable[[pl.DataFrame], object],
    *,
    columns: Sequence[str],
    bounds: ScoreBounds,
    digest: str | None = None,
) -> Computed:
    """A column to attach: a Python function of a batch of protected rows, such as `model.predict`.

    It is given a Polars frame with these columns and returns one number for each row, from that row
    alone, as `row_function` says. It is run once. A row it fails on, NaN or an infinity is NULL in
    the column, a number outside `bounds` is the nearest bound. With `bounds=bool` it is a
    condition, true where the function says 1. `digest` names what it computes (the digest of a
    model's file); without it, the column's name does.
    """
    if digest is not None:
        declared_digest(digest)
    range_ = declared_bounds(bounds)
    within = _UNIT if range_ is None else range_
    checked = row_function(function, columns=columns, bounds=within, name="computed", version="1")
    return Computed(function, checked.columns, range_, digest)


def declared_digest(digest: str) -> str:
    """The text by which people know what computes a column."""
    require.text("digest", digest)
    if len(digest) > _LONGEST_DIGEST or not digest.isprintable():
        raise InvalidArgument(
            f"digest has {len(digest):,} characters; it must be printable text of at most "
            f"{_LONGEST_DIGEST}, such as 'sha256:...' of a model's file."
        )
    return digest


def declared_bounds(bounds: ScoreBounds, what: str = "bounds") -> Range | None:
    """The range of numbers; None for conditions."""
    return None if bounds is bool else bounds_pair(bounds, what)


def type_within(bounds: Range | None) -> ColumnType:
    """What values that were made with protected columns are, by their declared bounds."""
    return ColumnType.BOOLEAN if bounds is None else ColumnType.FLOAT


def computed_values(
    sample: Sample, order: KeyOrder, function: RowFunction, type_: ColumnType = ColumnType.FLOAT
) -> ColumnValues:
    """The function's values for all rows of the table. Only ever called behind the door."""
    low, high = function.bounds
    keys: list[pl.Series] = []
    columns: list[pl.Series] = []
    for frame in plain_frames(sample.frames(list(dict.fromkeys((order.name, *function.columns))))):
        values = values_of_batch(function, frame)
        numbers = np.where(np.isfinite(values), np.clip(values, low, high) + 0.0, np.nan)
        keys.append(frame[order.name])
        columns.append(pl.Series(numbers, nan_to_null=True))
    places = order.places.among(pl.concat(keys))
    in_order = pl.concat(columns).gather(places)
    return ColumnValues(order, in_order == 1.0 if type_ is ColumnType.BOOLEAN else in_order)


def scores_in(bounds: Range | None, brought: ColumnValues) -> ColumnValues:
    """Values that somebody brings and made with protected columns, as numbers in their bounds.

    Without bounds they are conditions.
    """
    if brought.type.kind not in _NUMBERS:
        raise InvalidArgument(
            f"values are {brought.type}; what was made with protected columns must be numbers, or "
            "booleans, which count as 0 and 1."
        )
    numbers = brought.values.cast(pl.Float64)
    if bounds is None:
        neither = brought.order.keys.filter(~numbers.is_in([0.0, 1.0]))
        if len(neither):
            raise InvalidArgument(
                f"{named_keys(neither, 'has', 'have')} a value that is neither 0 nor 1, right nor "
                "wrong; declare the range of graded ones: (0, 1) (--bounds 0 1)."
            )
        return ColumnValues(brought.order, numbers == 1.0)
    low, high = bounds
    outside = brought.order.keys.filter(~numbers.is_between(low, high))
    if len(outside):
        raise InvalidArgument(
            f"{named_keys(outside, 'has', 'have')} a value outside [{low:g}, {high:g}]; bring "
            "values in their bounds, or declare others: bounds= (--bounds)."
        )
    return ColumnValues(brought.order, numbers)
