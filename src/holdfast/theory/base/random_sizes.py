"""The pooled mean of rows in independent units whose sizes are random, and may go with the values.

Given the sizes of its units a sample is not one of the population: where large units are the ill
ones, a sample without a large unit says nothing of them. So nothing here is conditional on sizes.
What is public is the number of units, the most rows that one can have, and how many rows there are
in all, which questions may be chosen by.

Symbols: U units; unit u has m_u in 1..M rows that add up to S_u; N = sum m_u; theta = sum E S_u /
sum E m_u, the mean of a row drawn from all rows; D = sum (S_u - theta m_u), so that the sample's
mean is theta + D/N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast import require
from holdfast.theory.base.concentration import SubExponential, SubGaussian
from holdfast.theory.base.dependence import MOST_ROWS_IN_A_UNIT
from holdfast.theory.base.safeside import log_down, log_up, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.base.unbounded import scaled_tail

__all__ = ["PooledUnits"]

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
