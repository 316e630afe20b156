"""Skeleton of a file of theorems: Cantelli's inequality. A legend of its letters opens it.

A theorem usually goes into the file of its subject; a new subject has a new file.

Legend
    v       the variance of a random variable, or a bound on it
    t       how far above its expectation it is
"""

from __future__ import annotations

import math
import sys

from holdfast import require
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem


@theorem(
    source="Literature",  # a key of SOURCES in theory/base/theorem.py
    place="Cantelli (1928)",
    statement="A random variable with variance at most v is t above its expectation or more with "
    "probability at most v/(v + t^2).",
    domain="v >= 0, t > 0",
    monotone={"v": "up", "t": "down"},  # every direction that is named is tested
    slack="none: attained by a law on two points",
    # printed="...": the function with the source's own form, where that differs
)
def cantelli_log_tail(v: float, t: float) -> float:
    """ln of the bound, rounded up; -inf where the variance is 0."""
    v = require.non_negative("v", v)
    t = require.positive("t", t)
    if v == 0.0:
        return -math.inf
    ratio = min(t / v * t, sys.float_info.max)  # where it overflows: less is on the safe side
    return min(0.0, round_up(-math.log1p(ratio), 8))
