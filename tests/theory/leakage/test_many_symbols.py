"""Theorem S, grades and adjusted p in worlds in which every test can be made: exact counts.

The sample is one of N data sets, all equally likely; what matters of a history is how many it
leaves, the leakage and the rounds left. The best of all analysts is found by backward induction.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.leakage.claim_levels import (
    GRADE_SHARES,
    GRADES,
    adjusted_p,
    grade_log_levels,
    lookup_log_weight,
    running_adjusted_p,
)

LAWS = ("grade_log_levels", "lookup_log_weight", "running_adjusted_p")

ONE = Fraction(1)


@dataclass(frozen=True)
class Symbols:
    """Checks with these weights, the last symbol claiming nothing; any claims may be false.

    `free` is a symbol that is not charged; a symbol of weight 0 is one that nobody weighed.
    """

    N: int
    beta: Fraction
    weights: tuple[Fraction, ...]
    free: int | None = None

    def failures(self, rounds: int) -> int:
        return self._worst(self.N, ONE, rounds)

    @functools.cache  # noqa: B019 - a few worlds, for the time of a test
    def _worst(self, left: int, K: Fraction, rounds: int) -> int:
        if not rounds or not left:
            return 0
        claiming = range(len(self.weights) - 1)
        best = 0
        for many in range(len(self.weights)):
            for false in combinations(claiming, many):
                weight = sum((self.weights[a] for a in false), Fraction(0))
                failing = min(left, math.floor(self.N * self.beta * weight / K))
                told = [a for a in range(len(self.weights)) if a not in false]
                for parts in splits(left - failing, len(told)):
                    later = sum(
                        self._worst(part, K / self._charged(a), rounds - 1)
                        for a, part in zip(told, parts, strict=True)
                    )
                    best = max(best, failing + later)
        return best

    def _charged(self, symbol: int) -> Fraction:
        """What K is divided by; a symbol without a weight cannot be charged."""
        return ONE if symbol == self.free else self.weights[symbol] or ONE


def splits(left: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (left,)
        return
    for first in range(left + 1):
        for rest in splits(left - first, parts - 1):
            yield (first, *rest)


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
THREE = (HALF, QUARTER, QUARTER)


@pytest.mark.parametrize("beta", [QUARTER, HALF])
@pytest.mark.parametrize("weights", [THREE, (QUARTER, QUARTER, HALF), (HALF, HALF)])
def test_no_analyst_has_more_false_claims_than_beta(
    beta: Fraction, weights: tuple[Fraction, ...]
) -> None:
    world = Symbols(16, beta, weights)
    assert 0 < world.failures(3) <= world.beta * world.N


@pytest.mark.parametrize("free", [0, 1, 2])
def test_sabotage_every_symbol_is_charged(free: int) -> None:
    """Those that claim nothing too."""
    world = Symbols(16, HALF, THREE, free=free)
    assert world.failures(3) > world.beta * world.N


def test_sabotage_a_symbol_that_nobody_weighed() -> None:
    world = Symbols(16, HALF, (HALF, HALF, Fraction(0)))
    assert world.failures(3) > world.beta * world.N


# --- Adjusted p ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Adjusted:
    """False claims, shown at beta; she wants one beside which beta' or less is shown."""

    N: int
    beta: Fraction
    wanted: Fraction
    running: bool
    weights: tuple[Fraction, ...] = (QUARTER, HALF, Fraction(3, 4))

    def reached(self, rounds: int) -> int:
        return self._worst(self.N, ONE, rounds)

    @functools.cache  # noqa: B019 - a few worlds, for the time of a test
    def _worst(self, left: int, K: Fraction, rounds: int) -> int:
        if not rounds or not left:
            return 0
        best = 0
        for u in self.weights:
            reached = min(left, math.floor(self.N * self.wanted * u / K))
            most = min(left, math.floor(self.N * self.beta * u / K)) - reached
            for shown in range(most + 1):  # above beta': the loop goes on
                silent = self._worst(left - reached - shown, K / (1 - u), rounds - 1)
                # After it the running maximum is above beta' for ever.
                later = 0 if self.running else self._worst(shown, K / u, rounds - 1)
                best = max(best, reached + silent + later)
        return best


def test_the_running_maximum_holds_at_every_level() -> None:
    for wanted in (Fraction(1, 8), QUARTER, Fraction(3, 8), HALF):
        assert 0 < Adjusted(64, HALF, wanted, running=True).reached(3) <= 64 * wanted


def test_sabotage_adjusted_p_without_its_running_maximum() -> None:
    """More than .33 of the data sets at beta' = .25."""
    assert Adjusted(64, HALF, QUARTER, running=False).reached(3) >= 0.33 * 64


@given(
    st.lists(st.floats(0, 1), max_size=8),
    st.floats(0, 0.1),
)
def test_what_is_shown_never_falls_and_is_never_below_its_own(
    adjusted: list[float], described: float
) -> None:
    shown = running_adjusted_p(adjusted, described)
    assert shown == sorted(shown)
    assert all(star >= min(1.0, own + described) for star, own in zip(shown, adjusted, strict=True))


# --- Grades --------------------------------------------------------------------------------------

_log = st.floats(-30, 0)


@given(_log, st.floats(1e-4, 0.999), st.floats(0, 20), st.floats(0, 0.02))
def test_a_grade_is_no_better_than_the_adjusted_p(
    log_p: float, weight: float, nats: float, spent: float
) -> None:
    """V_a <= 1: what has grade a has p_adj <= b_a."""
    betas = [0.05 * grade for grade in GRADES]
    log_spent = math.log(spent) if spent else -math.inf
    levels = grade_log_levels(
        [math.log(beta) for beta in betas], log_spent, GRADE_SHARES, weight, nats
    )
    assert levels == sorted(levels)
    grade = next((place for place, level in enumerate(levels) if log_p <= level), None)
    if grade is not None:
        assert adjusted_p(log_p, spent, weight, nats) <= betas[grade] * (1 + 1e-9)
        assert betas[grade] > spent


def test_grades_rise_and_their_shares_sum_to_one() -> None:
    with pytest.raises(InvalidArgument, match="strictest first"):
        grade_log_levels([-3.0, -4.0], -math.inf, [0.5, 0.5], 0.5, 0.0)
    with pytest.raises(InvalidArgument, match=r"sum to 0\.5"):
        grade_log_levels([-3.0], -math.inf, [0.5], 0.5, 0.0)
    assert math.fsum(GRADE_SHARES) == pytest.approx(1.0, abs=1e-15)


# Grades are symbols: with weights u v_a they are those of Theorem S.
GRADED = (HALF * QUARTER, HALF * Fraction(3, 4), HALF)


def test_graded_claims_are_claims_with_many_symbols() -> None:
    world = Symbols(16, HALF, GRADED)
    assert 0 < world.failures(3) <= world.beta * world.N


@pytest.mark.parametrize("free", [0, 1])
def test_sabotage_a_grade_that_is_told_and_not_charged(free: int) -> None:
    world = Symbols(16, HALF, GRADED, free=free)
    assert world.failures(3) > world.beta * world.N


@pytest.mark.parametrize("columns", [1, 2, 5, 20, 300])
def test_what_columns_miss_has_weights_that_sum_to_one(columns: int) -> None:
    """Over all sets of columns that may hold missing values; twin: sets of one size not counted."""

    def total(sets: bool) -> Fraction:
        return sum(
            (
                (math.comb(columns, missing) if sets else 1)
                * Fraction(math.exp(lookup_log_weight(columns, missing)))
                for missing in range(columns + 1)
            ),
            Fraction(0),
        )

    assert 1 - Fraction(1, 10**9) < total(sets=True) <= 1
    assert (total(sets=False) < total(sets=True)) is (columns > 1)
