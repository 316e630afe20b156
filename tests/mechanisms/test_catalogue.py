"""One suite over the catalogue, as a user meets it: a ledger opened with each mechanism by name.

What a mechanism needs is what its entry says; only one that takes other questions than the usual
has a row here, in `ASKED`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument, Refused
from holdfast.holdout.answer import Answer
from holdfast.ledger.audit import audit
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.theory.base.theorem import find_theorems
from tests.holdout.tables import (
    BOUNDS,
    Crash,
    copied,
    crash,
    same_secret,
    untouchable,
    watch,
)
from tests.mechanisms.sessions import OPENED, TABLE, TOGETHER, VALUES, questions_of

every_kind = pytest.mark.parametrize("name", list(CATALOGUE))


@every_kind
def test_an_entry_is_found_by_the_name_it_has(name: str) -> None:
    assert CATALOGUE[name].name == name


@pytest.fixture(autouse=True)
def _same_noise_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    same_secret(monkeypatch)


def opened(folder: Path, name: str, **changed: Any) -> holdfast.Holdout:
    declared = {"questions": 20, **OPENED.get(name, {}), **changed}
    return holdfast.open(
        TABLE, ledger=folder / "m.ledger", mechanism=name, schema=BOUNDS, **declared
    )


def reopened(path: Path, name: str) -> holdfast.Holdout:
    """The same table again; only training rows are not in the ledger."""
    return holdfast.open(
        TABLE, ledger=path, train=OPENED.get(name, {}).get("train"), described="off"
    )


def ask_all(holdout: holdfast.Holdout, name: str, questions: Sequence[str]) -> list[Answer]:
    """One after another, or in the only batch there is."""
    if name in TOGETHER:
        return holdout.ask_many(questions)
    return [holdout.ask(question) for question in questions]


def sample_value(question: str) -> float:
    """The value in the sample, by Polars itself."""
    return float(TABLE.select(VALUES[question]).item())


@every_kind
def test_a_session(tmp_path: Path, name: str) -> None:
    promises = CATALOGUE[name].theorem is not None
    with opened(tmp_path, name) as holdout:
        before, questions = holdout.budget.questions_left, questions_of(name)
        batches = [questions] if name in TOGETHER else [[question] for question in questions]
        for batch in batches:
            costs = [holdout.cost(question) for question in batch]
            for question, cost, answer in zip(
                batch, costs, ask_all(holdout, name, batch), strict=True
            ):
                assert answer.status == ("answered" if promises else "no promise")
                assert answer.cost <= cost.most
                assert answer.interval.low <= answer <= answer.interval.high
                low, high = answer.recorded.range
                widest = holdout.opening.terms.half_width * (high - low)
                if promises:  # the cost of one question is that of asking it alone
                    width = cost.half_width if len(batch) == 1 else widest
                    assert width is not None
                    assert answer.half_width <= width * (1 + 1e-9)
                    assert answer.interval.low <= sample_value(question) <= answer.interval.high
                else:
                    assert answer.interval == (low, high)
                json.dumps(answer.to_dict())
        assert holdout.budget.questions_left <= max(0, before)
        assert len(holdout.ledger) == len(questions)
        assert name in holdout.explain().lower()
        str(holdout.budget)


@every_kind
def test_a_repeat_is_free_and_a_new_opener_sees_the_same(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as holdout:
        first = ask_all(holdout, name, questions_of(name))
        watch(holdout, untouchable)
        again = [holdout.ask(question) for question in questions_of(name)]
        budget = holdout.budget.to_dict()
    assert [each.value for each in again] == [each.value for each in first]
    assert {each.status for each in again} == {"repeated"}
    with holdfast.open(
        ledger=tmp_path / "m.ledger", described="off"
    ) as blind:  # resumed from the ledger alone
        assert [each.value for each in blind.ledger] == [each.value for each in first]
        assert [each.interval for each in blind.ledger] == [each.interval for each in first]
        assert blind.budget.to_dict() == budget


@every_kind
def test_a_crash_is_finished_with_the_same_noise_and_charged(tmp_path: Path, name: str) -> None:
    first, second, third, _ = questions_of(name)
    with opened(tmp_path, name) as one:
        if name not in TOGETHER:
            one.ask(first)
        spent = one.budget.nats
        watch(one, crash)
        with pytest.raises(Crash):
            ask_all(one, name, [first, second] if name in TOGETHER else [second])
        assert one.budget.nats >= spent
        assert one.budget.asked == 2
    other = copied(tmp_path / "m.ledger", tmp_path / "copy")
    finished = []
    for path in (tmp_path / "m.ledger", other):
        with reopened(path, name) as two:
            # What was reserved is finished first; after the only look nothing else is answered.
            with pytest.raises(Refused) if name in TOGETHER else nullcontext():
                two.ask(third)
            finished.append([each.value for each in two.ledger])
    assert finished[0] == finished[1]
    assert len(finished[0]) == (2 if name in TOGETHER else 3)


@every_kind
def test_an_audit_derives_everything_from_the_ledger_alone(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as holdout:
        ask_all(holdout, name, questions_of(name))
    findings = audit(tmp_path / "m.ledger")
    assert all(finding.fine for finding in findings), findings
    assert f"{len(VALUES)} derived again" in str(findings)


@every_kind
def test_what_is_exhausted_is_refused_before_data_is_touched(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name, questions=3) as holdout:
        ask_all(holdout, name, questions_of(name)[:3])
        watch(holdout, untouchable)
        spent = holdout.budget.to_dict()
        with pytest.raises(Refused, match=r"[Rr]equested"):
            holdout.ask(questions_of(name)[3])
        assert holdout.budget.to_dict() == spent


@every_kind
def test_checks_work_beside_it_or_are_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as holdout:
        if CATALOGUE[name].refuses_checks is None:
            holdout.check("avg(late)", guess=0.3)
        else:
            watch(holdout, untouchable)
            with pytest.raises(InvalidArgument, match="checks no guesses"):
                holdout.check("avg(late)", guess=0.3)


@every_kind
def test_bad_declarations_get_one_sentence(tmp_path: Path, name: str) -> None:
    for wrong in ({"options": {"nonsense": 1}}, {"questions": 0}, {"confidence_level": 2}):
        with pytest.raises(HoldfastError) as error:
            opened(tmp_path, name, **wrong)
        assert "\n" not in str(error.value)
    assert not (tmp_path / "m.ledger").exists()


@every_kind
def test_its_words(name: str) -> None:
    kind = CATALOGUE[name]
    assert kind.summary.endswith(".")
    assert kind.needs.endswith(".")
    assert kind.promises
    if kind.theorem is not None:
        assert find_theorems(kind.theorem) is not None


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(InvalidArgument, match="did you mean 'bounded noise'"):
        holdfast.open(TABLE, ledger="never.ledger", mechanism="bounded nois")
