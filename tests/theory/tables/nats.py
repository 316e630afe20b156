"""Rows for `holdfast.theory.leakage.nats` and `release`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.base.concentration import SubGaussian
from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)

GOLDEN = [
    Golden(
        "leakage_log_failure",
        {
            "log_charges": (0.1, 0.2, 5.0),
            "log_ps": (math.log(0.01), math.log(0.02), math.log(0.03)),
        },
        -2.6228016163223047,
        1e-12,
        "mpmath: ln(.01 + e^.1 .02 + e^.3 .03); the last charge does not count",
    ),
    Golden("fixed_share", {"log_beta": LOG_05, "k": 500}, -9.2103403719761827, 1e-12, "ln 1e-4"),
    Golden("open_ended_share", {"log_beta": LOG_05, "j": 7}, -7.0210839642891402, 1e-12, "mpmath"),
    Golden(
        "uniform_log_charge", {"radius": 0.02, "half_range": 0.08}, math.log(1.25), 1e-12, "by hand"
    ),
    Golden(
        "discrete_uniform_log_charge",
        {"radius": 0.02, "g": 0.001, "m": 40},
        0.40134139092430232,
        1e-12,
        "golden.json, ln(1 + 40/81)",
    ),
    Golden(
        "rounding_log_charge", {"radius": 0.05, "half_pitch": 0.02}, math.log(4), 1e-12, "by hand"
    ),
    Golden("laplace_log_charge", {"radius": 0.02, "scale": 0.08}, math.log(1.25), 1e-12, "by hand"),
    Golden(
        "laplace_noise_error",
        {"scale": 0.1, "log_beta": math.log(1e-3)},
        0.69077552789821371,
        1e-12,
        "0.1 ln 1000",
    ),
    Golden("gaussian_log_charge", {"radius": 0.02, "s": 0.1}, 0.14805520769172467, 1e-12, "mpmath"),
    Golden("gaussian_noise_error", {"s": 1.0, "log_beta": LOG_05}, 1.9599639845400542, 1e-9, "z"),
    Golden(
        "gaussian_noise_error",
        {"s": 1.0, "log_beta": -1000.0},
        44.631273171395789,
        1e-9,
        "mpmath root of ln erfc(x/sqrt 2) = -1000",
    ),
    Golden("confirmed_log_charge", {"eps": 0.05}, 0.051293294387550533, 1e-12, "-ln .95"),
    Golden(
        "surprise_log_charge",
        {"eps": 0.05, "release_log_charge": 0.2},
        3.195732273553991,
        1e-12,
        ".2 + ln 20",
    ),
    Golden("typical_log_charge", {"eta": 0.3}, 0.3, 1e-15, "definition"),
    Golden(
        "dp_log_charge",
        {"n": 100, "eps": 0.5},
        50.0,
        1e-12,
        "100 steps of one half, by group privacy",
    ),
    Golden("ask_log_cost", {"radius": 0.02, "tolerance": 0.05}, -math.log(0.6), 1e-12, "by hand"),
    Golden(
        "log_capacity",
        {"sigma": 0.005, "tolerance": 0.05, "log_share": math.log(1e-3)},
        42.399097540457918,
        1e-12,
        "2 n t^2 - ln 2000 at n = 10,000",
    ),
    Golden(
        "post_selected_radius",
        {"profile": SubGaussian(1.0), "log_beta": LOG_05, "nats": 3.0, "candidates": 10},
        4.2406283843572009,
        1e-12,
        "mpmath",
    ),
    Golden(
        "discrete_uniform_for",
        {"tolerance": 0.5, "radius": 0.25, "m": 10},
        (42.0, 10.0),
        1e-15,
        "by hand: 10.5/G <= .25 first at G = 42",
    ),
    Golden("discrete_uniform_overhead", {"m": 2}, 0.8, 1e-12, "by hand"),
]

radius = st.floats(0, 10)
positive = st.floats(1e-3, 10)
eps = st.floats(1e-6, 1 - 1e-6)
log_beta = st.floats(-1000, -0.01)
DOMAINS = {
    "fixed_share": Domain({"log_beta": log_beta, "k": st.integers(1, 10**9)}),
    "open_ended_share": Domain({"log_beta": log_beta, "j": st.integers(1, 10**9)}),
    "uniform_log_charge": Domain({"radius": radius, "half_range": positive}),
    "discrete_uniform_log_charge": Domain(
        {"radius": radius, "g": positive, "m": st.integers(0, 10**6)}
    ),
    "rounding_log_charge": Domain({"radius": radius, "half_pitch": positive}),
    "laplace_log_charge": Domain({"radius": radius, "scale": positive}),
    "laplace_noise_error": Domain({"scale": positive, "log_beta": log_beta}),
    "gaussian_log_charge": Domain({"radius": radius, "s": positive}),
    "gaussian_noise_error": Domain({"s": positive, "log_beta": log_beta}),
    "confirmed_log_charge": Domain({"eps": eps}),
    "surprise_log_charge": Domain({"eps": eps, "release_log_charge": radius}),
    "typical_log_charge": Domain({"eta": radius}),
    "dp_log_charge": Domain({"n": st.integers(1, 10**6), "eps": radius}),
    "ask_log_cost": Domain(
        {"radius": radius, "tolerance": positive},
        where=lambda radius, tolerance: radius < tolerance,
    ),
    "log_capacity": Domain({"sigma": positive, "tolerance": positive, "log_share": log_beta}),
    "discrete_uniform_overhead": Domain({"m": st.integers(1, 10**9)}),
}
