"""Families of gamma_n, in a form that a ledger can write down and read back.

A family is a frozen value of plain numbers with the two functions of every profile; `gamma_n(a)` of
Bassily and Freund is ``-log_tail(a)``. Where nothing is known but a number of tail probabilities,
they are a table.

Symbols: q the statistic, theta the truth, a the deviation, v a bound on the variance of a row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.concentration import (
    BinomialMean,
    BoundedDifferences,
    BoundedMean,
    Concentration,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import (
    ClusteredDifferences,
    ClusteredRows,
    GraphMean,
    MarkovMean,
    MDependentMean,
    PooledUnits,
)
from holdfast.theory.base.safeside import log_add, log_up, round_up, smallest_true
from holdfast.theory.base.theorem import theorem
from holdfast.theory.base.unbounded import (
    GroupOfRows,
    InUnits,
    Narrower,
    SpreadOfRows,
    UnboundedMean,
    UnboundedUnits,
    Windowed,
)

_LN2 = math.log(2.0)
_MOST_POINTS = 1_000
_MOST_BLOCKS = 999


@theorem(
    source="BF2",
    place="Definition 2.4, with the tail of Vladimirova et al. 2020 (sub-Weibull)",
    statement="If P[|q - theta| > a] <= 2 exp(-(a/scale)^shape) for every a > 0, whatever the rows "
    "are, q is within scale (ln(2/p))^(1/shape) of theta with probability >= 1 - p.",
    domain="scale > 0, shape > 0 (2: sub-Gaussian, 1: exponential, below 1: heavier)",
    monotone={"scale": "up"},
    slack="whatever the declaration has",
)
@dataclass(frozen=True, slots=True)
class SubWeibull:
    """A tail that falls like exp(-(a/scale)^shape): declared, any rows."""

    scale: float
    shape: float

    def __post_init__(self) -> None:
        require.positive("scale", self.scale)
        require.between("shape", self.shape, 0.01, 100.0)

    def log_tail(self, radius: float) -> float:
        a = require.non_negative("radius", radius)
        return min(0.0, round_up(_LN2 - (a / self.scale) ** self.shape, 16))

    def radius(self, log_p: float) -> float:
        e = _LN2 - require.log_probability("log_p", log_p)
        return round_up(self.scale * e ** (1.0 / self.shape), 64)


@theorem(
    source="BF2",
    place="Definition 2.4, with Markov's inequality for the moment of an order",
    statement="If (E |q - theta|^order)^(1/order) <= moment, whatever the rows are, then P[|q - "
    "theta| > a] <= (moment/a)^order.",
    domain="order >= 1, moment > 0",
    monotone={"moment": "up"},
    slack="that of Markov's inequality",
)
@dataclass(frozen=True, slots=True)
class PolynomialTail:
    """A tail that falls like a power: all that moments of one order say."""

    order: float
    moment: float

    def __post_init__(self) -> None:
        require.between("order", self.order, 1.0, 1e6)
        require.positive("moment", self.moment)

    def log_tail(self, radius: float) -> float:
        a = require.non_negative("radius", radius)
        if a <= self.moment:
            return 0.0
        return min(0.0, round_up(-self.order * math.log(a / self.moment), 16))

    def radius(self, log_p: float) -> float:
        log_p = require.log_probability("log_p", log_p)
        beyond = -log_p / self.order
        return math.inf if beyond > 700.0 else round_up(self.moment * math.exp(beyond), 64)


@theorem(
    source="BF2",
    place="Definition 2.4, at finitely many deviations",
    statement="If P[|q - theta| > a_i] <= e^{l_i} for the points (a_i, l_i) of a table, then for "
    "every level the least a_i with l_i at most ln p is a radius.",
    domain="a_i >= 0 rising, l_i <= 0 falling, 1 to 1,000 points",
    slack="up to the next point of the table",
)
@dataclass(frozen=True, slots=True)
class TailTable:
    """Points (deviation, ln of the probability that it is exceeded), declared one by one."""

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        points = require.items("points", self.points, "pairs (deviation, ln of its probability)")
        object.__setattr__(self, "points", tuple(_point(each) for each in points))
        if not 1 <= len(self.points) <= _MOST_POINTS:
            raise InvalidArgument(
                f"points are {len(self.points):,}; a table of a tail has 1 to {_MOST_POINTS:,}."
            )
        for (a, log_tail), (b, later) in zip(self.points, self.points[1:], strict=False):
            if not a < b:
                raise InvalidArgument(
                    f"the table has deviation {b:g} after {a:g}; deviations must rise."
                )
            if later > log_tail:
                raise InvalidArgument(
                    f"the table has log tail {later:g} at deviation {b:g} after {log_tail:g} at "
                    f"{a:g}; a tail never rises."
                )

    def log_tail(self, radius: float) -> float:
        a = require.non_negative("radius", radius)
        return min((log_tail for at, log_tail in self.points if at <= a), default=0.0)

    def radius(self, log_p: float) -> float:
        """Infinite at a level that the table does not reach."""
        log_p = require.log_probability("log_p", log_p)
        if log_p == 0.0:
            return 0.0
        return next((at for at, log_tail in self.points if log_tail <= log_p), math.inf)


def _point(value: object) -> tuple[float, float]:
    pair = require.items("a point", value, "a pair (deviation, ln of its probability)")
    if len(pair) != 2:
        raise InvalidArgument(
            f"a point of the table is {pair!r}; it must be a pair (deviation, ln of the "
            "probability that it is exceeded)."
        )
    return (
        require.non_negative("a deviation of the table", pair[0]),
        require.log_probability("a log tail of the table", pair[1]),
    )


@theorem(
    source="Literature",
    place="Nemirovski & Yudin 1983; Lugosi & Mendelson 2019, Theorem 2, with the exact binomial",
    statement="The median of the means of `blocks` blocks of floor(rows/blocks) iid rows of "
    "variance at most v is further than a from the expectation with probability at most "
    "min(P[Bin(blocks, s^2/a^2) >= h], 2 P[Bin(blocks, s^2/(s^2 + a^2)) >= h]), h = (blocks + "
    "1)/2, s^2 = v/floor(rows/blocks).",
    domain="rows >= blocks, blocks odd, variance > 0; iid rows in blocks at random",
    monotone={"variance": "up"},
    slack="that of Chebyshev's (Cantelli's) inequality for each block",
)
@dataclass(frozen=True, slots=True)
class MedianOfMeans:
    """The median of block means of alike rows of which nothing is known but a variance bound.

    The median is off by more than a only if more than half of the blocks are, on one side or the
    other together, and then by Chebyshev; or on one side, by Cantelli.
    """

    rows: int
    blocks: int
    variance: float

    def __post_init__(self) -> None:
        rows = require.positive_integer("rows", self.rows)
        blocks = require.integer_between("blocks", self.blocks, 1, min(rows, _MOST_BLOCKS))
        if blocks % 2 == 0:
            raise InvalidArgument(f"blocks is {blocks:,}; it must be odd, so that one is median.")
        require.positive("variance", self.variance)

    @property
    def block_variance(self) -> float:
        return round_up(self.variance / (self.rows // self.blocks))

    def log_tail(self, radius: float) -> float:
        a, square = require.non_negative("radius", radius), self.block_variance
        if a * a <= square:  # each block is off with a chance of one half or more
            return 0.0
        either = self._most_off(min(1.0, round_up(square / (a * a))))
        one_side = _LN2 + self._most_off(round_up(square / (square + a * a)))
        return log_up(min(either, one_side))

    def _most_off(self, chance: float) -> float:
        """ln of the probability that more than half of the blocks are off."""
        if chance >= 1.0:
            return 0.0
        k, log_off, log_near = self.blocks, math.log(chance), math.log1p(-chance)
        logs = [
            math.log(math.comb(k, off)) + off * log_off + (k - off) * log_near
            for off in range((k + 1) // 2, k + 1)
        ]
        return log_add(*logs) + 2.0**-30  # far more than the roundings of the terms

    def radius(self, log_p: float) -> float:
        log_p = require.log_probability("log_p", log_p)
        if log_p == 0.0:
            return 0.0
        most = math.sqrt(self.block_variance)
        while self.log_tail(most) > log_p:
            most *= 2.0
            if math.isinf(most):
                return math.inf
        return smallest_true(lambda a: self.log_tail(a) <= log_p, 0.0, most)


@theorem(
    source="Literature",
    place="Catoni 2012, Proposition 2.4 (the bound before it is simplified)",
    statement="Catoni's estimator with influence alpha, of iid rows of variance at most v, is "
    "within (1 - sqrt(1 - alpha^2 v - 2 L/n))/alpha of the expectation with probability >= 1 - p, "
    "L = ln(2/p), where alpha^2 v + 2 L/n <= 1.",
    domain="rows >= 1, variance > 0, alpha > 0",
    monotone={"rows": "down", "variance": "up"},
    slack="ln 2 and a factor near 1 beside a Gaussian mean, at the level that alpha is for",
)
@dataclass(frozen=True, slots=True)
class CatoniMean:
    """Catoni's M-estimator of the mean of alike rows with a bounded variance, and no more.

    It solves sum_i psi(alpha (x_i - t)) = 0 for a rising psi between -ln(1 - x + x^2/2) and
    ln(1 + x + x^2/2). So E exp(sum_i psi(alpha (x_i - t))) <= exp(n (alpha (theta - t) + alpha^2 (v
    + (theta - t)^2)/2)), and by Markov's inequality the sum is below 0 at t = theta + d but with
    probability p/2, as soon as alpha d^2/2 - d + alpha v/2 + L/(alpha n) <= 0; likewise below.
    """

    rows: int
    variance: float
    alpha: float

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        require.positive("variance", self.variance)
        require.positive("alpha", self.alpha)

    def log_tail(self, radius: float) -> float:
        a = min(require.non_negative("radius", radius), 1.0 / self.alpha)
        x = self.alpha * a
        L = 0.5 * self.rows * (2.0 * x - x * x - self.alpha**2 * self.variance)
        return min(0.0, round_up(_LN2 - L, 64) + abs(L) * 2.0**-40)

    def radius(self, log_p: float) -> float:
        """Infinite at a level that needs a smaller alpha."""
        L = _LN2 - require.log_probability("log_p", log_p)
        used = round_up(self.alpha**2 * self.variance + 2.0 * L / self.rows, 16)
        if used > 1.0:
            return math.inf
        # (1 - sqrt(1 - u))/alpha without cancellation.
        return round_up(used / (1.0 + math.sqrt(1.0 - used)) / self.alpha, 64)


# Concentrations as plain text and back: what a ledger keeps of them, all families alike.


# What ledgers call them: a name's meaning never changes.
_FAMILIES: Mapping[str, type[Any]] = {
    "binomial": BinomialMean,
    "bounded differences": BoundedDifferences,
    "bounded mean": BoundedMean,
    "catoni": CatoniMean,
    "clustered differences": ClusteredDifferences,
    "clustered rows": ClusteredRows,
    "dependency graph": GraphMean,
    "group of rows": GroupOfRows,
    "in units": InUnits,
    "m-dependent": MDependentMean,
    "markov chain": MarkovMean,
    "median of means": MedianOfMeans,
    "narrower": Narrower,
    "polynomial": PolynomialTail,
    "pooled units": PooledUnits,
    "spread of rows": SpreadOfRows,
    "sub-exponential": SubExponential,
    "sub-gaussian": SubGaussian,
    "sub-weibull": SubWeibull,
    "table": TailTable,
    "two-sample": TwoSampleU,
    "unbounded mean": UnboundedMean,
    "unbounded units": UnboundedUnits,
    "windowed": Windowed,
}
_NAMES = {family: name for name, family in _FAMILIES.items()}
_TEXT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def gamma_text(profile: Concentration) -> str:
    """The one text of a concentration; refused for a function of the user's own."""
    return _TEXT.encode(_plain(profile))


def gamma_from_text(text: str) -> Concentration:
    """The concentration that a text says."""
    try:
        return _profile_of(json.loads(text))
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"gamma is {text[:60]!r}, which says no concentration that this version knows."
        ) from error


def _plain(profile: Any) -> dict[str, Any]:
    name = _NAMES.get(type(profile))
    if name is None:
        raise InvalidArgument(
            "a log_tail function cannot be written in a ledger, which must explain every interval "
            "by itself; declare sigma=, sigma= and b=, a family such as "
            "holdfast.tails.sub_weibull(...), or a table of (radius, log tail) with "
            "holdfast.tails.tail_table([...])."
        )
    facts = {each.name: getattr(profile, each.name) for each in fields(profile) if each.init}
    return {
        "family": name,
        **{key: _plain(fact) if is_dataclass(fact) else fact for key, fact in facts.items()},
    }


def _profile_of(body: Any) -> Concentration:
    family = _FAMILIES[body["family"]]
    facts = {each.name: body[each.name] for each in fields(family) if each.init}
    profile: Concentration = family(
        **{
            key: _profile_of(fact) if isinstance(fact, dict) else fact
            for key, fact in facts.items()
        }
    )
    return profile
