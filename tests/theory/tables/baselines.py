"""Rows for `holdfast.papers.theorems.baselines`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden(
        "sample_splitting_half_width",
        {"n": 10_000, "k": 100, "log_beta": LOG_05},
        0.20364245186235147654,
        1e-13,
        "mpmath: sqrt(ln 4000/200)",
    ),
    Golden(
        "sample_splitting_half_width",
        {"n": 100_000, "k": 1000, "log_beta": LOG_05},
        0.230,
        3e-3,
        "table 'where each wins' of the specification",
    ),
    Golden(
        "sample_splitting_binomial_half_width",
        {"n": 20, "k": 1, "log_beta": LOG_05},
        0.2,
        0.0,
        "by hand: P[Bin(20, 1/2) > 14] = .0207 <= .025 < .0577 = P[Bin(20, 1/2) > 13]",
    ),
    Golden(
        "sample_splitting_binomial_half_width",
        {"n": 1999, "k": 1, "log_beta": math.log(2) - 1999 * math.log(2) + 1e-9},
        0.5 - 1 / 1999,
        1e-15,
        "by hand: 2^-1999 is the probability of the outcome 1999 alone",
    ),
    Golden(
        "bonferroni_half_width",
        {"n": 10_000, "k": 100, "log_beta": LOG_05},
        0.020364245186235147654,
        1e-13,
        "mpmath: sqrt(ln 4000/20000)",
    ),
    Golden(
        "one_look_half_width",
        {"n": 10_000, "log_beta": LOG_05},
        0.013581015157406194985,
        1e-13,
        "mpmath: sqrt(ln 40/20000)",
    ),
]

_ROWS = st.integers(1, 10**9)
_COUNT = st.integers(1, 10**9)
_LOG_BETA = st.floats(-1000, 0)

DOMAINS = {
    "sample_splitting_half_width": Domain({"n": _ROWS, "k": _COUNT, "log_beta": _LOG_BETA}),
    "sample_splitting_binomial_half_width": Domain(
        {"n": _ROWS, "k": st.integers(1, 10**4), "log_beta": _LOG_BETA}
    ),
    "bonferroni_half_width": Domain({"n": _ROWS, "k": _COUNT, "log_beta": _LOG_BETA}),
    "one_look_half_width": Domain({"n": _ROWS, "log_beta": _LOG_BETA}),
}
