"""Concentration: how far a question's sample value is from the truth, had it been fixed beforehand.

A profile has two inverse functions. ``log_tail(a)`` is an upper bound on ln P[|q(X) - theta| > a];
``radius(log_p)`` is the least a with ``log_tail(a) <= log_p``. Both are rounded up.

Symbols: q the question, X the sample of n rows, theta = E q(X), a the deviation, sigma the
sub-Gaussian scale, b the sub-exponential scale. Bassily and Freund's gamma_n is ``-log_tail``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_up, smallest_true
from holdfast.theory.base.theorem import SourceNote, theorem

_LN2 = math.log(2.0)


class Concentration(Protocol):
    """A tail bound and its inverse, valid for a question fixed before the sample was seen."""

    def log_tail(self, radius: float) -> float: ...
    def radius(self, log_p: float) -> float: ...


class _Scaled(Protocol):
    @property
    def sigma(self) -> float: ...


def sub_gaussian_log_tail(self: _Scaled, radius: float) -> float:
    """min(0, ln 2 - a^2/(2 sigma^2))."""
    a = require.non_negative("radius", radius)
    return min(0.0, round_up(_LN2 - 0.5 * (a / self.sigma) ** 2))


def sub_gaussian_radius(self: _Scaled, log_p: float) -> float:
    """sigma sqrt(2 (ln 2 - log_p))."""
    log_p = require.log_probability("log_p", log_p)
    return round_up(self.sigma * math.sqrt(2.0 * (_LN2 - log_p)))


@theorem(
    source="BF2",
    place="Section 2.2, sub-Gaussian queries",
    statement="If E exp(t(q - theta)) <= exp(t^2 sigma^2/2) for all t, whatever the dependence "
    "of the rows, then P[|q - theta| > a] <= 2 exp(-a^2/(2 sigma^2)).",
    domain="sigma > 0",
    monotone={"sigma": "up"},
    slack="the factor 2 is lost at a = 0; at most ln 2 + ln(a/sigma) + O(1) nats for a Gaussian",
    printed="sub_gaussian_log_tail_printed",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "Section 2.2 (and BF1, Section 2.2): inclusions of query classes",
            "gamma_n(a) <= a^2/(2 sigma^2) (likewise 2a^2/(n Delta^2)) puts the class inside "
            "Q_gamma",
            "gamma_n(a) = a^2/(2 sigma^2) - ln 2, cut at 0",
            "Two-sided tails carry a factor 2: a fair coin with values 0 and 1 is "
            "1/2-sub-Gaussian and deviates by 1/2 surely, where the printed bound says exp(-1/2).",
        ),
        SourceNote(
            "slip",
            "BF2",
            "Definition 2.4 (and BF1, Section 2.2)",
            "P[|q - E q| > a] < exp(-gamma_n(a)) for all a > 0",
            "<= instead of <",
            "The words before it say 'with probability at least 1 - exp(-gamma_n(a))', which is "
            "<=. With '<' a fair coin is in no class at all: it deviates by more than a < 1/2 "
            "surely, and exp(-gamma_n) is at most 1.",
        ),
    ),
)
@dataclass(frozen=True, slots=True)
class SubGaussian:
    """A statistic whose deviation is sub-Gaussian with scale sigma: any population, declared."""

    sigma: float
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive("sigma", self.sigma)


@theorem(
    source="BF2",
    place="Section 2.2, Delta-sensitive queries (McDiarmid)",
    statement="If changing one of n independent rows changes q by at most delta, then q is "
    "sub-Gaussian with sigma = delta sqrt(n)/2.",
    domain="n >= 1, delta > 0; independent rows",
    monotone={"n": "up", "delta": "up"},
    slack="that of the sub-Gaussian tail",
)
@dataclass(frozen=True, slots=True)
class BoundedDifferences:
    """McDiarmid: any statistic of n independent rows that one row moves by at most delta."""

    n: int
    delta: float
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        require.positive("delta", self.delta)

    @property
    def sigma(self) -> float:
        return 0.5 * self.delta * math.sqrt(self.n)


@theorem(
    source="Literature",
    place="Hoeffding 1963, Theorem 2",
    statement="The mean of n independent values in [low, high] is sub-Gaussian with "
    "sigma = (high - low)/(2 sqrt n).",
    domain="n >= 1, low < high; independent rows",
    monotone={"n": "down", "high": "up", "low": "down"},
    slack="none in the exponent for fair coins; a variance below (high - low)^2/4 is not used",
)
@dataclass(frozen=True, slots=True)
class BoundedMean:
    """Hoeffding: the mean of n independent values in [low, high]."""

    n: int
    low: float = 0.0
    high: float = 1.0
    sigma: float = field(init=False, repr=False, compare=False)
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        _require_range(self.low, self.high)
        object.__setattr__(self, "sigma", 0.5 * (self.high - self.low) / math.sqrt(self.n))


@theorem(
    source="Literature",
    place="Zubkov & Serov 2013, Theorem 1, with Pinsker's inequality",
    statement="The share of ones among n iid 0/1 values is within 1/n + z/(2 sqrt n) of its "
    "expectation with probability >= 1 - e^{log_p}, Phi(-z) = e^{log_p}/2, whatever the "
    "expectation; and the exact (Clopper-Pearson) interval at e^{log_p}/2 a side is inside the "
    "share -+ that.",
    domain="n >= 1; iid 0/1 values",
    monotone={"n": "down"},
    slack="about 1/(2n) above the exact supremum over all expectations; at most Hoeffding's",
)
@dataclass(frozen=True, slots=True)
class BinomialMean:
    """The share of ones among n values that are 0 or 1, independent and alike.

    For S ~ Bin(n, theta) and s - 1 >= n theta, P[S >= s] <= Q(sqrt(2 n kl((s - 1)/n, theta))) is at
    most Q(2 sqrt n ((s - 1)/n - theta)), Q = 1 - Phi. So P[S >= s] <= p/2 at theta = s/n - a for
    a = 1/n + z/(2 sqrt n), for every s: the exact lower bound at level p/2 is never further than a
    below s/n. The other side is its mirror.
    """

    n: int

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)

    def log_tail(self, radius: float) -> float:
        plain = BoundedMean(self.n).log_tail(radius)
        beyond = radius - round_up(1 / self.n)
        if beyond <= 0.0:
            return plain
        sides = _LN2 + float(special.log_ndtr(-2 * math.sqrt(self.n) * beyond))
        return min(plain, round_up(sides, 64))

    def radius(self, log_p: float) -> float:
        plain = BoundedMean(self.n).radius(log_p)
        z = -float(special.ndtri_exp(log_p - _LN2))
        return min(plain, round_up(1 / self.n + max(0.0, z) / (2 * math.sqrt(self.n)), 64))


@theorem(
    source="Literature",
    place="Hoeffding 1963, section 5 (two-sample U-statistics)",
    statement="The share of (positive, negative) pairs ranked rightly, ties counted 1/2 (AUC), is "
    "sub-Gaussian with sigma = 1/(2 sqrt(min(n_pos, n_neg))), labels being fixed by design.",
    domain="n_pos >= 1, n_neg >= 1; independent rows within each class",
    monotone={"n_pos": "down", "n_neg": "down"},
    slack="up to sqrt 2 in the width for equal classes",
)
@dataclass(frozen=True, slots=True)
class TwoSampleU:
    """The AUC and other two-sample averages of a kernel with values in [0, 1]."""

    n_pos: int
    n_neg: int
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("n_pos", self.n_pos)
        require.positive_integer("n_neg", self.n_neg)

    @property
    def sigma(self) -> float:
        return 0.5 / math.sqrt(min(self.n_pos, self.n_neg))


@theorem(
    source="BF2",
    place="Section 2.2, sub-exponential queries",
    statement="If E exp(t(q - theta)) <= exp(t^2 sigma^2/2) for |t| <= 1/b, then ln P[|q - "
    "theta| > a] <= ln 2 - a^2/(2 sigma^2) up to a = sigma^2/b and ln 2 - a/b + sigma^2/(2 b^2) "
    "beyond.",
    domain="sigma > 0, b > 0",
    monotone={"sigma": "up", "b": "up"},
    slack="that of Chernoff's bound",
    printed="sub_exponential_log_tail_printed",
    notes=(
        SourceNote(
            "slip",
            "BF2",
            "Section 2.2, sub-exponential queries (and BF1, Section 2.2)",
            "gamma_n(a) <= min(a^2/(2 sigma^2), sigma^2/(2 b^2))",
            "a/b - sigma^2/(2 b^2) - ln 2 for a beyond sigma^2/b",
            "ln 2 is missing: a fair coin is (1/2, b)-sub-exponential for every b and refutes it. "
            "And the printed gamma saturates: no radius would ever reach a probability below "
            "exp(-sigma^2/(2 b^2)), though the tail goes on falling.",
        ),
    ),
)
@dataclass(frozen=True, slots=True)
class SubExponential:
    """A statistic with sub-exponential deviations: declared, any population."""

    sigma: float
    b: float

    def __post_init__(self) -> None:
        require.positive("sigma", self.sigma)
        require.positive("b", self.b)

    def log_tail(self, radius: float) -> float:
        a = require.non_negative("radius", radius)
        if a <= self.sigma**2 / self.b:
            return sub_gaussian_log_tail(self, a)
        return min(0.0, round_up(_LN2 - (a / self.b - 0.5 * (self.sigma / self.b) ** 2)))

    def radius(self, log_p: float) -> float:
        e = _LN2 - require.log_probability("log_p", log_p)
        if e <= 0.5 * (self.sigma / self.b) ** 2:
            return round_up(self.sigma * math.sqrt(2.0 * e))
        return round_up(self.b * e + 0.5 * self.sigma**2 / self.b)


@theorem(
    source="Literature",
    place="Bernstein 1924; Boucheron, Lugosi & Massart 2013, Corollary 2.11",
    statement="If n independent values have average variance at most `variance` (a public bound) "
    "and range `width`, the mean obeys ln P[|mean - theta| > a] <= ln 2 - n a^2/(2(variance + "
    "width a/3)).",
    domain="n >= 1, variance >= 0, width > 0; the variance bound is public",
    monotone={"n": "down", "variance": "up", "width": "up"},
    slack="exponent exact to first order for small a",
)
@dataclass(frozen=True, slots=True)
class Bernstein:
    """The mean of n independent values of range `width` whose variance has a public bound."""

    n: int
    variance: float
    width: float = 1.0

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        require.non_negative("variance", self.variance)
        require.positive("width", self.width)

    def log_tail(self, radius: float) -> float:
        a = require.non_negative("radius", radius)
        if a == 0.0:
            return 0.0
        return min(
            0.0, round_up(_LN2 - 0.5 * self.n * a * a / (self.variance + self.width * a / 3))
        )

    def radius(self, log_p: float) -> float:
        L = _LN2 - require.log_probability("log_p", log_p)
        linear = L * self.width / (3 * self.n)
        return round_up(linear + math.sqrt(linear**2 + 2 * self.variance * L / self.n))


@theorem(
    source="BF2",
    place="Definition 2.4",
    statement="A question is gamma_n-concentrated if P[|q(X) - theta| > a] <= exp(-gamma_n(a)) "
    "for every a > 0; nothing else is assumed of rows or question.",
    domain="a non-increasing function of the deviation that reaches every probability needed",
    slack="whatever the declaration has",
)
@dataclass(frozen=True, slots=True)
class DeclaredTail:
    """The user's own log-tail function: whatever the user can state and defend.

    It is checked to be non-increasing on a grid of deviations from 1e-9 `largest` to `largest`.
    """

    function: Callable[[float], float]
    largest: float = 1.0

    def __post_init__(self) -> None:
        largest = require.positive("largest", self.largest)
        last = math.inf
        for step in range(61):
            a = largest * 10.0 ** (-9 + 9 * step / 60)
            value = self.function(a)
            if math.isnan(value) or value > last + 1e-12:
                raise InvalidArgument(
                    f"the declared log_tail is {value!r} at deviation {a:.3g}, after {last!r} at a "
                    "smaller deviation; it must be a non-increasing function."
                )
            last = value

    def log_tail(self, radius: float) -> float:
        return min(0.0, float(self.function(require.non_negative("radius", radius))))

    def radius(self, log_p: float) -> float:
        log_p = require.log_probability("log_p", log_p)
        if not self.log_tail(self.largest) <= log_p:
            raise InvalidArgument(
                f"the declared log_tail is {self.log_tail(self.largest):.6g} at its largest "
                f"deviation {self.largest:g}, above log_p = {log_p:.6g}; declare a larger "
                f"`largest`."
            )
        return smallest_true(lambda a: self.log_tail(a) <= log_p, 0.0, self.largest)


def _require_range(low: float, high: float) -> None:
    require.finite("low", low)
    require.finite("high", high)
    if low >= high:
        raise InvalidArgument(f"low is {low!r} and high is {high!r}; low must be below high.")
