"""Rows for `holdfast.theory.notions.distances`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.notions.composing import PureDP
from tests.theory.rows import Domain, Golden

LOG_1E6 = math.log(1e-6)

GOLDEN = [
    Golden("gaussian_answers", {"n": 1000, "k": 4, "s": 0.01}, 0.2, 1e-14, "by hand: 2/10"),
    Golden(
        "gaussian_tv",
        {"n": 1000, "k": 1, "s": 0.01},
        0.039877611676744924,
        1e-9,
        "golden.json, k-fold Gaussian TV, exact",
    ),
    Golden(
        "gaussian_tv",
        {"n": 1000, "k": 100, "s": 0.01},
        0.3829249225480261,
        1e-9,
        "golden.json, k-fold Gaussian TV, exact",
    ),
    Golden(
        "gaussian_tv_printed",
        {"n": 1000, "k": 100, "s": 0.01},
        3.9894228040143267794,
        1e-14,
        "by hand: 10/sqrt(2 pi)",
    ),
    Golden("peak_tv", {"shift": 0.001, "peak": 50.0}, 0.05, 1e-14, "by hand"),
    Golden("uniform_tv", {"n": 1000, "k": 7, "D": 0.01}, 0.35, 1e-14, "by hand: 7/20"),
    Golden("uniform_tv", {"n": 10, "k": 7, "D": 0.01}, 1.0, 1e-14, "a distance is at most 1"),
    Golden("uniform_scale_for_tv", {"n": 1000, "k": 7, "distance": 0.35}, 0.01, 1e-14, "by hand"),
    Golden("laplace_tv", {"epsilon": 1.0}, 0.3934693402873665764, 1e-14, "1 - e^-.5"),
    Golden("laplace_scale_for_dp", {"epsilon": 0.5, "sensitivity": 0.001}, 0.002, 1e-14, "by hand"),
    Golden(
        "laplace_log_tail",
        {"D": 0.01, "epsilon": 0.5, "sensitivity": 0.001},
        -5.0,
        1e-14,
        "by hand: .5 * 10",
    ),
    Golden(
        "laplace_scale_for_tv",
        {"distance": 0.2, "sensitivity": 0.001},
        0.0022407100588622748934,
        1e-14,
        "mpmath: .001/(-2 ln .8)",
    ),
    Golden(
        "gaussian_scale_for_tv",
        {"n": 1000, "k": 100, "distance": 0.1},
        0.039789482805452731808,
        1e-13,
        "mpmath: 10/(1000 * 2 sqrt 2 erfinv .1)",
    ),
    Golden("gaussian_scale_for_zcdp", {"n": 1000, "k": 50, "rho": 0.25}, 0.01, 1e-14, "by hand"),
    Golden(
        "gaussian_scale_for_approx_dp",
        {"n": 1, "k": 1, "epsilon": 1.0, "log_delta": math.log(1e-5)},
        3.7306316348159418322,
        1e-10,
        "mpmath root of the curve (3.7306 also in Balle & Wang 2018)",
    ),
    Golden(
        "gaussian_scale_for_approx_dp",
        {"n": 1000, "k": 100, "epsilon": 0.5, "log_delta": -1000.0},
        0.888708847524854306,
        1e-10,
        "mpmath root of the curve, 60 digits",
    ),
    Golden(
        "advanced_composition",
        {"step": PureDP(0.1), "k": 100, "log_delta": LOG_1E6},
        5.7561055193357317006,
        1e-13,
        "mpmath",
        lambda dp: dp.epsilon,
    ),
    Golden(
        "advanced_composition",
        {"step": PureDP(2.0), "k": 100, "log_delta": LOG_1E6},
        200.0,
        1e-13,
        "by hand: basic composition is the better one",
        lambda dp: dp.epsilon,
    ),
    Golden(
        "advanced_composition_of",
        {
            "steps": (PureDP(0.1), PureDP(0.2), PureDP(0.05), PureDP(0.3)),
            "log_delta": math.log(0.9),
        },
        0.24412984698216041651,
        1e-13,
        "mpmath",
        lambda dp: dp.epsilon,
    ),
    Golden(
        "advanced_composition_printed",
        {"step": PureDP(0.1), "k": 100, "log_delta": LOG_1E6},
        6.3082309505134082267,
        1e-13,
        "mpmath",
    ),
]

_ROWS = st.integers(1, 10**7)
_COUNT = st.integers(1, 10**6)
_SCALE = st.floats(1e-6, 10)
_POSITIVE = st.floats(1e-3, 1e3)
_DISTANCE = st.floats(1e-9, 0.999)
_LOG_DELTA = st.floats(-1000, 0)
_STEP = st.builds(PureDP, st.floats(0, 5))

DOMAINS = {
    "gaussian_answers": Domain({"n": _ROWS, "k": _COUNT, "s": _SCALE}),
    "gaussian_tv": Domain({"n": _ROWS, "k": _COUNT, "s": _SCALE}),
    "gaussian_tv_printed": Domain({"n": _ROWS, "k": _COUNT, "s": _SCALE}),
    "peak_tv": Domain({"shift": st.floats(0, 10), "peak": st.floats(0, 10)}),
    "uniform_tv": Domain({"n": _ROWS, "k": _COUNT, "D": _SCALE}),
    "uniform_scale_for_tv": Domain({"n": _ROWS, "k": _COUNT, "distance": _DISTANCE}),
    "laplace_tv": Domain({"epsilon": st.floats(0, 100)}),
    "laplace_scale_for_dp": Domain({"epsilon": _POSITIVE, "sensitivity": _POSITIVE}),
    "laplace_log_tail": Domain(
        {"D": st.floats(0, 1e3), "epsilon": _POSITIVE, "sensitivity": _POSITIVE}
    ),
    "laplace_scale_for_tv": Domain({"distance": _DISTANCE, "sensitivity": _POSITIVE}),
    "gaussian_scale_for_tv": Domain({"n": _ROWS, "k": _COUNT, "distance": _DISTANCE}),
    "gaussian_scale_for_zcdp": Domain({"n": _ROWS, "k": _COUNT, "rho": _POSITIVE}),
    "gaussian_scale_for_approx_dp": Domain(
        {
            "n": _ROWS,
            "k": _COUNT,
            "epsilon": st.floats(1e-3, 20),
            "log_delta": st.floats(-1000, -1e-3),
        }
    ),
    "advanced_composition": Domain(
        {"step": _STEP, "k": _COUNT, "log_delta": _LOG_DELTA}, measure=lambda dp: dp.epsilon
    ),
    "advanced_composition_of": Domain(
        {"steps": st.lists(_STEP, min_size=1, max_size=20), "log_delta": _LOG_DELTA},
        measure=lambda dp: dp.epsilon,
    ),
    "advanced_composition_printed": Domain({"step": _STEP, "k": _COUNT, "log_delta": _LOG_DELTA}),
}
