"""Rows for `theory.leakage.integer_noise`, and for Gaussian noise on the leakage account."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.base.concentration import SubGaussian
from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
UNIT = SubGaussian(1.0)

GOLDEN = [
    Golden(
        "discrete_laplace_log_charge",
        {"spanned": 7, "scale": 10},
        0.29988873560319156,
        1e-14,
        "mpmath: ln(1 + 7 tanh(1/20))",
    ),
    Golden(
        "discrete_laplace_log_charge",
        {"spanned": 30_000, "scale": 2**20},
        0.014203762023491156,
        1e-14,
        "mpmath: ln(1 + 30000 tanh(2^-21))",
    ),
    Golden(
        "discrete_laplace_noise_error",
        {"scale": 1000, "log_beta": math.log(0.001)},
        6908.255278982137,
        1e-14,
        "mpmath: 1000 ln 1000 + 1/2",
    ),
    Golden(
        "rounded_gaussian_log_charge",
        {"spanned": 7, "scale": 10},
        0.24619054270002604,
        1e-14,
        "mpmath: ln(1 + 7 erf(1/(20 sqrt 2)))",
    ),
    Golden(
        "rounded_gaussian_log_charge",
        {"spanned": 100, "scale": 0.5},
        4.237996742491257,
        1e-14,
        "mpmath: ln(1 + 100 erf(1/sqrt 2))",
    ),
    Golden(
        "rounded_gaussian_noise_error",
        {"scale": 1000, "log_beta": LOG_05},
        1960.4639845400542,
        1e-12,
        "mpmath: 1000 Phi^-1(.975) + 1/2",
    ),
    *(
        Golden(
            "gaussian_leakage_half_width",
            {"profile": UNIT, "k": k, "log_beta": LOG_05},
            expected,
            2e-6,  # whole cells cost 3e-6 nats more an answer
            "mpmath: the recurrence L += ln(1 + 2 a z/((t - a) sqrt(2 pi))), bisected for t",
        )
        for k, expected in (
            (1, 2.960414374601597),
            (2, 3.8540576202205133),
            (10, 7.12729096181507),
        )
    ),
]

_COUNT = st.integers(0, 10**9)
_SCALE = st.integers(1, 10**9)
_LOG_BETA = st.floats(-1000, 0)

DOMAINS = {
    "discrete_laplace_log_charge": Domain({"spanned": _COUNT, "scale": _SCALE}),
    "discrete_laplace_noise_error": Domain({"scale": _SCALE, "log_beta": _LOG_BETA}),
    "rounded_gaussian_log_charge": Domain({"spanned": _COUNT, "scale": st.floats(1e-3, 1e9)}),
    "rounded_gaussian_noise_error": Domain({"scale": st.floats(1e-3, 1e9), "log_beta": _LOG_BETA}),
    "gaussian_leakage_half_width": Domain(
        {"profile": st.just(UNIT), "k": st.integers(1, 200), "log_beta": st.floats(-50, -0.1)},
        rel=1e-6,
    ),
}
