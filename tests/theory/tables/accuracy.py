"""Rows for `holdfast.papers.theorems.accuracy` and `best_accuracy`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.papers.theorems.accuracy import Accuracy
from holdfast.theory.base.concentration import SubExponential
from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
SEARCH = "an independent search (Nelder-Mead from several starts, nu by bisection)"


def half_width(accuracy: Accuracy) -> float:
    return accuracy.half_width


GOLDEN = [
    Golden(
        "literal_accuracy_log_failure",
        {
            "k": 10,
            "eta": 0.0075,
            "log_nu": -25.0,
            "log_tau_prime": -24.5,
            "log_beta2": -3.4,
        },
        -3.0353171244769372,
        1e-12,
        "mpmath: theory.md 6.7 term by term",
    ),
    Golden(
        "direct_accuracy_log_failure",
        {"k": 10, "eta": 1.0, "log_nu": -140.0, "log_tau_prime": -18.0, "log_beta2": -3.1},
        -3.0169198931087599,
        1e-12,
        "mpmath: theory.md 6.7 term by term",
    ),
    Golden(
        "leakage_accuracy_log_failure",
        {"k": 10, "eta": 46.0, "log_nu": -39.0, "log_beta2": -3.5},
        -3.1372426396353908,
        1e-12,
        "mpmath: ln(e^-39 (47^10 - 1)/46 + e^-3.5)",
    ),
    Golden(
        "gaussian_literal_accuracy_log_failure",
        {
            "k": 10,
            "eta": 0.003,
            "log_tau": -30.0,
            "log_nu": -30.0,
            "log_tau_prime": -25.0,
            "log_beta2": -3.4,
        },
        -2.8721357333314467,
        1e-12,
        "mpmath: theory.md 6.4 and 6.7 term by term",
    ),
    Golden(
        "gaussian_direct_accuracy_log_failure",
        {
            "k": 10,
            "eta": 0.5,
            "log_tau": -17.0,
            "log_nu": -150.0,
            "log_tau_prime": -16.0,
            "log_beta2": -3.5,
        },
        -3.03304613556010873,
        1e-12,
        "mpmath: theory.md 6.4 and 6.7 term by term",
    ),
    Golden(
        "gaussian_leakage_accuracy_log_failure",
        {"k": 10, "distance": 18.0, "log_nu": -29.0, "log_beta2": -3.5},
        -3.1428339696770781,
        1e-12,
        "mpmath: ln(e^-29 (c^10 - 1)/(c - 1) + e^-3.5), c = 1 + 36/sqrt(2 pi)",
    ),
    # tau is tied to tau', which costs less than 1 %.
    *(
        Golden(
            "literal_accuracy",
            {"k": k, "log_beta": LOG_05, "noise": "gaussian"},
            expected,
            0.01,
            SEARCH,
            half_width,
        )
        for k, expected in ((1, 9814.6167), (10, 50219.767), (100, 229038.57))
    ),
    *(
        Golden(
            "direct_accuracy",
            {"k": k, "log_beta": LOG_05, "noise": "gaussian"},
            expected,
            0.01,
            SEARCH,
            half_width,
        )
        for k, expected in ((1, 122.12499), (10, 418.64826))
    ),
    *(
        Golden(
            name,
            {"k": 10, "log_beta": LOG_05, "profile": SubExponential(1.0, 0.5), "noise": noise},
            expected,
            rel,
            SEARCH,
            half_width,
        )
        for name, noise, expected, rel in (
            ("literal_accuracy", "laplace", 10288.70597, 1e-5),
            ("direct_accuracy", "laplace", 289.42551813, 1e-5),
            ("leakage_accuracy", "laplace", 21.91937577, 1e-6),
            ("leakage_accuracy", "gaussian", 16.80201196, 1e-6),
        )
    ),
    *(
        Golden(
            "leakage_accuracy",
            {"k": k, "log_beta": LOG_05, "noise": "gaussian"},
            expected,
            1e-6,
            SEARCH,
            half_width,
        )
        for k, expected in ((10, 8.89927948), (100, 28.09698609))
    ),
    *(
        Golden(
            "literal_accuracy",
            {"k": k, "log_beta": LOG_05},
            expected,
            0.01,
            "theory.md 6.7",
            half_width,
        )
        for k, expected in ((1, 874.0), (10, 5405.0), (100, 27393.0))
    ),
    *(
        Golden(
            "literal_accuracy",
            {"k": k, "log_beta": LOG_05},
            expected,
            1e-5,
            SEARCH,
            half_width,
        )
        for k, expected in ((1, 869.7265), (10, 5396.4215), (100, 27307.3663))
    ),
    *(
        Golden("direct_accuracy", {"k": k, "log_beta": LOG_05}, expected, 1e-5, SEARCH, half_width)
        for k, expected in ((1, 29.949314), (10, 98.334021), (100, 321.769406))
    ),
    *(
        Golden("leakage_accuracy", {"k": k, "log_beta": LOG_05}, expected, 1e-6, SEARCH, half_width)
        for k, expected in ((10, 9.9824687), (100, 32.4250874))
    ),
    Golden(
        "leakage_accuracy",
        {"k": 1, "log_beta": LOG_05},
        2.716203031481239,
        1e-6,
        "golden.json 2: one question needs no noise, so the sub-Gaussian radius",
        half_width,
    ),
]

_LOG = st.floats(-1000, 0)
_CHAIN = {
    "k": st.integers(1, 300),
    "eta": st.floats(1e-4, 500),
    "log_nu": _LOG,
    "log_tau_prime": st.floats(-1000, -1e-3),
    "log_beta2": _LOG,
}
_GAUSSIAN = {**_CHAIN, "eta": st.floats(1e-4, 1.5), "log_tau": st.floats(-1000, -10)}


def _small_tau(eta: float, log_tau: float, **_: float) -> bool:
    return log_tau <= math.log(eta / 50)


DOMAINS = {
    "literal_accuracy_log_failure": Domain({**_CHAIN, "eta": st.floats(1e-5, 0.01)}),
    "direct_accuracy_log_failure": Domain(_CHAIN),
    "gaussian_literal_accuracy_log_failure": Domain(
        {**_GAUSSIAN, "eta": st.floats(1e-5, 0.01)}, _small_tau
    ),
    "gaussian_direct_accuracy_log_failure": Domain(_GAUSSIAN, _small_tau),
    "gaussian_leakage_accuracy_log_failure": Domain(
        {
            "k": st.integers(1, 10**6),
            "distance": st.floats(1e-6, 1e6),
            "log_nu": _LOG,
            "log_beta2": _LOG,
        }
    ),
    "leakage_accuracy_log_failure": Domain(
        {
            "k": st.integers(1, 10**6),
            "eta": st.floats(1e-6, 1e6),
            "log_nu": _LOG,
            "log_beta2": _LOG,
        }
    ),
}
