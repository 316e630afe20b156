"""Scores of two classes in ascending order, however many: sorted on disk where memory is short.

Batches are collected until there are many, sorted, and written to a file: a run. Then all runs are
read side by side, a piece of each at a time, and merged. Equal scores are one entry with two
counts, so that few different scores never need a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ENTRY", "merged_scores"]

# A score, and how many rows of each class have it.
ENTRY = np.dtype([("score", "<f8"), ("negatives", "<i8"), ("positives", "<i8")])

_RUN = 1 << 21  # entries that are sorted in memory
_PIECE = 1 << 16  # entries of a run that are read at once


def merged_scores(
    batches: Iterable[NDArray[np.void]], run: int = _RUN, piece: int = _PIECE
) -> Iterator[NDArray[np.void]]:
    """The entries of all batches, ascending, each score once, in pieces."""
    with TemporaryFile() as file:
        held: list[NDArray[np.void]] = []
        ends: list[int] = []
        for batch in batches:
            held.append(batch)
            if sum(each.size for each in held) >= run:
                held = [_distinct(np.concatenate(held))]
                if held[0].size >= run // 2:  # else there are few different ones
                    ends.append(_written(file, held.pop()))
        last = _distinct(np.concatenate([np.empty(0, ENTRY), *held]))
        starts = [0, *ends[:-1]]
        runs = [_read(file, *each, piece) for each in zip(starts, ends, strict=False)]
        yield from _merged([*runs, iter([last])])


def _distinct(entries: NDArray[np.void]) -> NDArray[np.void]:
    """Each score once, ascending, with the sums of its counts."""
    ordered = entries[np.argsort(entries["score"], kind="stable")]
    scores = ordered["score"]
    first = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]][: scores.size])
    found = np.empty(first.size, ENTRY)
    found["score"] = scores[first]
    for name in ("negatives", "positives"):
        found[name] = np.add.reduceat(ordered[name], first) if first.size else 0
    return found


def _written(file: IO[bytes], run: NDArray[np.void]) -> int:
    """Where the file ends with this run."""
    file.write(run.tobytes())
    return file.tell()


def _read(file: IO[bytes], start: int, end: int, piece: int) -> Iterator[NDArray[np.void]]:
    while start < end:
        file.seek(start)
        content = file.read(min(piece * ENTRY.itemsize, end - start))
        start += len(content)
        yield np.frombuffer(content, ENTRY)


def _merged(runs: list[Iterator[NDArray[np.void]]]) -> Iterator[NDArray[np.void]]:
    """What is not above the last entry of any piece is complete: a run has each score once."""
    pieces = [next(run, np.empty(0, ENTRY)) for run in runs]
    while True:
        lasts = [each["score"][-1] for each in pieces if each.size]
        if not lasts:
            return
        bound = min(lasts)
        cuts = [int(np.searchsorted(each["score"], bound, side="right")) for each in pieces]
        found = _distinct(
            np.concatenate([each[:cut] for each, cut in zip(pieces, cuts, strict=True)])
        )
        pieces = [each[cut:] for each, cut in zip(pieces, cuts, strict=True)]
        pieces = [
            each if each.size else next(run, each) for each, run in zip(pieces, runs, strict=True)
        ]
        yield found
