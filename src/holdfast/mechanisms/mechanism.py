"""What a mechanism is: offer, respond, settle, advance. All but `respond` see only what is public.

All numbers here are fractions of the question's range: 0 is its lower bound, 1 its upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol

from holdfast.data.sample import Sample
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.noise import Noise
from holdfast.statistics.known import KnownVariance
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = [
    "CONFIRMED",
    "NO_SHARE",
    "Checker",
    "Mechanism",
    "Offer",
    "Release",
    "Status",
    "Symbol",
    "Wish",
    "about",
]

# What may cross the door: "confirmed", or the number of a cell on the public grid.
Symbol = int | Literal["confirmed"]
CONFIRMED: Literal["confirmed"] = "confirmed"
# "no promise" is the status of what baselines show; its interval is the whole range.
Status = Literal["answered", "confirmed", "surprise", "no promise"]
# ln of the part of the failure probability that an answer without a promise takes: e^-1000000 is
# zero in doubles.
NO_SHARE = -1e6


@dataclass(frozen=True, slots=True)
class Wish:
    """What the analyst wants: a statistic, the half-width, and for a check what is claimed of it.

    A known `variance` may narrow the radius; with `narrow` the half-width shrinks with it, at the
    same cost. `stated` tells that the claim is the analyst's own, and not a way to ask.
    """

    question: Statistic
    tolerance: float
    claim: tuple[float, float] | None = None
    guess: float | None = None
    variance: KnownVariance | None = None
    narrow: bool = False
    stated: bool = False

    def at_tolerance(self, tolerance: float) -> Wish:
        """The same wish with another half-width; a claim on both sides of a guess follows."""
        both_sides = self.guess is not None and self.claim == _around(self.guess, self.tolerance)
        claim = _around(self.guess or 0.0, tolerance) if both_sides else self.claim
        return replace(self, tolerance=tolerance, claim=claim)


def about(question: Statistic, tolerance: float, guess: float) -> Wish:
    """The wish to check that a statistic is within the tolerance of a guess."""
    return Wish(question, tolerance, _around(guess, tolerance), guess)


def _around(guess: float, tolerance: float) -> tuple[float, float]:
    return guess - tolerance, guess + tolerance


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything public about a question before its answer; the worst charge is reserved by it.

    `claim` is the interval of a check, None for an ask; `prior` the public weight of a surprise;
    `log_p` the level of the concentration statement, `radius` what follows; `cells` and `reach` are
    G and m of the release. `profile` is the concentration of the statistic where it is not that of
    a mean of all rows, `variance` the bound that narrowed the radius. `extra` holds plain values
    that only the mechanism itself reads.
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
    profile: dict[str, Any] | None = None
    variance: KnownVariance | None = None
    extra: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Offer:
        claim, variance = body["claim"], body["variance"]
        for name in ("profile", "extra"):
            if not isinstance(body[name], dict | None):
                raise TypeError(f"{name} of an offer is {body[name]!r}, not named values")
        return cls(
            **{
                **body,
                "claim": None if claim is None else (claim[0], claim[1]),
                "variance": None if variance is None else KnownVariance(**variance),
            }
        )


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
        questions: Sequence[Statistic],
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

    def questions_left(self, terms: Terms, account: Account) -> int:
        """How many more questions can surely be answered at the declared tolerance."""
        ...

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
        """What is wrong with the offer at this place of a batch, given the account before it.

        For an audit, from the ledger alone; None if nothing is wrong.
        """
        ...


class Checker(Mechanism, Protocol):
    """A mechanism that checks guesses."""

    def surprises_left(self, terms: Terms, account: Account) -> int:
        """How many guesses in a row may be refuted before the tolerance is out of reach."""
        ...
