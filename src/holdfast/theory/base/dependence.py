"""Rows that are not independent: concentration for time, space and clusters.

This is what typical stability is *for*: no independence and no bounded sensitivity, only
concentration. A profile is used as those of `concentration`; in a mean, values are in [0, 1].

Symbols: n rows, m_u how many of them are in unit u, m how far dependence reaches.

**The pooled mean** of rows in independent units whose sizes are random, and may go with the values:
given the sizes of its units a sample is not one of the population. Where large units are the ill
ones, a sample without a large unit says nothing of them, so nothing of `PooledUnits` is conditional
on sizes. What is public is the number of units, the most rows that one can have, and how many rows
there are in all, which questions may be chosen by.

Symbols: U units; unit u has m_u in 1..M rows that add up to S_u; N = sum m_u; theta = sum E S_u /
sum E m_u, the mean of a row drawn from all rows; D = sum (S_u - theta m_u), so that the sample's
mean is theta + D/N.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from holdfast import require
from holdfast.theory.base.concentration import (
    SubExponential,
    SubGaussian,
    sub_gaussian_log_tail,
    sub_gaussian_radius,
)
from holdfast.theory.base.safeside import log_down, log_up, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.base.unbounded import scaled_tail

MOST_ROWS_IN_A_UNIT = 2**20


@theorem(
    source="Literature",
    place="Janson 2004, Theorem 2.1",
    statement="If rows further than m apart are independent, the mean of n values in [0, 1] obeys "
    "Hoeffding's bound with n/(m + 1) in place of n.",
    domain="n >= 1, m >= 0; rows in their order of time or place",
    monotone={"n": "down", "m": "up"},
    slack="exact in n for m + 1 copies of the same row",
)
@dataclass(frozen=True, slots=True)
class MDependentMean:
    """The mean of n values in [0, 1], rows further than m apart being independent.

    Janson's bound is exp(-2 a^2 n/chi) for n variables that can be coloured in chi colours, those
    of one colour being independent of each other: a row's place modulo m + 1 is such a colour. Any
    subset of the rows keeps its colours, so the mean inside a public group of g rows has the
    profile MDependentMean(g, m). (Jensen's inequality over colours with g_1 + ... = g rows gives
    sigma = (sqrt(g_1) + ...)/(2 g), at most sqrt((m + 1)/g)/2 by Cauchy and Schwarz.) If no m + 1
    neighbouring places hold more than w rows of the group, numbering these modulo w needs only w
    colours: MDependentMean(g, w - 1).
    """

    n: int
    m: int
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        require.integer_at_least("m", self.m, 0)

    @property
    def sigma(self) -> float:
        # More than n dependent neighbours cannot be: the mean of [0, 1] values has sigma <= 1/2.
        return 0.5 * min(1.0, math.sqrt((self.m + 1) / self.n))


@theorem(
    source="Literature",
    place="Janson 2004, Theorem 2.1, with a greedy colouring",
    statement="If rows have a dependency graph of degree at most d (each row is independent of all "
    "rows together that are not its neighbours), the mean of n values in [0, 1] obeys Hoeffding's "
    "bound with n/(d + 1) in place of n.",
    domain="n >= 1, 0 <= degree",
    monotone={"n": "down", "degree": "up"},
    slack="exact in n for groups of d + 1 copies of the same row",
)
@dataclass(frozen=True, slots=True)
class GraphMean:
    """The mean of n values in [0, 1] of rows with a dependency graph.

    A graph of degree at most d has a colouring with d + 1 colours, each an independent set; rows of
    an independent set of a dependency graph are independent of each other.
    """

    n: int
    degree: int
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        require.integer_at_least("degree", self.degree, 0)

    @property
    def sigma(self) -> float:
        return 0.5 * min(1.0, math.sqrt((self.degree + 1) / self.n))


@theorem(
    source="Literature",
    place="Kontorovich & Ramanan 2008, Theorem 1.2, with the range of each martingale difference",
    statement="If rows are a Markov chain, homogeneous or not, stationary or not, in which the "
    "laws of the next row given any two values differ by at most `contraction` < 1 in total "
    "variation, the mean of n values in [0, 1] is sub-Gaussian with sigma = 1/(2 (1 - contraction) "
    "sqrt n).",
    domain="n >= 1, 0 <= contraction < 1",
    monotone={"n": "down", "contraction": "up"},
    slack="Hoeffding's for independent rows; for slow chains up to sqrt((1 + c)/(1 - c))(1 - c)",
)
@dataclass(frozen=True, slots=True)
class MarkovMean:
    """The mean of n values in [0, 1] of a Markov chain that forgets.

    Two chains that differ in row i can be coupled so that they still differ k rows later with
    probability at most contraction^k. So the expected mean given the first i rows changes by at
    most (1 + c + c^2 + ...)/n <= 1/((1 - c) n) with row i: each martingale difference has such a
    range, and Hoeffding's lemma and Azuma's argument give the sum.
    """

    n: int
    contraction: float
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("n", self.n)
        require.between("contraction", self.contraction, 0.0, 1.0, open_high=True)

    @property
    def sigma(self) -> float:
        return 0.5 * min(1.0, round_up(1.0 / (1.0 - self.contraction) / math.sqrt(self.n)))


@theorem(
    source="Literature",
    place="Hoeffding 1963, Theorem 2, applied to units",
    statement="If units are independent and rows inside a unit arbitrary, the unweighted mean of "
    "unit means of [0, 1] values obeys Hoeffding's bound with n = the number of units.",
    domain="units >= 1",
    monotone={"units": "down"},
    slack="exact when all rows of a unit are equal",
)
@dataclass(frozen=True, slots=True)
class ClusteredUnits:
    """The unweighted mean of unit means, values in [0, 1]."""

    units: int
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("units", self.units)

    @property
    def sigma(self) -> float:
        return 0.5 / math.sqrt(self.units)


@theorem(
    source="Literature",
    place="Hoeffding 1963, Theorem 2, applied to weighted units",
    statement="If units are independent with public sizes m_u, the pooled mean of [0, 1] rows "
    "obeys Hoeffding's bound with n = (sum m_u)^2 / sum m_u^2.",
    domain="rows >= 1, rows <= sum_of_squares <= rows^2",
    monotone={"sum_of_squares": "up"},
    slack="exact when all rows of a unit are equal",
)
@dataclass(frozen=True, slots=True)
class ClusteredRows:
    """The pooled mean of [0, 1] rows in independent units: sum m_u and sum m_u^2 are public.

    For the mean inside a public group of rows, m_u is how many of the unit's rows it holds.
    """

    rows: int
    sum_of_squares: int
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        rows = require.positive_integer("rows", self.rows)
        require.between("sum_of_squares", self.sum_of_squares, rows, rows * rows)

    @classmethod
    def of_sizes(cls, sizes: Iterable[int]) -> Self:
        """From the units' sizes."""
        checked = [require.positive_integer("unit size", size) for size in sizes]
        return cls(sum(checked), sum(size * size for size in checked))

    @property
    def sigma(self) -> float:
        return 0.5 * math.sqrt(self.sum_of_squares) / self.rows


@theorem(
    source="Literature",
    place="McDiarmid 1989, Lemma 1.2, applied to units",
    statement="If units are independent with public sizes m_u, rows inside a unit arbitrary, and "
    "changing one row changes q by at most delta, then q is sub-Gaussian with sigma = (delta/2) "
    "sqrt(sum m_u^2).",
    domain="sum_of_squares >= 1, delta > 0",
    monotone={"sum_of_squares": "up", "delta": "up"},
    slack="that of the sub-Gaussian tail for a mean whose units have equal rows",
)
@dataclass(frozen=True, slots=True)
class ClusteredDifferences:
    """Any statistic that one row moves by at most delta, a unit of m_u rows by m_u delta."""

    sum_of_squares: int
    delta: float
    log_tail = sub_gaussian_log_tail
    radius = sub_gaussian_radius

    def __post_init__(self) -> None:
        require.positive_integer("sum_of_squares", self.sum_of_squares)
        require.positive("delta", self.delta)

    @classmethod
    def of_sizes(cls, sizes: Iterable[int], delta: float) -> Self:
        """From the units' sizes."""
        checked = [require.positive_integer("unit size", size) for size in sizes]
        return cls(sum(size * size for size in checked), delta)

    @property
    def sigma(self) -> float:
        return 0.5 * self.delta * math.sqrt(self.sum_of_squares)


# Units of random sizes.


_FULL = 0.9  # of a level: for units that all have as many rows as they can, as in a complete panel


@theorem(
    source="Holdfast",
    place="docs/unbounded.md, units of random sizes",
    statement="If U independent units have at most M rows each, sizes and dependence inside a unit "
    "being arbitrary, and a row drawn from all rows is sub-Gaussian about theta with row_sigma "
    "(1/2 for values in [0, 1]; or sub-exponential with row_sigma and row_b), then with "
    "probability at least 1 - p the mean of any question, chosen by the number N of rows, is as "
    "near to theta as a sub-Gaussian value of scale row_sigma sqrt(M/N) (and row_b M/N) is at "
    "level p w(N); w is 0.9 for N = U M and 0.1/(U (M - 1)) for any other N.",
    domain="1 <= units <= rows <= units largest, 1 <= largest <= 2^20; `units` None: all are full",
    monotone={"units": "up", "largest": "up", "row_sigma": "up"},
    slack="full units: Hoeffding's bound for units at 0.9 of the level, exact when all rows of a "
    "unit are equal",
)
@dataclass(frozen=True, slots=True)
class PooledUnits:
    """The pooled mean of rows in units of at most `largest` rows: nothing is assumed of sizes.

    *Proof.* For a number t put c = t^2 row_sigma^2 M/2 (and |t| M <= 1/row_b). By convexity
    exp(t (S_u - theta m_u) - c m_u) is at most 1 - m_u/M plus the mean over M places, those of the
    unit's rows, of exp(t M (x - theta) - c M). So its expectation is at most 1 + E m_u/M times (the
    mean of exp(t M (x - theta) - c M) over the unit's rows, weighted, minus 1), and the product
    over units, by the arithmetic and geometric mean, at most that with all units' rows together,
    which are sub-Gaussian about theta: at most 1. Hence E exp(t D - c N) <= 1 for every t: a fixed
    t fails to have t D <= c N + L with probability at most e^-L. For each value of N let t be the
    best one, the level p w(N): the union over the values of N fails with probability at most p.
    Questions may differ between values of N for the same reason.
    """

    rows: int
    units: int | None
    largest: int
    row_sigma: float = 0.5
    row_b: float | None = None

    def __post_init__(self) -> None:
        rows = require.positive_integer("rows", self.rows)
        largest = require.integer_between("largest", self.largest, 1, MOST_ROWS_IN_A_UNIT)
        if self.units is not None:
            units = require.positive_integer("units", self.units)
            require.between("rows", rows, units, units * largest)
        require.positive("row_sigma", self.row_sigma)
        if self.row_b is not None:
            require.positive("row_b", self.row_b)

    @property
    def log_weight(self) -> float:
        """ln w(N): what it costs that the number of rows is known, and not decided."""
        if self.largest == 1:
            return 0.0
        full = self.units is None or self.rows == self.units * self.largest
        return log_down(math.log(_FULL if full else (1.0 - _FULL) / self._other_sizes))

    @property
    def possible_rows(self) -> int:
        """A number of rows for a union bound over single rows, at least U M/w(N).

        Of all rows there may be, U M, some one fails with at most so many times the probability of
        one, whatever N is; and of a level p this N has the part w(N).
        """
        return math.ceil(self._units * self.largest * math.exp(-self.log_weight)) + 1

    @property
    def _units(self) -> int:
        return -(-self.rows // self.largest) if self.units is None else self.units

    @property
    def _other_sizes(self) -> int:
        """How many numbers of rows there could be beside that of full units."""
        return self._units * (self.largest - 1)

    @property
    def tail(self) -> SubGaussian | SubExponential:
        """Tail of the mean at the level of its number of rows."""
        part = self.largest / self.rows
        b = None if self.row_b is None else round_up(self.row_b * part)
        return scaled_tail(round_up(self.row_sigma * math.sqrt(part)), b)

    def log_tail(self, radius: float) -> float:
        return min(0.0, log_up(self.tail.log_tail(radius) - self.log_weight))

    def radius(self, log_p: float) -> float:
        log_p = require.log_probability("log_p", log_p)
        return self.tail.radius(round_down(log_p + self.log_weight))
