"""Derived statistics: functions of several truths whose intervals are true.

If every interval given is true, so is the one returned: it is the image of the box of the given
ones, cut to the values that are possible at all. Nothing is spent and nothing more is assumed.
Claims that contradict one another are not all true: what they give promises nothing.

Ends are computed in rationals and rounded outwards once: an end is the nearest float outside, at
most one unit in the last place away (two where a square root was taken).

Symbols: x, y values of a row; a, b, c, g public pivots; E the mean over the population; m =
E[x - c], s = E[(x - c)^2]; F(v) = P[x <= v].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below, round_up
from holdfast.theory.base.theorem import theorem

_ZERO, _ONE = Fraction(0), Fraction(1)


@theorem(
    source="Holdfast",
    place="variance from two means",
    statement="If E[x - c] is in [m_low, m_high] and E[(x - c)^2] in [s_low, s_high], then Var x "
    "is in [s_low - max m^2, s_high - min m^2], cut at 0.",
    domain="m_low <= m_high, s_low <= s_high; any public pivot c",
    monotone={"s_low": "up", "s_high": "up"},
    slack="none given the two intervals; a pivot near the mean keeps them narrow",
)
def variance_interval(m_low: float, m_high: float, s_low: float, s_high: float) -> Interval:
    """Var x = E[(x - c)^2] - E[x - c]^2 whatever c is: falling in |m|, rising in s."""
    m, s = _ends("m_", m_low, m_high), _ends("s_", s_low, s_high)
    squares = [end**2 for end in m]
    least = _ZERO if m[0] <= 0 <= m[1] else min(squares)
    return _outwards(max(_ZERO, s[0] - max(squares)), max(_ZERO, s[1] - least))


@theorem(
    source="Holdfast",
    place="covariance from three means",
    statement="If E[x - a], E[y - b] and E[(x - a)(y - b)] are in their intervals, then Cov(x, y) "
    "is in [xy_low - max, xy_high - min], max and min over the four corner products of the first "
    "two.",
    domain="each low end at most its high end; any public pivots a, b",
    monotone={"xy_low": "up", "xy_high": "up"},
    slack="none given the three intervals",
)
def covariance_interval(
    x_low: float, x_high: float, y_low: float, y_high: float, xy_low: float, xy_high: float
) -> Interval:
    """Cov = E[(x - a)(y - b)] - E[x - a] E[y - b]; a product is extreme at corners of its box."""
    xy = _ends("xy_", xy_low, xy_high)
    corners = [x * y for x in _ends("x_", x_low, x_high) for y in _ends("y_", y_low, y_high)]
    return _outwards(xy[0] - max(corners), xy[1] - min(corners))


@theorem(
    source="Holdfast",
    place="correlation from a covariance and two variances",
    statement="If Cov(x, y), Var x and Var y are in their intervals and both variances are above "
    "0, then the correlation is in the image of the box under Cov/sqrt(Var x Var y), cut to "
    "[-1, 1].",
    domain="each low end at most its high end, variances 0 or above; a variance that is surely 0 "
    "gives [-1, 1]",
    monotone={"cov_low": "up", "cov_high": "up"},
    slack="none given the three intervals; they are used as if unrelated",
)
def correlation_interval(
    cov_low: float,
    cov_high: float,
    var_x_low: float,
    var_x_high: float,
    var_y_low: float,
    var_y_high: float,
) -> Interval:
    """An end away from 0 takes the least variances (1 if they may be 0), one beyond 0 the largest.

    So where a variance may be 0 the sign of the covariance still bounds the correlation. That of a
    constant is not defined, and of a column known to be constant nothing is claimed: [-1, 1].
    """
    cov = _ends("cov_", cov_low, cov_high)
    x = _variances("var_x_", var_x_low, var_x_high)
    y = _variances("var_y_", var_y_low, var_y_high)
    v = x[0] * y[0], x[1] * y[1]
    if v[1] == 0:
        return Interval(-1.0, 1.0)
    return _outwards(-_correlation_above(-cov[0], *v), _correlation_above(cov[1], *v))


@theorem(
    source="Holdfast",
    place="standard deviation from a variance",
    statement="If Var x is in [var_low, var_high], then its root is in [sqrt(var_low), "
    "sqrt(var_high)].",
    domain="0 <= var_low <= var_high",
    monotone={"var_low": "up", "var_high": "up"},
    slack="none",
)
def std_interval(var_low: float, var_high: float) -> Interval:
    """The root is increasing."""
    v = _variances("var_", var_low, var_high)
    return _outwards(_root(v[0])[0], _root(v[1])[1])


@theorem(
    source="Holdfast",
    place="difference of two truths",
    statement="If A is in [a_low, a_high] and B in [b_low, b_high], then A - B is in "
    "[a_low - b_high, a_high - b_low].",
    domain="a_low <= a_high, b_low <= b_high",
    monotone={"a_low": "up", "a_high": "up", "b_low": "down", "b_high": "down"},
    slack="none given the two intervals; asking for the mean of a paired difference is narrower",
)
def difference_interval(a_low: float, a_high: float, b_low: float, b_high: float) -> Interval:
    """A - B is rising in A and falling in B."""
    a, b = _ends("a_", a_low, a_high), _ends("b_", b_low, b_high)
    return _outwards(a[0] - b[1], a[1] - b[0])


@theorem(
    source="Holdfast",
    place="residual form of a ratio of means",
    statement="If E[num - g den] is in [r_low, r_high] and E[den] in [d_low, d_high], den >= 0, "
    "then E[num]/E[den] is in [g + min(r_low/d_low, r_low/d_high), g + max(r_high/d_low, "
    "r_high/d_high)].",
    domain="r_low <= r_high, 0 <= d_low <= d_high, d_high > 0; where d_low = 0, an end that "
    "divides by it is infinite",
    monotone={"pivot": "up", "r_low": "up", "r_high": "up"},
    slack="none given the two intervals; they are used as if unrelated, so a pivot g near the "
    "ratio is best",
)
def ratio_interval(
    pivot: float, r_low: float, r_high: float, d_low: float, d_high: float
) -> Interval:
    """E[num]/E[den] = g + E[num - g den]/E[den]: F1 has num = 2 TP, den = predicted + labelled.

    r/d is extreme where d is: an end that leads away from g at the least d, else at the largest.
    """
    g = Fraction(require.finite("pivot", pivot))
    r = _ends("r_", r_low, r_high)
    require.positive("d_high", d_high)
    d = _ends("d_", require.non_negative("d_low", d_low), d_high)
    below = d[0] if r[0] < 0 else d[1]
    above = d[0] if r[1] > 0 else d[1]
    return Interval(
        float_below(g + r[0] / below) if below else -math.inf,
        float_above(g + r[1] / above) if above else math.inf,
    )


@theorem(
    source="Holdfast",
    place="quantile from a distribution function at public thresholds",
    statement="If F(v) = P[x <= v] is in [low, high] at each public threshold v, then "
    "inf{v : F(v) >= level}, cut to the range, lies from the largest threshold with high < level "
    "to the smallest with low >= level (from or to the range's end where there is none).",
    domain="0 < level < 1, thresholds strictly increasing, one low <= high for each, "
    "range_low < range_high",
    monotone={"level": "up"},
    slack="none given the intervals; about the distance of neighbouring thresholds",
)
def quantile_interval(
    level: float,
    thresholds: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    range_low: float,
    range_high: float,
) -> Interval:
    """The lower quantile (`inverted_cdf`) of x cut to [range_low, range_high]; no rounding needed.

    F(v) < level makes F < level at v, below v and, F being continuous from the right, a little
    above v, so the quantile is above v (the interval is closed there all the same). F(v) >= level
    puts v into the set whose infimum the quantile is, so it is at most v; and cutting x to the
    range cuts its quantiles, because cutting is increasing and continuous.

    The upper quantile inf{v : F(v) > level} is bounded below by the same end, but not above.
    """
    level = require.probability("level", level)
    bottom, top = require.finite("range_low", range_low), require.finite("range_high", range_high)
    if bottom >= top:
        raise InvalidArgument(
            f"range_low is {range_low!r} and range_high is {range_high!r}; range_low must be below "
            "range_high."
        )
    if not len(thresholds) == len(lows) == len(highs):
        raise InvalidArgument(
            f"there are {len(thresholds)} thresholds, {len(lows)} lows and {len(highs)} highs; "
            "each threshold needs one of each."
        )
    points = [require.finite("threshold", v) for v in thresholds]
    for last, here in itertools.pairwise(points):
        if last >= here:
            raise InvalidArgument(
                f"threshold {here!r} follows {last!r}; thresholds must be strictly increasing."
            )
    claims = [_ends("", low, high) for low, high in zip(lows, highs, strict=True)]
    above = [v for v, (_, high) in zip(points, claims, strict=True) if high < level]
    at_most = [v for v, (low, _) in zip(points, claims, strict=True) if low >= level]
    ends = sorted((max(above, default=bottom), min(at_most, default=top)))
    return Interval(*(min(top, max(bottom, end)) for end in ends))


@theorem(
    source="Holdfast",
    place="total of a population of known size",
    statement="If the mean over a population of N members, N public, is in [low, high], then their "
    "total is in [N low, N high].",
    domain="N >= 1, low <= high",
    monotone={"low": "up", "high": "up"},
    slack="none",
)
def total_interval(population: int, low: float, high: float) -> Interval:
    """N times a mean."""
    N = require.positive_integer("population", population)
    mean = _ends("", low, high)
    return _outwards(N * mean[0], N * mean[1])


def _ends(prefix: str, low: float, high: float) -> tuple[Fraction, Fraction]:
    """Both ends as exact rationals, checked to be finite and in order."""
    low, high = require.finite(f"{prefix}low", low), require.finite(f"{prefix}high", high)
    if low > high:
        raise InvalidArgument(
            f"{prefix}low is {low!r} and {prefix}high is {high!r}; {prefix}low is the lower."
        )
    return Fraction(low), Fraction(high)


def _variances(prefix: str, low: float, high: float) -> tuple[Fraction, Fraction]:
    return _ends(prefix, require.non_negative(f"{prefix}low", low), high)


def _correlation_above(cov: Fraction, least: Fraction, most: Fraction) -> Fraction:
    """The largest cov/sqrt(v) for v > 0 in [least, most], rounded up and cut to [-1, 1]."""
    if cov <= 0:
        return max(-_ONE, -_root(cov**2 / most)[0])
    return min(_ONE, _root(cov**2 / least)[1]) if least else _ONE


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Below and above the root, a relative 2^-63 apart at most; equal if the root is dyadic."""
    p, q = square.numerator, square.denominator
    shift = max(0, 64 + (q.bit_length() - p.bit_length()) // 2)
    scaled, rest = divmod(p << 2 * shift, q)
    below = math.isqrt(scaled)
    above = below if rest == 0 and below * below == scaled else below + 1
    return Fraction(below, 1 << shift), Fraction(above, 1 << shift)


def _outwards(low: Fraction, high: Fraction) -> Interval:
    return Interval(float_below(low), float_above(high))


# The mean inside a group whose size is not public, from two claims about all rows.
#
# Symbols: phi the value of a row, c the group, theta = E[phi given c], p = P(c), g a public
# pivot, r = E[(phi - g) 1_c]. Then theta = g + r/p, so an interval for r and one for p give one
# for theta.


@theorem(
    source="Holdfast",
    place="residual form of a sub-population",
    statement="If E[(phi - g) 1_c] is in [r_low, r_high] and P(c) in [p_low, p_high], p_low > 0, "
    "then E[phi given c] is in [g + min(r_low/p_low, r_low/p_high), g + max(r_high/p_low, "
    "r_high/p_high)].",
    domain="r_low <= r_high, 0 <= p_low <= p_high <= 1, p_high > 0; p_low = 0 gives no end",
    monotone={"pivot": "up"},
    slack="none given the two intervals; they are used as if unrelated",
)
def conditional_mean_interval(
    pivot: float, r_low: float, r_high: float, p_low: float, p_high: float
) -> Interval:
    """The `ratio_interval` of num = phi 1_c and den = 1_c; infinite ends where p may be 0."""
    p_high = require.between("p_high", p_high, 0.0, 1.0, open_low=True)
    p_low = require.between("p_low", p_low, 0.0, p_high)
    return ratio_interval(pivot, r_low, r_high, p_low, p_high)


# Public variance bounds: what released claims say about the variance of another question.
#
# While no earlier claim is false, every consequence of them is true and public; so it may set the
# radius of a later question, for instance `Bernstein`'s, whose own beta and charge stay as they
# are (docs/theory.md, section 3). Rare events get much narrower intervals.
#
# Symbols: Y the value of a row, p the probability of a condition, alpha the radius, t the
# tolerance. Rows are independent but need not be alike: p and the variance are averages over the
# rows, which is all that `Bernstein` needs.


@theorem(
    source="Holdfast",
    place="public variance bounds: a condition, or any mean (Bhatia & Davis 2000)",
    statement="If the average expectation of independent values in [0, 1], such as the probability "
    "of a condition, is in [low, high], their average variance is at most the largest x(1 - x) "
    "there.",
    domain="0 <= low <= high <= 1",
    monotone={"low": "down", "high": "up"},
    slack="none: a condition that has the worst probability in every row attains it",
)
def condition_variance(low: float, high: float) -> float:
    """E Y^2 <= E Y = x gives Var Y <= x(1 - x), which is concave in x: averaging raises it."""
    high = require.between("high", high, 0.0, 1.0)
    low = require.between("low", low, 0.0, high)
    worst = min(max(low, 0.5), high)
    # Two roundings: two units in the last place together at most.
    return min(0.25, round_up(worst * (1.0 - worst))) if 0.0 < worst < 1.0 else 0.0


@theorem(
    source="Holdfast",
    place="public variance bounds: a share that is at most so large",
    statement="If independent values in [0, 1] are other than 0 with average probability at most "
    "`high`, such as those of a condition, their average variance is at most high(1 - high), 1/4 "
    "from high = 1/2 on.",
    domain="0 <= high <= 1",
    monotone={"high": "up"},
    slack="none, as for `condition_variance`",
)
def share_variance(high: float) -> float:
    """`condition_variance` where nothing is known of the lower end: E Y <= P[Y is not 0]."""
    return condition_variance(0.0, high)


@theorem(
    source="Holdfast",
    place="public variance bounds: a value that is constant outside a group",
    statement="If Y is a public constant z outside a group of average probability at most `high` "
    "over independent rows, and |Y - z| <= reach inside it, the average variance of Y is at most "
    "high reach^2.",
    domain="0 <= high <= 1, reach >= 0",
    monotone={"high": "up", "reach": "up"},
    slack="none: Y - z = reach or -reach with equal chances inside the group attains it",
)
def group_variance(high: float, reach: float) -> float:
    """Var Y <= E(Y - z)^2 <= P(group) reach^2, row by row; averaged and rounded up."""
    high = require.between("high", high, 0.0, 1.0)
    reach = require.non_negative("reach", reach)
    # The square first: what underflows there stays below a unit when multiplied by high <= 1.
    return round_up(high * (reach * reach)) if high > 0 and reach > 0 else 0.0


@theorem(
    source="Holdfast",
    place="section 3: cost of an ask",
    statement="An ask of radius alpha and tolerance t costs -ln(1 - alpha/t) nats, so with radius "
    "alpha' <= alpha the tolerance t alpha'/alpha costs the same.",
    domain="0 < narrow_radius <= radius < tolerance",
    monotone={"tolerance": "up", "radius": "down", "narrow_radius": "up"},
    slack="none but the rounding up of the tolerance, by which it costs no more",
)
def same_cost_tolerance(tolerance: float, radius: float, narrow_radius: float) -> float:
    """Tolerance that a narrower radius buys at an unchanged price, rounded up."""
    t = require.positive("tolerance", tolerance)
    alpha = require.between("radius", radius, 0.0, t, open_low=True, open_high=True)
    narrow = require.between("narrow_radius", narrow_radius, 0.0, alpha, open_low=True)
    return float_above(Fraction(t) * Fraction(narrow) / Fraction(alpha))
