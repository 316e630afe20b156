"""What a claim says about a variance: true of every population, attained by the worst one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import Bernstein
from holdfast.theory.base.propagation import (
    condition_variance,
    group_variance,
    same_cost_tolerance,
    share_variance,
)
from tests.theory.coverage import LEVELS, too_many

LAWS = ("condition_variance", "group_variance", "same_cost_tolerance", "share_variance")

CHANCE = st.fractions(0, 1, max_denominator=1000)
SHARE = st.floats(0, 1)


@given(chances=st.lists(CHANCE, min_size=1, max_size=8), below=SHARE, above=SHARE)
def test_the_variance_of_every_condition_is_below(
    chances: list[Fraction], below: float, above: float
) -> None:
    """Independent rows need not be alike: what is bounded is the average of p(1 - p)."""
    average = sum(chances, Fraction(0)) / len(chances)
    variance = sum((p * (1 - p) for p in chances), Fraction(0)) / len(chances)
    low = max(0.0, math.nextafter(float(average), -1.0) - below)
    high = min(1.0, math.nextafter(float(average), 2.0) + above)
    assert variance <= condition_variance(low, high)
    assert variance <= share_variance(high)


@given(low=SHARE, high=SHARE, part=CHANCE)
def test_a_condition_attains_its_bound(low: float, high: float, part: Fraction) -> None:
    assume(low <= high)
    bound = condition_variance(low, high)
    inner = Fraction(low) + part * (Fraction(high) - Fraction(low))
    assert inner * (1 - inner) <= bound
    # Of the ends the one nearer to 1/2, unless 1/2 itself is between them.
    half = Fraction(1, 2)
    nearer = min(Fraction(low), Fraction(high), key=lambda x: abs(x - half))
    worst = half if low <= half <= high else nearer
    exact = worst * (1 - worst)
    assert float(exact) == pytest.approx(bound, rel=1e-14, abs=1e-300)


@given(high=SHARE)
def test_a_share_is_a_condition_of_which_only_the_upper_end_is_known(high: float) -> None:
    assert share_variance(high) == condition_variance(0.0, high)
    assert condition_variance(high, high) <= share_variance(high)
    mirrored = condition_variance(1.0 - high, 1.0)
    assert mirrored == pytest.approx(share_variance(high), rel=1e-12, abs=1e-15)


GROUP = st.lists(
    st.tuples(CHANCE, st.lists(st.fractions(-1, 1, max_denominator=50), min_size=1, max_size=4)),
    min_size=1,
    max_size=6,
)


@given(rows=GROUP)
def test_a_value_that_is_zero_outside_a_group_varies_no_more_than_a_condition(
    rows: list[tuple[Fraction, list[Fraction]]],
) -> None:
    """Values in [0, 1], each row with its own chance of the group and its own values inside."""
    share = sum((p for p, _ in rows), Fraction(0)) / len(rows)
    firsts = [p * sum(map(abs, inside), Fraction(0)) / len(inside) for p, inside in rows]
    seconds = [p * sum((v * v for v in inside), Fraction(0)) / len(inside) for p, inside in rows]
    mean = sum(firsts, Fraction(0)) / len(rows)
    variance = sum((s - m * m for m, s in zip(firsts, seconds, strict=True)), Fraction(0))
    high = min(1.0, math.nextafter(float(share), 2.0))
    assert variance / len(rows) <= share_variance(high)
    low = max(0.0, math.nextafter(float(mean), -1.0))
    assert variance / len(rows) <= condition_variance(
        low, min(1.0, math.nextafter(float(mean), 2.0))
    )


@given(rows=GROUP, reach=st.floats(0, 10))
def test_the_variance_of_every_value_that_is_constant_outside_is_below(
    rows: list[tuple[Fraction, list[Fraction]]], reach: float
) -> None:
    """Each row has its own chance of the group and its own values inside, equally likely."""
    share = sum((p for p, _ in rows), Fraction(0)) / len(rows)
    variance = Fraction(0)
    for p, inside in rows:
        values = [Fraction(reach) * value for value in inside]
        first = p * sum(values, Fraction(0)) / len(values)
        second = p * sum((value**2 for value in values), Fraction(0)) / len(values)
        variance += (second - first**2) / len(rows)
    high = min(1.0, math.nextafter(float(share), 2.0))
    assert variance <= group_variance(high, reach)


@given(high=SHARE, reach=st.floats(1e-3, 10))
def test_two_equal_chances_in_the_group_attain_the_bound(high: float, reach: float) -> None:
    """Y - z is reach or -reach with chance high/2 each: mean 0, variance high reach^2."""
    exact = Fraction(high) * Fraction(reach) ** 2
    bound = group_variance(high, reach)
    assert exact <= bound
    assert bound == pytest.approx(float(exact), rel=1e-14, abs=1e-300)


@given(t=st.floats(1e-9, 10), ratio=st.floats(1e-6, 0.999), narrower=st.floats(1e-9, 1))
def test_the_narrower_ask_costs_no_more_and_one_float_less_would(
    t: float, ratio: float, narrower: float
) -> None:
    alpha, narrow = ratio * t, narrower * ratio * t
    assume(0 < narrow <= alpha < t)
    found = same_cost_tolerance(t, alpha, narrow)
    assert narrow < found <= t
    # -ln(1 - x) is increasing, so the costs are ordered as radius/tolerance is: exactly.
    price = Fraction(alpha) / Fraction(t)
    assert Fraction(narrow) / Fraction(found) <= price
    assert Fraction(narrow) / Fraction(math.nextafter(found, 0.0)) > price
    assert same_cost_tolerance(t, alpha, alpha) == t


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (share_variance, (1.1,)),
        (condition_variance, (0.5, 0.4)),
        (condition_variance, (-0.1, 0.4)),
        (group_variance, (-0.1, 1.0)),
        (group_variance, (0.1, -1.0)),
        (same_cost_tolerance, (0.1, 0.1, 0.05)),
        (same_cost_tolerance, (0.1, 0.05, 0.06)),
        (same_cost_tolerance, (0.1, 0.05, 0.0)),
    ],
)
def test_arguments_are_checked(
    function: Callable[..., float], arguments: tuple[float, ...]
) -> None:
    with pytest.raises(InvalidArgument):
        function(*arguments)


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
def test_a_claimed_share_makes_bernstein_cover(beta: float, trials: int) -> None:
    """Claimed: the group's share is at most .02. Values are 1/2 outside, 0 or 1 inside."""
    n, high = 2000, 0.02
    generator = np.random.default_rng(2025)
    inside = generator.binomial(n, high, trials)
    deviations = np.abs(generator.binomial(inside, 0.5) - inside / 2) / n
    log_p = math.log(beta)
    honest = Bernstein(n, group_variance(high, 0.5)).radius(log_p)
    assert not too_many(deviations > honest, beta)
    sabotage = Bernstein(n, group_variance(high / 4, 0.5)).radius(log_p)
    assert too_many(deviations > sabotage, beta), "a claim that is false must fail"
