"""Verdicts of the interval of a difference."""

from __future__ import annotations

import pytest

from holdfast.ledger.entries import verdict_of
from holdfast.theory.base.intervals import Interval


@pytest.mark.parametrize(
    ("ends", "higher", "lower"),
    [
        ((0.1, 0.2), "better", "worse"),
        ((-0.2, -0.1), "worse", "better"),
        ((-0.1, 0.1), "cannot tell", "cannot tell"),
        ((0.0, 0.1), "cannot tell", "cannot tell"),
        ((-0.1, 0.0), "cannot tell", "cannot tell"),
    ],
)
def test_a_verdict_goes_by_the_sign_that_is_better(
    ends: tuple[float, float], higher: str, lower: str
) -> None:
    assert verdict_of(Interval(*ends), "higher") == higher
    assert verdict_of(Interval(*ends), "lower") == lower
    assert verdict_of(Interval(*ends), None) is None
