"""`ask` with Gaussian noise (Theorem T): many averages of independent rows.

Noise is the whole number of grid units nearest to a normal number with a whole standard deviation,
drawn exactly (`normal`), so that no error of a sampler has to be added to the failure probability.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.mechanisms.catalogue import MechanismKind, Planned
from holdfast.mechanisms.noise import NORMAL
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.mechanisms.transfer import (
    DECLARED_EPOCHS,
    LEAKAGE_OPTIONS,
    LEAST_FIRST_EPOCH,
    OPEN_TOLERANCE,
    REFUSES_CHECKS,
    Epoch,
    Transfer,
    checked_options,
    declared_noise,
    level_of,
    limited,
    noise_options,
    planned,
    scale_of,
    too_few_rows,
    transfer_from_dict,
    whole_numbers,
)
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.safeside import float_above, float_below, largest_integer, round_up
from holdfast.theory.planning import GRID_ALLOWANCE, by_transfer
from holdfast.theory.transfer.epochs import first_epoch_noise, gaussian_epoch
from holdfast.theory.transfer.gaussian_noise import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_questions,
    gaussian_rows,
    gaussian_shift,
    transfer_half_width,
)

_NAME = "gaussian"
_MOST_QUESTIONS = 10**9
_WIDER_EPOCHS = 8
_OPTIONS = {**LEAKAGE_OPTIONS, **noise_options(NORMAL)}


@dataclass(frozen=True, slots=True)
class TheoremT:
    """Theorem T for normal noise that is rounded to whole grid units."""

    name: str = "Theorem T"

    def half_width(self, rows: int, epochs: Sequence[Epoch]) -> float:
        last = epochs[-1]
        signals = (
            epoch.questions / (2.0 * rows * float_below(epoch.noise(rows))) ** 2 for epoch in epochs
        )
        m = round_up(math.sqrt(math.fsum(signals)), 16)
        largest = gaussian_max_noise(last.questions, last.log_beta)
        noise = round_up(float_above(last.noise(rows)) * largest)
        width = transfer_half_width(noise, gaussian_shift(m, last.log_beta))
        return round_up(width + 0.5 / (rows * GRID) + GRID_ERROR)


def gaussian_width(rows: int, questions: int, log_beta: float) -> float:
    """The half-width with the best noise, for the planner."""
    return gaussian_half_width(rows, questions, log_beta).half_width


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    chosen = checked_options(_NAME, wanted, options, _OPTIONS)
    level, noise = level_of(wanted, chosen), declared_noise(wanted, NORMAL, chosen)
    if noise is not None and wanted.questions is not None:
        scale = scale_of(noise.size, wanted.rows)
        declared = Epoch(wanted.questions, scale, level.log_beta, 0.0)
        width = TheoremT().half_width(wanted.rows, [declared])
        words = noise.planned_words(width, TheoremT().name, wanted.questions)
        return planned(wanted, level, [replace(declared, half_width=width)], {}, words)
    if wanted.questions is None:
        return planned(wanted, level, _open_ended(wanted, level.log_beta), {})
    design = gaussian_half_width(wanted.rows, wanted.questions, level.log_beta)
    epoch = _epoch(wanted.rows, wanted.questions, design.noise_scale, level.log_beta, 0.0)
    width = design.half_width + max(GRID_ALLOWANCE, epoch.half_width)
    return planned(wanted, level, [replace(epoch, half_width=width)], {})


def _epoch(rows: int, questions: int, noise: float, log_beta: float, width: float) -> Epoch:
    """An epoch that has this half-width before its numbers are whole."""
    more = whole_numbers(rows, gaussian_max_noise(questions, log_beta))
    return Epoch(questions, scale_of(noise, rows), log_beta, round_up(width + more))


def _open_ended(wanted: Terms, log_beta: float) -> list[Epoch]:
    """Epochs that double, with noise growing like 2^{e/4}, aimed at the declared tolerance."""
    rows, tolerance = wanted.rows, wanted.tolerance or OPEN_TOLERANCE

    def epoch(first: int, aim: int, e: int) -> Epoch:
        s0 = first_epoch_noise(rows, first, log_beta, aim)
        plan = gaussian_epoch(rows, first, s0, log_beta, e)
        return _epoch(rows, plan.questions, plan.noise_scale, plan.log_beta, plan.half_width)

    def longest(aim: int) -> int:
        return largest_integer(
            lambda k: epoch(k, aim, aim).half_width <= tolerance, most=_MOST_QUESTIONS >> aim
        )

    aims = [within - 1 for within in DECLARED_EPOCHS]
    fitting = ((aim, first) for aim in aims if (first := longest(aim)) >= LEAST_FIRST_EPOCH)
    aim, first = next(fitting, (0, longest(0)))
    if first == 0:
        raise too_few_rows(wanted, epoch(1, 0, 0).half_width)
    epochs = (epoch(first, aim, e) for e in range(aim + 1 + _WIDER_EPOCHS))
    return [each for each in epochs if each.half_width < WHOLE_RANGE]


def _build(_terms: Terms, parameters: Mapping[str, Any]) -> Transfer:
    return transfer_from_dict(_NAME, NORMAL, TheoremT(), parameters)


GAUSSIAN = MechanismKind(
    name=_NAME,
    summary="The sample's average plus rounded Gaussian noise, for many questions; half-width and "
    "noise are fixed for all of them when the ledger is opened.",
    needs="Independent rows, and averages of all of them.",
    promises="Theorem T",
    theorem="gaussian_half_width",
    method=by_transfer(
        _NAME, "gaussian_half_width", gaussian_width, gaussian_questions, gaussian_rows
    ),
    colour="#17a2b8",
    plan=_plan,
    build=_build,
    refuses_checks=REFUSES_CHECKS,
    options=_OPTIONS,
    claiming=lambda terms, parameters, claims: limited(_build(terms, parameters), claims),
    fault=lambda terms, parameters, asked: _build(terms, parameters).fault(terms, asked),
)
