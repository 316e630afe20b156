"""Undo our own rewriting (clip, coalesce) before pricing: nobody pays for our syntax.

``error(p, l)`` is stored as the mean of ``not coalesce(p = l, false)``, a Brier score as a product
of absolute values, a paired difference as a difference of two values. Each is recognised by
building it again from what it seems to be made of: only the very same tree is taken back.

Left out of a mean, rows without a value make ``p = l`` and ``p != l`` one event, turned over. So of
the two spellings one is free: where rows may be missing, the tree ``p = l`` of a part stands for an
accuracy, to which a missing prediction is a wrong one, and ``p != l`` for the share among the rows
where both are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Constant, Expression, Op, Operation, ValueKind, text_of
from holdfast.question.row import RowValue, may_be_missing, row_value
from holdfast.statistics.derived import as_counted
from holdfast.statistics.mean import expression_of


def part_condition(tree: Expression) -> tuple[Expression, bool]:
    """The tree of the part that a share of rows rests on, and whether it is turned over."""
    opposite = opposite_of(tree)
    if opposite is not None:
        return opposite, True
    match tree:
        case Operation(Op.COALESCE, (equal, build.FALSE)) if _is_agreement(equal):
            return equal, False
        case Operation(Op.EQUAL, sides) if _is_agreement(tree) and may_be_missing(tree):
            return build.comparison(Op.UNEQUAL, *sides), True
    return tree, False


def counted_value(tree: Expression) -> RowValue:
    """The value whose mean a part with this tree is about."""
    if _is_agreement(tree) and may_be_missing(tree):
        return row_value(build.coalesce([tree, build.FALSE]))
    return row_value(tree)


def _is_agreement(tree: Expression) -> bool:
    """Whether it says that two values of a row are equal."""
    match tree:
        case Operation(Op.EQUAL, (first, second)):
            return not isinstance(first, Constant) and not isinstance(second, Constant)
    return False


def opposite_of(tree: Expression) -> Expression | None:
    """The condition whose share is 1 minus that of this one, NULLs included."""
    match tree:
        case Operation(Op.NOT, (Operation(Op.COALESCE, (*some, build.FALSE)),)):
            inner = _row_value(build.coalesce(some))
            if inner is not None and isinstance(inner.source, Expression):
                condition = inner.source
                if may_be_missing(condition) and not _is_agreement(condition):
                    return None  # its mean leaves out rows that count here
                if build.negation(build.coalesce([condition, build.FALSE])) == tree:
                    return condition
    return None


def paired_of(tree: Expression) -> tuple[RowValue, RowValue] | None:
    """The two values whose difference this is."""
    match tree:
        case Operation(Op.SUBTRACT, (left, right)):
            first, second = _uncounted(left), _uncounted(right)
            if first is not None and second is not None:
                return first, second
    return None


def brier_of(tree: Expression) -> tuple[Expression, Expression] | None:
    """The score and the label of which this is the squared distance."""
    match tree:
        case Operation(Op.COALESCE, (Operation(Op.MULTIPLY, (Operation(Op.ABS, (gap,)), _)), _)):
            pass
        case _:
            return None
    match gap:
        case Operation(Op.SUBTRACT, (left, right)):
            share, outcome = _row_value(left), _row_value(right)
            score = probability_of(left)
            if score is None or share is None or outcome is None:
                return None
            label = outcome.source
            if not isinstance(label, Expression) or label.kind is not ValueKind.BOOLEAN:
                return None
            if squared_distance(share, outcome).source == tree:
                return score, label
    return None


def probability_of(tree: Expression) -> Expression | None:
    """The score that was cut to [0, 1]."""
    share = _row_value(tree)
    if share is None or not isinstance(share.source, Expression):
        return None
    match tree:
        case Operation(Op.CLIP, (inner, _, _)) if _cut(inner) == tree:
            return inner
    return share.source if _cut(share.source) == tree else None


def _cut(score: Expression) -> Expression | None:
    value = _row_value(build.clip(score, 0.0, 1.0))
    return None if value is None else score_number(value)


def _uncounted(tree: Expression) -> RowValue | None:
    """The value of a row that counts like this."""
    match tree:
        case Operation(Op.COALESCE, (*some, _)):
            for candidate in (build.coalesce(some), tree):
                value = _row_value(candidate)
                if value is not None and as_counted(value) == tree:
                    return value
        case _ if may_be_missing(tree):
            value = _row_value(tree)
            return value if value is not None and as_counted(value) == tree else None
    return None


def _row_value(tree: Expression) -> RowValue | None:
    try:
        return row_value(tree)
    except InvalidQuestion:  # no column, or no bounds: not a value that anybody asked for
        return None


def squared_distance(probability: RowValue, outcome: RowValue) -> RowValue:
    """Brier's score of a row: 1, the worst, where the probability or the label is missing."""
    share, label = score_number(probability), score_number(outcome)
    # A product of absolute values, so that its range is known not to be below 0.
    size = build.function(Op.ABS, build.arithmetic(Op.SUBTRACT, share, label))
    square = build.arithmetic(Op.MULTIPLY, size, size)
    return row_value(build.coalesce([square, build.constant(1.0)]))


@dataclass(frozen=True, slots=True)
class Loss:
    """The capped error of a row: of which values, in the order of their texts."""

    values: tuple[Expression, Expression]
    cap: float
    power: int

    @property
    def form(self) -> str:
        """What its mean is called."""
        return "mae" if self.power == 1 else "mse"


def capped_loss(first: Expression, second: Expression, cap: float, power: int) -> RowValue:
    """The difference of two values, or its square, capped; the cap where one is missing."""
    size = build.clip(distance_of(*sorted_of_loss(first, second)), 0.0, cap)
    loss = size if power == 1 else build.arithmetic(Op.MULTIPLY, size, size)
    return row_value(build.coalesce([loss, build.constant(cap**power)]))


def sorted_of_loss(first: Expression, second: Expression) -> tuple[Expression, Expression]:
    """The two numbers of a loss, in the order that its text has."""
    values = [build.as_number(each, "a loss") for each in (first, second)]
    one, other = sorted(values, key=lambda each: (isinstance(each, Constant), text_of(each)))
    return one, other


def distance_of(first: Expression, second: Expression) -> Expression:
    """The size of the difference of two numbers."""
    is_zero = second == build.constant(0.0)
    gap = first if is_zero else build.arithmetic(Op.SUBTRACT, first, second)
    return build.function(Op.ABS, gap)


def loss_of(tree: Expression) -> Loss | None:
    """The loss that this is, if it is one."""
    match tree:
        case Operation(Op.COALESCE, (Operation(Op.MULTIPLY, (size, _)), Constant())):
            power = 2
        case Operation(Op.COALESCE, (size, Constant())):
            power = 1
        case _:
            return None
    match size:
        case Operation(Op.CLIP, (Operation(Op.ABS, (gap,)), _, Constant(value=float(cap)))):
            pass
        case _:
            return None
    match gap:
        case Operation(Op.SUBTRACT, (first, second)):
            values = first, second
        case Operation(Op.ADD, (first, Constant(value=float(shift)))):
            values = first, build.constant(-shift)
        case _:  # the difference from 0 is the value itself
            values = gap, build.constant(0.0)
    same = cap > 0.0 and capped_loss(*values, cap, power).source == tree
    return Loss(values, cap, power) if same else None


def closer_conditions(
    first: Expression, second: Expression, label: Expression
) -> tuple[Expression, Expression]:
    """Whether the first value is closer to the label than the second, and the other way round.

    A missing value is further away than any; without a label neither is closer.
    """
    gaps = [
        build.arithmetic(Op.SUBTRACT, *(build.as_number(each, "a prediction") for each in pair))
        for pair in ((first, label), (second, label))
    ]
    one, other = (build.function(Op.ABS, gap) for gap in gaps)
    return _is_less(one, other), _is_less(other, one)


def _is_less(one: Expression, other: Expression) -> Expression:
    less = build.comparison(Op.BELOW, one, other)
    # Where that is unknown and `one` is not, it is the other value that is missing.
    return build.coalesce([less, build.negation(build.is_null(one))])


def closer_of(
    first: Expression, second: Expression
) -> tuple[Expression, Expression, Expression] | None:
    """The two values and the label of which these conditions say who is closer."""
    match first:
        case Operation(Op.COALESCE, (_, Operation(Op.NOT, (Operation(Op.IS_NULL, (one,)),)))):
            pass
        case _:
            return None
    match second:
        case Operation(Op.COALESCE, (_, Operation(Op.NOT, (Operation(Op.IS_NULL, (other,)),)))):
            pass
        case _:
            return None
    match one, other:
        case (
            Operation(Op.ABS, (Operation(Op.SUBTRACT, (a, label)),)),
            Operation(Op.ABS, (Operation(Op.SUBTRACT, (b, _)),)),
        ) if closer_conditions(a, b, label) == (first, second):
            return a, b, label
    return None


def score_number(score: RowValue) -> Expression:
    """A score or a label as a number; NULL where it is missing."""
    return build.as_number(expression_of(score), "a score")
