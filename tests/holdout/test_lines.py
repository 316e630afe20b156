"""What was asked is what is recorded: one line each, its parts under it; and calls with a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from tests.holdout.asking import FACTS, HOLD, TRAIN
from tests.holdout.tables import opened, untouchable, watch
from tests.seam import CHECKPOINT_EVERY, put_sample, store_of, transcript_of

BETTER = holdfast.difference("new = y", "old = y", better="higher")


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, HOLD, **(FACTS | {"tolerance": 0.05})) as found:
        yield found
    assert [each for each in audit(tmp_path / "t.ledger") if not each.fine] == []


def test_the_median_the_verdict_and_the_group_are_a_line_each(holdout: Holdout) -> None:
    median = holdout.ask("median(k)", why="typical", asked_by="ada")
    verdict = holdout.ask(BETTER, tolerance=0.03)
    groups = holdout.ask(holdfast.mean("new", by="arm"))
    view = holdout.ledger
    assert [line.number for line in view] == [1, 2, *(each.number for _, each in groups)]
    assert [line.question for line in view][:2] == [median.question, verdict.question]
    first, second, *_ = view.to_dicts()
    assert (first["why"], first["asked_by"], first["verb"]) == ("typical", "ada", "ask")
    assert (first["look"], second["verdict"]) == (None, verdict.verdict)
    parts = [row for row in view.to_dicts(parts=True) if row["part_of"] == median.question]
    assert len(parts) == len(median.parts) > 3
    assert {row["number"] for row in parts} == {1}
    assert sum(row["cost"] for row in parts) == pytest.approx(first["cost"]) == median.cost
    first_look = median.parts[0].question
    assert first_look in view.to_text(parts=True)
    assert first_look not in str(view)
    assert "follows from" in holdout.explain()
    assert f"better: {verdict.name}" in str(view)


def test_what_follows_from_what_is_known_is_a_line_that_costs_nothing(holdout: Holdout) -> None:
    holdout.ask_many(["avg(new) where arm = 'A'", "avg(new) where arm = 'B'"])
    watch(holdout, untouchable)
    groups = "difference(avg(new) where arm = 'A', avg(new) where arm = 'B')"
    found = holdout.ask(groups)
    assert (found.status, found.cost, found.number) == ("answered", 0.0, 3)
    again = holdout.ask(groups)
    assert (again.status, again.cost, again.number) == ("repeated", 0.0, 3)
    assert len(holdout.ledger) == 3


def test_a_part_that_is_asked_for_itself_becomes_a_line(holdout: Holdout) -> None:
    parts = holdout.ask("avg(z) where k > 4").parts
    share = holdout.ask("avg(k > 4)")
    assert (share.cost, share.interval, share.number) == (0.0, parts[0].interval, 2)
    assert holdout.ask("avg(k > 4)").status == "repeated"
    assert [line.question for line in holdout.ledger][1:] == ["avg(k > 4)"]


def test_what_two_questions_share_is_paid_once_and_what_is_asked_is_no_part(
    holdout: Holdout,
) -> None:
    variance, std, mean = holdout.ask_many(["variance(x)", "std(x)", "avg(x)"])
    again = holdout.ask_many(["std(x)", "avg(x)", "variance(x)", "std(x)"])
    assert [each.status for each in again] == ["repeated"] * 4
    assert [each.number for each in again] == [each.number for each in (std, mean, variance, std)]
    assert mean.recorded.part_of is None
    assert std.cost == 0.0
    assert variance.cost + mean.cost == pytest.approx(
        sum(look.charge for look in holdout.ledger.looks)
    )


def test_a_refined_part_makes_a_new_line_and_then_repeats(holdout: Holdout) -> None:
    first = holdout.ask("variance(x)")
    holdout.ask("avg(x)", tolerance=0.02)
    second = holdout.ask("variance(x)")
    assert (second.status, second.cost) == ("answered", 0.0)
    assert second.half_width < first.half_width
    assert holdout.ask("variance(x)").number == second.number


def test_a_check_in_stages_is_confirmed_or_not(holdout: Holdout) -> None:
    question = "avg(z) where k > 4"
    known = holdout.ask(question, tolerance=0.03).value
    with_claim = holdout.check("avg(x) where k > 4", guess=-55.0)
    assert (with_claim.status, with_claim.recorded.request.verb) == ("not confirmed", "check")
    assert known is not None
    assert holdout.check("avg(p) where k > 4", guess=TRAIN).status == "confirmed"


# Keys ---------------------------------------------------------------------------------------------


def said(found: Any) -> str:
    answers = [found] if isinstance(found, Answer) else found
    return json.dumps([each.to_dict() for each in answers])


CALLS: dict[str, Any] = {
    "a mean": lambda holdout, key: holdout.ask("avg(new)", request_key=key),
    "a median": lambda holdout, key: holdout.ask("median(k)", request_key=key, asked_by="ada"),
    "a verdict": lambda holdout, key: holdout.ask(BETTER, request_key=key),
    "several": lambda holdout, key: holdout.ask_many(
        ["avg(old)", "std(x)", "avg(old)"], request_key=key
    ),
    "a side": lambda holdout, key: holdout.check("avg(k > 11)", at_most=0.2, request_key=key),
    "checks": lambda holdout, key: holdout.check_many(
        ["median(k)", "avg(y)"], [5, 0.9], request_key=key
    ),
    "groups": lambda holdout, key: [
        answer for _, answer in holdout.ask(holdfast.mean("new", by="arm"), request_key=key)
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_made_again_with_its_key_is_told_the_same(
    holdout: Holdout, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 2)
    holdout.ask("avg(y)")
    first = CALLS[name](holdout, "k1")
    repeat = CALLS[name](holdout, "k2")  # all of it is known, and told as a repeat
    holdout.ask("avg(z)", tolerance=0.03)
    entries, nats = transcript_of(holdout).count, holdout.budget.nats
    real = watch(holdout, untouchable)
    with opened(tmp_path) as resumed:  # without rows, from a checkpoint
        for who in (holdout, resumed):
            assert said(CALLS[name](who, "k1")) == said(first)
            assert said(CALLS[name](who, "k2")) == said(repeat)
    assert (transcript_of(holdout).count, holdout.budget.nats) == (entries, nats)
    put_sample(holdout, real.sample)
    answers = [repeat] if isinstance(repeat, Answer) else repeat
    assert {each.cost for each in answers} == {0.0}
    with pytest.raises(InvalidArgument, match=r"the key was used to .*; use another key"):
        holdout.ask("avg(p > 0.5)", request_key="k1")
    assert holdout.budget.nats == nats


def test_of_two_calls_with_one_key_the_faster_is_told(tmp_path: Path) -> None:
    with (
        opened(tmp_path, HOLD, **FACTS) as slow,
        opened(tmp_path, HOLD) as fast,
        pytest.MonkeyPatch.context() as patch,
    ):
        exclusive, others = Store.exclusive, [lambda: fast.ask("median(k)", request_key="same")]
        first: list[Answer] = []

        def overtaken(self: Store, timeout: float) -> Any:
            if self is store_of(slow) and others:
                first.append(others.pop()())
            return exclusive(self, timeout)

        patch.setattr(Store, "exclusive", overtaken)
        second = slow.ask("median(k)", request_key="same")
        assert said(second) == said(first[0])
        assert len(slow.ledger) == 1


@pytest.mark.parametrize("what", ["why", "asked_by", "request_key"])
def test_what_is_said_with_a_call_is_text(holdout: Holdout, what: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{what} is 5; it must be text"):
        holdout.ask("avg(new)", **{what: 5})  # type: ignore[call-overload]
    assert holdout.budget.asked == 0
