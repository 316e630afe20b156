"""Rows for `holdfast.theory.transfer.differential_privacy`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.notions.composing import GDP, PureDP
from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden(
        "laplace_max_noise", {"k": 1, "log_beta": LOG_05}, 3.995732273553991, 1e-14, "1 + ln 20"
    ),
    Golden(
        "laplace_max_noise", {"k": 100, "log_beta": LOG_05}, 8.600902459542082, 1e-14, "1 + ln 2000"
    ),
    Golden(
        "pure_dp_to_gdp",
        {"step": PureDP(1.0)},
        1.232035385344901,
        1e-13,
        "mpmath: 2 Phi^-1(e/(1 + e))",
    ),
    Golden(
        "pure_dp_to_gdp",
        {"step": PureDP(0.01)},
        0.012533118959649839,
        1e-11,
        "mpmath: 2 Phi^-1(e^.01/(1 + e^.01))",
    ),
    Golden(
        "optimal_composition_at_delta",
        {"step": PureDP(0.1), "k": 100, "log_delta": math.log(1e-6)},
        4.774567588107986,
        1e-10,
        "mpmath: the sum over lies, bisected for epsilon'",
        measure=lambda found: found.epsilon,
    ),
    Golden(
        "optimal_composition_at_delta",
        {"step": PureDP(0.3), "k": 20, "log_delta": math.log(1e-5)},
        5.386763227696627,
        1e-10,
        "mpmath: the sum over lies, bisected for epsilon'",
        measure=lambda found: found.epsilon,
    ),
    Golden(
        "gdp_at_delta",
        {"step": GDP(1.0), "log_delta": math.log(1e-5)},
        4.377178095681225,
        1e-11,
        "mpmath: the Gaussian curve, bisected for epsilon",
        measure=lambda found: found.epsilon,
    ),
    Golden(
        "gdp_at_delta",
        {"step": GDP(0.2), "log_delta": math.log(1e-9)},
        1.1040402625920855,
        1e-11,
        "mpmath: the Gaussian curve, bisected for epsilon",
        measure=lambda found: found.epsilon,
    ),
    Golden(
        "composed_private_shift",
        {"k": 100, "epsilon": 0.01, "log_beta": LOG_05},
        0.06532720062132594,
        1e-4,
        "mpmath: min over epsilon' of tanh(epsilon'/4) + delta_100(epsilon')/.05",
    ),
    Golden(
        "composed_private_shift",
        {"k": 20, "epsilon": 0.05, "log_beta": math.log(0.001)},
        0.200487443578556786,
        1e-4,
        "mpmath: min over epsilon' of tanh(epsilon'/4) + delta_20(epsilon')/.001",
    ),
    Golden(
        "private_laplace_half_width",
        {"n": 10_000, "k": 100, "epsilon": 0.01, "log_beta": LOG_05},
        0.15133622521674676,
        1e-4,
        "mpmath: (1 + ln 2000)/100 + the shift above",
    ),
]

_K = st.integers(1, 300)
_EPS = st.floats(0, 2)
_LOG_BETA = st.floats(-30, -0.1)

DOMAINS = {
    "laplace_max_noise": Domain({"k": st.integers(1, 10**12), "log_beta": st.floats(-1000, 0)}),
    "pure_dp_to_gdp": Domain({"step": st.builds(PureDP, st.floats(0, 500))}, rel=1e-10),
    "optimal_composition_at_delta": Domain(
        {"step": st.builds(PureDP, _EPS), "k": _K, "log_delta": st.floats(-300, -0.1)},
        measure=lambda found: found.epsilon,
        rel=1e-8,
    ),
    "gdp_at_delta": Domain(
        {"step": st.builds(GDP, st.floats(0, 20)), "log_delta": st.floats(-300, -0.1)},
        measure=lambda found: found.epsilon,
        rel=1e-8,
    ),
    "composed_private_shift": Domain({"k": _K, "epsilon": _EPS, "log_beta": _LOG_BETA}, rel=1e-3),
    "private_laplace_half_width": Domain(
        {
            "n": st.integers(1, 10**7),
            "k": _K,
            "epsilon": st.floats(1e-4, 2),
            "log_beta": _LOG_BETA,
        },
        rel=1e-3,
    ),
}
