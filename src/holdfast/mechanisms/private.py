"""Differentially private answers, and what privacy says about the population (Theorems D and T).

An average is released as the integer S + Z: S the exact sum of row values, of which each is 0 to
2^30 units, so that one row moves S by at most 2^30, and Z whole-number noise (discrete Laplace,
exactly epsilon-DP; or a rounded normal number, a post-processing of the Gaussian mechanism). A
statistic with a declared `change` is put on a grid, and the cells that a row can move it, rounded
up, get noise in the same proportion. So every answer is as private as every other one.

The half-width holds for all declared answers together, by the transfer theorem: the mean of the
largest noise over its worst beta, plus how far a private transcript can move the posterior of a row
(Laplace: Theorem D over the optimal composition; Gaussian: Theorem T). Rows must be independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument, InvalidQuestion, ToleranceTooTight
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.draws import GAUSSIAN, LAPLACE, NoiseLaw, words_of
from holdfast.mechanisms.faults import first_fault
from holdfast.mechanisms.kind import (
    MechanismKind,
    Planned,
    Wanted,
    chosen_options,
    short_half_width,
)
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.privacy import Privacy, gaussian_privacy, laplace_privacy
from holdfast.mechanisms.profile import recorded_profile
from holdfast.mechanisms.release import unbounded_release
from holdfast.mechanisms.room import declared_left, require_room
from holdfast.mechanisms.stable_steps import remembering_steps
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.statistic import Statistic, measure
from holdfast.statistics.whole import TableFunction
from holdfast.theory.base.safeside import largest_true, round_up
from holdfast.theory.leakage.release import DiscreteUniform
from holdfast.theory.notions.distances import gaussian_scale_for_approx_dp
from holdfast.theory.notions.stability import GDP, PureDP
from holdfast.theory.planning import MOST_QUESTIONS
from holdfast.theory.transfer.gaussian import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_shift,
)
from holdfast.theory.transfer.private_planning import MOST_PRIVATE_LAPLACE, best_private_laplace
from holdfast.theory.transfer.private_release import (
    composed_private_shift,
    laplace_max_noise,
    optimal_composition_at_delta,
)

__all__ = ["PRIVATE_GAUSSIAN", "PRIVATE_LAPLACE", "PrivateNoise", "private_half_width"]

_DELTA = 1e-6
_FINE = 2**20  # cells that one row can move a statistic with a declared change
_MOST_ANSWERS = {LAPLACE: MOST_PRIVATE_LAPLACE, GAUSSIAN: MOST_QUESTIONS}


@dataclass(frozen=True, slots=True)
class PrivateNoise:
    """Answers with noise of `scale` units, 2^30 of which are what one row can do."""

    law: NoiseLaw
    scale: int
    delta: float

    @property
    def name(self) -> str:
        return f"private {self.law.name}/1"

    def privacy(self, account: Account) -> Privacy:
        """What the answers so far reveal of any one row, at most."""
        loss, log_delta = round_up(GRID / self.scale), math.log(self.delta)
        if self.law is LAPLACE:
            return laplace_privacy(PureDP(loss), account.asked, log_delta)
        return gaussian_privacy(GDP(loss), account.asked, log_delta)

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            self._offer(terms, wish, account.asked + position)
            for position, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, wish: Wish, number: int) -> Offer:
        change = _change(wish.question, terms.rows)
        tolerance = _half_width_of(terms, change)
        if tolerance > wish.tolerance * (1 + 1e-9):
            raise ToleranceTooTight(
                f"requested half-width {wish.tolerance:.6g} of the range; the noise of this ledger "
                f"needs {tolerance:.6g}, so {tolerance - wish.tolerance:.3g} are missing. Ask with "
                "a larger tolerance=."
            )
        cells, scale = self._grid(terms.rows, change)
        profile = wish.question.concentration(terms.rows, terms.sampling)
        return Offer(
            number=number,
            question=wish.question.text,
            tolerance=tolerance,
            log_p=0.0,
            radius=0.0,
            cells=1,
            reach=0,
            claim=None,
            guess=None,
            prior=None,
            log_share=terms.log_share(number),
            worst_charge=0.0,
            profile=None if change is None else recorded_profile(profile, terms),
            extra={"cells": cells, "scale": scale, "change": change},
        )

    def _grid(self, rows: int, change: float | None) -> tuple[int, int]:
        """Cells of the range, and the scale of the noise in cells."""
        if change is None:
            return rows * GRID, self.scale
        cells = math.ceil(_FINE / Fraction(change))
        # An even number of cells: for an odd one total variation is above the continuous law's.
        moved = 2 * math.ceil(Fraction(change) * cells / 2)
        return cells, math.ceil(moved * Fraction(self.scale, GRID))

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        symbols: list[Symbol] = []
        for offer, measured in zip(offers, measure(sample, questions), strict=True):
            cells, scale = _noisy(offer)
            cell = DiscreteUniform(cells, 0).cell(measured.numerator, measured.denominator)
            symbols.append(cell + self.law.draw(words_of(noise(offer.number)), scale))
        return symbols

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        return unbounded_release(offer, symbol, _noisy(offer)[0], 0.0)

    def advance(
        self,
        account: Account,
        offers: Sequence[Offer],
        releases: Sequence[Release],  # noqa: ARG002 - no answer is charged: no check may follow
    ) -> Account:
        return remembering_steps(charged(account, offers, []), offers, _noisy)

    def questions_left(self, terms: Terms, account: Account) -> int:
        return max(0, declared_left(terms, account))

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
        if terms.questions is None or not terms.independent or terms.design:
            return "private answers need independent rows, no design and a number of questions"
        log_beta = terms.log_beta
        promised = private_half_width(self.law, terms.rows, terms.questions, self.scale, log_beta)
        change = (offer.extra or {}).get("change")
        faults = {
            "its number is out of order": offer.number != account.asked + place,
            "it takes more than its share of the failure probability": (
                offer.log_share > terms.log_share(offer.number) + 1e-9
            ),
            "the noise does not give the half-width that was promised": (
                promised > terms.tolerance * (1 + 1e-12)
            ),
            "its noise is not the declared one": _noisy(offer) != self._grid(terms.rows, change),
            "its change is not that of its concentration": _differs(terms.rows, change, offer),
            "its half-width is too small": offer.tolerance < _half_width_of(terms, change),
        }
        return first_fault(faults)


def _noisy(offer: Offer) -> tuple[int, int]:
    """Cells of the range and the noise's scale in cells, of an offer."""
    if offer.extra is None:
        raise TypeError("the offer of a private answer names its cells and its scale")
    return int(offer.extra["cells"]), int(offer.extra["scale"])


def _change(question: Statistic, rows: int) -> float | None:
    """How far one row can move a declared statistic, as a part of its range; None for averages."""
    if question.row is not None and question.rows(rows) == rows:
        return None
    if isinstance(question, TableFunction) and question.change is not None:
        return min(1.0, round_up(question.change / (question.high - question.low)))
    raise InvalidQuestion(
        "Private answers are given to averages of all rows, and to statistics with a declared "
        "change=, the most that one row can do; this question has neither."
    )


def _half_width_of(terms: Terms, change: float | None) -> float:
    """The promised half-width, for what a row can do in units of what it does to an average."""
    if change is None:
        return terms.tolerance
    return round_up(terms.rows * change * terms.tolerance)


def _differs(rows: int, change: float | None, offer: Offer) -> bool:
    """Whether a row can do more than `change` by the concentration that the question's text has."""
    if change is None or offer.profile is None:
        return change is not None or offer.profile is not None
    sigma: float = offer.profile["sigma"]
    return change < min(1.0, 2 * sigma / math.sqrt(rows)) * (1 - 1e-12)


@lru_cache(maxsize=256)
def private_half_width(
    law: NoiseLaw, rows: int, answers: int, scale: int, log_beta: float
) -> float:
    """How far all answers together may be from the population, with this noise.

    Rounding is inside: a statistic with a declared change gets noise that is coarser by 2 parts in
    2^20 and 2^-20 of what a row can do, and its cells and whole-number noise are off by half a cell
    each; an average is off by the grid of row values.
    """
    part = 1 / (rows * _FINE)
    b = scale / (rows * GRID) * (1 + 2 / _FINE) + part
    if law is LAPLACE:
        noise = laplace_max_noise(answers, log_beta)
        shift = composed_private_shift(answers, round_up(GRID / scale), log_beta)
    else:
        noise = gaussian_max_noise(answers, log_beta)
        shift = gaussian_shift(round_up(math.sqrt(answers) * GRID / (2 * scale)), log_beta)
    return round_up(noise * b + shift + part + GRID_ERROR, 16)


def _scale_for(law: NoiseLaw, wanted: Wanted, answers: int, chosen: Mapping[str, Any]) -> int:
    """The least noise that has the declared privacy."""
    epsilon: float = chosen["epsilon"]
    delta: float | None = chosen["delta"]
    if law is GAUSSIAN:
        log_delta = math.log(_DELTA if delta is None else delta)
        s = gaussian_scale_for_approx_dp(wanted.rows, answers, epsilon, log_delta)
        return math.ceil(Fraction(s) * wanted.rows * GRID)
    each = Fraction(epsilon) / answers
    if delta is not None:
        log_delta = math.log(delta)

        def too_much(one: float) -> bool:
            return optimal_composition_at_delta(PureDP(one), answers, log_delta).epsilon > epsilon

        each = max(
            each, Fraction(largest_true(lambda e: not too_much(e), float(each) / 2, epsilon))
        )
    return math.ceil(GRID / each)


def _narrowest(law: NoiseLaw, rows: int, answers: int, log_beta: float) -> int:
    """About the scale that makes the half-width least."""
    if law is LAPLACE:
        epsilon, _ = best_private_laplace(rows, answers, log_beta)
        return math.ceil(GRID / epsilon)
    return math.ceil(gaussian_half_width(rows, answers, log_beta).noise_scale * rows * GRID)


def _most_private(width: Callable[[int], float], tolerance: float, least: int) -> int:
    """The most noise, and no less than `least`, with which the half-width is kept."""

    def fits(scale: float) -> bool:
        return width(math.ceil(scale)) <= tolerance

    high = 2.0 * least
    while fits(high):
        high *= 2.0
    return math.ceil(largest_true(fits, least, high, relative=1e-7))


def _checked(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = chosen_options(name, options, {"epsilon": None, "delta": None})
    if chosen["epsilon"] is not None:
        chosen["epsilon"] = require.between("epsilon", chosen["epsilon"], 1e-6, 100.0)
    if chosen["delta"] is not None:
        chosen["delta"] = require.between("delta", chosen["delta"], 1e-300, 1.0, open_high=True)
    return chosen


def _plan(law: NoiseLaw, wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    name = f"private {law.name}"
    chosen = _checked(name, options)
    if wanted.questions is None:
        raise InvalidArgument(
            f"{name} divides its privacy among a declared number of answers: give questions=."
        )
    if not isinstance(wanted.sampling, Independent):
        raise InvalidArgument(f"{name} needs independent rows, not {wanted.sampling}.")
    if wanted.design:
        raise InvalidArgument(
            f"{name} protects whole rows, and design= columns would be published as they are; "
            "leave design out."
        )
    answers = require.integer_between("questions", wanted.questions, 1, _MOST_ANSWERS[law])
    log_beta = wanted.log_beta

    def width(scale: int) -> float:
        return private_half_width(law, wanted.rows, answers, scale, log_beta)

    start = _narrowest(law, wanted.rows, answers, log_beta)
    if chosen["epsilon"] is not None:  # less privacy than declared is never taken, more may be
        start = max(start, _scale_for(law, wanted, answers, chosen))
    least = width(start)
    tolerance = wanted.tolerance
    if tolerance is None:
        tolerance = short_half_width(least)
    if least > tolerance or tolerance >= 0.5:
        raise ToleranceTooTight(
            f"requested half-width {min(tolerance, 0.5):.6g} of the range for {answers:,} answers; "
            f"{name} noise needs {least:.6g} on {wanted.rows:,} rows"
            + ("" if chosen["epsilon"] is None else f" for epsilon={chosen['epsilon']:g}")
            + ". Declare a larger tolerance or fewer questions, or use more rows."
        )
    scale = _most_private(width, tolerance, start)
    delta = _DELTA if chosen["delta"] is None else chosen["delta"]
    return Planned(tolerance, {"scale": scale, "delta": delta})


def _kind(law: NoiseLaw, title: str, promise: str, theorem: str) -> MechanismKind:
    pure = "by basic composition; with delta= by the exact one" if law is LAPLACE else "at delta"
    return MechanismKind(
        name=f"private {law.name}",
        summary=f"The sum of row values plus {title} noise: differentially private for every row, "
        "with an interval for the population.",
        needs="Independent rows and a declared number of questions; averages of all rows, or "
        "statistics with a declared change=.",
        promises=promise,
        theorem=theorem,
        plan=lambda wanted, options: _plan(law, wanted, options),
        build=lambda _terms, kept: PrivateNoise(law, kept["scale"], kept["delta"]),
        refuses_checks="whether a guess is confirmed is told without noise, which is not private.",
        options={
            "epsilon": f"the most privacy loss in all, {pure} (default: what the width allows)",
            "delta": "the delta at which the privacy is reported (default 1e-6)",
        },
        private=True,
    )


PRIVATE_LAPLACE = _kind(LAPLACE, "discrete Laplace", "Theorem D", "private_laplace_half_width")
PRIVATE_GAUSSIAN = _kind(GAUSSIAN, "Gaussian", "Theorem T", "gaussian_half_width")
