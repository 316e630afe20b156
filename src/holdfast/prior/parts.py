"""The parts a question is answered through: each rests on one event, which has one weight.

Questions that rest on the same event share it: a sum, a count and an average; an error and an
accuracy; a standard deviation and a variance; two differences that are turned over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.errors import NotDescribed
from holdfast.prior.atoms import holes
from holdfast.prior.undo import brier_of, paired_of, part_condition, probability_of
from holdfast.question import build
from holdfast.question.expression import Expression, Op, Operation, ValueKind, column_names
from holdfast.question.missing import is_decided_by_values, may_be_missing
from holdfast.question.row import RowValue
from holdfast.question.text import numeral, text_of
from holdfast.statistics.derived import (
    Conditional,
    Difference,
    Paired,
    Total,
    all_parts,
    is_derived,
)
from holdfast.statistics.entry import Bound
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.moments import Correlation, Covariance, Variance
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.scores import BalancedAccuracy, F1Score, LogLoss
from holdfast.statistics.statistic import ConcentratedMean
from holdfast.statistics.whole import Auc

__all__ = ["Part", "PartKind", "Role", "Use", "has_own_events", "parts_of"]

PartKind = Literal[
    "mean",
    "cut",
    "contrast",
    "quantile",
    "distribution",
    "paired",
    "spread",
    "relation",
    "auc",
    "brier",
    "log_loss",
    "declared",
    "ratio",
]
Role = Literal["plain", "free", "besides"]
# An open constant is a NULL beside a sign; in quotes it is something else.
_OPEN = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|(?<=[<>] )null\b""")


@dataclass(frozen=True, slots=True)
class Part:
    """One event: what kind of statement, about which trees and numbers, among which rows.

    `form` is the sub-kind of those kinds that have some. Two questions share a part when it is
    equal, which is when its text is.
    """

    kind: PartKind
    trees: tuple[Expression, ...]
    where: Expression | None = None
    numbers: tuple[float, ...] = ()
    form: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it is about."""
        trees = self.trees if self.where is None else (*self.trees, self.where)
        return frozenset(name for tree in trees for name in column_names(tree))

    @property
    def text(self) -> str:
        """Something a person can read; no two parts have the same."""
        words = [*map(text_of, self.trees), *map(numeral, self.numbers)]
        if self.kind == "cut":
            words = [_OPEN.sub(lambda found: found[1] or "any", word) for word in words]
        named = f"{self.form or self.kind}({', '.join(words)})"
        return named if self.where is None else f"{named} where {text_of(self.where)}"


@dataclass(frozen=True, slots=True)
class Use:
    """A part as a question uses it.

    The `plain` parts together answer a question; so does each `free` one by itself, for all
    constants or all levels at once; what follows from those `besides` may be intersected with the
    answer. A part has one rule: where it is `turned`, the question is 1 minus a share, or a
    difference with its sign changed.
    """

    part: Part
    role: Role = "plain"
    turned: bool = False


def has_own_events(question: Bound) -> bool:
    """Whether it rests on events of its own; any other follows from the answers to its parts."""
    return type(question) in _MAKERS


def parts_of(question: Bound) -> tuple[Use, ...]:
    """The parts of a question, and what each is to it."""
    if has_own_events(question):
        return tuple(_MAKERS[type(question)](question))
    if is_derived(question):
        return tuple(_plain(all_parts(question)))
    raise NotDescribed(_NO_TEXT)


def _plain(statistics: Iterable[Bound]) -> list[Use]:
    """What answers each of several statistics."""
    return [use for each in statistics for use in parts_of(each) if use.role == "plain"]


_NO_TEXT = (
    "The question is made by Python, and only text over the table's own columns has a length in "
    "bits; write it as text, or ask it without."
)


def _average(mean: Mean) -> list[Use]:
    if isinstance(mean.row.source, LogLoss):
        return [Use(_log_loss(mean.row.source))]
    tree = _tree(mean.row)
    if mean.variance is None:
        return _mean(tree, None)
    return [Use(Part("declared", (tree,), numbers=(mean.variance,), form="variance"))]


def _concentrated(mean: ConcentratedMean) -> list[Use]:
    scale = mean.scale
    if mean.usual:  # no other event is about the plain mean of this column
        return [Use(Part("mean", (mean.expression,)))]
    form, numbers = (
        ("sigma", (scale.sigma,)) if scale.b is None else ("sigma and b", (scale.sigma, scale.b))
    )
    return [Use(Part("declared", (mean.expression,), numbers=numbers, form=form))]


def _mean(tree: Expression, where: Expression | None) -> list[Use]:
    brier = brier_of(tree)
    if brier is not None:
        return [Use(Part("brier", brier, where))]
    pair = paired_of(tree)
    if pair is not None:
        return [_paired(*pair, where)]
    tree, turned = part_condition(tree)
    # One band holds for all constants in the rows where the condition is known, if those are the
    # same rows for all of them.
    free = tree.kind is ValueKind.BOOLEAN and is_decided_by_values(tree)
    cuts = holes(tree) if free else []
    return [
        Use(Part("mean", (tree,), where), turned=turned),
        *(Use(Part("cut", (cut,), where), "free", turned) for cut in cuts),
    ]


def _log_loss(source: LogLoss) -> Part:
    score = probability_of(source.probability)
    if score is None:
        raise NotDescribed(_NO_TEXT)
    return Part("log_loss", (score, source.positive), numbers=(source.floor,))


def _quantile(question: Quantile) -> list[Use]:
    where = _among(question.threshold(question.low))
    trees = (_tree(question.value),)
    quantile = Part("quantile", trees, where, (question.level,))
    return [Use(quantile), Use(Part("distribution", trees, where), "free")]


def _relation(covariance: Covariance, form: str) -> list[Use]:
    values = _sorted(covariance.first, covariance.second)
    return [Use(Part("relation", values, _among(covariance.product), form=form))]


def _paired(first: RowValue, second: RowValue, where: Expression | None) -> Use:
    values = _sorted(first, second)
    return Use(Part("paired", values, where), turned=values[0] != _tree(first))


def _difference(question: Difference) -> list[Use]:
    """A contrast of two groups, and both means; where the values differ, the means alone."""
    sides = (question.first, question.second)
    contrast = _contrast(*map(_value_and_rows, sides))
    means = _plain(sides)
    if contrast is None:
        return means
    return [contrast, *(replace(mean, role="besides") for mean in means)]


_Side = tuple[Expression, Expression | None]


def _contrast(first: _Side, second: _Side) -> Use | None:
    """One value in two groups; a NOT is taken back only where it stands on both sides."""
    (value, rows), (other_value, other_rows) = first, second
    if value != other_value or rows is None or other_rows is None or rows == other_rows:
        return None
    tree, negated = part_condition(value)
    one, other, shared = _groups(rows, other_rows)
    swapped = text_of(one) > text_of(other)
    groups = (other, one) if swapped else (one, other)
    turned = swapped != negated  # turned over twice is as it was
    return Use(Part("contrast", (tree, *groups), shared), turned=turned)


def _value_and_rows(side: object) -> _Side:
    match side:
        case GroupMean() | Conditional():
            return _tree(side.value), side.condition
        case Mean(row):
            return _tree(row), None
    raise NotDescribed(_NO_TEXT)


def _groups(
    first: Expression, second: Expression
) -> tuple[Expression, Expression, Expression | None]:
    """Two different groups without the conditions they share, and those."""
    mine, others = _conjuncts(first), _conjuncts(second)
    shared = [each for each in mine if each in others]
    if not shared or len(shared) in (len(mine), len(others)):
        return first, second, None
    one, other = (
        build.conjunction([each for each in whole if each not in shared])
        for whole in (mine, others)
    )
    return one, other, build.conjunction(shared)


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    if isinstance(condition, Operation) and condition.op is Op.AND:
        return condition.args
    return (condition,)


def _balanced_accuracy(question: BalancedAccuracy) -> Part:
    """Which of the two is the label matters."""
    trees = (_tree(question.predicted), _tree(question.labelled))
    return Part("ratio", trees, form="balanced_accuracy")


def _overlapping(f1: F1Score) -> tuple[Expression, ...]:
    """Which of the two is the label matters where one may be missing."""
    both = f1.predicted, f1.labelled
    if any(may_be_missing(_tree(each)) for each in both):
        return tuple(map(_tree, both))
    return _sorted(*both)


def _among(average: Mean | GroupMean | Conditional) -> Expression | None:
    return None if isinstance(average, Mean) else average.condition


def _sorted(*values: RowValue) -> tuple[Expression, ...]:
    return tuple(sorted(map(_tree, values), key=text_of))


def _tree(value: RowValue) -> Expression:
    if isinstance(value.source, Expression):
        return value.source
    raise NotDescribed(_NO_TEXT)


_MAKERS: dict[type, Callable[[Any], Iterable[Use]]] = {
    Mean: _average,
    ConcentratedMean: _concentrated,
    GroupMean: lambda mean: _mean(_tree(mean.value), mean.condition),
    Conditional: lambda mean: _mean(_tree(mean.value), mean.condition),
    Total: lambda total: parts_of(total.mean),
    Variance: lambda of: [Use(Part("spread", (_tree(of.value),), _among(of.mean)))],
    Covariance: lambda of: _relation(of, "covariance"),
    Correlation: lambda of: _relation(of.covariance, "correlation"),
    Quantile: _quantile,
    Difference: _difference,
    Paired: lambda pair: [_paired(pair.first, pair.second, None)],
    BalancedAccuracy: lambda of: [Use(_balanced_accuracy(of))],
    F1Score: lambda f1: [Use(Part("ratio", _overlapping(f1), form="f1"))],
    Auc: lambda auc: [Use(Part("auc", (auc.score, auc.positive)))],
}
