"""`mechanism="auto"`: the narrower of bounded and median noise by the planner, and why it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.data.sampling import Independent, clustered, m_dependent
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import choose
from holdfast.mechanisms.terms import Terms
from tests.holdout.tables import BOUNDS
from tests.mechanisms.sessions import TABLE


def wanted(rows: int, questions: int | None, **changed: Any) -> Terms:
    declared = {"tolerance": None, "confidence_level": 0.95, "sampling": Independent()}
    return Terms(rows=rows, questions=questions, **{**declared, **changed})


@pytest.mark.parametrize(
    ("rows", "questions", "level"),
    [(2_000, 10, 0.95), (2_000, 2_000, 0.95), (20_000, 200, 0.95), (20_000, 200, 0.999)],
)
def test_it_is_the_narrower_one_of_the_planner(rows: int, questions: int, level: float) -> None:
    kind, why = choose(wanted(rows, questions, confidence_level=level), {})
    try:
        plan = holdfast.plan(
            rows=rows, questions=questions, confidence_level=level, described="off"
        )
        widths = {name: plan[name].half_width or 0.5 for name in ("bounded noise", "median noise")}
    except holdfast.errors.ToleranceTooTight:
        widths = {"bounded noise": 0.5, "median noise": 0.5}
    assert widths[kind.name] == min(widths.values())
    assert why is not None
    assert why.startswith(kind.name)
    for width in widths.values():
        assert ("0.5 or more" if width == 0.5 else f"{width:.4g}") in why


def test_both_are_chosen_somewhere() -> None:
    assert choose(wanted(20_000, 20), {}).kind.name == "bounded noise"
    assert choose(wanted(20_000, 2_000), {}).kind.name == "median noise"


def test_what_median_noise_cannot_do_is_left_to_bounded_noise() -> None:
    kind, why = choose(wanted(20_000, None), {})
    assert kind.name == "bounded noise"
    assert "the number of questions is open" in (why or "")
    for sampling in (clustered("x", sizes="fixed", size=4.0), m_dependent(3)):
        kind, why = choose(wanted(20_000, 5_000, sampling=sampling), {})
        assert kind.name == "bounded noise"
        assert "needs independent rows" in (why or "")


def test_a_tolerance_that_neither_has_is_left_to_bounded_noise() -> None:
    kind, why = choose(wanted(20_000, 2_000, tolerance=0.02), {})
    assert kind.name == "bounded noise"
    assert "neither" in (why or "")
    assert choose(wanted(20_000, 2_000, tolerance=0.2), {}).kind.name == "median noise"


def test_it_has_no_options() -> None:
    with pytest.raises(InvalidArgument, match="auto has no options"):
        choose(wanted(20_000, 20), {"order": 2})


@pytest.mark.parametrize(("questions", "chosen"), [(20, "bounded noise"), (2_000, "median noise")])
def test_a_ledger_keeps_the_choice_and_says_why(
    tmp_path: Path, questions: int, chosen: str
) -> None:
    path = tmp_path / "m.ledger"
    with holdfast.open(
        TABLE, ledger=path, mechanism="auto", described="off", questions=questions, schema=BOUNDS
    ) as holdout:
        assert holdout.opening.mechanism["name"] == chosen
        why = holdout.opening.mechanism["why"]
        assert why in holdout.explain()
        assert why in holdout.budget.details
        assert holdout.budget.to_dict()["why"] == why
        first = holdout.ask("avg(late)")
    for again in ("auto", chosen, None):
        with holdfast.open(TABLE, ledger=path, mechanism=again) as holdout:
            assert holdout.ask("avg(late)").value == first.value
    other = "median noise" if chosen == "bounded noise" else "bounded noise"
    with pytest.raises(InvalidArgument, match=f"mechanism is '{other}'"):
        holdfast.open(TABLE, ledger=path, mechanism=other)


def test_what_was_named_is_not_chosen(tmp_path: Path) -> None:
    path = tmp_path / "m.ledger"
    with holdfast.open(TABLE, ledger=path, questions=20, described="off") as holdout:
        assert "why" not in holdout.opening.mechanism
        assert holdout.budget.to_dict()["why"] is None
        assert "chosen: " not in holdout.budget.details
        holdout.ask("avg(late)")  # before that it could be declared anew
    with pytest.raises(InvalidArgument, match="mechanism is 'auto'"):
        holdfast.open(TABLE, ledger=path, mechanism="auto")
