"""Disjoint random parts of a table, the same whatever engine holds it and in whatever order.

**The rule.** Equal rows are numbered 1, 2, ... among themselves. Row content, this number and a
secret key are hashed to a ticket; rows are sorted by their tickets, and part j has the rows of
places (j - 1) m + 1, ..., j m, m = floor(n/parts). The few rows left over are never used.

**Why it is right.** No two rows have the same content and number, so their tickets are independent
and equally likely to come in any order, whatever the data is: as far as the hash is a random
function, the order is a uniformly random permutation that is independent of the rows. Equal rows
may exchange their numbers without changing any part as a multiset, so the parts do not depend on
the order in which an engine delivers rows. (A hash of the content alone would not do: it sends all
equal rows to one part, and then a part is a sample of another population. Row numbers would not do
either: the same table may come back in another order.) So, for independent rows that are alike,
each part is m independent draws from the population, independent of all the other parts.

Contents are compared by the 128-bit words of `holdfast.data.fingerprint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.evaluate import steps_of_frame
from holdfast.data.fingerprint import row_words
from holdfast.data.orders import random_orders
from holdfast.data.sample import Sample
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["part_sums"]


def part_sums(
    sample: Sample, asked: Sequence[tuple[RowValue, int]], parts: int, key: bytes
) -> list[int]:
    """For each (row value, part), the sum of its grid units over the rows of that part; one scan.

    Parts are numbered 1, ..., `parts`.
    """
    types, rows = dict(sample.types), [row for row, _ in asked]
    lanes: tuple[list[NDArray[np.uint64]], list[NDArray[np.uint64]]] = ([], [])
    steps: list[list[NDArray[np.int64]]] = [[] for _ in asked]
    for frame in sample.frames(list(types)):
        for lane, words in zip(lanes, row_words(frame, types), strict=True):
            lane.append(words)
        for found, counted in zip(steps, steps_of_frame(frame, rows), strict=True):
            found.append(counted)
    (order,) = random_orders(np.concatenate(lanes[0]), np.concatenate(lanes[1]), key)
    size = sample.n // parts
    totals = []
    for found, (row, part) in zip(steps, asked, strict=True):
        chosen = np.concatenate(found)[order[(part - 1) * size : part * size]]
        total, _ = row.grid.moments(int(chosen.sum()), 0)
        totals.append(total)
    return totals
