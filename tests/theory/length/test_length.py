"""Described questions: lengths never below the truth, Theorem O where it is tight, symbols."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.length.levels import (
    ROUNDED_SYMBOLS,
    any_order_millibits,
    coexistence_log_charge,
    count_symbols,
    described_log_failure,
    described_log_level,
    free_threshold_radius,
    grid_symbols,
    group_symbols,
    late_log_level,
    option_millibits,
    rounded_half_width,
    threshold_events,
    whole_grid_symbols,
)
from holdfast.theory.length.words import (
    CLASS_WEIGHTS,
    DECIMAL_DIGITS,
    GRID_STEPS,
    PRODUCTIONS,
    ROUND_NUMBERS,
    option,
    share,
)
from tests.theory.coverage import LEVELS, too_many

LAWS = (
    "any_order_millibits",
    "coexistence_log_charge",
    "count_symbols",
    "described_log_failure",
    "described_log_level",
    "free_threshold_radius",
    "grid_symbols",
    "group_symbols",
    "late_log_level",
    "option_millibits",
    "rounded_half_width",
    "threshold_events",
    "whole_grid_symbols",
)

LISTS = {
    "grid steps": GRID_STEPS,
    "decimal digits": DECIMAL_DIGITS,
    "round numbers": ROUND_NUMBERS.values(),
    **{name: row.values() for name, row in PRODUCTIONS.items()},
}


# --- Lengths -----------------------------------------------------------------------------------


@given(a=st.integers(1, 10**15), b=st.integers(1, 10**15))
def test_an_option_costs_the_least_integer_that_covers_it(a: int, b: int) -> None:
    m = option_millibits(a, b)
    assert b**1000 * 2 ** max(0, -m) <= a**1000 * 2 ** max(0, m)
    assert b**1000 * 2 ** max(0, 1 - m) > a**1000 * 2 ** max(0, m - 1)


@given(k=st.integers(0, 400), off=st.integers(-1, 1))
def test_a_power_of_two_is_decided_by_integers_where_logarithms_cannot(k: int, off: int) -> None:
    # 2^k + 1 and 2^k - 1 have the same logarithm in doubles, and not the same cost.
    b = max(1, 2**k + off)
    m = option_millibits(1, b)
    assert b**1000 <= 2**m
    assert b == 1 or b**1000 > 2 ** (m - 1)


@given(k=st.integers(0, 150))
def test_the_credit_of_an_order_is_never_too_much(k: int) -> None:
    credit = -any_order_millibits(k)
    assert 2**credit <= math.factorial(k) ** 1000 < 2 ** (credit + 1)


@pytest.mark.parametrize("name", LISTS)
def test_every_row_of_the_table_sums_to_at_most_one(name: str) -> None:
    row = LISTS[name]
    assert all(isinstance(thousandths, int) and thousandths > 0 for thousandths in row)
    assert sum(row) <= 1000


def test_what_the_table_lists_is_complete() -> None:
    assert len(GRID_STEPS) == 12
    assert len(DECIMAL_DIGITS) == 17
    assert len(ROUND_NUMBERS) == 48
    assert sorted(PRODUCTIONS["lower letter"]) == [chr(ord("a") + i) for i in range(26)]
    assert CLASS_WEIGHTS["v"].keys() == CLASS_WEIGHTS["w"].keys()
    assert option("part", "mean") == option_millibits(520, 1000)
    assert share("part", "mean") == Fraction(13, 25)


# --- Theorem O ---------------------------------------------------------------------------------


@given(log_beta=st.floats(-60, 0), millibits=st.integers(0, 10**6), nats=st.floats(0, 1000))
def test_levels_are_rounded_down(log_beta: float, millibits: int, nats: float) -> None:
    with mpmath.workdps(40):
        exact = mpmath.mpf(log_beta) - mpmath.log(2) * millibits / 1000
        assert described_log_level(log_beta, millibits) <= exact
        assert late_log_level(log_beta, millibits, nats) <= exact - nats
        assert described_log_level(log_beta, millibits) >= exact * (1 + 1e-14) - 1e-300


@given(log_beta=st.floats(-20, 0), shares=st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_weights_that_obey_kraft_fail_with_at_most_beta(log_beta: float, shares: list[int]) -> None:
    lengths = [option_millibits(share, sum(shares)) for share in shares]
    assert described_log_failure(log_beta, lengths) <= log_beta + 1e-12


def test_a_dictionary_with_nothing_in_it_never_fails() -> None:
    assert described_log_failure(-1.0, []) == -math.inf
    with pytest.raises(InvalidArgument, match="millibits"):
        described_log_level(-1.0, -1)


def _one_of_all_fails(beta: float, trials: int, forgotten: int) -> NDArray[np.bool_]:
    """Questions that fail on disjoint samples; so many thousandths of each length are forgotten.

    Each of 40 questions, two of each weight 1/4, 1/8, ..., fails on its own part of the samples,
    with exactly its level: the union bound is reached.
    """
    lengths = [1000 * (place // 2 + 2) for place in range(40)]
    levels = [math.exp(described_log_level(math.log(beta), m - forgotten)) for m in lengths]
    drawn = np.random.default_rng(21).random(trials)
    return np.asarray(drawn < sum(levels))


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_theorem_o_is_reached_and_half_a_bit_less_breaks_it(beta: float, trials: int) -> None:
    assert not too_many(_one_of_all_fails(beta, trials, forgotten=0), beta)
    assert too_many(_one_of_all_fails(beta, trials, forgotten=500), beta)


def _late_dictionary_fails(beta: float, trials: int, nats: float) -> NDArray[np.bool_]:
    """A history names one of 8 equal parts of the samples; a dictionary about that part is opened.

    Its events fail on disjoint sets inside the part, so that each fails with exactly its level for
    a history that is fixed, and eight times as often for the one that was seen.
    """
    lengths = [1000, 2000, 3000, 3000]
    levels = [math.exp(late_log_level(math.log(beta), m, nats)) for m in lengths]
    return np.asarray(np.random.default_rng(43).random(trials) < 8 * sum(levels))


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_a_late_dictionary_pays_for_its_history(beta: float, trials: int) -> None:
    assert not too_many(_late_dictionary_fails(beta, trials, nats=math.log(8)), beta)
    assert too_many(_late_dictionary_fails(beta, trials, nats=math.log(4)), beta)


def _best_looking_of_all(beta: float, trials: int, bits: float) -> NDArray[np.bool_]:
    """256 fair coins of 400 rows; the analyst sees all, and reports the most surprising one."""
    n, coins = 400, 256
    generator = np.random.default_rng(23)
    log_p = described_log_level(math.log(beta), round(1000 * bits))
    radius = BoundedMean(n).radius(log_p)
    failed = [
        np.abs(generator.binomial(n, 0.5, (1000, coins)) / n - 0.5).max(axis=1) > radius
        for _ in range(trials // 1000)
    ]
    return np.concatenate(failed)


@pytest.mark.statistical
def test_the_most_surprising_of_all_described_questions_is_still_covered() -> None:
    assert not too_many(_best_looking_of_all(0.05, 10_000, bits=8.0), 0.05)
    assert too_many(_best_looking_of_all(0.05, 10_000, bits=3.0), 0.05)


# --- Coexistence -------------------------------------------------------------------------------


@given(n=st.integers(1, 300), alpha=st.floats(0, 1), theta=st.fractions(0, 1))
def test_no_more_counts_than_said_are_within_the_half_width(
    n: int, alpha: float, theta: Fraction
) -> None:
    near = sum(abs(Fraction(count, n) - theta) <= Fraction(alpha) for count in range(n + 1))
    assert near <= count_symbols(n, alpha)
    assert count_symbols(n, alpha) <= group_symbols(n, 0.1, alpha)


@given(n=st.integers(1, 300), steps=st.integers(0, 20))
def test_so_many_counts_are_reached(n: int, steps: int) -> None:
    alpha = Fraction(steps, 2 * n)
    inside = [count for count in range(n + 1) if Fraction(count, n) <= 2 * alpha]  # theta = alpha
    assert len(inside) == min(n, steps) + 1
    assert count_symbols(n, math.nextafter(float(alpha), 1.0)) >= len(inside)


@given(alpha=st.floats(0, 1), pitch=st.floats(0.01, 1), theta=st.floats(-5, 5))
def test_no_more_cells_than_said_meet_the_window(alpha: float, pitch: float, theta: float) -> None:
    low, high = Fraction(theta) - Fraction(alpha), Fraction(theta) + Fraction(alpha)
    h = Fraction(pitch)
    cells = math.floor(high / h + Fraction(1, 2)) - math.floor(low / h + Fraction(1, 2)) + 1
    assert cells <= grid_symbols(alpha, pitch)
    assert grid_symbols(alpha, pitch, spread=True) == 64 * grid_symbols(alpha, pitch)


@given(alpha=st.floats(1e-6, 1), theta=st.floats(-1, 1), place=st.floats(-1, 1))
def test_a_rounded_answer_is_one_of_five_and_within_its_half_width(
    alpha: float, theta: float, place: float
) -> None:
    assert grid_symbols(alpha, alpha / 2) == ROUNDED_SYMBOLS
    exact, pitch = Fraction(theta) + Fraction(place) * Fraction(alpha), Fraction(alpha) / 2
    shown = math.floor(exact / pitch + Fraction(1, 2)) * pitch
    assert abs(shown - Fraction(theta)) <= Fraction(rounded_half_width(alpha))


def test_a_whole_grid_has_a_factor_for_each_number_shown() -> None:
    assert [whole_grid_symbols(64, shown) for shown in (1, 2, 3)] == [64, 64**2, 64**3]


def _failed_after_a_described_answer(beta: float, trials: int, symbols: int) -> NDArray[np.bool_]:
    """A described count, uniform on N values, is shown; the question chosen by it then fails.

    Question s fails only where the count is s, with the level that is left: so each fixed question
    fails with probability beta/K, and the one that is chosen after the answer with N beta/K.
    """
    n, alpha = 64, 0.125
    values = count_symbols(n, alpha)
    level = beta * math.exp(-coexistence_log_charge(symbols))
    generator = np.random.default_rng(29)
    count = generator.integers(values, size=trials)
    chosen = count  # the analyst asks the question that fails where the count is what it is
    return np.asarray((count == chosen) & (generator.random(trials) < level * values))


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_the_charge_for_a_described_answer_is_reached(beta: float, trials: int) -> None:
    whole = count_symbols(64, 0.125)
    assert not too_many(_failed_after_a_described_answer(beta, trials, whole), beta)
    assert too_many(_failed_after_a_described_answer(beta, trials, whole * 2 // 3), beta)


# --- One free threshold ------------------------------------------------------------------------


def _all_thresholds(beta: float, trials: int, n: int, scale: float) -> NDArray[np.bool_]:
    """sup over all c of |F_n(c) - F(c)| for a continuous f, against the radius times `scale`."""
    generator = np.random.default_rng(31)
    radius = scale * free_threshold_radius(n, math.log(beta))
    steps = np.arange(n + 1) / n
    failed = []
    for _ in range(trials // 1000):
        points = np.sort(generator.random((1000, n)), axis=1)
        above = (steps[1:] - points).max(axis=1)
        below = (points - steps[:-1]).max(axis=1)
        failed.append(np.maximum(above, below) > radius)
    return np.concatenate(failed)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials", "scale"), [(0.05, 20_000, 0.9), (0.001, 40_000, 0.8)])
def test_all_thresholds_hold_at_once(beta: float, trials: int, scale: float) -> None:
    assert not too_many(_all_thresholds(beta, trials, 200, scale=1.0), beta)
    assert too_many(_all_thresholds(beta, trials, 200, scale=scale), beta)


def _both_directions(beta: float, trials: int, events: int) -> NDArray[np.bool_]:
    """Below and above for all c, where f is known in .8 of the rows, at level beta/events each.

    f is uniform on [0, .8] and D(t) the deviation of P[f <= t]: below fails where |D| is large,
    above where |D(.8) - D| is.
    """
    n, known = 200, 0.8
    generator = np.random.default_rng(37)
    radius = free_threshold_radius(n, math.log(beta / events))
    steps = np.arange(n + 1) / n
    failed = []
    for _ in range(trials // 1000):
        points = np.sort(generator.random((1000, n)), axis=1)
        inside = points < known
        end = inside.mean(axis=1) - known
        high = np.where(inside, steps[1:] - points, 0.0).max(axis=1, initial=0.0)
        low = np.where(inside, steps[:-1] - points, 0.0).min(axis=1, initial=0.0)
        high, low = np.maximum(high, end), np.minimum(low, end)
        below, above = np.maximum(high, -low), np.maximum(high - end, end - low)
        failed.append(np.maximum(below, above) > radius)
    return np.concatenate(failed)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 20_000), (0.01, 40_000)])
def test_where_f_may_be_missing_both_directions_need_two_events(beta: float, trials: int) -> None:
    events = threshold_events(conditioned=False, may_be_missing=True)
    assert events == threshold_events(conditioned=True, may_be_missing=False) == 2
    assert not too_many(_both_directions(beta, trials, events), beta)
    assert too_many(_both_directions(beta, trials, events=1), beta)


def test_without_missing_values_both_directions_are_one_event() -> None:
    assert threshold_events(conditioned=False, may_be_missing=False) == 1
    share = Fraction(3, 7)
    assert abs(share - Fraction(1, 2)) == abs((1 - share) - Fraction(1, 2))
