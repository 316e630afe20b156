"""Rows for `holdfast.theory.transfer.gaussian_noise`."""

from __future__ import annotations

import math
from operator import attrgetter

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
_WIDTH = attrgetter("half_width")

GOLDEN = [
    Golden(
        "transfer_half_width",
        {"noise_cvar": 0.25, "shift_cvar": 0.125},
        0.375,
        1e-14,
        "by hand: the sum",
    ),
    *(
        Golden(
            "log_shift_excess", {"b": b, "m": m}, math.log(value), 2e-9, "golden.json, section 5"
        )
        for b, m, value in [
            (0.0, 0.1, 0.010050167094218116),
            (0.05, 0.1, 0.0005561040118545732),
            (0.01, 0.02, 8.484781306382206e-10),
        ]
    ),
    *(
        Golden("log_shift_excess", {"b": b, "m": m}, value, 2e-12, "mpmath: closed form of F")
        for b, m, value in [
            (0.25, 0.01, -834.737139956305282),
            (1e-10, 1e-6, -79.4855913455129152),
            (0.5, 3.0, 8.99981801421568035),
            (0.2025, 0.008, -1091.93388991298556),
            (0.81, 0.015, -927.226611427534421),
        ]
    ),
    Golden(
        "log_shift_excess",
        {"b": 0.0, "m": 1e-3},
        math.log(math.expm1(1e-6)),
        1e-12,
        "by hand: F(0) = e^{m^2} - 1",
    ),
    *(
        Golden("gaussian_shift", {"m": m, "log_beta": math.log(beta)}, value, 0.002, "golden.json")
        for m, beta, value in [
            (0.05, 0.05, 0.05964144445877324),
            (0.01, 0.01, 0.014546388236609798),
        ]
    ),
    *(
        Golden("gaussian_shift", {"m": m, "log_beta": log_beta}, value, 1e-7, "mpmath, min over b")
        for m, log_beta, value in [
            (0.05, LOG_05, 0.0596414433515103),
            (0.3, LOG_05, 0.497494730468254),
            (0.001, math.log(0.001), 0.00178159217535255),
            (0.005, -30 * math.log(10), 0.0297711514008974),
            (0.005, -1000.0, 0.12911834907541),
        ]
    ),
    *(
        Golden(
            "gaussian_max_noise", {"k": k, "log_beta": math.log(beta)}, value, 0.001, "golden.json"
        )
        for k, beta, value in [
            (1, 0.05, 2.337852791455905),
            (100, 0.05, 3.7300375661041176),
            (10_000, 0.01, 5.081315575305915),
        ]
    ),
    *(
        Golden(
            "gaussian_max_noise",
            {"k": k, "log_beta": math.log(beta)},
            value,
            2e-10,
            "mpmath: quadrature from the quantile",
        )
        for k, beta, value in [
            (1, 0.05, 2.33780279220141),
            (100, 0.05, 3.72998756610404),
            (10**6, 0.001, 6.26526987821884),
            (10**12, 1e-6, 8.94556459603631),
        ]
    ),
    Golden(
        "gaussian_max_noise",
        {"k": 2, "log_beta": 0.0},
        2.0 / math.sqrt(math.pi),
        1e-10,
        "by hand: E max(|Z1|, |Z2|) = 2/sqrt(pi)",
    ),
    *(
        Golden(
            "gaussian_half_width",
            {"n": n, "k": k, "log_beta": LOG_05},
            value,
            0.005,
            "golden.json",
            _WIDTH,
        )
        for n, k, value in [
            (10_000, 100, 0.09416127932948351),
            (100_000, 1000, 0.05658411818079927),
            (1_000_000, 10_000, 0.03356326515177681),
        ]
    ),
    *(
        Golden(
            "gaussian_half_width",
            {"n": n, "k": k, "log_beta": LOG_05},
            value,
            1e-7,
            "mpmath, min over b and s",
            _WIDTH,
        )
        for n, k, value in [(10_000, 100, 0.0941599231708), (200, 3, 0.240350675891)]
    ),
    *(
        Golden(
            "gaussian_questions",
            {"n": n, "tolerance": tolerance, "log_beta": LOG_05},
            value,
            rel,
            "anchors of the specification, row Gaussian T",
        )
        for n, tolerance, value, rel in [
            (10_000, 0.05, 11, 0.0),
            (10_000, 0.1, 123, 0.0),
            (100_000, 0.05, 638, 0.005),
            (100_000, 0.1, 7_936, 0.002),
            (1_000_000, 0.05, 43_648, 0.002),
            (1_000_000, 0.1, 577_536, 0.003),
            (10_000_000, 0.05, 3.3e6, 0.01),
            (10_000_000, 0.1, 4.5e7, 0.01),
        ]
    ),
    *(
        Golden(
            "gaussian_rows",
            {"k": k, "tolerance": tolerance, "log_beta": LOG_05},
            n,
            0.001,
            "golden.json, half-widths read backwards",
        )
        for n, k, tolerance in [
            (10_000, 100, 0.09416127932948351),
            (100_000, 1000, 0.05658411818079927),
            (1_000_000, 10_000, 0.03356326515177681),
        ]
    ),
]

_COUNT = st.one_of(st.integers(1, 1000), st.integers(1, 10**12))
_LOG_BETA = st.one_of(st.floats(-1000, 0), st.floats(-10, 0))
_TOLERANCE = st.floats(1e-4, 0.9)

DOMAINS = {
    "transfer_half_width": Domain({"noise_cvar": st.floats(0, 10), "shift_cvar": st.floats(0, 10)}),
    "log_shift_excess": Domain({"b": st.floats(0, 0.999), "m": st.floats(1e-6, 10)}),
    "gaussian_shift": Domain({"m": st.floats(1e-6, 10), "log_beta": _LOG_BETA}, rel=1e-6),
    "gaussian_max_noise": Domain({"k": _COUNT, "log_beta": _LOG_BETA}),
    "gaussian_half_width": Domain(
        {"n": st.integers(10, 10**12), "k": _COUNT, "log_beta": _LOG_BETA},
        # Beyond a half-width of 1 the search has nothing to look for.
        measure=lambda design: min(design.half_width, 1.0),
        rel=1e-6,
    ),
    "gaussian_questions": Domain(
        {"n": st.integers(1, 10**12), "tolerance": _TOLERANCE, "log_beta": _LOG_BETA}, rel=1e-6
    ),
    "gaussian_rows": Domain(
        {"k": _COUNT, "tolerance": _TOLERANCE, "log_beta": _LOG_BETA}, rel=1e-6
    ),
}
