"""Every statistic that can be asked for, once: the entries of all families, by name.

Texts, refusals, the command line, the table in the docs, the prior and the tests read this.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from holdfast.statistics import call
from holdfast.statistics.entry import Description, Entry, EventPrice


def _entries(family: str) -> tuple[Entry, ...]:
    """Those of a family are under its own name: `SCORES` of `scores`."""
    entries: tuple[Entry, ...] = getattr(sys.modules[family], family.rpartition(".")[2].upper())
    return entries


_FAMILIES = {getattr(call, name).__module__ for name in call.__all__}
STATISTICS: Mapping[str, Entry] = dict(
    sorted((entry.name, entry) for family in _FAMILIES for entry in _entries(family))
)
# How statistics of each class are described, and what each kind of event costs.
DESCRIPTIONS: Mapping[type, Description] = {
    each.of: each for entry in STATISTICS.values() for each in entry.described
}
PRICES: Mapping[str, EventPrice] = {
    kind: price for entry in STATISTICS.values() for kind, price in entry.prices.items()
}
