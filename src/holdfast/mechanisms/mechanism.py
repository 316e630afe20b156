"""What a mechanism is: offer, respond, settle, advance. All but `respond` see only what is public.

All numbers here are fractions of the question's range: 0 is its lower bound, 1 its upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from holdfast.data.sample import Sample
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.noise import Noise
from holdfast.question.statistic import Mean
from holdfast.theory.intervals import Interval

__all__ = ["CONFIRMED", "Mechanism", "Offer", "Release", "Status", "Symbol", "Wish"]

# What may cross the door: "confirmed", or the number of a cell on the public grid.
Symbol = int | Literal["confirmed"]
CONFIRMED: Literal["confirmed"] = "confirmed"
Status = Literal["answered", "confirmed", "surprise"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the analyst wants: a question, the half-width, and for a check what is claimed of it."""

    question: Mean
    tolerance: float
    claim: tuple[float, float] | None = None
    guess: float | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything public about a question before its answer; the worst charge is reserved by it.

    `claim` is the interval of a check, None for an ask; `prior` the public weight of a surprise;
    `log_p` the level of the concentration statement, `radius` what follows; `cells` and `reach` are
    G and m of the release.
    """

    number: int
    question: str
    tolerance: float
    log_p: float
    radius: float
    cells: int
    reach: int
    claim: tuple[float, float] | None
    guess: float | None
    prior: float | None
    log_share: float
    worst_charge: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Offer:
        claim = body["claim"]
        return cls(**{**body, "claim": None if claim is None else (claim[0], claim[1])})


@dataclass(frozen=True, slots=True)
class Release:
    """What the analyst gets: a function of the offer and the symbol alone."""

    number: int
    status: Status
    value: float
    interval: Interval
    charge: float


class Mechanism(Protocol):
    """A way to answer, as a frozen value. A batch shares one account and one scan."""

    @property
    def name(self) -> str:
        """What the ledger calls it; a name's meaning never changes."""
        ...

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        """The public terms of answering, or a refusal."""
        ...

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Mean],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        """The one door: one symbol of the offer's public alphabet for each question."""
        ...

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        """The answer that a symbol stands for."""
        ...

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        """The account after a batch."""
        ...
