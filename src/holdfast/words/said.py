"""What an atom says of its subject: signs and constants, and what they cost."""

from __future__ import annotations

import math
from datetime import datetime

from holdfast.errors import NotDescribed
from holdfast.question.expression import Constant, Expression
from holdfast.theory.length.bits import any_order_millibits
from holdfast.theory.length.words import option
from holdfast.words.atoms import Atom
from holdfast.words.constants import (
    Class,
    Place,
    count_millibits,
    moment_millibits,
    number_millibits,
    pattern_millibits,
    text_millibits,
)

__all__ = ["any_order_of_two", "constant_millibits", "pairs_of_values", "said_millibits"]


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
        levels = range(math.ceil(place.low), math.floor(place.high) + 1)
        n = len(levels) if all(value in levels for value in named) else 0
    else:
        n = 0
    return n * (n - 1) // 2
