"""Whether two groups surely share no row, by their conditions alone."""

from __future__ import annotations

from typing import Any

from holdfast.question import build
from holdfast.question.expression import Constant, Expression, Op, Operation

__all__ = ["are_disjoint"]

_ABOVE, _BELOW = (Op.ABOVE, Op.AT_LEAST), (Op.BELOW, Op.AT_MOST)


def are_disjoint(first: Expression, second: Expression) -> bool:
    """Whether no row can be in both; in doubt they are taken to overlap.

    One conjunct of each must exclude the other: two values of one subject, ranges that do not
    meet, or a condition and its opposite.
    """
    return any(_excludes(one, other) for one in _conjuncts(first) for other in _conjuncts(second))


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    if isinstance(condition, Operation) and condition.op is Op.AND:
        return condition.args
    return (condition,)


def _excludes(one: Expression, other: Expression) -> bool:
    if one == build.negation(other) or other == build.negation(one):
        return True
    match one, other:
        case Operation(op, (subject, Constant(kind, a))), Operation(
            against, (same, Constant(its_kind, b))
        ) if subject == same and kind is its_kind and a is not None and b is not None:
            return _cannot_both(op, a, against, b)
    return False


def _cannot_both(op: Op, a: Any, against: Op, b: Any) -> bool:
    """Whether no x has both x op a and x against b."""
    if op in _ABOVE and against in _BELOW:
        op, a, against, b = against, b, op, a
    if op in _BELOW and against in _ABOVE:
        both_closed = op is Op.AT_MOST and against is Op.AT_LEAST
        return bool(a < b if both_closed else a <= b)
    return op is against is Op.EQUAL and bool(a != b)
