"""Intervals that depend on the sample: exact binomial, KL, empirical Bernstein, order statistics.

They cover a fixed question's truth with probability >= 1 - e^{log_p}. Their width is a function of
the sample, so it may be used only *inside* a check and never shown (rule R2 of docs/theory.md).
The exact binomial bounds also hold for independent rows that are not alike, at a smaller level.

Symbols: n independent values in [0, 1], `mean` their average, V their (n - 1)-variance,
kl(a, p) = a ln(a/p) + (1 - a) ln((1 - a)/(1 - p)); of shares `successes` of the n rows are 1, and
alpha is a one-sided level.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import NamedTuple

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import (
    float_below,
    largest_integer,
    level_share,
    round_down,
    round_up,
    smallest_integer,
    smallest_true,
)
from holdfast.theory.base.theorem import theorem

_LN2 = math.log(2.0)
_EPS = 2.0**-52
# Below this log-probability the regularised incomplete beta function underflows.
_DEEP = -600.0
_TRUE_DIGITS = 13  # of a number that was computed
_LANDMARKS = (-1.0, 0.0, 1.0)  # no effect, none or all: whether an end is beyond is what was found
_TINY = Decimal("1e-6")  # what is nearer to 0 is written as 1.7e-11
_LEAST_MEAN = 1e-300  # below it a gap divided by the mean would overflow
_NEAR = 1e-9  # a part of a bound that is far more than what its root is off by


class Interval(NamedTuple):
    """A closed interval: `0.3 in interval` asks whether it contains a number.

    Its half-width decides how it is written, and how a value beside it is: to two digits of the
    half-width, with the ends rounded outwards, so that the text is never narrower. An end has more
    digits where it would otherwise touch or cross 0, 1, -1 or a declared bound that it does not.
    Shown as Python shows it, it has the digits that a computed number has, and no
    59.75999999999999.
    """

    low: float
    high: float

    def __contains__(self, number: object) -> bool:
        return isinstance(number, Real) and bool(self.low <= number <= self.high)  # type: ignore[operator]

    def __repr__(self) -> str:
        low, high = _digits(self.low, ROUND_FLOOR), _digits(self.high, ROUND_CEILING)
        return f"Interval(low={low}, high={high})"

    def __str__(self) -> str:
        return self.text()

    def text(self, bounds: Iterable[float] = ()) -> str:
        """Both ends, beside the declared bounds of what the interval is about."""
        return f"[{', '.join(self.ends(bounds))}]"

    def ends(self, bounds: Iterable[float] = ()) -> tuple[str, str]:
        """The texts of both ends; an end that is a whole number is written as one."""
        marks = {*_LANDMARKS, *filter(math.isfinite, bounds)}
        return self._end(self.low, ROUND_FLOOR, marks), self._end(self.high, ROUND_CEILING, marks)

    def value_text(self, value: float, bounds: Iterable[float] = ()) -> str:
        """A value with as many digits as the interval; more, if it would be written outside it."""
        text = self._text(value, ROUND_HALF_EVEN, self._last_place)
        first, last = map(float, self.ends(bounds))
        if float(text) in Interval(first, last) or value not in Interval(first, last):
            return text
        missed = first if float(text) < first else last
        return self._clear_of({missed}, value, ROUND_HALF_EVEN)

    def _end(self, end: float, rounding: str, marks: Collection[float]) -> str:
        if math.isinf(end):
            return "inf" if end > 0 else "-inf"
        if self._last_place <= 0 and abs(end) < 10.0**_TRUE_DIGITS and end % 1 == 0.0:
            return f"{end + 0.0:.0f}"
        text = self._text(end, rounding, self._last_place)
        reached = {mark for mark in marks if not _is_beside(float(text), mark, end)}
        return self._clear_of(reached, end, rounding) if reached else text

    def _clear_of(self, marks: Collection[float], number: float, rounding: str) -> str:
        """A number to two digits, or more, of how far it is from marks that its text must miss."""
        gap = min(abs(Decimal(number) - Decimal(mark)) for mark in marks)
        last_place = min(self._last_place, (gap.adjusted() if gap else 0) - 1)
        for place in range(last_place, last_place - _TRUE_DIGITS, -1):
            text = self._text(number, rounding, place)
            if all(_is_beside(float(text), mark, number) for mark in marks):
                return text
        return repr(number)

    def _text(self, number: float, rounding: str, last_place: int) -> str:
        rounded = _rounded(number, last_place, rounding)
        if self.low == self.high:
            rounded = rounded.normalize()
        text = f"{rounded:f}"
        if len(text) <= _TRUE_DIGITS + 3 and not 0 < abs(rounded) < _TINY:
            return text
        return min(text, f"{rounded:e}", key=len)

    @property
    def _last_place(self) -> int:
        """The power of ten of the last digit; of a point, that of the fifth."""
        if self.low == self.high:
            return _power_of_ten(self.low) - 4
        if math.isinf(self.high - self.low):
            return _power_of_ten(next(filter(math.isfinite, self), 1.0)) - 4
        half = Context(prec=2).create_decimal(Decimal((self.high - self.low) / 2))
        return half.adjusted() - 1


@theorem(
    source="Literature",
    place="Clopper & Pearson 1934",
    statement="For `successes` of n independent 0/1 trials, the largest p with "
    "P[Bin(n, p) <= successes] >= e^{log_p} is an upper bound at one-sided level e^{log_p}, "
    "exactly.",
    domain="n >= 1, 0 <= successes <= n, log_p <= 0; iid 0/1 values",
    monotone={"successes": "up", "log_p": "down"},
    slack="none but the discreteness of the count",
)
def clopper_pearson_upper(n: int, successes: int, log_p: float) -> float:
    """The one-sided exact upper bound, rounded up; log-space, so log_p = -1000 works."""
    n = require.positive_integer("n", n)
    successes = require.integer_at_least("successes", successes, 0)
    require.between("successes", successes, 0, n)
    return _exact_upper(n, successes, require.log_probability("log_p", log_p))


def _exact_upper(n: int, successes: int, log_p: float) -> float:
    if successes == n:
        return 1.0
    if successes == 0:
        return min(1.0, round_up(-math.expm1(log_p / n)))
    return smallest_true(
        lambda p: log_binomial_cdf(n, successes, p) < log_p,
        successes / n,
        1.0,
        near=float(special.betainccinv(successes + 1.0, n - successes, math.exp(log_p))),
    )


@theorem(
    source="Literature",
    place="Clopper & Pearson 1934, two-sided",
    statement="For iid 0/1 values the interval of the two one-sided exact bounds at e^{log_p}/2 "
    "each covers the truth with probability >= 1 - e^{log_p}; it lies inside the KL interval.",
    domain="n >= 1, 0 <= successes <= n, log_p <= 0; iid 0/1 values",
    monotone={"successes": "up"},
    slack="conservative by the discreteness and by halving the level",
)
def clopper_pearson(n: int, successes: int, log_p: float) -> Interval:
    """The exact two-sided interval, rounded outwards."""
    side = require.log_probability("log_p", log_p) - _LN2
    n = require.positive_integer("n", n)
    successes = require.integer_between("successes", successes, 0, n)
    low = _mirrored(_exact_upper(n, n - successes, side))
    return Interval(low, _exact_upper(n, successes, side))


def clopper_pearson_within(n: int, successes: int, log_p: float, claim: Interval) -> bool:
    """Whether `clopper_pearson` is inside a claim; an end is computed only where it is close."""
    side = require.log_probability("log_p", log_p) - _LN2
    low, high = claim
    return _upper_fits(
        n, n - successes, side, 1.0 - low, lambda upper: low <= _mirrored(upper)
    ) and _upper_fits(n, successes, side, high, lambda upper: upper <= high)


def _upper_fits(
    n: int, successes: int, log_p: float, end: float, fits: Callable[[float], bool]
) -> bool:
    """Whether Clopper and Pearson's upper bound fits; what does is up to about `end`.

    The bound is where the tail falls below the level. A tail that is below it a little before the
    end, or not yet a little beyond it, decides.
    """
    if fits(1.0):
        return True
    inside, beyond = end * (1 - _NEAR), end * (1 + _NEAR)
    if 0 < successes < n:
        if fits(inside) and _rejects(n, successes, log_p, inside):
            return True
        if not fits(beyond) and not _rejects(n, successes, log_p, beyond):
            return False
    return fits(clopper_pearson_upper(n, successes, log_p))


def _rejects(n: int, successes: int, log_p: float, p: float) -> bool:
    """Whether so few successes, or fewer, have a probability below the level at a rate of p."""
    share = successes / n
    if not share < p < 1.0:
        return p >= 1.0
    # Chernoff's bound is quick. Where it is far below the level, so is the exact tail.
    if 0.999 * n * _kl(share, p) > 1.0 - log_p:
        return True
    return log_binomial_cdf(n, successes, p) < log_p


@theorem(
    source="Literature",
    place="Chernoff 1952; Hoeffding 1963, Theorem 1",
    statement="For n independent [0, 1] values, sup{p : n kl(mean, p) <= L} is an upper bound on "
    "the mean's expectation at one-sided level e^{-L}.",
    domain="n >= 1, 0 <= mean <= 1, L >= 0; independent [0, 1] values",
    monotone={"n": "down", "mean": "up", "L": "up"},
    slack="polynomial factor against the exact binomial bound",
)
def kl_upper(n: int, mean: float, L: float) -> float:
    """The one-sided Chernoff bound, rounded up."""
    n = require.positive_integer("n", n)
    mean = require.between("mean", mean, 0.0, 1.0)
    L = require.non_negative("L", L)
    if mean == 1.0:
        return 1.0
    if mean == 0.0:
        return min(1.0, round_up(-math.expm1(-L / n)))
    mean = max(mean, _LEAST_MEAN)  # the bound grows with the mean: upwards
    target = L / n * (1 + 8 * _EPS)
    return smallest_true(lambda p: p >= 1.0 or _kl(mean, p) > target, mean, 1.0)


@theorem(
    source="Literature",
    place="Chernoff 1952; Hoeffding 1963, Theorem 1, two-sided",
    statement="For n independent [0, 1] values, {p : n kl(mean, p) <= ln 2 - log_p} covers with "
    "probability >= 1 - e^{log_p} and is never wider than Hoeffding's interval.",
    domain="n >= 1, 0 <= mean <= 1, log_p <= 0; independent [0, 1] values",
    monotone={"mean": "up"},
    slack="polynomial factor against the exact binomial interval",
)
def kl_interval(n: int, mean: float, log_p: float) -> Interval:
    """The two-sided Chernoff interval, rounded outwards."""
    L = _LN2 - require.log_probability("log_p", log_p)
    return Interval(_mirrored(kl_upper(n, 1.0 - mean, L)), kl_upper(n, mean, L))


def _mirrored(upper: float) -> float:
    """1 - upper, rounded down: the subtraction (and 1 - mean) may be off by half a unit of 1."""
    return max(0.0, 1.0 - upper - _EPS)


def _power_of_ten(number: float) -> int:
    """That of its first digit."""
    return Decimal(number).adjusted() if number else 0


def _rounded(number: float, last_place: int, rounding: str) -> Decimal:
    """The number up to a power of ten, in the direction said, without its own rounding error."""
    # What is below 1e-13 of the number is error, unless digits are wanted there.
    digits = max(_TRUE_DIGITS, _power_of_ten(number) - last_place + 3)
    exact = Context(prec=digits).create_decimal(Decimal(number))
    rounded = exact.quantize(Decimal((0, (1,), last_place)), rounding, Context(prec=digits + 2))
    return rounded if rounded else abs(rounded)  # a zero without a sign


def _is_beside(end: float, mark: float, number: float) -> bool:
    """Whether what is written is on the same side of a mark as the number, or at it as that is."""
    if number == mark:
        return math.isclose(end, mark, rel_tol=10.0**-_TRUE_DIGITS)
    return (end > mark) == (number > mark) and (end < mark) == (number < mark)


def _digits(end: float, rounding: str) -> str:
    """An end with all digits that can be true of it."""
    if end == 0.0 or math.isinf(end):
        return str(end + 0.0)
    return repr(float(_rounded(end, _power_of_ten(end) - _TRUE_DIGITS + 2, rounding)))


def _kl(mean: float, p: float) -> float:
    """kl(mean, p) for 0 < mean < p < 1, stable for p near mean."""
    gap = p - mean
    return -mean * math.log1p(gap / mean) - (1 - mean) * math.log1p(-gap / (1 - mean))


def log_binomial_cdf(n: int, successes: int, p: float) -> float:
    """An upper bound on ln P[Bin(n, p) <= successes], however small."""
    if successes >= n or p <= 0.0:
        return 0.0
    if p >= 1.0 or successes < 0:
        return -math.inf
    if successes == 0:
        return min(0.0, round_up(n * math.log1p(-p)))
    a, b = float(n - successes), successes + 1.0
    # I_{1-p}(a, b), asked for through p: 1 - p would lose the digits of a small p.
    plain = float(special.betaincc(b, a, p))
    if plain > math.exp(_DEEP):
        return min(0.0, math.log(plain) + 1e-9)
    terms = (a * math.log1p(-p), b * math.log(p), -math.log(a), -float(special.betaln(a, b)))
    # betaln is a difference of log-gammas, whose size (not its own) sets its error.
    size = sum(abs(term) for term in terms) + float(special.gammaln(a + b))
    error = 8 * _EPS * size
    return sum(terms) + math.log(_beta_fraction(a, b, 1.0 - p)) + error + 1e-12


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b) (DLMF 8.17.22) by Lentz's method; quick for small x."""
    value, C, D = 1.0, 1.0, 0.0
    for i in range(1, 20_000):
        m = i // 2
        if i % 2 == 0:
            coefficient = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            coefficient = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        D = 1.0 / (1.0 + coefficient * D)
        C = 1.0 + coefficient / C
        value *= C * D
        if abs(C * D - 1.0) < 1e-15:
            break
    return 1.0 / value


# Shares of independent rows that are not alike.


def unlike_level(log_alpha: float) -> float:
    """ln(alpha(1 - alpha)), rounded down, for alpha at most 1/4: the level for unlike rows."""
    log_alpha = min(require.log_probability("log_alpha", log_alpha), math.log(0.25))
    return round_down(log_alpha + math.log1p(-math.exp(log_alpha)))


def two_sided_unlike_level(log_p: float) -> float:
    """The level of `clopper_pearson`, which halves it, for two bounds at e^{log_p}/2 each."""
    return round_down(unlike_level(level_share(log_p)) + math.log(2.0))


@theorem(
    source="Holdfast",
    place="Section 12.1 (Hoeffding 1956, Theorem 4; Greenberg & Mohri 2014)",
    statement="For independent 0/1 rows that need not be alike, Clopper and Pearson's upper bound "
    "at level alpha(1 - alpha) is below the average rate with probability at most alpha <= 1/4.",
    domain="n >= 1, 0 <= successes <= n, log_alpha <= 0 (above 1/4 it is taken as 1/4)",
    monotone={"successes": "up", "log_alpha": "down"},
    slack="at alpha itself the miss can be 1.07 alpha, so hardly any",
)
def independent_clopper_pearson_upper(n: int, successes: int, log_alpha: float) -> float:
    """The one-sided bound on the average rate, rounded up.

    *Proof.* The bound misses the average rate r iff S <= s*, the largest s with P[Bin(n, r) <= s]
    < alpha' = alpha(1 - alpha). If s* <= n r - 1, Hoeffding's theorem says P[S <= s*] <= P[Bin <=
    s*]. Otherwise s* >= floor(n r), so P[Bin <= n r] < 1/4, which by Greenberg and Mohri needs r >=
    1 - 1/n; then s* = n - 1, r^n > 1 - alpha', and P[S <= n - 1] <= n(1 - r) <= -ln(1 - alpha') <=
    alpha.
    """
    return clopper_pearson_upper(n, successes, unlike_level(log_alpha))


def independent_clopper_pearson(n: int, successes: int, log_p: float) -> Interval:
    """Both one-sided bounds at e^{log_p}/2, rounded outwards."""
    return clopper_pearson(n, successes, two_sided_unlike_level(log_p))


@theorem(
    source="Literature",
    place="Bentkus 2004, On Hoeffding's inequalities (at integers); section 12.1",
    statement="For independent rows in [0, 1], alike or not, with sum S and average mean mu, "
    "P[S <= k] <= e P[Bin(n, mu) <= k] for every integer k, so Clopper and Pearson's upper bound "
    "of ceil(S) successes at e^{log_q}/e is below mu with probability at most e^{log_q}.",
    domain="n >= 1, 0 <= total <= n, log_q <= 0; independent rows",
    monotone={"total": "up", "log_q": "down"},
    slack="a factor e in the level; a small variance is not used",
)
def bentkus_upper(n: int, total: float, log_q: float) -> float:
    """An upper bound on the average mean that needs only the rows' sum, rounded up."""
    n = require.positive_integer("n", n)
    total = require.between("total", total, 0.0, n)
    level = round_down(require.log_probability("log_q", log_q) - 1.0)
    return clopper_pearson_upper(n, math.ceil(total), level)


def share_interval(hits: int, misses: int, log_p: float) -> Interval:
    """Clopper and Pearson's interval for a share among the rows that count; [0, 1] without any.

    Which of alike rows count may be random: given which, the hits are binomial. This is precision
    (among those predicted), recall (among those labelled), Jaccard's index (true positives among
    the rows that are not true negatives), and a mean of 0/1 values inside a group.
    """
    hits = require.integer_at_least("hits", hits, 0)
    misses = require.integer_at_least("misses", misses, 0)
    require.log_probability("log_p", log_p)
    return clopper_pearson(hits + misses, hits, log_p) if hits + misses else Interval(0.0, 1.0)


# Quantiles by order statistics, and all thresholds at once.
#
# Symbols: n rows with distribution function F (for rows that are not alike, the average of theirs),
# X_(1) <= ... <= X_(n) the sorted sample, F_n its distribution function, q the quantile's share, p
# the two-sided level. A quantile is inf{x : F(x) >= q}, the `inverted_cdf` of a sample.


@theorem(
    source="Literature",
    place="order statistics (Thompson 1936), exact; section 12.5",
    statement="For alike rows the q-quantile is in [X_(r), X_(s)] with probability >= 1 - "
    "e^{log_p}, r the largest with P[Bin(n, q) <= r - 1] and s the least with P[Bin(n, q) >= s] at "
    "most e^{log_p}/2; 0 and n + 1 stand for the declared ends. Rows that are not alike: at "
    "alpha(1 - alpha), alpha = e^{log_p}/2.",
    domain="n >= 1, 0 < q < 1, log_p <= 0; independent rows; one event for each q",
    slack="none but the discreteness of ranks and halving the level",
)
def quantile_ranks(n: int, q: float, log_p: float, *, alike: bool = True) -> tuple[int, int]:
    """The two ranks, rounded outwards.

    *Proof.* X_(r) is above the quantile iff at most r - 1 rows are at or below it, each with
    probability at least q; X_(s) is below it iff s rows are, each with probability at most q.
    """
    n = require.positive_integer("n", n)
    q = require.probability("q", q)
    side = _side_level(level_share(log_p), alike)
    complement = float_below(1 - Fraction(q))
    low = largest_integer(lambda r: log_binomial_cdf(n, r - 1, q) <= side, most=n)
    high = smallest_integer(lambda s: log_binomial_cdf(n, n - s, complement) <= side, most=n)
    return low, n + 1 if high is None else high


@theorem(
    source="Literature",
    place="Dvoretzky, Kiefer & Wolfowitz 1956 with Massart's constant 1990, Corollary 1",
    statement="For alike rows sup_x |F_n(x) - F(x)| <= sqrt(ln(2/p)/(2n)) with probability >= 1 - "
    "p, p = e^{log_p}.",
    domain="n >= 1, log_p <= 0; iid rows",
    monotone={"n": "down", "log_p": "down"},
    slack="none at F = 1/2; rare events are far better known, see `cdf_band_lower`",
)
def dkw_radius(n: int, log_p: float) -> float:
    """The half-width of the band around F_n, rounded up."""
    return _band_radius(require.positive_integer("n", n), require.log_probability("log_p", log_p))


def _band_radius(n: int, log_p: float) -> float:
    return round_up(math.sqrt((math.log(2.0) - log_p) / (2 * n)))


def band_points(n: int, log_p: float) -> int:
    """K, the number of quantiles whose union the binomial band pays for."""
    points = 200
    for _ in range(6):
        points = math.ceil(10 * math.pi * math.sqrt(n / (2 * (math.log(2 * points) - log_p))))
    return points


@theorem(
    source="Holdfast",
    place="Section 12.5, binomial band on a grid of quantiles",
    statement="For all x at once, with probability >= 1 - e^{log_p}/2, F(x) is at least the "
    "largest u_k = sin^2(pi(k + 1/2)/(2K)) with P[Bin(n, u_k) >= n F_n(x)] <= e^{log_p}/(2K). The "
    "mirrored statement for 1 - F is the other half of the level.",
    domain="n >= 1, 0 <= count <= n, log_p <= 0; alike rows, or unlike at alpha(1 - alpha)",
    monotone={"count": "up"},
    slack="the union over K quantiles: as wide as DKW at F = 1/2, three to six times narrower for "
    "rare events",
)
def cdf_band_lower(
    n: int, count: int, log_p: float, *, alike: bool = True, beyond: float = 0.0
) -> float:
    """A lower bound on F(x) from the `count` rows at or below x; 0 where nothing is known.

    What is known `beyond` another bound is looked for; where that is nothing, 0 is said as well.

    *Proof.* Let x_k be the u_k-quantile. If F(x) < u_k then x < x_k, so n F_n(x) is at most the
    number of rows below x_k, which reaches c with probability at most P[Bin(n, u_k) >= c]. A
    union over the K quantiles; P[Bin(n, u) >= c] rises in u, so the largest k is found by halving.
    """
    n = require.positive_integer("n", n)
    count = require.integer_between("count", count, 0, n)
    log_p = require.log_probability("log_p", log_p)
    return _band_lower(n, count, _band(n, log_p, alike=alike), beyond=beyond)


def _band(n: int, log_p: float, *, alike: bool) -> tuple[int, float]:
    """The points of the band, and the level of its lower end at each."""
    points = band_points(n, log_p)
    return points, _side_level(level_share(log_p, 0.5 / points), alike)


def _band_lower(n: int, count: int, band: tuple[int, float], *, beyond: float) -> float:
    points, level = band

    def share(k: int) -> float:  # k from 1
        return math.sin(math.pi * (k - 0.5) / (2 * points)) ** 2

    def rejects(k: int) -> bool:
        return log_binomial_cdf(n, n - count, float_below(1 - Fraction(share(k)))) <= level

    first = bisect_right(range(1, points + 1), beyond, key=share)  # so many are no better
    if first == points:
        return 0.0
    more = largest_integer(lambda k: rejects(first + k), most=points - first)
    return share(first + more) if more else 0.0


def threshold_interval(n: int, count: int, log_p: float, *, alike: bool = True) -> Interval:
    """F(x) from the rows at or below x, for all x at once: DKW and the band at half the level each.

    For rows that are not alike only the band is proved, and takes the whole level.
    """
    n = require.positive_integer("n", n)
    count = require.integer_between("count", count, 0, n)
    log_p = require.log_probability("log_p", log_p)
    part = level_share(log_p) if alike else log_p
    low, high = 0.0, 1.0
    if alike:
        radius = _band_radius(n, part)
        low = max(low, round_down(count / n - radius))
        high = min(high, round_up(count / n + radius))
    band = _band(n, part, alike=alike)
    low = max(low, _band_lower(n, count, band, beyond=low))
    above = _band_lower(n, n - count, band, beyond=round_down(1.0 - high))
    return Interval(low, min(1.0, round_up(min(high, 1.0 - above))))


def _side_level(log_alpha: float, alike: bool) -> float:
    return log_alpha if alike else unlike_level(log_alpha)
