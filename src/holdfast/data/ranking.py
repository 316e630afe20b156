"""Scores of two classes in order, for the AUC and for the AUCs of random blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from holdfast.data.histogram import Counting
from holdfast.data.orders import MOST_ORDERS, RUN, Shuffled, row_tickets
from holdfast.data.sample import Sample
from holdfast.data.values import evaluate
from holdfast.question.expression import Expression, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Scores of two classes in ascending order, however many: sorted on disk where memory is short.
#
# Batches are collected until there are many, sorted, and written to a file: a run. Then all runs
# are read side by side, a piece of each at a time, and merged. Equal scores are one entry with
# two counts, so that few different scores never need a file.


_RUN = 1 << 21  # scores that are sorted in memory
_PIECE = 1 << 16  # scores of a run that are read at once


class ScoreCounts(NamedTuple):
    """Scores, and how many rows of each class have them."""

    scores: NDArray[np.float64]
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]

    def part(self, start: int, end: int) -> ScoreCounts:
        """Those from one place to another."""
        place = slice(start, end)
        return ScoreCounts(self.scores[place], self.negatives[place], self.positives[place])


_NOTHING = ScoreCounts(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))


def merged_scores(
    batches: Iterable[ScoreCounts], run: int = _RUN, piece: int = _PIECE
) -> Iterator[ScoreCounts]:
    """The scores of all batches, ascending and each once, in pieces."""
    with TemporaryFile() as file:
        waiting: list[ScoreCounts] = []
        sizes: list[int] = []
        for batch in batches:
            waiting.append(batch)
            if sum(each.scores.size for each in waiting) >= run:
                waiting = [_distinct(waiting)]
                if waiting[0].scores.size >= run // 2:  # else there are few different ones
                    sizes.append(_write_run(file, waiting.pop()))
        starts = np.cumsum([0, *sizes])[:-1].tolist() if sizes else []
        runs = [_read_run(file, *each, piece) for each in zip(starts, sizes, strict=True)]
        yield from _merged([*runs, iter([_distinct(waiting)])])


def _distinct(parts: Sequence[ScoreCounts]) -> ScoreCounts:
    """Each score once, ascending, with the sums of its counts."""
    scores, *counts = (np.concatenate(each) for each in zip(_NOTHING, *parts, strict=True))
    # Parts that are sorted themselves, as pieces of runs are, are merged by a stable sort.
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    first = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]][: scores.size])
    if first.size < scores.size:
        sums = (np.add.reduceat(each[order], first) for each in counts)
        return ScoreCounts(scores[first], *sums)
    return ScoreCounts(scores, *(each[order] for each in counts))


def _write_run(file: IO[bytes], run: ScoreCounts) -> int:
    """The number of scores; one block of each column follows the other."""
    for column in run:
        file.write(np.ascontiguousarray(column).data)
    return run.scores.size


def _read_run(file: IO[bytes], before: int, size: int, piece: int) -> Iterator[ScoreCounts]:
    """A run of so many scores, behind the runs of those before it."""

    def column(place: int, start: int) -> bytes:
        file.seek(8 * (3 * before + place * size + start))
        return file.read(8 * min(piece, size - start))

    for start in range(0, size, piece):
        yield ScoreCounts(
            np.frombuffer(column(0, start), np.float64),
            np.frombuffer(column(1, start), np.int64),
            np.frombuffer(column(2, start), np.int64),
        )


def _merged(runs: Sequence[Iterator[ScoreCounts]]) -> Iterator[ScoreCounts]:
    """What is not above the last score of any piece is complete: a run has each score once."""
    pieces = [next(run, _NOTHING) for run in runs]
    while lasts := [each.scores[-1] for each in pieces if each.scores.size]:
        bound = min(lasts)
        cuts = [int(np.searchsorted(each.scores, bound, side="right")) for each in pieces]
        both = list(zip(pieces, cuts, strict=True))
        yield _distinct([each.part(0, cut) for each, cut in both])
        rest = (each.part(cut, each.scores.size) for each, cut in both)
        pieces = [
            each if each.scores.size else next(run, each)
            for each, run in zip(rest, runs, strict=True)
        ]


_TICKETED = 1 << 16  # rows that get their tickets at once


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Of all pairs of a positive and a negative row: twice those won, a tie counting 1."""

    doubled: int
    positives: int
    negatives: int


class _Pairs:
    """Pairs that are counted score by score, ascending."""

    def __init__(self, rows: int) -> None:
        self._wide = np.int64 if rows < 2**31 else object  # what products of counts fit into
        self._doubled = self._positives = self._negatives = 0

    def add(self, counts: ScoreCounts) -> None:
        above, below = counts.positives.astype(self._wide), counts.negatives.astype(self._wide)
        self._doubled += 2 * self._negatives * int(above.sum())
        self._doubled += int((above * (2 * np.cumsum(below) - below)).sum())
        self._positives += int(above.sum())
        self._negatives += int(below.sum())

    def ranked_pairs(self) -> RankedPairs:
        return RankedPairs(self._doubled, self._positives, self._negatives)


@dataclass(frozen=True, slots=True, eq=False)
class ShuffledClasses:
    """Both classes' rows as the ranks of their scores, in random orders.

    Equal scores have equal ranks. This is what `holdfast.theory.direct.auc.rank_areas` takes.
    Rows of one class with equal scores are the same to an AUC, so the list of a class's rows by
    their scores is the same on every engine, and its places have the tickets of the class.
    """

    pairs: RankedPairs
    positives: Shuffled
    negatives: Shuffled


@contextmanager
def shuffled_classes(
    sample: Sample,
    score: Expression,
    positive: Expression,
    key: bytes,
    *,
    orders: int = MOST_ORDERS,
    run: int = RUN,
) -> Iterator[ShuffledClasses]:
    """The classes from one scan and the key; memory does not grow with the rows, but files do."""
    pairs, ranked = _Pairs(sample.n), 0
    with Shuffled(orders, run) as positives, Shuffled(orders, run) as negatives:
        begun = [0, 0]
        for tally in _tallied(sample, score, positive):
            pairs.add(tally)
            of_classes = (negatives, tally.negatives), (positives, tally.positives)
            for label, (rows, counts) in enumerate(of_classes):
                for place in _single_rows(counts, min(run, _TICKETED)):
                    places = range(begun[label], begun[label] + place.size)
                    begun[label] = places.stop
                    tickets = row_tickets(places, key + bytes([label]), orders)
                    rows.add(ranked + place, tickets)
            ranked += tally.scores.size
        yield ShuffledClasses(pairs.ranked_pairs(), positives, negatives)


def _single_rows(counts: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Which entry each row is of, so many rows at a time."""
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]) if ends.size else 0, most):
        rows = np.arange(start, min(start + most, int(ends[-1])))
        yield np.searchsorted(ends, rows, side="right")


def paired_numbers(
    sample: Sample, values: tuple[Expression, Expression], inside: Expression | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two numbers of each row in the condition that has both, sorted by what the rows hold."""
    import polars as pl

    wanted = [*values, *([] if inside is None else [inside])]
    columns = sorted({name for each in wanted for name in column_names(each)})
    batches = []
    for frame in sample.frames(columns):
        first, second, *group = evaluate(frame, wanted)
        batch = pl.DataFrame({"x": first.cast(pl.Float64), "y": second.cast(pl.Float64)})
        if group:
            batch = batch.filter(group[0].fill_null(value=False))
        batches.append(batch.drop_nulls())
    rows = pl.concat(batches).sort("x", "y")
    x, y = (rows[name].to_numpy() + 0.0 for name in ("x", "y"))  # which turns -0 into 0
    return x, y


def ranked_pairs(sample: Sample, score: Expression, positive: Expression) -> RankedPairs:
    """How many pairs of rows of both classes are ranked rightly; memory does not grow with rows."""
    pairs = _Pairs(sample.n)
    for counts in _tallied(sample, score, positive):
        pairs.add(counts)
    return pairs.ranked_pairs()


def _tallied(sample: Sample, score: Expression, positive: Expression) -> Iterator[ScoreCounts]:
    """Each score once, ascending, and how many rows of each class have it, in pieces."""
    if isinstance(sample, Counting):
        for frame in sample.class_counts(score, positive):
            columns = (frame[name].to_numpy() for name in ("score", "negatives", "positives"))
            yield ScoreCounts(*columns)
    else:
        yield from merged_scores(_batches(sample, score, positive))


def _batches(sample: Sample, score: Expression, positive: Expression) -> Iterator[ScoreCounts]:
    import polars as pl

    for frame in sample.frames(sorted({*column_names(score), *column_names(positive)})):
        number, label = evaluate(frame, [score, positive])
        # Adding 0 turns -0 into 0: they are equal scores.
        scores = number.cast(pl.Float64).fill_null(-math.inf).to_numpy() + 0.0
        positives = label.fill_null(value=False).cast(pl.Int64).to_numpy()
        yield ScoreCounts(scores, 1 - positives, positives)
