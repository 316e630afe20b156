"""Statistics and their ledger: crashes, forgeries, and what earlier answers imply."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToleranceTooLoose
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from tests.holdout.asking import FACTS, HOLD, ROWS, SPREAD, contains
from tests.holdout.tables import opened, watch
from tests.ledger.forging import sealed_again
from tests.ledger.reading import folded
from tests.statistics.zoo import BOUNDS, CASES


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, HOLD, **FACTS) as found:
        yield found


@pytest.mark.parametrize(
    "question",
    ["avg(z) where arm = 'A'", "auc(p, y)", "log_loss(p, y)", "f1(new, y)", "median(k)"],
)
def test_a_crash_is_finished_from_the_text_in_the_ledger(tmp_path: Path, question: str) -> None:
    def crash() -> None:
        raise KeyboardInterrupt

    with opened(tmp_path, HOLD, **FACTS) as first:
        watch(first, crash)
        with pytest.raises(KeyboardInterrupt):
            first.ask(question)
        assert folded(tmp_path / "t.ledger").pending is not None
    with opened(tmp_path, HOLD) as second:
        second.ask("avg(new)")
        transcript = folded(tmp_path / "t.ledger")
        assert transcript.pending is None
        assert transcript.abandoned == []
        assert len(transcript.answers) == 2
        spent = second.budget.nats
        answer = second.ask(question)
        for case in CASES:
            if case.question == question:
                assert contains(answer.interval, case.plain(ROWS))
        if question != "median(k)" and not question.startswith("f1"):
            assert (answer.status, second.budget.nats) == ("repeated", spent)
    assert all(each.fine for each in audit(tmp_path / "t.ledger"))


def test_a_function_that_is_gone_is_given_up(tmp_path: Path) -> None:
    def crash() -> None:
        raise KeyboardInterrupt

    with opened(tmp_path, HOLD, **FACTS) as first:
        watch(first, crash)
        with pytest.raises(KeyboardInterrupt):
            first.ask(SPREAD)
    with opened(tmp_path, HOLD) as second:
        second.ask("avg(new)")
    assert [each.offer.question for each in folded(tmp_path / "t.ledger").abandoned] == [
        SPREAD.text
    ]
    assert all(each.fine for each in audit(tmp_path / "t.ledger"))


def forged(text: str, change: Any) -> str:
    body = json.loads(text)
    change(body["items"][0])
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def smaller_radius(item: dict[str, Any], part: float) -> None:
    """A radius that agrees with what was forged; all else of the offer stays as generous."""
    item["offer"]["radius"] *= part


def group_profile(item: dict[str, Any]) -> None:
    item["offer"]["profile"]["sigma"] *= 0.5
    smaller_radius(item, 0.51)


def no_profile(item: dict[str, Any]) -> None:
    item["offer"]["profile"] = None
    smaller_radius(item, 0.7)


def smaller_variance(item: dict[str, Any]) -> None:
    item["offer"]["variance"]["variance"] *= 0.25
    smaller_radius(item, 0.6)


def another_source(item: dict[str, Any]) -> None:
    item["offer"]["variance"]["implied_by"] = 2
    item["offer"]["variance"]["variance"] = 0.001
    smaller_radius(item, 0.6)


def another_range(item: dict[str, Any]) -> None:
    item["high"] = 10.0


def another_question(item: dict[str, Any]) -> None:
    item["offer"]["question"] = "auc(x, y)"
    item["offer"]["profile"]["sigma"] *= 0.5


FORGERIES = [
    ("avg(z) where arm = 'A'", group_profile, "concentration"),
    ("avg(z) where arm = 'A'", no_profile, "concentration"),
    ("avg(z) where arm = 'A'", another_range, "range"),
    ("auc(p, y)", group_profile, "concentration"),
    ("auc(p, y)", another_question, "concentration"),
    (SPREAD, group_profile, "concentration"),
    ("avg(z, variance <= 9)", smaller_variance, "variance"),
    ("avg(new and k > 11)", smaller_variance, "variance"),
    ("avg(new and k > 11)", another_source, "variance"),
]


@pytest.mark.parametrize(("question", "change", "said"), FORGERIES)
def test_the_audit_derives_every_radius_from_the_questions_text(
    tmp_path: Path, question: Any, change: Any, said: str
) -> None:
    """Whoever holds the secret can forge a chain, but not an interval that its question allows."""
    with opened(tmp_path, HOLD, **FACTS) as found:
        found.ask("avg(k > 11)")
        found.ask("avg(old)")
        found.ask(question)
    path = tmp_path / "t.ledger"
    assert all(each.fine for each in audit(path))
    sealed_again(path, 6, lambda text: forged(text, change))
    (fault,) = [each.detail for each in audit(path) if not each.fine]
    assert fault.startswith("entry 6, question 1: ")
    assert said in fault


@pytest.mark.parametrize("question", ["avg(z)", "avg(new and k > 11)"])
def test_the_audit_knows_the_level_of_a_claim(tmp_path: Path, question: str) -> None:
    with opened(tmp_path, HOLD, **FACTS) as found:
        found.ask("avg(old)", tolerance=0.4)
        found.check(question, -11.0 if question == "avg(z)" else 0.01, tolerance=0.2)
    path = tmp_path / "t.ledger"
    assert all(each.fine for each in audit(path))

    def change(item: dict[str, Any]) -> None:
        """As if nothing had leaked, and the ask had taken no share."""
        item["offer"]["extra"]["standing"] |= {"nats": 0.0, "log_left": math.log(0.05)}

    sealed_again(path, 4, lambda text: forged(text, change))
    (fault,) = [each.detail for each in audit(path) if not each.fine]
    assert fault.startswith("entry ")


@pytest.mark.parametrize("mechanism", ["median noise", "gaussian", "private gaussian"])
def test_the_audit_knows_which_questions_a_theorem_is_about(tmp_path: Path, mechanism: str) -> None:
    """A statistic that was declared to be narrow is no average, and one row may do anything."""
    missing = {name: {"never_null": False} for name in ("arm", "site")}
    facts = {**FACTS, "mechanism": mechanism, "questions": 5, "schema": {**BOUNDS, **missing}}
    del facts["design"]
    with opened(tmp_path, HOLD, **facts) as found:
        found.ask("avg(old)")
    path = tmp_path / "t.ledger"
    assert all(each.fine for each in audit(path))

    def change(item: dict[str, Any]) -> None:
        item["offer"]["question"] = SPREAD.text.replace("sigma 0.05", "sigma 0.001")
        item["low"], item["high"] = SPREAD.low, SPREAD.high

    sealed_again(path, 2, lambda text: forged(text, change))
    (fault,) = [each.detail for each in audit(path) if not each.fine]
    assert "does not answer such a question" in fault


def by_the_whole_table(item: dict[str, Any]) -> None:
    item["offer"]["extra"]["rows"] = item["offer"]["grid"]["cells"] = len(ROWS)
    item["offer"]["worst_charge"] += 10.0


def coarsely(item: dict[str, Any]) -> None:
    item["offer"]["grid"]["cells"] = 5


def as_an_average(item: dict[str, Any]) -> None:
    item["offer"]["extra"]["by"] = "chernoff"


def as_a_condition(item: dict[str, Any]) -> None:
    item["offer"]["extra"]["by"] = "binomial"
    item["offer"]["grid"]["cells"] = item["offer"]["extra"]["rows"]


@pytest.mark.parametrize(
    ("question", "mechanism", "change", "said"),
    [
        ("avg(new) where arm = 'A'", "one look", by_the_whole_table, "grid"),
        ("avg(z) where arm = 'A'", "one look", coarsely, "grid"),
        ("auc(p, y)", "one look", coarsely, "grid"),
        ("auc(p, y)", "one look", as_an_average, "way of answering"),
        ("avg(z)", "sample splitting", as_a_condition, "grid"),
    ],
)
def test_the_audit_knows_what_interval_an_exact_value_may_have(
    tmp_path: Path, question: str, mechanism: str, change: Any, said: str
) -> None:
    facts = {**FACTS, "mechanism": mechanism, "questions": 2}
    if mechanism == "sample splitting":
        del facts["design"]

    def crash() -> None:
        raise KeyboardInterrupt

    with opened(tmp_path, HOLD, **facts) as found:
        watch(found, crash)  # so that no answer has to be forged with its offer
        with pytest.raises(KeyboardInterrupt):
            found.ask(question)
    path = tmp_path / "t.ledger"
    assert all(each.fine for each in audit(path))
    sealed_again(path, 2, lambda text: forged(text, change))
    (fault,) = [each.detail for each in audit(path) if not each.fine]
    assert said in fault


def test_a_rare_event_is_narrower_after_what_contains_it(holdout: Holdout) -> None:
    before = holdout.cost("avg(new and k > 11)")
    holdout.ask("avg(k > 11)", tolerance=0.02)
    after, answer = holdout.cost("avg(new and k > 11)"), holdout.ask("avg(new and k > 11)")
    assert before.half_width is not None
    assert after.half_width is not None
    assert after.half_width < before.half_width / 2
    (look,) = answer.parts  # its line is narrower still: no more rows than in what contains it
    assert look.tolerance == pytest.approx(after.half_width)
    assert answer.half_width <= after.half_width
    assert answer.cost == pytest.approx(before.most, rel=0.1)
    exact = sum(row["new"] is True and (row["k"] or 0) > 11 for row in ROWS) / len(ROWS)
    assert contains(answer.interval, exact)


def test_one_sided_answers_imply_what_they_say_and_no_more(holdout: Holdout) -> None:
    plain = holdout.cost("avg(new and k > 11)").half_width
    assert holdout.check("avg(k > 11)", at_most=0.03).status == "confirmed"
    assert holdout.check("avg(old)", at_least=0.3).status == "confirmed"
    narrow = holdout.cost("avg(new and k > 11)").half_width
    assert plain is not None
    assert narrow is not None
    assert narrow < plain / 2
    assert holdout.cost("avg(new and old)").half_width == plain  # "at least" bounds no variance
    with pytest.raises(ToleranceTooLoose, match=r"its whole range \[-20, -3\]"):
        holdout.ask("avg(z) where k > 11")  # the share may be 0 for all that is known
