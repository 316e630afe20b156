"""Where an expression is one of few numbers, as a condition made of the conditions it chooses by.

A question such as ``case when a then 1 else 0 end`` is 1 where ``a`` holds: an engine need not
compute a number for every row and compare it.
"""

from __future__ import annotations

from holdfast.question import build
from holdfast.question.expression import Constant, Expression, Op, Operation

__all__ = ["where_equal"]


def where_equal(expression: Expression, number: float) -> Expression:
    """A condition that is true in the rows where the expression is this number, and only there.

    Elsewhere it is false or NULL, which counts for the same.
    """
    match expression:
        case Constant(value=value):
            return build.constant(value == number)
        case Operation(Op.CASE, (condition, then, otherwise)):
            elsewhere = build.negation(build.coalesce([condition, build.FALSE]))
            return build.disjunction(
                [
                    build.conjunction([condition, where_equal(then, number)]),
                    build.conjunction([elsewhere, where_equal(otherwise, number)]),
                ]
            )
        case _:
            return build.comparison(Op.EQUAL, expression, build.constant(number))
