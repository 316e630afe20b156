"""How many are left, of whatever is asked: each kind is played until the ledger refuses.

What is said before and with every answer must be kept: while something is left it is answered, and
an AUC ledger does not say two hundred and stop at thirty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import holdfast
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument, NothingLeft, Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import gain_shown
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.theory.leakage.gates import gate_gain

ROWS = 2_000
RNG = np.random.default_rng(21)
RARE = np.arange(ROWS) % 4 == 0
TABLE = pl.DataFrame(
    {
        "item": np.arange(ROWS),
        "x": RNG.random(ROWS),
        "y": RNG.random(ROWS),
        "rare": RARE,
        "right": RNG.random(ROWS) < 0.6,
    }
)
SCORES = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def opened(folder: Path, **said: Any) -> Holdout:
    facts = {"schema": SCORES, "tolerance": 0.15, "questions": 60, "described": "off", **said}
    return holdfast.open(TABLE, ledger=folder / "t.ledger", **facts)


def played(
    holdout: Holdout, question: Callable[[int], str], ask: Callable[[Holdout, str], Answer]
) -> int:
    """How many are answered, one after another, what is said being kept at each of them."""
    for place in range(1_000):
        text = question(place)
        try:
            cost = holdout.cost(text)
        except Refused:
            with pytest.raises(Refused):
                ask(holdout, text)
            return place
        answer = ask(holdout, text)
        # Before and after it the same is said, but for what a batch's last digits cost.
        assert cost.left_after[1] <= answer.left.questions_left <= cost.left
        if cost.left > cost.questions > 0:
            assert answer.left.questions_left > 0
    raise AssertionError("it never refuses")


def asked(holdout: Holdout, text: str) -> Answer:
    return holdout.ask(text)


@pytest.mark.parametrize(
    ("question", "design"),
    [
        (lambda place: f"avg(x * {place + 1} / 1000)", []),
        (lambda place: f"avg(x > {place / 1000})", []),
        (lambda place: f"auc(x + y * {place / 1000}, rare)", ["rare"]),
        (lambda place: f"avg(x > {place / 1000}) where rare", ["rare"]),
    ],
    ids=["means", "conditions", "auc", "a group of the design"],
)
def test_as_many_are_answered_as_are_left(
    tmp_path: Path, question: Callable[[int], str], design: list[str]
) -> None:
    with opened(tmp_path, design=design, tolerance=0.15 if design else 0.12) as holdout:
        promised = holdout.cost(question(0)).left
        found = played(holdout, question, asked)
    assert promised <= found <= 60
    if design:
        assert found < 30, "the instance can tell: fewer than of means of all rows"


def test_quantiles_take_no_more_than_they_say(tmp_path: Path) -> None:
    with opened(tmp_path, tolerance=0.12) as holdout:
        promised = holdout.cost("quantile(x, 0.5)")
        found = played(holdout, lambda place: f"quantile(x, {0.1 + place / 100})", asked)
    assert promised.questions > 1
    assert found >= promised.left >= 2


def test_one_look_answers_a_difference_of_two_arms(tmp_path: Path) -> None:
    """Four parts, of which two come first elsewhere: here all are looked at together."""
    text = "difference(avg(x) where right, avg(x) where not right)"
    with opened(tmp_path, mechanism="one look", questions=5, tolerance=None) as holdout:
        assert holdout.budget.questions_left == 5
        assert holdout.cost(text).left == 1
        answer = holdout.ask(text)
        assert answer.left.questions_left == 0
    x, right = TABLE["x"].to_numpy(), TABLE["right"].to_numpy()
    assert answer.value == pytest.approx(x[right].mean() - x[~right].mean(), abs=1e-6)
    assert answer.interval.low < 0.0 < answer.interval.high
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def scaled(folder: Path, table: pl.DataFrame, **said: Any) -> Holdout:
    facts = {"schema": {"x": holdfast.tails.sub_gaussian(0.4)}, "described": "off", **said}
    return holdfast.open(table, ledger=folder / "t.ledger", **facts)


def asked_in_scales(holdout: Holdout, many: int) -> None:
    """So many means of the one column, none of them told apart but by its scale."""
    for place in range(many):
        holdout.ask(holdfast.mean("x", sigma=0.4 * (1 + place / 1e9)))


@pytest.mark.parametrize("mechanism", ["bounded noise", "rounding", "typical gaussian"])
@pytest.mark.parametrize("questions", [5, 26])
@pytest.mark.parametrize("more", [{}, {"y": (0.0, 1.0)}], ids=["scales", "scales and ranges"])
def test_declared_questions_about_scaled_columns_are_answered_to_the_last(
    tmp_path: Path, mechanism: str, questions: int, more: dict[str, Any]
) -> None:
    schema = {"x": holdfast.tails.sub_gaussian(0.4), **more}
    facts: dict[str, Any] = {"mechanism": mechanism, "questions": questions, "schema": schema}
    with scaled(tmp_path, TABLE, **facts) as holdout:
        assert holdout.budget.questions_left == questions
        asked_in_scales(holdout, questions)


@pytest.mark.parametrize("mechanism", ["typical laplace", "typical gaussian"])
@pytest.mark.parametrize(
    "sampling", [Independent(), holdfast.m_dependent(3)], ids=["independent", "dependent"]
)
def test_the_papers_own_eta_opens_on_rows_that_have_a_scale(
    tmp_path: Path, mechanism: str, sampling: Any
) -> None:
    """Half-widths beyond half of 2 sigma say something of a value that has no range."""
    rows = pl.DataFrame({"x": np.random.default_rng(1).normal(3.0, 0.4, 2_000)})
    facts = {"mechanism": mechanism, "questions": 20, "sampling": sampling}
    with scaled(tmp_path, rows, options={"eta": 1 / 20}, **facts) as holdout:
        t = holdout.budget.terms.half_width
        assert t > 0.5
        answer = holdout.ask("mean(x)")
        assert 3.0 in answer.interval
        assert answer.half_width <= t * 2 * 0.4 * (1 + 1e-6)
        asked_in_scales(holdout, 20)
        with pytest.raises(InvalidArgument, match="give tolerance="):
            holdout.ask("avg(x > 3)")
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_declared_half_width_that_no_question_can_have_is_said(tmp_path: Path) -> None:
    said = r"0 can be answered at it: 2,000 rows can have 0.052 for 1 question and 0.462 for 1,000"
    with pytest.warns(NothingLeft, match=said), opened(tmp_path, questions=1_000, tolerance=0.001):
        pass


def test_half_a_range_is_no_half_width_where_a_column_has_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"tolerance is 0\.6"):
        opened(tmp_path, tolerance=0.6)
    with scaled(tmp_path, TABLE, questions=20, tolerance=0.6) as holdout:
        assert holdout.budget.questions_left == 20


def test_some_are_left_without_a_word(tmp_path: Path) -> None:
    with opened(tmp_path, questions=1_000, tolerance=0.1) as holdout:
        assert 0 < holdout.budget.questions_left < 1_000


def test_candidates_are_gated_until_none_is_left(tmp_path: Path) -> None:
    with opened(tmp_path, candidates=7) as holdout:
        for place in range(7):
            assert holdout.budget.candidates_left == 7 - place
            cost = holdout.cost(f"avg(x > {place / 100})", at_least=0.99, gate=True)
            assert cost.candidates == f"{7 - place} candidate{'s' * (place < 6)} left"
            answer = holdout.gate(f"avg(x > {place / 100})", at_least=0.99)
            assert answer.left.candidates_left == 6 - place
        with pytest.raises(Refused, match="remaining 0 of the 7"):
            holdout.gate("avg(x > 0.9)", at_least=0.99)


def test_what_the_next_gate_can_show_is_said_and_kept(tmp_path: Path) -> None:
    """A candidate of exactly that gain is shown as often as is said: drawn, not computed."""
    with opened(tmp_path, candidates=100) as holdout:
        first = holdout.budget.next_gate(0.1)
        assert first is not None
        assert first.gain is not None
        assert str(first).startswith("the next gate can show a gain of ")
        assert str(holdout.budget.next_gate()) in str(holdout.budget)
        told = holdout.budget.to_dict()["next_gate"]
        assert (told["differing"], told["power"]) == (0.05, 0.8)
        holdout.gate("avg(x > 0.01)", at_least=0.5)
        later = holdout.budget.next_gate(0.1)
        assert later is not None
        assert later.gain is not None
        assert later.gain > first.gain
        holdout.end.retire(why="done")
        assert holdout.budget.next_gate() is None
        assert holdout.budget.to_dict()["next_gate"] is None

    loops, rng = 4_000, np.random.default_rng(5)
    shown = _shown_by_sign_test(rng, first.gain, first.level, loops)
    assert abs(shown - 0.8 * loops) < 4.5 * (0.16 * loops) ** 0.5
    twin = _shown_by_sign_test(rng, 0.9 * first.gain, first.level, loops)
    assert abs(twin - 0.8 * loops) > 4.5 * (0.16 * loops) ** 0.5


def _shown_by_sign_test(
    rng: np.random.Generator, gain: float, level: float, loops: int, differing: float = 0.1
) -> int:
    """How many of so many candidates with this gain the exact sign test shows."""
    better = rng.binomial(ROWS, (differing + gain) / 2, loops)
    worse = rng.binomial(ROWS - better, (differing - gain) / 2 / (1 - (differing + gain) / 2))
    return int((stats.binom.sf(better - 1, better + worse, 0.5) <= level).sum())


@pytest.mark.parametrize("rows", [ROWS, 3_000_000])
@pytest.mark.parametrize("level", [2e-9, 5e-10])
def test_the_next_gate_at_little_levels_is_that_of_the_plan(rows: int, level: float) -> None:
    said = gain_shown(rows, 0.1, level)
    assert said is not None
    exact = gate_gain(rows, 0.1, math.log(level))
    assert said == pytest.approx(exact, rel=0.01)


def test_little_is_said_to_show_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, candidates=100) as holdout:
        none = holdout.budget.next_gate(0.002)
        assert none is not None
        assert none.gain is None
        assert str(none) == "the next gate can show nothing on 0.2 % differing rows"


def test_described_answers_leave_what_they_say(tmp_path: Path) -> None:
    """Any number of them; of later asks each takes what it said that it would."""
    with opened(tmp_path, described="exact", questions=40, key="item") as holdout:
        holdout.attach("v7", TABLE["right"].to_list())
        left = holdout.budget.questions_left
        assert left > 5
        for place in range(60):
            cost = holdout.cost(f"avg(x > {place / 60:.3f})")
            answer = holdout.ask(f"avg(x > {place / 60:.3f})")
            assert cost.bits is not None
            assert cost.left == left
            left = answer.left.questions_left
            assert left == cost.left_after[1]
            if left == 0:
                break
        assert left == 0
        with pytest.raises(Refused):
            holdout.ask("avg(v7)")
        assert holdout.ask("avg(x > 0.99)").bits is not None


def test_surprises_are_counted_for_what_is_checked(tmp_path: Path) -> None:
    with opened(tmp_path, design=["rare"]) as holdout:
        means = holdout.check("avg(x)", guess=0.5).left
        auc = holdout.check("auc(x, rare)", guess=0.5).left
    assert auc.surprises_left < means.surprises_left
