"""Checks and gates of whole questions: one claim by the question's own rule, and its line.

What the rule shows is in `tests/mechanisms/test_rule_claims.py`.
"""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.ledger.rule_claims import claimed_again
from holdfast.mechanisms.claims import is_by_rule
from holdfast.mechanisms.mechanism import Offer
from holdfast.mechanisms.terms import Terms
from tests.holdout.tables import Crash, crash, opened, watch
from tests.seam import put_sample, transcript_of
from tests.statistics import zoo

ROWS = 6_000
SHARES = {"a": 0.2, "b": 0.5, "c": 0.7}
FACTS: dict[str, Any] = {
    "questions": 50,
    "tolerance": 0.05,
    "schema": {"x": (0, 100), "g": list(SHARES), "y": (0, 1)},
}


def rows(seed: int, count: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    g = rng.choice(list(SHARES), count, p=[0.5, 0.3, 0.2])
    late = rng.random(count) < np.array([SHARES[each] for each in g])
    x = np.clip(rng.normal(40, 10, count) + 10 * late, 0, 100).round(1)
    return pl.DataFrame(
        {"id": np.arange(count), "g": g, "late": late, "x": x, "y": rng.random(count).round(3)}
    )


HOLD, TRAIN = rows(1), rows(2)


def fine(ledger: Path) -> bool:
    return all(finding.fine for finding in audit(ledger))


def share(member: str) -> float:
    return float(HOLD.filter(pl.col("g") == member)["late"].mean())  # type: ignore[arg-type]


def test_groups_are_checked_about_as_narrowly_as_one_look_at_each(tmp_path: Path) -> None:
    with opened(tmp_path, HOLD, **FACTS) as holdout:
        cost = holdout.cost(holdfast.mean("late", by="g"), TRAIN)
        groups = holdout.check(holdfast.mean("late", by="g"), TRAIN)
        for member, answer in groups:
            assert answer.status == "confirmed"
            assert answer.interval.low <= share(str(member)) <= answer.interval.high
            size = HOLD.filter(pl.col("g") == member).height
            normal = 1.96 * (SHARES[str(member)] * (1 - SHARES[str(member)]) / size) ** 0.5
            assert answer.half_width < 4 * normal
        assert holdout.budget.nats == pytest.approx(cost.least)
        assert [line.look for line in holdout.ledger] == [1, 2, 3]  # no parts
        again = holdout.check(holdfast.mean("late", by="g"), TRAIN)
        assert [each.status for _, each in again] == ["repeated"] * 3
        assert "Clopper" not in holdout.explain()
        assert holdout.certificate().to_dict()["answers"]
    assert fine(tmp_path / "t.ledger")
    with opened(tmp_path, HOLD) as resumed:
        told = resumed.check("avg(late) where g = 'b'", groups["b"].value)
        assert (told.status, told.cost) == ("repeated", 0.0)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("avg(x) where g = 'a'", 42.0, 60.0),
        ("difference(avg(late) where g = 'c', rest)", 0.4, -0.2),
        ("median(x)", 44.0, 70.0),
        ("std(x)", 11.5, 30.0),
        ("correlation(x, y)", 0.0, 0.6),
    ],
)
@pytest.mark.parametrize("described", ["exact", "off"])
def test_whole_questions_are_confirmed_or_asked_instead(
    tmp_path: Path, question: str, right: float, wrong: float, described: Any
) -> None:
    with opened(tmp_path, HOLD, described=described, **FACTS) as holdout:
        cost = holdout.cost(question, right, tolerance=0.06)
        confirmed = holdout.check(question, right, tolerance=0.06)
        assert confirmed.status == "confirmed"
        assert confirmed.cost == pytest.approx(cost.least)
        assert confirmed.cost < 0.1
        assert confirmed.parts == ()
        assert holdout.check(question, right, tolerance=0.06).status == "repeated"
    with opened(tmp_path, HOLD, "other", described=described, **FACTS) as holdout:
        cost = holdout.cost(question, wrong, tolerance=0.06)
        refuted = holdout.check(question, wrong, tolerance=0.06)
        assert refuted.status == "not confirmed"
        assert refuted.cost <= cost.most * (1 + 1e-12)
        first, *others = holdout.ledger.looks
        assert (first.status, is_by_rule(first.profile)) == ("not confirmed", True)
        assert [each.bits is not None for each in others] == [described == "exact"] * len(others)
        assert refuted.interval.low <= right <= refuted.interval.high
        assert holdout.check(question, wrong, tolerance=0.06).cost == 0.0
    assert fine(tmp_path / "t.ledger")
    assert fine(tmp_path / "other.ledger")


def test_a_group_of_columns_that_arrive_later_is_gated_and_checked(tmp_path: Path) -> None:
    """Predictions have no description, so that one side of a group could not be claimed."""
    rng = np.random.default_rng(5)
    right = np.where(rng.random(ROWS) < 0.8, HOLD["late"], ~HOLD["late"].to_numpy())
    with opened(tmp_path, HOLD, key="id", candidates=20, **FACTS) as holdout:
        holdout.attach("model", pl.DataFrame({"id": HOLD["id"], "model": right}))
        question = "avg(model = late) where g = 'c'"
        assert holdout.gate(question, at_least=0.7).status == "shown"
        assert holdout.gate(question, at_least=0.79).status == "not shown"
        assert holdout.check(question, at_most=0.9).status == "confirmed"
        assert [each.status for each in holdout.ledger] == ["shown", "not shown", "confirmed"]
        forecast = holdout.gate("avg(model = late) where g = 'b'", at_least=0.7, expect=0.9)
        assert (forecast.status, forecast.forecast is None) == ("shown", False)
        graded = holdout.gate("avg(model = late) where g = 'a'", at_least=0.7, grades=True)
        assert graded.adjusted is not None
    assert fine(tmp_path / "t.ledger")


@pytest.mark.parametrize("described", ["off", "exact"])
def test_what_only_its_text_answers_is_claimed_and_priced(tmp_path: Path, described: str) -> None:
    """Pairs of rows of which some lack a number: of a claim that is refuted no more may be said."""
    missing = HOLD.with_columns(pl.when(pl.col("g") != "c").then(pl.col("x")).alias("x"))
    question = "kendall(late, x)"
    facts = {**FACTS, "tolerance": 0.2}
    with opened(tmp_path, missing, described=described, **facts) as holdout:
        cost = holdout.cost(question, -0.9)
        refuted = holdout.check(question, -0.9)
        assert refuted.status == "not confirmed"
        assert refuted.cost <= cost.most * (1 + 1e-12)
        assert tuple(refuted.interval) == (-1, 1) or described == "exact"
        assert holdout.check(question, -0.9).cost == 0.0
        assert holdout.cost("kendall(x, y)", at_least=-0.9, gate=True).candidates is not None
        assert holdout.gate(question, at_least=-0.9).status == "shown"
        assert holdout.check(question, at_most=0.9).status == "confirmed"
        assert "unfinished" not in {each.status for each in holdout.ledger}
        assert holdout.cost(question, -0.9).repeated
    assert fine(tmp_path / "t.ledger")


def test_a_claim_from_a_table_is_the_same_whatever_was_spent_since(tmp_path: Path) -> None:
    """Its guess is no value on a grid of the level that is left, nor is its half-width chosen anew.

    Somebody else may have begun it since it was read how wide it is to be.
    """
    questions = ["avg(x) where g = 'b'", "std(x)", "difference(avg(x) where late, rest)"]
    with opened(tmp_path, HOLD, described="off", key="id", **FACTS) as holdout:
        first = [holdout.check(question, TRAIN) for question in questions]
        for wrong in range(1, 6):
            assert holdout.check("avg(late)", wrong / 100).status == "not confirmed"
        for question, before in zip(questions, first, strict=True):
            assert holdout.cost(question, TRAIN).repeated
            again = holdout.check(question, TRAIN)
            assert (again.cost, again.value, again.interval) == (0.0, before.value, before.interval)
    assert fine(tmp_path / "t.ledger")


def test_what_is_asked_after_a_wide_claim_of_training_rows_is_in_order(tmp_path: Path) -> None:
    """Its parts are guessed by training rows, too, within less than was chosen for the whole."""
    few, train = rows(3, 500), rows(4, 60)
    facts = {**FACTS, "questions": 3, "tolerance": 0.15}
    with opened(tmp_path, few, described="off", train=train, **facts) as holdout:
        answer = holdout.check("avg(late) where g = 'c'", 0.02)
        assert answer.status == "not confirmed"
        whole, *parts = holdout.ledger.looks
        assert whole.request.likely is not None
        assert whole.request.likely.tolerance > 0.15
        assert [each.claim is not None for each in parts][:1] == [True]
    assert fine(tmp_path / "t.ledger")


def test_what_cannot_be_asked_is_claimed_and_not_answered(tmp_path: Path) -> None:
    """Kendall's tau of rows of which some miss a number has a rule, and no concentration."""
    missing = HOLD.with_columns(x=pl.when(pl.col("id") % 10 > 0).then("x"))
    with opened(tmp_path, missing, **(FACTS | {"tolerance": 0.2})) as holdout:
        cost = holdout.cost("kendall(x, y)", 0.9)
        refuted = holdout.check("kendall(x, y)", 0.9)
        assert (refuted.status, refuted.value) == ("not confirmed", None)
        assert refuted.cost == pytest.approx(cost.most)
        assert holdout.check("kendall(x, y)", 0.0, tolerance=0.1).status == "confirmed"
    assert fine(tmp_path / "t.ledger")


def test_one_side_that_is_tested_confirms_the_claim_though_ends_are_rounded(
    tmp_path: Path,
) -> None:
    """The other side follows from the claim before; as numbers of the question's own unit the end
    of the interval is a few roundings beyond that of the claim."""
    question = "difference(avg(z) where arm = 'A', rest)"
    facts: dict[str, Any] = {
        "schema": zoo.BOUNDS,
        "confidence_level": 0.9,
        "questions": 200,
        "train": zoo.table(600, seed=1005),
    }
    with opened(tmp_path, zoo.table(3_000, seed=6), **facts) as holdout:
        assert holdout.check(question, 1.0).status == "confirmed"
        told = holdout.check(question, zoo.table(600, seed=1005))
        assert [look.claim is not None and look.claim[0] for look in holdout.ledger.looks][1] == 0.0
        assert told.status == "confirmed"
        again = holdout.check(question, zoo.table(600, seed=1005))
        assert (again.status, again.cost) == ("repeated", 0.0)
    assert fine(tmp_path / "t.ledger")


def test_a_claim_that_a_crash_left_is_finished_by_whoever_comes_next(tmp_path: Path) -> None:
    """Also by somebody who asks the same text, and not only by who claims it again."""
    texts = ["avg(late)", "avg(late) where g = 'a'", "median(x)"]
    with opened(tmp_path, HOLD, described="exact", **FACTS) as holdout:
        for text in texts:
            watched = watch(holdout, crash)
            with pytest.raises(Crash):
                holdout.check(text, 0.5 if "late" in text else 44.0)
            put_sample(holdout, watched.sample)
            answer = holdout.ask(text)
            assert (answer.status, answer.bits is None) == ("answered", False)
    assert fine(tmp_path / "t.ledger")


def test_the_test_of_a_claim_cannot_be_forged(tmp_path: Path) -> None:
    """Nor can a claim of a mean say that it is tested by a rule."""
    with opened(tmp_path, HOLD, **FACTS) as holdout:
        holdout.check("avg(late) where g = 'a'", 0.2)
        holdout.check("avg(late)", 0.4)
        transcript = transcript_of(holdout)
        by_rule, mean = (transcript.answers[place] for place in (0, 1))
        assert is_by_rule(by_rule.profile)
        assert not is_by_rule(mean.profile)
    database = sqlite3.connect(tmp_path / "t.ledger")
    bodies = [json.loads(text) for (text,) in database.execute("SELECT text FROM entries")]
    database.close()
    offers = [item["offer"] for body in bodies for item in body.get("items", ())]
    first, second = map(Offer.from_dict, offers)
    assert claimed_again(transcript, first) is not None
    assert claimed_again(transcript, second) is None
    with pytest.raises(InvalidQuestion, match="not that of a claim by a rule"):
        claimed_again(transcript, Offer.from_dict({**offers[1], "profile": first.profile}))


def test_a_ledger_of_earlier_rules_goes_on_by_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "avg(late) where g = 'a'"
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.mechanisms.terms.Terms", partial(Terms, rules=4))
        with opened(tmp_path, HOLD, "earlier", **FACTS) as earlier:
            first = earlier.check(question, 0.2, tolerance=0.05)
            assert len(first.parts) == 2
    with opened(tmp_path, HOLD, "earlier") as resumed:
        assert transcript_of(resumed).terms.rules == 4
        again = resumed.check(question, 0.2, tolerance=0.05)
        assert (again.status, again.interval) == ("repeated", first.interval)
        other = resumed.check("avg(late) where g = 'b'", 0.5)
        assert len(other.parts) == 2
    assert fine(tmp_path / "earlier.ledger")
