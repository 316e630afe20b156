"""Rows for `holdfast.theory.epochs`."""

from __future__ import annotations

import math
from operator import attrgetter

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "epoch_log_beta",
        {"log_beta": math.log(0.06), "epoch": 2},
        math.log(0.005),
        1e-13,
        "by hand: .06/(3 * 4)",
    ),
    Golden(
        "interleaved_log_beta",
        {"log_beta": -3.0, "log_kbar": 4.5},
        -7.5,
        1e-14,
        "by hand: ln beta - ln Kbar",
    ),
    *(
        Golden(
            "gaussian_epoch",
            {"n": 10_000, "k0": 100, "s0": 0.0127, "log_beta": math.log(0.1), "epoch": epoch},
            expected,
            1e-7,
            "mpmath: Theorem T at the accumulated m and beta/((e+1)(e+2))",
            attrgetter("questions", "m", "half_width"),
        )
        for epoch, expected in [
            (0, (100, 0.0393700787401575, 0.0941599250604232)),
            (2, (400, 0.0827166531344669, 0.210826580979544)),
        ]
    ),
    Golden(
        "first_epoch_noise",
        {"n": 10_000, "k0": 100, "log_beta": math.log(0.1), "aim": 0},
        0.012697486,
        1e-3,
        "mpmath: best s for n = 10,000, k = 100 at beta_0 = .05",
    ),
]

_ROWS = st.integers(100, 10**9)
_LOG_BETA = st.floats(-1000, 0)
_EPOCH = st.integers(0, 40)

DOMAINS = {
    "epoch_log_beta": Domain({"log_beta": _LOG_BETA, "epoch": st.integers(0, 100)}),
    "interleaved_log_beta": Domain({"log_beta": _LOG_BETA, "log_kbar": st.floats(0, 1000)}),
    "gaussian_epoch": Domain(
        {
            "n": _ROWS,
            "k0": st.integers(1, 10**6),
            "s0": st.floats(1e-5, 1),
            "log_beta": _LOG_BETA,
            "epoch": _EPOCH,
        },
        measure=attrgetter("half_width"),
        rel=1e-6,
    ),
    "first_epoch_noise": Domain(
        {"n": _ROWS, "k0": st.integers(1, 10**6), "log_beta": st.floats(-50, 0), "aim": _EPOCH},
        rel=1e-3,
    ),
}
