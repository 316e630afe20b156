"""`ask`: the value on a public grid plus discrete uniform noise (Theorem L), or rounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.data.sampling import planned_sampling
from holdfast.errors import InvalidArgument
from holdfast.mechanisms.catalogue import MechanismKind, Planned, no_options, short_half_width
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.noise import NO_NOISE, UNIFORM
from holdfast.mechanisms.terms import WHOLE_RANGE, OnGrid, Terms
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.equal_width import (
    bounded_noise_fits,
    bounded_noise_half_width,
    rounding_fits,
    rounding_half_width,
)
from holdfast.theory.planning import KnownRows, check_method, on_account

BOUNDED = Leakage("bounded noise/1", UNIFORM)
_TOLERANCE = 0.05
_ASKS = on_account(
    "bounded noise", "bounded_noise_half_width", bounded_noise_half_width, bounded_noise_fits
)


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("bounded noise", options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, {})
    if wanted.questions is None:
        return Planned(_TOLERANCE, {})
    half_width = _least_half_width(wanted, wanted.questions)
    rounded = WHOLE_RANGE if half_width is None else short_half_width(half_width)
    if rounded >= WHOLE_RANGE:
        raise InvalidArgument(
            f"{wanted.rows:,} rows ({wanted.sampling}) cannot answer {wanted.questions:,} "
            "questions with any half-width below 0.5; see what they can: holdfast plan --rows "
            f"{wanted.rows} --questions 1{planned_sampling(wanted.sampling)}"
        )
    return Planned(rounded, {})


def _least_half_width(wanted: Terms, questions: int) -> float | None:
    """Half-width by the planner for so many questions, or checks if surprises are declared."""
    rows = KnownRows(wanted.sampling.profile, wanted.independent)
    method = _ASKS if wanted.surprises is None else check_method(wanted.surprises)
    return method.half_width(rows, wanted.rows, questions, wanted.log_beta)


BOUNDED_NOISE = MechanismKind(
    name="bounded noise",
    summary="The sample's value plus bounded noise, on one leakage account with all checks.",
    needs="Nothing but a concentration: any rows, any statistic.",
    promises="Theorem L",
    theorem="leakage_log_failure",
    method=_ASKS,
    colour="#0b6e4f",
    plan=_plan,
    build=lambda _terms, _parameters: BOUNDED,
    beside_described=True,
)


# The sample's value rounded to a public grid, and no noise (description length, truncation).
#
# With half-width t and radius alpha the grid has the pitch 2 D, D = t - alpha, so that the answer
# is within D of the sample's value surely. Where the sample's value is within alpha of the truth
# it lies in an interval of length 2 alpha, which meets at most ceil(alpha/D) + 1 cells: that is
# the charge on the leakage account (Theorem L with the uniform kernel on those cells), never more
# than all cells.
#
# The lecture's global count gives every node of the public tree the same level beta/N, N = (G^k -
# 1)/(G - 1): the same theorem with all G cells charged for every answer. A local count charges
# the few cells that the radius leaves, and is narrower; nothing else is used here.


ROUNDED = Leakage("rounding/1", NO_NOISE)
_ROUNDING_TOLERANCE = 0.05


def _plan_rounding(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("rounding", options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, {})
    if wanted.questions is None:
        return Planned(_ROUNDING_TOLERANCE, {})
    half_width = rounding_half_width(
        OnGrid(wanted.concentration),
        wanted.questions,
        wanted.log_beta,
    )
    if half_width >= WHOLE_RANGE:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions by rounding with "
            "any half-width below 0.5; declare fewer questions, or see: holdfast plan --rows "
            f"{wanted.rows} --questions {wanted.questions}{planned_sampling(wanted.sampling)}"
        )
    return Planned(round_up(half_width), {})


ROUNDING = MechanismKind(
    name="rounding",
    summary="The sample's value rounded to a public grid, without noise.",
    needs="Nothing but a concentration: any rows, any statistic.",
    promises="Theorem L, an answer charged the cells that its radius meets",
    theorem="rounding_log_charge",
    method=on_account("rounding", "rounding_half_width", rounding_half_width, rounding_fits),
    colour="#bc8f00",
    plan=_plan_rounding,
    build=lambda _terms, _parameters: ROUNDED,
    beside_described=True,
)
