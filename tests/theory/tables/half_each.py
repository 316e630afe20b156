"""Rows for `holdfast.theory.direct.half_each`."""

from __future__ import annotations

from tests.theory.rows import Domain, Golden

LINES = [[2, 1, 1], [1, 3, 0], [2, 2, 1], [0, 2, 2], [3, 2, 0]] * 12

GOLDEN = [
    Golden(
        "half_each_lower",
        {"values": [0.0, 0.25, 1.0], "blocks": LINES, "log_q": -6.0},
        1928 / 8192,
        1e-12,
        "mpmath, 12.2's full mixture and all cells in order from its end .2151 on, 30 digits",
    ),
]
DOMAINS: dict[str, Domain] = {}
