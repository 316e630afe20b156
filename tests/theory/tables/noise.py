"""Rows for `holdfast.theory.typical.calibrated_noise`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

ROOT = "mpmath, 60 digits (500 at -1000): bisection of the hockey stick"

GOLDEN = [
    Golden("laplace_scale", {"alpha": 0.03, "eta": 0.5}, 0.06, 1e-12, "by hand"),
    Golden("laplace_scale_set_form", {"alpha": 0.03, "eta": 0.5}, 0.12, 1e-12, "by hand"),
    Golden(
        "laplace_mechanism_error",
        {"alpha": 0.03, "eta": 0.5, "log_beta": math.log(1e-3)},
        0.41446531673892823,
        1e-12,
        ".06 ln 1000",
    ),
    Golden(
        "gaussian_scale",
        {"alpha": 1.0, "eta": 1.0, "log_tau": math.log(1e-6)},
        4.224678889329113,
        1e-6,
        "golden.json 6.6",
    ),
    Golden(
        "gaussian_scale",
        {"alpha": 0.02, "eta": 0.1, "log_tau": math.log(0.001)},
        0.3480879240607648,
        1e-6,
        "golden.json 6.6",
    ),
    Golden(
        "gaussian_scale",
        {"alpha": 1.0, "eta": 2.0, "log_tau": math.log(1e-12)},
        3.3626725095148329,
        1e-10,
        ROOT,
    ),
    Golden(
        "gaussian_scale",
        {"alpha": 3.0, "eta": 10.0, "log_tau": math.log(0.5)},
        0.63999717772058999,
        1e-10,
        ROOT,
    ),
    Golden(
        "gaussian_scale",
        {"alpha": 1.0, "eta": 1.0, "log_tau": -1000.0},
        44.456629219424687,
        1e-10,
        ROOT,
    ),
    Golden(
        "gaussian_scale_printed",
        {"alpha": 2.0, "eta": 0.5, "log_tau": -10.0},
        18.247599388945968,
        1e-12,
        "mpmath: 4 sqrt(2 (ln 1.5 + 10))",
    ),
    Golden(
        "gaussian_scale_printed_eta_max",
        {"log_tau": math.log(0.785)},
        4.9506717951045266,
        1e-9,
        ROOT,
    ),
    Golden(
        "gaussian_scale_printed_eta_max",
        {"log_tau": math.log(1e-6)},
        9.1480192334556961,
        1e-9,
        ROOT,
    ),
    Golden(
        "gaussian_scale_printed_eta_max",
        {"log_tau": math.log(0.01), "constant": 1.0},
        6.2482227078345087,
        1e-9,
        ROOT,
    ),
    Golden(
        "gaussian_scale_bf1_printed",
        {"alpha": 2.0, "eta": 0.5, "log_tau": -10.0},
        35.777087639996635,
        1e-12,
        "mpmath: 8 sqrt 20",
    ),
    Golden(
        "gaussian_mechanism_error",
        {"alpha": 1.0, "eta": 1.0, "log_tau": math.log(1e-6), "log_beta": math.log(0.05)},
        8.2802184693272749,
        1e-9,
        "mpmath: s sqrt(2) erfinv(.95)",
    ),
    Golden(
        "gaussian_mechanism_error_printed",
        {"alpha": 2.0, "eta": 0.5, "log_tau": -10.0, "log_beta": -3.0},
        44.697307533639737,
        1e-12,
        "mpmath: BF2 Theorem 5.4",
    ),
]

_LAPLACE = {"alpha": st.floats(1e-3, 1e3), "eta": st.floats(1e-3, 1e3)}
_LOG = st.floats(-1000, 0)
_GAUSSIAN = {
    "alpha": st.floats(1e-3, 1e3),
    "eta": st.floats(1e-3, 50),
    "log_tau": st.floats(-1000, -1e-3),
}

DOMAINS = {
    "laplace_scale": Domain(_LAPLACE),
    "laplace_scale_set_form": Domain(_LAPLACE),
    "laplace_mechanism_error": Domain({**_LAPLACE, "log_beta": _LOG}),
    "gaussian_scale": Domain(_GAUSSIAN),
    "gaussian_scale_printed": Domain(_GAUSSIAN),
    "gaussian_scale_printed_eta_max": Domain(
        {"log_tau": _GAUSSIAN["log_tau"], "constant": st.floats(1, 10)}
    ),
    "gaussian_scale_bf1_printed": Domain(_GAUSSIAN),
    "gaussian_mechanism_error": Domain({**_GAUSSIAN, "log_beta": _LOG}),
    "gaussian_mechanism_error_printed": Domain({**_GAUSSIAN, "log_beta": _LOG}),
}
