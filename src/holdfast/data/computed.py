"""Columns computed from protected rows: once, behind the door, by a function that was named before.

What such a column holds is protected, and so is whether two of them are the same. Its identity is
the declared digest (of a model, say), or the column's name where there is none: public before data
is touched, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from holdfast import require
from holdfast.data.attached import ColumnValues
from holdfast.data.keys import KeyOrder
from holdfast.data.sample import Sample, plain_frames, values_of_batch
from holdfast.question.bounds import Range
from holdfast.question.functions import RowFunction, row_function

__all__ = ["Computed", "computed", "computed_values"]


@dataclass(frozen=True, slots=True)
class Computed:
    """A column to be computed from rows of the table; made by `computed`."""

    function: Callable[[pl.DataFrame], object]
    columns: tuple[str, ...]
    bounds: Range
    digest: str | None = None

    def named(self, name: str) -> RowFunction:
        """The function under its public identity: the declared digest, or else this name."""
        return row_function(
            self.function,
            columns=self.columns,
            bounds=self.bounds,
            name=self.digest or name,
            version="1",
        )


def computed(
    function: Callable[[pl.DataFrame], object],
    *,
    columns: Sequence[str],
    bounds: tuple[float, float],
    digest: str | None = None,
) -> Computed:
    """A column to attach: a Python function of a batch of protected rows, such as `model.predict`.

    It is given a Polars frame with these columns and returns one number for each row, as
    `row_function` says. It is run once. A row it fails on, NaN or an infinity is NULL in the
    column, a number outside `bounds` is the nearest bound. `digest` names what it computes (the
    digest of a model's file); without it, the column's name does.
    """
    if digest is not None:
        require.text("digest", digest)
    checked = row_function(
        function, columns=columns, bounds=bounds, name=digest or "computed", version="1"
    )
    return Computed(function, checked.columns, checked.bounds, digest)


def computed_values(sample: Sample, order: KeyOrder, function: RowFunction) -> ColumnValues:
    """The function's values for all rows of the table. Only ever called behind the door."""
    low, high = function.bounds
    keys: list[pl.Series] = []
    found: list[pl.Series] = []
    for frame in plain_frames(sample.frames(list(dict.fromkeys((order.name, *function.columns))))):
        values = values_of_batch(function, frame)
        known = np.where(np.isfinite(values), np.clip(values, low, high) + 0.0, np.nan)
        keys.append(frame[order.name])
        found.append(pl.Series(known, nan_to_null=True))
    places = order.places.among(pl.concat(keys))
    return ColumnValues(order, pl.concat(found).gather(places))
