"""What was asked is a line: it follows from its looks, survives crashes, and cannot be forged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import holdfast
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.chain import Row
from holdfast.ledger.store import Store
from tests.holdout.tables import BOUNDS, copied, table
from tests.ledger.forging import Body, faults, write
from tests.ledger.reading import folded, rows_of

ROWS = table(4_000)
GROUPS = "difference(avg(x) where late, avg(x) where not late)"
FACTS: dict[str, Any] = {"questions": 60, "tolerance": 0.1, "schema": BOUNDS}


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new ledger; others are copies of it, with the same secret and so the same noise."""
    path = tmp_path_factory.mktemp("start") / "t.ledger"
    holdfast.open(ROWS, ledger=path, **{"described": "off", **FACTS}).close()
    return path


def of(path: Path) -> Holdout:
    return holdfast.open(ROWS, ledger=path, described="off")


def asked(holdout: Holdout) -> list[Answer]:
    """A difference of groups in two stages, a search, and a mean that is asked for itself."""
    return holdout.ask_many([GROUPS, "median(x, 30)", "avg(late)"], why="all", asked_by="ada")


def facts(answers: list[Answer]) -> list[tuple[object, ...]]:
    return [(each.question, each.value, each.interval, each.recorded.status) for each in answers]


def kill_at(monkeypatch: pytest.MonkeyPatch, commit: int, *, written: bool) -> None:
    """Die in this commit, when all of it is on the disk or nothing is."""
    append, left = Store.append, [commit]

    def dying(self: Store, *said: Any) -> list[Row]:
        left[0] -= 1
        if left[0] == 0 and not written:
            raise Killed
        rows = append(self, *said)
        if left[0] == 0:
            raise Killed
        return rows

    monkeypatch.setattr(Store, "append", dying)


def commits_of(path: Path) -> int:
    """How often something was written: what is told is in one commit with the last settlement."""
    return sum(
        json.loads(text)["kind"] in ("reserve/2", "settle/2") for _, text, _ in rows_of(path)
    )


def test_after_every_crash_nothing_that_was_paid_is_lost(start: Path, tmp_path: Path) -> None:
    whole = copied(start, tmp_path / "whole")
    with of(whole) as holdout:
        expected, spent = facts(asked(holdout)), holdout.budget.nats
        wanted = [(line.question, line.charge) for line in holdout.ledger]
    commits = commits_of(whole)
    assert commits >= 6
    for commit in range(1, commits + 1):
        for written in (False, True):
            path = copied(start, tmp_path / f"{commit}{written}")
            with pytest.MonkeyPatch.context() as patch, of(path) as holdout:
                kill_at(patch, commit, written=written)
                with pytest.raises(Killed):
                    asked(holdout)
            assert faults(path) == []
            with of(path) as holdout:
                before = holdout.ledger
                unfinished = [line for line in before if line.status == "unfinished"]
                assert all(line.number is None and line.parts for line in unfinished)
                assert sum(line.charge for line in before) == pytest.approx(
                    sum(look.charge for look in before.looks)
                )
                assert facts(asked(holdout)) == expected
                assert holdout.budget.nats == pytest.approx(spent)
                found = [(line.question, line.charge) for line in holdout.ledger]
                assert dict(found) == pytest.approx(dict(wanted))
            assert faults(path) == []


@pytest.mark.parametrize("described", ["off", "exact"])
@pytest.mark.parametrize(("question", "guess"), [("avg(late)", 0.99), (GROUPS, -200.0)])
def test_a_refuted_check_that_others_finish_is_one_line(
    question: str, guess: float, described: Literal["off", "exact"], tmp_path: Path
) -> None:
    """Whoever asks next finishes what was reserved; the check made again is told with all of it."""
    (tmp_path / "start").mkdir()
    start = tmp_path / "start" / "t.ledger"
    holdfast.open(ROWS, ledger=start, described=described, **FACTS).close()
    whole = copied(start, tmp_path / "whole")
    with holdfast.open(ROWS, ledger=whole) as holdout:
        assert holdout.check(question, guess).status == "not confirmed"
        parts = len(holdout.ledger[0].parts)
    for commit in range(1, commits_of(whole) + 1):
        for written in (False, True):
            path = copied(start, tmp_path / f"{commit}{written}")
            with pytest.MonkeyPatch.context() as patch, holdfast.open(ROWS, ledger=path) as holdout:
                kill_at(patch, commit, written=written)
                with pytest.raises(Killed):
                    holdout.check(question, guess, request_key="mine")
            with holdfast.open(ROWS, ledger=path) as holdout:
                holdout.ask("avg(x > 41)")  # somebody else
                answer = holdout.check(question, guess, request_key="mine")
                (line,) = [line for line in holdout.ledger if line.question == answer.question]
                assert (line.status, len(line.parts)) == ("not confirmed", parts)
                assert sum(each.charge for each in holdout.ledger) == pytest.approx(
                    sum(look.charge for look in holdout.ledger.looks)
                )
            assert faults(path) == []


def test_what_follows_is_on_the_disk_with_the_last_look(start: Path, tmp_path: Path) -> None:
    """Whoever is killed after the last commit has told everything: no crash comes in between."""
    path = copied(start, tmp_path / "t")
    with pytest.MonkeyPatch.context() as patch, of(path) as holdout:
        kill_at(patch, 4, written=True)
        with pytest.raises(Killed):
            holdout.ask(GROUPS)
    kinds = [json.loads(text)["kind"] for _, text, _ in rows_of(path)]
    assert kinds == ["open/3", *["reserve/2", "settle/2"] * 2, "told/1"]
    (line,) = folded(path).lines
    assert (line.question.startswith("difference("), len(line.parts)) == (True, 4)


# Forged, and sealed again ------------------------------------------------------------------------


def narrower(line: Body) -> None:
    low, high = line["interval"]
    line["interval"] = [low + 0.1 * (high - low), high]


def another_value(line: Body) -> None:
    line["value"] += 0.001


def a_finding(line: Body) -> None:
    line["status"] = "confirmed"


def for_free(line: Body) -> None:
    line["charge"] = 0.0


def without_a_part(line: Body) -> None:
    del line["parts"][-1]


def by_other_looks(line: Body) -> None:
    line["parts"].reverse()


def of_another_range(line: Body) -> None:
    line["request"]["high"] += 1.0


def another_question(line: Body) -> None:
    line["request"]["question"] = "difference(avg(late) where clip(x, 0, 1) > 0, avg(late))"


@pytest.mark.parametrize(
    "change",
    [
        narrower,
        another_value,
        a_finding,
        for_free,
        without_a_part,
        by_other_looks,
        of_another_range,
        another_question,
    ],
)
def test_what_is_told_and_does_not_follow_is_found(
    start: Path, tmp_path: Path, change: Callable[[Body], None]
) -> None:
    path = copied(start, tmp_path / "t")
    with of(path) as holdout:
        holdout.ask(GROUPS)
    assert faults(path) == []
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    change(bodies[-1]["lines"][0])
    write(path, bodies)
    (fault,) = faults(path)
    assert fault.startswith("entry 6, line 1: ")


def test_a_line_that_is_numbered_otherwise_does_not_fold(start: Path, tmp_path: Path) -> None:
    path = copied(start, tmp_path / "t")
    with of(path) as holdout:
        holdout.ask(GROUPS)
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    bodies[-1]["lines"][0]["line"] = 7
    write(path, bodies)
    (fault,) = faults(path)
    assert "numbers a line 7; the next is 1" in fault


def test_functions_that_are_gone_are_followed_by_their_texts(start: Path, tmp_path: Path) -> None:
    path = copied(start, tmp_path / "t")
    doubled = holdfast.row_function(
        lambda frame: frame["x"] * 2,
        columns=["x"],
        bounds=(-100, 300),
        name='a (b) "c"',
        version="1",
    )
    with of(path) as holdout:
        total = holdout.ask(holdfast.sum(doubled, population=1_000))
        holdout.ask(holdfast.difference(holdfast.mean(doubled), holdfast.mean("x")))
    assert total.parts[0].question.startswith("avg(function ")
    assert faults(path) == []
    assert "4 derived again" in audit(path)[1].detail
