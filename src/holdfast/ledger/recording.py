"""A reserved batch, and its answers as the ledger tells them, in the question's own unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from holdfast.ledger.entries import Asked, Recorded
from holdfast.mechanisms.mechanism import Mechanism, Release
from holdfast.mechanisms.revealed import revealed
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import float_above, float_below

__all__ = ["Pending", "in_unit", "in_unit_outwards", "recorded"]


@dataclass(frozen=True, slots=True)
class Pending:
    """A batch that was reserved and not settled."""

    seq: int
    mechanism: Mechanism
    why: str | None
    asked: tuple[Asked, ...]


def recorded(
    asked: Asked, release: Release, at: str, receipt: str, leaked: float, pending: Pending
) -> Recorded:
    """One answer of a batch, as the ledger tells it."""
    low, high, guess = asked.low, asked.high, asked.offer.guess
    return Recorded(
        number=release.number,
        question=asked.offer.question,
        status=release.status,
        value=in_unit(release.value, low, high),
        interval=in_unit_outwards(release.interval, low, high),
        range=Interval(low, high),
        guess=None if guess is None else in_unit(guess, low, high),
        claim=asked.offer.claim,
        tolerance=asked.offer.tolerance,
        charge=release.charge,
        leaked=leaked,
        at=at,
        why=pending.why,
        part_of=asked.part_of,
        mechanism=pending.mechanism.name,
        receipt=receipt,
        variance=asked.offer.variance,
        revealed=revealed(asked.offer, release),
    )


def in_unit(fraction: float, low: float, high: float) -> float:
    """A fraction of the range [low, high] in the question's own unit, correctly rounded."""
    return float(_exactly(fraction, low, high))


def _exactly(fraction: float, low: float, high: float) -> Fraction:
    part = Fraction(min(1.0, max(0.0, fraction)))
    return Fraction(low) + (Fraction(high) - Fraction(low)) * part


def in_unit_outwards(interval: Interval, low: float, high: float) -> Interval:
    """The interval in the question's own unit, rounded outwards but not beyond the range."""
    return Interval(
        float_below(_exactly(interval.low, low, high)),
        float_above(_exactly(interval.high, low, high)),
    )
