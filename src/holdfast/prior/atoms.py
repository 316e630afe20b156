"""Atoms of a condition: signs and constants beside a subject, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from holdfast.errors import NotDescribed
from holdfast.prior.literals import (
    Class,
    Place,
    count_millibits,
    moment_millibits,
    number_millibits,
    pattern_millibits,
    text_millibits,
)
from holdfast.question.expression import Column, Constant, Expression, Op, Operation, ValueKind
from holdfast.theory.length.levels import any_order_millibits
from holdfast.theory.length.words import PRODUCTIONS, option

# What atoms say of their subjects, read from canonical trees.
#
# BETWEEN and IN are comparisons in a canonical tree, and dissolve in a larger AND or OR. Here
# they are found again: of the comparisons of one subject in an AND, one from below and one from
# above are a `between`, several != are a `none`; in an OR they are an `outside` and an `among`.


MOST_HOLES = 20  # places of a free constant that are looked at; to leave some out is always safe

_ABOVE = (Op.ABOVE, Op.AT_LEAST)
_BELOW = (Op.BELOW, Op.AT_MOST)
COMPARISONS = frozenset({Op.EQUAL, Op.UNEQUAL, *_ABOVE, *_BELOW})
_ALIKE = {Op.EQUAL: "equal", Op.UNEQUAL: "unequal"}


@dataclass(frozen=True, slots=True)
class Atom:
    """A subject, a form, and the signs and constants of its comparisons."""

    subject: Expression
    form: str
    signs: tuple[Op, ...] = ()
    constants: tuple[Constant, ...] = ()


Unit = Atom | Expression


def read_atom(tree: Expression) -> Atom | None:
    """The atom that a condition is; None for any other condition."""
    if isinstance(tree, Column):
        return Atom(tree, "holds")
    if isinstance(tree, Operation) and tree.op in _READERS:
        return _READERS[tree.op](tree)
    return None


def _negated(tree: Operation) -> Atom | None:
    (operand,) = tree.args
    if isinstance(operand, Column):
        return Atom(operand, "fails")
    if isinstance(operand, Operation) and operand.op is Op.IS_NULL:
        missing = _missing(operand)
        return Atom(missing.subject, "known") if missing else None
    return None


def _missing(tree: Operation) -> Atom | None:
    (operand,) = tree.args
    plain = isinstance(operand, Column) or operand.kind is not ValueKind.BOOLEAN
    return Atom(operand, "null") if plain else None


def _fitting(tree: Operation) -> Atom | None:
    subject, pattern = tree.args
    return Atom(subject, "like", (), (pattern,)) if isinstance(pattern, Constant) else None


def _compared(tree: Operation) -> Atom | None:
    subject, constant = tree.args
    form = _ALIKE.get(tree.op, "order")
    if not isinstance(constant, Constant) or (form == "order" and subject.kind is ValueKind.TEXT):
        return None  # texts are rarely ordered: there is no form for it
    return Atom(subject, form, (tree.op,), (constant,))


_READERS: dict[Op, Callable[[Operation], Atom | None]] = {
    Op.NOT: _negated,
    Op.IS_NULL: _missing,
    Op.LIKE: _fitting,
    **dict.fromkeys(COMPARISONS, _compared),
}


def spelled_texts(trees: Iterable[Expression | None]) -> Iterator[tuple[str, str]]:
    """Every text that a column is compared with, with the column's name."""
    pending = list(trees)
    while pending:
        tree = pending.pop()
        if not isinstance(tree, Operation):
            continue
        pending.extend(tree.args)
        match tree:
            case Operation(Op.EQUAL | Op.UNEQUAL, (Column(name=name), Constant(_, str() as text))):
                yield name, text


def units(op: Op, operands: Sequence[Expression]) -> list[Unit]:
    """The operands of an AND or an OR, with the ranges and lists among them put together."""
    atoms: dict[Expression, list[Atom]] = {}
    out: list[Unit] = []
    for operand in operands:
        atom = read_atom(operand)
        if atom is not None and atom.signs:
            atoms.setdefault(atom.subject, []).append(atom)
        else:
            out.append(atom or operand)
    for of_one in atoms.values():
        out.extend(_lists(op, _ranges(op, of_one)))
    return out


def _ranges(op: Op, atoms: list[Atom]) -> list[Atom]:
    """One bound from each side is one atom, if it can be the range's low and high end."""
    starts, ends = (_ABOVE, _BELOW) if op is Op.AND else (_BELOW, _ABOVE)
    lows = [atom for atom in atoms if atom.signs[0] in starts]
    highs = [atom for atom in atoms if atom.signs[0] in ends]
    if len(lows) != 1 or len(highs) != 1:
        return atoms
    (low,), (high,) = lows, highs
    if not low.constants[0].value <= high.constants[0].value:  # type: ignore[operator]
        return atoms
    form = "between" if op is Op.AND else "outside"
    both = Atom(low.subject, form, low.signs + high.signs, low.constants + high.constants)
    return [both, *(atom for atom in atoms if atom not in (low, high))]


def _lists(op: Op, atoms: list[Atom]) -> list[Atom]:
    """Several (in)equalities are one atom."""
    single, several = ("unequal", "none") if op is Op.AND else ("equal", "among")
    members = [atom for atom in atoms if atom.form == single]
    kind = atoms[0].subject.kind
    if len(members) < 2 or (kind is ValueKind.MOMENT and several not in PRODUCTIONS["form moment"]):
        return atoms
    constants = tuple(constant for atom in members for constant in atom.constants)
    rest = [atom for atom in atoms if atom.form != single]
    return [Atom(members[0].subject, several, (members[0].signs[0],), constants), *rest]


def holes(tree: Expression) -> list[Expression]:
    """The tree with one ordering constant left open, for each place under ANDs and ORs.

    What leads to the hole stands first in its AND or OR. An open constant is NULL, which no
    comparison has otherwise; its sign says the direction only: > for >=, < for <=.
    """
    return list(islice(_holes(tree), MOST_HOLES))


def _holes(tree: Expression) -> Iterator[Expression]:
    pending: list[tuple[Expression, tuple[tuple[Op, tuple[Expression, ...]], ...]]] = [(tree, ())]
    while pending:
        node, around = pending.pop()
        if isinstance(node, Operation) and node.op in (Op.AND, Op.OR):
            for place in reversed(range(len(node.args))):
                rest = node.args[:place] + node.args[place + 1 :]
                pending.append((node.args[place], (*around, (node.op, rest))))
            continue
        atom = read_atom(node)
        if atom is not None and atom.form == "order":
            sign = Op.ABOVE if atom.signs[0] in _ABOVE else Op.BELOW
            hole: Expression = Operation(sign, (atom.subject, Constant(atom.subject.kind, None)))
            for op, rest in reversed(around):
                hole = Operation(op, (hole, *rest))
            yield hole


def direction(sign: Op) -> str:
    """Which way an open constant cuts."""
    return "up" if sign is Op.ABOVE else "down"


def said_millibits(atom: Atom, place: Place) -> int:
    """The signs and constants of an atom."""
    constants = atom.constants
    match atom.form:
        case "like":
            return pattern_millibits(str(constants[0].value))
        case "order":
            own = option("order", atom.signs[0])
        case "between" | "outside":
            low, high = atom.signs
            own = option(atom.form, f"{low} {high}") + any_order_of_two(*constants)
        case "among" | "none":
            own = count_millibits(len(constants) - 1) + any_order_millibits(len(constants))
        case _:
            own = 0
    return own + sum(constant_millibits(constant, place) for constant in constants)


def constant_millibits(constant: Constant, place: Place) -> int:
    """A constant beside a subject; refused for a NULL, which stands beside nothing."""
    match constant.value:
        case str(value):
            return text_millibits(value, place)
        case datetime() as value:
            return moment_millibits(value)
        case float(value):
            return number_millibits(value, place)
    raise NotDescribed(f"There are no words for {constant.kind} that is {constant.value}.")


def any_order_of_two(first: Expression, second: Expression) -> int:
    """The credit of two things that may be equal: then there is only one order."""
    return any_order_millibits(1 if first == second else 2)


def pairs_of_values(one: Atom, other: Atom, place: Place) -> int:
    """How many pairs of groups a column gives, if the two atoms are one of them; else 0."""
    if place.of is Class.FLAG:
        return int({one.form, other.form} == {"holds", "fails"})
    if one.form != "equal" or other.form != "equal":
        return 0
    named = [atom.constants[0].value for atom in (one, other)]
    if place.of is Class.CODE:
        n = len(place.values) if set(named) <= set(place.values) else 0
    elif place.of is Class.LEVEL:
        n = len(place.levels) if all(value in place.levels for value in named) else 0
    else:
        n = 0
    return n * (n - 1) // 2
