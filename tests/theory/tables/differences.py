"""Rows for `design_difference_lower` and for `holdfast.theory.direct.unit_sums`."""

from __future__ import annotations

import math

import numpy as np

from holdfast.theory.direct.unit_sums import UnitSums
from tests.theory.rows import Domain, Golden

MPMATH = "mpmath, the formulas with full mixtures and both boxes, 30 digits"
# S1, m1, S2, m2 of five units.
UNITS = [[1, 2, 0, 1], [0, 1, 1, 3], [2, 2, 1, 2], [3, 3, 1, 3], [1, 1, 0, 0]]


def unit_groups(times: int) -> dict[str, UnitSums]:
    S1, m1, S2, m2 = np.array(UNITS * times).T
    return {"first": UnitSums.of(S1, m1), "second": UnitSums.of(S2, m2)}


GOLDEN = [
    Golden(
        "design_difference_lower",
        {
            "x": [0.0, 0.5, 1.0],
            "y": [0.0, 0.5, 1.0],
            "arms": (130, 300),
            "log_q": -8.0,
            "times_x": [20, 30, 50],
            "times_y": [80, 60, 60],
        },
        -0.0424421312755318134,
        1e-5,
        MPMATH,
    ),
    Golden(
        "within_units_lower",
        {**unit_groups(8), "smaller": 3, "log_q": math.log(0.01)},
        0.1019075761,
        1e-5,
        "golden.json, 13.5f",
    ),
    Golden(
        "unit_difference_lower",
        {**unit_groups(60), "largest": 6, "log_q": -6.0},
        0.328066962996217945,
        1e-5,
        MPMATH,
    ),
]
DOMAINS: dict[str, Domain] = {}
