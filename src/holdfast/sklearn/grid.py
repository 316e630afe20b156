"""The configurations of a search: finitely many, declared before any of them is scored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument

__all__ = ["ParameterPlaces", "drawn", "parameter_places"]


@dataclass(frozen=True, slots=True)
class ParameterPlaces:
    """All combinations of the values that each mapping lists, one mapping after the other.

    They are numbered as scikit-learn's `ParameterGrid` has them: parameters by their names, the
    last one changing first.
    """

    mappings: tuple[Mapping[str, Sequence[Any]], ...]

    @property
    def size(self) -> int:
        """How many configurations there are."""
        return sum(map(_size, self.mappings))

    def params(self, place: int) -> dict[str, Any]:
        """The configuration with this number, from 0."""
        for mapping in self.mappings:
            if place < _size(mapping):
                return _combination(mapping, place)
            place -= _size(mapping)
        raise IndexError("there are not so many configurations")

    def place_of(self, params: Mapping[str, Any]) -> int:
        """The number of a configuration; refused if it was not declared."""
        before = 0
        for mapping in self.mappings:
            place = _place_in(mapping, params)
            if place is not None:
                return before + place
            before += _size(mapping)
        raise InvalidArgument(
            f"params is {dict(params)!r}, which is none of the {self.size:,} configurations that "
            "were declared; take one of them, or declare another space."
        )


def _size(mapping: Mapping[str, Sequence[Any]]) -> int:
    return math.prod(map(len, mapping.values()))


def _combination(mapping: Mapping[str, Sequence[Any]], place: int) -> dict[str, Any]:
    found = {}
    for name in sorted(mapping, reverse=True):
        place, own = divmod(place, len(mapping[name]))
        found[name] = mapping[name][own]
    return {name: found[name] for name in sorted(found)}


def _place_in(mapping: Mapping[str, Sequence[Any]], params: Mapping[str, Any]) -> int | None:
    if mapping.keys() != params.keys():
        return None
    place = 0
    for name in sorted(mapping):
        try:
            place = place * len(mapping[name]) + mapping[name].index(params[name])
        except ValueError:
            return None
    return place


def parameter_places(space: Any, points: int) -> ParameterPlaces:
    """All combinations of what is listed; of a distribution, its quantiles at `points` places.

    `space` is a mapping from parameters to lists and distributions of SciPy, or several of them.
    """
    several = [space] if isinstance(space, Mapping) else space
    if not isinstance(several, Sequence) or not all(isinstance(each, Mapping) for each in several):
        raise InvalidArgument(
            f"space is {space!r}; give a mapping from parameters to lists of their values, or a "
            "list of such mappings."
        )
    found = ParameterPlaces(
        tuple({name: _listed(name, each[name], points) for name in each} for each in several)
    )
    if not found.size:
        raise InvalidArgument("space has no configuration; give values for each parameter.")
    return found


def _listed(name: str, values: Any, points: int) -> Sequence[Any]:
    """The values of a parameter; plain numbers, so that equal spaces are the same."""
    if hasattr(values, "ppf"):
        return _quantiles(name, values, points)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidArgument(
            f"{name} is {values!r} in the space; it must list its values, or be a distribution."
        )
    if isinstance(values, range):
        return values
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _quantiles(name: str, distribution: Any, points: int) -> Sequence[Any]:
    import numpy as np

    count = require.positive_integer("points", points)
    found = np.asarray(distribution.ppf((np.arange(count) + 0.5) / count))
    if not np.isfinite(found).all():
        raise InvalidArgument(f"{name} has quantiles that are no numbers; list its values.")
    whole = hasattr(distribution, "pmf")
    return [int(each) if whole else float(each) for each in np.unique(found)]


def drawn(size: int, n_iter: int | None, random_state: Any) -> list[int]:
    """Which of `size` configurations are tried, by their numbers: all, or some at random."""
    from sklearn.utils.random import (  # type: ignore[import-untyped]
        sample_without_replacement,
    )

    if n_iter is None:
        return list(range(size))
    count = min(size, require.positive_integer("n_iter", n_iter))
    picked = sample_without_replacement(size, count, random_state=random_state)
    return [int(each) for each in picked]
