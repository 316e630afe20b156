"""No mechanism at all: of a ledger that was opened for described questions only.

Nothing else is asked, so nothing that described answers leak has to be counted, and they have all
of the failure probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.kind import MechanismKind, Planned, no_options
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.no_promise import planned_without
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.statistic import Statistic

__all__ = ["DESCRIBED_ONLY", "DescribedOnly"]

_REFUSAL = (
    "this ledger was opened for described questions only (described_share=1): text over the "
    "table's own columns, without a half-width. Open one with a smaller described_share to ask "
    "anything else."
)


@dataclass(frozen=True, slots=True)
class DescribedOnly:
    """Refuses every question that comes to it: described ones do not."""

    @property
    def name(self) -> str:
        return "described only/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:  # noqa: ARG002
        raise BudgetExhausted(_REFUSAL)

    def respond(
        self,
        terms: Terms,  # noqa: ARG002
        offers: Sequence[Offer],  # noqa: ARG002
        questions: Sequence[Statistic],  # noqa: ARG002
        sample: Sample,  # noqa: ARG002
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        raise TypeError("what was refused has no answer")

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:  # noqa: ARG002
        raise TypeError("what was refused has no answer")

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account) -> int:  # noqa: ARG002
        return 0


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("described only", options)
    return planned_without("described only", wanted, {})


DESCRIBED_ONLY = MechanismKind(
    name="described only",
    summary="Nothing but described questions, with all of the failure probability for them.",
    needs="Questions that are text over the table's own columns.",
    promises="Theorem O.",
    theorem=None,
    method=None,
    plan=_plan,
    build=lambda _terms, _parameters: DescribedOnly(),
    refuses_checks="it was opened for described questions only.",
    beside_described=True,
)
