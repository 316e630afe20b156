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

Contents are compared by the 128-bit words of `holdfast.data.fingerprint`. Two tickets are equal
with a chance below n^2 2^-65; then the words decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from holdfast.data.evaluate import evaluate
from holdfast.data.fingerprint import row_words
from holdfast.data.plain import plain
from holdfast.data.sample import Sample, steps_of_batch
from holdfast.question.expression import Expression
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
    types = dict(sample.types)
    lanes: tuple[list[NDArray[np.uint64]], list[NDArray[np.uint64]]] = ([], [])
    steps: list[list[NDArray[np.int64]]] = [[] for _ in asked]
    for frame in sample.frames(list(types)):
        for lane, words in zip(lanes, row_words(frame, types), strict=True):
            lane.append(words)
        for found, counted in zip(steps, _steps([row for row, _ in asked], frame), strict=True):
            found.append(counted)
    order = _random_order(np.concatenate(lanes[0]), np.concatenate(lanes[1]), key)
    size = sample.n // parts
    totals = []
    for found, (row, part) in zip(steps, asked, strict=True):
        chosen = np.concatenate(found)[order[(part - 1) * size : part * size]]
        total, _ = row.grid.moments(int(chosen.sum()), 0)
        totals.append(total)
    return totals


def _steps(rows: Sequence[RowValue], frame: pl.DataFrame) -> Iterator[NDArray[np.int64]]:
    """For each row value the steps of each row of a frame, as an engine would sum them."""
    expressions = [row.source for row in rows if isinstance(row.source, Expression)]
    values = iter(evaluate(frame, expressions) if expressions else [])
    for row in rows:
        if isinstance(row.source, Expression):
            yield _counted(row, next(values))
        else:
            columns = frame.select(row.columns)
            named = columns.schema.items()
            yield steps_of_batch(row, columns.select(plain(name, dtype) for name, dtype in named))


def _counted(row: RowValue, values: pl.Series) -> NDArray[np.int64]:
    if row.is_condition:
        return values.fill_null(value=False).cast(pl.Int64).to_numpy()
    grid = row.grid
    numbers = values.cast(pl.Float64).fill_null(row.missing).to_numpy()
    return np.rint((numbers - grid.origin) / grid.step).astype(np.int64) - grid.first


def _random_order(
    first: NDArray[np.uint64], second: NDArray[np.uint64], key: bytes
) -> NDArray[np.int64]:
    """The rows by their tickets."""
    by_content = np.lexsort((second, first))
    content = np.stack((first[by_content], second[by_content]), axis=1)
    places = np.arange(len(content))
    starts = np.r_[True, (content[1:] != content[:-1]).any(axis=1)]
    among_equals = places - np.maximum.accumulate(np.where(starts, places, 0))
    rows = np.column_stack((content, among_equals.astype(np.uint64))).astype("<u8").tobytes()
    tickets = np.frombuffer(
        b"".join(
            blake2b(rows[place : place + 24], digest_size=8, key=key).digest()
            for place in range(0, len(rows), 24)
        ),
        dtype="<u8",
    )
    order: NDArray[np.int64] = by_content[np.argsort(tickets, kind="stable")]
    return order
