"""`ask` with median noise (Theorem M): many averages of independent rows, bounded noise.

Noise is the median of 2a + 1 uniform whole numbers on {-M, ..., M - 1} grid units of the sum; the
symbol is twice the noisy sum plus 1, in half units, for the middle of the unit is what is reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from holdfast import require
from holdfast.mechanisms.catalogue import MechanismKind, Planned
from holdfast.mechanisms.noise import Grid, Noise
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
    level_of,
    limited,
    planned,
    scale_of,
    too_few_rows,
    transfer_from_dict,
    whole_numbers,
)
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.base.safeside import float_below, round_down, round_up
from holdfast.theory.leakage.release import RESOLUTION
from holdfast.theory.planning import GRID_ALLOWANCE, by_transfer
from holdfast.theory.transfer.epochs import epoch_log_beta, median_epoch_half_width
from holdfast.theory.transfer.median_width import (
    ORDERS,
    MedianNoiseDesign,
    declared_variance_half_width,
    median_noise_half_width,
    median_noise_log_charge,
    median_noise_questions,
    median_noise_release,
    median_noise_rows,
)

_NAME = "median noise"
_ALL_ORDERS = (2, 3, 4, 5, 6, 7)
_MOST_QUESTIONS = 10**9
_WIDER_EPOCHS = 5
_LEAST_VARIANCE, _MOST_VARIANCE = 1e-12, 0.25
_OPTIONS: Mapping[str, str] = {
    "order": "the noise is the median of 2 order + 1 draws, from 2 to 7; left out, the best one",
    "variance": "a bound on the variance of every value, of its squared range (Theorem V1)",
    **LEAKAGE_OPTIONS,
}


@dataclass(frozen=True, slots=True)
class Median:
    """Median of 2a + 1 uniform whole numbers: `order` is a, the scale M in units of two cells."""

    order: int
    name: str = "median"
    resolution: int = RESOLUTION
    parts: int = 2

    def draw(self, noise: Noise, scale: int) -> int:
        uniforms = sorted(islice(noise.uniforms(-scale, scale - 1), 2 * self.order + 1))
        return 2 * uniforms[self.order] + 1

    def reach(self, scale: int) -> int:
        return 2 * scale + 1  # twice the noise, and the unit to which the sum was rounded down

    def error(self, scale: int, log_beta: float) -> float:  # noqa: ARG002 - it is sure
        return self.reach(scale)

    def log_charge(self, radius: float, grid: Grid) -> float:
        units = int(grid.cells) // self.parts
        bound = round_down(grid.scale / units)
        return median_noise_log_charge(radius, units, 1, bound, self.order)


@dataclass(frozen=True, slots=True)
class TheoremM:
    """Theorem M: the median of 2 `order` + 1 uniform numbers, values of at most this variance."""

    order: int
    variance: float = _MOST_VARIANCE

    @property
    def name(self) -> str:
        return "Theorem M" if self.variance == _MOST_VARIANCE else "Theorem V1"

    @property
    def assumes(self) -> str | None:
        return None if self.variance == _MOST_VARIANCE else _assumed(self.variance)

    def half_width(self, rows: int, epochs: Sequence[Epoch]) -> float:
        last = epochs[-1]
        if any(epoch.scale != last.scale for epoch in epochs):
            return math.inf  # the theorem is about one noise for all answers
        answers, noise = sum(epoch.questions for epoch in epochs), float_below(last.noise(rows))
        width = median_epoch_half_width(
            rows, answers, last.questions, noise, self.order, last.log_beta, self.on_grid
        )
        release = median_noise_release(rows, GRID, noise)
        return round_up(width + release.extra_half_width + GRID_ERROR)

    @property
    def on_grid(self) -> float:
        """The variance with the rounding of values to their grid."""
        return min(_MOST_VARIANCE, round_up((math.sqrt(self.variance) + GRID_ERROR) ** 2))


def _assumed(variance: float) -> str:
    return (
        f"every value that is averaged has a variance of at most {variance:g} of its squared "
        "range, in every row"
    )


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    chosen = checked_options(_NAME, wanted, options, _OPTIONS)
    level, order, variance = level_of(wanted, chosen), chosen["order"], chosen["variance"]
    # Low levels, as beside a leakage account, want thinner tails than five or seven draws have.
    orders: tuple[int, ...] = ORDERS if level.beside is None else _ALL_ORDERS
    if order is not None:
        orders = (require.integer_between("order", order, _ALL_ORDERS[0], _ALL_ORDERS[-1]),)
    if variance is not None:
        variance = require.between("variance", variance, _LEAST_VARIANCE, _MOST_VARIANCE)
    bound = _MOST_VARIANCE if variance is None else variance
    if wanted.questions is None:
        theorem, epochs = _open_ended(wanted, level.log_beta, orders, bound)
    else:
        theorem, epochs = _declared(wanted.rows, wanted.questions, level.log_beta, orders, bound)
    parameters: dict[str, Any] = {"order": theorem.order, "variance": theorem.variance}
    return planned(wanted, level, epochs, parameters)._replace(assumes=theorem.assumes)


def _declared(
    rows: int, questions: int, log_beta: float, orders: tuple[int, ...], variance: float
) -> tuple[TheoremM, list[Epoch]]:
    """One epoch for the declared number of questions."""
    theorem, design = _design(rows, questions, log_beta, orders, variance)
    width = design.half_width + max(GRID_ALLOWANCE, whole_numbers(rows, 1.0))
    return theorem, [Epoch(questions, scale_of(design.D, rows), log_beta, width)]


def _open_ended(
    wanted: Terms, log_beta: float, orders: tuple[int, ...], variance: float
) -> tuple[TheoremM, list[Epoch]]:
    """Epochs that double, with the noise that answers most questions within the tolerance."""
    for within in DECLARED_EPOCHS:
        share = epoch_log_beta(log_beta, within - 1)
        most = _most_questions(wanted, share, orders, variance)
        if most is not None and (most[0] + 1) >> within >= LEAST_FIRST_EPOCH:
            break
    if most is None:
        raise too_few_rows(wanted)
    k, theorem, design = most
    first, scale, epochs = (k + 1) >> within, scale_of(design.D, wanted.rows), list[Epoch]()
    for e in range(within + _WIDER_EPOCHS):
        epoch = Epoch(first << e, scale, epoch_log_beta(log_beta, e), 0.0)
        width = theorem.half_width(wanted.rows, [*epochs, epoch])
        if width >= WHOLE_RANGE:
            break
        epochs.append(replace(epoch, half_width=width))
    return theorem, epochs


def _most_questions(
    wanted: Terms, log_beta: float, orders: tuple[int, ...], variance: float
) -> tuple[int, TheoremM, MedianNoiseDesign] | None:
    """About the most questions within the tolerance, with their noise; None if there is none."""
    tolerance = 0.999 * (wanted.tolerance or OPEN_TOLERANCE)
    best: tuple[int, TheoremM, MedianNoiseDesign] | None = None
    k = 64
    for _ in range(10):  # half-widths grow like the fourth root of the number of questions
        theorem, design = _design(wanted.rows, k, log_beta, orders, variance)
        ratio = tolerance / (design.half_width + whole_numbers(wanted.rows, 1.0))
        if ratio >= 1.0 and (best is None or k > best[0]):
            best = k, theorem, design
        if 1.0 <= ratio <= 1.01 or (k == 1 and ratio < 1.0):
            break
        orders = tuple(a for a in orders if abs(a - theorem.order) <= 1)
        k = min(_MOST_QUESTIONS, max(1, math.floor(k * (0.998 * ratio) ** 4)))
    return best


def _design(
    rows: int, questions: int, log_beta: float, orders: tuple[int, ...], variance: float
) -> tuple[TheoremM, MedianNoiseDesign]:
    if variance == _MOST_VARIANCE:
        design = median_noise_half_width(rows, questions, log_beta, orders)
    else:
        on_grid = TheoremM(orders[0], variance).on_grid
        design = declared_variance_half_width(rows, questions, on_grid, log_beta, orders)
    return TheoremM(design.a, variance), design


def _build(_terms: Terms, parameters: Mapping[str, Any]) -> Transfer:
    theorem = TheoremM(parameters["order"], parameters["variance"])
    return transfer_from_dict(_NAME, Median(theorem.order), theorem, parameters)


MEDIAN_NOISE = MechanismKind(
    name=_NAME,
    summary="The sample's average plus the median of five or seven bounded draws, for many "
    "questions; half-width and noise are fixed for all of them when the ledger is opened.",
    needs="Independent rows, and averages of all of them.",
    promises="Theorem M",
    theorem="median_noise_half_width",
    method=by_transfer(
        _NAME,
        "median_noise_half_width",
        lambda n, k, log_beta: median_noise_half_width(n, k, log_beta).half_width,
        median_noise_questions,
        median_noise_rows,
    ),
    colour="#1f77b4",
    plan=_plan,
    build=_build,
    refuses_checks=REFUSES_CHECKS,
    options=_OPTIONS,
    claiming=lambda terms, parameters, claims: limited(_build(terms, parameters), claims),
    fault=lambda terms, parameters, asked: _build(terms, parameters).fault(terms, asked),
    assumes=lambda parameters: TheoremM(parameters["order"], parameters["variance"]).assumes,
)
