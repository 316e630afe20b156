"""Every statistic that can be asked for, once: the entries of all families, by name.

Texts, refusals, the command line, the table in the docs, the prior and the tests read this.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from holdfast.errors import NotDescribed
from holdfast.statistics import call
from holdfast.statistics.derived import described_parts, is_derived
from holdfast.statistics.entry import NO_TEXT, Bound, Description, Entry, EventPrice, Use

__all__ = ["DESCRIPTIONS", "PRICES", "STATISTICS", "parts_of"]


def _entries(family: str) -> tuple[Entry, ...]:
    """Those of a family are under its own name: `SCORES` of `scores`."""
    found: tuple[Entry, ...] = getattr(sys.modules[family], family.rpartition(".")[2].upper())
    return found


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


def parts_of(question: Bound) -> tuple[Use, ...]:
    """The parts of a question, and what each is to it: its own events, or those of its parts."""
    own = DESCRIPTIONS.get(type(question))
    if own is not None:
        return tuple(own.uses(question))
    if is_derived(question):
        return tuple(_plain(described_parts(question)))
    raise NotDescribed(NO_TEXT)


def _plain(statistics: Iterable[Bound]) -> list[Use]:
    """What answers each of several statistics."""
    return [use for each in statistics for use in parts_of(each) if use.role == "plain"]
