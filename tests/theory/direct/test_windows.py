"""What is not looked at counts against a bound: with narrower windows none is sharper."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.theory.direct.correlation import correlation_by_bets
from holdfast.theory.direct.difference import share_difference_lower
from holdfast.theory.direct.paired import paired_score_lower
from holdfast.theory.direct.spread import enclosed_variance_by_bets
from tests import seam

X = [((31 * row) % 97) / 96 for row in range(97)]
Y = [((31 * row) % 97) / 200 + ((59 * row) % 97) / 200 for row in range(97)]

# How many nats or terms are looked at, fewer of them, and a lower end.
WINDOWS: dict[str, tuple[str, float, Callable[[], float]]] = {
    "many rows differ": (seam.SCORES_LOOKED_AT, 2.0, lambda: paired_score_lower(60, 30, 9, -3.0)),
    "few rows differ": (seam.SCORES_LOOKED_AT, 2.0, lambda: paired_score_lower(100, 20, 3, -2.0)),
    "shares": (seam.SHARES_LOOKED_AT, -2.0, lambda: share_difference_lower(40, 30, 50, 10, -3.0)),
    "rare shares": (
        seam.SHARES_LOOKED_AT,
        -1.0,
        lambda: share_difference_lower(90, 9, 50, 1, -2.0),
    ),
    "frequent shares": (
        seam.SHARES_LOOKED_AT,
        -1.0,
        lambda: share_difference_lower(50, 49, 90, 81, -2.0),
    ),
    "variance": (seam.BETS_LOOKED_AT, 0.1, lambda: enclosed_variance_by_bets(X, X, -3.0).low),
    "correlation": (seam.BETS_LOOKED_AT, 0.1, lambda: correlation_by_bets(X, Y, -3.0).low),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_narrower_window_makes_no_bound_sharper(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    constant, fewer, lower = WINDOWS[name]
    before = lower()
    monkeypatch.setattr(constant, fewer)
    assert lower() < before
