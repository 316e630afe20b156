"""Nothing vacuous: an answer that would be the whole range is refused, or says that it is."""

from __future__ import annotations

import copy
import json
import math
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, SaysNothing, ToleranceTooLoose
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Conditional, Estimate, batches, is_derived
from holdfast.theory.base.intervals import Interval
from tests.holdout.tables import LATE, opened, same_secret, table, untouchable, watch
from tests.statistics import zoo
from tests.statistics.zoo import CASES

PUBLIC = zoo.public(zoo.table())
RARE = holdfast.mean("x", where="x > 100 and origin = 'JFK'")
FACTS: dict[str, Any] = {
    "tolerance": 0.2,
    "questions": 60,
    "schema": {"x": (-60.0, 180.0), "unit": (0, 2_000)},
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    same_secret(monkeypatch)
    with opened(tmp_path, table(4_000), **FACTS) as holdout:
        yield holdout


def silent(answer: Answer) -> bool:
    return (answer.status, answer.value) == ("says nothing", None)


def test_a_small_group_says_nothing_after_its_share(small: Holdout) -> None:
    answer = small.ask(RARE)
    assert silent(answer)
    assert answer.interval == (-60.0, 180.0)
    assert [each.status for each in small.ledger] == ["says nothing"]
    assert [each.status for each in small.ledger.looks] == [
        "answered"
    ]  # the residual was not asked
    assert answer.cost == pytest.approx(small.budget.nats)


def test_it_is_no_number(small: Holdout) -> None:
    answer = small.ask(RARE)
    with pytest.raises(
        SaysNothing, match=r"no information: its interval \[-60, 180\] is the whole"
    ):
        float(answer)
    assert math.isnan(answer + 1)
    assert not answer > 0
    assert str(answer).startswith("no information: the interval is the whole range [-60, 180] · ")
    assert "60 " not in str(answer).split("·")[0].replace("[-60,", "")
    assert "no information" in answer._repr_html_()
    assert "<b>60" not in answer._repr_html_()
    facts = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert (facts["status"], facts["value"]) == ("says nothing", None)
    for again in (pickle.loads(pickle.dumps(answer)), copy.copy(answer), copy.deepcopy(answer)):
        assert again.to_dict() == answer.to_dict()


def test_once_that_is_known_it_is_refused_before_it_costs(small: Holdout) -> None:
    assert silent(small.ask(RARE, tolerance=0.4))
    assert len(small.ledger) == 1
    watch(small, untouchable)
    before = small.budget.to_dict()
    for put in (
        lambda: small.ask(RARE, tolerance=0.4),
        lambda: small.cost(RARE, tolerance=0.4),
        lambda: small.ask_many([LATE, RARE], tolerance=0.4),
        lambda: small.ask(holdfast.difference(RARE, RARE), tolerance=0.4),
    ):
        with pytest.raises(ToleranceTooLoose, match=r"favourable .* whole range .* smaller toler"):
            put()
    assert small.budget.to_dict() == before


def test_a_smaller_tolerance_helps_as_the_refusal_says(tmp_path: Path) -> None:
    with opened(tmp_path, table(40_000), **FACTS) as large:
        group = holdfast.mean("x", where="x > 60")
        assert silent(large.ask(group, tolerance=0.4))
        answer = large.ask(group, tolerance=0.02)
        assert answer.status == "answered"
        assert answer.interval.low <= answer <= answer.interval.high


def test_a_table_of_groups_says_which_say_nothing(tmp_path: Path) -> None:
    data, train = (
        table(4_000, seed=seed).with_columns(
            origin=pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("ZZZ")).otherwise("origin")
        )
        for seed in (1, 2)
    )
    with opened(tmp_path, data, **FACTS | {"tolerance": 0.1}, train=train) as both:
        for _ in range(2):
            groups = both.ask(holdfast.mean("late", by="origin"))
            statuses = {member: answer.status for member, answer in groups}
            assert statuses.pop("ZZZ") == "says nothing"
            assert "says nothing" not in statuses.values()
        assert groups["ZZZ"].cost == 0.0
        frame = groups.to_polars()
        assert frame["value"].dtype == pl.Float64
        assert frame["value"].null_count() == 1
        (line,) = [each for each in str(groups).splitlines() if each.startswith("ZZZ")]
        assert line.split()[1] == "-"
        assert line.endswith("no information")
        assert "<td>-</td><td>[0, 1]</td><td>no information</td>" in groups._repr_html_()


@pytest.mark.parametrize(("side", "end"), [("at_most", 180), ("at_least", -60)])
def test_a_claim_of_the_whole_range_is_refused(small: Holdout, side: str, end: float) -> None:
    watch(small, untouchable)
    verbs: list[Any] = [small.check, small.cost]
    for put in verbs:
        with pytest.raises(InvalidArgument, match=f"{side} is {end}, .* the claim says nothing"):
            put("avg(x)", **{side: end})
    assert small.budget.asked == 0


def test_one_side_of_a_constant_is_still_a_fact(small: Holdout) -> None:
    assert small.check("avg(x * 0 + 3)", at_most=3).interval == (3.0, 3.0)


def test_one_side_prints_as_one_side(small: Holdout) -> None:
    most, least = small.check(LATE, at_most=0.5), small.check("avg(x)", at_least=-30.00004)
    assert str(most).startswith("confirmed <= 0.5 · 4,000 rows · all answers together")
    assert str(least).startswith("confirmed >= -30.00004 · ")  # no more than what is claimed
    assert "&lt;= 0.5" in most._repr_html_()
    assert "<= 0.5" in str(small.ledger)
    assert "[" not in str(small.ledger)
    assert "1. avg(late) <= 0.5\n" in small.explain()
    # two sides, one cut by the range
    near = small.check("avg(late and x > 100)", guess=0.01, tolerance=0.2)
    assert str(near).startswith("confirmed 0.01 [0, 0.21]")


def test_a_baseline_shows_its_number_or_that_there_is_none(tmp_path: Path) -> None:
    """No interval is promised there, and a group without rows has no mean all the same."""
    with opened(tmp_path, table(), mechanism="exact", schema=FACTS["schema"]) as holdout:
        known = holdout.ask(holdfast.mean("x", where="origin = 'JFK'"))
        plain = table().filter(pl.col("origin") == "JFK")["x"].clip(-60, 180).mean()
        assert known.status == "no promise"
        assert known == pytest.approx(plain, abs=1e-3)
        assert silent(holdout.ask(holdfast.mean("x", where="origin = 'nowhere'")))


def test_a_hopeless_correlation_is_refused_by_its_tolerance_alone(small: Holdout) -> None:
    watch(small, untouchable)
    with pytest.raises(ToleranceTooLoose, match=r"its whole range \[-1, 1\]"):
        small.ask("correlation(x, unit)", tolerance=0.45)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question)
def test_a_favourable_table_is_told_most_of(case: Any) -> None:
    """At a small tolerance something would be said of every statistic, and it has a value."""
    question = bind(case.question, PUBLIC)
    if not is_derived(question):
        return
    parts = [part for stage in batches(question, numbers=False) for part in stage]
    for values in question.favourable([None] * len(parts)):
        assert len(values) == len(parts)
        answers = []
        for value, part in zip(values, parts, strict=True):
            assert part.low - 1e-9 <= value <= part.high + 1e-9
            reach = 0.01 * (part.high - part.low)
            around = Interval(max(part.low, value - reach), min(part.high, value + reach))
            answers.append(Estimate(value, around))
        found = question.join(answers)
        assert found.value is not None
        assert found.interval.high - found.interval.low < 0.5 * (question.high - question.low)
        assert found.interval.low <= found.value <= found.interval.high


def test_one_informative_end_keeps_a_value_inside() -> None:
    group = bind("avg(z) where k > 4", PUBLIC)
    assert isinstance(group, Conditional)
    width = group.high - group.low
    share = Estimate(0.1, Interval(0.0, 0.3))
    found = group.join([share, Estimate(0.04 * width, Interval(0.01 * width, 0.07 * width))])
    assert group.low < found.interval.low
    assert found.interval.high == group.high
    assert found.value is not None
    assert found.interval.low <= found.value <= found.interval.high
    unseen = group.join([Estimate(0.0, Interval(0.0, 0.3)), Estimate(0.0, Interval(-1.0, 1.0))])
    assert unseen.value is None


def test_a_claim_may_be_far_narrower_than_the_declared_half_width(tmp_path: Path) -> None:
    facts = FACTS | {"tolerance": 0.3}
    with opened(tmp_path, table(40_000), **facts) as holdout:
        group = "avg(x) where x > 20"
        holdout.ask("avg(x > 20)", tolerance=0.03)
        answer = holdout.check(group, guess=52, tolerance=0.02)
        assert answer.status == "confirmed"
        assert answer.half_width == pytest.approx(0.02 * 240)


def test_a_check_is_answered_by_its_text_whatever_a_guesser_thinks_of_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share of the group is guessed wrongly, and so little is known that the rest is silent.

    In a ledger that claims part by part.
    """
    monkeypatch.setattr("holdfast.mechanisms.terms.Terms", partial(Terms, rules=4))
    group = [place % 5 == 0 for place in range(2_000)]
    frame = pl.DataFrame({"x": [0.3 + 0.4 * (place % 2) for place in range(2_000)], "g": group})
    declared: dict[str, Any] = {
        "tolerance": 0.1,
        "questions": 60,
        "described": "exact",
        "schema": {"x": (0, 1)},
    }
    with opened(tmp_path, frame, guesser="multiplicative weights", **declared) as holdout:
        answer = holdout.check("avg(x) where g", guess=0.5)
        assert [part.status for part in answer.parts] == ["not confirmed", "answered"]
        assert answer.status == "confirmed"
        assert 0.5 in answer.interval
        assert holdout.check("avg(x) where g", guess=0.5).cost == 0.0
