"""Every mechanism a holdout can be opened with, by name. A mechanism adds its own entry here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.mechanisms.account import Terms
from holdfast.mechanisms.bounded_noise import BOUNDED_NOISE
from holdfast.mechanisms.kind import MechanismKind
from holdfast.mechanisms.mechanism import Mechanism

__all__ = ["CATALOGUE", "built", "kind_of"]

CATALOGUE: Mapping[str, MechanismKind] = {kind.name: kind for kind in (BOUNDED_NOISE,)}


def kind_of(name: object) -> MechanismKind:
    """The catalogue's entry of a name."""
    if isinstance(name, str) and name in CATALOGUE:
        return CATALOGUE[name]
    near = difflib.get_close_matches(str(name), CATALOGUE, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see: holdfast mechanisms"
    raise InvalidArgument(f"mechanism is {name!r}, which is not in the catalogue; {hint}")


def built(recorded: Mapping[str, Any], terms: Terms) -> Mechanism:
    """The mechanism that a ledger was opened with, from what its opening says."""
    return kind_of(recorded["name"]).build(terms, recorded["parameters"])
