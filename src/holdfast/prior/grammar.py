"""The price of a canonical tree: the cost of the one derivation the grammar has for it.

A rule looks at one node, and gives the cost of its own choices and what is left to derive below it.
The costs are added up with a list of what is pending, so that no tree is too deep.

Names cost nothing: a column costs what its class and its weight are worth beside all others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from holdfast.errors import NotDescribed
from holdfast.prior.atoms import (
    COMPARISONS,
    Atom,
    Unit,
    any_order_of_two,
    constant_millibits,
    direction,
    pairs_of_values,
    read_atom,
    said_millibits,
    units,
)
from holdfast.prior.literals import Class, Place, count_millibits, exactly
from holdfast.question.bounds import Range, range_of
from holdfast.question.columns import Schema
from holdfast.question.expression import (
    Column,
    ColumnType,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    identifier,
)
from holdfast.theory.length.levels import any_order_millibits, option_millibits
from holdfast.theory.length.words import CLASS_WEIGHTS, PRODUCTIONS, option, share

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


# The cost of a derivation.


_Rule: TypeAlias = "Callable[[Expression], _Expansion]"
_Pending: TypeAlias = tuple[_Rule, Expression]
_Expansion: TypeAlias = tuple[int, list[_Pending]]

_JUNCTION = {Op.AND: "both", Op.OR: "either"}
_PARTS = frozenset(Op(name) for name in PRODUCTIONS["part of a moment"])
_SIDES_CHANGED = {
    Op.BELOW: Op.ABOVE,
    Op.AT_MOST: Op.AT_LEAST,
    Op.ABOVE: Op.BELOW,
    Op.AT_LEAST: Op.AT_MOST,
}
_LIKELY_YEARS = Place(Class.LEVEL, Fraction(2000), Fraction(2039))
_OPERATION = {
    ValueKind.NUMBER: Place(Class.NUMBER),
    ValueKind.TEXT: Place(Class.TEXT),
    ValueKind.MOMENT: Place(Class.MOMENT),
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """Prices over the columns of one table, in thousandths of a bit."""

    columns: Columns

    # --- What parts are made of ----------------------------------------------------------------

    def value(self, tree: Expression) -> int:
        """A condition or a number that is averaged."""
        if tree.kind is ValueKind.BOOLEAN:
            return option("value", "condition") + self.condition(tree, "v")
        return option("value", "number") + self.number(tree, bounded=True)

    def condition(self, tree: Expression, context: str) -> int:
        """A condition at the top of a value (v) or of a where (w)."""
        return _total([(partial(self._condition, context, context), tree)])

    def number(self, tree: Expression, *, bounded: bool) -> int:
        """A number; `bounded` where the bounds declared for its columns apply."""
        return _total([(partial(self._number, bounded), tree)])

    def cut(self, tree: Expression) -> int:
        """A condition with an open constant (`atoms.holes`), in one direction."""
        cost = 0
        while isinstance(tree, Operation) and tree.op in _JUNCTION:
            junction, (tree, *rest) = tree.op, tree.args
            parts = units(junction, rest)
            cost += option("cut", _JUNCTION[junction]) + count_millibits(len(parts))
            cost += _settled(self._units("v", parts))
        match tree:
            case Operation(Op.ABOVE | Op.BELOW as sign, (subject, Constant(_, None))):
                cost += option("cut", "atom") + option("direction", direction(sign))
                return cost + _settled(self._subject("v", subject))
        raise _unknown(tree)

    def groups(self, first: Expression, second: Expression) -> int:
        """Two different groups of rows that are compared."""
        one, other = read_atom(first), read_atom(second)
        if one and other and one.subject == other.subject and isinstance(one.subject, Column):
            pairs = pairs_of_values(one, other, self.columns.places[one.subject.name])
            if pairs:
                named = self.columns.millibits("contrast", one.subject)
                return option("groups", "values") + named + option_millibits(1, pairs)
        both = self.condition(first, "w") + self.condition(second, "w")
        return option("groups", "other") + any_order_millibits(2) + both

    # --- Conditions ----------------------------------------------------------------------------

    def _condition(self, context: str, weights: str, tree: Expression) -> _Expansion:
        """`weights` are those of the columns of an atom; everything else has its context's."""
        row, inherited = f"condition {context}", "v" if context == "i" else context
        if isinstance(tree, Constant):
            if tree.value is None:
                raise _unknown(tree)  # a NULL is a result of CASE, and nothing else
            millibits = option("constant", "true" if tree.value else "false")
            return option(row, "constant") + millibits, []
        atom = read_atom(tree)
        if atom is not None:
            return self._atom(row, weights, atom)
        if isinstance(tree, Column):
            raise _unknown(tree)
        if tree.op in _JUNCTION:
            return self._junction(row, weights, inherited, tree)
        if tree.op in COMPARISONS:
            return self._comparison(row, inherited, tree)
        if tree.op in (Op.NOT, Op.IS_NULL):
            return option(row, "no") + option("no", tree.op), [(self._inside, tree.args[0])]
        return self._operation(row, False, tree)

    def _inside(self, tree: Expression) -> _Expansion:
        return self._condition("i", "v", tree)

    def _junction(self, row: str, weights: str, inherited: str, tree: Operation) -> _Expansion:
        parts = units(tree.op, tree.args)
        if len(parts) == 1 and isinstance(parts[0], Atom):
            return self._atom(row, weights, parts[0])
        cost, below = self._units(inherited, parts)
        own = option(row, _JUNCTION[tree.op]) + count_millibits(len(parts) - 1)
        return own + cost, below

    def _units(self, weights: str, parts: Sequence[Unit]) -> _Expansion:
        """Different conditions in any order; their number is coded by the caller."""
        cost, pending = any_order_millibits(len(parts)), []
        for unit in parts:
            if isinstance(unit, Atom):
                own, below = self._atom("condition i", weights, unit)
                cost += own
                pending += below
            else:
                pending.append((partial(self._condition, "i", weights), unit))
        return cost, pending

    def _comparison(self, row: str, weights: str, tree: Operation) -> _Expansion:
        op, (left, right) = tree.op, tree.args
        alike = "same" if left.kind in (ValueKind.BOOLEAN, ValueKind.TEXT) else "compared"
        if isinstance(left, Column) and isinstance(right, Column):
            if left != right and op in PRODUCTIONS[alike]:
                return option(row, "pair") + self._columns(weights, alike, op, left, right), []
        elif left.kind is ValueKind.BOOLEAN:
            own = option(row, "agree") + option("same", op) + any_order_of_two(left, right)
            return own, [(self._inside, left), (self._inside, right)]
        own = option(row, "pair") + option("pair", "other") + option_millibits(1, len(ValueKind))
        sides = [(self._expression(side.kind, bounded=False), side) for side in tree.args]
        return own + option("compared", op), sides

    def _columns(self, weights: str, alike: str, op: Op, left: Column, right: Column) -> int:
        """Two columns side by side, written either way round: the probabilities add up."""
        chance = self.columns.ordered_pair(weights, left, right) * share(alike, op)
        turned = _SIDES_CHANGED.get(op, op)
        chance += self.columns.ordered_pair(weights, right, left) * share(alike, turned)
        return option("pair", "columns") + option_millibits(chance.numerator, chance.denominator)

    # --- Atoms ---------------------------------------------------------------------------------

    def _atom(self, row: str, weights: str, atom: Atom) -> _Expansion:
        place = self._place(atom.subject)
        form = PRODUCTIONS[f"form {place.of}"]
        if atom.form not in form:
            raise _unknown(atom.subject)
        cost, below = self._subject(weights, atom.subject)
        millibits = option(f"form {place.of}", atom.form) + said_millibits(atom, place)
        return option(row, "atom") + cost + millibits, below

    def _subject(self, weights: str, subject: Expression) -> _Expansion:
        if isinstance(subject, Column):
            named = self.columns.millibits(weights, subject)
            return option("subject", "column") + named, []
        if isinstance(subject, Operation):
            name, rule = _OPERATIONS.get(subject.op, ("", None))
            if rule is not None and name in PRODUCTIONS["subject"]:
                cost, below = rule(self, False, subject)
                return option("subject", name) + cost, below
        inner = self._expression(subject.kind, bounded=False)
        return option("subject", "other") + option_millibits(1, len(_OPERATION)), [(inner, subject)]

    def _place(self, subject: Expression) -> Place:
        """What is known of a subject: a column's declarations, the range of a part of a date."""
        if isinstance(subject, Column):
            return self.columns.places[subject.name]
        if isinstance(subject, Operation) and subject.op in _PARTS:
            if subject.op is Op.YEAR:
                return _LIKELY_YEARS
            low, high = range_of(subject)
            return Place(Class.LEVEL, exactly(low), exactly(high))
        return _OPERATION[subject.kind]

    # --- Numbers, texts and moments ------------------------------------------------------------

    def _expression(self, kind: ValueKind, *, bounded: bool) -> _Rule:
        match kind:
            case ValueKind.BOOLEAN:
                return self._inside
            case ValueKind.NUMBER:
                return partial(self._number, bounded)
            case ValueKind.TEXT:
                return self._text
            case ValueKind.MOMENT:
                return self._moment

    def _number(self, bounded: bool, tree: Expression) -> _Expansion:
        if tree.kind is ValueKind.BOOLEAN:
            return option("number", "indicator"), [(self._inside, tree)]
        column = self._column(bounded, tree)
        if column is not None:
            return option("number", "column") + self.columns.millibits("n", column), []
        if isinstance(tree, Constant):
            return option("number", "constant") + constant_millibits(
                tree, _OPERATION[tree.kind]
            ), []
        return self._operation("number", bounded, tree)

    def _column(self, bounded: bool, tree: Expression) -> Column | None:
        """The column that a number is; where declared bounds apply, it is cut to them."""
        match tree:
            case Column() if not bounded or self.columns.bounds(tree) is None:
                return tree
            case Operation(Op.CLIP, (Column() as column, Constant(_, low), Constant(_, high))) if (
                bounded
            ):
                return column if self.columns.bounds(column) == (low, high) else None
        return None

    def _text(self, tree: Expression) -> _Expansion:
        if isinstance(tree, Column):
            return option("text", "column") + self.columns.millibits("v", tree, ValueKind.TEXT), []
        if isinstance(tree, Constant):
            return option("text", "constant") + constant_millibits(tree, _OPERATION[tree.kind]), []
        return self._operation("text", False, tree)

    def _moment(self, tree: Expression) -> _Expansion:
        if isinstance(tree, Column):
            return option("moment", "column") + self.columns.millibits(
                "v", tree, ValueKind.MOMENT
            ), []
        if isinstance(tree, Constant):
            return option("moment", "constant") + constant_millibits(
                tree, _OPERATION[tree.kind]
            ), []
        return self._operation("moment", False, tree)

    # --- Operations: what each leaves to derive --------------------------------------------------

    def _operation(self, row: str, bounded: bool, tree: Expression) -> _Expansion:
        name, rule = (
            _OPERATIONS.get(tree.op, ("", None)) if isinstance(tree, Operation) else ("", None)
        )
        if rule is None or name not in PRODUCTIONS[row] or not isinstance(tree, Operation):
            raise _unknown(tree)
        cost, below = rule(self, bounded, tree)
        return option(row, name) + cost, below

    def _single(self, bounded: bool, tree: Operation) -> _Expansion:
        (operand,) = tree.args
        return 0, [(self._expression(operand.kind, bounded=bounded), operand)]

    def _part(self, bounded: bool, tree: Operation) -> _Expansion:
        cost, below = self._single(bounded, tree)
        return option("part of a moment", tree.op) + cost, below

    def _arithmetic(self, bounded: bool, tree: Operation) -> _Expansion:
        if len(tree.args) != 2:
            raise _unknown(tree)
        cost, rule = option("arithmetic", tree.op), partial(self._number, bounded)
        if tree.op in (Op.ADD, Op.MULTIPLY):
            cost += any_order_of_two(*tree.args)
        return cost, [(rule, arg) for arg in tree.args]

    def _extreme(self, bounded: bool, tree: Operation) -> _Expansion:
        rule, k = partial(self._number, bounded), len(tree.args)
        return count_millibits(k - 1) + any_order_millibits(k), [(rule, arg) for arg in tree.args]

    def _clip(self, bounded: bool, tree: Operation) -> _Expansion:  # noqa: ARG002 - it names its own
        match tree.args:
            case (inner, Constant() as low, Constant() as high) if not isinstance(inner, Constant):
                place = self._place(inner)
                beside = constant_millibits(low, place) + constant_millibits(high, place)
                return beside, [(partial(self._number, False), inner)]
        raise _unknown(tree)

    def _function(self, bounded: bool, tree: Operation) -> _Expansion:  # noqa: ARG002 - it always is
        """ln, exp or sqrt: the derivation of a clip whose operand is a constant, which has none."""
        (operand,) = tree.args
        own = option("number", "constant") + option("function", tree.op)
        return own, [(partial(self._number, True), operand)]

    def _coalesce(self, bounded: bool, tree: Operation) -> _Expansion:
        rule = self._expression(tree.kind, bounded=bounded)
        return count_millibits(len(tree.args) - 1), [(rule, arg) for arg in tree.args]

    def _case(self, bounded: bool, tree: Operation) -> _Expansion:
        rule = self._expression(tree.kind, bounded=bounded)
        cost = count_millibits(len(tree.args) // 2)
        pending: list[_Pending] = [(self._inside, condition) for condition in tree.args[:-1:2]]
        for result in (*tree.args[1:-1:2], tree.args[-1]):
            null = isinstance(result, Constant) and result.value is None
            cost += option("result", "null" if null else "expression")
            pending += [] if null else [(rule, result)]
        return cost, pending


_OPERATIONS: dict[Op, tuple[str, Callable[[Grammar, bool, Operation], _Expansion]]] = {
    **{Op(sign): ("arithmetic", Grammar._arithmetic) for sign in PRODUCTIONS["arithmetic"]},
    **{Op(name): ("part", Grammar._part) for name in PRODUCTIONS["part of a moment"]},
    **{Op(name): ("clip", Grammar._function) for name in PRODUCTIONS["function"]},
    Op.ABS: ("absolute", Grammar._single),
    Op.NEGATE: ("negate", Grammar._single),
    Op.INDICATOR: ("indicator", Grammar._single),
    Op.LENGTH: ("length", Grammar._single),
    Op.LOWER: ("lower", Grammar._single),
    Op.UPPER: ("upper", Grammar._single),
    Op.CLIP: ("clip", Grammar._clip),
    Op.LEAST: ("least", Grammar._extreme),
    Op.GREATEST: ("greatest", Grammar._extreme),
    Op.COALESCE: ("coalesce", Grammar._coalesce),
    Op.CASE: ("case", Grammar._case),
}


def _total(pending: list[_Pending]) -> int:
    cost = 0
    while pending:
        rule, tree = pending.pop()
        own, below = rule(tree)
        cost += own
        pending += below
    return cost


def _settled(expansion: _Expansion) -> int:
    cost, pending = expansion
    return cost + _total(pending)


def _unknown(tree: Expression) -> NotDescribed:
    what = identifier(tree.name) if isinstance(tree, Column) else f"this {tree.kind[2:]}"
    return NotDescribed(
        f"There are no words for {what} where it stands; write the question in another way, or ask "
        "it without a description."
    )
