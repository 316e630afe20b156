"""Scores of two classes in ascending order, however many: sorted on disk where memory is short.

Batches are collected until there are many, sorted, and written to a file: a run. Then all runs are
read side by side, a piece of each at a time, and merged. Equal scores are one entry with two
counts, so that few different scores never need a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ScoreCounts", "merged_scores"]

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
        held: list[ScoreCounts] = []
        sizes: list[int] = []
        for batch in batches:
            held.append(batch)
            if sum(each.scores.size for each in held) >= run:
                held = [_distinct(held)]
                if held[0].scores.size >= run // 2:  # else there are few different ones
                    sizes.append(_written(file, held.pop()))
        starts = np.cumsum([0, *sizes])[:-1].tolist() if sizes else []
        runs = [_read(file, *each, piece) for each in zip(starts, sizes, strict=True)]
        yield from _merged([*runs, iter([_distinct(held)])])


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


def _written(file: IO[bytes], run: ScoreCounts) -> int:
    """The number of scores; one block of each column follows the other."""
    for column in run:
        file.write(np.ascontiguousarray(column).data)
    return run.scores.size


def _read(file: IO[bytes], before: int, size: int, piece: int) -> Iterator[ScoreCounts]:
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
