"""Rehearsals: the holdout's own terms, made-up rows, and a verdict that a person understands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.lab.arena.rehearsal import Rehearsal, rehearse
from tests.cli.run import holdfast as command
from tests.holdout.tables import untouchable, watch
from tests.seam import MOST_PLANNED_CELLS, OPEN_QUESTIONS, QUICK_CELLS

ROWS = 900
TABLE = pl.DataFrame({"x": [i / ROWS for i in range(ROWS)], "unit": [i // 3 for i in range(ROWS)]})


def opened(folder: Path, **declared: Any) -> holdfast.Holdout:
    return holdfast.open(
        TABLE,
        ledger=folder / "mine.ledger",
        name="mine",
        schema={"x": (0, 1)},
        **{"described": "off", **declared},
    )


def rehearsed(folder: Path, **declared: Any) -> Rehearsal:
    with opened(folder, **declared) as holdout:
        watch(holdout, untouchable)
        before = holdout.budget.to_dict()
        found = holdout.rehearse(trials=9)
        assert holdout.budget.to_dict() == before
    return found


@pytest.mark.statistical
def test_a_rehearsal_has_the_terms_of_the_holdout(tmp_path: Path) -> None:
    found = rehearsed(tmp_path, questions=60)
    assert found.kept
    assert "900 rows, 60 questions, half-width 0." in found.terms
    assert {
        attack.rows[1].answered for attack in found.attacks if attack.name == "sign-attack"
    } == {60}
    assert "the promise held against all 8 attacks" in str(found)
    assert found.attacks[0].rows[0].holds is False  # the plain holdout beside it
    json.dumps(found.to_dict())


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"questions": 40, "mechanism": "median noise"}, "median noise"),
        ({"tolerance": 0.3}, "The number of questions is open"),
        ({"questions": 15, "sampling": holdfast.clustered("unit", sizes="fixed")}, "comes 3 times"),
        ({"questions": 12, "sampling": holdfast.m_dependent(1)}, "comes 2 times"),
        ({"questions": 15, "sampling": holdfast.declared(sigma=0.05)}, "comes 9 times"),
        ({"questions": 40, "design": ["unit"]}, "that a design makes unlike each other"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(OPEN_QUESTIONS, 30)
    found = rehearsed(tmp_path, **declared)
    assert found.kept, str(found)
    assert words in str(found)


@pytest.mark.statistical
def test_a_mechanism_without_a_promise_keeps_none(tmp_path: Path) -> None:
    found = rehearsed(tmp_path, questions=60, mechanism="exact")
    assert not found.kept
    assert "there is no promise to keep" in str(found)


@pytest.mark.statistical
def test_a_broken_promise_is_said_to_be_broken(tmp_path: Path) -> None:
    """Sabotage: a ledger of median noise that was opened with a hundredth of its noise."""
    with opened(tmp_path, questions=120, mechanism="median noise", tolerance=0.45) as holdout:
        opening = holdout.opening
    parameters = json.loads(json.dumps(opening.mechanism["parameters"]))
    for epoch in parameters["epochs"]:
        epoch["scale"] //= 100
        epoch["half_width"] /= 5
    broken = replace(opening, mechanism={**opening.mechanism, "parameters": parameters})
    found = rehearse(broken, trials=9)
    assert not found.kept
    assert "BROKEN by sign-attack" in str(found)


def test_a_promise_is_kept_only_if_the_trials_can_tell(tmp_path: Path) -> None:
    with opened(tmp_path, questions=9) as holdout:
        few, enough = holdout.rehearse(trials=6), holdout.rehearse(trials=7)
    assert not few.kept
    assert few.to_dict()["kept"] is False
    assert few.broken == ()
    assert "too few to tell" in str(few)
    assert enough.kept


def test_more_false_than_usual_is_doubtful(tmp_path: Path) -> None:
    """Three false of seven are no proof, and nothing to call a promise that held."""
    with opened(tmp_path, questions=9) as holdout:
        found = holdout.rehearse(trials=7)
    attack = found.attacks[0]
    plain, own = attack.rows
    worse = replace(own, verdict=replace(own.verdict, failures=3))
    doubted = replace(found, attacks=(replace(attack, rows=(plain, worse)), *found.attacks[1:]))
    assert not doubted.kept
    assert doubted.broken == ()
    assert "doubtful against sign-attack" in str(doubted)
    assert "held" not in str(doubted).splitlines()[-1]


@pytest.mark.statistical
def test_checks_beside_noisy_answers_are_attacked_too(tmp_path: Path) -> None:
    terms = {"questions": 40, "mechanism": "median noise"}
    for name, options, attacked in (("a", {}, False), ("b", {"leakage_nats": 9.0}, True)):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name, **terms, options=options) as holdout:
            found = holdout.rehearse(trials=7)
        assert ("guess-bisection" in [attack.name for attack in found.attacks]) == attacked
        assert found.kept, str(found)


def test_large_holdouts_are_rehearsed_by_fewer_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QUICK_CELLS, 10**4)
    monkeypatch.setattr(MOST_PLANNED_CELLS, 10**5)
    with opened(tmp_path, questions=40) as holdout:
        terms = replace(holdout.opening.terms, rows=50_000_000, tolerance=0.002)
        opening = replace(holdout.opening, terms=terms)
    found = rehearse(opening, trials=1)
    assert "too few to tell" in str(found)
    assert "2,500 rows stand for yours, with half-width 0.2828" in str(found)
    assert [attack.name for attack in found.attacks] == [
        "sign-attack",
        "log-odds",
        "guess-bisection",
    ]
    assert found.attacks[0].rows[1].answered == 40


def test_too_few_questions_cannot_be_attacked(tmp_path: Path) -> None:
    with opened(tmp_path, questions=5) as holdout, pytest.raises(InvalidArgument, match="too few"):
        holdout.rehearse()


def test_no_rows_can_rehearse_what_is_too_good(tmp_path: Path) -> None:
    terms: dict[str, Any] = {"questions": 20, "sampling": holdfast.declared(sigma=0.015)}
    with opened(tmp_path, **terms) as holdout, pytest.raises(InvalidArgument, match="was declared"):
        holdout.rehearse()


@pytest.mark.statistical
def test_the_command_line_rehearses_a_ledger(tmp_path: Path) -> None:
    opened(tmp_path, questions=30).close()
    done = command("attack", "--like", "mine", "--trials", "9", cwd=tmp_path)
    assert done.returncode == 0
    assert "Verdict: the promise held" in done.stdout
    assert done.stdout.splitlines()[-1] == "Next: holdfast budget mine"
    assert done.stderr == ""  # progress is for terminals
    missing = command("attack", "--like", "yours", cwd=tmp_path)
    assert missing.returncode == 2
    assert "no ledger 'yours.ledger'" in missing.stderr
