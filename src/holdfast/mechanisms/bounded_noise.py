"""`ask`: the sample's value on a public grid plus discrete uniform noise (Theorem L)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.kind import (
    MechanismKind,
    Planned,
    no_options,
    short_half_width,
)
from holdfast.mechanisms.laws.uniform import UNIFORM
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.theory.leakage.equal_width import bounded_noise_fits, bounded_noise_half_width
from holdfast.theory.planning import KnownRows, check_method, on_account

__all__ = ["BOUNDED", "BOUNDED_NOISE"]

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
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions with any "
            "half-width below 0.5; see what they can: holdfast plan --rows "
            f"{wanted.rows} --tolerance 0.1"
        )
    return Planned(rounded, {})


def _least_half_width(wanted: Terms, questions: int) -> float | None:
    """What the planner says of so many questions, or checks if surprises are declared."""
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
