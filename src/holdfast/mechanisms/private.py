"""Differentially private answers, and what privacy says about the population (Theorems D and T).

An average is released as the integer S + Z: S the exact sum of row values, of which each is 0 to
2^30 units, so that one row moves S by at most 2^30, and Z whole-number noise (discrete Laplace,
exactly epsilon-DP; or a rounded normal number, a post-processing of the Gaussian mechanism).

The half-width holds for all declared answers together, by the transfer theorem: the mean of the
largest noise over its worst beta, plus how far a private transcript can move the posterior of a row
(Laplace: Theorem D over the optimal composition; Gaussian: Theorem T). Rows must be independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument, ToleranceTooTight
from holdfast.mechanisms.catalogue import MechanismKind, Planned, chosen_options, short_half_width
from holdfast.mechanisms.gaussian import gaussian_width
from holdfast.mechanisms.noise import LAPLACE, NORMAL, Law
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.mechanisms.transfer import (
    FINE,
    DeclaredNoise,
    Epoch,
    Transfer,
    declared_noise,
    noise_options,
    plain_parameters,
    scale_of,
    transfer_from_dict,
    wide_noise,
)
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.safeside import largest_true, round_up
from holdfast.theory.notions.composing import PureDP
from holdfast.theory.notions.distances import gaussian_scale_for_approx_dp
from holdfast.theory.planning import MOST_QUESTIONS, Method, by_private_transfer
from holdfast.theory.transfer.differential_privacy import (
    MOST_PRIVATE_LAPLACE,
    best_private_laplace,
    composed_private_shift,
    laplace_max_noise,
    optimal_composition_at_delta,
    private_laplace_questions,
    private_laplace_rows,
)
from holdfast.theory.transfer.gaussian_noise import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_questions,
    gaussian_rows,
    gaussian_shift,
)

_DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class PrivateTheorem:
    """Theorem of private noise: how far all answers of one epoch may be from the population.

    Rounding is inside: a statistic with a declared change gets noise that is coarser by 2 parts in
    2^20 and 2^-20 of what a row can do, and its cells and whole-number noise are off by half a cell
    each; an average is off by the grid of row values.
    """

    law: Law

    @property
    def name(self) -> str:
        return "Theorem D" if self.law is LAPLACE else "Theorem T"

    def half_width(self, rows: int, epochs: Sequence[Epoch]) -> float:
        if len(epochs) != 1:
            return math.inf  # privacy is divided among a declared number of answers
        return self.with_noise(rows, epochs[0].questions, epochs[0].scale, epochs[0].log_beta)

    def with_noise(self, rows: int, answers: int, scale: int, log_beta: float) -> float:
        part = 1 / (rows * FINE)
        b = scale / (rows * GRID) * (1 + 2 / FINE) + part
        if self.law is LAPLACE:
            noise = laplace_max_noise(answers, log_beta)
            shift = composed_private_shift(answers, round_up(GRID / scale), log_beta)
        else:
            noise = gaussian_max_noise(answers, log_beta)
            shift = gaussian_shift(round_up(math.sqrt(answers) * GRID / (2 * scale)), log_beta)
        return round_up(noise * b + shift + part + GRID_ERROR, 16)


def scale_for(law: Law, wanted: Terms, answers: int, chosen: Mapping[str, Any]) -> int:
    """The least noise that has the declared privacy."""
    epsilon: float = chosen["epsilon"]
    delta: float | None = chosen["delta"]
    if law is NORMAL:
        log_delta = math.log(_DELTA if delta is None else delta)
        s = gaussian_scale_for_approx_dp(wanted.rows, answers, epsilon, log_delta)
        return scale_of(s, wanted.rows)
    each = Fraction(epsilon) / answers
    if delta is not None:
        log_delta = math.log(delta)

        def too_much(each: float) -> bool:
            return optimal_composition_at_delta(PureDP(each), answers, log_delta).epsilon > epsilon

        each = max(
            each, Fraction(largest_true(lambda e: not too_much(e), float(each) / 2, epsilon))
        )
    return math.ceil(GRID / each)


def _narrowest(law: Law, rows: int, answers: int, log_beta: float) -> int:
    """About the scale that makes the half-width least."""
    if law is LAPLACE:
        epsilon, _ = best_private_laplace(rows, answers, log_beta)
        return math.ceil(GRID / epsilon)
    return scale_of(gaussian_half_width(rows, answers, log_beta).noise_scale, rows)


def _most_private(width: Callable[[int], float], tolerance: float, least: int) -> int:
    """The most noise, and no less than `least`, with which the half-width is kept."""

    def fits(scale: float) -> bool:
        return width(math.ceil(scale)) <= tolerance

    high = 2.0 * least
    while fits(high):
        high *= 2.0
    return math.ceil(largest_true(fits, least, high, relative=1e-7))


def _checked(law: Law, options: Mapping[str, Any]) -> dict[str, Any]:
    allowed = dict.fromkeys(["epsilon", "delta", *noise_options(law)])
    chosen = chosen_options(f"private {law.name}", options, allowed)
    if chosen["epsilon"] is not None:
        chosen["epsilon"] = require.between("epsilon", chosen["epsilon"], 1e-6, 100.0)
    if chosen["delta"] is not None:
        chosen["delta"] = require.between("delta", chosen["delta"], 1e-300, 1.0, open_high=True)
    return chosen


def _plan(law: Law, wanted: Terms, options: Mapping[str, Any]) -> Planned:
    name = f"private {law.name}"
    chosen = _checked(law, options)
    if wanted.questions is None:
        raise InvalidArgument(
            f"{name} divides its privacy among a declared number of answers: give questions=."
        )
    if not wanted.independent:
        raise InvalidArgument(f"{name} needs independent rows, not {wanted.sampling}.")
    if not wanted.alike:
        raise InvalidArgument(
            f"{name} protects whole rows, and columns of design=, public= and key= are published "
            "as they are; leave them out."
        )
    most = MOST_PRIVATE_LAPLACE if law is LAPLACE else MOST_QUESTIONS
    answers = require.integer_between("questions", wanted.questions, 1, most)
    log_beta = wanted.log_beta

    def width(scale: int) -> float:
        return PrivateTheorem(law).with_noise(wanted.rows, answers, scale, log_beta)

    noise = declared_noise(wanted, law, chosen)
    if noise is not None:
        return _with_noise(law, wanted, chosen, noise, width)
    start = _narrowest(law, wanted.rows, answers, log_beta)
    if chosen["epsilon"] is not None:  # less privacy than declared is never taken, more may be
        start = max(start, scale_for(law, wanted, answers, chosen))
    least = width(start)
    tolerance = wanted.tolerance
    if tolerance is None:
        tolerance = short_half_width(least)
    if least > tolerance or tolerance >= WHOLE_RANGE:
        raise ToleranceTooTight(
            f"requested half-width {wanted.half_width:.6g} of the range for {answers:,} answers; "
            f"{name} noise needs {least:.6g} on {wanted.rows:,} rows"
            + ("" if chosen["epsilon"] is None else f" for epsilon={chosen['epsilon']:g}")
            + ". Declare a larger tolerance or fewer questions, or use more rows."
        )
    epoch = Epoch(answers, _most_private(width, tolerance, start), log_beta, tolerance)
    return Planned(tolerance, _parameters(epoch, chosen))


def _parameters(epoch: Epoch, chosen: Mapping[str, Any]) -> dict[str, Any]:
    delta = _DELTA if chosen["delta"] is None else chosen["delta"]
    return {**plain_parameters([epoch]), "delta": delta}


def _with_noise(
    law: Law,
    wanted: Terms,
    chosen: Mapping[str, Any],
    noise: DeclaredNoise,
    width: Callable[[int], float],
) -> Planned:
    """With the noise that was declared, as Algorithm 2 of the lectures has it."""
    if chosen["epsilon"] is not None:
        raise InvalidArgument("epsilon sets the noise, and that is given, too; leave one out.")
    answers, scale = wanted.questions or 1, scale_of(noise.size, wanted.rows)
    least = width(scale)
    words = noise.planned_words(least, PrivateTheorem(law).name, answers)
    tolerance = short_half_width(least) if wanted.tolerance is None else wanted.tolerance
    if least > tolerance or tolerance >= WHOLE_RANGE:
        raise wide_noise(words)
    epoch = Epoch(answers, scale, wanted.log_beta, tolerance)
    return Planned(tolerance, _parameters(epoch, chosen), told=words)


def _kind(law: Law, title: str, method: Method, colour: str | None = None) -> MechanismKind:
    theorem = PrivateTheorem(law)
    pure = "by basic composition; with delta= by the exact one" if law is LAPLACE else "at delta"

    def build(parameters: Mapping[str, Any]) -> Transfer:
        return transfer_from_dict(method.name, law, theorem, parameters)

    return MechanismKind(
        name=method.name,
        summary=f"The sum of row values plus {title} noise: differentially private for every row, "
        "with an interval for the population.",
        needs="Independent rows and a declared number of questions; averages of all rows, or "
        "statistics with a declared change=.",
        promises=theorem.name,
        theorem=method.theorem,
        method=method,
        colour=colour,
        plan=lambda wanted, options: _plan(law, wanted, options),
        build=lambda _terms, parameters: build(parameters),
        refuses_checks="whether a guess is confirmed is told without noise, which is not private.",
        options={
            "epsilon": f"the most privacy loss in all, {pure} (default: what the width allows)",
            "delta": "the delta at which the privacy is reported (default 1e-6)",
            **noise_options(law),
        },
        private=True,
        fault=lambda terms, parameters, questions: build(parameters).fault(terms, questions),
    )


def _laplace_width(rows: int, answers: int, log_beta: float) -> float:
    if answers > MOST_PRIVATE_LAPLACE:
        return math.inf
    return best_private_laplace(rows, answers, log_beta)[1]


PRIVATE_LAPLACE = _kind(
    LAPLACE,
    "discrete Laplace",
    by_private_transfer(
        "private laplace",
        "private_laplace_half_width",
        _laplace_width,
        private_laplace_questions,
        private_laplace_rows,
    ),
    "#e377c2",
)
# Its best noise is that of `gaussian`, and so is its line.
PRIVATE_GAUSSIAN = _kind(
    NORMAL,
    "Gaussian",
    by_private_transfer(
        "private gaussian",
        "gaussian_half_width",
        gaussian_width,
        gaussian_questions,
        gaussian_rows,
    ),
)
