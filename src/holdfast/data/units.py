"""Units of rows (clusters): their sizes, and what their rows add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.data.histogram import summed_by, value_counts
from holdfast.data.sample import Sample
from holdfast.data.values import fractions, steps_of_frame
from holdfast.errors import InvalidArgument
from holdfast.question.columns import no_column
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["cluster_sizes", "unit_sums"]


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

    def count_batch(frame: pl.DataFrame) -> pl.DataFrame:
        import numpy as np
        import polars as pl

        from holdfast.data.plain import told_apart

        steps, *conditions = steps_of_frame(frame, rows)
        inside = conditions[0] if conditions else np.ones(frame.height, dtype=np.int64)
        unit = frame.select(told_apart(column, frame.schema[column])).to_series()
        return pl.DataFrame({"unit": unit, "sum": steps * inside, "size": inside})

    units = summed_by(["unit"], (count_batch(frame) for frame in sample.frames(columns)))
    units = units.sort("size", "sum")
    return fractions(units["sum"].to_numpy(), value), units["size"].to_numpy()


# How many rows belong to each unit, where rows come in clusters.


def cluster_sizes(sample: Sample, column: str) -> list[int]:
    """The number of rows for each distinct value of a column, largest first; NULL is one value."""
    if column not in sample.types:
        raise InvalidArgument(f"sampling names {no_column(column, sample.types)}")
    return sorted(value_counts(sample, [column])["rows"].to_list(), reverse=True)
