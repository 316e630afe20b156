"""Rows for `holdfast.theory.transfer.likelihood_cover`; its laws are in test_likelihood_cover."""

from __future__ import annotations

from operator import methodcaller

from tests.theory.rows import Domain, Golden

_REACH = {"t": 0.01, "step": 5e-4, "low": 1.0, "high": 1.0}

GOLDEN = [
    Golden(
        "shift_cover",
        {"a": a, **_REACH},
        value,
        1e-3,
        "mpmath: hockey stick of (f_a(. - t), f_a) at this threshold",
        methodcaller("hockey_stick", threshold),
    )
    for a, threshold, value in [
        (2, 1.0, 0.00937484375117187),
        (2, 1.05, 0.00119083202896038),
        (2, 0.9, 0.10032255815926),
        (3, 1.0, 0.0109372265666015),
        (3, 1.05, 0.00131776442287542),
        (3, 0.9, 0.100245779932255),
    ]
]

DOMAINS: dict[str, Domain] = {}
