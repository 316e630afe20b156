"""Rows for `holdfast.papers.theorems.composition`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.papers.theorems.composition import Composed
from tests.theory.rows import Domain, Golden

PURE = {"k": 7, "eta": 0.3, "log_nu": -40.0, "log_tau_prime": -45.0}
APPROXIMATE = {"k": 6, "eta": 0.2, "log_tau": -30.0, "log_nu": -60.0, "log_tau_prime": -35.0}
FORMULA = "mpmath, 50 digits: the formula of theory.md 6.4 summed term by term"


def eta_and_tau(composed: Composed) -> tuple[float, float]:
    return composed.eta, math.exp(composed.log_tau)


def eta_and_log_tau(composed: Composed) -> tuple[float, float]:
    return composed.eta, composed.log_tau


GOLDEN = [
    Golden(
        "composed_eta",
        {"t": 1, "eta": 0.1, "log_tau_prime": math.log(1e-6)},
        0.536169268783258,
        1e-9,
        "golden.json 6.4",
    ),
    Golden(
        "composed_eta",
        {"t": 50, "eta": 0.1, "log_tau_prime": math.log(1e-6)},
        4.242776779228077,
        1e-9,
        "golden.json 6.4",
    ),
    Golden(
        "composed_eta",
        {"t": 3, "eta": 2.0, "log_tau_prime": -1000.0},
        193.25367044188058,
        1e-12,
        "mpmath",
    ),
    Golden(
        "pure_composition",
        {"k": 10, "eta": 0.01, "log_nu": math.log(1e-12), "log_tau_prime": math.log(1e-10)},
        (0.6468048580120546, 0.001590145548058949),
        1e-6,
        "golden.json 6.4",
        eta_and_tau,
    ),
    Golden(
        "pure_composition",
        {"k": 100, "eta": 0.005, "log_nu": math.log(1e-14), "log_tau_prime": math.log(1e-12)},
        (1.122595437944053, 0.0007116367992122443),
        1e-6,
        "golden.json 6.4",
        eta_and_tau,
    ),
    Golden(
        "pure_composition",
        PURE,
        (24.793931204148859, -13.678976010482311),
        1e-12,
        FORMULA,
        eta_and_log_tau,
    ),
    Golden(
        "pure_composition",
        {"k": 5, "eta": 0.1, "log_nu": -1000.0, "log_tau_prime": -1010.0},
        (30.307383240476142, -492.56344314924944),
        1e-12,
        FORMULA,
        eta_and_log_tau,
    ),
    Golden(
        "pure_composition_printed",
        PURE,
        (24.793931204148859, -16.277627203725008),
        1e-12,
        "mpmath: BF2 Theorem 4.2 as printed",
        eta_and_log_tau,
    ),
    Golden(
        "pure_composition_printed",
        {"k": 2, "eta": 30.0, "log_nu": -30.0, "log_tau_prime": -100.0},
        (1923565424676023.2, -0.091160778396930525),
        1e-12,
        "mpmath: BF2 Theorem 4.2 as printed, where it is false",
        eta_and_log_tau,
    ),
    Golden(
        "pure_composition_bf1_printed",
        PURE,
        (43.44729174233138, -16.277627203725008),
        1e-12,
        "mpmath: BF1 equations (3) and (4) as printed",
        eta_and_log_tau,
    ),
    Golden(
        "approximate_composed_eta",
        {"t": 4, "eta": 0.5, "log_tau": -6.0, "log_tau_prime": -20.0},
        19.70794058387141,
        1e-12,
        "mpmath: BF2 equation (16)",
    ),
    Golden(
        "approximate_composition",
        {
            "k": 10,
            "eta": 0.01,
            "log_tau": math.log(1e-10),
            "log_nu": math.log(1e-12),
            "log_tau_prime": math.log(1e-10),
        },
        (1.2997004411537183, 0.015890829804746542),
        1e-6,
        "golden.json 6.4",
        eta_and_tau,
    ),
    Golden(
        "approximate_composition",
        APPROXIMATE,
        (28.133819661337071, -10.835772243797828),
        1e-12,
        FORMULA,
        eta_and_log_tau,
    ),
    Golden(
        "approximate_composition_printed",
        APPROXIMATE,
        (28.133819661337071, -10.835772243802995),
        1e-13,
        "mpmath: BF2 Theorem 4.8 as printed",
        eta_and_log_tau,
    ),
    Golden(
        "approximate_composition_bf1_printed",
        APPROXIMATE,
        (28.133819661337071, -11.293460080207505),
        1e-12,
        "mpmath: BF1 equations (12) and (13) as printed",
        eta_and_log_tau,
    ),
]

_K = st.integers(1, 3000)
_LOG = st.floats(-1000, 0)
_INSIDE = st.floats(-1000, -1e-6)
_PURE = {"k": _K, "eta": st.floats(1e-4, 500), "log_nu": _LOG, "log_tau_prime": _INSIDE}
_APPROXIMATE = {
    "k": _K,
    "eta": st.floats(0.01, 1.5),
    "log_tau": st.floats(-1000, math.log(0.01 / 50)),
    "log_nu": _LOG,
    "log_tau_prime": _INSIDE,
}

DOMAINS = {
    "composed_eta": Domain(
        {"t": st.integers(1, 10**6), "eta": st.floats(0, 500), "log_tau_prime": _INSIDE}
    ),
    "approximate_composed_eta": Domain(
        {
            "t": st.integers(1, 10**6),
            **{name: _APPROXIMATE[name] for name in ("eta", "log_tau", "log_tau_prime")},
        }
    ),
    "pure_composition": Domain(_PURE),
    "pure_composition_printed": Domain(_PURE),
    "pure_composition_bf1_printed": Domain(_PURE),
    "approximate_composition": Domain(_APPROXIMATE),
    "approximate_composition_printed": Domain(_APPROXIMATE),
    "approximate_composition_bf1_printed": Domain(_APPROXIMATE),
}
