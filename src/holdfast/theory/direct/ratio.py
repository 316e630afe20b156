"""F1 and its relatives: proportions in disguise, and ratios of sums for rows that are not alike.

Symbols: TP, FP, FN the true positives, false positives and false negatives among n rows; pi the
chance that a row which is not a true negative is a true positive.
"""

from __future__ import annotations

import numpy as np

from holdfast import require
from holdfast.theory.base.bets import (
    Tally,
    counted,
    odds_interval,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.proportion import share_interval

__all__ = ["f1_interval", "f1_of_share", "f_beta_interval"]


@theorem(
    source="Holdfast",
    place="Section 12.9, F1 as a proportion",
    statement="For alike rows, given which rows are not true negatives, TP is binomial(TP + FP + "
    "FN, pi) and F1 = 2 pi/(1 + pi), so Clopper and Pearson's interval of pi gives that of F1.",
    domain="counts >= 0, log_p <= 0; alike rows",
    monotone={"tp": "up", "fp": "down", "fn": "down"},
    slack="none but the discreteness of the count and halving the level",
)
def f1_interval(tp: int, fp: int, fn: int, log_p: float) -> Interval:
    """The interval of F1, rounded outwards; [0, 1] if every row is a true negative."""
    return f1_of_share(share_interval(tp, fp + fn, log_p))


def f1_of_share(interval: Interval) -> Interval:
    """The interval of F1 = 2 pi/(1 + pi), which rises in pi, from that of pi; rounded outwards."""
    low, high = (2 * end / (1 + end) for end in interval)
    return Interval(max(0.0, round_down(low)) if low else 0.0, min(1.0, round_up(high)))


@theorem(
    source="Holdfast",
    place="Section 12.9, ratios of sums by bets",
    statement="For independent rows, alike or not, the bets of 12.2 on gains (1 + beta^2) TP and "
    "losses beta^2 FN + FP enclose F_beta, the ratio of expected sums, with probability >= 1 - "
    "e^{log_p}.",
    domain="counts >= 0 with tp + fp + fn <= rows, beta > 0, log_p <= 0; independent rows",
    slack="that of the bets: some 14 % wider than the normal limit at e^-20",
)
def f_beta_interval(tp: int, fp: int, fn: int, rows: int, beta: float, log_p: float) -> Interval:
    """The interval of F_beta among `rows` rows, rounded outwards.

    F/(1 - F) is the ratio of expected gains to expected losses, which `lower_odds` bounds from
    below; with gains and losses exchanged, from above. `rows` counts all rows, true negatives too:
    the stakes may not depend on how many of the others there are.
    """
    weight = require.positive("beta", beta) ** 2
    counts = [
        require.integer_at_least(name, count, 0)
        for name, count in zip(("tp", "fn", "fp"), (tp, fn, fp), strict=True)
    ]
    rows = require.integer_at_least("rows", rows, sum(counts))
    won, lost, times = counted(
        counts, np.array([1.0 + weight, 0.0, 0.0]), np.array([0.0, weight, 1.0])
    )
    below = Tally(won, lost, times, rows, max(1.0, weight))
    above = Tally(lost, won, times, rows, 1.0 + weight)
    return odds_interval(below, above, log_p)
