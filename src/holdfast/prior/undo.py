"""Undo our own rewriting (clip, coalesce) before pricing: nobody pays for our syntax.

``error(p, l)`` is stored as the mean of ``not coalesce(p = l, false)``, a Brier score as a product
of absolute values, a paired difference as a difference of coalesced values. Each is recognised by
building it again from what it seems to be made of: only the very same tree is taken back.
"""

from __future__ import annotations

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression, Op, Operation, ValueKind
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.derived import as_counted
from holdfast.statistics.scores import squared_distance

__all__ = ["brier_of", "opposite_of", "paired_of", "probability_of"]


def opposite_of(tree: Expression) -> Expression | None:
    """The condition whose share is 1 minus that of this one, NULLs included."""
    match tree:
        case Operation(Op.NOT, (Operation(Op.COALESCE, (*some, build.FALSE)),)):
            inner = _row_value(build.coalesce(some))
            if inner is not None and isinstance(inner.source, Expression):
                condition = inner.source
                if build.negation(build.coalesce([condition, build.FALSE])) == tree:
                    return condition
    return None


def paired_of(tree: Expression) -> tuple[RowValue, RowValue] | None:
    """The two values whose difference this is, missing values counted."""
    match tree:
        case Operation(Op.SUBTRACT, (left, right)):
            first, second = _uncounted(left), _uncounted(right)
            if first is not None and second is not None:
                return first, second
    return None


def brier_of(tree: Expression) -> tuple[Expression, Expression] | None:
    """The score and the label of which this is the squared distance."""
    match tree:
        case Operation(Op.MULTIPLY, (Operation(Op.ABS, (difference,)), _)):
            found = paired_of(difference)
            if found is None:
                return None
            share, outcome = found
            score, label = probability_of(as_counted(share)), outcome.source
            if score is None or not isinstance(label, Expression):
                return None
            if label.kind is ValueKind.BOOLEAN and squared_distance(*found).source == tree:
                return score, label
    return None


def probability_of(tree: Expression) -> Expression | None:
    """The score that was cut to [0, 1] and had its missing values counted."""
    share = _uncounted(tree)
    if share is None or not isinstance(share.source, Expression):
        return None
    score = share.source
    match score:
        case Operation(Op.CLIP, (inner, _, _)) if _cut(inner) == share:
            return inner
    return score if _cut(score) == share else None


def _cut(score: Expression) -> RowValue | None:
    return _row_value(build.clip(score, 0.0, 1.0))


def _uncounted(tree: Expression) -> RowValue | None:
    """The value of a row that counts like this."""
    match tree:
        case Operation(Op.COALESCE, (*some, _)):
            for candidate in (build.coalesce(some), tree):
                value = _row_value(candidate)
                if value is not None and as_counted(value) == tree:
                    return value
    return None


def _row_value(tree: Expression) -> RowValue | None:
    try:
        return row_value(tree)
    except InvalidQuestion:  # no column, or no bounds: not a value that anybody asked for
        return None
