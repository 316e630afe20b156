"""Rows that are not independent: concentration for time, space and clusters.

This is what typical stability is *for*: no independence and no bounded sensitivity, only
concentration. A profile is used as those of `concentration`; in a mean, values are in [0, 1].

Symbols: n rows, m_u how many of them are in unit u, m how far dependence reaches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from holdfast import require
from holdfast.theory.base.concentration import sub_gaussian_log_tail, sub_gaussian_radius
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "MOST_ROWS_IN_A_UNIT",
    "ClusteredDifferences",
    "ClusteredRows",
    "ClusteredUnits",
    "GraphMean",
    "MDependentMean",
    "MarkovMean",
]

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
