"""Rows for `holdfast.theory.leakage.equal_width`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.base.concentration import SubGaussian
from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
UNIT = SubGaussian(1.0)

GOLDEN = [
    *(
        Golden(
            "bounded_noise_half_width",
            {"profile": UNIT, "k": k, "log_beta": LOG_05},
            expected,
            0.0101,
            "golden.json: at most 2 % wider, never narrower by more than 1 %",
        )
        for k, expected in (
            (1, 2.716203031757921),
            (10, 6.153615434638552),
            (100, 14.905853925802784),
            (1000, 41.28885305562032),
        )
    ),
    Golden(
        "continuum_questions",
        {"sigma": 0.005, "tolerance": 0.0745, "log_share": math.log(0.05 / 100)},
        97.488184115412895,
        1e-4,
        "mpmath quadrature",
    ),
    Golden(
        "rounding_half_width",
        {"profile": UNIT, "k": 2, "log_beta": LOG_05},
        1.2 * math.sqrt(2 * math.log(80)),
        1e-5,
        "by hand: 6 cells at D = alpha_1/5 leave alpha_2 < t; with 7 cells alpha_2 > t",
    ),
    Golden(
        "laplace_half_width",
        {"profile": UNIT, "k": 1, "log_beta": LOG_05},
        math.sqrt(2 * math.log(80)),
        1e-5,
        "by hand: one question, half of beta to the sample",
    ),
    Golden(
        "check_half_width",
        {"profile": UNIT, "k": 4, "surprises": 0, "log_beta": LOG_05},
        math.sqrt(2 * (math.log(160) + 3 * math.log(6 / 5))),
        1e-5,
        "by hand: three confirmations at eps = 1/6",
    ),
    Golden(
        "claims_half_width",
        {"profile": UNIT, "k": 4, "surprises": 0, "log_beta": LOG_05},
        math.sqrt(2 * (math.log(40) + 4 * math.log(6 / 5))),
        1e-5,
        "by hand: no shares, and the prior of four confirmations, its own among them, at eps = 1/6",
    ),
    Golden(
        "claims_half_width",
        {"profile": UNIT, "k": 1, "surprises": 0, "log_beta": LOG_05, "room": 1.0},
        1.0 + math.sqrt(2 * (math.log(40) + math.log(2))),
        1e-5,
        "by hand: one claim at eps = 1/2, its guess one away from the sample",
    ),
    Golden(
        "renyi_half_width",
        {"profile": UNIT, "k": 1, "log_beta": LOG_05, "u": 1.0},
        2.716203031481239,
        1e-6,
        "u = 1 is Theorem L",
    ),
]

few = st.integers(1, 200)
log_beta = st.floats(-1000, -0.01)
plan = {"profile": st.just(UNIT), "k": few, "log_beta": log_beta}
positive = st.floats(1e-2, 10)
DOMAINS = {
    "bounded_noise_half_width": Domain(plan, rel=1e-6),
    "continuum_questions": Domain(
        {"sigma": positive, "tolerance": positive, "log_share": log_beta}
    ),
    "rounding_half_width": Domain(plan, rel=1e-6),
    "laplace_half_width": Domain(plan, rel=1e-6),
    "check_half_width": Domain(
        {**plan, "surprises": st.integers(0, 200), "room": st.floats(0, 3)},
        where=lambda surprises, k, **rest: surprises <= k,
        rel=1e-6,
    ),
    "claims_half_width": Domain(
        {**plan, "surprises": st.integers(0, 200), "room": st.floats(0, 3)},
        where=lambda surprises, k, **rest: surprises <= k,
        rel=1e-6,
    ),
    "renyi_half_width": Domain({**plan, "u": st.just(0.5)}, rel=1e-6),
}
