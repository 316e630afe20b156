"""Where the value of a row expression is known: missing values are left out of every statistic.

Three-valued logic decides: a comparison is unknown where one of its sides is, and AND and OR where
what is known does not settle them. Only columns that may be missing make a value unknown, and a
division by what may be zero; what infinities leave undefined (inf - inf) is no missing value.
"""

from __future__ import annotations

from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.expression import (
    Column,
    Constant,
    Expression,
    Op,
    Operation,
    bottom_up,
    subtrees,
)

__all__ = ["is_decided_by_values", "known", "may_be_missing"]

_LOGIC = (Op.AND, Op.OR)


@bottom_up
def may_be_missing(expression: Expression) -> bool:
    """Whether a row may have no value: by its columns, or by what it computes."""
    match expression:
        case Column(nullable=nullable):
            return nullable
        case Constant(value=value):
            return value is None
    op, args = expression.op, expression.args
    if op is Op.IS_NULL:
        return False
    if op is Op.COALESCE:
        return all(map(may_be_missing, args))
    if op is Op.CASE:
        return any(map(may_be_missing, (*args[1:-1:2], args[-1])))
    return _may_fail(expression) or any(map(may_be_missing, args))


def _may_fail(node: Operation) -> bool:
    """Whether it may have no value where all its operands have one."""
    if node.op is not Op.DIVIDE:
        return False
    divisor = range_of(node.args[1])
    return divisor.low <= 0 <= divisor.high


@bottom_up
def known(expression: Expression) -> Expression:
    """The condition that a row has a value; TRUE where every row has one."""
    if not may_be_missing(expression):
        return build.TRUE
    if isinstance(expression, Operation) and not _may_fail(expression):
        parts = [known(each) for each in expression.args]
        if expression.op in _LOGIC:
            if len(set(parts)) == 1:
                return parts[0]  # all are known in the same rows
        elif expression.op not in (Op.CASE, Op.COALESCE):
            return build.conjunction(parts)
    return build.negation(build.is_null(expression))


def is_decided_by_values(condition: Expression) -> bool:
    """Whether the rows where a condition is known are the same whatever its constants are.

    In ``x > 5 and late`` a row without `late` is settled by an x of at most 5, and not by others.
    """
    return not any(
        isinstance(each, Operation) and each.op is Op.IS_NULL and _is_logic(each.args[0])
        for each in subtrees(known(condition))
    )


def _is_logic(expression: Expression) -> bool:
    return isinstance(expression, Operation) and expression.op in _LOGIC
