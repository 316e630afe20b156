"""How often values of a grid occur: counts in narrow bins whose ends are public.

A bin holds 2^16 neighbouring steps of a row value's grid, so a range has some 2^15 to 2^16 bins;
the two values of a condition are bins of their own. The counts are exact and do not depend on the
order of the rows, on threads or on the engine. Unlike groups, bins are counted in a time that does
not depend on how many different values there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from holdfast.data.sample import Sample, sources
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_BITS = 16
# By so many steps a row's value may lie outside its bin: half a step by rounding it and half a step
# by rounding the range (see `GRID_ERROR`), which leaves more than enough for doubles.
_OUTSIDE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The rows in each bin, from the lowest to the highest.

    The value of every row of a bin, clipped and with missing ones replaced, surely lies between the
    bin's `low` and `high`; these are fractions of the range, and public. `total` is the exact sum
    of their grid units.
    """

    counts: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    total: int

    @property
    def rows(self) -> int:
        """The number of rows that were counted."""
        return int(self.counts.sum())

    def between(self, rank: int) -> tuple[float, float]:
        """Two fractions of the range that enclose the rank-th smallest value, 1 <= rank <= rows."""
        import numpy as np

        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(self.low[place]), float(self.high[place])


@runtime_checkable
class Stepping(Protocol):
    """An engine that computes steps of row expressions while it reads the rows."""

    def step_batches(
        self, rows: Sequence[tuple[RowValue, Expression]]
    ) -> Iterator[list[NDArray[np.int64]]]:
        """For each row value the steps of each row, in batches, in any order of the rows."""
        ...


def histograms(
    sample: Sample, asked: Sequence[tuple[RowValue, Expression | None]]
) -> list[Histogram]:
    """For each row value the rows in its bins, of those where the condition holds; one scan.

    Memory does not grow with the rows.
    """
    import numpy as np

    if not asked:
        return []
    wanted = [(value, None if where is None else condition_row(where)) for value, where in asked]
    rows = {_identity(row): row for pair in wanted for row in pair if row is not None}
    # One bin more, for rows where the condition does not hold.
    counts = [np.zeros(bin_count(value) + 1, dtype=np.int64) for value, _ in wanted]
    shifts = [bin_shift(value) for value, _ in wanted]
    totals = [0] * len(wanted)
    scratch = np.empty(0, dtype=np.int64)  # memory that is new for each batch takes longer
    for batch in _step_batches(sample, list(rows.values())):
        steps = dict(zip(rows, batch, strict=True))
        for place, (value, condition) in enumerate(wanted):
            own, outside = steps[_identity(value)], counts[place].size - 1
            if scratch.size < own.size:
                scratch = np.empty_like(own)
            bins = np.right_shift(own, shifts[place], out=scratch[: own.size])
            if condition is not None:
                inside = steps[_identity(condition)] == 1
                bins, own = np.where(inside, bins, outside), own * inside
            np.add.at(counts[place], bins, 1)
            totals[place] += int(own.sum())
    return [
        histogram_of(value, bins_of_value[:-1], total)
        for bins_of_value, total, (value, _) in zip(counts, totals, asked, strict=True)
    ]


def _step_batches(sample: Sample, rows: Sequence[RowValue]) -> Iterator[list[NDArray[np.int64]]]:
    from holdfast.data.values import steps_of_frame

    expressions = sources(rows)
    if isinstance(sample, Stepping) and len(expressions) == len(rows):
        yield from sample.step_batches(expressions)
        return
    columns = sorted({column for row in rows for column in row.columns})
    for frame in sample.frames(columns):
        yield steps_of_frame(frame, rows)


def histogram_of(value: RowValue, counts: NDArray[np.int64], total: int) -> Histogram:
    """The histogram of a row value with so many rows in its bins and so many steps in all."""
    return Histogram(counts, *_ends(value), value.grid.moments(total, 0)[0])


def histogram_of_bins(value: RowValue, bins: NDArray[np.int64]) -> Histogram:
    """The histogram from lines of: a bin, its rows, and the sum of their steps above its first."""
    import numpy as np

    counts = np.zeros(bin_count(value), dtype=np.int64)
    places, times, above = bins.T
    counts[places] = times
    total = (int((places * times).sum()) << bin_shift(value)) + int(above.sum())
    return histogram_of(value, counts, total)


def _identity(row: RowValue) -> tuple[str, float, float]:
    return row.text, row.low, row.high


def bin_shift(row: RowValue) -> int:
    """The bits that a bin leaves out: none where the grid has one step, or none at all."""
    return _BITS if row.grid.top > 1 else 0


def bin_count(row: RowValue) -> int:
    """The number of bins of a row value's range."""
    return (row.grid.top >> bin_shift(row)) + 1


def _ends(row: RowValue) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _ends_of(bin_count(row), row.grid.top)


@lru_cache(maxsize=4)  # of many questions about one range
def _ends_of(count: int, top: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    bins = np.arange(count, dtype=np.float64)
    if top <= 1:
        low = high = bins
    else:
        first = bins * 2.0**_BITS
        low = np.maximum(0.0, (first - _OUTSIDE) / top)
        high = np.minimum(1.0, (first + (2.0**_BITS - 1.0 + _OUTSIDE)) / top)
    low.flags.writeable = high.flags.writeable = False
    return low, high


# How often values occur: counted by an engine that can, or from batches of its rows.
#
# Memory grows with the different values, not with the rows.


_MOST_WAITING = 1 << 20  # rows of batches that are not added up yet


@runtime_checkable
class Counting(Protocol):
    """An engine that counts by itself, where its rows are."""

    def value_counts(self, columns: Sequence[str]) -> pl.DataFrame:
        """As the function of this name."""
        ...

    def step_counts(
        self, rows: Sequence[tuple[RowValue, Expression]], inside: Expression | None
    ) -> pl.DataFrame:
        """Each combination of steps k0, k1, ... once, and in `times` how many rows have it.

        Of the rows where the condition holds.
        """
        ...

    def class_counts(self, score: Expression, positive: Expression) -> Iterator[pl.DataFrame]:
        """Each `score` once, ascending, with its `negatives` and `positives`, in batches.

        A missing score is below all, and a row whose class is missing is a negative.
        """
        ...


def value_counts(sample: Sample, columns: Sequence[str]) -> pl.DataFrame:
    """Each combination v0, v1, ... of values of the columns once, and how many `rows` have it.

    NULL is one value, and so is all else that no question can tell apart.
    """
    import polars as pl

    from holdfast.data.plain import told_apart

    keys = {f"v{place}": name for place, name in enumerate(columns)}
    if isinstance(sample, Counting):
        counts = sample.value_counts(columns)
        return _added_up(
            [*keys], counts.with_columns(told_apart(v, counts.schema[v]) for v in keys)
        )

    def count_batch(frame: pl.DataFrame) -> pl.DataFrame:
        values = (told_apart(name, frame.schema[name]).alias(v) for v, name in keys.items())
        return frame.select(values).group_by([*keys]).agg(rows=pl.len().cast(int))

    return summed_by([*keys], map(count_batch, sample.frames(list(dict.fromkeys(columns)))))


def summed_by(keys: Sequence[str], parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The sums of all other columns for each combination of the keys; NULL is one value."""
    import polars as pl

    waiting_parts: list[pl.DataFrame] = []
    waiting = 0
    for part in parts:
        waiting_parts.append(part)
        waiting += part.height
        if waiting > max(_MOST_WAITING, 2 * waiting_parts[0].height):
            waiting_parts, waiting = [_added_up(keys, pl.concat(waiting_parts))], 0
    return _added_up(keys, pl.concat(waiting_parts))


def _added_up(keys: Sequence[str], parts: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return parts.group_by(keys).agg(pl.all().sum())
