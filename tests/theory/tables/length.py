"""Rows for `holdfast.theory.length`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_02 = math.log(0.02)
_HAND = "by hand"

GOLDEN = [
    Golden("option_millibits", {"numerator": 1, "denominator": 1024}, 10_000, 0, _HAND),
    Golden("option_millibits", {"numerator": 83, "denominator": 100}, 269, 0, "mpmath"),
    Golden("option_millibits", {"numerator": 950, "denominator": 1000}, 75, 0, "mpmath"),
    Golden("option_millibits", {"numerator": 1, "denominator": 3}, 1585, 0, "mpmath"),
    Golden("any_order_millibits", {"k": 1}, 0, 0, _HAND),
    Golden("any_order_millibits", {"k": 2}, -1000, 0, _HAND),
    Golden("any_order_millibits", {"k": 3}, -2584, 0, "mpmath: log2 6 = 2.58496"),
    Golden("any_order_millibits", {"k": 20}, -61_077, 0, "mpmath: log2 20! = 61.0774"),
    Golden(
        "described_log_level",
        {"log_beta": LOG_02, "millibits": 16_500},
        -15.348951484667244,
        1e-14,
        "mpmath",
    ),
    Golden(
        "late_log_level",
        {"log_beta": LOG_02, "millibits": 13_891, "nats": 3.0},
        -16.540530490586346,
        1e-14,
        "mpmath",
    ),
    Golden(
        "described_log_failure",
        {"log_beta": math.log(0.05), "millibits": [1000, 2000]},
        -3.283414346005772,
        1e-14,
        "mpmath: ln(3/4 .05)",
    ),
    Golden("coexistence_log_charge", {"symbols": 1}, 0.0, 0, _HAND),
    Golden("coexistence_log_charge", {"symbols": 5}, 1.6094379124341003, 1e-14, "mpmath: ln 5"),
    Golden("count_symbols", {"n": 1000, "alpha": 0.0625}, 126, 0, "by hand: 125 + 1"),
    Golden("count_symbols", {"n": 10, "alpha": 0.9}, 11, 0, "by hand: all counts"),
    Golden("group_symbols", {"n": 8, "share_alpha": 0.25, "alpha": 0.5}, 45, 0, "by hand: 5 * 9"),
    Golden("grid_symbols", {"alpha": 1.0, "pitch": 0.5}, 5, 0, "by hand: [0, 2] meets 5 cells"),
    Golden("grid_symbols", {"alpha": 1.0, "pitch": 0.75}, 4, 0, "by hand: 2/.75 = 2.67"),
    Golden("grid_symbols", {"alpha": 1.0, "pitch": 0.5, "spread": True}, 320, 0, "by hand: 5 * 64"),
    Golden("whole_grid_symbols", {"points": 64}, 262_144, 0, "by hand: 64^3"),
    Golden("rounded_half_width", {"alpha": 0.08}, 0.1, 1e-14, _HAND),
    Golden(
        "free_threshold_radius",
        {"n": 1000, "log_p": math.log(0.05)},
        0.04294694083467376,
        1e-14,
        "mpmath",
    ),
    Golden("threshold_events", {"conditioned": False, "may_be_missing": False}, 1, 0, _HAND),
    Golden("threshold_events", {"conditioned": False, "may_be_missing": True}, 2, 0, _HAND),
    Golden(
        "declared_millibits",
        {"members": 10**6},
        20_025,
        0,
        "mpmath: log2(16/15 10^6) = 20.02468",
    ),
    Golden(
        "declared_millibits",
        {"members": 300, "questions": 2},
        9_322,
        0,
        "mpmath: log2(16/15 600) = 9.32193",
    ),
    Golden("undeclared_millibits", {"members": 8, "questions": 0}, 3_000, 0, _HAND),
    Golden("undeclared_millibits", {"members": 8, "questions": 1}, 7_000, 0, _HAND),
    Golden(
        "late_log_share",
        {"log_left": math.log(0.05), "share": 0.5},
        -3.6888794541139363,
        1e-14,
        "mpmath: ln .025",
    ),
    Golden("late_log_share", {"log_left": -2.0, "share": 1.0}, -2.0, 0, _HAND),
    Golden(
        "log_kept",
        {"log_before": math.log(0.5), "share": 0.2},
        -0.916290731874155,
        1e-14,
        "mpmath: ln .4",
    ),
]

_log = st.floats(-50, 0)
_bits = st.integers(0, 200_000)
_n = st.integers(1, 10**6)
_alpha = st.floats(0, 1)

DOMAINS = {
    "option_millibits": Domain(
        {"numerator": st.integers(1, 10**12), "denominator": st.integers(1, 10**12)}, rel=0
    ),
    "any_order_millibits": Domain({"k": st.integers(0, 300)}, rel=0),
    "described_log_level": Domain({"log_beta": _log, "millibits": _bits}),
    "late_log_level": Domain({"log_beta": _log, "millibits": _bits, "nats": st.floats(0, 100)}),
    "described_log_failure": Domain(
        {"log_beta": _log, "millibits": st.lists(_bits, min_size=1, max_size=5)}
    ),
    "coexistence_log_charge": Domain({"symbols": st.integers(1, 10**9)}),
    "count_symbols": Domain({"n": _n, "alpha": _alpha}),
    "group_symbols": Domain({"n": _n, "share_alpha": _alpha, "alpha": _alpha}),
    "grid_symbols": Domain({"alpha": _alpha, "pitch": st.floats(1e-6, 1)}),
    "whole_grid_symbols": Domain({"points": st.integers(1, 1000), "shown": st.integers(1, 5)}),
    "rounded_half_width": Domain({"alpha": _alpha}),
    "free_threshold_radius": Domain({"n": _n, "log_p": _log}),
    "declared_millibits": Domain({"members": _n, "questions": st.integers(1, 100)}, rel=0),
    "undeclared_millibits": Domain({"members": _n, "questions": st.integers(0, 100)}, rel=0),
    "late_log_share": Domain({"log_left": _log, "share": st.floats(1e-6, 1)}),
    "log_kept": Domain({"log_before": _log, "share": st.floats(1e-6, 1 - 1e-6)}),
}
