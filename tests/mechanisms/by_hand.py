"""Intervals computed again, by plain means."""

from __future__ import annotations

import math


def kl(a: float, p: float) -> float:
    return sum(u * math.log(u / v) for u, v in ((a, p), (1 - a, 1 - p)) if u > 0)


def chernoff(n: int, mean: float, log_p: float) -> tuple[float, float]:
    """{p : n kl(mean, p) <= ln 2 - log_p} by plain bisection, rounded inwards."""
    ends = []
    for edge in (0.0, 1.0):
        inside, outside = mean, edge
        for _ in range(60):
            middle = (inside + outside) / 2
            if 0 < middle < 1 and n * kl(mean, middle) <= math.log(2) - log_p:
                inside = middle
            else:
                outside = middle
        ends.append(inside)
    return ends[0], ends[1]
