"""The transcript: the ledger's entries folded into terms, account and answers. No data is needed.

Every answer is derived again from its offer and symbol; a stored answer that differs is tampering.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from holdfast.data.sampling import sampling_from_dict
from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import GENESIS, RESTORE
from holdfast.ledger.entries import Asked, Opening, Recorded, settlement
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.catalogue import built, checking
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Checker, Mechanism, Release
from holdfast.mechanisms.revealed import revealed
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below

__all__ = ["Pending", "Transcript", "in_unit"]

Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Pending:
    """A batch that was reserved and not settled."""

    seq: int
    mechanism: Mechanism
    why: str | None
    asked: tuple[Asked, ...]


class Transcript:
    """The fold. `apply` takes entries in order; everything else is a view of what they said.

    `count` and `head` are the number and the hash of the last entry folded.
    """

    def __init__(self) -> None:
        self.count = 0
        self.head = GENESIS
        self._opening: Opening | None = None
        self._terms: Terms | None = None
        self._mechanism: Mechanism | None = None
        self.checker: Checker | None = None  # what checks guesses, if anything does
        self.account = Account()
        self.answers: list[Recorded] = []
        self.by_question: dict[str, Recorded] = {}
        self.abandoned: list[Asked] = []
        self.pending: Pending | None = None

    @property
    def committed(self) -> Account:
        """The account with an unfinished batch at its worst: no less than what will be spent."""
        return self.account if self.pending is None else _at_worst(self.account, self.pending)

    @property
    def opening(self) -> Opening:
        return _opened(self._opening)

    @property
    def terms(self) -> Terms:
        return _opened(self._terms)

    @property
    def mechanism(self) -> Mechanism:
        """The one that answers questions without a guess."""
        return _opened(self._mechanism)

    @property
    def mechanisms(self) -> Mapping[str, Mechanism]:
        """Those that may have written to this ledger, by the names it calls them."""
        return {each.name: each for each in (self.mechanism, self.checker) if each is not None}

    def apply(self, entries: Iterable[tuple[int, str, str]]) -> None:
        """Fold (seq, text, hash) entries that follow those already seen."""
        for seq, text, receipt in entries:
            if seq != self.count + 1:
                raise LedgerTampered(
                    f"entry {seq} of the ledger came after entry {self.count}; open it again."
                )
            try:
                self._apply(seq, json.loads(text), receipt)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise LedgerTampered(
                    f"entry {seq} of the ledger cannot be read ({error!r}); it was not written by "
                    "this software, or by a newer version of it."
                ) from error
            self.count, self.head = seq, receipt

    def _apply(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        match body["kind"]:
            case "open/2":
                self._open(seq, body)
            case "reserve/1":
                self._reserve(seq, body)
            case "settle/1":
                self._settle(seq, body, receipt)
            case "abandon/1":
                self._abandon(seq, body)
            case kind:
                raise LedgerTampered(
                    f"entry {seq} of the ledger is of an unknown kind {kind!r}; use the version of "
                    "Holdfast that wrote it."
                )

    def _open(self, seq: int, body: dict[str, Any]) -> None:
        if self._opening is not None:
            raise LedgerTampered(f"entry {seq} of the ledger opens it a second time.")
        self._opening = opening = Opening.read(body)
        self._terms = Terms(
            rows=opening.rows,
            tolerance=opening.tolerance,
            confidence_level=opening.confidence_level,
            questions=opening.questions,
            sampling=sampling_from_dict(opening.sampling),
            design=opening.design is not None,
            declared=opening.mechanism["parameters"].get("assumes"),
            surprises=opening.surprises,
        )
        self.checker = checking(opening.mechanism, self._terms)
        self._mechanism = built(opening.mechanism, self._terms)

    def _reserve(self, seq: int, body: dict[str, Any]) -> None:
        if self.pending is not None:
            raise LedgerTampered(
                f"entry {seq} of the ledger reserves a batch while entry {self.pending.seq} is not "
                "finished."
            )
        asked = tuple(Asked.read(item) for item in body["items"])
        numbers = [each.offer.number for each in asked]
        first = self.account.asked + 1
        if not numbers or numbers != list(range(first, first + len(numbers))):
            raise LedgerTampered(
                f"entry {seq} of the ledger reserves questions {numbers}; the next is {first}."
            )
        mechanism = self.mechanisms[body["mechanism"]]
        self.pending = Pending(seq, mechanism, body["why"], asked)

    def _settle(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        pending = self._finish(seq, body)
        offers = [asked.offer for asked in pending.asked]
        releases = [
            pending.mechanism.settle(offer, symbol)
            for offer, symbol in zip(offers, body["symbols"], strict=True)
        ]
        derived = settlement(body["at"], pending.seq, body["symbols"], releases)
        if derived != body:
            raise LedgerTampered(
                f"entry {seq} of the ledger states answers that do not follow from its symbols."
            )
        for asked, release in zip(pending.asked, releases, strict=True):
            self._record(asked, release, pending, body["at"], receipt)
        self.account = pending.mechanism.advance(self.account, offers, releases)

    def _record(
        self, asked: Asked, release: Release, pending: Pending, at: str, receipt: str
    ) -> None:
        low, high = asked.low, asked.high
        guess = asked.offer.guess
        recorded = Recorded(
            number=release.number,
            question=asked.offer.question,
            status=release.status,
            value=in_unit(release.value, low, high),
            interval=_in_unit_outwards(release.interval, low, high),
            range=Interval(low, high),
            guess=None if guess is None else in_unit(guess, low, high),
            tolerance=asked.offer.tolerance,
            charge=release.charge,
            leaked=self.account.nats,
            at=at,
            why=pending.why,
            part_of=asked.part_of,
            mechanism=pending.mechanism.name,
            receipt=receipt,
            variance=asked.offer.variance,
            revealed=revealed(asked.offer, release),
        )
        self.answers.append(recorded)
        self.by_question[recorded.question] = recorded

    def _abandon(self, seq: int, body: dict[str, Any]) -> None:
        pending = self._finish(seq, body)
        self.account = _at_worst(self.account, pending)
        self.abandoned.extend(pending.asked)

    def _finish(self, seq: int, body: dict[str, Any]) -> Pending:
        pending, self.pending = self.pending, None
        if pending is None or pending.seq != body["reserve"]:
            raise LedgerTampered(f"entry {seq} of the ledger finishes a batch that is not open.")
        return pending


def _opened(said: Said | None) -> Said:
    """What the opening entry says; without one there is no ledger."""
    if said is None:
        raise LedgerTampered(f"the ledger has no opening entry. {RESTORE}")
    return said


def _at_worst(account: Account, pending: Pending) -> Account:
    """The account after a batch that keeps its worst charges."""
    offers = [asked.offer for asked in pending.asked]
    return charged(account, offers, [offer.worst_charge for offer in offers])


def in_unit(fraction: float, low: float, high: float) -> float:
    """A fraction of the range [low, high] in the question's own unit, correctly rounded."""
    return float(_exactly(fraction, low, high))


def _exactly(fraction: float, low: float, high: float) -> Fraction:
    part = Fraction(min(1.0, max(0.0, fraction)))
    return Fraction(low) + (Fraction(high) - Fraction(low)) * part


def _in_unit_outwards(interval: Interval, low: float, high: float) -> Interval:
    """The interval in the question's own unit, rounded outwards but not beyond the range."""
    return Interval(
        float_below(_exactly(interval.low, low, high)),
        float_above(_exactly(interval.high, low, high)),
    )
