"""A loop that edits a prompt 300 times and keeps what scores better, by three rules.

Most edits change the answers to one item in ten, as often for better as for worse: true gain 0. A
few are real. Who keeps whatever scores higher climbs on noise; who tests each edit at 5 % does so
more slowly; a gate shows only what is there. Run it: python -m examples.prompts
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

import holdfast

Right: TypeAlias = NDArray[np.bool_]  # of each item, whether a prompt gets it right
Rule: TypeAlias = Callable[[str, Right, Right], bool]  # name, candidate, incumbent

ITEMS, EDITS = 1_000, 300
START = 0.6  # the share of all items that the first prompt gets right
CHANGED = 0.1  # the share of items that an edit changes
GAIN, EVERY = 0.08, 100  # what every hundredth edit gains


@dataclass
class Climb:
    """Where a loop has come to: what it kept, what it believes, and what is true."""

    right: Right
    truth: float = START
    kept: int = 0
    false: int = 0

    @property
    def believed(self) -> float:
        """The share of the items that are right, which is all that the loop sees."""
        return float(self.right.mean())


def edited(right: Right, truth: float, gain: float, rng: np.random.Generator) -> Right:
    """The answers after an edit: some items are lost and some are won, wherever they are.

    Of all items there are, (CHANGED + gain) / 2 are won and (CHANGED - gain) / 2 are lost.
    """
    won, lost = (CHANGED + gain) / 2 / (1 - truth), (CHANGED - gain) / 2 / truth
    luck = rng.random(len(right))
    return np.where(right, luck >= lost, luck < won)


def climbed(rule: Rule, items: int, edits: int, seed: int) -> Climb:
    """A loop that keeps an edit when the rule says so."""
    rng = np.random.default_rng(seed)
    now = Climb(rng.random(items) < START)
    for edit in range(1, edits + 1):
        gain = GAIN if edit % EVERY == 0 else 0.0
        candidate = edited(now.right, now.truth, gain, rng)
        if rule(f"edit-{edit}", candidate, now.right):
            now.right, now.truth = candidate, now.truth + gain
            now.kept, now.false = now.kept + 1, now.false + (gain == 0)
    return now


def scores_higher(_: str, candidate: Right, incumbent: Right) -> bool:
    """Keep whatever scores higher on the holdout."""
    return bool(candidate.sum() > incumbent.sum())


def is_significant(_: str, candidate: Right, incumbent: Right) -> bool:
    """Keep what an exact one-sided sign test at 5 % calls better, each time anew."""
    won, lost = int((candidate & ~incumbent).sum()), int((incumbent & ~candidate).sum())
    both = won + lost
    tail = sum(math.comb(both, k) for k in range(won, both + 1))
    return bool(tail / 2**both <= 0.05)


def gated(items: int, edits: int, seed: int, folder: Path) -> Climb:
    """Keep what a gate shows, on a ledger that counts every look."""
    names = [f"item-{number:04}" for number in range(items)]
    gate = holdfast.EvalGate(
        pl.DataFrame({"item": names}),
        key="item",
        ledger=folder / "prompts.ledger",
        candidates=edits,
    )

    def shown(name: str, candidate: Right, incumbent: Right) -> bool:
        if gate.incumbent is None:
            gate.submit("start", incumbent)
            gate.promote("start")
        gate.submit(name, candidate)
        return gate.promote_if_better(name).promote

    with gate.holdout:
        return climbed(shown, items, edits, seed)


def session(items: int = ITEMS, edits: int = EDITS, seed: int = 0) -> dict[str, Climb]:
    """All three loops over the same edits, told as a table."""
    with tempfile.TemporaryDirectory() as folder:
        found = {
            "keep what scores higher": climbed(scores_higher, items, edits, seed),
            "p < 0.05, each edit": climbed(is_significant, items, edits, seed),
            "holdfast.EvalGate": gated(items, edits, seed, Path(folder)),
        }
    print(f"{edits:,} edits of a prompt, {items:,} items\n")
    print(f"{'rule':<25} {'kept':>5} {'of them noise':>14} {'believed':>9} {'true':>6}")
    for rule, climb in found.items():
        print(
            f"{rule:<25} {climb.kept:>5} {climb.false:>14} {climb.believed:>9.3f} "
            f"{climb.truth:>6.3f}"
        )
    return found


if __name__ == "__main__":
    session()
