"""An evaluation gate keeps its promise: of candidates that are no better few sessions show one.

Whole sessions through the public interface, each candidate an edit of the incumbent that changes a
third of its scores, as often for better as for worse. The twin promotes what scores higher.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import holdfast
from tests.theory.coverage import too_many

SESSIONS, CANDIDATES, ITEMS, BETA = 20, 4, 120, 0.2
Scores = NDArray[np.float64]
Drawn = Callable[[np.random.Generator], Scores]


def right_or_wrong(rng: np.random.Generator) -> Scores:
    return (rng.random(ITEMS) < 0.5).astype(float)


def graded(rng: np.random.Generator) -> Scores:
    return np.round(rng.beta(2, 2, ITEMS), 2)


def fooled(folder: Path, session: int, score: Any, drawn: Drawn) -> tuple[bool, bool]:
    """Whether a candidate is promoted by the gate, and whether one scores higher."""
    rng = np.random.default_rng([33, session])
    gate = holdfast.EvalGate(
        pl.DataFrame({"item": list(range(ITEMS))}),
        key="item",
        score=score,
        ledger=folder / f"{session}.ledger",
        candidates=CANDIDATES,
        confidence_level=1 - BETA,
    )
    incumbent, promoted, higher = drawn(rng), False, False
    gate.submit("v0", incumbent)
    gate.promote("v0")
    for number in range(1, CANDIDATES + 1):
        candidate = np.where(rng.random(ITEMS) < 1 / 3, drawn(rng), incumbent)
        higher |= bool(candidate.mean() > incumbent.mean())
        gate.submit(f"v{number}", candidate)
        if gate.promote_if_better(f"v{number}").promote:
            incumbent, promoted = candidate, True
    gate.holdout.close()
    return promoted, higher


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("score", "drawn"), [(bool, right_or_wrong), ((0, 1), graded)], ids=["right or wrong", "graded"]
)
def test_candidates_that_are_no_better_are_promoted_in_few_sessions(
    tmp_path: Path, score: Any, drawn: Drawn
) -> None:
    found = [fooled(tmp_path, session, score, drawn) for session in range(SESSIONS)]
    assert not too_many([promoted for promoted, _ in found], BETA)
    assert too_many([higher for _, higher in found], BETA)  # the twin
