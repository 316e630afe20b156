"""Rows for `holdfast.papers.theorems.tv_generalisation`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden(
        "tv_expected_error",
        {"distance": 0.001, "n": 10_000, "log_delta": LOG_05},
        0.28620131830553014,
        1e-9,
        "golden.json, expected generalisation from TV",
    ),
    Golden(
        "tv_expected_error_printed",
        {"distance": 0.001, "n": 10_000, "log_delta": LOG_05},
        0.40433557235436671927,
        1e-13,
        "mpmath: .001 + 21 sqrt(ln 40/10000)",
    ),
    Golden(
        "tv_least_expected_error",
        {"n": 10_000, "log_delta": LOG_05},
        0.013581015157406194985,
        1e-13,
        "mpmath: sqrt(ln 40/20000)",
    ),
    Golden(
        "tv_for_expected_error",
        {"n": 1_000_000, "tau": 0.1, "log_delta": LOG_05},
        3.630273385588207e-05,
        1e-9,
        "mpmath: (.1 - r)/(1 + 2e6 r), r = sqrt(ln 40/2e6)",
    ),
    Golden(
        "epsilon_for_expected_error",
        {"n": 1_000_000, "tau": 0.1, "log_delta": LOG_05},
        7.2605467743659451775e-05,
        1e-9,
        "mpmath: 2 atanh(d), d = (.1 - r)/(1 + 2e6 r), r = sqrt(ln 40/2e6)",
    ),
    Golden(
        "epsilon_for_expected_error",
        {"n": 1_000_000, "tau": 0.1, "log_delta": LOG_05, "log_dp_delta": math.log(1e-6)},
        7.0605538346634018898e-05,
        1e-9,
        "mpmath: ln((1 + d - 2e-6)/(1 - d)), the same d",
    ),
    Golden(
        "gaussian_scale_for_expected_error",
        {"n": 1_000_000, "k": 10, "tau": 0.1, "log_delta": LOG_05},
        0.03475127425893303,
        1e-9,
        "golden.json, least s for expected error tau (exact TV)",
    ),
    Golden(
        "gaussian_scale_for_expected_error_printed",
        {"n": 1_000_000, "k": 10, "tau": 0.1, "log_delta": LOG_05},
        0.22990791280242315164,
        1e-13,
        "mpmath: (100/sqrt(2 pi)) (1e-6 + 3 sqrt(ln 40/1e6)), below 10/sqrt(2 pi)",
    ),
    Golden("subsample_size", {"k": 100, "alpha": 0.1}, 265, 0.0, "ln(200)/.02 = 264.9"),
    Golden("subsample_size", {"k": 1, "alpha": 1.0}, 1, 0.0, "ln(2)/2 = .35"),
    Golden("subsample_size_printed", {"k": 100, "alpha": 0.1}, 300, 0.0, "ln(400)/.02 = 299.6"),
]

_ROWS = st.integers(1, 10**9)
_COUNT = st.integers(1, 10**6)
_LOG_DELTA = st.floats(-1000, 0)
_ALPHA = st.floats(1e-6, 1)


def _possible(n: int, k: int, tau: float, log_delta: float) -> bool:
    return tau > 1.0001 * math.sqrt((math.log(2) - log_delta) / (2 * n))


DOMAINS = {
    "tv_expected_error": Domain({"distance": st.floats(0, 1), "n": _ROWS, "log_delta": _LOG_DELTA}),
    "tv_expected_error_printed": Domain(
        {"distance": st.floats(0, 1), "n": _ROWS, "log_delta": _LOG_DELTA}
    ),
    "tv_least_expected_error": Domain({"n": _ROWS, "log_delta": _LOG_DELTA}),
    "tv_for_expected_error": Domain(
        {"n": st.integers(10**4, 10**9), "tau": st.floats(1e-3, 1), "log_delta": _LOG_DELTA},
        where=lambda n, tau, log_delta: _possible(n=n, k=1, tau=tau, log_delta=log_delta),
    ),
    "epsilon_for_expected_error": Domain(
        {"n": st.integers(10**4, 10**9), "tau": st.floats(1e-3, 1), "log_delta": _LOG_DELTA},
        where=lambda n, tau, log_delta: _possible(n=n, k=1, tau=tau, log_delta=log_delta),
    ),
    "gaussian_scale_for_expected_error": Domain(
        {
            "n": st.integers(10**4, 10**9),
            "k": _COUNT,
            "tau": st.floats(1e-3, 1),
            "log_delta": _LOG_DELTA,
        },
        where=_possible,
        rel=1e-8,
    ),
    "gaussian_scale_for_expected_error_printed": Domain(
        {"n": _ROWS, "k": _COUNT, "tau": st.floats(1e-3, 1), "log_delta": _LOG_DELTA}
    ),
    "subsample_size": Domain({"k": _COUNT, "alpha": _ALPHA}),
    "subsample_size_printed": Domain({"k": _COUNT, "alpha": _ALPHA}),
}
