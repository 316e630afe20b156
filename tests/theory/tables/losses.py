"""Rows for `holdfast.theory.direct.losses`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

MPMATH = "mpmath, the full mixture, 30 digits"

GOLDEN = [
    Golden(
        "loss_ratio_lower",
        {
            "losses": [0.25, 1.0, 0.0],
            "base": [1.0, 2.0, 0.5],
            "most": 2.0,
            "log_q": -6.0,
            "times": [60, 90, 50],
        },
        0.356379035288113826,
        1e-9,
        MPMATH,
    ),
    Golden(
        "positive_mean_lower",
        {"values": [0.75, 3.0, 0.0], "log_q": -6.0, "times": [60, 90, 50]},
        1.21301235361440219,
        1e-9,
        MPMATH,
    ),
    Golden(
        "moment_upper",
        {"mean": 0.97, "n": 1000, "kappa": 6.0, "log_q": math.log(0.00025)},
        1.34031421883024,
        1e-8,
        "golden.json, 13.6",
    ),
    Golden(
        "moment_upper",
        {"mean": 1.0, "n": 1000, "kappa": 12.0, "log_q": math.log(0.00025)},
        1.6607607221193696,
        1e-8,
        "golden.json, 13.6",
    ),
]
DOMAINS = {
    "moment_upper": Domain(
        {
            "mean": st.floats(0.0, 1e6),
            "n": st.integers(1, 10**6),
            "kappa": st.floats(1.0, 100.0),
            "log_q": st.floats(-50, -0.1),
        }
    ),
}
