"""What the ledger's entries say. A kind's name carries a version, and its meaning never changes.

* ``open/2``: the first entry: what was declared, the table's keyed fingerprint and its columns.
* ``reserve/2``: a batch of offers, durable before data is touched; each counts its worst charge.
* ``settle/2``: the symbols that came out of the batch, and the answers they stand for.
* ``abandon/1``: the batch can never be finished (a Python function is gone, an engine cannot
  evaluate it); it keeps its charges.

Numbers in offers and answers are fractions of the question's range, which each item names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.mechanism import Offer, Release, Symbol
from holdfast.mechanisms.terms import Terms
from holdfast.question.columns import Schema
from holdfast.statistics.known import KnownVariance
from holdfast.statistics.play import Estimate
from holdfast.statistics.table import Table
from holdfast.theory.base.intervals import Interval

__all__ = ["Asked", "Opening", "Recorded", "abandonment", "reservation", "settlement"]

_ROUNDING = 1e-9  # intervals are rounded outwards by less than this part of themselves


@dataclass(frozen=True, slots=True)
class Opening:
    """The first entry: everything that was declared, and what the table was.

    The `fingerprint` is keyed with the ledger's secret (`ledger.identity`).
    """

    at: str
    name: str
    terms: Terms
    schema: Schema
    mechanism: dict[str, Any]
    fingerprint: str

    def __post_init__(self) -> None:
        kind, tolerance = kind_of(self.mechanism["name"]), self.terms.tolerance
        if self.terms.promises is (kind.theorem is None):
            raise InvalidArgument(f"tolerance is {tolerance}, and {kind.name} has no such promise.")

    def body(self) -> dict[str, Any]:
        return {
            "kind": "open/2",
            "at": self.at,
            "name": self.name,
            **self.terms.to_dict(),
            "schema": self.schema.to_dict(),
            "mechanism": self.mechanism,
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def read(cls, body: dict[str, Any]) -> Opening:
        terms, schema = Terms.from_dict(body), Schema.from_dict(body["schema"])
        return cls(body["at"], body["name"], terms, schema, body["mechanism"], body["fingerprint"])

    @property
    def table(self) -> Table:
        """What is public of the table."""
        return Table(self.schema, self.terms.design)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a batch: the offer, and the range of its values.

    `part_of` names the statistic that it is a part of, if it was not asked for itself. A `nonce` is
    drawn for a function, which is known by its name alone: another one may have the same name in
    another copy of the ledger, and must not have the same noise.
    """

    offer: Offer
    low: float
    high: float
    part_of: str | None = None
    nonce: str | None = None

    def body(self) -> dict[str, Any]:
        return {
            "offer": self.offer.to_dict(),
            "low": self.low,
            "high": self.high,
            "part_of": self.part_of,
            "nonce": self.nonce,
        }

    @classmethod
    def read(cls, body: dict[str, Any]) -> Asked:
        offer = Offer.from_dict(body["offer"])
        return cls(offer, body["low"], body["high"], body["part_of"], body["nonce"])


@dataclass(frozen=True, slots=True)
class Recorded:
    """A finished question, as the ledger tells it; `value` and `interval` are in its own unit.

    `value` is None where nothing is said. `claim` is what a check claimed, as parts of the range.
    `leaked` is what had leaked (nats) before its batch, `charge` what its own answer added;
    `variance` is the bound that made its interval narrower; `revealed` is where the answer says
    that the sample's value is, as a part of the range.
    """

    number: int
    question: str
    status: str
    value: float | None
    interval: Interval
    range: Interval
    guess: float | None
    claim: tuple[float, float] | None
    tolerance: float | None
    charge: float
    leaked: float
    at: str
    why: str | None
    part_of: str | None
    mechanism: str
    receipt: str
    variance: KnownVariance | None
    revealed: Interval

    @property
    def half_width(self) -> float:
        return (self.interval.high - self.interval.low) / 2

    @property
    def estimate(self) -> Estimate:
        """What a statistic that it is a part of goes by."""
        if self.value is None:
            raise TypeError(f"{self.question} says nothing and is a part of nothing")
        return Estimate(self.value, self.interval)

    @property
    def shown(self) -> str:
        """The value in five digits; the bound of a one-sided claim that was confirmed."""
        if self.value is None:
            return "-"
        match self.side:
            case "<=":
                return f"<= {self.interval.ends[1]}"
            case ">=":
                return f">= {self.interval.ends[0]}"
        return f"{self.value:.5g}"

    @property
    def side(self) -> Literal["<=", ">="] | None:
        """Which side of its value a confirmed one-sided claim is about."""
        if self.status != "confirmed" or self.claim is None or self.guess is None:
            return None
        low, high = self.claim
        if low == 0.0 and self.interval.high - self.guess <= _ROUNDING * self.half_width:
            return "<="
        if high == 1.0 and self.guess - self.interval.low <= _ROUNDING * self.half_width:
            return ">="
        return None


def reservation(at: str, mechanism: str, why: str | None, asked: Sequence[Asked]) -> dict[str, Any]:
    """The entry that makes a batch's worst charges durable."""
    items = [each.body() for each in asked]
    return {"kind": "reserve/2", "at": at, "mechanism": mechanism, "why": why, "items": items}


def settlement(
    at: str, reserved: int, symbols: Sequence[Symbol], releases: Sequence[Release]
) -> dict[str, Any]:
    """The entry that says what came out of a reserved batch."""
    answers = [
        {
            "number": release.number,
            "status": release.status,
            "value": release.value,
            "low": release.interval.low,
            "high": release.interval.high,
            "charge": release.charge,
        }
        for release in releases
    ]
    return {
        "kind": "settle/2",
        "at": at,
        "reserve": reserved,
        "symbols": list(symbols),
        "answers": answers,
    }


def abandonment(at: str, reserved: int, reason: str) -> dict[str, Any]:
    """The entry that gives up a reserved batch; its worst charges stay."""
    return {"kind": "abandon/1", "at": at, "reserve": reserved, "reason": reason}
