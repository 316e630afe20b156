"""Rows for `holdfast.theory.transfer.differential_privacy`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden("pure_private_shift", {"eps": 1.0}, 0.24491866240370913, 1e-14, "mpmath: tanh(1/4)"),
    Golden("pure_private_shift", {"eps": 2 * math.log(3)}, 0.5, 1e-14, "by hand: (3 - 1)/(3 + 1)"),
    Golden(
        "private_shift",
        {"curve": [(0.5, math.log(1e-6)), (3.0, -math.inf)], "log_beta": LOG_05},
        0.12437300177159621,
        1e-13,
        "mpmath: tanh(1/8) + 1e-6/.05, below tanh(3/4)",
    ),
    Golden(
        "private_post_selected_log_failure",
        {"n": 1000, "eps": 0.2, "width": 0.1},
        -5.0083284737122685,
        1e-12,
        "mpmath: -2000 (.1 - tanh(.05))^2",
    ),
    Golden(
        "private_post_selected_half_width",
        {"n": 10_000, "k": 100, "eps": 0.1, "log_beta": LOG_05},
        0.045359038154655835,
        1e-13,
        "mpmath: tanh(.025) + sqrt(ln 4000/20000)",
    ),
    Golden(
        "gaussian_mutual_information",
        {"n": 1000, "k": 16, "s": 0.5},
        0.008,
        1e-14,
        "by hand: 16/(8 * 1000 * .25)",
    ),
]

_ROWS = st.integers(1, 10**9)
_COUNT = st.integers(1, 10**12)
_EPS = st.floats(0, 50)
_LOG_BETA = st.floats(-1000, 0)

DOMAINS = {
    "pure_private_shift": Domain({"eps": _EPS}),
    "private_shift": Domain(
        {
            "curve": st.lists(
                st.tuples(_EPS, st.one_of(st.just(-math.inf), st.floats(-2000, 0))), min_size=1
            ),
            "log_beta": _LOG_BETA,
        }
    ),
    "private_post_selected_log_failure": Domain(
        {"n": _ROWS, "eps": _EPS, "width": st.floats(0, 2)}
    ),
    "private_post_selected_half_width": Domain(
        {"n": _ROWS, "k": _COUNT, "eps": _EPS, "log_beta": _LOG_BETA}
    ),
    "gaussian_mutual_information": Domain({"n": _ROWS, "k": _COUNT, "s": st.floats(1e-6, 10)}),
}
