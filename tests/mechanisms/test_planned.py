"""What the planner says of a mechanism is what a ledger opened with it promises and releases."""

from __future__ import annotations

import math

import pytest

import holdfast
from holdfast.data.sampling import Independent
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.kind import Wanted
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
    plan = holdfast.plan(rows=rows, questions=questions, confidence_level=level)
    planned = plan[name].half_width
    assert planned is not None
    wanted = Wanted(rows, None, level, questions, Independent())
    opened = CATALOGUE[name].plan(wanted, {}).tolerance
    assert planned - 1e-7 <= opened <= math.ceil(planned * ROUNDED) / ROUNDED


@pytest.mark.parametrize("name", [kind.name for kind in PROMISING if kind.name != "one look"])
def test_many_rows_are_not_wasted_by_rounding(name: str) -> None:
    """Where half-widths are far below a thousandth they keep two digits."""
    planned = holdfast.plan(rows=10**9, questions=10)[name].half_width
    assert planned is not None
    assert planned < 1e-3
    opened = CATALOGUE[name].plan(Wanted(10**9, None, 0.95, 10, Independent()), {}).tolerance
    assert planned - 1e-7 <= opened <= 1.1 * planned
