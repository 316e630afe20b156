"""Section 13.3: what released intervals already imply, in exact arithmetic.

A claim that is true whenever all earlier released claims are true may be confirmed from the public
history, at no charge and with no weight; one that is false whenever they are true may be refuted.
{the implied claim is false} is inside {an earlier claim is false}, and its symbol is a function of
the history. Any consequence of released claims may also be assumed in a test's null: if one side of
a claim is implied, only the other is tested.

Only released intervals may be used: an interval that was computed and not told is a further event,
and twenty of them at level 1/4 fail with probability .997.

Ends are read as the exact numbers that their floats are, and what follows from them is rounded
outwards. Where released claims contradict each other, which has probability at most beta, nothing
is implied any more: None.

Symbols: theta the truth of a part, [l, h] its released interval.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below
from holdfast.theory.base.theorem import theorem

_Number: TypeAlias = Fraction | float  # floats stand for infinite ends alone
_ROOT_BITS = 200
_ZERO, _ONE = Fraction(0), Fraction(1)


def _exact(end: float) -> _Number:
    return end if math.isinf(end) else Fraction(end)


def _outwards(low: _Number, high: _Number) -> Interval | None:
    """The least interval of floats around these ends; None if they contradict each other."""
    if low > high:
        return None
    return Interval(
        float_below(low) if isinstance(low, Fraction) else low,
        float_above(high) if isinstance(high, Fraction) else high,
    )


def _between(low: float, high: float) -> Interval | None:
    """The interval between two of the ends themselves, exactly; None if they contradict."""
    return Interval(low + 0.0, high + 0.0) if low <= high else None  # no -0


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 7",
    statement="A truth that is in each of several intervals is in their intersection.",
    domain="intervals of one part, at least one",
    slack="none",
)
def intersection_implied(intervals: Iterable[Interval]) -> Interval | None:
    """The intersection; None if the intervals contradict each other."""
    each = list(intervals)
    if not each:
        raise InvalidArgument("no interval was released of this part; give at least one.")
    return _between(
        max([interval.low for interval in each]), min([interval.high for interval in each])
    )


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 1: linear functions",
    statement="factor theta + offset is in factor [l, h] + offset: error = 1 - accuracy, a sum or "
    "a count = N theta with the public N, difference(b, a) = -difference(a, b), and the share of "
    "the complement = 1 - theta, where no row can be missing or both are of the same known rows.",
    domain="factor not 0",
    slack="none",
)
def linear_implied(
    interval: Interval, factor: Fraction | float = 1.0, offset: Fraction | float = 0.0
) -> Interval:
    """factor [l, h] + offset, rounded outwards."""
    if not factor or not math.isfinite(factor) or not math.isfinite(offset):
        raise InvalidArgument(
            f"the factor is {factor} and the offset {offset}; give finite ones, the factor not 0."
        )
    slope, start = Fraction(factor), Fraction(offset)
    ends = [slope * _exact(end) + start for end in interval]
    return _not_empty(_outwards(min(ends), max(ends)))


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 1: std from variance",
    statement="The root of a number in [l, h], which is not below 0, is in "
    "[sqrt(max(0, l)), sqrt(h)].",
    domain="h >= 0",
    slack="2^-200",
)
def root_implied(interval: Interval) -> Interval | None:
    """The standard deviation from the variance; None if even the upper end is below 0."""
    if interval.high < 0.0:
        return None
    low, high = _exact(max(0.0, interval.low)), _exact(interval.high)
    return _outwards(_root_below(low), -_root_below(high, above=True))


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 1: variance from std",
    statement="The square of a number in [l, h], which is not below 0, is in [max(0, l)^2, h^2].",
    domain="h >= 0",
    slack="none",
)
def square_implied(interval: Interval) -> Interval | None:
    """The variance from the standard deviation; None if even the upper end is below 0."""
    if interval.high < 0.0:
        return None
    return _outwards(_exact(max(0.0, interval.low)) ** 2, _exact(interval.high) ** 2)


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 2",
    statement="theta_a - theta_b is in [l_a - h_b, h_a - l_b], for two means of the same rows, and "
    "for a difference of two groups from the groups' means.",
    domain="two intervals",
    slack="none without more being known",
)
def difference_implied(first: Interval, second: Interval) -> Interval:
    """The difference of two truths, rounded outwards."""
    return _not_empty(
        _outwards(
            _exact(first.low) - _exact(second.high),
            _exact(first.high) - _exact(second.low),
        )
    )


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 3: both",
    statement="max(0, a + b - 1) <= P(A and B) <= min(a, b), for shares of the same rows.",
    domain="intervals of two shares of the same rows, of known conditions",
    slack="none: the bounds of Frechet",
)
def conjunction_implied(first: Interval, second: Interval) -> Interval | None:
    """The share where both hold; None if the shares cannot be."""
    low = _exact(first.low) + _exact(second.low) - 1
    return _outwards(max(_ZERO, low), min(_exact(first.high), _exact(second.high)))


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 3: either",
    statement="max(a, b) <= P(A or B) <= min(1, a + b), for shares of the same rows.",
    domain="intervals of two shares of the same rows, of known conditions",
    slack="none: the bounds of Frechet",
)
def disjunction_implied(first: Interval, second: Interval) -> Interval | None:
    """The share where one of them holds, or both; None if the shares cannot be."""
    high = _exact(first.high) + _exact(second.high)
    return _outwards(max(_exact(first.low), _exact(second.low)), min(_ONE, high))


class ThresholdCut(NamedTuple):
    """Where values are above: at `constant` or above it, or above it alone (`strict`).

    Cuts are ordered as pairs: of finite floats, as of fractions, that is exact.
    """

    constant: Fraction | float
    strict: bool = False


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 4: thresholds of one value",
    statement="P(f > c) and P(f >= c) fall in c, and the first is not above the second.",
    domain="released shares of values above cuts, of the same rows; values that cannot be missing, "
    "or shares of the same known rows",
    slack="none",
)
def threshold_implied(
    cut: ThresholdCut, released: Mapping[ThresholdCut, Interval]
) -> Interval | None:
    """The share of values above a cut, from those above others; None if they contradict."""
    later = [interval.low for each, interval in released.items() if each >= cut]
    earlier = [interval.high for each, interval in released.items() if each <= cut]
    return _between(max(later, default=0.0), min(earlier, default=1.0))


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 4: a quantile from shares",
    statement="Q(q) <= c iff P(f > c) <= 1 - q: where P(f > c) or P(f >= c) is in [l, h], "
    "h <= 1 - q gives Q(q) <= c, and l > 1 - q gives Q(q) >= c.",
    domain="0 < q < 1; released shares of values above cuts, of values that cannot be missing",
    slack="none but the constants that were asked",
)
def quantile_implied(q: Fraction, released: Mapping[ThresholdCut, Interval]) -> Interval | None:
    """The least c with P(f <= c) >= q, from shares above cuts; None if they contradict."""
    shares = [(Fraction(cut.constant), share) for cut, share in released.items()]
    above = [constant for constant, share in shares if _exact(share.high) <= 1 - q]
    below = [constant for constant, share in shares if _exact(share.low) > 1 - q]
    return _outwards(max(below, default=-math.inf), min(above, default=math.inf))


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 4: shares from a quantile",
    statement="Q(q) in [l, h] gives P(f > h) <= 1 - q and P(f >= l) >= 1 - q.",
    domain="0 < q < 1, the interval of a quantile of values that cannot be missing",
    slack="none but the levels that were asked",
)
def cuts_implied(q: Fraction, quantile: Interval) -> dict[ThresholdCut, Interval]:
    """The shares above the two ends of a quantile's interval, as far as the ends are finite."""
    share = _not_empty(_outwards(1 - q, 1 - q))
    low, high = quantile
    lower = {ThresholdCut(low): Interval(share.low, 1.0)} if math.isfinite(low) else {}
    cut = ThresholdCut(high, strict=True) if math.isfinite(high) else None
    return lower if cut is None else {**lower, cut: Interval(0.0, share.high)}


@theorem(
    source="Holdfast",
    place="Section 13.3, rule 5",
    statement="The mean of a whole is sum pi_g theta_g over a partition that is exhaustive: it is "
    "between the least and the largest such sum over the released boxes with sum pi_g = 1.",
    domain="(share, mean) intervals of each group, finite; groups disjoint and exhaustive",
    slack="none without more being known",
)
def whole_implied(groups: Sequence[tuple[Interval, Interval]]) -> Interval | None:
    """The mean of the whole; None if no shares of these sum to 1.

    A linear programme in the shares: what is left of 1 goes to the least means first.
    """
    for share, mean in groups:
        if not all(map(math.isfinite, (*share, *mean))):
            raise InvalidArgument(f"a group has {share} and {mean}; give finite ends.")
    shares = [(max(_ZERO, Fraction(share.low)), Fraction(share.high)) for share, _ in groups]
    if any(low > high for low, high in shares):
        return None
    remaining = 1 - sum((low for low, _ in shares), _ZERO)
    if remaining < 0 or sum((high for _, high in shares), _ZERO) < 1:
        return None
    lows = [Fraction(mean.low) for _, mean in groups]
    highs = [Fraction(mean.high) for _, mean in groups]
    return _outwards(
        _least_sum(shares, lows, remaining),
        -_least_sum(shares, [-high for high in highs], remaining),
    )


def _least_sum(
    shares: Sequence[tuple[Fraction, Fraction]], means: Sequence[Fraction], remaining: Fraction
) -> Fraction:
    total = _ZERO
    for mean, (low, high) in sorted(zip(means, shares, strict=True)):
        more = min(remaining, high - low)
        total, remaining = total + mean * (low + more), remaining - more
    return total


@dataclass(frozen=True, slots=True)
class ShownGates:
    """Rule 6: differences of means of one score over the same rows that were shown.

    a > b + x and b > c + y give a > c + x + y. Never of "closer on more rows": that is not
    transitive. Candidates are named by what identifies their outputs, a digest.
    """

    _margins: dict[tuple[Hashable, Hashable], Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, gates: Iterable[tuple[Hashable, Hashable, Fraction | float]]) -> ShownGates:
        """From (better, worse, margin): better > worse + margin was shown.

        A released interval [l, h] of a difference shows every margin below l.
        """
        margins: dict[tuple[Hashable, Hashable], Fraction] = {}
        for better, worse, margin in gates:
            if not math.isfinite(margin):
                raise InvalidArgument(f"a margin is {margin}; give a finite number.")
            pair, exact = (better, worse), Fraction(margin)
            margins[pair] = max(exact, margins.get(pair, exact))
        return cls(_closed(margins))

    @property
    def contradict(self) -> bool:
        """Whether a candidate was shown to be better than itself: then nothing is implied."""
        return any(better == worse and x >= 0 for (better, worse), x in self._margins.items())

    def margin(self, better: Hashable, worse: Hashable) -> Fraction | None:
        """The largest margin by which one is implied to be better than the other, if any."""
        return None if self.contradict else self._margins.get((better, worse))

    def shows(self, better: Hashable, worse: Hashable, margin: Fraction | float = 0.0) -> bool:
        """Whether better > worse + margin is implied."""
        known = self.margin(better, worse)
        return known is not None and known >= Fraction(margin)


def _closed(
    margins: Mapping[tuple[Hashable, Hashable], Fraction],
) -> dict[tuple[Hashable, Hashable], Fraction]:
    """Every chain, by way of each candidate in turn (Floyd and Warshall)."""
    best = dict(margins)
    for via in dict.fromkeys(name for pair in margins for name in pair):
        into = [(better, x) for (better, worse), x in best.items() if worse == via]
        out = [(worse, y) for (better, worse), y in best.items() if better == via]
        for better, x in into:
            for worse, y in out:
                margin = best.get((better, worse))
                if margin is None or x + y > margin:
                    best[better, worse] = x + y
    return best


def verdict_implied(implied: Interval, claim: Interval) -> bool | None:
    """Whether a claim is confirmed (True) or refuted (False) by what is implied; None: neither."""
    if claim.low <= implied.low and implied.high <= claim.high:
        return True
    return False if implied.high < claim.low or claim.high < implied.low else None


def open_sides(implied: Interval, claim: Interval) -> Interval:
    """The claim without the sides that are implied: what is left to be tested."""
    return Interval(
        -math.inf if claim.low <= implied.low else claim.low,
        math.inf if implied.high <= claim.high else claim.high,
    )


def _not_empty(interval: Interval | None) -> Interval:
    if interval is None:
        raise InvalidArgument("the released interval has no number in it; give low <= high.")
    return interval


def _root_below(number: _Number, *, above: bool = False) -> _Number:
    """A lower bound on the root; `above`: on minus the root."""
    if isinstance(number, float):
        return -number if above else number
    scaled = (number.numerator << 2 * _ROOT_BITS) // number.denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and scaled * number.denominator == (
        number.numerator << 2 * _ROOT_BITS
    )
    if not above:
        return Fraction(root, 1 << _ROOT_BITS)
    return -Fraction(root if exact else root + 1, 1 << _ROOT_BITS)
