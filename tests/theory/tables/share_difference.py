"""Rows for `holdfast.theory.direct.difference`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden


def _end(n1: int, i: int, n2: int, j: int, q: float, expected: float, rel: float) -> Golden:
    inputs = {"n1": n1, "i": i, "n2": n2, "j": j, "log_q": math.log(q)}
    return Golden("share_difference_lower", inputs, expected, rel, "golden.json, 13.5c")


GOLDEN = [
    Golden(
        "share_order",
        {"n1": 40, "i": 12, "n2": 50, "j": 4, "z": 3.090232306167813},
        -0.04919475425926291,
        1e-9,
        "golden.json, 13.5: z = Phi^-1(1 - .001)",
    ),
    _end(25, 18, 35, 5, 1e-3, 0.188488, 0.002122151012266033),
    _end(400, 80, 400, 48, 5e-4, -0.005982, 0.06686726847208291),
    _end(20, 0, 30, 5, 1e-3, -0.453863, 0.000881323218680527),
]

DOMAINS = {
    "share_order": Domain(
        {
            "n1": st.just(60),
            "i": st.integers(0, 60),
            "n2": st.integers(40, 10**6),
            "j": st.integers(0, 40),
            "z": st.floats(0.1, 20.0),
        }
    ),
}
