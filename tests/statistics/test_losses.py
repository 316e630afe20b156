"""Losses of regression: capped errors, R2, and who is closer, exactly in small worlds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, binomtest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.holdout import Holdout
from holdfast.mechanisms.claims import by_sign_test, more_than
from holdfast.question.columns import Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import is_derived
from holdfast.statistics.entry import Table
from holdfast.statistics.rule import Told
from tests.ledger.forging import faults
from tests.statistics.asking import ground_on, told

ROWS = 48
THETAS = np.linspace(0.02, 0.98, 97)
# Rows of two kinds: the errors are 1 and 1/2, those of the baseline 1 are 1 and 2, of q 0 and 1.
KINDS = pl.DataFrame({"y": [0.0, 3.0], "p": [1.0, 3.5], "q": [0.0, 4.0]})


def squared(theta: float) -> float:
    return theta + (1 - theta) / 4


WORLDS: list[tuple[str, Callable[[float], float]]] = [
    ("mse(p, y, 2)", lambda theta: squared(theta) / 4),
    ("mse(p, y, 0.75)", lambda theta: theta + (1 - theta) * 4 / 9),
    ("mae(p, y, 2)", lambda theta: (1 + theta) / 4),
    ("neg_rmse(p, y, 2)", lambda theta: 1 - math.sqrt(squared(theta)) / 2),
    ("r2(p, y, 1, 2, 3)", lambda theta: (2 - squared(theta) / (theta + 4 * (1 - theta))) / 2),
    ("closer(p, q, y)", lambda theta: 1 - theta),
]


def world(text: str, level: float) -> list[Told]:
    """What is told of each number of rows of the first kind, at a level."""
    frames = [pl.concat([KINDS[:1]] * k + [KINDS[1:]] * (ROWS - k)) for k in range(ROWS + 1)]
    ground = ground_on(PolarsSample(frames[1]), {"favourites": [text]}, beta=4 * level)
    return [told(frame, text, ground) for frame in frames]


def most_missed(found: list[Told], truth: Callable[[float], float], part: float = 1.0) -> float:
    """The greatest chance that the truth is outside the interval, or outside a part of it."""

    def misses(each: Told, true: float) -> bool:
        assert each.value is not None
        low, high = (each.value + part * (end - each.value) for end in each.interval)
        return not low <= true <= high

    counts = np.arange(ROWS + 1)
    return max(
        float(binom.pmf(counts, ROWS, theta)[[misses(each, truth(theta)) for each in found]].sum())
        for theta in THETAS
    )


@pytest.mark.parametrize("level", [0.05, 1e-3, 1e-6])
@pytest.mark.parametrize(("text", "truth"), WORLDS)
def test_exact_coverage(text: str, truth: Callable[[float], float], level: float) -> None:
    found = world(text, level)
    assert most_missed(found, truth) <= level
    assert most_missed(found, truth, 0.5) > level


@pytest.mark.parametrize(("text", "truth"), WORLDS)
def test_it_says_something(text: str, truth: Callable[[float], float]) -> None:
    each = world(text, 0.05)[ROWS // 2]
    assert each.interval.low <= truth(0.5) <= each.interval.high
    assert each.interval.high - each.interval.low < 0.51


# On a ledger.


def regression(rows: int = 1_000, seed: int = 1) -> pl.DataFrame:
    """A mean squared error of 1, R2 of 5/6; q is worse on average, and a third model is p."""
    rng = np.random.default_rng(seed)
    y, noise = rng.normal(0.0, math.sqrt(6.0), rows), rng.normal(size=(2, rows))
    group = rng.choice(["a", "b"], rows)
    return pl.DataFrame({"y": y, "p": y + noise[0], "q": y + 1.3 * noise[1], "group": group})


SHORT: dict[str, Any] = {"described": "exact", "tolerance": 0.02}  # nothing is left for the ledger
FAVOURITES = ["mse(p, y, 2.576)", "r2(p, y, 0, 2.576, 6)", "mae(p, y, 2.576)"]


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    declared = {"favourites": FAVOURITES, "group": {"values": ["a", "b"]}}
    with holdfast.open(
        regression(), ledger=tmp_path / "t.ledger", schema=declared, **SHORT
    ) as opened:
        yield opened
    assert faults(tmp_path / "t.ledger", sample=lambda: PolarsSample(regression())) == []


def test_a_mean_squared_error_of_one_is_known_within_three_tenths(holdout: Holdout) -> None:
    root = holdout.ask("rmse(p, y, 2.576)")
    answer = holdout.ask("mse(p, y, 2.576)")
    assert answer.cost == 0.0  # one event
    assert 0.7 <= answer.interval.low < answer.interval.high <= 1.3
    assert root.interval == pytest.approx([math.sqrt(end) for end in answer.interval], abs=1e-9)
    assert holdout.ask(holdfast.stats.mse("y", "p", 2.576)).status == "repeated"
    assert "2.576" in answer.question  # the cap is in the words


def test_r2_by_one_bet_is_narrower_than_by_its_parts(holdout: Holdout) -> None:
    answer = holdout.ask("r2(p, y, 0, 2.576, 6)")
    assert 5 / 6 in answer.interval
    assert answer.half_width < 0.07
    loss, base = (holdout.ask(text) for text in ("mse(p, y, 2.576)", "mse(y, 0, 6)"))
    by_parts = loss.interval.high / base.interval.low - loss.interval.low / base.interval.high
    assert 2 * answer.half_width < by_parts


def test_of_all_rows_it_is_one_question(holdout: Holdout) -> None:
    for text in (*FAVOURITES, "neg_rmse(p, y, 2.5)", "rmse(p, y, 2.5)"):
        holdout.ask(text)
        assert holdout.ask(f"{text} where true").status == "repeated"


def test_groups(holdout: Holdout) -> None:
    for call in (
        holdfast.stats.mae("p", "y", 2.5, by="group"),
        holdfast.stats.rmse("p", "y", 2.5, by="group"),
        holdfast.stats.r2("p", "y", 0, 2.5, 6, by="group"),
        holdfast.stats.closer("p", "q", "y", by="group"),
    ):
        groups = holdout.ask(call)
        assert [label for label, _ in groups] == ["a", "b"]
        assert all(answer.bits for _, answer in groups)


@pytest.mark.parametrize(("worse", "status"), [(1.0, "not shown"), (1.3, "shown")])
def test_closer_is_gated_by_the_sign_test(tmp_path: Path, worse: float, status: str) -> None:
    """A gate of its own, with its own text and charge; ties, a quarter of the rows, are dropped."""
    rng, rows = np.random.default_rng(5), 2_000
    y, (one, other) = rng.normal(size=rows), rng.normal(size=(2, rows))
    second = np.where(np.arange(rows) % 4 == 0, one, worse * other)
    frame = pl.DataFrame({"y": y, "p": y + one, "q": y + second})
    wins, losses = (int((one**2 < second**2).sum()), int((second**2 < one**2).sum()))
    assert wins + losses == 1_500
    with holdfast.open(
        frame, ledger=tmp_path / "t.ledger", candidates=1, described="off"
    ) as holdout:
        answer = holdout.gate("closer(p, q, y)", at_least=0.0)
        assert answer.question == "closer(p, q, y)"
        assert answer.cost == pytest.approx(math.log(2.0))
        p_value = binomtest(wins, wins + losses, alternative="greater").pvalue
        assert answer.status == status == ("shown" if p_value <= 0.025 else "not shown")
    assert faults(tmp_path / "t.ledger", sample=lambda: PolarsSample(frame)) == []
    question = bind("closer(p, q, y)", Table(Schema(PolarsSample(frame).types)))
    assert is_derived(question)
    assert by_sign_test(question.stages[-1][0], (more_than(0.5), 1.0), alike=True)


def test_closer_is_never_chained(tmp_path: Path) -> None:
    """Of three models each may be closer than the next on two rows of three, in a circle."""
    circle = pl.DataFrame({"y": [0.0] * 3, "a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 1.0]})
    circle = pl.concat([circle.with_columns(c=pl.Series([3.0, 1.0, 2.0]))] * 400)
    with holdfast.open(circle, ledger=tmp_path / "t.ledger", described="off") as holdout:
        gates = [f"closer({pair}, y)" for pair in ("a, b", "b, c")]
        assert [holdout.gate(each, at_least=0.0).status for each in gates] == ["shown"] * 2
        chained = holdout.gate("closer(a, c, y)", at_least=0.0)
        assert chained.status == "not shown"
        assert chained.cost > 0.0  # it was looked at, and does not follow
        assert holdout.gate("closer(c, a, y)", at_least=0.0).status == "shown"


def test_what_is_missing_counts_as_the_cap_and_is_never_closer(tmp_path: Path) -> None:
    """So is what is infinite; NaN is missing."""
    rows = {"y": [0.0, 0.0, None, 0.0], "p": [None, math.nan, 1.0, math.inf], "q": [9.0] * 4}
    frame = pl.concat([pl.DataFrame(rows)] * 2_000)
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", **SHORT) as holdout:
        assert holdout.ask("mse(p, y, 3)").value == pytest.approx(9.0, abs=1e-6)
        assert holdout.ask("closer(p, q, y)").value == pytest.approx(-0.75, abs=1e-6)


def test_an_r2_below_minus_one_counts_as_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": [0.0, 0.1] * 500, "p": [5.0, 6.0] * 500})
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", **SHORT) as holdout:
        answer = holdout.ask("r2(p, y, 0, 9, 1)")
        assert answer.interval.low == answer.value == -1.0
        assert answer.interval.high < 0.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mse(p, y)", "mse takes 3 arguments, and 2 were given"),
        ("mse(p, y, 0)", "cap"),
        ("mae(p, y, -1)", "cap"),
        ("mae(p, y, group)", "cap is 'group'; it must be a number"),
        ("r2(p, y, q, 1, 2)", "baseline is 'q'; it must be a number"),
        ("mse(group, y, 1)", "number"),
    ],
)
def test_refusals(holdout: Holdout, text: str, told: str) -> None:
    with pytest.raises((InvalidArgument, InvalidQuestion), match=told):
        holdout.ask(text)
