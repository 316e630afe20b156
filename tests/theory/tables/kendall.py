"""Rows for `holdfast.theory.direct.correlation`."""

from __future__ import annotations

from tests.theory.rows import Domain, Golden
from tests.theory.tables.direct import BLOCKS

GOLDEN = [
    Golden(
        "kendall_block_interval",
        {"concordance": BLOCKS, "log_p": -8.0},
        (0.214724368441925426, 0.743539706149914366),
        1e-8,
        "mpmath, the ends .607362... and .871769... of these blocks by 12.8, times 2 less 1",
    ),
]
DOMAINS: dict[str, Domain] = {}
