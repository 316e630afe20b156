"""`ask` with Gaussian noise (Theorem T): many averages of independent rows.

Noise is the whole number of grid units nearest to a normal number with a whole standard deviation,
drawn exactly (`normal`), so that no error of a sampler has to be added to the failure probability.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.mechanisms.account import Terms
from holdfast.mechanisms.kind import MechanismKind, Planned, Wanted
from holdfast.mechanisms.limited_checks import limited_checks
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.normal import WORD, rounded_normal
from holdfast.mechanisms.transfer import Epoch, Transfer, transfer_from_dict
from holdfast.mechanisms.transfer_plan import (
    DECLARED_EPOCHS,
    LEAKAGE_OPTIONS,
    LEAST_FIRST_EPOCH,
    OPEN_TOLERANCE,
    REFUSES_CHECKS,
    checked_options,
    level_of,
    planned,
    too_few_rows,
)
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.safeside import largest_integer, round_down, round_up
from holdfast.theory.leakage.nats import gaussian_log_charge
from holdfast.theory.planning import GRID_ALLOWANCE
from holdfast.theory.transfer.epochs import first_epoch_noise, gaussian_epoch
from holdfast.theory.transfer.gaussian import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_shift,
    transfer_half_width,
)

__all__ = ["GAUSSIAN", "GaussianLaw"]

_NAME = "gaussian"
_MOST_QUESTIONS = 10**9
_WIDER_EPOCHS = 8


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """Normal noise, rounded to whole grid units."""

    @property
    def name(self) -> str:
        return f"{_NAME}/1"

    @property
    def theorem(self) -> str:
        return "Theorem T"

    @property
    def assumes(self) -> str | None:
        return None

    def units(self, rows: int, noise: float) -> int:
        return math.ceil(Fraction(noise) * rows * GRID)

    def cells(self, rows: int) -> int:
        return rows * GRID

    def reach(self, rows: int, units: int) -> int:  # noqa: ARG002 - nothing is sure
        return self.cells(rows)

    def symbol(self, total: int, units: int, noise: Noise) -> int:
        return total + rounded_normal(noise.uniforms(0, WORD - 1), units)

    def log_charge(self, radius: float, rows: int, units: int) -> float:
        return gaussian_log_charge(radius, round_down(units / (rows * GRID)))

    def half_width(self, rows: int, epochs: Sequence[Epoch]) -> float:
        last = epochs[-1]
        signals = (epoch.questions / (2.0 * rows * epoch.noise) ** 2 for epoch in epochs)
        m = round_up(math.sqrt(math.fsum(signals)), 16)
        noise = round_up(last.noise * gaussian_max_noise(last.questions, last.log_beta))
        width = transfer_half_width(noise, gaussian_shift(m, last.log_beta))
        return round_up(width + self.rounding(rows, last))

    def rounding(self, rows: int, epoch: Epoch) -> float:
        """What whole numbers add to a half-width: of the noise, and of the values."""
        unit = Fraction(1, rows * GRID)
        more = float(self.units(rows, epoch.noise) * unit - Fraction(epoch.noise))
        largest = gaussian_max_noise(epoch.questions, epoch.log_beta)
        return round_up(more * largest + float(unit / 2) + GRID_ERROR)


def _plan(wanted: Wanted, options: Mapping[str, Any]) -> Planned:
    chosen = checked_options(_NAME, wanted, options, LEAKAGE_OPTIONS)
    level, law = level_of(wanted, chosen), GaussianLaw()
    if wanted.questions is None:
        return planned(wanted, level, _open_ended(wanted, level.log_beta), {})
    design = gaussian_half_width(wanted.rows, wanted.questions, level.log_beta)
    epoch = Epoch(wanted.questions, design.noise_scale, level.log_beta, design.half_width)
    allowance = max(GRID_ALLOWANCE, law.rounding(wanted.rows, epoch))
    width = design.half_width + allowance
    return planned(wanted, level, [Epoch(epoch.questions, epoch.noise, epoch.log_beta, width)], {})


def _open_ended(wanted: Wanted, log_beta: float) -> list[Epoch]:
    """Epochs that double, with noise growing like 2^{e/4}, aimed at the declared tolerance."""
    rows, tolerance = wanted.rows, wanted.tolerance or OPEN_TOLERANCE
    law = GaussianLaw()

    def epoch(first: int, aim: int, e: int) -> Epoch:
        s0 = first_epoch_noise(rows, first, log_beta, aim)
        found = gaussian_epoch(rows, first, s0, log_beta, e)
        bare = Epoch(found.questions, found.noise_scale, found.log_beta, found.half_width)
        width = round_up(found.half_width + law.rounding(rows, bare))
        return Epoch(bare.questions, bare.noise, bare.log_beta, width)

    def longest(aim: int) -> int:
        return largest_integer(
            lambda k: epoch(k, aim, aim).half_width <= tolerance, most=_MOST_QUESTIONS >> aim
        )

    aims = [within - 1 for within in DECLARED_EPOCHS]
    found = ((aim, first) for aim in aims if (first := longest(aim)) >= LEAST_FIRST_EPOCH)
    aim, first = next(found, (0, longest(0)))
    if first == 0:
        raise too_few_rows(wanted, epoch(1, 0, 0).half_width)
    epochs = (epoch(first, aim, e) for e in range(aim + 1 + _WIDER_EPOCHS))
    return [each for each in epochs if each.half_width < 0.5]


def _build(_terms: Terms, parameters: Mapping[str, Any]) -> Transfer:
    return transfer_from_dict(GaussianLaw(), parameters)


GAUSSIAN = MechanismKind(
    name=_NAME,
    summary="The sample's average plus rounded Gaussian noise, for many questions; half-width and "
    "noise are fixed for all of them when the ledger is opened.",
    needs="Independent rows, and averages of all of them.",
    promises="Theorem T",
    theorem="gaussian_half_width",
    plan=_plan,
    build=_build,
    refuses_checks=REFUSES_CHECKS,
    options=LEAKAGE_OPTIONS,
    checker=lambda terms, parameters: limited_checks(_build(terms, parameters)),
)
