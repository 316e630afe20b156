"""Typically stable answers: Laplace or Gaussian noise that follows the concentration (BF1, BF2).

The sample's value is put on a public grid of G cells in the range, and whole-number noise of scale
T cells is added; everything follows from the concentration of the question, so rows may depend on
each other. The interval comes from the leakage theorem: with half of the question's failure
probability for the sample (radius alpha after what has leaked) and half for the tail of the noise.

Without options the noise of each question is what its half-width leaves. With eta= it is that of
the papers: alpha at level nu over eta (version 2, oracle form), or twice alpha at level nu/2
(version 1, set form); Gaussian noise is calibrated exactly where the papers print a formula. The
grid is chosen so that rounding is inside: the distance in *cells*, rounded up, keeps to eta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument, Refused, ToleranceTooTight
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.faults import first_fault, leakage_fault
from holdfast.mechanisms.kind import (
    MechanismKind,
    Planned,
    Wanted,
    chosen_options,
    short_half_width,
)
from holdfast.mechanisms.laws.laplace import LAPLACE
from holdfast.mechanisms.laws.law import Grid, Law
from holdfast.mechanisms.laws.normal import NORMAL
from holdfast.mechanisms.leakage import charged, plain_offer
from holdfast.mechanisms.mechanism import Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.profile import profile_of_record
from holdfast.mechanisms.release import unbounded_release
from holdfast.mechanisms.room import declared_left, require_room
from holdfast.mechanisms.stable_steps import remembering_steps
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.statistic import Statistic, computing_error, measure
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.leakage.equal_width import gaussian_leakage_half_width, laplace_half_width
from holdfast.theory.leakage.release import RESOLUTION
from holdfast.theory.typical.noise import gaussian_scale
from holdfast.theory.typical.notion import Form, TypicalStability

__all__ = ["SCALE", "TYPICAL_GAUSSIAN", "TYPICAL_LAPLACE", "Calibration", "TypicalNoise"]

SCALE = RESOLUTION  # T: cells of noise in one scale, so that the grid costs below 1e-5 nats
_LOG_HALF = math.log(0.5)
_MOST_COUNTED = 5_000
_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class Calibration:
    """(eta, tau, nu) declared for every answer; tau is 0 with Laplace noise."""

    version: int
    eta: float
    tau: float
    nu: float

    @property
    def stability(self) -> TypicalStability:
        """What one answer is: in oracle form (version 2) or in set form (version 1)."""
        form: Form = "oracle" if self.version == 2 else "set"
        return TypicalStability(self.eta, self.tau, self.nu, form)

    def cells(self, profile: Concentration, error: float) -> int:
        """G: as fine as eta allows, the distance of two typical cells rounded up."""
        log_nu = math.log(self.nu)
        if self.version == 2:
            distance = Fraction(round_up(profile.radius(log_nu) + error))
        else:
            distance = 2 * Fraction(round_up(profile.radius(log_nu + _LOG_HALF) + error))
        most = self.eta
        if self.tau > 0.0:
            most = round_down(1 / gaussian_scale(1.0, self.eta, math.log(self.tau)))
        return math.floor(math.floor(Fraction(most) * SCALE) / distance)


@dataclass(frozen=True, slots=True)
class TypicalNoise:
    """Answers with unbounded noise on the leakage account."""

    law: Law
    calibration: Calibration | None = None

    @property
    def name(self) -> str:
        return f"typical {self.law.name}/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        require_room(terms, account, len(wishes))
        return [
            self._offer(terms, account, wish, position)
            for position, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, account: Account, wish: Wish, position: int) -> Offer:
        plain = plain_offer(terms, account, wish, position, level=0.5)
        error = self.law.error(SCALE, plain.log_share + _LOG_HALF)
        tolerance = plain.tolerance
        if self.calibration is None:
            cells = math.ceil(
                _with_rounding(error) / (Fraction(tolerance) - Fraction(plain.radius))
            )
        else:
            profile = wish.question.concentration(terms.rows, terms.sampling)
            cells = self.calibration.cells(profile, computing_error(wish.question))
            tolerance = _half_width(plain.radius, error, cells)
            if tolerance > wish.tolerance:
                raise _too_wide(wish.tolerance, tolerance, self.calibration)
        return replace(
            plain,
            tolerance=tolerance,
            cells=1,
            reach=0,
            extra={"cells": cells},
            worst_charge=self._charge(plain.radius, cells),
        )

    def _charge(self, radius: float, cells: int) -> float:
        return self.law.log_charge(radius, Grid(cells, SCALE, None))

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],
    ) -> list[Symbol]:
        return [
            Grid(_cells(offer), SCALE, None).cell(measured.numerator, measured.denominator)
            + self.law.draw(noise(offer.number), SCALE)
            for offer, measured in zip(offers, measure(sample, questions), strict=True)
        ]

    def settle(self, offer: Offer, symbol: Symbol) -> Release:
        return unbounded_release(offer, symbol, _cells(offer), offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        paid = charged(account, offers, [release.charge for release in releases])
        return remembering_steps(paid, offers, lambda offer: (_cells(offer), SCALE))

    def questions_left(self, terms: Terms, account: Account) -> int:
        most = min(declared_left(terms, account), _MOST_COUNTED)
        return self._affordable(terms, account.asked, account.nats, most)

    def _affordable(self, terms: Terms, asked: int, nats: float, most: int) -> int:
        """How many more questions about means, at least; the grid's cost rounded up."""
        profile, t = terms.concentration, terms.tolerance
        fixed = None if self.calibration is None else self.calibration.cells(profile, GRID_ERROR)
        if fixed == 0:
            return 0
        for count in range(most):
            log_part = terms.log_share(asked + count + 1) + _LOG_HALF
            radius = round_up(profile.radius(min(0.0, log_part - nats)) + GRID_ERROR)
            error = self.law.error(SCALE, log_part) + 1
            if radius + (0.0 if fixed is None else error / fixed) >= t:
                return count
            cells = fixed or math.ceil(error / (t - radius)) + 1
            nats += self._charge(radius, cells)
        return max(0, most)

    def fault(self, terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
        cells = _cells(offer)
        profile = profile_of_record(offer.profile, terms)
        error = self.law.error(SCALE, offer.log_share + _LOG_HALF)
        found = first_fault(
            {
                "it does not say on which grid it is": cells < 1,
                "its level ignores leakage": (
                    offer.log_p > offer.log_share + _LOG_HALF - account.nats + 1e-9
                ),
                "its noise is smaller than declared": (
                    self.calibration is not None and cells > self.calibration.cells(profile, 0.0)
                ),
            }
        )
        if found is not None:
            return found
        # Another machine's logarithms may have made the noise's error a little smaller.
        reach = _with_rounding(error) / cells * Fraction(1 - 1e-12)
        charge = self._charge(offer.radius, cells)
        return leakage_fault(terms, account, offer, place, charge, reach)


def _cells(offer: Offer) -> int:
    """G of an offer."""
    if offer.extra is None:
        raise TypeError("the offer of a typically stable answer names its cells")
    return int(offer.extra["cells"])


def _with_rounding(error: float) -> Fraction:
    """In cells: the noise's error, and the half cell by which the sample's value was rounded."""
    return Fraction(error) + Fraction(1, 2)


def _half_width(radius: float, error: float, cells: int) -> float:
    if cells == 0:
        return math.inf
    return round_up(float(Fraction(radius) + _with_rounding(error) / cells))


def _too_wide(wanted: float, needed: float, calibration: Calibration) -> Refused:
    if math.isinf(needed):
        return ToleranceTooTight(
            f"requested half-width {wanted:.6g} of the range; eta={calibration.eta:g} needs noise "
            "beyond the whole range here. Open a ledger with a larger eta, or none."
        )
    return ToleranceTooTight(
        f"requested half-width {wanted:.6g} of the range; eta={calibration.eta:g} and what has "
        f"leaked need {needed:.6g}, so {needed - wanted:.3g} are missing. Ask with a larger "
        "tolerance=, or open a ledger with a larger eta."
    )


def _calibration(parameters: Mapping[str, Any]) -> Calibration | None:
    if parameters["eta"] is None:
        return None
    return Calibration(
        parameters["version"], parameters["eta"], parameters.get("tau") or 0.0, parameters["nu"]
    )


def _parameters(law: Law, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked and complete."""
    defaults: dict[str, Any] = {"version": None, "eta": None, "nu": None}
    if law is NORMAL:
        defaults["tau"] = None
    chosen = chosen_options(f"typical {law.name}", options, defaults)
    if chosen["eta"] is None:
        others = [name for name in chosen if chosen[name] is not None]
        if others:
            raise InvalidArgument(
                f"{others[0]}= says how the noise follows from eta=, which was not given; give "
                "eta= too, or leave it out for the noise that the half-width leaves."
            )
        return chosen
    chosen["eta"] = require.between("eta", chosen["eta"], 1e-3, 100.0)
    chosen["version"] = require.integer_between("version", chosen["version"] or 2, 1, 2)
    probabilities = {"nu": 1e-6} if law is LAPLACE else {"nu": 1e-6, "tau": 1e-6}
    for name, default in probabilities.items():
        value = default if chosen[name] is None else chosen[name]
        chosen[name] = require.between(name, value, 1e-300, 1.0, open_high=True)
    return chosen


def _plan(law: Law, wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    parameters = _parameters(law, options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, parameters)
    if wanted.questions is None:
        if parameters["eta"] is not None:
            raise InvalidArgument(
                f"with eta={parameters['eta']:g} the half-width depends on how many questions are "
                "asked: give questions=, or a tolerance= at which to stop."
            )
        return Planned(_TOLERANCE, parameters)
    mechanism = TypicalNoise(law, _calibration(parameters))
    width = _planned_width(mechanism, wanted, wanted.questions)
    rounded = short_half_width(width) if width < 0.5 else 0.5
    if rounded >= 0.5:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions with any "
            f"half-width below 0.5 by typical {law.name} noise"
            + ("" if mechanism.calibration is None else f" for eta={parameters['eta']:g}")
            + "; declare fewer questions, or use more rows."
        )
    return Planned(rounded, parameters)


def _planned_width(mechanism: TypicalNoise, wanted: Wanted, questions: int) -> float:
    """The half-width of all declared questions: of the last one, where the noise is declared."""
    law, calibration = mechanism.law, mechanism.calibration
    profile = wanted.sampling.profile(wanted.rows)
    if calibration is None:
        width = laplace_half_width if law is LAPLACE else gaussian_leakage_half_width
        # The grid costs less than this part of the half-width.
        return width(profile, questions, wanted.log_beta) * 1.00001 + 2**-29
    cells = calibration.cells(profile, GRID_ERROR)
    log_part = wanted.terms(_TOLERANCE).log_share(1) + _LOG_HALF
    nats, radius = 0.0, math.inf
    for _ in range(questions):
        radius = round_up(profile.radius(min(0.0, log_part - nats)) + GRID_ERROR)
        if cells == 0 or radius >= 0.5:
            return math.inf
        nats += mechanism._charge(radius, cells)
    return _half_width(radius, law.error(SCALE, log_part), cells) * 1.00001


def _kind(law: Law, title: str, theorem: str) -> MechanismKind:
    tau = {"tau": "the mass outside that ratio (default 1e-6)"} if law is NORMAL else {}
    return MechanismKind(
        name=f"typical {law.name}",
        summary=f"The sample's value plus {title} noise that follows its concentration: every "
        "answer is typically stable, on one leakage account with all checks.",
        needs="Nothing but a concentration: any rows, any statistic.",
        promises="Theorem L; the certificate of stability is holdout.stability()",
        theorem=theorem,
        plan=lambda wanted, options: _plan(law, wanted, options),
        build=lambda _terms, parameters: TypicalNoise(law, _calibration(parameters)),
        options={
            "eta": "closeness of an answer on two typical samples (default: what the half-width "
            "leaves)",
            "nu": "the share of samples that are not typical (default 1e-6, with eta)",
            **tau,
            "version": "1 or 2, of the paper whose noise it is (default 2, with eta)",
        },
    )


TYPICAL_LAPLACE = _kind(LAPLACE, "Laplace", "laplace_half_width")
TYPICAL_GAUSSIAN = _kind(NORMAL, "Gaussian", "gaussian_leakage_half_width")
