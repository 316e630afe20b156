"""Rows for `holdfast.papers.theorems.laws`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

P, Q = [0.5, 0.3, 0.2], [0.25, 0.25, 0.5]

GOLDEN = [
    Golden(
        "least_tau", {"p": P, "q": Q, "eta": math.log(1.5)}, 0.2, 1e-12, "by hand: .5 - 1.5 * .2"
    ),
    Golden("total_variation", {"p": P, "q": Q}, 0.3, 1e-14, "by hand: .25 + .05"),
    Golden("multiplicative_distance", {"p": P, "q": Q}, math.log(2.5), 1e-14, "by hand: .5/.2"),
]


def _law(weights: list[int]) -> list[float]:
    return [weight / sum(weights) for weight in weights]


_LAW = st.lists(st.integers(0, 100), min_size=4, max_size=4).filter(any).map(_law)

DOMAINS = {"least_tau": Domain({"p": _LAW, "q": _LAW, "eta": st.floats(0, 5)})}
