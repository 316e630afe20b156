"""Rows for `holdfast.theory.typical.generalisation`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "near_independence",
        {"log_p": -5.0, "eta": 0.5, "log_tau": -7.0, "log_nu": -6.0},
        -4.2337880011020053,
        1e-12,
        "mpmath: ln(e^-4.5 + e^-7 + e^-6 - e^-13)",
    ),
    Golden(
        "near_independence",
        {"log_p": -900.0, "eta": 10.0, "log_tau": -905.0, "log_nu": -1000.0},
        -889.99999969409773,
        1e-13,
        "mpmath",
    ),
    Golden(
        "near_independence_bf1_printed",
        {"log_p": -5.0, "eta": 0.5, "log_tau": -7.0, "log_nu": -6.0},
        -3.8196312979304002,
        1e-12,
        "mpmath: ln(e^-4.5 + e^-7 + 4 e^-6)",
    ),
    Golden(
        "near_independence_printed",
        {"log_p": -5.0, "eta": 0.5, "log_tau": -7.0, "log_nu": -6.0},
        -3.7125723517136317,
        1e-12,
        "mpmath: ln(e^-4.5 + e^-7 + 5 e^-6)",
    ),
    Golden(
        "generalisation",
        {"log_tail": -8.0, "eta": 2.0, "log_tau": -9.0, "log_nu": -7.0},
        -5.6510198081519379,
        1e-12,
        "mpmath: ln(e^-6 + e^-9 + e^-7 - e^-16)",
    ),
    Golden(
        "generalisation_bf1_printed",
        {"log_tail": -8.0, "eta": 0.5, "log_tau": -9.0},
        -6.2054775659651086,
        1e-12,
        "mpmath: ln(e^-7.5 + 4 e^-8 + e^-9)",
    ),
    Golden(
        "generalisation_printed",
        {"eta": 0.5, "log_tau": -9.0, "log_nu": -8.0},
        -6.0517211283171649,
        1e-12,
        "mpmath: ln((e^.5 + 5) e^-8 + e^-9)",
    ),
]

_LOG = st.floats(-1000, 0)
_SMALL = st.floats(-1000, math.log(0.0999))

DOMAINS = {
    "near_independence": Domain(
        {"log_p": _LOG, "eta": st.floats(0, 50), "log_tau": _LOG, "log_nu": _LOG}
    ),
    "near_independence_bf1_printed": Domain(
        {"log_p": _LOG, "eta": st.floats(0, 0.999), "log_tau": _LOG, "log_nu": _SMALL}
    ),
    "near_independence_printed": Domain(
        {"log_p": _LOG, "eta": st.floats(0, 0.999), "log_tau": _LOG, "log_nu": _SMALL}
    ),
    "generalisation": Domain(
        {"log_tail": _LOG, "eta": st.floats(0, 50), "log_tau": _LOG, "log_nu": _LOG}
    ),
    "generalisation_bf1_printed": Domain(
        {"log_tail": _LOG, "eta": st.floats(0, 50), "log_tau": _LOG}
    ),
    "generalisation_printed": Domain({"eta": st.floats(0, 50), "log_tau": _LOG, "log_nu": _LOG}),
}
