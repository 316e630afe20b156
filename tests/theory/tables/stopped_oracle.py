"""Rows for `holdfast.theory.typical.generalisation`."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "stopped_oracle_log_bound",
        {"log_p0": -13.815510557964274, "m": 2.0},
        -5.826367047586963,
        1e-9,
        "golden.json 6.8",
    ),
    Golden(
        "stopped_oracle_log_bound",
        {"log_p0": -60.0, "m": 8.0},
        -5.51412618849347,
        1e-9,
        "golden.json 6.8",
    ),
    Golden(
        "stopped_oracle_log_bound",
        {"log_p0": -1000.0, "m": 40.0},
        -13.143376364912559,
        1e-9,
        "mpmath, 500 digits: root of ln Phi(z) = -1000",
    ),
    Golden(
        "stopped_oracle_sequential_log_bound",
        {"log_ps": (-8.0, -9.0, -10.0), "alphas": (1.0, 0.2, 9.0), "scales": (2.0, 0.5, 1.0)},
        -6.4128660070370716,
        1e-9,
        "mpmath: three terms with shifts 0, .5, sqrt(.25 + .16); the last noise does not count",
    ),
]

DOMAINS = {
    "stopped_oracle_log_bound": Domain({"log_p0": st.floats(-1000, 0), "m": st.floats(0, 100)})
}
