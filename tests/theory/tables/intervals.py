"""Rows for `holdfast.theory.base.intervals`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden(
        "clopper_pearson_upper",
        {"n": 1000, "successes": 3, "log_p": -1000.0},
        0.63963994809025104,
        1e-9,
        "mpmath root of the binomial sum, 40 digits",
    ),
    Golden(
        "clopper_pearson",
        {"n": 100, "successes": 30, "log_p": LOG_05},
        (0.21240642048953661, 0.39981467617980414),
        1e-9,
        "mpmath roots of the binomial sums, 40 digits",
    ),
    Golden("kl_upper", {"n": 100, "mean": 0.3, "L": 3.0}, 0.4185816487081883, 1e-9, "golden.json"),
    Golden(
        "kl_interval",
        {"n": 100, "mean": 0.3, "log_p": LOG_05},
        (0.1872126259436246, 0.43201949340236461),
        1e-9,
        "mpmath roots of the divergence, 40 digits",
    ),
    Golden(
        "empirical_bernstein_radius",
        {"n": 100, "variance": 0.2, "log_p": LOG_05},
        0.23567384469625169,
        1e-12,
        "mpmath",
    ),
]

rows = st.integers(2, 10**6)
log_p = st.floats(-1000, -0.01)
DOMAINS = {
    "clopper_pearson_upper": Domain(
        {"n": st.just(1000), "successes": st.integers(0, 1000), "log_p": log_p}
    ),
    "clopper_pearson": Domain(
        {"n": st.just(1000), "successes": st.integers(0, 1000), "log_p": log_p}
    ),
    "kl_upper": Domain({"n": rows, "mean": st.floats(0, 1), "L": st.floats(0, 500)}),
    "kl_interval": Domain({"n": rows, "mean": st.floats(0, 1), "log_p": log_p}, rel=1e-9),
    "empirical_bernstein_radius": Domain(
        {"n": rows, "variance": st.floats(0, 0.5), "log_p": log_p}
    ),
}
