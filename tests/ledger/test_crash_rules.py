"""Crashes at every step of answers by rules of losses, of trials and of rows in an order.

As far as the ledger can tell, the process dies there: what was reserved is charged in full, and the
next process finishes it with the same answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from holdfast.holdout.answer import Answer
from tests.holdout.tables import Crash, copied, opened, untouchable, watch
from tests.ledger.children import dying
from tests.ledger.forging import faults
from tests.ledger.reading import folded

ROWS = 300
POINTS = (
    "before reserve",
    "inside reserve",
    "after reserve",
    "in the scan",
    "before settle",
    "inside settle",
    "after settle",
)
LOSSES = (
    "mse(good, y, 2)",
    "mae(good, y, 2) where arm",
    "rmse(good, y, 2)",
    "neg_rmse(good, y, 2)",
    "r2(good, y, 0, 2, 3)",
    "closer(good, bad, y)",
    "mse(good, y, kappa = 6)",
    "mae(good, y, kappa = 3) where arm",
)
IN_ORDER = ("avg(y)", "kendall(good, y)", "slope(y, good)")
TRIALS = {"coins": "effect(well, arm)", "shuffled": "effect(y, arm)"}
CASES = [*((None, text) for text in (*LOSSES, *IN_ORDER)), *TRIALS.items()]


def trial() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    site, y = np.repeat(np.arange(6), ROWS // 6), rng.normal(0.0, 1.0, ROWS)
    arm = np.concatenate([rng.permutation(ROWS // 6) % 2 == 0 for _ in range(6)])
    good, bad = (y + rng.normal(0.0, scale, ROWS) for scale in (0.5, 1.5))
    return pl.DataFrame(
        {"y": y, "good": good, "bad": bad, "arm": arm, "site": site, "well": y + arm > 0.5}
    )


FRAME = trial()
BOUNDS = {"y": (-5.0, 5.0), "good": (-9.0, 9.0), "site": (0, 5)}


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Path]:
    """A new ledger for each way that arms were drawn; every other is a copy, with its secret."""
    drawn: dict[str | None, dict[str, Any]] = {
        None: {},
        "coins": {"randomised": "coins", "arm": "arm"},
        "shuffled": {"randomised": "shuffled", "arm": "arm", "within": ["site"]},
    }
    paths = {}
    for name, declared in drawn.items():
        folder = tmp_path_factory.mktemp(str(name))
        with opened(folder, FRAME, schema=BOUNDS, described="exact", **declared):
            paths[name] = folder / "t.ledger"
    return paths


def said(answer: Answer) -> tuple[Any, ...]:
    return answer.value, answer.interval, answer.bits


@pytest.mark.parametrize(("drawn", "text"), CASES, ids=[text for _, text in CASES])
def test_a_crash_at_any_step_is_charged_and_finished_with_the_same_answer(
    starts: dict[str | None, Path], tmp_path: Path, drawn: str | None, text: str
) -> None:
    whole = copied(starts[drawn], tmp_path / "whole")
    with opened(whole.parent, FRAME) as holdout:
        answer, nats = holdout.ask(text), holdout.budget.nats
        assert answer.status == "answered"
    for point in POINTS:
        path = copied(starts[drawn], tmp_path / point)
        with pytest.MonkeyPatch.context() as patch, opened(path.parent, FRAME) as dead:
            dying(point, dead, patch)
            with pytest.raises(Crash):
                dead.ask(text)
        left = folded(path)
        reserved = point not in ("before reserve", "inside reserve")
        settled = point == "after settle"
        assert (left.pending is not None) is (reserved and not settled)
        assert left.committed.nats >= (nats if reserved else 0.0)
        with opened(path.parent, FRAME) as resumed:
            assert said(resumed.ask(text)) == said(answer)
            assert resumed.budget.nats == nats
        assert faults(path) == []


@pytest.mark.parametrize(("drawn", "text"), CASES, ids=[text for _, text in CASES])
def test_no_row_is_read_before_the_charge_is_durable(
    starts: dict[str | None, Path], tmp_path: Path, drawn: str | None, text: str
) -> None:
    """Otherwise a crash in the scan would be free: what is there then has no charge."""
    path = copied(starts[drawn], tmp_path / "free")
    with pytest.MonkeyPatch.context() as patch, opened(path.parent, FRAME) as dead:
        dying("inside reserve", dead, patch)
        watch(dead, untouchable)
        with pytest.raises(Crash):
            dead.ask(text)
    assert folded(path).committed.nats == 0.0
