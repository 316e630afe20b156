"""Quantiles of columns without a range: described, checked, searched for, refused, and audited."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.statistics.log_scale import FARTHEST, from_log_scale, interval_from_log_scale
from holdfast.theory.base.intervals import Interval
from tests.holdout.tables import same_secret

ROWS = 2_000
LAWS = {"pareto": 2.0**0.5 - 1.0, "cauchy": 7.0, "small": 3e-5, "large": -4e9}


def table(seed: int = 5, rows: int = ROWS) -> pl.DataFrame:
    """Columns with the medians of `LAWS`: heavy tails, tiny and huge values."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "pareto": rng.pareto(2.0, rows),
            "cauchy": 7.0 + rng.standard_cauchy(rows),
            "small": 3e-5 + 1e-6 * rng.normal(size=rows),
            "large": -4e9 + 1e9 * rng.normal(size=rows),
            "late": rng.random(rows) < 0.3,
        }
    )


def made(path: Path, frame: pl.DataFrame | None = None, **facts: Any) -> holdfast.Holdout:
    rows = table() if frame is None else frame
    return holdfast.open(rows, ledger=path, **({"questions": 40} | facts))


@given(st.floats(-1e15, 1e15), st.floats(0.0, 1e-3))
def test_the_way_back_encloses_the_number(x: float, more: float) -> None:
    """T by decimals of the definition, not by the code that is tested."""
    t = math.copysign(math.log1p(2.0**20 * abs(x)), x) / 97.0 + 0.5
    low, high = interval_from_log_scale(Interval(max(0.0, t - more), min(1.0, t + more)))
    assert low <= x <= high
    assert from_log_scale(t) == pytest.approx(x, rel=1e-9, abs=1e-15)


def test_medians_are_described_and_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same_secret(monkeypatch)
    path = tmp_path / "t.ledger"
    with made(path) as holdout:
        for name, truth in LAWS.items():
            answer = holdout.ask(f"median({name})")
            low, high = answer.interval
            assert answer.bits is not None
            assert low <= truth <= high
            values = np.sort(table()[name].to_numpy())
            # At its level the ranks are within 150 of the middle; the grid adds a part in 100.
            outer = values[ROWS // 2 - 150], values[ROWS // 2 + 150]
            assert outer[0] - 0.01 * abs(outer[0]) <= low
            assert high <= outer[1] + 0.01 * abs(outer[1])
        group = holdout.ask("quantile(cauchy, 0.25) where late")
        assert 6.0 in group.interval
        # The shares that a claim about a median is made of need no range.
        assert holdout.check("avg(cauchy <= 8)", at_least=0.5).status == "confirmed"
        assert holdout.check("median(cauchy)", at_most=8.0).status == "confirmed"
        assert holdout.gate("avg(cauchy > 6)", at_least=0.5).status == "shown"
        with pytest.raises(InvalidQuestion, match=r"check a threshold instead: avg\(cauchy <= 7\)"):
            holdout.check("median(cauchy)", guess=7.0)
        with pytest.raises(InvalidQuestion, match="has none; leave the step out"):
            holdout.ask("quantile(cauchy, 0.5, 1)")
    assert all(each.fine for each in audit(path, lambda: PolarsSample(table())))


def test_an_end_that_the_rows_do_not_reach_is_open(tmp_path: Path) -> None:
    with made(tmp_path / "t.ledger") as holdout:
        low, high = holdout.ask("quantile(pareto, 0.999)").interval
        assert 0.0 < low < 1_000.0**0.5 - 1.0
        assert high == math.inf
        far = holdout.ask("median(large * 10000000)").interval
        assert far.low == -math.inf
        assert -4e16 in far
        assert far.high >= -FARTHEST


def test_dependent_rows_are_searched_on_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    once = table(rows=5_000)
    frame = pl.concat([once, once])
    path = tmp_path / "t.ledger"
    with made(path, frame, sampling=holdfast.dependency_graph(1), tolerance=0.2) as holdout:
        answer = holdout.ask("median(cauchy)")
        assert answer.bits is None
        assert 7.0 in answer.interval
        assert math.isfinite(answer.interval.low)
    assert all(each.fine for each in audit(path, lambda: PolarsSample(frame)))


def test_intervals_are_true_as_often_as_declared_and_a_twin_is_not(tmp_path: Path) -> None:
    """Of the most that a ledger may miss; the twin is told the intervals of a tenth of the way."""
    beta, sessions, missed, twin = 0.05, 30, 0, 0
    for seed in range(sessions):
        frame = table(seed, rows=400)
        path = tmp_path / f"{seed}.ledger"
        with made(path, frame) as holdout:
            answers = [(holdout.ask(f"median({name})"), truth) for name, truth in LAWS.items()]
        missed += any(truth not in each.interval for each, truth in answers)
        twin += any(abs(truth - each.value) > 0.1 * each.half_width for each, truth in answers)
    allowed = binom.isf(1e-9, sessions, beta)
    assert missed <= allowed < twin
