"""The columns of a table as the prior sees them: their classes, and how likely each is chosen.

Names cost nothing: a column costs what its class and its weight are worth beside all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.expression import Column, ColumnType, Kind
from holdfast.theory.length.bits import option_millibits
from holdfast.theory.length.words import CLASS_WEIGHTS
from holdfast.words.constants import Class, Place, exactly

__all__ = ["Columns"]

_MOST_LEVELS = 40
_PLAIN = {
    Kind.BOOLEAN: Class.FLAG,
    Kind.NUMBER: Class.NUMBER,
    Kind.TEXT: Class.TEXT,
    Kind.MOMENT: Class.MOMENT,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """Every column that questions can use, with its place and its weight in each context."""

    schema: Schema
    places: Mapping[str, Place] = field(init=False, compare=False, repr=False)
    _weights: Mapping[str, Mapping[str, Fraction]] = field(init=False, compare=False, repr=False)
    _costs: Mapping[tuple[str, str], int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        places = {
            name: _place(self.schema, name, type_.kind)
            for name, type_ in self.schema.types.items()
            if type_.kind is not None
        }
        weights = {
            context: {
                name: by_class[place.of] * Fraction(self.schema.weights.get(name, 1))
                for name, place in places.items()
                if place.of in by_class
            }
            for context, by_class in CLASS_WEIGHTS.items()
        }
        for kind in (Kind.TEXT, Kind.MOMENT):
            weights[kind] = _of_kind(self.schema, weights["v"], kind)
        totals = {context: sum(by_name.values()) for context, by_name in weights.items()}
        costs = {
            (context, name): _millibits(weight / totals[context])
            for context, by_name in weights.items()
            for name, weight in by_name.items()
        }
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "_weights", weights)
        object.__setattr__(self, "_costs", costs)

    def bounds(self, column: Column) -> Range | None:
        """The bounds declared for a column."""
        return self.schema.bounds.get(column.name)

    def millibits(self, context: str, column: Column) -> int:
        """What it costs to name a column; `context` is v, w, n, contrast, or a kind of value."""
        return self._costs[context, column.name]

    def ordered_pair(self, context: str, first: Column, second: Column) -> Fraction:
        """The probability of one column and then of another of its kind, among the others."""
        weights = self._weights[context]
        kin = _of_kind(self.schema, weights, first.kind)
        one = weights[first.name] / sum(weights.values())
        return one * weights[second.name] / (sum(kin.values()) - weights[first.name])


def _place(schema: Schema, name: str, kind: Kind) -> Place:
    bounds = schema.bounds.get(name)
    if bounds is not None:
        low, high = map(exactly, bounds)
        levels = math.floor(high) - math.ceil(low) + 1
        whole = schema.types[name] is ColumnType.INTEGER
        return Place(
            Class.LEVEL if whole and 1 <= levels <= _MOST_LEVELS else Class.RANGE, low, high
        )
    if name in schema.values:
        return Place(Class.CODE, values=schema.values[name])
    return Place(_PLAIN[kind])


def _of_kind(schema: Schema, weights: Mapping[str, Fraction], kind: Kind) -> dict[str, Fraction]:
    return {name: weight for name, weight in weights.items() if schema.types[name].kind is kind}


def _millibits(chance: Fraction) -> int:
    return option_millibits(chance.numerator, chance.denominator)
