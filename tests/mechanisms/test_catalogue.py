"""One suite over the catalogue, as a user meets it: a ledger opened with each mechanism by name.

A new mechanism adds a row to `OPENED` if it needs more than the usual declarations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument, Refused
from holdfast.ledger.audit import audit
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.theory.theorem import find
from tests.holdout.tables import BOUNDS, copied, untouchable, watch
from tests.holdout.tables import table as small_table

# How each is opened on the table of 20,000 rows; the usual: 20 questions, whatever half-width.
OPENED: Mapping[str, dict[str, Any]] = {}
TABLE = small_table(20_000)
VALUES = {
    "avg(late)": pl.col("late").mean(),
    "avg(x)": pl.col("x").clip(-60, 180).mean(),
    "avg(x > 20)": (pl.col("x") > 20).mean(),
    "avg(x < 3)": (pl.col("x") < 3).mean(),
}
QUESTIONS = list(VALUES)

every_kind = pytest.mark.parametrize("name", list(CATALOGUE))


def opened(folder: Path, name: str, **changed: Any) -> holdfast.Holdout:
    declared = {"questions": 20, **OPENED.get(name, {}), **changed}
    return holdfast.open(
        TABLE, ledger=folder / "m.ledger", mechanism=name, schema=BOUNDS, **declared
    )


def sample_value(question: str) -> float:
    """The value in the sample, by Polars itself."""
    return float(TABLE.select(VALUES[question]).item())


class Crash(BaseException):
    """The process dies in the middle of a scan, as far as the ledger can tell."""


def crash() -> None:
    raise Crash


@every_kind
def test_a_session(tmp_path: Path, name: str) -> None:
    promises = CATALOGUE[name].theorem is not None
    with opened(tmp_path, name) as holdout:
        before = holdout.budget.questions_left
        for question in QUESTIONS:
            cost = holdout.cost(question)
            answer = holdout.ask(question)
            assert answer.status == ("answered" if promises else "no promise")
            assert answer.cost <= cost.most
            assert answer.interval.low <= answer.value <= answer.interval.high
            if promises and cost.half_width is not None:
                assert answer.half_width <= cost.half_width * (1 + 1e-9)
                assert answer.interval.low <= sample_value(question) <= answer.interval.high
            json.dumps(answer.to_dict())
        assert holdout.budget.questions_left <= max(0, before)
        assert len(holdout.ledger) == len(QUESTIONS)
        assert name in holdout.explain().lower()
        str(holdout.budget)


@every_kind
def test_a_repeat_is_free_and_a_new_opener_sees_the_same(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as holdout:
        first = [holdout.ask(question) for question in QUESTIONS]
        watch(holdout, untouchable)
        again = [holdout.ask(question) for question in QUESTIONS]
        budget = holdout.budget.to_dict()
    assert [each.value for each in again] == [each.value for each in first]
    assert {each.status for each in again} == {"repeated"}
    with holdfast.open(ledger=tmp_path / "m.ledger") as blind:  # resumed from the ledger alone
        assert [each.value for each in blind.ledger] == [each.value for each in first]
        assert [each.interval for each in blind.ledger] == [each.interval for each in first]
        assert blind.budget.to_dict() == budget


@every_kind
def test_a_crash_is_finished_with_the_same_noise_and_charged(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as one:
        one.ask(QUESTIONS[0])
        spent = one.budget.nats
        watch(one, crash)
        with pytest.raises(Crash):
            one.ask(QUESTIONS[1])
        assert one.budget.nats >= spent
        assert one.budget.asked == 2
    other = copied(tmp_path / "m.ledger", tmp_path / "copy")
    finished = []
    for path in (tmp_path / "m.ledger", other):
        with holdfast.open(TABLE, ledger=path) as two:
            two.ask(QUESTIONS[2])
            finished.append([each.value for each in two.ledger])
    assert finished[0] == finished[1]
    assert len(finished[0]) == 3


@every_kind
def test_an_audit_derives_everything_from_the_ledger_alone(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as holdout:
        for question in QUESTIONS:
            holdout.ask(question)
    findings = audit(tmp_path / "m.ledger")
    assert all(finding.fine for finding in findings), findings
    assert f"{len(QUESTIONS)} derived again" in str(findings)


@every_kind
def test_what_is_exhausted_is_refused_before_data_is_touched(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name, questions=3) as holdout:
        for question in QUESTIONS[:3]:
            holdout.ask(question)
        watch(holdout, untouchable)
        spent = holdout.budget.to_dict()
        with pytest.raises(Refused, match=r"[Rr]equested"):
            holdout.ask(QUESTIONS[3])
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
        assert find(kind.theorem) is not None


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(InvalidArgument, match="did you mean 'bounded noise'"):
        holdfast.open(TABLE, ledger="never.ledger", mechanism="bounded nois")
