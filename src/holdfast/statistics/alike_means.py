"""Means of bounded values of alike rows: bets without an order of the rows, and in one.

Of alike rows an order by the ledger's key is as good as any, so where rows are stored never enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import shake_256
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holdfast.question.row import GRID, RowValue
from holdfast.statistics.mean_rules import GroupMeanRule, MeanRule
from holdfast.statistics.rule import GroupRows, Look, Symbols, counts, own_rows, register_rule
from holdfast.theory.direct.half_each import half_each_interval
from holdfast.theory.direct.symbols import contained_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holdfast.data.histogram import Histogram

__all__ = ["AlikeGroupMean", "AlikeMean", "alike_group_look", "alike_look", "ranks_in_order"]

# Rows that are bet on in order: fewer have no use for it, and of more it takes too long.
_RANK_BITS = 20
_FEWEST, _MOST = 1 << 7, 1 << _RANK_BITS
_IN_ORDER = ("bounded_mean_interval", "half_each_lower")


@register_rule
@dataclass(frozen=True, slots=True)
class AlikeMean(MeanRule):
    """The mean of a bounded value over `rows` alike rows: bets that know an order of the rows too.

    Each has half of the level. The order is drawn by the ledger's key.
    """

    name: ClassVar[str] = "mean/2"
    method: ClassVar[str] = "bets on the mean, without and in an order of the rows"
    theorems: ClassVar[tuple[str, ...]] = _IN_ORDER

    def encode_in_order(self, histogram: Histogram, key: bytes) -> Symbols:
        """The symbols of rows with this histogram, in the order of a key."""
        if not _FEWEST <= self.rows <= _MOST:
            return self.encode(histogram)
        log_p, _ = contained_levels(self.log_p)
        rows, twice = (histogram.low, histogram.high, histogram.counts), self.rows**2 * 2.0**-45
        encode = partial(self.window.encode, Fraction(histogram.total, self.rows * GRID))
        order = ranks_in_order(self.rows, key)
        return encode(half_each_interval(*rows, order, log_p - twice, encode))


def ranks_in_order(rows: int, key: bytes) -> NDArray[np.int64]:
    """A permutation of ranks, drawn by a key: a ticket of 44 bits for each, which decides unless it
    is drawn twice.

    That makes no permutation likelier than e^{rows^2/2^45} times its share.
    """
    tickets = np.frombuffer(shake_256(b"order of ranks" + key).digest(8 * rows), dtype="<u8")
    ranks = np.arange(rows, dtype=np.uint64)
    drawn = np.sort(tickets >> _RANK_BITS << _RANK_BITS | ranks)
    return (drawn & np.uint64(_MOST - 1)).astype(np.int64)


@register_rule
@dataclass(frozen=True, slots=True)
class AlikeGroupMean(GroupMeanRule):
    """The mean inside a group of alike rows as `AlikeMean` has it, and its size."""

    name: ClassVar[str] = "group mean/2"
    theorems: ClassVar[tuple[str, ...]] = _IN_ORDER

    @property
    def method(self) -> str:
        rows = own_rows(self.log_sizes, known=self.known)
        return f"bets on the mean of {rows}, without and in an order of them"

    def encode_in_order(self, histogram: Histogram, key: bytes, around: Symbols) -> Symbols:
        """The symbols of a group with this histogram, and of the group `around` it."""
        size = histogram.rows
        if size == 0:
            return self.encode(histogram, around)
        return (*around, size, *AlikeMean(size, self.log_p).encode_in_order(histogram, key))


def alike_look(value: RowValue, rule: AlikeMean) -> Look:
    """The mean of a value, of all rows."""
    return Look(
        rule,
        lambda evidence: rule.encode_in_order(evidence.histograms[0], evidence.key),
        histograms=((value, None),),
    )


def alike_group_look(value: RowValue, group: GroupRows, rule: AlikeGroupMean) -> Look:
    """The mean of a value among the rows of a group."""
    return Look(
        rule,
        lambda evidence: rule.encode_in_order(
            evidence.histograms[0], evidence.key, tuple(counts(evidence))
        ),
        group.around,
        ((value, group.inside),),
    )
