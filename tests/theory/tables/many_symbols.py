"""Rows for `holdfast.theory.leakage.claim_levels`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

_GRADES = {
    "log_betas": tuple(map(math.log, (0.001, 0.01, 0.05))),
    "shares": (0.15, 0.25, 0.6),
    "weight": 0.5,
    "nats": 0.0,
}

GOLDEN = [
    Golden(
        "symbol_log_level",
        {"log_left": math.log(0.04), "log_weight": math.log(0.8), "nats": 2.5},
        -5.942019376182411,
        1e-12,
        "golden.json, section 13.1: ln level of a gate",
    ),
    Golden(
        "symbol_log_level", {"log_left": -3.0, "log_weight": 0.0, "nats": 0.0}, -3.0, 1e-14, "0"
    ),
    Golden("symbol_log_charge", {"log_weight": -2.5}, 2.5, 1e-14, "by hand"),
    Golden(
        "lookup_log_weight",
        {"columns": 19, "missing": 6},
        -40.87879532363022,
        1e-13,
        "by hand: -ln(2^40 * 19 * 27132)",
    ),
    Golden(
        "lookup_log_weight",
        {"columns": 7, "missing": 0},
        1 - 2.0**-40,
        1e-14,
        "by hand: 1 - 2^-40, whose logarithm is rounded down by 16 units of 2^-52",
        math.exp,
    ),
    Golden(
        "adjusted_p",
        {"log_p": math.log(1.2e-5), "spent": 0.0, "weight": 0.8, "nats": 5.5},
        0.003670378983963306,
        1e-12,
        "golden.json, section 13.8",
    ),
    Golden(
        "adjusted_p",
        {"log_p": -5.0, "spent": 0.25, "weight": 0.5, "nats": 5.0 - math.log(8)},
        0.5,
        1e-12,
        "by hand: 1/4 + 2/8",
    ),
    Golden(
        "running_adjusted_p",
        {"adjusted": (0.01, 0.03, 0.002), "described": 0.02},
        (0.03, 0.05, 0.05),
        1e-14,
        "by hand",
    ),
    Golden(
        "grade_log_levels",
        {**_GRADES, "log_spent": -math.inf},
        tuple(map(math.log, (7.5e-5, 0.002, 0.025))),
        1e-13,
        "by hand",
    ),
    Golden(
        "grade_log_levels",
        {**_GRADES, "log_spent": math.log(0.002)},
        (-math.inf, math.log(0.0016), math.log(0.024)),
        1e-13,
        "by hand: the first is spent, and its share counts",
    ),
    Golden(
        "grade_log_charge",
        {"weight": 0.5, "share": 0.25},
        2.0794415416798357,
        1e-14,
        "by hand: ln 8",
    ),
]

_log = st.floats(-50, 0)
_nats = st.floats(0, 100)
_weight = st.floats(1e-6, 0.999)

DOMAINS = {
    "symbol_log_level": Domain({"log_left": _log, "log_weight": _log, "nats": _nats}),
    "symbol_log_charge": Domain({"log_weight": _log}),
    "lookup_log_weight": Domain({"columns": st.integers(3, 50), "missing": st.integers(0, 3)}),
    "adjusted_p": Domain(
        {"log_p": _log, "spent": st.floats(0, 0.99), "weight": _weight, "nats": _nats}
    ),
    "grade_log_charge": Domain({"weight": _weight, "share": st.floats(1e-6, 1)}),
}
