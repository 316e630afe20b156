"""Rows for `holdfast.theory.transfer.variance`."""

from __future__ import annotations

import math
from operator import attrgetter

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
_H = 0.04297066248642543  # H + theta/beta there, theta/beta being near 1e-6
_AT = {"n": 10_000, "k": 100, "D": 0.046, "a": 3, "log_beta": LOG_05}

GOLDEN = [
    Golden("declared_variance_shift", {**_AT, "variance": 0.25}, _H, 0.001, "golden.json: v = 1/4"),
    Golden(
        "declared_variance_shift",
        {**_AT, "variance": 0.01},
        0.2 * _H,
        0.001,
        "golden.json: 2 sqrt(v) = 0.2 times H",
    ),
    Golden(
        "declared_variance_half_width",
        {"n": 100_000, "k": 1000, "variance": 0.25, "log_beta": LOG_05},
        0.04817457862224746,
        0.0005,
        "golden.json: v = 1/4 is Theorem M",
        attrgetter("half_width"),
    ),
    Golden(
        "variance_line",
        {**_AT, "aim": 0.25},
        _H,
        0.001,
        "golden.json: the line touches y H(beta y) at y = 1, where it is H",
        lambda line: line.theta_over_beta + line.kappa0 + line.kappa1,
    ),
    Golden(
        "least_variance_intercept",
        {**_AT, "kappa1": 0.0},
        _H,
        0.001,
        "golden.json: a level line must reach H, the largest y H(beta y)",
    ),
]

_SHIFT = {
    "n": st.integers(300, 10**5),
    "k": st.integers(1, 1000),
    "D": st.floats(0.02, 0.3),
    "a": st.integers(2, 3),
    "log_beta": st.floats(-6, -0.1),
}

DOMAINS = {
    "declared_variance_shift": Domain({**_SHIFT, "variance": st.floats(1e-6, 0.25)}, rel=2e-3),
    "least_variance_intercept": Domain({**_SHIFT, "kappa1": st.floats(0, 1)}, rel=1e-4),
}
