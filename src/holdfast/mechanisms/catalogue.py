"""Every mechanism a holdout can be opened with, by name. A mechanism adds its own entry here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.bounded_noise import BOUNDED_NOISE
from holdfast.mechanisms.claims import Claims
from holdfast.mechanisms.counted_plan import GUESS_AND_CHECK
from holdfast.mechanisms.described_only import DESCRIBED_ONLY
from holdfast.mechanisms.exact import EXACT
from holdfast.mechanisms.gaussian import GAUSSIAN
from holdfast.mechanisms.kind import MechanismKind
from holdfast.mechanisms.ladder import LADDER, PARAMETER_FREE_LADDER
from holdfast.mechanisms.mechanism import Checker, Mechanism
from holdfast.mechanisms.median_noise import MEDIAN_NOISE
from holdfast.mechanisms.one_look import ONE_LOOK
from holdfast.mechanisms.private import PRIVATE_GAUSSIAN, PRIVATE_LAPLACE
from holdfast.mechanisms.rounding import ROUNDING
from holdfast.mechanisms.sample_splitting import SAMPLE_SPLITTING
from holdfast.mechanisms.terms import Terms
from holdfast.mechanisms.thresholdout import THRESHOLDOUT
from holdfast.mechanisms.typical import TYPICAL_GAUSSIAN, TYPICAL_LAPLACE
from holdfast.theory.planning import Method, published_methods

__all__ = ["CATALOGUE", "built", "claiming", "kind_of", "methods"]

CATALOGUE: Mapping[str, MechanismKind] = {
    kind.name: kind
    for kind in (
        BOUNDED_NOISE,
        MEDIAN_NOISE,
        GAUSSIAN,
        ROUNDING,
        SAMPLE_SPLITTING,
        GUESS_AND_CHECK,
        ONE_LOOK,
        THRESHOLDOUT,
        LADDER,
        PARAMETER_FREE_LADDER,
        EXACT,
        TYPICAL_LAPLACE,
        TYPICAL_GAUSSIAN,
        PRIVATE_LAPLACE,
        PRIVATE_GAUSSIAN,
    )
}


def kind_of(name: object) -> MechanismKind:
    """The catalogue's entry of a name."""
    if name == DESCRIBED_ONLY.name:  # what is there where nothing is to be chosen
        return DESCRIBED_ONLY
    if isinstance(name, str) and name in CATALOGUE:
        return CATALOGUE[name]
    near = difflib.get_close_matches(str(name), CATALOGUE, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see: holdfast mechanisms"
    raise InvalidArgument(f"mechanism is {name!r}, which is not in the catalogue; {hint}")


def methods(*, describing: bool = False) -> tuple[Method, ...]:
    """How everything plans, and what papers promise; of checks see `check_method`.

    With `describing`, what promises is only what can stand beside described answers.
    """
    own = (
        kind.method
        for kind in CATALOGUE.values()
        if kind.method is not None
        and (not describing or kind.beside_described or kind.method.kind != "promise")
    )
    return (*own, *published_methods())


def built(recorded: Mapping[str, Any], terms: Terms) -> Mechanism:
    """The mechanism that a ledger was opened with, from what its opening says."""
    return kind_of(recorded["name"]).build(terms, recorded["parameters"])


def claiming(recorded: Mapping[str, Any], terms: Terms, claims: Claims) -> Checker | None:
    """What checks, or gates, beside the mechanism that a ledger was opened with; None: nothing."""
    kind = kind_of(recorded["name"])
    if kind.claiming is not None:
        return kind.claiming(terms, recorded["parameters"], claims)
    return claims if kind.refuses_checks is None else None
