"""Declarations that training rows propose: values, ranges, what is measured and what it is cut by.

A new ledger that has training rows writes them down where nobody declared anything else. They are
from rows that are not protected, so that every promise holds whatever they say.
"""

from __future__ import annotations

import html
from collections.abc import Collection
from dataclasses import dataclass

from holdfast.data.learning import (
    RANGE_LEARNT,
    learnt_numbers,
    learnt_ranges,
    learnt_values,
    require_ranges_fit,
)
from holdfast.data.sample import Sample
from holdfast.prior.grammar import Columns
from holdfast.prior.literals import Class
from holdfast.question.bounds import Range
from holdfast.question.columns import FROM_TRAINING, Schema
from holdfast.question.expression import ColumnType, ValueKind, identifier
from holdfast.wording import plural

__all__ = ["Learnt", "proposed_family", "schema_learnt_from"]

_MOST_OUTCOMES = 8
_MOST_SEGMENTS = 8


def schema_learnt_from(
    training: Sample, declared: Schema, public: Collection[str], *, family: bool
) -> Schema:
    """The schema with what training rows say of columns of which nothing was declared.

    Of `public` columns nothing is measured; with `family`, what is and what it is cut by are
    proposed, unless somebody said so. Refused where declared ranges leave out most of the rows.
    """
    require_ranges_fit(training, declared.bounds)
    text = [name for name, kind in declared.types.items() if kind is ColumnType.TEXT]
    numbers = [
        name
        for name, kind in declared.types.items()
        if kind.kind is ValueKind.NUMBER
        and not any(
            name in known for known in (public, declared.scales, declared.bounds, declared.values)
        )
    ]
    values = learnt_values(training, [name for name in text if name not in declared.values])
    few = learnt_numbers(training, numbers)
    ranges = learnt_ranges(training, [name for name in numbers if name not in few])
    ends = {name: Range(each[0], each[-1]) for name, each in few.items()}
    schema = declared.learn({**values, **few}, {**ranges, **ends})
    said = (schema.outcomes, schema.segments, schema.planned, schema.favourites)
    if not family or any(said):
        return schema
    return schema.with_family(*proposed_family(schema, public))


def proposed_family(known: Schema, public: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """What could be measured, and what it could be cut by; nothing, where either is missing."""
    places = {name: each for name, each in Columns(known).places.items() if name not in public}
    flags = [name for name, place in places.items() if place.of is Class.FLAG]
    numbers = [
        name
        for name, place in places.items()
        if place.of is Class.RANGE or (place.of is Class.LEVEL and place.values)
    ]
    outcomes = [*flags, *numbers][:_MOST_OUTCOMES]
    segments = [
        name
        for name, place in places.items()
        if place.of is Class.LEVEL or (place.of is Class.CODE and len(place.values) > 1)
    ][:_MOST_SEGMENTS]
    if not outcomes or not segments:
        return [], []
    return [identifier(name) for name in outcomes], segments


@dataclass(frozen=True, slots=True)
class Learnt:
    """Table of what training rows said of columns, and of what is measured and cut by."""

    schema: Schema
    rows: int | None = None  # that were put aside, where the ledger knows it

    @property
    def columns(self) -> dict[str, str]:
        """The columns of which something was learnt, and what, in words."""
        said = self.schema.said
        return {
            name: "; ".join(
                fact.removesuffix(FROM_TRAINING)
                for fact in self.schema.facts(name)
                if fact not in said.facts(name)
            )
            for name in self.schema.types
            if name in self.schema.learnt
        }

    def __str__(self) -> str:
        width = max(map(len, self.columns), default=0)
        lines = [f"{name:<{width}}  {facts}" for name, facts in self.columns.items()]
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(facts)}</td></tr>"
            for name, facts in self.columns.items()
        )
        notes = "<br>".join(map(html.escape, self.notes))
        return f"<table><tbody>{cells}</tbody></table><small>{notes}</small>"

    @property
    def notes(self) -> list[str]:
        """How much was learnt from which rows, and what that means."""
        schema = self.schema
        whence = "training rows" if self.rows is None else f"{plural(self.rows, 'row')} put aside"
        notes = [f"Learnt from {whence}." if self.columns else f"Nothing was learnt from {whence}."]
        if any(name in schema.bounds for name in self.columns):
            notes.append(
                f"Ranges: {RANGE_LEARNT}. Where a column is averaged, values outside count as the "
                "nearest end."
            )
        if schema.outcomes and schema.segments:
            notes.append(
                f"Measured: {', '.join(schema.outcomes)}; cut by: {', '.join(schema.segments)}. "
                "Questions about these have the narrowest intervals."
            )
        return notes
