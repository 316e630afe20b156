"""The columns of a table as the prior sees them: their classes, and how likely each is chosen.

Names cost nothing: a column costs what its class and its weight are worth beside all others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from holdfast.prior.literals import Class, Place, exactly
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.expression import Column, ColumnType, ValueKind
from holdfast.theory.length.levels import option_millibits
from holdfast.theory.length.words import CLASS_WEIGHTS

__all__ = ["Columns"]

_MOST_LEVELS = 40
_PLAIN = {
    ValueKind.BOOLEAN: Class.FLAG,
    ValueKind.NUMBER: Class.NUMBER,
    ValueKind.TEXT: Class.TEXT,
    ValueKind.MOMENT: Class.MOMENT,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """Every column that questions can use, with its place and its weight in each context."""

    schema: Schema
    places: Mapping[str, Place] = field(init=False, compare=False, repr=False)
    _weights: Mapping[str, Mapping[str, Fraction]] = field(init=False, compare=False, repr=False)
    _totals: Mapping[tuple[str, ValueKind | None], Fraction] = field(
        init=False, compare=False, repr=False
    )

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
        totals: dict[tuple[str, ValueKind | None], Fraction] = defaultdict(Fraction)
        for context, by_name in weights.items():
            for name, weight in by_name.items():
                totals[context, None] += weight
                totals[context, self.schema.types[name].kind] += weight
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "_weights", weights)
        object.__setattr__(self, "_totals", totals)

    def bounds(self, column: Column) -> Range | None:
        """The bounds declared for a column."""
        return self.schema.bounds.get(column.name)

    def millibits(self, context: str, column: Column, among: ValueKind | None = None) -> int:
        """What it costs to name a column, among all of its context or all of one kind.

        The contexts are v and w (the top of a value, of a where), n (numbers) and contrast.
        """
        chance = self._weights[context][column.name] / self._totals[context, among]
        return option_millibits(chance.numerator, chance.denominator)

    def ordered_pair(self, context: str, first: Column, second: Column) -> Fraction:
        """The probability of one column and then of another of its kind, among the others."""
        weights, totals = self._weights[context], self._totals
        one, other = weights[first.name], weights[second.name]
        return one / totals[context, None] * other / (totals[context, first.kind] - one)


def _place(schema: Schema, name: str, kind: ValueKind) -> Place:
    bounds, values = schema.bounds.get(name), schema.values.get(name, ())
    if values:
        return Place(Class.LEVEL if kind is ValueKind.NUMBER else Class.CODE, values=values)
    if bounds is not None:
        low, high = map(exactly, bounds)
        levels = math.floor(high) - math.ceil(low) + 1
        whole = schema.types[name] is ColumnType.INTEGER
        return Place(
            Class.LEVEL if whole and 1 <= levels <= _MOST_LEVELS else Class.RANGE, low, high
        )
    return Place(_PLAIN[kind])
