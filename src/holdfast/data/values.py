"""Values of rows beside each other: for statistics that sums and single histograms cannot give.

A value is the fraction steps/top of its range, on the exact grid of `holdfast.question.row`: the
same double on every engine, and off the row's own value by less than GRID_ERROR. Rows come sorted
by what they hold, so nothing depends on where they stood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.counting import Counting, summed_by
from holdfast.data.evaluate import steps_of_frame
from holdfast.data.sample import Sample
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["distinct_unit_values", "fractions", "unit_values_of"]


def unit_values_of(
    sample: Sample, values: Sequence[RowValue], where: Expression | None = None
) -> list[NDArray[np.float64]]:
    """Each value in [0, 1], the rows where the condition holds side by side; one scan."""
    columns, times = distinct_unit_values(sample, values, where)
    return [np.repeat(column, times) for column in columns]


def distinct_unit_values(
    sample: Sample, values: Sequence[RowValue], where: Expression | None = None
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """As `unit_values_of`, each combination of values once, and how many rows have it."""
    import polars as pl

    table = _counted(sample, values, where).sort(pl.exclude("times"))
    columns = [fractions(table[f"k{place}"].to_numpy(), row) for place, row in enumerate(values)]
    return columns, table["times"].to_numpy()


def _counted(sample: Sample, values: Sequence[RowValue], where: Expression | None) -> pl.DataFrame:
    """Each combination of steps k0, k1, ... once, and how many rows have it."""
    import polars as pl

    sources = [(row, row.source) for row in values if isinstance(row.source, Expression)]
    if isinstance(sample, Counting) and len(sources) == len(values):
        return sample.step_counts(sources, where)
    names = [f"k{place}" for place in range(len(values))]
    conditions = [] if where is None else [condition_row(where)]
    rows = [*values, *conditions]

    def counted(frame: pl.DataFrame) -> pl.DataFrame:
        steps = steps_of_frame(frame, rows)
        if conditions:
            inside = steps.pop() == 1
            steps = [each[inside] for each in steps]
        found = pl.DataFrame(dict(zip(names, steps, strict=True)))
        return found.group_by(names).agg(times=pl.len().cast(pl.Int64))

    columns = sorted({column for row in rows for column in row.columns})
    return summed_by(names, (counted(frame) for frame in sample.frames(columns)))


def fractions(steps: NDArray[np.int64], row: RowValue) -> NDArray[np.float64]:
    """Steps, or sums of them, as multiples of the range; 0 where the range has no width."""
    return np.asarray(steps / max(1, row.grid.top))
