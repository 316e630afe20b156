"""Rows for `holdfast.theory.transfer.epochs`."""

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
    *(
        Golden(
            "median_epoch_half_width",
            {"n": n, "answers": k, "questions": own, "D": D, "a": a, "log_beta": math.log(0.05)},
            D * C + H,
            0.0006,
            "golden.json: H + theta/beta of all answers; mpmath: C of the epoch's own",
        )
        for n, k, own, D, a, C, H in [
            (10_000, 100, 100, 0.046, 3, 0.914709920463433, 0.04297066248642543),
            (100_000, 1000, 1, 0.025, 2, 0.783720506540077, 0.024571267086320625),
        ]
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
    "median_epoch_half_width": Domain(
        {
            "n": st.integers(300, 10**5),
            "answers": st.integers(1, 1000),
            "questions": st.integers(1, 1000),
            "D": st.floats(0.02, 0.3),
            "a": st.integers(2, 3),
            "log_beta": st.floats(-6, -0.1),
            "variance": st.floats(1e-6, 0.25),
        },
        where=lambda answers, questions, **_: questions <= answers,
        rel=2e-3,
    ),
}
