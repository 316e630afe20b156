"""The half-width that a new ledger promises: planned in the units that were declared.

A mechanism plans for means of values in a range. Where columns have a scale instead, what is left
is counted for their means, and the least half-width is taken at which all declared questions are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from holdfast import require
from holdfast.data.sampling import Declared
from holdfast.errors import NothingLeft
from holdfast.holdout.budget import (
    MEAN,
    QuestionKind,
    is_scaled,
    part_stages,
    scaled_kinds,
)
from holdfast.mechanisms.catalogue import MechanismKind, Planned, short_half_width
from holdfast.mechanisms.leakage import Leakage
from holdfast.mechanisms.mechanism import Mechanism
from holdfast.mechanisms.terms import WHOLE_RANGE, Account, Terms
from holdfast.question.columns import Schema
from holdfast.theory.base.safeside import smallest_true
from holdfast.wording import plural

_PRECISION = 1e-6
_FINEST = 2.0**-40  # of a unit: no radius is below it


def planned_for(
    kind: MechanismKind, wanted: Terms, options: Mapping[str, Any], schema: Schema
) -> Planned:
    """What a mechanism decides for a new ledger; said, if the declared half-width is beyond it."""
    only_scaled = is_scaled(schema)
    if wanted.tolerance is not None and not only_scaled:
        require.tolerance(wanted.tolerance)
    scaled = scaled_kinds(schema, wanted)
    if wanted.tolerance is None and wanted.surprises is None and scaled:
        planned = _for_scales(kind, wanted, options, scaled, only_scaled=only_scaled)
        if planned is not None:
            return planned
    planned = kind.plan(wanted, options)
    if wanted.tolerance is not None:
        _warn_of_none(kind, planned, wanted, scaled if only_scaled else [MEAN, *scaled])
    return planned


def _for_scales(
    kind: MechanismKind,
    wanted: Terms,
    options: Mapping[str, Any],
    scaled: list[QuestionKind],
    *,
    only_scaled: bool,
) -> Planned | None:
    """The plan by which all declared questions about such columns are answered; None: none has."""
    if wanted.questions is None or not _takes_any_concentration(kind):
        return None
    any_width = replace(wanted, tolerance=WHOLE_RANGE) if only_scaled else wanted
    if only_scaled and "theorem" in options:  # chooses its noise for the tail that was declared
        tail = part_stages(scaled[0], wanted)[0][0].per_unit
        any_width = replace(any_width, sampling=Declared(tail))
    planned = kind.plan(any_width, options)
    mechanism = kind.build(planned.terms(wanted), planned.parameters)
    if not isinstance(mechanism, Leakage) or planned.tolerance is None:
        return None
    widest = _widest(scaled, wanted)
    least = _FINEST if only_scaled else planned.tolerance
    fits = partial(_fits, mechanism, planned.terms(wanted), scaled, wanted.questions)
    if fits(least):
        return planned
    if not fits(widest):
        return None
    return planned._replace(tolerance=_least_width(fits, least, widest))


def _widest(kinds: list[QuestionKind], terms: Terms) -> float:
    """Half of the range, or of the grid, of the kind of which that is the fewest units."""
    stages = [stage for kind in kinds for stage in part_stages(kind, terms)]
    return min(WHOLE_RANGE / part.unit for stage in stages for part in stage)


def _takes_any_concentration(kind: MechanismKind) -> bool:
    """Whether it answers one question after another at whatever half-width is declared."""
    method = kind.method
    if method is None or kind.once or kind.claiming is not None:
        return False
    return method.kind == "promise" and not method.independent_only


def _least_width(fits: Callable[[float], bool], least: float, widest: float) -> float:
    """The least half-width that fits, rounded up to few digits; the widest does."""
    low, high = least, min(widest, 2 * least)
    while not fits(high):
        low, high = high, min(widest, 2 * high)
    return min(widest, short_half_width(smallest_true(fits, low, high, relative=_PRECISION)))


def _fits(
    mechanism: Mechanism, terms: Terms, kinds: list[QuestionKind], questions: int, t: float
) -> bool:
    """Whether so many questions of each kind are answered at this half-width."""
    at_width = replace(terms, tolerance=t)
    return all(
        mechanism.questions_left(at_width, Account(), part_stages(kind, terms)) >= questions
        for kind in kinds
    )


def _warn_of_none(
    kind: MechanismKind, planned: Planned, wanted: Terms, kinds: list[QuestionKind]
) -> None:
    """Say so if not one question can be answered at the half-width that was declared for some."""
    if wanted.questions is None or planned.tolerance is None:
        return
    terms = planned.terms(wanted)
    mechanism = kind.build(terms, planned.parameters)
    if not isinstance(mechanism, Leakage) or _fits(mechanism, terms, kinds, 1, terms.half_width):
        return
    possible, widest = [], _widest(kinds, terms)
    for questions in dict.fromkeys((1, wanted.questions)):
        fits = partial(_fits, mechanism, terms, kinds, questions)
        if fits(widest):
            width = _least_width(fits, terms.half_width, widest)
            possible.append(f"{width:g} for {plural(questions, 'question')}")
    can = f"can have {' and '.join(possible)}" if possible else "are too few for any"
    warnings.warn(
        f"half-width {terms.half_width:g} was declared for {plural(wanted.questions, 'question')}, "
        f"and 0 can be answered at it: {wanted.rows:,} rows {can}. Leave tolerance out, or declare "
        "what is possible; holdfast plan says more.",
        NothingLeft,
        stacklevel=6,
    )
