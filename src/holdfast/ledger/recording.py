"""A reserved batch, and its answers as the ledger tells them, in the question's own unit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from holdfast.errors import LedgerTampered
from holdfast.ledger.chain import RESTORE
from holdfast.ledger.entries import Asked, Recorded, settlement
from holdfast.ledger.limits import open_ended
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.described import rule_from
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Mechanism, Release
from holdfast.mechanisms.revealed import revealed
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below

__all__ = [
    "Pending",
    "at_worst",
    "in_unit",
    "in_unit_outwards",
    "reading_entry",
    "recorded",
    "releases_of",
    "require_numbered",
    "require_settled",
    "said_at_opening",
]

_Said = TypeVar("_Said")
_FRACTIONS = (0.0, 1.0)  # the range of a question whose unit is the fraction itself


@dataclass(frozen=True, slots=True)
class Pending:
    """A batch that was reserved and not settled."""

    seq: int
    mechanism: Mechanism
    asked: tuple[Asked, ...]


def require_numbered(pending: Pending, first: int) -> None:
    """Refuse a batch whose looks are not the next ones."""
    numbers = [each.offer.number for each in pending.asked]
    if not numbers or numbers != list(range(first, first + len(numbers))):
        raise LedgerTampered(
            f"entry {pending.seq} of the ledger reserves questions {numbers}; the next is {first}."
        )


def require_settled(pending: Pending | None, seq: int, doing: str) -> None:
    """Refuse an entry that comes in the middle of a batch."""
    if pending is not None:
        raise LedgerTampered(
            f"entry {seq} of the ledger {doing} while entry {pending.seq} is not finished."
        )


def recorded(
    asked: Asked,
    release: Release,
    at: str,
    receipt: str,
    leaked: float,
    mechanism: Mechanism,
    number: int | None,
) -> Recorded:
    """One answer of a batch, as the ledger tells it; `number` is that of its line."""
    offer, low, high, value = asked.offer, asked.low, asked.high, release.value
    extra, inside = offer.extra or {}, in_unit_outwards(release.interval, low, high)
    return Recorded(
        number=number,
        look=release.number,
        parts=(),
        question=offer.question,
        status=release.status,
        value=None if value is None else in_unit(value, low, high),
        interval=open_ended(inside, low, high) if asked.unbounded else inside,
        range=Interval(low, high),
        guess=None if offer.guess is None else in_unit(offer.guess, low, high),
        claim=offer.claim,
        tolerance=offer.tolerance,
        charge=release.charge,
        leaked=leaked,
        at=at,
        request=asked.request,
        mechanism=mechanism.name,
        receipt=receipt,
        variance=offer.variance,
        revealed=revealed(offer, release, asked.follows),
        reach=None if offer.claim is None else offer.radius,
        bits=offer.bits,
        rows=release.rows,
        rule=None if offer.bits is None else rule_from(extra["rule"]),
        member=None if offer.bits is None else extra.get("member"),
        profile=offer.profile,
        alike=extra.get("alike"),
    )


def in_unit(fraction: float, low: float, high: float) -> float:
    """A fraction of the range [low, high] in the question's own unit, correctly rounded."""
    part = _in_range(fraction)
    return part if (low, high) == _FRACTIONS else float(_exactly(part, low, high))


def _in_range(fraction: float) -> float:
    return min(1.0, max(0.0, fraction))


def _exactly(part: float, low: float, high: float) -> Fraction:
    return Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(part)


def in_unit_outwards(interval: Interval, low: float, high: float) -> Interval:
    """The interval in the question's own unit, rounded outwards but not beyond the range."""
    first, last = map(_in_range, interval)
    if (low, high) == _FRACTIONS:
        return Interval(first, last)
    return Interval(float_below(_exactly(first, low, high)), float_above(_exactly(last, low, high)))


def releases_of(seq: int, body: dict[str, Any], pending: Pending) -> list[Release]:
    """The answers that follow from a batch's symbols; they must be the ones that are stated."""
    offers = [asked.offer for asked in pending.asked]
    releases = pending.mechanism.settle(offers, body["symbols"])
    if settlement(body["at"], pending.seq, body["symbols"], releases) != body:
        raise LedgerTampered(
            f"entry {seq} of the ledger states answers that do not follow from its symbols."
        )
    return releases


def at_worst(account: Account, pending: Pending) -> Account:
    """The account after a batch that keeps its worst charges."""
    offers = [asked.offer for asked in pending.asked]
    return charged(account, offers, [offer.worst_charge for offer in offers])


def said_at_opening(said: _Said | None) -> _Said:
    """What the opening entry says; without one there is no ledger."""
    if said is None:
        raise LedgerTampered(f"the ledger has no opening entry. {RESTORE}")
    return said


@contextmanager
def reading_entry(what: str) -> Iterator[None]:
    """What makes no sense was not written by this software."""
    try:
        yield
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise LedgerTampered(
            f"{what} of the ledger cannot be read ({error!r}); it was not written by "
            "this software, or by a newer version of it."
        ) from error
