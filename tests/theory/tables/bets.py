"""Rows for `holdfast.theory.base`: bets."""

from __future__ import annotations

import numpy as np

from holdfast.theory.base.bets import StakeLadder, Tally
from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "lower_odds",
        {
            "tally": Tally(
                np.array([3.0, 0.0, 1.0]),
                np.array([0.0, 2.0, 1.0]),
                np.array([60.0, 30.0, 40.0]),
                200,
                2.0,
            ),
            "log_q": -15.0,
        },
        0.876805751714792941,
        1e-9,
        "mpmath root of the mixture of section 12.2, 30 digits",
    ),
    Golden(
        "log_least_capital",
        {
            "ladder": StakeLadder((0.5, 1.0), (0.25, 0.75)),
            "deviations": [np.array([0.2, -0.5]), np.array([0.1, -0.4])],
            "times": np.array([3.0, 2.0]),
            "worst": 0.5,
            "size": 1.0,
        },
        -0.674875135772496541,
        1e-9,
        "mpmath, the formula of section 12.6 with two vertices",
    ),
]

DOMAINS: dict[str, Domain] = {}
