"""Public variance bounds: what released claims say about the variance of another question.

While no earlier claim is false, every consequence of them is true and public; so it may set the
radius of a later question, for instance `Bernstein`'s, whose own beta and charge stay as they are
(docs/theory.md, section 3). Rare events get much narrower intervals.

Symbols: Y the value of a row, p the probability of a condition, alpha the radius, t the tolerance.
Rows are independent but need not be alike: p and the variance are averages over the rows, which is
all that `Bernstein` needs.
"""

from __future__ import annotations

from fractions import Fraction

from holdfast import require
from holdfast.theory.base.safeside import float_above, round_up
from holdfast.theory.base.theorem import theorem

__all__ = ["condition_variance", "group_variance", "same_cost_tolerance", "share_variance"]


@theorem(
    source="Holdfast",
    place="public variance bounds: a condition, or any mean (Bhatia & Davis 2000)",
    statement="If the average expectation of independent values in [0, 1], such as the probability "
    "of a condition, is in [low, high], their average variance is at most the largest x(1 - x) "
    "there.",
    domain="0 <= low <= high <= 1",
    monotone={"low": "down", "high": "up"},
    slack="none: a condition that has the worst probability in every row attains it",
)
def condition_variance(low: float, high: float) -> float:
    """E Y^2 <= E Y = x gives Var Y <= x(1 - x), which is concave in x: averaging raises it."""
    high = require.between("high", high, 0.0, 1.0)
    low = require.between("low", low, 0.0, high)
    worst = min(max(low, 0.5), high)
    # Two roundings: two units in the last place together at most.
    return min(0.25, round_up(worst * (1.0 - worst))) if 0.0 < worst < 1.0 else 0.0


@theorem(
    source="Holdfast",
    place="public variance bounds: a share that is at most so large",
    statement="If independent values in [0, 1] are other than 0 with average probability at most "
    "`high`, such as those of a condition, their average variance is at most high(1 - high), 1/4 "
    "from high = 1/2 on.",
    domain="0 <= high <= 1",
    monotone={"high": "up"},
    slack="none, as for `condition_variance`",
)
def share_variance(high: float) -> float:
    """`condition_variance` where nothing is known of the lower end: E Y <= P[Y is not 0]."""
    return condition_variance(0.0, high)


@theorem(
    source="Holdfast",
    place="public variance bounds: a value that is constant outside a group",
    statement="If Y is a public constant z outside a group of average probability at most `high` "
    "over independent rows, and |Y - z| <= reach inside it, the average variance of Y is at most "
    "high reach^2.",
    domain="0 <= high <= 1, reach >= 0",
    monotone={"high": "up", "reach": "up"},
    slack="none: Y - z = reach or -reach with equal chances inside the group attains it",
)
def group_variance(high: float, reach: float) -> float:
    """Var Y <= E(Y - z)^2 <= P(group) reach^2, row by row; averaged and rounded up."""
    high = require.between("high", high, 0.0, 1.0)
    reach = require.non_negative("reach", reach)
    # The square first: what underflows there stays below a unit when multiplied by high <= 1.
    return round_up(high * (reach * reach)) if high > 0 and reach > 0 else 0.0


@theorem(
    source="Holdfast",
    place="section 3: cost of an ask",
    statement="An ask of radius alpha and tolerance t costs -ln(1 - alpha/t) nats, so with radius "
    "alpha' <= alpha the tolerance t alpha'/alpha costs the same.",
    domain="0 < narrow_radius <= radius < tolerance",
    monotone={"tolerance": "up", "radius": "down", "narrow_radius": "up"},
    slack="none but the rounding up of the tolerance, by which it costs no more",
)
def same_cost_tolerance(tolerance: float, radius: float, narrow_radius: float) -> float:
    """What a narrower radius buys at an unchanged price, rounded up."""
    t = require.positive("tolerance", tolerance)
    alpha = require.between("radius", radius, 0.0, t, open_low=True, open_high=True)
    narrow = require.between("narrow_radius", narrow_radius, 0.0, alpha, open_low=True)
    return float_above(Fraction(t) * Fraction(narrow) / Fraction(alpha))
