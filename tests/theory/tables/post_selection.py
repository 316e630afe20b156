"""Rows for `holdfast.theory.typical.generalisation`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GRID = "mpmath, 40 digits: P[Bad] and the maximum over eta' on a grid of 640,000 points"
NORMAL = "mpmath, 40 digits: the roots of ln Phi, and the sum over the answers"


def on_a_scale(log: float) -> float:
    return max(log, -1e6) - 1  # -inf has no digits to compare


GOLDEN = [
    Golden(
        "post_selected_log_level",
        {
            "log_beta": math.log(0.0125),
            "k": 10,
            "eta": 0.1,
            "log_tau": -math.inf,
            "log_nu": math.log(1e-6),
        },
        -5.206694139412159,
        1e-7,
        GRID,
    ),
    Golden(
        "post_selected_log_level",
        {
            "log_beta": math.log(0.01),
            "k": 50,
            "eta": 0.1,
            "log_tau": -math.inf,
            "log_nu": math.log(1e-8),
        },
        -6.689898269044807,
        1e-7,
        GRID,
    ),
    Golden(
        "post_selected_log_level",
        {
            "log_beta": math.log(0.05),
            "k": 1,
            "eta": 0.5,
            "log_tau": -math.inf,
            "log_nu": -math.inf,
        },
        math.log(0.05) - 0.5,
        1e-12,
        "one pure step on samples that are all typical: beta e^-eta",
    ),
    Golden(
        "post_selected_gaussian_log_level",
        {"log_beta": math.log(0.0125), "k": 100, "mu": 0.05, "log_nu": math.log(1e-6)},
        -5.843082897590594,
        1e-9,
        NORMAL,
    ),
    Golden(
        "post_selected_gaussian_log_level",
        {"log_beta": math.log(0.01), "k": 25, "mu": 0.2, "log_nu": math.log(1e-8)},
        -7.73086411577204,
        1e-9,
        NORMAL,
    ),
]

DOMAINS = {
    "post_selected_log_level": Domain(
        {
            "log_beta": st.floats(-20, 0),
            "k": st.integers(1, 60),
            "eta": st.floats(0, 2),
            "log_tau": st.one_of(st.just(-math.inf), st.floats(-60, -10)),
            "log_nu": st.one_of(st.just(-math.inf), st.floats(-200, 0)),
        },
        measure=on_a_scale,
        rel=1e-5,
    ),
    "post_selected_gaussian_log_level": Domain(
        {
            "log_beta": st.floats(-20, 0),
            "k": st.integers(1, 200),
            "mu": st.floats(0, 2),
            "log_nu": st.one_of(st.just(-math.inf), st.floats(-200, 0)),
        },
        measure=on_a_scale,
    ),
}
