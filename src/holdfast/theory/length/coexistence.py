"""What described answers cost the ledger: the number of symbols each of them can be.

Described answers cost described questions nothing. To every later ask, check, gate and late
dictionary they cost ln N nats, N the public number of symbols that the described event allows: on
the event that the whole dictionary is true, q(X) is within alpha of theta_q, alpha free of the
sample, so what is released given x is one of N symbols of a window that depends on the population
and the history only; then Theorem L.

Symbols: alpha the half-width of a described interval, N a number of symbols, h the pitch of a grid.
Numbers of symbols are integers, computed exactly from the doubles given.
"""

from __future__ import annotations

import math
from fractions import Fraction

from holdfast import require
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "ROUNDED_SYMBOLS",
    "SPREAD_STEPS",
    "coexistence_log_charge",
    "count_symbols",
    "grid_symbols",
    "group_symbols",
    "rounded_half_width",
    "whole_grid_symbols",
]

SPREAD_STEPS = 64  # public steps that a half-width is rounded up to, where it uses the sample
ROUNDED_SYMBOLS = 5  # of a value rounded to multiples of alpha/2


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence",
    statement="An answer that the described event leaves N symbols multiplies the leakage of "
    "everything that is not described by N.",
    domain="symbols >= 1",
    monotone={"symbols": "up"},
    slack="none: an analyst who fails on each of the N symbols reaches it",
)
def coexistence_log_charge(symbols: int) -> float:
    """ln N in nats, rounded up; nothing for an answer that is known before."""
    symbols = require.positive_integer("symbols", symbols)
    return round_up(math.log(symbols)) if symbols > 1 else 0.0


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: 0/1 values",
    statement="If |count/n - theta| <= alpha, the count is one of min(n, floor(2 alpha n)) + 1.",
    domain="n >= 1, alpha >= 0",
    monotone={"n": "up", "alpha": "up"},
    slack="none: reached where theta - alpha is a multiple of 1/n",
)
def count_symbols(n: int, alpha: float) -> int:
    """How many counts the described event allows; the interval is a function of the count."""
    n = require.positive_integer("n", n)
    return min(n, math.floor(2 * Fraction(require.non_negative("alpha", alpha)) * n)) + 1


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: groups",
    statement="A group shows its size, a count in the window of its described share, and then its "
    "count among so many rows: at most the product of both numbers of symbols.",
    domain="n >= 1, share_alpha >= 0, alpha >= 0 the half-width of a group of all n rows, where "
    "size times half-width does not fall with the size",
    monotone={"n": "up", "share_alpha": "up", "alpha": "up"},
    slack="smaller groups have fewer counts",
)
def group_symbols(n: int, share_alpha: float, alpha: float) -> int:
    """How many pairs (size, count) the described events of the share and of the mean allow."""
    return count_symbols(n, share_alpha) * count_symbols(n, alpha)


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: means on a grid",
    statement="If |q(X) - theta| <= alpha and q(X) is rounded to cells of width h that are open on "
    "one side, it is in one of ceil(2 alpha/h) + 1 cells; a half-width that uses the sample, "
    "rounded up to one of 64 public steps, multiplies that by 64.",
    domain="alpha >= 0, pitch > 0",
    monotone={"alpha": "up", "pitch": "down"},
    slack="none for the value",
)
def grid_symbols(alpha: float, pitch: float, *, spread: bool = False) -> int:
    """How many symbols a mean on a public grid has; with `spread`, its half-width is one more."""
    width = 2 * Fraction(require.non_negative("alpha", alpha))
    cells = math.ceil(width / Fraction(require.positive("pitch", pitch))) + 1
    return cells * SPREAD_STEPS if spread else cells


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: quantiles, AUC, derived values",
    statement="Where the window depends on the population, N counts all points of the public grid: "
    "a factor for the value and one for each end of its interval.",
    domain="points >= 1, shown >= 1 numbers shown",
    monotone={"points": "up", "shown": "up"},
    slack="the window is smaller than the grid",
)
def whole_grid_symbols(points: int, shown: int = 3) -> int:
    """How many symbols a value and its two ends have on a public grid."""
    points = require.positive_integer("points", points)
    return int(points ** require.positive_integer("shown", shown))


@theorem(
    source="Holdfast",
    place="Section 11.1, coexistence: rounded answers",
    statement="If |q(X) - theta| <= alpha and q(X) is rounded to the nearest multiple of alpha/2, "
    "the answer is one of 5 and within 1.25 alpha of theta.",
    domain="alpha >= 0",
    monotone={"alpha": "up"},
    slack="none: the rounding error is alpha/4",
)
def rounded_half_width(alpha: float) -> float:
    """The half-width of a rounded answer, whose interval is a function of the symbol."""
    alpha = require.non_negative("alpha", alpha)
    return round_up(1.25 * alpha) if alpha else 0.0
