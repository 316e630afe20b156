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
from holdfast.mechanisms.mechanism import interval_told, value_told
from holdfast.question.columns import Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import is_derived
from holdfast.statistics.entry import Table
from holdfast.statistics.log_scale import FARTHEST
from holdfast.statistics.rule import Told
from holdfast.theory.base.intervals import Interval
from tests.ledger.forging import faults
from tests.statistics.asking import ground_on, question_on, told

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
        ("mse(p, y, kappa = 0.5)", "kappa is 0.5; it must be a finite number, 1 or above"),
        ("mse(p, y, 3, kappa = 6)", "mse takes 3 arguments, and 4 were given"),
        ("mae(p, y, kappa = y)", "kappa is 'y'; it must be a number"),
        ("mse(p, y, kappa = 6) by group", "said of one mean loss, without by="),
        ("neg_rmse(p, y, kappa = 6)", "cap is 'kappa = 6'; it must be a number"),
    ],
)
def test_refusals(holdout: Holdout, text: str, told: str) -> None:
    with pytest.raises((InvalidArgument, InvalidQuestion), match=told):
        holdout.ask(text)


# Losses without a range, with a declared kappa.


def two_points(kappa: float, rows: int, level: float, most: int) -> list[tuple[float, Interval]]:
    """The value and interval told if so many rows have the loss kappa, 0 to most, others 0."""
    kinds = pl.DataFrame({"y": [0.0, 0.0], "p": [0.0, math.sqrt(kappa)]})
    frames = [pl.concat([kinds[:1]] * (rows - k) + [kinds[1:]] * k) for k in range(most + 1)]
    text = f"mse(p, y, kappa = {kappa!r})"
    ground = ground_on(PolarsSample(frames[1]), {"favourites": [text]}, beta=4 * level)
    rule, limits = question_on(ground, text).rule, Interval(-FARTHEST, FARTHEST)
    made = [told(frame, text, ground) for frame in frames]
    return [
        (
            value_told(each.value, limits, rule) or 0.0,
            interval_told(each.interval, limits, rule, unbounded=True),
        )
        for each in made
    ]


@pytest.mark.parametrize("level", [0.05, 1e-3, 1e-6])
@pytest.mark.parametrize(("kappa", "rows"), [(2.0, 40), (6.0, 120), (12.0, 300)])
def test_exact_coverage_in_the_two_point_world_of_kappa(
    kappa: float, rows: int, level: float
) -> None:
    """E l^2 is just kappa (E l)^2. Twins: radii times .7 (.5), twice the kappa declared."""
    most = int(binom.isf(level / 1_000, rows, 1 / kappa))  # more rows of it count as missed
    found = two_points(kappa, rows, level, most)
    counts = np.arange(most + 1)

    def missed(chance: float, part: float = 1.0) -> float:
        ends = [[value + part * (end - value) for end in interval] for value, interval in found]
        outside = [not low <= kappa * chance <= high for low, high in ends]
        beyond = binom.sf(most, rows, chance)
        return float(binom.pmf(counts, rows, chance)[outside].sum() + beyond)

    assert missed(1 / kappa) <= level
    assert missed(1 / kappa, 0.5 if level == 0.05 else 0.7) > level
    if level < 0.05:
        assert missed(0.5 / kappa) > level


@pytest.fixture
def heavy(tmp_path: Path) -> Iterator[Holdout]:
    """Residuals of Student's law with 5 degrees: E l^2 = 9 (E l)^2 of their squares, 5/3 on
    average."""
    with holdfast.open(students(), ledger=tmp_path / "t.ledger", schema=GROUPS, **SHORT) as opened:
        yield opened
    assert faults(tmp_path / "t.ledger", sample=lambda: PolarsSample(students())) == []


GROUPS = {"favourites": ["mse(p, y, kappa = 12)"], "group": {"values": ["a", "b"]}}


def students(rows: int = 10_000) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    y, residual = rng.normal(size=rows), rng.standard_t(5, rows)
    return pl.DataFrame({"y": y, "p": y + residual, "group": rng.choice(["a", "b"], rows)})


def test_a_declared_kappa_needs_neither_cap_nor_range(heavy: Holdout) -> None:
    answer = heavy.ask("mse(y, p, kappa = 12)")
    seen = float(np.mean((students()["p"] - students()["y"]).to_numpy() ** 2))
    assert answer.value == pytest.approx(seen, rel=0.003)
    assert 5 / 3 in answer.interval
    # At its level, some 2^-5.6 x .02, the upper end without the grid's places of a third of a
    # per cent.
    assert 1.05 < answer.interval.high / seen < 1.2
    assert "if E l^2 <= 12 (E l)^2" in str(answer)
    assert "as the question declares" in answer.assumes
    root = heavy.ask(holdfast.stats.rmse("p", "y", kappa=12))
    assert root.cost == 0.0  # one event
    assert root.interval == pytest.approx([end**0.5 for end in answer.interval], rel=1e-9)
    assert heavy.ask(holdfast.stats.mse("p", "y", kappa=12.0)).status == "repeated"
    group = heavy.ask("mae(p, y, kappa = 3) where group = 'a'")
    mean = 2 * math.sqrt(5) * math.gamma(3) / (4 * math.sqrt(math.pi) * math.gamma(2.5))
    assert mean in group.interval
    shown = heavy.gate("mse(p, y, kappa = 12)", at_most=3)
    assert shown.status == "shown"
    assert shown.cost == 0.0
    assert "if E l^2 <= 12 (E l)^2" in str(shown)
    assert heavy.gate("mae(p, y, kappa = 4)", at_most=2).status == "shown"
    assert heavy.check("mae(p, y, kappa = 5)", at_most=2).status == "confirmed"


def test_a_loss_without_a_range_beyond_the_farthest_has_no_upper_end(tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": [0.0, 1.0] * 500, "p": [1.0, 2.0] * 499 + [math.inf, math.nan]})
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", **SHORT) as holdout:
        answer = holdout.ask("mse(p, y, kappa = 6)")
        assert answer.interval.high == math.inf
        assert 1.0 < answer.interval.low < math.inf
        assert answer.to_dict()["n"] == 999  # the other one misses its prediction


def test_on_the_ledger_a_loss_without_a_range_is_refused(tmp_path: Path) -> None:
    options: dict[str, Any] = {"questions": 5, "described": "off"}
    with holdfast.open(regression(), ledger=tmp_path / "t.ledger", **options) as holdout:
        with pytest.raises(InvalidQuestion, match=r"cap each difference, as in mse\(p, y, 3\)"):
            holdout.ask("mse(p, y, kappa = 6)")
        with pytest.raises(InvalidQuestion, match="no range"):
            holdout.check("mse(p, y, kappa = 6)", guess=1.0)


def test_a_perfect_prediction_has_a_loss_of_nothing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": [0.0, 1.0] * 500})
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", **SHORT) as holdout:
        answer = holdout.ask("mae(y, y, kappa = 6)")
        assert answer.interval.low == 0.0
        assert answer.interval.high < 1e-8
