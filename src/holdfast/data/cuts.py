"""Conditions that compare one value with many numbers, counted in one pass over its values.

Bins of equal width are laid over the numbers; where two would be in one, only the first is counted
here. Differences and products are rounded in order: a value in a higher bin than a number is above
it. Only with the number of its own bin, if there is one, is a value compared. Every row takes the
same steps, whatever it holds: to sort values would take a time that tells how they are spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from holdfast.question.expression import Constant, Expression, Op, Operation
from holdfast.question.row import RowValue

MANY = 64  # one pass takes about as long as so many comparisons of every row
_BINS, _ROWS = 1 << 13, 1 << 14  # at once: little memory is soon there again
_NARROWEST, _WIDEST = 2.0**-1000, 2.0**1000  # of all numbers together: doubles can part it
_COMPARING = (Op.BELOW, Op.AT_MOST, Op.ABOVE, Op.AT_LEAST)


@dataclass(frozen=True, slots=True)
class Cuts:
    """Comparisons of a value with numbers: each with its place in a list, and all their numbers."""

    value: Expression
    comparisons: Sequence[tuple[int, Op, float]]
    bins: _Bins

    def counts(self, batches: Iterable[pl.DataFrame]) -> dict[int, int]:
        """By its place, how many of the values fulfil each; one that is NULL fulfils none.

        Batches are of one column: the value.
        """
        known, below, at_most = self.bins.ranks(batches)
        ranks = {
            Op.BELOW: below,
            Op.AT_MOST: at_most,
            Op.ABOVE: known - at_most,
            Op.AT_LEAST: known - below,
        }
        order = self.bins.numbers.searchsorted([number for _, _, number in self.comparisons])
        return {
            place: int(ranks[op][rank])
            for (place, op, _), rank in zip(self.comparisons, order, strict=True)
        }


def many_cuts(rows: Sequence[tuple[RowValue, Expression]]) -> list[Cuts]:
    """The comparisons among conditions that are counted together: many of the same value."""
    by_value: dict[Expression, list[tuple[int, Op, float]]] = {}
    for place, (_, expression) in enumerate(rows):
        match expression:
            case Operation(op, (value, Constant(value=float(number)))) if op in _COMPARING:
                by_value.setdefault(value, []).append((place, op, number))
    many = {value: each for value, each in by_value.items() if len(each) >= MANY}
    cuts = []
    for value, each in many.items():
        bins = _Bins.over({number for *_, number in each})
        own = set() if bins is None else set(bins.numbers.tolist())
        counted = [comparison for comparison in each if comparison[2] in own]
        if bins is not None and len(counted) >= MANY:
            cuts.append(Cuts(value, counted, bins))
    return cuts


@dataclass(frozen=True, slots=True)
class _Bins:
    """Bins from 0 to `_BINS` over numbers, in order, each of which has a bin of its own."""

    numbers: NDArray[np.float64]
    scale: float  # bins to a unit

    @classmethod
    def over(cls, numbers: set[float]) -> _Bins | None:
        """Bins over numbers, of several in one the first; None where doubles cannot part them."""
        ordered, width = np.array(sorted(numbers)), max(numbers) - min(numbers)
        if not _NARROWEST <= width <= _WIDEST and width != 0.0:
            return None
        bins = cls(ordered, (_BINS - 2) / (width or 1.0))
        _, first = np.unique(bins.own, return_index=True)
        return cls(ordered[first], bins.scale)

    @property
    def own(self) -> NDArray[np.int64]:
        """The bins of the numbers."""
        bins = np.empty(len(self.numbers), dtype=np.int64)
        self.fill(bins, self.numbers, np.empty(len(bins)))
        return bins

    def fill(
        self,
        bins: NDArray[np.int64],
        values: NDArray[np.float64],
        scratch: NDArray[np.float64],
    ) -> None:
        """Write the bins of values; what is beyond all numbers is in the first or the last one."""
        with np.errstate(over="ignore"):  # what is so far off is beyond all numbers
            np.subtract(values, self.numbers[0], out=scratch)
            scratch *= self.scale
        scratch += 1.0
        np.minimum(scratch, _BINS, out=scratch)
        np.maximum(scratch, 0.0, out=scratch)
        np.copyto(bins, scratch, casting="unsafe")

    def ranks(
        self, batches: Iterable[pl.DataFrame]
    ) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        """How many values are known, and how many of them are below, and at most, each number."""
        own, number_of_bin = self.own, np.full(_BINS + 1, math.inf)
        number_of_bin[own] = self.numbers
        counts = np.zeros((_BINS + 1, 3), dtype=np.int64)  # below, at or above its number
        flat, known, missing = counts.reshape(-1), 0, 0
        numbers, bins = np.empty(_ROWS), np.empty(_ROWS, dtype=np.int64)
        holds = np.empty(_ROWS, dtype=np.bool_)
        for frame in batches:
            values = frame.to_series()
            known, missing = known + values.count(), missing + values.null_count()
            whole = values.fill_null(-math.inf).to_numpy()
            for start in range(0, len(whole), _ROWS):
                part = whole[start : start + _ROWS]
                here = slice(len(part))
                self.fill(bins[here], part, numbers[here])
                np.take(number_of_bin, bins[here], out=numbers[here], mode="clip")
                bins[here] *= 3
                bins[here] += np.greater_equal(part, numbers[here], out=holds[here])
                bins[here] += np.greater(part, numbers[here], out=holds[here])
                np.add.at(flat, bins[here], 1)
        # What is missing was counted as below everything.
        before = np.cumsum(counts.sum(axis=1))[own - 1] - missing
        return known, before + counts[own, 0], before + counts[own, :2].sum(axis=1)
