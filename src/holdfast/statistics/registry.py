"""Every statistic that can be asked for, once: the entries of all families, by name.

Texts, refusals, the command line, the table in the docs and the tests read this.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from holdfast.statistics import call
from holdfast.statistics.entry import Entry

__all__ = ["STATISTICS"]


def _entries(family: str) -> tuple[Entry, ...]:
    """Those of a family are under its own name: `SCORES` of `scores`."""
    found: tuple[Entry, ...] = getattr(sys.modules[family], family.rpartition(".")[2].upper())
    return found


_FAMILIES = {getattr(call, name).__module__ for name in call.__all__}
STATISTICS: Mapping[str, Entry] = dict(
    sorted((entry.name, entry) for family in _FAMILIES for entry in _entries(family))
)
