"""Calls that wait at the same time: one batch, everybody told their own, under their own key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BudgetExhausted, HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import CallTerms, Waiting
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.request import Guess, NamedWidth
from holdfast.ledger.audit import audit
from tests.holdout.asking import FACTS, HOLD
from tests.holdout.tables import opened
from tests.seam import CHECKPOINT_EVERY, store_of

QUESTIONS = ["avg(y)", "avg(k > 4)", "median(k)", "avg(y)", "std(x)"]


def call(
    question: str, who: str, guess: Guess | None = None, tolerance: float | None = None
) -> Waiting:
    said = CallTerms(f"{who} asks", who, f"{who}/1", NamedWidth(tolerance))
    return Waiting(question, guess or Guess(), said)


def people(**said: Any) -> list[Waiting]:
    return [call(question, f"person {place}", **said) for place, question in enumerate(QUESTIONS)]


def told(found: Answer | HoldfastError) -> Answer:
    assert isinstance(found, Answer), found
    return found


def written(found: Answer | HoldfastError) -> str:
    return json.dumps(told(found).to_dict())


def kinds(holdout: Holdout) -> Counter[str]:
    return Counter(json.loads(text)["kind"] for _, text, _ in store_of(holdout).news())


@pytest.fixture
def holdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdout]:
    monkeypatch.setattr(CHECKPOINT_EVERY, 4)
    with opened(tmp_path, HOLD, **FACTS) as made:
        yield made


def test_everybody_is_told_their_own(holdout: Holdout, tmp_path: Path) -> None:
    first = [told(each) for each in holdout.answer_together(people())]
    asked = [answer.recorded.request for answer in first]
    assert [each.question.partition("(")[0] for each in first] == [
        "avg",
        "avg",
        "quantile",
        "avg",
        "std",
    ]
    assert first[0].value == first[3].value
    assert [answer.status for answer in first].count("repeated") == 1
    assert asked[1].by == "person 1"
    assert asked[1].why == "person 1 asks"
    with opened(tmp_path, HOLD, "alone", **FACTS) as alone:
        for question in QUESTIONS:
            alone.ask(question)
        assert holdout.budget.nats < alone.budget.nats  # one leakage is shared
        assert kinds(holdout)["reserve/2"] < kinds(alone)["reserve/2"]
    assert all(finding.fine for finding in audit(store_of(holdout).home))


def test_a_call_made_again_is_told_the_same_alone_or_with_others(
    holdout: Holdout, tmp_path: Path
) -> None:
    first = [written(each) for each in holdout.answer_together(people())]
    holdout.ask("avg(z)", tolerance=0.05)
    count = len(store_of(holdout).news())
    again = [*people(), call("avg(old)", "somebody else")]
    assert [written(each) for each in holdout.answer_together(again)][:-1] == first
    assert len(store_of(holdout).news()) > count  # that of somebody else
    with opened(tmp_path) as resumed:  # without rows
        for each, before in zip(people(), first, strict=True):
            (found,) = resumed.answer_together([each])
            assert written(found) == before


def test_what_is_refused_is_refused_alone(holdout: Holdout) -> None:
    calls = [
        call("avg(y)", "ada"),
        call("avg(nobody)", "bob"),
        call("avg(k > 4)", "cyd", tolerance=1e-4),
        call("avg(k > 4)", "dee"),
        call("avg(y > 2)", "eve", guess=Guess((0.5,))),
        call("avg(y > 2)", "fay", guess=Guess((0.9,))),
        call("avg(y) by arm", "gil"),
    ]
    found = holdout.answer_together(calls)
    assert [type(each) for each in found] == [
        Answer,
        InvalidQuestion,
        BudgetExhausted,
        Answer,
        Answer,
        Answer,
        InvalidQuestion,
    ]
    bodies = [json.loads(text) for _, text, _ in store_of(holdout).news()]
    together = [len(body["items"]) for body in bodies if body["kind"] == "reserve/2"]
    assert together[:2] == [2, 2]  # asks, and checks
    used = CallTerms(None, "ada", "ada/1", NamedWidth())
    (other,) = holdout.answer_together([Waiting("avg(old)", Guess(), used)])
    assert isinstance(other, InvalidArgument)


def test_the_last_of_the_budget_goes_to_those_it_covers(tmp_path: Path) -> None:
    """A batch that is not covered is asked one by one, in the order in which they came."""
    facts = {**FACTS, "questions": 2, "tolerance": 0.2}
    with opened(tmp_path, HOLD, **facts) as few:
        found = few.answer_together([call(f"avg(k > {n})", f"p{n}") for n in range(3, 7)])
        assert [isinstance(each, Answer) for each in found] == [True, True, False, False]
        assert few.budget.asked == 2


def test_without_keys_nothing_more_is_written(holdout: Holdout) -> None:
    calls = [
        Waiting(each.question, each.guess, CallTerms(None, each.terms.asked_by, None, NamedWidth()))
        for each in people()[:2]
    ]
    assert all(isinstance(each, Answer) for each in holdout.answer_together(calls))
    assert kinds(holdout)["told/1"] == 0
    assert [line.request.by for line in holdout.ledger] == ["person 0", "person 1"]
