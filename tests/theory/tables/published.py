"""Rows for `papers.theorems.published`: published widths, to the last digit in print.

The largest numbers of questions at half-width .05 and .1 are in `test_published`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hypothesis import strategies as st

from tests.theory.rows import Domain, Golden

LOG_05 = math.log(0.05)
_ORIGIN = "table of published widths at beta = .05"


def _widths(
    theorem: str, n: int, widths: tuple[float, ...], digits: int, **more: int
) -> list[Golden]:
    return [
        Golden(
            theorem,
            {"n": n, "k": k, "log_beta": LOG_05, **more},
            width,
            1e-12,
            _ORIGIN,
            lambda value: round(value, digits),
        )
        for k, width in zip((100, 1_000, 10_000), widths, strict=True)
    ]


def _reaches(theorem: str, n: int, reach: Mapping[float, int]) -> list[Golden]:
    """At the largest k of the table the half-width is the tolerance, nearly."""
    return [
        Golden(theorem, {"n": n, "k": k, "log_beta": LOG_05}, tolerance, 2e-3, _ORIGIN)
        for tolerance, k in reach.items()
    ]


_CHECK = "rogers_2020_guess_and_check_half_width"

GOLDEN = [
    *_reaches("dwork_2015_half_width", 10**7, {0.1: 1_991}),
    *_reaches("bassily_2016_half_width", 10**7, {0.05: 12_720, 0.1: 183_296}),
    *_reaches("russo_zou_half_width", 10**7, {0.05: 120_032, 0.1: 1_664_512}),
    *_reaches("jung_2020_half_width", 10**7, {0.05: 65_504, 0.1: 934_400}),
    *_widths("jung_2020_half_width", 10**5, (0.089, 0.165, 0.305), 3),
    *_widths("jung_2020_half_width", 10**6, (0.0286, 0.0524, 0.0961), 4),
    *_widths("russo_zou_half_width", 10**5, (0.078, 0.141, 0.259), 3),
    *_widths("russo_zou_half_width", 10**6, (0.0247, 0.0447, 0.0820), 4),
    *_widths("ladder_best_score_half_width", 10**4, (0.150, 0.162, 0.173), 3),
    *_widths("ladder_best_score_half_width", 10**5, (0.070, 0.075, 0.080), 3),
    *_widths(_CHECK, 10**4, (0.037, 0.043, 0.048), 3, failures=0),
    *_widths(_CHECK, 10**5, (0.012, 0.014, 0.015), 3, failures=0),
    *_widths(_CHECK, 10**4, (0.098, 0.111, 0.123), 3, failures=10),
    *_widths(_CHECK, 10**5, (0.031, 0.035, 0.039), 3, failures=10),
    Golden(
        "rogers_2020_check_log_level",
        {"i": 100, "failures": 10, "log_outcomes": 10 * math.log(100), "log_beta": LOG_05},
        -94.425928502570140891,
        1e-13,
        "mpmath: the published formula",
    ),
    Golden(
        "rogers_2020_check_log_level",
        {"i": 1, "failures": 0, "log_outcomes": 0.0, "log_beta": LOG_05},
        -3.9911328784954816884,
        1e-13,
        "mpmath: ln(.05 (6/pi^2)^2)",
    ),
]

# Each half-width is a numerical minimum: its noise is far below 1e-6.
_NOISE = 1e-6
_ROWS = st.integers(1, 10**12)
_COUNT = st.integers(1, 10**9)
_LOG_BETA = st.floats(-1000, 0)
_ARGUMENTS = {"n": _ROWS, "k": _COUNT, "log_beta": _LOG_BETA}

DOMAINS = {
    "dwork_2015_half_width": Domain(_ARGUMENTS, rel=_NOISE),
    "bassily_2016_half_width": Domain(_ARGUMENTS, rel=_NOISE),
    "russo_zou_half_width": Domain(_ARGUMENTS, rel=_NOISE),
    "jung_2020_half_width": Domain(_ARGUMENTS, rel=_NOISE),
    "ladder_best_score_half_width": Domain(_ARGUMENTS, rel=_NOISE),
    "rogers_2020_check_log_level": Domain(
        {
            "i": st.integers(21, 10**9),
            "failures": st.integers(0, 20),
            "log_outcomes": st.floats(0, 1e3),
            "log_beta": _LOG_BETA,
        }
    ),
    "rogers_2020_guess_and_check_half_width": Domain(
        {
            "n": _ROWS,
            "k": st.integers(21, 10**9),
            "log_beta": _LOG_BETA,
            "failures": st.integers(0, 20),
            "resolution": st.floats(1e-6, 1),
        },
        where=lambda n, k, log_beta, failures, resolution: 2 * failures < k,
    ),
}
