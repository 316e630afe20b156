"""Rows for `holdfast.theory.typical.sharp_composition`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.papers.theorems.composition import Composed
from tests.theory.rows import Domain, Golden

SUM = "mpmath, 50 digits: the sum over the number of lies, term by term"


def eta_and_tau(composed: Composed) -> tuple[float, float, float]:
    return composed.eta, math.exp(composed.log_tau), math.exp(composed.log_nu)


def on_a_scale(log: float) -> float:
    # ln of nearly 1 has no digits to compare, and -inf none either.
    return max(log, -1e6) - 1


GOLDEN = [
    Golden(
        "optimal_composition_log_delta",
        {"k": 10, "eta": 0.1, "eta_prime": 0.3},
        math.log(0.03509712613013889),
        1e-6,
        "golden.json 6.5",
    ),
    Golden(
        "optimal_composition_log_delta",
        {"k": 100, "eta": 0.1, "eta_prime": 2.0},
        math.log(0.020140178428392753),
        1e-6,
        "golden.json 6.5",
    ),
    Golden(
        "optimal_composition_log_delta",
        {"k": 20, "eta": 0.5, "eta_prime": 8.0},
        -7.3376368064141489,
        1e-12,
        SUM,
    ),
    Golden(
        "optimal_composition_log_delta",
        {"k": 200, "eta": 0.5, "eta_prime": 95.0},
        -79.243036401582167,
        1e-12,
        SUM,
    ),
    Golden(
        "optimal_composition_log_delta",
        {"k": 2000, "eta": 0.05, "eta_prime": 40.0},
        -151.16621718104546,
        1e-12,
        SUM,
    ),
    Golden(
        "optimal_composition_log_delta",
        {"k": 10, "eta": 0.1, "eta_prime": 0.3, "log_tau": math.log(0.001)},
        -3.1077180249177974,
        1e-9,
        "mpmath: ln(1 - .999^10 (1 - delta))",
    ),
    Golden(
        "optimal_composition_log_delta",
        {"k": 3, "eta": 1.0, "eta_prime": 3.0, "log_tau": -1000.0},
        -998.90138771133189,
        1e-13,
        "by hand: delta_3(3) = 0, so ln 3 - 1000",
    ),
    Golden(
        "bad_event_log_bound",
        {"k": 10, "eta": 0.1, "log_nu": -30.0},
        -27.206506684342991,
        1e-12,
        "mpmath: the geometric sum, the smaller of the two here",
    ),
    Golden(
        "bad_event_log_bound",
        {"k": 10, "eta": 0.1, "log_nu": -30.0, "log_tau": -33.0},
        -27.179450170557942,
        1e-12,
        "mpmath: the geometric sum plus 1 - (1 - e^-33)^9",
    ),
    Golden(
        "bad_event_log_bound",
        {"k": 100, "eta": 0.05, "log_nu": math.log(1e-9)},
        -13.613113410981478,
        1e-5,
        "mpmath: the least of e^{eta'} k nu + delta_99(eta') over the kinks of delta_99",
    ),
    Golden(
        "equal_marginal_conditioning",
        {"log_delta_1": -20.0, "log_delta_2": -21.0, "log_tau_out": -5.0},
        -14.686738312481777,
        1e-12,
        "mpmath: ln(e^-20 + e^-21) + 5",
    ),
    Golden(
        "sharp_composition",
        {"k": 10, "eta": 0.1, "log_nu": -30.0, "eta_prime": 0.5, "log_tau_out": -2.0},
        (0.5, -2.0, -1.9190851922067584),
        1e-9,
        "mpmath: ln(sum_t e^{.1 t - 30} + 10 e^-30 + 2 delta_10(.5)) + 2",
    ),
    Golden(
        "sharp_composition_balanced",
        {"k": 10, "eta": 0.1, "log_nu": math.log(1e-9), "eta_prime": 1.0},
        (1.0, 0.00016228984564557218, 0.00016228984564557218),
        0.002,
        "golden.json 6.5",
        eta_and_tau,
    ),
    Golden(
        "sharp_composition_balanced",
        {"k": 100, "eta": 0.05, "log_nu": math.log(1e-9), "eta_prime": 2.0},
        (2.0, 0.0038781717095712678, 0.0038781717095712678),
        0.002,
        "golden.json 6.5",
        eta_and_tau,
    ),
]

_LOG = st.floats(-1000, 0)
_STEPS = {
    "k": st.integers(1, 300),
    "eta": st.floats(0, 5),
    "log_nu": _LOG,
    "log_tau": _LOG | st.just(-math.inf),
}
_ETA_PRIME = st.floats(0, 50)

DOMAINS = {
    "optimal_composition_log_delta": Domain(
        {name: _STEPS[name] for name in ("k", "eta", "log_tau")} | {"eta_prime": _ETA_PRIME},
        measure=on_a_scale,
    ),
    "bad_event_log_bound": Domain(_STEPS, rel=1e-7),
    "equal_marginal_conditioning": Domain(
        {"log_delta_1": _LOG, "log_delta_2": _LOG, "log_tau_out": _LOG}
    ),
    "sharp_composition": Domain({**_STEPS, "eta_prime": _ETA_PRIME, "log_tau_out": _LOG}, rel=1e-7),
    "sharp_composition_balanced": Domain({**_STEPS, "eta_prime": _ETA_PRIME}, rel=1e-7),
}
