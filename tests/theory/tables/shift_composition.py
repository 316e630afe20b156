"""Rows for `holdfast.theory.transfer.likelihood_cover`; its laws are in test_shift_composition."""

from __future__ import annotations

import math
from operator import methodcaller

from tests.theory.rows import Domain, Golden

GOLDEN = [
    Golden(
        "composed_shift",
        {"a": a, "t": t, "k": k, "log_beta": math.log(0.05)},
        value,
        1e-3,
        "mpmath: hockey stick of k shifted medians against k medians, by nested quadrature",
        methodcaller("hockey_stick", threshold),
    )
    for a, t, k, threshold, value in [
        (2, 0.01, 1, 1.0, 0.00937484375117187),
        (3, 0.01, 1, 1.05, 0.00131776442287542),
        (2, 0.05, 2, 1.0, 0.0713394004607),
        (3, 0.05, 2, 1.1, 0.0459682431967),
    ]
]

DOMAINS: dict[str, Domain] = {}
