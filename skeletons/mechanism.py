"""Skeleton of a mechanism: the sample's value to three digits, and no noise.

Whatever an answer says, it is one of 1,001: it is charged ln 1,001 on the leakage account
(Theorem L), and the next question has a level that is lower by as much. Never narrower than
`rounding`, which charges only the cells that the radius meets.

Many mechanisms need less than this file: another law of noise (`skeletons/law.py`) answered by
`Leakage` (Theorem L, any rows) or by `Transfer` (averages of independent rows, with a
`TransferTheorem` that says the half-width).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import MechanismKind, Planned, no_options
from holdfast.mechanisms.exact import alphabet_log_charge
from holdfast.mechanisms.leakage import declared_left, declared_or_least, require_room, too_tight
from holdfast.mechanisms.mechanism import (
    Offer,
    Release,
    Symbol,
    Wish,
    charged,
    each_settled,
    released,
)
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.terms import (
    Account,
    PartStages,
    QuestionPart,
    Terms,
    profile_of,
    recorded_profile,
)
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.statistic import Statistic, measure
from holdfast.theory.base.concentration import BoundedMean, Concentration
from holdfast.theory.base.safeside import largest_integer, round_down, round_up
from holdfast.theory.leakage.nats import fixed_share
from holdfast.theory.planning import GRID_ALLOWANCE, by_formula

_NAME = "three digits"
_CELLS = 1_000
_CHARGE = alphabet_log_charge(_CELLS + 1)


@dataclass(frozen=True, slots=True)
class ThreeDigits:
    """A frozen value; all that it does but `respond` is a function of what is public."""

    @property
    def name(self) -> str:
        return "three digits/1"  # in the ledger for ever: a new meaning gets a new name

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        # Public: radius, half-width and worst charge of each question, all on one account; or a
        # refusal, before anything is computed from data.
        require_room(terms, account, len(wishes))
        return [
            self._offer(terms, account, wish, position)
            for position, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, account: Account, wish: Wish, position: int) -> Offer:
        log_share = terms.log_share(account.asked + position)
        log_p = round_down(log_share - account.nats)
        profile = profile_of(wish.question, terms, alike=wish.of_alike_rows(terms))
        radius = round_up(profile.radius(log_p) + wish.question.error)
        tolerance = round_up(radius + 0.5 / _CELLS)
        if tolerance > wish.tolerance:
            raise too_tight(wish.tolerance, tolerance, wish.question)
        return Offer(
            number=account.looks + position,
            question=wish.question.text,
            tolerance=tolerance,
            grid=Grid(_CELLS, scale=0, reach=0),
            worst_charge=_CHARGE,
            log_share=log_share,
            log_p=log_p,
            radius=radius,
            profile=recorded_profile(profile, terms, wish.question),
        )

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002 - `noise(offer.number)` would be its own
    ) -> list[Symbol]:
        # The one door: one scan, and for each question one symbol of the offer's public alphabet.
        return [
            offer.own_grid.cell(measured.numerator, measured.denominator)
            for offer, measured in zip(offers, measure(sample, questions), strict=True)
        ]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._told, offers, symbols)

    def _told(self, offer: Offer, symbol: Symbol) -> Release:
        # Public: the answer and the interval that a symbol stands for, and what it is charged.
        return released(offer, symbol, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        # Public: the account after the batch.
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        # Public: how many more questions with these parts can surely be answered, one by one.
        parts = [part for stage in stages for part in stage] or [QuestionPart(terms.concentration)]

        def fits(count: int) -> bool:
            last = count * len(parts)
            leaked = account.nats + (last - 1) * _CHARGE
            log_p = min(0.0, terms.log_share(account.asked + last) - leaked)
            return all(
                _width_at(part.profile, log_p) <= terms.half_width * part.unit for part in parts
            )

        return largest_integer(fits, most=max(0, declared_left(terms, account)) // len(parts))


def _width_at(profile: Concentration, log_p: float) -> float:
    return round_up(profile.radius(log_p) + GRID_ERROR + 0.5 / _CELLS)


def _half_width(profile: Concentration, questions: int, log_beta: float) -> float:
    """Of the last of so many questions, which is the widest."""
    leaked = (questions - 1) * _CHARGE
    return _width_at(profile, fixed_share(log_beta, questions) - leaked)


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    # Once, when a ledger is opened: the half-width, and plain values that `build` makes it of.
    no_options(_NAME, options)
    if wanted.questions is None:
        raise InvalidArgument(f"{_NAME} needs questions=, by which its half-width is decided.")
    profile = wanted.sampling.profile(wanted.rows)
    least = _half_width(profile, wanted.questions, wanted.log_beta)
    return Planned(declared_or_least(wanted, least), {})


THREE_DIGITS = MechanismKind(
    name=_NAME,
    summary="The sample's value to three digits, without noise.",
    needs="Nothing but a concentration: any rows, any statistic; a declared number of questions.",
    promises="Theorem L, an answer charged all that it could say",
    theorem="leakage_log_failure",  # in the registry; None where nothing is promised
    method=by_formula(  # how the planner counts with it: theory/planning.py has other ways
        _NAME,
        "promise",
        "leakage_log_failure",
        lambda n, k, log_beta: _half_width(BoundedMean(n), k, log_beta) + GRID_ALLOWANCE,
    ),
    colour="#7f7f7f",  # of its line in charts
    plan=_plan,
    build=lambda _terms, _parameters: ThreeDigits(),
)
