"""What is said of a rule to people: its method, what is sure beforehand, and what would help.

All of it is public: it follows from the rule, and for advice from the answer that was told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from holdfast.described.concentrated import ConcentratedRule
from holdfast.described.gridded import Gridded
from holdfast.described.means import Contrast, GroupMeanRule, MeanRule, PairedRule
from holdfast.described.rounded import (
    RoundedContrast,
    RoundedGroupMean,
    RoundedMean,
    RoundedOverlap,
)
from holdfast.described.rule import Rule, Told
from holdfast.described.shares import GroupShare, Overlap, Share
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.direct.mean import outlier_floor_mass

__all__ = ["is_at_the_floor", "method_of", "sure_half_width"]

_METHODS: Mapping[type[Rule], str] = {
    Share: "Clopper and Pearson's interval",
    GroupShare: "Clopper and Pearson's interval of the group's own rows",
    Overlap: "Clopper and Pearson's interval of the rows where either holds",
    MeanRule: "bets on the mean",
    GroupMeanRule: "bets on the mean of the group's own rows",
    Contrast: "bets on both groups' means",
    PairedRule: "the rows in which the two conditions differ",
    ConcentratedRule: "the declared scale",
    RoundedMean: "Hoeffding's interval, rounded",
    RoundedGroupMean: "Hoeffding's interval of the group's rows, rounded",
    RoundedContrast: "Hoeffding's interval of both groups' rows, rounded",
    RoundedOverlap: "Hoeffding's interval of the rows where either holds, rounded",
}
_GRIDDED_METHODS = {
    "quantile": "order statistics",
    "spread": "bets on squared deviations",
    "covariance": "bets on products of deviations",
    "correlation": "bets on products of deviations",
    "auc": "bets on blocks of both classes",
    "units": "bets on sums of units",
    "m-dependent rows": "bets on blocks of rows",
    "concentration": "the declared concentration",
    "unlike group": "bets on the group's rows, which need not be alike",
    "unlike groups": "bets on each group's rows, which need not be alike,",
    "units in both groups": "bets on sums of units, for each group,",
}
# Rows of a normal law have intervals of a correlation about as wide as this allows without a floor.
_NORMAL_CORRELATION = 2.0


def method_of(rule: Rule) -> str:
    """How it comes to its interval and at which level, in words."""
    method = _GRIDDED_METHODS[rule.by] if isinstance(rule, Gridded) else _METHODS[type(rule)]
    free = [f"the band of all thresholds at level {_level(each)}" for each in _free_levels(rule)]
    return " and ".join([f"{method} at level {_level(rule.log_p)}", *free])


def _free_levels(rule: Rule) -> Sequence[float]:
    """Those of the events that hold for every threshold at once."""
    match rule:
        case Share(log_free=levels) | GroupShare(log_free=levels):
            return levels
        case Gridded(log_free=float(level)):
            return (level,)
    return ()


def _level(log_p: float) -> str:
    return f"{math.exp(log_p):.2g}"


def sure_half_width(rule: Rule) -> float | None:
    """The half-width that no answer exceeds, as a part of the range; None if that is not known."""
    match rule:
        case Share():
            return min(0.5, BoundedMean(rule.rows).radius(rule.log_p))
        case MeanRule() | PairedRule():
            return min(0.5, rule.window.alpha)
        case RoundedMean() | ConcentratedRule():
            return min(0.5, rule.half_width)
    return None


def is_at_the_floor(rule: Rule, told: Told) -> bool:
    """Whether rows at the end of the declared range, too few to be excluded, make half its width.

    The share of rows that no method can exclude is `outlier_floor_mass`. So with a tighter range
    the answer would be narrower; more rows help less.
    """
    rows, value = told.rows[0], told.value
    if value is None or rows == 0:
        return False
    share = outlier_floor_mass(rows, rule.log_p)
    low, high = told.interval
    match rule:
        case MeanRule() | GroupMeanRule():
            above, below = share * (1.0 - value), share * value
            return 2.0 * above > high - value or 2.0 * below > value - low
        case Gridded(by="spread", squared=squared):
            deviation, top = (math.sqrt(value), math.sqrt(high)) if squared else (value, high)
            # In halves of the range. The mean is not told: its far end is one to two halves away.
            moved = math.sqrt((1.0 - share) * (deviation**2 + 2.0 * share))
            return 2.0 * (moved - deviation) > top - deviation
        case Gridded(by="correlation"):
            # The floor needs the deviations, which are not told: compared with a normal law.
            normal = (1.0 - (2.0 * value - 1.0) ** 2) * math.sqrt(-2.0 * rule.log_p / rows)
            return high - low > _NORMAL_CORRELATION * normal
    return False
