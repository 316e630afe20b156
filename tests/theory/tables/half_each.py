"""Rows for `holdfast.theory.direct.bounded_mean`."""

from __future__ import annotations

from tests.theory.rows import Domain, Golden

WAY = "mpmath, 12.2's full mixture and all cells in order from its end on, 30 digits"


def shuffled(n: int, step: int) -> list[int]:
    return [(step * place + 17) % n for place in range(n)]


GOLDEN = [
    Golden(
        "half_each_lower",
        {
            "values": [0.0, 0.25, 1.0],
            "times": [96, 120, 48],
            "order": shuffled(264, 101),
            "log_q": -6.0,
        },
        1876 / 8192,
        1e-12,
        WAY,
    ),
    Golden(
        "half_each_lower",
        {
            "values": [0.1, 0.2, 0.25, 0.9],
            "times": [700, 500, 500, 300],
            "order": shuffled(2000, 1237),
            "log_q": -9.0,
        },
        4226 / 16384,
        1e-12,
        WAY,
    ),
]
DOMAINS: dict[str, Domain] = {}
