"""Margins against roundings are to the safe side, each made large alone (`margins.py`)."""

from __future__ import annotations

import pytest

from tests.theory import margins
from tests.theory.margins import OTHERWISE, examine, is_otherwise, otherwise, places
from tests.theory.rounding_cases import cases


def test_every_margin_of_a_theorem_is_to_the_safe_side() -> None:
    faults, found = examine(cases(rows=1))
    assert not faults
    unseen = [str(each) for each in places() if each not in found and not is_otherwise(each)]
    assert not unseen, "no case sees these: add one to rounding_cases.py, or say why in OTHERWISE"
    gone = OTHERWISE.keys() - set().union(*map(otherwise, places()))
    assert not gone


def test_a_margin_that_is_taken_off_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sabotage: one margin of each kind, with its sign turned round in the source."""
    each = [case for case in cases(rows=1) if case.label in ("variance_line", "bet_lower")]
    assert not examine(each)[0]
    monkeypatch.setattr(margins, "LARGE", [-factor for factor in margins.LARGE])
    assert {fault.partition(": ")[0] for fault in examine(each)[0]} == {
        "variance_line",
        "bet_lower",
    }
