"""Declared families: what is measured, by what it is cut, and what was planned, as cheap parts.

Outcomes, segments and planned patterns are declared as texts, before the rows are looked at. Here
each part of a question is recognised as one of their instances (`theory.length.families`), by its
canonical trees. An instance is one part: an average is never also its cut, an effect never also its
two means. Parts that several instances describe, such as a flag against its opposite, have the sum
of their weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from holdfast.errors import InvalidArgument, InvalidQuestion, NotDescribed
from holdfast.prior.grammar import Columns
from holdfast.prior.literals import Class
from holdfast.question import build
from holdfast.question.columns import no_column
from holdfast.question.expression import Column, Expression, Op, Operation, column_names
from holdfast.question.parse import read_call
from holdfast.statistics.averages import arms_of
from holdfast.statistics.bind import bind, named_call, parts_of
from holdfast.statistics.entry import Call, Part, Table
from holdfast.theory.length.families import (
    AverageInstance,
    Condition,
    Family,
    HalfLineInstance,
    Instance,
    PairInstance,
    Pattern,
    PlannedInstance,
    RestInstance,
    Segment,
    plan_millibits,
)


@dataclass(frozen=True, slots=True)
class DeclaredFamily:
    """The family that a schema declares, with what its numbers stand for.

    `outcomes` are the trees that are averaged, `segments` the columns that each cuts by; `places`
    tells the segment and the value of a condition, `half_lines` those of a condition from a value
    on.
    """

    family: Family
    outcomes: Mapping[Expression, int]
    segments: tuple[frozenset[str], ...]
    places: Mapping[Expression, Condition]
    half_lines: Mapping[Expression, Condition]
    patterns: tuple[_Pattern, ...]

    @classmethod
    def of(cls, columns: Columns, table: Table) -> DeclaredFamily | None:
        """The family of a schema; None if it declares none."""
        schema = columns.schema
        if not (schema.outcomes or schema.planned):
            if schema.segments:
                raise InvalidArgument(
                    f"segments are {', '.join(schema.segments)}, and no outcome is declared; say "
                    "what is measured by them: outcomes=[...]."
                )
            return None
        outcomes = _outcome_trees(schema.outcomes, table)
        cuts = [_Cut.by(text, columns, table) for text in schema.segments]
        patterns = tuple(_Pattern.of(text, columns, table) for text in schema.planned)
        family = Family(
            tuple(pattern.counted for pattern in patterns),
            len(outcomes),
            tuple(Segment(len(cut.conditions), bool(cut.half_lines)) for cut in cuts),
        )
        places = {
            condition: (segment, value)
            for segment, cut in enumerate(cuts)
            for value, condition in enumerate(cut.conditions)
        }
        half_lines = {
            condition: (segment, value)
            for segment, cut in enumerate(cuts)
            for value, condition in enumerate(cut.half_lines, start=1)
        }
        named = tuple(cut.columns for cut in cuts)
        return cls(family, outcomes, named, places, half_lines, patterns)

    @property
    def unplanned_millibits(self) -> int:
        """What every other description costs more."""
        return self.family.unplanned_millibits

    def millibits(self, part: Part) -> int | None:
        """The price of a part as an instance of the family; None if it is none."""
        instances = set(self.instances(part))
        return plan_millibits(map(self.family.fraction, instances)) if instances else None

    def instances(self, part: Part) -> Iterator[Instance]:
        """The instances that are this very part."""
        for number, pattern in enumerate(self.patterns):
            yield from pattern.instances(number, part)
        outcome = self.outcomes.get(part.trees[0])
        if outcome is None:
            return
        conditions = self._conditions(part)
        if conditions is None:
            return
        match part.kind, part.trees:
            case "mean", _ if len(conditions) <= 2:
                yield AverageInstance(outcome, conditions)
            case "contrast", (_, first, second) if len(conditions) <= 1:
                where = conditions[0] if conditions else None
                yield from self._contrasts(outcome, first, second, where)

    def _conditions(self, part: Part) -> tuple[Condition, ...] | None:
        """The conditions of a `where` as values of different segments; None if they are not."""
        rest, conditions = list(_conjuncts(part.where)), list[Condition]()
        while rest:
            # Between two cuts is a condition of two conjuncts, which no other one has.
            within = (build.conjunction([rest[0], each]) for each in rest)
            whole = next((each for each in (rest[0], *within) if each in self.places), None)
            if whole is None:
                return None
            conditions.append(self.places[whole])
            rest = [each for each in rest if each not in _conjuncts(whole)]
        if len({segment for segment, _ in conditions}) < len(conditions):
            return None
        measured = column_names(part.trees[0])
        apart = all(self.segments[each].isdisjoint(measured) for each, _ in conditions)
        return tuple(sorted(conditions)) if apart else None

    def _contrasts(
        self, outcome: int, first: Expression, second: Expression, where: Condition | None
    ) -> Iterator[Instance]:
        one, other = self.places.get(first), self.places.get(second)
        for condition, opposite in ((first, second), (second, first)):
            if build.negation(condition) != opposite:
                continue
            for kind, known in ((RestInstance, self.places), (HalfLineInstance, self.half_lines)):
                place = known.get(condition)
                if place is not None and self._is_apart(outcome, place[0], where):
                    yield kind(outcome, *place, where)
        if one is None or other is None or one[0] != other[0] or one == other:
            return
        if self._is_apart(outcome, one[0], where):
            low, high = sorted((one[1], other[1]))
            yield PairInstance(outcome, one[0], low, high, where)

    def _is_apart(self, outcome: int, segment: int, where: Condition | None) -> bool:
        """Whether a segment is neither what is measured nor the further condition."""
        tree = next(tree for tree, place in self.outcomes.items() if place == outcome)
        beside = where is None or where[0] != segment
        return beside and self.segments[segment].isdisjoint(column_names(tree))


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A planned question: the parts it has without further conditions, and its factors."""

    parts: tuple[Part, ...]
    factors: tuple[str, ...]
    places: Mapping[Expression, Condition]
    counted: Pattern

    @classmethod
    def of(cls, text: str, columns: Columns, table: Table) -> _Pattern:
        """The pattern that a text declares: a statistic, and after `by` its factors."""
        parts = tuple(_planned_parts(text, table))
        named = [columns.schema.column(name).name for name in read_call(text).by]
        measured = {name for part in parts for name in part.columns}
        for name in named:
            if name in measured:
                raise InvalidQuestion(
                    f"The planned question {text[:60]!r} is cut by {name!r}, which it is about; "
                    "leave it out after by."
                )
        if len(set(named)) < len(named):
            raise InvalidQuestion(f"The planned question {text[:60]!r} names a factor twice.")
        conditions = [segment_conditions(name, columns) for name in named]
        places = {
            condition: (factor, value)
            for factor, of in enumerate(conditions)
            for value, condition in enumerate(of)
        }
        pattern = Pattern(tuple(map(len, conditions)), len(parts))
        return cls(parts, tuple(named), places, pattern)

    def instances(self, number: int, part: Part) -> Iterator[Instance]:
        for contrast, own in enumerate(self.parts):
            if replace(part, where=None) != replace(own, where=None):
                continue
            base = _conjuncts(own.where)
            further = [each for each in _conjuncts(part.where) if each not in base]
            places = [self.places.get(each) for each in further]
            existing = tuple(sorted(each for each in places if each is not None))
            apart = len({factor for factor, _ in existing}) == len(places)
            whole = set(base) <= set(_conjuncts(part.where))
            if apart and whole and len(existing) == len(places) <= self.counted.tiers:
                yield PlannedInstance(number, existing, contrast)


def _conjuncts(where: Expression | None) -> tuple[Expression, ...]:
    """The conditions that must all hold."""
    if where is None:
        return ()
    if isinstance(where, Operation) and where.op is Op.AND:
        return where.args
    return (where,)


@dataclass(frozen=True, slots=True)
class _Cut:
    """What a segment cuts by: the condition of each value, and from each value but the first on.

    Values without an order have no `half_lines`.
    """

    conditions: tuple[Expression, ...]
    half_lines: tuple[Expression, ...]
    columns: frozenset[str]

    @classmethod
    def by(cls, text: str, columns: Columns, table: Table) -> _Cut:
        """The cut of a column by its values, of a number at some, or of rows by a condition."""
        schema, at = columns.schema, _AT.fullmatch(text)
        if text in schema.types or _NAME.fullmatch(text):
            conditions = segment_conditions(text, columns)
            ordered = columns.places[text].of is Class.LEVEL
            return cls(conditions, _half_lines(conditions) if ordered else (), frozenset({text}))
        try:
            if at is not None:
                number = build.as_number(table.expression(at[1]), "a segment")
                _require_columns(number)
                return cls._between(number, [float(each) for each in at[2].split(",")], text)
            holds = table.condition(text)
            _require_columns(holds)
        except InvalidQuestion as error:
            raise InvalidArgument(
                f"The segment {text[:60]!r} is no column, no condition, and no number with cuts "
                f"such as 'hour at 6, 12, 18': {error}"
            ) from None
        return cls((build.negation(holds), holds), (), frozenset(column_names(holds)))

    @classmethod
    def _between(cls, number: Expression, cuts: Sequence[float], text: str) -> _Cut:
        if not math.isfinite(cuts[-1]) or any(low >= high for low, high in pairwise(cuts)):
            raise InvalidArgument(
                f"The cuts of the segment {text[:60]!r} are no numbers that ascend; write each "
                "once, the least first."
            )
        ends = [build.constant(cut) for cut in cuts]
        below, above = (
            [build.comparison(op, number, end) for end in ends] for op in (Op.BELOW, Op.AT_LEAST)
        )
        inner = (build.conjunction(pair) for pair in zip(above, below[1:], strict=False))
        conditions = (below[0], *inner, above[-1])
        return cls(conditions, tuple(above), frozenset(column_names(number)))


_NAME = re.compile(r"\w+")
_CUT = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_AT = re.compile(rf"(.+?)\s+at\s+({_CUT}(?:\s*,\s*{_CUT})*)")


def _require_columns(tree: Expression) -> None:
    if not column_names(tree):
        raise InvalidQuestion("it uses no column.")


def _half_lines(conditions: Sequence[Expression]) -> tuple[Expression, ...]:
    """From each level but the first on."""
    levels = (each.args for each in conditions[1:] if isinstance(each, Operation))
    return tuple(build.comparison(Op.AT_LEAST, *each) for each in levels)


def segment_conditions(name: str, columns: Columns) -> tuple[Expression, ...]:
    """The condition of each declared value of a column that one cuts by."""
    schema = columns.schema
    if name not in schema.types:
        raise InvalidArgument(f"segments or by names {no_column(name, schema.types)}")
    column, place = schema.column(name, quoted=True), columns.places.get(name)
    match None if place is None else place.of:
        case Class.FLAG:
            return build.negation(column), column
        case Class.CODE if place is not None:
            return tuple(_equal(column, text) for text in place.values)
        case Class.LEVEL if place is not None:
            return tuple(_equal(column, float(level)) for level in place.levels)
    raise InvalidArgument(
        f"{name!r} is a segment, and its values are not declared; declare them, as in "
        f"schema={{{name!r}: {{'values': ['a', 'b']}}}} for text or [0.5, 1] for numbers, the "
        f"range of whole numbers (at most 40), or cuts of a number, as in '{name} at 6, 12, 18'."
    )


def _equal(column: Column, value: float | str) -> Expression:
    return build.comparison(Op.EQUAL, column, build.constant(value))


def _outcome_trees(outcomes: Sequence[str], table: Table) -> dict[Expression, int]:
    """The tree that each outcome is the mean of, in the order they were declared."""
    trees: dict[Expression, int] = {}
    for text in outcomes:
        part = _main_part(Call("avg", (text,)), table, f"The outcome {text[:60]!r}")
        if part.kind != "mean" or part.where is not None:
            raise InvalidArgument(
                f"The outcome {text[:60]!r} is no value of a row; write what is averaged, as in "
                "'delay > 15'."
            )
        trees.setdefault(part.trees[0], len(trees))
    return trees


def _planned_parts(text: str, table: Table) -> Iterator[Part]:
    """The part of a planned question; of an effect, of each arm against the control."""
    spoken = read_call(text)
    call = named_call(replace(spoken, by=()))
    what = f"The planned question {text[:60]!r}"
    if call.name != "effect":
        yield _main_part(call, table, what)
        return
    value, arm = call.arguments
    for sides in arms_of(arm, table):
        means = tuple(Call("avg", (value,), side) for side in sides)
        yield _main_part(Call("difference", means, call.where), table, what)


def _main_part(call: Call, table: Table, what: str) -> Part:
    """The part that answers a question as it is written."""
    try:
        main, *_ = parts_of(bind(call, table))
    except (InvalidQuestion, NotDescribed) as error:
        raise InvalidArgument(f"{what} has no description: {error}") from None
    return main.part
