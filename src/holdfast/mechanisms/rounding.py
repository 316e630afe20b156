"""The sample's value rounded to a public grid, and no noise (description length, truncation).

With half-width t and radius alpha the grid has the pitch 2 D, D = t - alpha, so that the answer is
within D of the sample's value surely. Where the sample's value is within alpha of the truth it lies
in an interval of length 2 alpha, which meets at most ceil(alpha/D) + 1 cells: that is the charge on
the leakage account (Theorem L with the uniform kernel on those cells), never more than all cells.

The lecture's global count gives every node of the public tree the same level beta/N,
N = (G^k - 1)/(G - 1): the same theorem with all G cells charged for every answer. A local count
charges the few cells that the radius leaves, and is narrower; nothing else is used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.kind import MechanismKind, Planned, no_options
from holdfast.mechanisms.laws.uniform import NO_NOISE
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.profile import OnGrid
from holdfast.mechanisms.terms import WHOLE_RANGE, Terms
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.equal_width import rounding_fits, rounding_half_width
from holdfast.theory.planning import on_account

__all__ = ["ROUNDED", "ROUNDING"]

ROUNDED = Leakage("rounding/1", NO_NOISE)
_TOLERANCE = 0.05


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    no_options("rounding", options)
    if wanted.tolerance is not None:
        return Planned(wanted.tolerance, {})
    if wanted.questions is None:
        return Planned(_TOLERANCE, {})
    half_width = rounding_half_width(
        OnGrid(wanted.concentration),
        wanted.questions,
        wanted.log_beta,
    )
    if half_width >= WHOLE_RANGE:
        raise InvalidArgument(
            f"{wanted.rows:,} rows cannot answer {wanted.questions:,} questions by rounding with "
            "any half-width below 0.5; declare fewer questions, or see: holdfast plan --rows "
            f"{wanted.rows} --questions {wanted.questions}"
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
    plan=_plan,
    build=lambda _terms, _parameters: ROUNDED,
    beside_described=True,
)
