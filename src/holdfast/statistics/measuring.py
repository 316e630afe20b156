"""Statistics measured inside the door: one scan for all that are sums of rows."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.data.sample import Sample
from holdfast.question.row import GRID, RowValue
from holdfast.statistics.concentrated import ConcentratedMean
from holdfast.statistics.statistic import Measured, Statistic

__all__ = ["measure", "summed"]


def summed(statistic: Statistic) -> RowValue | None:
    """The row value whose sum it is measured by; None if it reads the table by itself."""
    return statistic.value if isinstance(statistic, ConcentratedMean) else statistic.row


def measure(
    sample: Sample, statistics: Sequence[Statistic], *, squares: bool = False
) -> list[Measured]:
    """All of them: one scan for the averages, one more for each statistic of the whole table."""
    rows = [row for statistic in statistics if (row := summed(statistic)) is not None]
    if squares:
        moments = iter(sample.moments(rows) if rows else [])
    else:
        moments = iter([(total, 0) for total in sample.sums(rows)] if rows else [])
    found = []
    for statistic in statistics:
        if summed(statistic) is None:
            found.append(statistic.read(sample))
            continue
        total, total_squares = next(moments)
        if isinstance(statistic, ConcentratedMean):
            found.append(statistic.measured(total, sample.n))
            continue
        count = statistic.rows(sample.n)
        found.append(Measured(total, count * GRID, count, total_squares))
    return found
