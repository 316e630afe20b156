"""Rows for `holdfast.theory.base.propagation`."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "conditional_mean_interval",
        {"pivot": 0.5, "r_low": -0.1, "r_high": 0.05, "p_low": 0.25, "p_high": 0.5},
        (0.1, 0.7),
        1e-12,
        "by hand: -.1/.25 and .05/.25",
    ),
    Golden(
        "conditional_mean_interval",
        {"pivot": 1.0, "r_low": 0.1, "r_high": 0.2, "p_low": 0.25, "p_high": 0.5},
        (1.2, 1.8),
        1e-12,
        "by hand: .1/.5 and .2/.25",
    ),
]

DOMAINS = {
    "conditional_mean_interval": Domain(
        {
            "pivot": st.floats(-5, 5),
            "r_low": st.floats(-1, 0.5),
            "r_high": st.floats(0.5, 1),
            "p_low": st.floats(0.01, 0.5),
            "p_high": st.floats(0.5, 1),
        }
    ),
}
