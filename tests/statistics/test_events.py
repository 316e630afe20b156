"""Symbols are stored by event: another question that rests on the same one is told for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.holdout.holdout import Holdout
from tests.holdout.tables import BOUNDS, Crash, copied, crash, opened, table, untouchable, watch
from tests.ledger.forging import faults, forged
from tests.seam import CHECKPOINT_EVERY

ROWS = 4_000
APART = "difference(avg(x) where {}, avg(x) where {})"
JFK, LATE = "origin = 'JFK'", "late"

# The first is asked; the second is a function of its symbols.
PAIRS = [
    ("std(x)", "variance(x)"),
    ("variance(x) where late", "std(x) where late"),
    ("avg(x)", "sum(x, 77)"),
    ("sum(x, 77)", "avg(x)"),
    ("sum(late, 77)", "count(late, 90)"),
    ("accuracy(late, x > 20)", "error(late, x > 20)"),
    ("avg(x > 20) where late", "count(x > 20, 9) where late"),
    (APART.format(JFK, LATE), APART.format(LATE, JFK)),
    ("difference(late, x > 20)", "difference(x > 20, late)"),
]


def ledger(folder: Path, **declared: Any) -> Any:
    folder.mkdir(exist_ok=True)
    usual: dict[str, Any] = {"schema": BOUNDS, "tolerance": 0.1, "described": "exact"}
    return opened(folder, table(ROWS), **(usual | declared))


def told(holdout: Holdout, question: str) -> tuple[Any, ...]:
    answer = holdout.ask(question)
    return (answer.value, answer.interval, answer.bits, answer.n, answer.missing)


@pytest.mark.parametrize("described", ["exact", "rounded"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_another_question_of_the_event_is_told_from_its_symbols(
    tmp_path: Path, first: str, second: str, described: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.ledger.store.secrets.token_bytes", bytes)  # one for both
    with ledger(tmp_path / "alone", described=described) as alone:
        expected = told(alone, second)
    with ledger(tmp_path / "after", described=described) as holdout:
        holdout.ask(first)
        spent = holdout.budget.nats
        watch(holdout, untouchable)
        cost = holdout.cost(second)
        assert (cost.follows, cost.most) == ((1,), 0.0)
        answer = holdout.ask(second)
        assert (answer.value, answer.interval, answer.bits, answer.n, answer.missing) == expected
        assert (answer.cost, holdout.budget.nats, answer.number) == (0.0, spent, 2)
        again = holdout.ask(second)
        assert (again.status, again.number) == ("repeated", 2)
        assert [line.question for line in holdout.ledger][1] == answer.question
        assert len(holdout.ledger.looks) == 1
    assert faults(tmp_path / "after" / "t.ledger") == []


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_together_they_are_charged_once(tmp_path: Path, first: str, second: str) -> None:
    with ledger(tmp_path) as holdout:
        price = sum(holdout.cost(question).most for question in (first, second)) / 2
        one, other = holdout.ask_many([first, second])
        assert one.cost + other.cost == pytest.approx(price)
        assert len(holdout.ledger.looks) == 1
        assert len(holdout.ledger) == 2
    assert faults(tmp_path / "t.ledger") == []


def test_a_part_is_known_by_its_event(tmp_path: Path) -> None:
    """The mean that a difference follows from was asked as a total."""
    apart = "difference(avg(x) where late, avg(x / 2) where origin = 'JFK')"
    with ledger(tmp_path) as holdout:
        total = holdout.ask("sum(x, 1) where late")
        answer = holdout.ask(apart)
        assert len(holdout.ledger.looks) == 2
        assert answer.parts[0].interval == total.interval
        assert answer.cost == answer.parts[1].charge
    assert faults(tmp_path / "t.ledger") == []


def test_it_is_found_after_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 4)
    with ledger(tmp_path) as holdout:
        holdout.ask("std(x)")
        for place in range(9):
            holdout.ask(f"avg(x > {place})")
    with opened(tmp_path, table(ROWS)) as holdout:
        watch(holdout, untouchable)
        assert holdout.ask("variance(x)").cost == 0.0
    assert faults(tmp_path / "t.ledger") == []


def test_a_crash_is_finished_and_then_told(tmp_path: Path) -> None:
    with ledger(tmp_path):
        path = copied(tmp_path / "t.ledger", tmp_path / "crashed")
    with opened(path.parent, table(ROWS)) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask("std(x)")
    with opened(path.parent, table(ROWS)) as holdout:
        holdout.ask("variance(x)")
        assert len(holdout.ledger.looks) == 1
    assert faults(path) == []


def test_with_a_key_the_same_is_told_again(tmp_path: Path) -> None:
    with ledger(tmp_path) as holdout:
        holdout.ask("avg(x)")
        first, second = (holdout.ask("sum(x, 9)", request_key="mine") for _ in range(2))
        assert (first.value, first.interval, first.number) == (
            second.value,
            second.interval,
            second.number,
        )
    assert faults(tmp_path / "t.ledger") == []


def test_an_audit_finds_a_line_that_its_symbols_do_not_say(tmp_path: Path) -> None:
    with ledger(tmp_path) as holdout:
        holdout.ask("std(x)")
        holdout.ask("variance(x)")

    def narrower(bodies: list[dict[str, Any]]) -> None:
        (line,) = bodies[-1]["lines"]
        line["interval"][0] = line["value"]

    assert "does not follow" in str(forged(tmp_path / "t.ledger", narrower))


def test_an_audit_finds_a_line_of_another_event(tmp_path: Path) -> None:
    with ledger(tmp_path) as holdout:
        holdout.ask_many(["std(x)", "avg(x)"])
        holdout.ask("variance(x)")

    def of_the_mean(bodies: list[dict[str, Any]]) -> None:
        bodies[-1]["lines"][0]["parts"] = [2]

    assert "does not follow" in str(forged(tmp_path / "t.ledger", of_the_mean))


def test_what_rests_on_another_event_is_asked(tmp_path: Path) -> None:
    with ledger(tmp_path) as holdout:
        holdout.ask("avg(x > 20)")
        assert holdout.ask("avg(x > 21)").cost > 0.0
        assert holdout.ask("avg(x)").cost > 0.0
        assert holdout.ask(holdfast.mean("x", where="late")).cost > 0.0
