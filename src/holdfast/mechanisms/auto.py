"""`mechanism="auto"`: bounded noise or median noise, whichever the planner says is narrower."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.mechanisms.bounded_noise import BOUNDED_NOISE
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.kind import MechanismKind, no_options
from holdfast.mechanisms.terms import Terms
from holdfast.theory.planning import KnownRows

__all__ = ["AUTO", "CONTENDERS", "Choice", "choose"]

AUTO = "auto"
CONTENDERS = (BOUNDED_NOISE.name, "median noise")


class Choice(NamedTuple):
    """A mechanism, and why it was chosen, in words; None where it was named."""

    kind: MechanismKind
    why: str | None


def choose(wanted: Terms, options: Mapping[str, Any]) -> Choice:
    """The mechanism for what was declared; a function of declarations alone."""
    no_options(AUTO, options)
    if wanted.describes:
        return Choice(
            BOUNDED_NOISE,
            "bounded noise: described answers leak what is not known beforehand, and median noise "
            "has to know; with described='off' it is looked at",
        )
    if wanted.questions is None:
        return Choice(
            BOUNDED_NOISE,
            "bounded noise: the number of questions is open, and median noise is at its best for "
            "a declared number (questions=)",
        )
    if not wanted.independent:
        return Choice(
            BOUNDED_NOISE,
            f"bounded noise: median noise needs independent rows, not {wanted.sampling}",
        )
    bounded, median = (_half_width(wanted, kind_of(name)) for name in CONTENDERS)
    here = f"for {wanted.questions:,} questions on {wanted.rows:,} independent rows"
    if median >= bounded:
        return Choice(
            BOUNDED_NOISE,
            f"bounded noise: half-width {_text(bounded)} {here}, where median noise would have "
            f"{_text(median)}",
        )
    if wanted.tolerance is not None and median > wanted.tolerance:
        return Choice(
            BOUNDED_NOISE,
            f"bounded noise: neither it ({_text(bounded)}) nor median noise ({_text(median)}) "
            f"has half-width {wanted.tolerance:g} {here}, and bounded noise can answer some of "
            "them, and check guesses",
        )
    return Choice(
        kind_of(CONTENDERS[1]),
        f"median noise: half-width {_text(median)} {here}, where bounded noise would have "
        f"{_text(bounded)}; it answers averages of all rows and checks no guesses, for which "
        "mechanism='bounded noise' is there",
    )


def _half_width(wanted: Terms, kind: MechanismKind) -> float:
    """The planner's half-width; infinite where it cannot."""
    if kind.method is None:
        return math.inf
    rows = KnownRows(wanted.sampling.profile)
    width = kind.method.half_width(rows, wanted.rows, wanted.questions or 1, wanted.log_beta)
    return math.inf if width is None else width


def _text(width: float) -> str:
    return "0.5 or more" if width == math.inf else f"{width:.4g}"
