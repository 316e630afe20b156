"""Means and variances of values without a range, and the window of a grid they are read through.

Values of rows are declared to be sub-Gaussian (sigma) or sub-exponential (sigma, b) about their
expectations. Nothing else is known of them: no range, and their rows may depend on each other.

Symbols: n rows, m_u how many of them are in unit u, theta the mean of the rows' expectations, q the
sample's mean, L the end of the window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from holdfast import require
from holdfast.theory.base.concentration import Concentration, SubExponential, SubGaussian
from holdfast.theory.base.safeside import (
    float_above,
    largest_true,
    log_add,
    log_down,
    log_up,
    round_up,
)
from holdfast.theory.base.theorem import theorem


def scaled_tail(sigma: float, b: float | None) -> SubGaussian | SubExponential:
    """The tail of deviations of scale sigma; with b, sub-exponential ones."""
    return SubGaussian(sigma) if b is None else SubExponential(sigma, b)


@theorem(
    source="Literature",
    place="Minkowski's inequality for sub-Gaussian values, by Hoelder's",
    statement="If x and y are sub-Gaussian with sigma and other_sigma about their expectations, "
    "x - y is with their sum, however they depend on each other; if they are sub-exponential with "
    "b and other_b, with max(b/sigma, other_b/other_sigma) times that.",
    domain="sigma, other_sigma > 0; b, other_b > 0 or None",
    monotone={"sigma": "up", "other_sigma": "up"},
    slack="none where y is a falling multiple of x",
)
def difference_scale(
    sigma: float, other_sigma: float, b: float | None = None, other_b: float | None = None
) -> tuple[float, float | None]:
    """Sigma and b of the difference.

    *Proof.* With r = sigma + other_sigma, E e^{t(X - Y)} <= (E e^{tXr/sigma})^{sigma/r} (E
    e^{-tYr/other_sigma})^{other_sigma/r}, whose exponents are t^2 r sigma/2 and t^2 r
    other_sigma/2 where |t| r/sigma is at most 1/b and |t| r/other_sigma at most 1/other_b.
    """
    first, second = require.positive("sigma", sigma), require.positive("other_sigma", other_sigma)
    both = Fraction(first) + Fraction(second)
    reaches = [
        both / Fraction(one) * Fraction(require.positive("b", tail))
        for one, tail in ((first, b), (second, other_b))
        if tail is not None
    ]
    return float_above(both), float_above(max(reaches)) if reaches else None


@theorem(
    source="Holdfast",
    place="Chernoff's bound for squares of sub-Gaussian rows",
    statement="If n independent rows of one expectation are sub-Gaussian with scale sigma, their "
    "mean square deviation from their own mean is ratio sigma^2 or more with probability at most "
    "exp(-(n/2)(ratio - 1 - ln ratio)), for ratio >= 1.",
    domain="n >= 1, ratio >= 0; 0 for ratio <= 1",
    monotone={"n": "down", "ratio": "down"},
    slack="that of Chernoff's bound for a chi-square with n degrees of freedom, which is attained",
)
def mean_square_log_p(n: int, ratio: float) -> float:
    """ln of the probability, rounded up.

    *Proof.* With a standard Gaussian g, E exp(s z^2/(2 sigma^2)) = E exp(sqrt(s) g z/sigma) <=
    E exp(s g^2/2) = (1 - s)^{-1/2} for 0 <= s < 1, z a row's deviation from its expectation. The
    squares around the rows' own mean add up to no more; Chernoff at s = 1 - 1/ratio.
    """
    n, ratio = require.positive_integer("n", n), require.at_least("ratio", ratio, 0.0)
    if ratio <= 1.0:
        return 0.0
    over = ratio - 1.0
    gap = over - math.log1p(over)
    return min(0.0, -0.5 * n * gap + 4 * n * math.ulp(over))


@theorem(
    source="Literature",
    place="Janson 2004, Theorem 2.1, its proof with the moments of unbounded rows",
    statement="If n rows are sub-Gaussian with scale sigma (or sub-exponential with sigma and b) "
    "and can be coloured so that rows of one colour are independent, their mean is sub-Gaussian "
    "with sigma sqrt(colours/n) (or sub-exponential with that and b colours/n).",
    domain="n >= 1, sigma > 0, b > 0 or None, 1 <= colours",
    monotone={"n": "down", "sigma": "up", "colours": "up"},
    slack="exact for independent Gaussian rows but for the tail's own factor; in `colours` for "
    "equal rows",
)
@dataclass(frozen=True, slots=True)
class UnboundedMean:
    """The mean of n values that are only known to be concentrated, each about its expectation.

    With S_c the centred sum of the rows of colour c, q - theta = sum_c S_c / n. By Hoelder's
    inequality E exp(t (q - theta)) <= prod_c (E exp(t colours S_c / n))^(1/colours), and each of
    these is a product over independent rows: the exponent is at most (1/colours) sum_c n_c (t
    colours/n)^2 sigma^2/2 = t^2 sigma^2 colours/(2 n), for |t| colours/n <= 1/b. The colours need
    not have equal sizes. Independent rows have one colour, rows independent when further than m
    apart m + 1, rows of a dependency graph of degree at most d d + 1; n colours are always
    enough.
    """

    n: int
    sigma: float
    b: float | None = None
    colours: int = 1

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        require.positive("sigma", self.sigma)
        if self.b is not None:
            require.positive("b", self.b)
        require.positive_integer("colours", self.colours)

    @property
    def tail(self) -> SubGaussian | SubExponential:
        """Tail of the mean itself."""
        part = min(1.0, self.colours / self.n)
        b = None if self.b is None else round_up(self.b * part)
        return scaled_tail(round_up(self.sigma * math.sqrt(part)), b)

    def log_tail(self, radius: float) -> float:
        return self.tail.log_tail(radius)

    def radius(self, log_p: float) -> float:
        return self.tail.radius(log_p)


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, rows in units",
    statement="If units are independent, rows inside a unit arbitrary, sum m_u^2 <= "
    "sum_of_squares and no unit has more than `largest` rows, the pooled mean of sub-Gaussian rows "
    "is sub-Gaussian with sigma sqrt(sum_of_squares)/rows, of sub-exponential ones sub-exponential "
    "with that and b largest/rows.",
    domain="rows >= 1, rows <= sum_of_squares <= rows^2, 1 <= largest <= rows",
    monotone={"sigma": "up", "sum_of_squares": "up", "largest": "up"},
    slack="exact when all rows of a unit are equal",
)
@dataclass(frozen=True, slots=True)
class UnboundedUnits:
    """The pooled mean of unbounded rows in independent units.

    By Hoelder's inequality the centred sum of m_u rows has E exp(s S_u) <= exp(m_u^2 s^2 sigma^2/2)
    for |s| m_u <= 1/b, whatever their dependence; units are independent; s = t/rows.
    """

    rows: int
    sum_of_squares: float
    largest: float
    sigma: float
    b: float | None = None

    def __post_init__(self) -> None:
        rows = require.positive_integer("rows", self.rows)
        require.between("sum_of_squares", self.sum_of_squares, rows, rows * rows)
        require.between("largest", self.largest, 1, rows)
        require.positive("sigma", self.sigma)
        if self.b is not None:
            require.positive("b", self.b)

    @property
    def tail(self) -> SubGaussian | SubExponential:
        """Tail of the mean itself."""
        b = None if self.b is None else round_up(self.b * self.largest / self.rows)
        return scaled_tail(round_up(self.sigma * math.sqrt(self.sum_of_squares) / self.rows), b)

    def log_tail(self, radius: float) -> float:
        return self.tail.log_tail(radius)

    def radius(self, log_p: float) -> float:
        return self.tail.radius(log_p)


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, means of groups",
    statement="A value that is sub-Gaussian with sigma about its expectation is, given an event of "
    "probability `share`, sub-Gaussian with sigma/sqrt(share) about its expectation given that; a "
    "sub-exponential one is sub-exponential with that and the same b.",
    domain="sigma > 0, 0 < share <= 1",
    monotone={"sigma": "up", "share": "down"},
    slack="none where all of the spread is in the group: 0 outside, and fair signs inside",
)
def scale_in_group(sigma: float, share: float) -> float:
    """Sigma of a value in a group, about the group's expectation, rounded up.

    *Proof.* Let X have the expectation 0, E e^{tX} <= e^psi, p the event's probability and d the
    expectation of X given it, so that given the rest it is -pd/(1 - p). By Jensen's inequality
    there, p E[e^{tX} given the event] <= e^psi - (1 - p) e^{-tpd/(1 - p)}. With u = td, E[e^{t(X -
    d)} given the event] <= (e^{psi - u} - (1 - p) e^{-u/(1 - p)})/p, which is greatest at u =
    -psi (1 - p)/p, where it is e^{psi/p}. psi is t^2 sigma^2/2.
    """
    sigma = require.positive("sigma", sigma)
    share = require.between("share", share, 0.0, 1.0, open_low=True)
    return sigma if share == 1.0 else round_up(sigma / math.sqrt(share))


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, means of groups",
    statement="If n rows have one expectation, about which a row drawn from all is sub-Gaussian "
    "with sigma (sub-exponential with b), and a row is in a group with probability p or more, then "
    "the mean of the group's rows is a or more from the group's expectation, or the group has no "
    "row, with probability at most 2 (1 - p + p e^-E)^(n/together), E = p a^2/(2 sigma^2) (or a/b "
    "- sigma^2/(2 p b^2) beyond a = sigma^2/(p b)); together is 1 for independent rows, else the "
    "number of colours, or the most rows of a unit, of which the level has the part e^log_weight.",
    domain="rows >= 1, 0 < share <= 1, sigma > 0, b > 0 or None, 1 <= together <= rows, "
    "log_weight <= 0",
    monotone={"rows": "down", "share": "down", "sigma": "up", "log_weight": "down"},
    slack="a small group is taken to have all the spread of all rows: its sigma is at most "
    "sigma/sqrt(p), and less if membership has nothing to do with the value",
)
@dataclass(frozen=True, slots=True)
class GroupOfRows:
    """The mean of the rows of a group, where a scale is declared of all rows.

    *Proof.* 1_group (x - theta - a) has E e^{t ...} <= 1 - p + p e^-E = f at the best t, by
    `scale_in_group`; f falls in p. Of independent rows the product is at most f^n, and the sum of
    these is 0 or more where the group's mean is theta + a or more, or there is none. Rows of c
    colours: Hoelder's inequality, f^(n/c). Units of at most M rows: with f^-1 e^{t ...} for a row,
    as for `PooledUnits`, at a weight for each number of rows.
    """

    rows: int
    share: float
    sigma: float
    b: float | None = None
    together: int = 1
    log_weight: float = 0.0

    def __post_init__(self) -> None:
        rows = require.positive_integer("rows", self.rows)
        require.between("share", self.share, 0.0, 1.0, open_low=True)
        require.positive("sigma", self.sigma)
        if self.b is not None:
            require.positive("b", self.b)
        require.integer_between("together", self.together, 1, rows)
        require.log_probability("log_weight", self.log_weight)

    def log_tail(self, radius: float) -> float:
        a, sigma = require.non_negative("radius", radius), scale_in_group(self.sigma, self.share)
        if self.b is None or a <= sigma**2 / self.b:
            exponent = 0.5 * (a / sigma) ** 2
        else:
            exponent = a / self.b - 0.5 * (sigma / self.b) ** 2
        log_remaining = math.log1p(self.share * math.expm1(-exponent) * _LESS)
        return log_up(_LN2 + log_remaining * self._parts * _LESS - self.log_weight)

    def radius(self, log_p: float) -> float:
        """Infinite at a level at which the group may have no row."""
        log_p = require.log_probability("log_p", log_p) + self.log_weight - _LN2
        # What is left of the group in one of n/together rows.
        lost = -math.expm1(log_p / self._parts) / self.share * _MORE
        if lost >= 1.0:
            return math.inf
        sigma, exponent = scale_in_group(self.sigma, self.share), -math.log1p(-lost) * _MORE
        if self.b is None or exponent <= 0.5 * (sigma / self.b) ** 2:
            return round_up(sigma * math.sqrt(2.0 * exponent), 64)
        return round_up(self.b * exponent + 0.5 * sigma**2 / self.b, 64)

    @property
    def _parts(self) -> float:
        return self.rows / self.together


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, variances",
    statement="If x is sub-Gaussian with sigma about its expectation, (x - E x)^2 is "
    "sub-exponential about the variance of x with 2.11 sigma^2 and b = 16 sigma^2.",
    domain="sigma > 0",
    monotone={"sigma": "up"},
    slack="for a Gaussian x of that standard deviation 1.48 would do for 2.11; for every x nothing "
    "below 1.8 does",
)
def square_scale(sigma: float) -> tuple[float, float]:
    """Scale and b of the squared deviation, rounded up.

    *Proof.* Let sigma be 1, z = (x - E x)^2 and v = E z <= 1. With a standard Gaussian g, E
    e^{3z/8} = E e^{sqrt(3/4) g (x - E x)} <= E e^{3 g^2/8} = 2. For z >= 0, 512 (e^{z/16} - 1 -
    z/16) <= 3z/2 + 3.78 (e^{3z/8} - 1), so the left side has an expectation of at most B = 3v/2 +
    3.78 <= 4.3425 + v^2 (a tangent of the parabola). For 0 <= t <= 1/16, (e^{tz} - 1 - tz)/t^2 is
    at most its value at 1/16, so E e^{tz} <= 1 + tv + t^2 B/2, and E e^{t(z - v)} <= exp(t^2 (B -
    v^2)/2), since ln(1 + y) <= y - y^2/2 + y^3/3 and B >= 1 >= v. Below: e^{-u} <= 1 - u + 1.0213
    u^2/2 for u >= -1/16, and z^2 is at most the left side, so E e^{-t(z - v)} <= exp(1.0213 t^2 (B
    - v^2)/2). 1.0213 times 4.3425 is below 2.11^2.
    """
    square = Fraction(require.positive("sigma", sigma)) ** 2
    return float_above(_SQUARES * square), float_above(16 * square)


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, variances",
    statement="If the mean of the rows' squared deviations from theta is further than a from its "
    "expectation with at most the tail `squares` at a, and the rows' mean further than c from "
    "theta with at most the tail `mean` at c, then their mean squared deviation from their own "
    "mean is within a + c^2 of that expectation, but for both probabilities together.",
    domain="two concentrations",
    slack="c^2, which is about 1/n of the level's logarithm, and a 64th of the level",
)
@dataclass(frozen=True, slots=True)
class SpreadOfRows:
    """The variance of rows around their own mean.

    *Proof.* It is the mean of (x - theta)^2 less (mean of x - theta)^2, which is in [0, c^2].
    """

    squares: Concentration
    mean: Concentration

    def log_tail(self, radius: float) -> float:
        """The least level with such a radius."""
        a = require.non_negative("radius", radius)
        if self.radius(0.0) > a:
            return 0.0
        least = largest_true(lambda x: self.radius(-x) <= a, 0.0, _LEAST_LEVEL)
        return log_up(-least)

    def radius(self, log_p: float) -> float:
        log_p = require.log_probability("log_p", log_p)
        of_mean = self.mean.radius(log_down(log_p - math.log(_PART_OF_MEAN)))
        of_squares = self.squares.radius(log_down(log_p + math.log1p(-1.0 / _PART_OF_MEAN)))
        return round_up(of_squares + of_mean * of_mean, 16)


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, what the window does",
    statement="Rows are cut at -L and L, their mean at -L/2 and L/2. If every row deviates from "
    "its expectation by more than L/4 with probability at most e^{log_row}, and all rows have one "
    "expectation, or each at most 3L/4 away from 0, then the value read is further than a from "
    "theta, cut at -L/2 and L/2, with probability at most that of the uncut mean's tail at a plus "
    "n e^{log_row}.",
    domain="rows >= 1, log_row <= 0",
    monotone={"rows": "up", "log_row": "up"},
    slack="n e^{log_row} is below e^-2000 for windows of 2^13 scales and fewer than e^40 rows",
)
@dataclass(frozen=True, slots=True)
class Windowed:
    """A mean without a range, read through a window that is cut at its ends.

    On the event that no row deviates by more than L/4, and |q - theta| <= a: if all expectations
    are within 3L/4, no row is cut, and to cut q and theta at L/2 brings them no further apart. If
    the one expectation is above 3L/4, all rows are above L/2: what is read is L/2, and so is theta
    cut; likewise below. So an interval around what was read holds theta, if an end that reaches
    L/2 is taken to be infinite.
    """

    profile: Concentration
    rows: int
    log_row: float

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        require.log_probability("log_row", self.log_row)

    @property
    def log_beyond(self) -> float:
        """ln of the probability that some row deviates too far."""
        return log_up(math.log(self.rows) + self.log_row)

    def log_tail(self, radius: float) -> float:
        return log_up(log_add(self.profile.log_tail(radius), self.log_beyond))

    def radius(self, log_p: float) -> float:
        """Infinite where the window alone fails as often."""
        log_p = require.log_probability("log_p", log_p)
        beyond = self.log_beyond - log_p
        if beyond >= -(2.0**-40):
            return math.inf
        return self.profile.radius(log_down(log_p + math.log1p(-math.exp(beyond))))


@dataclass(frozen=True, slots=True)
class InUnits:
    """The same deviations counted in units of `unit`, of which more than one cannot be."""

    profile: Concentration
    unit: float

    def __post_init__(self) -> None:
        require.positive("unit", self.unit)

    def log_tail(self, radius: float) -> float:
        a = require.non_negative("radius", radius)
        return -math.inf if a >= 1.0 else self.profile.log_tail(max(0.0, a * self.unit * _LESS))

    def radius(self, log_p: float) -> float:
        return min(1.0, round_up(self.profile.radius(log_p) / self.unit))


@dataclass(frozen=True, slots=True)
class Narrower:
    """Two tails of the same question: at every level the one with the smaller radius."""

    first: Concentration
    second: Concentration

    def log_tail(self, radius: float) -> float:
        return min(self.first.log_tail(radius), self.second.log_tail(radius))

    def radius(self, log_p: float) -> float:
        return min(self.first.radius(log_p), self.second.radius(log_p))


_LN2 = math.log(2.0)
_LESS = 1.0 - 2.0**-50  # a product rounded up would ask for the tail too far out
_MORE = 1.0 + 2.0**-50
_SQUARES = Fraction(211, 100)
_PART_OF_MEAN = 64  # of a level, one part for the mean of the rows
_LEAST_LEVEL = 2.0**40  # -ln of one below which no tail is looked for
