"""Rows for `holdfast.theory.direct.trials`."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from holdfast.theory.direct.trials import Stratum
from tests.theory.rows import Domain, Golden


def _coins(n1: int, i: int, n2: int, j: int, alpha: float, expected: tuple[float, float]) -> Golden:
    inputs = {"n1": n1, "i": i, "n2": n2, "j": j, "log_p": math.log(2 * alpha)}
    return Golden("coin_effect_interval", inputs, expected, 1e-7, "golden.json, 13.5d")


SITES, LOW, HIGH = [Stratum.of((25, 25), (35, 15))] * 24, 0.113023, 0.28455
UNEQUAL = [Stratum.of((20, 20), (26, 9))] * 5 + [Stratum.of((6, 6), (15, 5))] * 3

GOLDEN = [
    _coins(1200, 492, 1200, 360, 0.0003125, (0.039901304071956245, 0.17934793456193532)),
    _coins(50, 25, 50, 15, 0.001, (-0.11806077641261337, 0.49095220325834354)),
    Golden(
        "coin_bets_interval",
        {
            "first": ([0.0, 1.0], [0.0, 1.0], [30, 50]),
            "second": ([0.0, 1.0], [0.0, 1.0], [60, 20]),
            "log_p": -6.0,
        },
        (0.0417777752712500010, 0.647645454139636842),
        1e-8,
        "mpmath: with fair coins and c = 1/2 these are 12.2's bets on 110 of 160 rows, 30 digits",
    ),
    Golden(
        "shuffled_effect_lower",
        {"strata": SITES, "log_q": math.log(0.0003125)},
        LOW,
        1e-5,
        "golden.json, 13.5e: the lower end",
    ),
    Golden(
        "shuffled_effect_lower",
        {"strata": UNEQUAL, "log_q": -5.0},
        0.0666412878401444503,
        1e-6,
        "mpmath, unequal arms: all twelve bets with their penalties, 30 digits",
    ),
    Golden(
        "shuffled_effect_lower",
        {
            "strata": [Stratum.of(site.second, site.first) for site in SITES],
            "log_q": math.log(0.0003125),
        },
        -HIGH,
        1e-5,
        "golden.json, 13.5e: the upper end, the arms exchanged",
    ),
]
DOMAINS = {
    "coin_effect_interval": Domain(
        {
            "n1": st.just(300),
            "i": st.integers(0, 300),
            "n2": st.just(200),
            "j": st.integers(0, 200),
            "log_p": st.floats(-100, -0.7),
        }
    ),
}
