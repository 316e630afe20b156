"""Promoters: they decide who takes the incumbent's place; Holdfast's gate, and what people do.

All of them see the same counts of the protected rows: b where the candidate alone is right, c where
the incumbent alone is. Only their yes or no is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple, Protocol, cast

from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.mechanisms.claims import GATES, more_than
from holdfast.mechanisms.mechanism import Wish, walk
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question import GRID, ColumnType, RowValue, Schema, parse_row, row_value
from holdfast.statistics.mean import Mean
from holdfast.theory.direct.paired import sign_test_log_p

_EVEN = 0.5  # no difference, as a fraction of [-1, 1]


class Pair(NamedTuple):
    """A candidate beside the incumbent: on how many rows it alone is right, and the other alone."""

    b: int
    c: int


class Deciding(Protocol):
    """One session with its memory."""

    def promotes(self, pair: Pair) -> bool:
        """Whether the next candidate takes the incumbent's place."""
        ...


class Promoter(Protocol):
    """A way to decide, as a value."""

    @property
    def name(self) -> str: ...

    @property
    def promises(self) -> bool:
        """Whether it claims that all candidates it promotes are better, whoever chose them."""
        ...

    def start(self) -> Deciding: ...


def gate_terms(rows: int, candidates: int) -> Terms:
    """Terms that `open(items, key=..., candidates=...)` declares, with the usual pots."""
    return Terms(
        rows,
        tolerance=None,
        confidence_level=0.95,
        questions=None,
        sampling=Independent(),
        described="exact",
        described_share=0.4,
        key="item",
        candidates=candidates,
    )


@dataclass(frozen=True, slots=True)
class KeepBest:
    """Whatever scores better on the rows is promoted."""

    name: ClassVar[str] = "keep the best"
    promises: ClassVar[bool] = False

    def start(self) -> Deciding:
        return self

    def promotes(self, pair: Pair) -> bool:
        return pair.b > pair.c


@dataclass(frozen=True, slots=True)
class EachTested:
    """A candidate is promoted if its own sign test is significant, however many there are."""

    promises: ClassVar[bool] = False

    level: float = 0.05

    @property
    def name(self) -> str:
        return f"p < {self.level:g} each"

    def start(self) -> Deciding:
        return self

    def promotes(self, pair: Pair) -> bool:
        return sign_test_log_p(*pair) < math.log(self.level)


@dataclass(frozen=True, slots=True)
class Gated:
    """Holdfast's gate, walked as a holdout walks it; `differing` is the public share of rows.

    Scores of candidates are computed columns, made by one program for all items: those are alike,
    and the sign test decides. Answers that are `submitted` item by item are bet on.

    One sabotage, for trials that must fail: without `counting` each candidate is tested as if it
    were the only one.
    """

    terms: Terms
    differing: float
    counting: bool = True
    submitted: bool = False

    @property
    def name(self) -> str:
        bets, twin = ", by bets" * self.submitted, ", none counted" * (not self.counting)
        return f"Holdfast gate{bets}{twin}"

    @property
    def promises(self) -> bool:
        return self.counting

    @property
    def beta(self) -> float:
        """The probability with which anything false may be shown: the ledger's part of it."""
        return math.exp(self.terms.log_beta)

    def start(self) -> Deciding:
        return _Gating(self, _first_standing(self))


@dataclass(slots=True)
class _Gating:
    rule: Gated
    standing: _Standing

    def promotes(self, pair: Pair) -> bool:
        promoted, after = self.standing.put(pair)
        if self.rule.counting:
            self.standing = after
        return promoted


@dataclass(slots=True)
class _Standing:
    """An account, and what followed from it: sessions with the same verdicts so far share it.

    Most verdicts are *not shown*, so that thousands of sessions need few walks.
    """

    terms: Terms
    wish: Wish
    account: Account
    known: dict[Pair, bool] = field(default_factory=dict)
    after: dict[bool, _Standing] = field(default_factory=dict)

    def put(self, pair: Pair) -> tuple[bool, _Standing]:
        if pair not in self.known:
            self.known[pair], account = self._walked(pair)
            following = _Standing(self.terms, self.wish, account)
            self.after.setdefault(self.known[pair], following)
        promoted = self.known[pair]
        return promoted, self.after[promoted]

    def _walked(self, pair: Pair) -> tuple[bool, Account]:
        sample = cast(Sample, _Counted(self.terms.rows, pair))
        _, (release,), account = walk(GATES, self.terms, self.account, [self.wish], sample, _noise)
        return release.status == GATES.shown, account


@lru_cache(maxsize=8)
def _first_standing(rule: Gated) -> _Standing:
    schema = Schema(dict.fromkeys(("candidate", "incumbent"), ColumnType.BOOLEAN))
    better = Mean(row_value(parse_row("candidate - incumbent", schema)))
    wish = Wish(
        better,
        _EVEN,
        (more_than(_EVEN), 1.0),
        gated=True,
        moment=rule.differing,
        keyless=not rule.submitted,
    )
    terms = rule.terms if rule.counting else replace(rule.terms, candidates=1)
    return _Standing(terms, wish, Account())


@dataclass(frozen=True, slots=True)
class _Counted:
    """Rows of which two counts are known: all that a gate of a paired difference reads."""

    n: int
    pair: Pair

    def sums(self, rows: Sequence[RowValue]) -> list[int]:  # noqa: ARG002 - b and c, in this order
        return [count * GRID for count in self.pair]


def _noise(number: int) -> Noise:
    """A gate draws none; the door is the same for all."""
    return Noise(bytes(32), str(number))
