"""Rows for `holdfast.theory.notions.composing`: each value composed with fixed others."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.notions.composing import GDP, TV, ZCDP, ApproxDP, PureDP
from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "PureDP",
        {"epsilon": 0.5},
        1.75,
        1e-14,
        "by hand: .5 + .25 + 1",
        lambda step: step.compose(PureDP(0.25), PureDP(1.0)),
    ),
    Golden(
        "ApproxDP",
        {"epsilon": 0.5, "log_delta": math.log(1e-6)},
        (0.75, math.log(3e-6)),
        1e-14,
        "by hand: (.5 + .25, 1e-6 + 2e-6)",
        lambda step: step.compose(ApproxDP(0.25, math.log(2e-6))),
    ),
    Golden(
        "ApproxDP",
        {"epsilon": 1.0, "log_delta": -1000.0},
        (8.0, -1000 + 3 * math.log(2)),
        1e-14,
        "by hand: 8 (1, e^-1000)",
        lambda step: step.repeated(8),
    ),
    Golden("ZCDP", {"rho": 0.5}, 5.5, 1e-14, "by hand: 11 * .5", lambda step: step.repeated(11)),
    Golden(
        "GDP",
        {"mu": 3.0},
        13.0,
        1e-14,
        "by hand: 3^2 + 4^2 + 12^2 = 13^2",
        lambda step: step.compose(GDP(12.0), GDP(4.0)),
    ),
    Golden(
        "TV",
        {"distance": 0.25},
        (0.75, 1.0),
        1e-14,
        "by hand: 3/4, then capped",
        lambda step: (step.compose(TV(0.5)), step.repeated(5)),
    ),
]

DOMAINS = {
    "PureDP": Domain({"epsilon": st.floats(0, 50)}, measure=lambda step: step.compose(PureDP(0.3))),
    "ApproxDP": Domain(
        {"epsilon": st.floats(0, 50), "log_delta": st.floats(-1000, 0)},
        measure=lambda step: step.compose(ApproxDP(0.3, -30.0)),
    ),
    "ZCDP": Domain({"rho": st.floats(0, 50)}, measure=lambda step: step.compose(ZCDP(0.3))),
    "GDP": Domain({"mu": st.floats(0, 50)}, measure=lambda step: step.compose(GDP(0.3))),
    "TV": Domain({"distance": st.floats(0, 1)}, measure=lambda step: step.compose(TV(0.3))),
}
