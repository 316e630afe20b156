"""Sample splitting: each of the declared k questions gets fresh rows of its own.

The table is cut into k disjoint random parts of m = floor(n/k) rows (`holdfast.data.orders`);
question j is answered on part j, exactly, with the ordinary interval of m independent rows at level
beta/k: Clopper and Pearson's for a condition, Chernoff's (KL) for any other average. For
independent rows that are alike the parts are independent of each other, so whatever the earlier
answers made the analyst ask, question j is a question fixed in advance for part j; the union bound
does the rest. An answer says nothing about the other parts, so nothing leaks and nothing is
charged.

The key of the cut is the addressed noise of number 0, which no question has: one cut for a ledger,
the same in every process and after every restart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.data.orders import part_sums
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.mechanisms.catalogue import MechanismKind, Planned, no_options
from holdfast.mechanisms.leakage import declared_left, declared_or_least, require_room, too_tight
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish, charged, each_settled
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.one_look import ordinary_interval
from holdfast.mechanisms.terms import Account, PartStages, Terms, number_of_parts
from holdfast.papers.theorems.baselines import sample_splitting_half_width
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic, averaged
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.nats import fixed_share
from holdfast.theory.planning import GRID_ALLOWANCE, by_formula

_KEY_BITS = 256


@dataclass(frozen=True, slots=True)
class SampleSplitting:
    """Question j on part j; the offers' `extra` says how many rows a part has."""

    name: ClassVar[str] = "sample splitting/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            self._offer(terms, wish, account.asked + position)
            for position, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, wish: Wish, number: int) -> Offer:
        question = wish.question
        if not isinstance(question, Mean):
            raise InvalidQuestion(
                f"Sample splitting answers averages of all rows, each on a part of them, and "
                f"{question.text} is not one; use bounded noise for it."
            )
        rows, log_share = _part_rows(terms), terms.log_share(number)
        radius = _radius(rows, log_share, question.error)
        if radius > wish.tolerance:
            raise too_tight(wish.tolerance, radius)
        condition = question.row.is_condition
        return Offer(
            number=number,
            question=question.text,
            tolerance=radius,
            grid=Grid(rows if condition else rows * GRID, 0, 0),
            worst_charge=0.0,
            log_share=log_share,
            log_p=log_share,
            radius=radius,
            extra={"rows": rows, "by": "binomial" if condition else "chernoff"},
        )

    def respond(
        self,
        terms: Terms,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        key = noise(0).uniform(0, 2**_KEY_BITS - 1).to_bytes(_KEY_BITS // 8, "big")
        parts = [
            (averaged(question), offer.number)
            for question, offer in zip(questions, offers, strict=True)
        ]
        rows = _part_rows(terms)
        return [
            offer.own_grid.cell(total, rows * GRID)
            for offer, total in zip(
                offers, part_sums(sample, parts, terms.questions or 1, key), strict=True
            )
        ]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        value, interval = ordinary_interval(offer, symbol)
        return Release(offer.number, "answered", value, interval, offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        return charged(account, offers, [release.charge for release in releases])

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        return max(0, declared_left(terms, account)) // number_of_parts(stages)


def _fault(terms: Terms, parameters: Mapping[str, Any], questions: int) -> str | None:  # noqa: ARG001
    """Parts tell nothing of each other only if rows are drawn alike, whatever they were cut by."""
    if not terms.alike:
        return "its rows are not independent and alike"
    return None


def _part_rows(terms: Terms) -> int:
    return terms.rows // (terms.questions or 1)


def _radius(rows: int, log_share: float, error: float) -> float:
    """How far the value of a part may be from the truth; `error` is that of computing it."""
    return round_up(BoundedMean(rows).radius(log_share) + error) if rows else math.inf


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("sample splitting", options)
    if not wanted.alike:
        raise InvalidArgument(
            "sample splitting needs independent rows that are alike, without a design, public "
            "columns or a key, so that the parts tell nothing of each other; use bounded noise."
        )
    if wanted.questions is None:
        raise InvalidArgument(
            "sample splitting needs questions=, the number of parts the rows are cut into."
        )
    log_share = fixed_share(wanted.log_beta, wanted.questions)
    half_width = _radius(wanted.rows // wanted.questions, log_share, GRID_ERROR)
    return Planned(declared_or_least(wanted, half_width), {})


SAMPLE_SPLITTING = MechanismKind(
    name="sample splitting",
    summary="Each question on fresh rows of its own: the table is cut into as many parts.",
    needs="Independent rows that are alike, a declared number of questions, averages of all rows.",
    promises="ordinary intervals on disjoint parts, with a union bound",
    theorem="sample_splitting_half_width",
    method=by_formula(
        "sample splitting",
        "promise",
        "sample_splitting_half_width",
        lambda n, k, log_beta: sample_splitting_half_width(n, k, log_beta) + GRID_ALLOWANCE,
    ),
    colour="#8c564b",
    plan=_plan,
    build=lambda _terms, _parameters: SampleSplitting(),
    fault=_fault,
    refuses_checks="a check would look at the rows of questions that are still to come.",
)
