"""Section 13.2: searches that tell only the winner, a case of Theorem S.

A declared dictionary has N members, fixed by the public history and by rows that are not protected.
A search over it tells which member is best on n protected rows (ties by the declared order) and in
which public cell its count lies: the symbol (i, c), of weight u(i, c) = pi(i) v_i(c). Told with it
is the interval from the lower Clopper-Pearson end of the cell's least count to the upper end of its
largest, each at p = A u(i, c). The charge is -ln pi(i) - ln v_i(c).

Proof. If theta_i is outside, it is on one side, and P_X[(i, c)] <= P[count_i in c] <= p: Theorem S.
No share is spent, no dictionary is opened, and any number of searches may follow. The cells of each
member partition the counts, so the weights of all symbols sum to at most 1.

Which prior is given to members and cells is heuristics, from cross-validation on training rows;
nothing else of the search may be told: not its trials, nor its time, nor their order.

Symbols: N members, r the rank of a member by its cross-validated score g from n_cv rows, P the
pitch of its cells, p the level of one side; alike independent rows of 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval, clopper_pearson_upper
from holdfast.theory.base.safeside import log_down, round_down
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.claim_levels import symbol_log_charge, symbol_log_level

_NEAR, _FAR, _ANYWHERE = 0.6, 0.3, 0.1  # of a member's weight: one spread, three of them, all cells
_CANCELLED = 1e-15  # above the error of a difference of two probabilities


@theorem(
    source="Holdfast",
    place="Section 13.2, prior by rank",
    statement="The member of cross-validated rank r among N has the weight (N + 1)/(N r (r + 1)): "
    "the weights sum to 1.",
    domain="1 <= rank <= members",
    monotone={"rank": "down"},
    slack="none: Kraft sum exactly 1",
)
def rank_weight(rank: int, members: int) -> Fraction:
    """The public weight of the member of this rank."""
    N = require.positive_integer("members", members)
    r = require.integer_between("rank", rank, 1, N)
    return Fraction(N + 1, N * r * (r + 1))


def cv_ranks(scores: Sequence[float]) -> list[int]:
    """The rank of each member, from 1, the highest score first, ties by the declared order."""
    order = sorted(range(len(scores)), key=lambda member: (-scores[member], member))
    ranks = [0] * len(scores)
    for rank, member in enumerate(order, start=1):
        ranks[member] = rank
    return ranks


@theorem(
    source="Holdfast",
    place="Section 13.2, the first m in order (after Plackett and Luce)",
    statement="The first m members in order have the weight prod_j pi(i_j)/(1 - pi(i_1) - ... - "
    "pi(i_{j-1})): over all orders of m members they sum to 1. Told without scores, they claim "
    "nothing.",
    domain="prior > 0, sums to at most 1; order: different members",
    slack="none",
)
def order_log_charge(prior: Sequence[Fraction | float], order: Sequence[int]) -> float:
    """Nats of telling the first members in their order, rounded up."""
    total = Fraction(1)
    weights = [Fraction(weight) for weight in prior if weight > 0]  # nan is not
    if len(set(order)) < len(order) or not all(0 <= each < len(prior) for each in order):
        raise InvalidArgument(
            f"the order {list(order)} names a member twice, or none of the {len(prior)}; "
            "name different members, counted from 0."
        )
    if not 0 < len(prior) == len(weights) or sum(weights) > 1 + Fraction(1, 10**9):
        raise InvalidArgument(
            f"the weights of the members sum to {float(sum(weights)):g}; they must be above 0 and "
            "sum to at most 1."
        )
    remaining = max(Fraction(1), sum(weights, Fraction(0)))  # floats may sum to a little more
    for member in order:
        total *= weights[member] / remaining
        remaining -= weights[member]
    return symbol_log_charge(_log_below(total)) if order else 0.0


class Cv(NamedTuple):
    """A member's cross-validated score, and the number of rows that it comes from."""

    score: float
    rows: int


class Cells(NamedTuple):
    """The public cells of a member's count of n rows: [0, P - 1], [P, 2P - 1], ... up to n."""

    n: int
    pitch: int

    @property
    def many(self) -> int:
        """How many there are."""
        return -(-(self.n + 1) // self.pitch)

    def around(self, count: int) -> tuple[int, int]:
        """The least and the largest count of the cell that has this one."""
        low = require.integer_between("count", count, 0, self.n) // self.pitch * self.pitch
        return low, min(self.n, low + self.pitch - 1)


def cells_of(n: int, cv: Cv | None = None) -> Cells:
    """Cells of about one standard deviation, by the cross-validated score."""
    n = require.positive_integer("n", n)
    score = 0.5 if cv is None else require.between("score", cv.score, 0.0, 1.0)
    return Cells(n, max(1, round(math.sqrt(n * max(score * (1.0 - score), 0.02)))))


@theorem(
    source="Holdfast",
    place="Section 13.2, prior of a cell",
    statement="A cell of a member's counts has the weight .6 G(sd) + .3 G(3 sd) + .1/(number of "
    "cells), G the normal mass around the cross-validated score, cut to what can be: over all "
    "cells they sum to 1. Without a score the cells are equal.",
    domain="0 <= low <= high <= n the least and the largest count of a cell, cells >= 1",
    slack="below 1e-15 for each cell",
)
def cell_log_weight(n: int, low: int, high: int, cells: int, cv: Cv | None = None) -> float:
    """ln of the public weight of a cell, rounded down."""
    n = require.positive_integer("n", n)
    low = require.integer_between("low", low, 0, n)
    high = require.integer_between("high", high, low, n)
    cells = require.positive_integer("cells", cells)
    if cv is None:
        return _log_below(Fraction(1, cells))
    score = require.between("score", cv.score, 0.0, 1.0)
    rows = require.positive_integer("rows", cv.rows)
    sd = math.sqrt(n * max(score * (1.0 - score), 0.01) * (1.0 + n / rows))

    def mass(spread: float) -> float:
        centre = n * score
        within = _mass((low - 0.5 - centre) / spread, (high + 0.5 - centre) / spread)
        return within / _mass((-0.5 - centre) / spread, (n + 0.5 - centre) / spread)

    weight = _NEAR * mass(sd) + _FAR * mass(3.0 * sd) + _ANYWHERE / cells
    return log_down(math.log(weight - _CANCELLED))


@theorem(
    source="Holdfast",
    place="Section 13.2, the interval of a told winner",
    statement="A count in [low, high] of n rows, told at level p a side: the lower Clopper-Pearson "
    "end of the least count and the upper end of the largest.",
    domain="0 <= low <= high <= n, log_p <= 0; alike rows of 0 and 1",
    slack="that of a cell of counts",
)
def winner_interval(n: int, low: int, high: int, log_p: float) -> Interval:
    """The interval of the member that was told, rounded outwards."""
    high = require.integer_between("high", high, low, n)
    upper = clopper_pearson_upper(n, high, log_p)
    mirrored = clopper_pearson_upper(n, n - low, log_p)
    return Interval(0.0 if low == 0 else max(0.0, round_down(1.0 - mirrored)), upper)


@dataclass(frozen=True, slots=True)
class WinnerClaim:
    """What is told of a search: the cell of the best member's count, its interval, the charge."""

    low: int
    high: int
    interval: Interval
    log_weight: float
    nats: float


def winner_claim(
    n: int,
    count: int,
    prior: Fraction,
    cv: Cv | None,
    log_left: float,
    nats: float,
) -> WinnerClaim:
    """The symbol of a winner that has this count, its weight pi(i) v_i(c), level and charge.

    `log_left` is ln(beta - s), `nats` the leakage before.
    """
    cells = cells_of(n, cv)
    low, high = cells.around(count)
    # Both are rounded down by more than their sum can be off.
    log_weight = _log_below(prior) + cell_log_weight(n, low, high, cells.many, cv)
    log_p = symbol_log_level(log_left, log_weight, nats)
    return WinnerClaim(
        low, high, winner_interval(n, low, high, log_p), log_weight, symbol_log_charge(log_weight)
    )


def _log_below(fraction: Fraction) -> float:
    """ln of a weight, rounded down; that of 1 is 0."""
    if not 0 < fraction <= 1:
        raise InvalidArgument(f"a weight is {fraction}; it must be above 0 and at most 1.")
    if fraction == 1:
        return 0.0
    return log_down(math.log(fraction.numerator) - math.log(fraction.denominator))


def _mass(a: float, b: float) -> float:
    """The standard normal mass between two numbers, from the smaller tail."""
    if a > 0.0:
        return _mass(-b, -a)
    if b <= 0.0:
        return 0.5 * (math.erfc(-b / math.sqrt(2.0)) - math.erfc(-a / math.sqrt(2.0)))
    return 0.5 * (math.erf(b / math.sqrt(2.0)) - math.erf(a / math.sqrt(2.0)))
