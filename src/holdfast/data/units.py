"""What independent units of rows (clusters) add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.counting import summed_by
from holdfast.data.evaluate import steps_of_frame
from holdfast.data.sample import Sample
from holdfast.data.values import fractions
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["unit_sums"]


def unit_sums(
    sample: Sample, value: RowValue, where: Expression | None, column: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Each unit's sum of the value in [0, 1], and its rows, of those where the condition holds.

    Sums are exact sums of steps over top. A unit without such rows has sum and size 0: how many
    units there are is public, and is how many come back. They come from the smallest to the
    largest, the same on every engine.
    """
    rows = [value] if where is None else [value, condition_row(where)]
    columns = sorted({column, *(name for row in rows for name in row.columns)})

    def counted(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        from holdfast.data.plain import told_apart

        steps, *conditions = steps_of_frame(frame, rows)
        inside = conditions[0] if conditions else np.ones(frame.height, dtype=np.int64)
        unit = frame.select(told_apart(column, frame.schema[column])).to_series()
        return pl.DataFrame({"unit": unit, "sum": steps * inside, "size": inside})

    units = summed_by(["unit"], (counted(frame) for frame in sample.frames(columns)))
    units = units.sort("size", "sum")
    return fractions(units["sum"].to_numpy(), value), units["size"].to_numpy()
