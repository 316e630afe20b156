"""Derived intervals: every point of the box is inside, both ends are attained, and the statistic of
every population follows from claims that are true of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import (
    correlation_interval,
    covariance_interval,
    difference_interval,
    quantile_interval,
    ratio_interval,
    std_interval,
    total_interval,
    variance_interval,
)

LAWS = (
    "correlation_interval",
    "covariance_interval",
    "difference_interval",
    "quantile_interval",
    "ratio_interval",
    "std_interval",
    "total_interval",
    "variance_interval",
)

Exact = Fraction
NUMBER = st.floats(-10, 10, allow_subnormal=False)
POSITIVE = st.floats(0, 10, allow_subnormal=False)
FRACTION = st.fractions(0, 1, max_denominator=64)


def pair(number: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[float, float]]:
    return st.tuples(number, number).map(lambda ends: (min(ends), max(ends)))


def between(ends: tuple[float, float], part: Fraction) -> Fraction:
    return Fraction(ends[0]) + part * (Fraction(ends[1]) - Fraction(ends[0]))


def around(value: Fraction, below: float, above: float) -> tuple[float, float]:
    """A true claim: floats on both sides of the value."""
    low, high = math.nextafter(float(value), -math.inf), math.nextafter(float(value), math.inf)
    return low - below, high + above


def mean(values: Iterable[Fraction]) -> Fraction:
    counted = list(values)
    return sum(counted, Fraction(0)) / len(counted)


def assert_is_hull(found: Interval, points: Iterable[Fraction]) -> None:
    """The ends are the nearest floats outside the least and the largest point, in exact terms."""
    exact = list(points)
    assert found.low <= min(exact) < math.nextafter(found.low, math.inf)
    assert math.nextafter(found.high, -math.inf) < max(exact) <= found.high


# A function of several truths, its interval, and which of them cannot be negative. Edges where a
# coordinate is 0 count among the corners: a square is least there.
RATIONAL: dict[str, tuple[Callable[..., Exact], Callable[..., Interval], list[Any]]] = {
    "variance": (lambda m, s: max(Fraction(0), s - m * m), variance_interval, [NUMBER, POSITIVE]),
    "covariance": (lambda x, y, xy: xy - x * y, covariance_interval, [NUMBER] * 3),
    "difference": (lambda a, b: a - b, difference_interval, [NUMBER] * 2),
}


@pytest.mark.parametrize("name", RATIONAL)
@given(data=st.data())
def test_the_box_is_inside_and_the_ends_are_attained(name: str, data: st.DataObject) -> None:
    function, interval, kinds = RATIONAL[name]
    box = [data.draw(pair(kind)) for kind in kinds]
    found = interval(*itertools.chain.from_iterable(box))
    inner = function(*(between(ends, data.draw(FRACTION)) for ends in box))
    assert found.low <= inner <= found.high
    edges = [
        [Fraction(low), Fraction(high), *[Fraction(0)] * (low < 0 < high)] for low, high in box
    ]
    assert_is_hull(found, (function(*corner) for corner in itertools.product(*edges)))


@given(
    pivot=NUMBER, r=pair(NUMBER), d=pair(st.floats(1e-3, 5)), parts=st.tuples(FRACTION, FRACTION)
)
def test_ratio_box(
    pivot: float,
    r: tuple[float, float],
    d: tuple[float, float],
    parts: tuple[Fraction, Fraction],
) -> None:
    found = ratio_interval(pivot, *r, *d)
    inner = Fraction(pivot) + between(r, parts[0]) / between(d, parts[1])
    assert found.low <= inner <= found.high
    assert_is_hull(found, (Fraction(pivot) + Fraction(a) / Fraction(b) for a in r for b in d))


@given(pivot=NUMBER, r=pair(NUMBER), d_high=st.floats(1e-3, 5), d=st.floats(1e-9, 1))
def test_a_denominator_that_may_vanish_opens_only_the_ends_that_divide_by_it(
    pivot: float, r: tuple[float, float], d_high: float, d: float
) -> None:
    found = ratio_interval(pivot, *r, 0.0, d_high)
    assert (found.low == -math.inf) == (r[0] < 0)
    assert (found.high == math.inf) == (r[1] > 0)
    inner = ratio_interval(pivot, *r, d * d_high, d_high)
    assert found.low <= inner.low
    assert inner.high <= found.high


@given(population=st.integers(1, 10**12), mean=pair(NUMBER))
def test_total_is_n_times_the_mean(population: int, mean: tuple[float, float]) -> None:
    assert_is_hull(total_interval(population, *mean), (population * Fraction(end) for end in mean))


def is_end(end: float, exact: mpmath.mpf, outwards: float) -> bool:
    """Not inside of the exact value, and two floats outside of it at most."""
    inwards = math.nextafter(math.nextafter(end, -outwards), -outwards)
    if outwards > 0:
        return bool(inwards < exact <= end) or end == exact
    return bool(end <= exact < inwards) or end == exact


@given(variance=pair(st.floats(0, 1e300)))
def test_std_is_the_root_on_the_safe_side(variance: tuple[float, float]) -> None:
    found = std_interval(*variance)
    with mpmath.workdps(400):
        assert is_end(found.low, mpmath.sqrt(mpmath.mpf(variance[0])), -math.inf)
        assert is_end(found.high, mpmath.sqrt(mpmath.mpf(variance[1])), math.inf)


def test_a_root_next_to_a_float_is_still_rounded_outwards() -> None:
    """The first root is 1.4e-31 above a float, the second 6.2e-33 below one."""
    root, square = 1.204250705999544, 1.4502197629004001
    assert Fraction(square) - Fraction(root) ** 2 == Fraction(7, 2**104)
    assert std_interval(square, square) == (root, math.nextafter(root, 2.0))
    less = 1 - 2.0**-52
    found = correlation_interval(-less, -less, less, less, 1.0, 1.0)
    assert found == (-(1 - 2.0**-53), -less)


@given(
    cov=pair(NUMBER),
    x=pair(st.floats(1e-3, 50)),
    y=pair(st.floats(1e-3, 50)),
    parts=st.tuples(FRACTION, FRACTION, FRACTION),
)
def test_correlation_box(
    cov: tuple[float, float],
    x: tuple[float, float],
    y: tuple[float, float],
    parts: tuple[Fraction, Fraction, Fraction],
) -> None:
    found = correlation_interval(*cov, *x, *y)
    with mpmath.workdps(60):

        def rho(c: Fraction, v: Fraction) -> mpmath.mpf:
            root = mpmath.sqrt(mpmath.mpf(v.numerator) / v.denominator)
            ratio = mpmath.mpf(c.numerator) / c.denominator / root
            return max(mpmath.mpf(-1), min(mpmath.mpf(1), ratio))

        inner = rho(between(cov, parts[0]), between(x, parts[1]) * between(y, parts[2]))
        assert found.low <= inner <= found.high
        corners = [rho(Fraction(c), Fraction(a) * Fraction(b)) for c in cov for a in x for b in y]
        assert is_end(found.low, min(corners), -math.inf)
        assert is_end(found.high, max(corners), math.inf)


@given(cov=pair(NUMBER), x_high=st.floats(1e-3, 50), y=pair(st.floats(1e-3, 50)))
def test_where_a_variance_may_be_zero_the_sign_of_the_covariance_remains(
    cov: tuple[float, float], x_high: float, y: tuple[float, float]
) -> None:
    found = correlation_interval(*cov, 0.0, x_high, *y)
    known = correlation_interval(*cov, x_high, x_high, *y)
    assert found.high == (1.0 if cov[1] > 0 else known.high)
    assert found.low == (-1.0 if cov[0] < 0 else known.low)
    assert correlation_interval(*cov, 0.0, 0.0, *y) == (-1.0, 1.0)
    assert correlation_interval(*cov, *y, 0.0, 0.0) == (-1.0, 1.0)


VALUES = st.fractions(-4, 4, max_denominator=16)
SLACK = st.tuples(st.floats(0, 0.3), st.floats(0, 0.3))


@given(
    rows=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8),
    pivots=st.tuples(VALUES, VALUES),
    slack=st.tuples(SLACK, SLACK, SLACK, SLACK, SLACK),
)
def test_true_claims_give_the_moments_of_every_population(
    rows: list[tuple[Fraction, Fraction]],
    pivots: tuple[Fraction, Fraction],
    slack: tuple[tuple[float, float], ...],
) -> None:
    """Moments about the pivots are claimed; what is derived does not depend on the pivots."""
    a, b = pivots
    middle_x, middle_y = mean(x for x, _ in rows), mean(y for _, y in rows)
    true_x = mean((x - middle_x) ** 2 for x, _ in rows)
    true_y = mean((y - middle_y) ** 2 for _, y in rows)
    true_cov = mean((x - middle_x) * (y - middle_y) for x, y in rows)
    moments = (
        middle_x - a,
        middle_y - b,
        mean((x - a) ** 2 for x, _ in rows),
        mean((y - b) ** 2 for _, y in rows),
        mean((x - a) * (y - b) for x, y in rows),
    )
    mx, my, sx, sy, sxy = (around(m, *s) for m, s in zip(moments, slack, strict=True))
    var_x, var_y = variance_interval(*mx, *sx), variance_interval(*my, *sy)
    cov = covariance_interval(*mx, *my, *sxy)
    rho = correlation_interval(*cov, *var_x, *var_y)
    assert var_x.low <= true_x <= var_x.high
    assert var_y.low <= true_y <= var_y.high
    assert cov.low <= true_cov <= cov.high
    std = std_interval(*var_x)
    assert Fraction(std.low) ** 2 <= true_x <= Fraction(std.high) ** 2
    assume(true_x * true_y > 0)
    with mpmath.workdps(60):
        product = true_x * true_y
        exact = (
            mpmath.mpf(true_cov.numerator)
            / true_cov.denominator
            / mpmath.sqrt(mpmath.mpf(product.numerator) / product.denominator)
        )
        # 60 digits of a correlation of exactly 1 may exceed 1.
        assert rho.low <= exact + mpmath.mpf(10) ** -50
        assert exact - mpmath.mpf(10) ** -50 <= rho.high


@given(
    rows=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12),
    pivot=FRACTION,
    slack=st.tuples(SLACK, SLACK),
)
def test_true_claims_give_the_f1_of_every_population(
    rows: list[tuple[bool, bool]], pivot: Fraction, slack: tuple[tuple[float, float], ...]
) -> None:
    """num = 2 TP and den = predicted + labelled, from 0 to 2: what a share's interval cannot do."""
    assume(any(map(any, rows)))
    g = Fraction(float(pivot))
    den = mean(Fraction(predicted + label) for predicted, label in rows)
    num = mean(Fraction(2 * (predicted and label)) for predicted, label in rows)
    r, d = around(num - g * den, *slack[0]), around(den, *slack[1])
    found = ratio_interval(float(g), *r, max(0.0, d[0]), d[1])
    assert found.low <= num / den <= found.high


@given(
    values=st.lists(st.integers(-3, 12), min_size=1, max_size=12),
    thresholds=st.sets(st.integers(-5, 14), max_size=8).map(sorted),
    level=st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20),
    slack=st.lists(SLACK, min_size=8, max_size=8),
    sharp=st.booleans(),
)
def test_the_quantile_of_every_population_is_inside(
    values: list[int],
    thresholds: list[int],
    level: Fraction,
    slack: list[tuple[float, float]],
    sharp: bool,
) -> None:
    low, high = 0, 9
    claims = []
    for v, (below, above) in zip(thresholds, slack, strict=False):
        F = float(Fraction(sum(x <= v for x in values), len(values)))
        claims.append((F, F) if sharp else (F - below, F + above))
    found = quantile_interval(
        float(level), thresholds, [c[0] for c in claims], [c[1] for c in claims], low, high
    )
    # The definition: the least value whose share of values up to it reaches the level.
    quantile = next(
        v
        for v in sorted(values)
        if float(Fraction(sum(x <= v for x in values), len(values))) >= float(level)
    )
    clipped = min(high, max(low, quantile))
    assert found.low <= clipped <= found.high
    if sharp:  # exact claims leave no threshold strictly inside
        assert not any(found.low < v < found.high for v in thresholds)


def test_the_convention_is_the_lower_quantile() -> None:
    """Half of the mass is at 1, half at 3: F = 1/2 on [1, 3), and the median is 1."""
    claims = {"thresholds": (0.0, 1.0, 2.0), "lows": (0.0, 0.5, 0.5), "highs": (0.0, 0.5, 0.5)}
    found = quantile_interval(0.5, **claims, range_low=0.0, range_high=4.0)
    assert found == (0.0, 1.0)
    assert np.quantile([1.0, 3.0], 0.5, method="inverted_cdf") == 1.0


@given(
    level=st.floats(0.05, 0.95),
    steps=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    slack=st.floats(0, 0.3),
    part=st.floats(0, 1, exclude_min=True),
)
def test_every_point_of_the_quantile_interval_is_a_quantile(
    level: float, steps: list[float], slack: float, part: float
) -> None:
    """F as low as claimed before the point and as high from it on: both are within the claims."""
    centre = sorted(steps)
    thresholds = [float(1 + i) for i in range(len(centre))]
    lows, highs = [F - slack for F in centre], [F + slack for F in centre]
    found = quantile_interval(level, thresholds, lows, highs, 0.0, len(centre) + 1.0)
    point = found.low + part * (found.high - found.low)
    assume(found.low < point)
    for v, low, high in zip(thresholds, lows, highs, strict=True):
        assert low < level if v < point else high >= level


def test_no_threshold_leaves_the_range_and_contradictions_still_give_an_interval() -> None:
    assert quantile_interval(0.5, [], [], [], -1.0, 1.0) == (-1.0, 1.0)
    assert quantile_interval(0.5, [1.0, 2.0], [0.6, 0.1], [0.7, 0.2], 0.0, 9.0) == (1.0, 2.0)
    assert variance_interval(1.0, 1.0, 0.0, 0.5) == (0.0, 0.0)
    assert correlation_interval(9.0, 9.0, 1.0, 1.0, 1.0, 1.0) == (1.0, 1.0)
    assert correlation_interval(-9.0, -9.0, 1.0, 1.0, 1.0, 1.0) == (-1.0, -1.0)


def test_numbers_too_large_or_too_small_for_floats_stay_outside() -> None:
    huge, tiny = 1e300, 1e-300
    assert covariance_interval(huge, huge, huge, huge, 0.0, 0.0) == (
        -math.inf,
        -1.7976931348623157e308,
    )
    assert covariance_interval(huge, huge, -huge, -huge, 0.0, 0.0) == (
        1.7976931348623157e308,
        math.inf,
    )
    assert variance_interval(0.0, tiny, tiny, tiny).high == tiny
    found = correlation_interval(tiny, tiny, huge, huge, huge, huge)
    assert found == (0.0, 5e-324)
    assert std_interval(5e-324, 5e-324).low == pytest.approx(2.2227587494850775e-162, rel=1e-15)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: variance_interval(1.0, 0.0, 0.0, 1.0), "m_low"),
        (lambda: variance_interval(0.0, 1.0, 0.0, math.inf), "s_high"),
        (lambda: covariance_interval(0.0, 1.0, 0.0, 1.0, 1.0, 0.0), "xy_low"),
        (lambda: correlation_interval(0.0, 1.0, -0.1, 1.0, 0.0, 1.0), "var_x_low"),
        (lambda: correlation_interval(0.0, 1.0, 0.0, 1.0, 0.5, 0.4), "var_y_low"),
        (lambda: std_interval(-0.1, 1.0), "var_low"),
        (lambda: difference_interval(0.0, math.nan, 0.0, 1.0), "a_high"),
        (lambda: ratio_interval(math.inf, 0.0, 1.0, 0.5, 1.0), "pivot"),
        (lambda: ratio_interval(0.5, 0.0, 1.0, -0.5, 1.0), "d_low"),
        (lambda: ratio_interval(0.5, 0.0, 1.0, 0.0, 0.0), "d_high"),
        (lambda: ratio_interval(0.5, 0.0, 1.0, 0.6, 0.5), "d_low"),
        (lambda: total_interval(0, 0.0, 1.0), "population"),
        (lambda: total_interval(5, 1.0, 0.0), "low"),
        (lambda: quantile_interval(1.0, [1.0], [0.0], [1.0], 0.0, 2.0), "level"),
        (lambda: quantile_interval(0.5, [1.0, 1.0], [0.0] * 2, [1.0] * 2, 0.0, 2.0), "increasing"),
        (lambda: quantile_interval(0.5, [1.0], [0.0, 0.1], [1.0], 0.0, 2.0), "2 lows"),
        (lambda: quantile_interval(0.5, [1.0], [0.2], [0.1], 0.0, 2.0), "low"),
        (lambda: quantile_interval(0.5, [1.0], [0.1], [0.2], 2.0, 2.0), "range_low"),
    ],
)
def test_impossible_claims_are_refused(call: Callable[[], Interval], match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        call()
