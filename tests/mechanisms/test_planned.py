"""What the planner says of a mechanism is what a ledger opened with it promises and releases."""

from __future__ import annotations

import math

import pytest

import holdfast
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.kind import Wanted
from holdfast.sampling import Independent
from holdfast.theory.planning import methods

PROMISING = [kind for kind in CATALOGUE.values() if kind.theorem is not None]
ROUNDED = 1_000  # some declare the next thousandth


def test_every_promising_mechanism_is_in_the_planner() -> None:
    """The Ladder answers with a step of its own, so it has no half-width for k questions."""
    planned = {method.name for method in methods()}
    assert {kind.name for kind in PROMISING} - planned <= {"ladder"}
    assert len(PROMISING) >= 10


@pytest.mark.parametrize("name", [kind.name for kind in PROMISING if kind.name != "ladder"])
@pytest.mark.parametrize(("rows", "questions"), [(1_000, 1), (20_000, 100), (10**6, 500)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_the_half_width_that_is_opened(name: str, rows: int, questions: int, level: float) -> None:
    if name == "one look":
        questions = 1  # the planner shows what a single look costs
    plan = holdfast.plan(rows=rows, questions=questions, confidence_level=level)
    planned = plan[name].half_width
    assert planned is not None
    wanted = Wanted(rows, None, level, questions, Independent())
    opened = CATALOGUE[name].plan(wanted, {}).tolerance
    if name == "one look":  # the planner's is the exact formula, without room for the grid
        planned += 2**-28
    assert planned - 1e-7 <= opened <= math.ceil(planned * ROUNDED) / ROUNDED
