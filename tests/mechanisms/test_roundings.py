"""The mechanisms round to the safe side: each rounding made large, one at a time.

Half-widths and charges may only rise (tests/theory/roundings.py).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.question.declaring import sub_gaussian
from tests.mechanisms.rounding_cases import cases
from tests.theory.roundings import Case, examine

RNG = np.random.default_rng(25)
ROWS = 3000
TABLE = pl.DataFrame(
    {
        "x": RNG.random(ROWS),
        "late": RNG.random(ROWS) < 0.3,
        "gain": RNG.normal(0.0, 0.4, ROWS),
        "group": RNG.choice(["a", "b"], ROWS),
    }
)
SCHEMA = {"x": (0.0, 1.0), "gain": sub_gaussian(0.4)}
ROOMS = ("mechanisms/", "papers/guess_and_check.py")
TIMES = 2.0**44  # so that grids and steps of a tolerance notice it


def played(mechanism: str, *asked: str, **declared: Any) -> tuple[float, ...]:
    """The half-widths of a new ledger's answers, and what they gave away."""
    facts = {"questions": 5, "schema": SCHEMA, **declared}
    with (
        tempfile.TemporaryDirectory() as folder,
        holdfast.open(
            TABLE, ledger=Path(folder) / "t.ledger", mechanism=mechanism, **facts
        ) as holdout,
    ):
        numbers = [holdout.ask(text).half_width for text in asked]
        budget = holdout.budget
        numbers += [budget.nats] + ([budget.privacy.epsilon] if budget.privacy else [])
        return tuple(numbers)


def sessions() -> Iterator[Case]:
    """One or more of each mechanism."""
    mean, share, gain = "mean(x)", "mean(late)", "mean(gain)"
    plays: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
        ("bounded noise", (mean, share, gain), {}),
        ("bounded noise", (mean, share), {"questions": None, "tolerance": 0.08}),
        ("bounded noise", (mean,), {"sampling": holdfast.m_dependent(2)}),
        # A half-width is declared, or no scale is: beside a scale the plan is rounded up to few
        # digits only where it is too narrow for that column, and any half-width is sound.
        ("rounding", (mean, share), {"schema": {"x": SCHEMA["x"]}}),
        ("rounding", (mean, share, gain), {"tolerance": 0.045}),
        ("typical laplace", (mean, share, gain), {}),
        ("typical gaussian", (mean, share, gain), {}),
        ("gaussian", (mean, share), {}),
        ("median noise", (mean, share), {}),
        ("halting guess and check", (mean, share), {}),
        ("one look", (mean,), {}),
        ("one look", (gain,), {}),
        ("private laplace", (mean, share), {"private": True}),
        ("private gaussian", (mean, share), {"private": True}),
    ]
    for mechanism, asked, declared in plays:
        run = partial(played, mechanism, *asked, **declared)
        safe = (1,) * len(run())
        yield Case(f"{mechanism}: {', '.join(asked)}", run, safe, TIMES, 0.0)


def test_every_rounding_of_an_offer_an_answer_and_a_plan_is_to_the_safe_side() -> None:
    faults, found = examine(list(cases()), 1, ROOMS, patience=30)
    assert not faults
    assert len(found) >= 70


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::holdfast.errors.SecondLedger")
def test_every_rounding_is_to_the_safe_side_in_every_session() -> None:
    faults, found = examine(list(sessions()), 10**9, ROOMS)
    assert not faults
    assert len(found) >= 16
