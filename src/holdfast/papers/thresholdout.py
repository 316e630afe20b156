"""Thresholdout (Dwork, Feldman, Hardt, Pitassi, Reingold and Roth 2015, Figure 1), as published.

The answer is the training rows' value, unless the protected rows' value differs from it by more
than a noisy threshold; then it is the protected value with noise, the threshold's noise is drawn
afresh, and one of B such answers is used up. With sigma the size of the noise: Lap(2 sigma) on the
threshold, Lap(4 sigma) on each comparison, Lap(sigma) on what is shown, all drawn as whole numbers
of cells of which sigma has 2^20.

It is here to compare with. Its published guarantee asks for far more rows than anybody has at the
noise that people run it with, so nothing is promised; GuessAndCheck with training rows does the
same work with intervals. What is true is counted: *the training value*, and then every cell, has a
law that sees no sample, weighing 1/2 each, so that the answers are charged ln 2, and ln 2 plus ln
of the sum over all cells of the largest probability that any sample gives them.

The threshold in force has the noise addressed by the last question that went over it, so the state
(how many did, and which was the last) is a fold of public answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion, Shortfall
from holdfast.mechanisms.catalogue import MechanismKind, Planned, chosen_options
from holdfast.mechanisms.exact import planned_without
from holdfast.mechanisms.leakage import declared_left, require_room
from holdfast.mechanisms.mechanism import (
    CONFIRMED,
    Offer,
    Release,
    Symbol,
    Wish,
    charged,
    each_settled,
    value_of,
)
from holdfast.mechanisms.noise import Grid, Noise, discrete_laplace, words_of
from holdfast.mechanisms.terms import Account, PartStages, Terms, number_of_parts
from holdfast.papers.exact_answers import unpromised_offer, unpromised_release
from holdfast.statistics.statistic import Statistic, measure
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.release import RESOLUTION

_MEMORY = "thresholdout"
_DEFAULTS = {"threshold": 0.04, "noise": 0.01, "budget": None}


@dataclass(frozen=True, slots=True)
class Thresholdout:
    """`threshold` T and `noise` sigma, as fractions of the range; at most `budget` go over it."""

    name: ClassVar[str] = "thresholdout/1"

    threshold: float
    noise: float
    budget: int

    @property
    def _grid(self) -> Grid:
        """Grid of cells of which sigma has RESOLUTION."""
        return Grid(math.ceil(RESOLUTION / Fraction(self.noise)), RESOLUTION, None)

    @property
    def _least_charge(self) -> float:
        return round_up(math.log(2))

    @property
    def _worst_charge(self) -> float:
        """Sum over cells of max over values: 1 + G tanh(1/(2b)), and tanh x <= x."""
        return round_up(math.log(2) + math.log1p(self._grid.cells / (2 * RESOLUTION)))

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        for wish in wishes:
            if wish.question.unbounded:
                raise InvalidQuestion(
                    f"Thresholdout's noise is a part of the range, and {wish.question.text} has "
                    "none; ask it in a ledger opened with mechanism='bounded noise'."
                )
        used, since = _state(account)
        if used + len(wishes) > self.budget:
            raise BudgetExhausted(
                f"requested {len(wishes):,} more; remaining {self.budget - used:,} of the "
                f"{self.budget:,} answers that may go over the threshold; missing "
                f"{used + len(wishes) - self.budget:,}. Ask fewer together, repeat earlier "
                "questions for free, or use fresh rows in a new ledger.",
                Shortfall("questions", len(wishes), self.budget - used),
            )
        return [
            unpromised_offer(
                account,
                wish,
                position,
                grid=self._grid,
                charge=self._worst_charge,
                extra={"since": since},
            )
            for position, wish in enumerate(wishes, start=1)
        ]

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        grid = self._grid
        threshold = Fraction(self.threshold) * Fraction(grid.cells)
        symbols: list[Symbol] = []
        for offer, measured in zip(offers, measure(sample, questions), strict=True):
            if offer.guess is None or offer.extra is None:
                raise TypeError("the offer of Thresholdout has the training rows' value")
            measured_cell = grid.cell(measured.numerator, measured.denominator)
            guessed_cell = grid.cell(*offer.guess.as_integer_ratio())
            _, compared, revealing = _draws(noise(offer.number))
            on_threshold = next(_draws(noise(offer.extra["since"])))
            over = abs(measured_cell - guessed_cell) > threshold + on_threshold + compared
            symbols.append(measured_cell + revealing if over else CONFIRMED)
        return symbols

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        if symbol == CONFIRMED:
            return replace(unpromised_release(offer, offer.guess or 0.0), charge=self._least_charge)
        return unpromised_release(offer, value_of(offer, symbol))

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        used, since = _state(account)
        for release in releases:
            if release.charge > self._least_charge:  # it went over the threshold
                used, since = used + 1, release.number
        after = charged(account, offers, [release.charge for release in releases])
        return after.remembering(_MEMORY, [used, since])

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        used, _ = _state(account)
        remaining = max(0, min(declared_left(terms, account), self.budget - used))
        return remaining // number_of_parts(stages)


def _state(account: Account) -> tuple[int, int]:
    """How many answers went over the threshold, and the number of the last of them."""
    used, since = account.memory.get(_MEMORY, (0, 0))
    return used, since


def _draws(noise: Noise) -> Iterator[int]:
    """The noise of one question: on the threshold after it, on the comparison, on the answer."""
    words = words_of(noise)
    return (discrete_laplace(words, scale * RESOLUTION) for scale in (2, 4, 1))


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    chosen = chosen_options("thresholdout", options, _DEFAULTS)
    budget = wanted.questions if chosen["budget"] is None else chosen["budget"]
    if budget is None:
        raise InvalidArgument(
            "thresholdout needs questions=, or options={'budget': ...}: how many answers may go "
            "over the threshold."
        )
    parameters = {
        "threshold": require.between("threshold", chosen["threshold"], 0.0, 1.0),
        "noise": require.between("noise", chosen["noise"], 1e-6, 1.0),
        "budget": require.positive_integer("budget", budget),
    }
    return planned_without("thresholdout", wanted, parameters)


THRESHOLDOUT = MechanismKind(
    name="thresholdout",
    summary="The training rows' value, unless the protected rows' differs by a noisy threshold.",
    needs="Other rows to guess from (train=).",
    promises="its published guarantee needs far more rows; every interval is the whole range.",
    theorem=None,
    method=None,
    plan=_plan,
    build=lambda _terms, parameters: Thresholdout(
        parameters["threshold"], parameters["noise"], parameters["budget"]
    ),
    refuses_checks="its answers are not on the account that a check needs; it guesses by itself.",
    options={
        "threshold": "T, a fraction of the range (0.04).",
        "noise": "sigma, a fraction of the range (0.01).",
        "budget": "B, how many answers may go over the threshold (all declared questions).",
    },
    trained=True,
)
