"""Gates: what they cost, what they show by exact sums, and the table of section 11.4."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.theory.direct.paired import smallest_shown_difference
from holdfast.theory.leakage.claim_levels import (
    claim_log_level,
)
from holdfast.theory.leakage.gates import (
    declared_gate_prior,
    gate_gain,
    gate_power,
    gate_shows,
    gates_log_charge,
    open_gate_prior,
)
from holdfast.theory.leakage.nats import (
    LeakageAccount,
    confirmed_log_charge,
    surprise_log_charge,
)
from tests.theory.direct.worlds import World

LAWS = (
    "declared_gate_prior",
    "gate_power",
    "gates_log_charge",
    "open_gate_prior",
)

LOG_03 = math.log(0.03)
# One unit in the last digit that the tables print.
DIGIT = 1.0e-4


@given(k=st.integers(1, 500))
def test_none_shown_costs_less_than_a_nat(k: int) -> None:
    assert gates_log_charge(k, [False] * k) < 1.0


def test_the_candidate_after_the_last_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="3 candidates and 2 were declared"):
        gates_log_charge(2, [False] * 3)
    with pytest.raises(InvalidArgument, match="shown"):
        declared_gate_prior(2, 2)


@given(symbols=st.lists(st.booleans(), max_size=20), more=st.integers(0, 20))
def test_gates_cost_their_symbols_one_by_one(symbols: list[bool], more: int) -> None:
    k, account = max(1, len(symbols) + more), LeakageAccount()
    for position, symbol in enumerate(symbols):
        e = declared_gate_prior(sum(symbols[:position]), k)
        assert 0 < e < 1
        account = account.charge(surprise_log_charge(e, 0.0) if symbol else confirmed_log_charge(e))
        assert 0 < open_gate_prior(sum(symbols[:position]), position) < 1
    assert gates_log_charge(k, symbols) == pytest.approx(account.nats, abs=1e-12)


@pytest.mark.parametrize("p", [0.2, 0.01, 1e-6])
@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("alike", [True, False])
def test_a_candidate_that_is_not_better_is_shown_with_at_most_p(
    p: float, margin: float, *, alike: bool
) -> None:
    n = 30
    for differing in (Fraction(1, 5), Fraction(3, 5), Fraction(1)):
        better = (differing + Fraction(margin)) / 2
        world = World(n, (differing - better, 1 - differing, better))
        shown = math.fsum(
            float(weight)
            for (c, _, b), weight in world.samples()
            if gate_shows(n, b, c, math.log(p), margin=margin, alike=alike, second_moment=0.3)
        )
        assert shown <= p


@pytest.mark.parametrize("p", [0.2, 0.01, 1e-6])
def test_sabotage_twice_the_level_shows_too_much(p: float) -> None:
    """The sign test's level is used up where the number of differing rows suits it."""
    worst = 0.0
    for m in range(1, 41):
        tails = binom.sf(np.arange(m) - 1, m, 0.5)
        shows = [gate_shows(m, b, m - b, math.log(2 * p), alike=True) for b in range(m)]
        worst = max(worst, float(tails[shows].max(initial=0.0)))
    assert worst > p


def test_the_gain_found_in_four_of_five_cases() -> None:
    level = claim_log_level(LOG_03, declared_gate_prior(0, 100), 0.0)
    gain = gate_gain(1_000, 0.05, level)
    assert gain is not None
    assert gain == pytest.approx(0.02998, abs=1e-5)  # with .03 it is 80.09 %, by mpmath
    assert gate_power(1_000, 0.05, gain, level) == pytest.approx(0.8, abs=1e-6)
    assert gate_gain(1_000, 0.001, level) is None
    assert gate_power(1_000, 0.05, 0.0, level) <= math.exp(level)


@pytest.mark.parametrize(
    ("n", "k", "printed", "last", "bonferroni"),
    [
        (1_000, 100, (0.026, 0.040, None), 0.028, 0.024),
        (5_000, 200, (0.0116, 0.0196, 0.0284), 0.0124, 0.0112),
        (10_000, 500, (0.0088, 0.0150, 0.0224), 0.0094, 0.0084),
        (50_000, 500, (0.0039, 0.0067, 0.0101), 0.0041, 0.0038),
    ],
)
def test_smallest_differences_shown_as_printed(
    n: int, k: int, printed: tuple[float | None, ...], last: float, bonferroni: float
) -> None:
    differing = round(0.05 * n)

    def shown(symbols: list[bool]) -> float | None:
        prior = declared_gate_prior(sum(symbols), k)
        level = claim_log_level(LOG_03, prior, gates_log_charge(k, symbols))
        return smallest_shown_difference(n, differing, level)

    for promotions, expected in zip((0, 3, 10), printed, strict=True):
        found = shown([True] * promotions)
        assert found == (None if expected is None else pytest.approx(expected, abs=DIGIT / 2))
    assert shown([False] * (k - 1)) == pytest.approx(last, abs=DIGIT / 2)
    fixed = smallest_shown_difference(n, differing, math.log(0.05 / k))
    assert fixed == pytest.approx(bonferroni, abs=DIGIT / 2)
