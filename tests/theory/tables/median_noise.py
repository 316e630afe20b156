"""Rows for `holdfast.theory.transfer.median_width`."""

from __future__ import annotations

import math
from operator import attrgetter

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
_WIDTH = attrgetter("half_width")

GOLDEN = [
    *(
        Golden(
            "median_max_noise",
            {"k": k, "a": a, "log_beta": math.log(beta)},
            value,
            0.001,
            "golden.json, section 5b",
        )
        for k, a, beta, value in [
            (100, 3, 0.05, 0.9147115613210625),
            (10_000, 2, 0.01, 0.994461141083653),
        ]
    ),
    *(
        Golden(
            "median_max_noise",
            {"k": k, "a": a, "log_beta": math.log(beta)},
            value,
            1e-11,
            "mpmath: quadrature from the quantile",
        )
        for k, a, beta, value in [
            (1, 2, 0.05, 0.783720506540077),
            (100, 3, 0.05, 0.914709920463433),
            (10_000, 2, 0.01, 0.994460483864478),
            (10**9, 7, 1e-20, 0.999870817928008),
            (5, 2, 0.9, 0.610310881474296),
        ]
    ),
    *(
        Golden(
            "median_shift",
            {"n": n, "k": k, "D": D, "a": a, "log_beta": LOG_05},
            value,
            0.001,
            "golden.json, H + theta/beta",
        )
        for n, k, D, a, value in [
            (10_000, 100, 0.046, 3, 0.04297066248642543),
            (100_000, 1000, 0.025, 2, 0.024571267086320625),
        ]
    ),
    *(
        Golden(
            "median_noise_half_width",
            {"n": n, "k": k, "log_beta": LOG_05},
            value,
            0.0005,
            "golden.json",
            _WIDTH,
        )
        for n, k, value in [
            (10_000, 1000, 0.15339927064311912),
            (100_000, 1000, 0.04817457862224746),
            (1_000_000, 10_000, 0.02731824923766861),
        ]
    ),
    *(
        Golden(
            "median_noise_half_width",
            {"n": n, "k": k, "log_beta": LOG_05},
            value,
            0.002,
            "table 'where each wins' of the specification",
            _WIDTH,
        )
        for n, k, value in [
            (10_000, 100, 0.0851),
            (100_000, 100, 0.0268),
            (100_000, 10_000, 0.0866),
            (1_000_000, 100_000, 0.0486),
        ]
    ),
    *(
        Golden(
            "median_noise_questions",
            {"n": n, "tolerance": tolerance, "log_beta": LOG_05},
            value,
            0.003,
            "anchors of the specification, row median noise",
        )
        for n, tolerance, value in [
            (10_000, 0.1, 189),
            (100_000, 0.05, 1_156),
            (100_000, 0.1, 17_592),
            (1_000_000, 0.05, 111_385),
            (1_000_000, 0.1, 1_766_945),
        ]
    ),
    Golden(
        "median_noise_questions",
        {"n": 10_000_000, "tolerance": 0.05, "log_beta": LOG_05},
        1.1e7,
        0.02,
        "anchors of the specification, row median noise (two digits)",
    ),
    *(
        Golden(
            "median_noise_rows",
            {"k": k, "tolerance": tolerance, "log_beta": LOG_05},
            n,
            0.003,
            "golden.json, half-widths read backwards",
        )
        for n, k, tolerance in [
            (10_000, 1000, 0.15339927064311912),
            (1_000_000, 10_000, 0.02731824923766861),
        ]
    ),
]

DOMAINS = {
    "median_max_noise": Domain(
        {
            "k": st.one_of(st.integers(1, 1000), st.integers(1, 10**12)),
            "a": st.integers(2, 7),
            "log_beta": st.one_of(st.floats(-1000, 0), st.floats(-10, 0)),
        }
    ),
    "median_shift": Domain(
        {
            "n": st.integers(300, 10**5),
            "k": st.integers(1, 1500),
            "D": st.floats(0.01, 0.3),
            "a": st.integers(2, 4),
            "log_beta": st.floats(-8, -0.1),
        },
        rel=2e-3,
    ),
}
