"""The parts a question is answered through: each rests on one event, which has one weight.

Questions that rest on the same event share it: a sum, a count and an average; an error and an
accuracy; a standard deviation and a variance; two differences that are turned over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import NotDescribed
from holdfast.question import build
from holdfast.question.expression import Call, Expression, Kind, Op
from holdfast.question.row import RowValue
from holdfast.question.text import number, text
from holdfast.statistics.bind import Bound
from holdfast.statistics.derived import Conditional, Difference, F1Score, Paired, Total
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.moments import Correlation, Covariance, Variance
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.scores import LogLoss
from holdfast.statistics.whole import Auc
from holdfast.words.claims import holes
from holdfast.words.taken_back import brier_of, opposite_of, paired_of, probability_of

__all__ = ["Part", "Role", "parts_of"]

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
_FREE: frozenset[PartKind] = frozenset({"cut", "distribution"})
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
    def text(self) -> str:
        """Something a person can read; no two parts have the same."""
        words = [*map(text, self.trees), *map(number, self.numbers)]
        if self.kind == "cut":
            words = [_OPEN.sub(lambda found: found[1] or "any", word) for word in words]
        named = f"{self.form or self.kind}({', '.join(words)})"
        return named if self.where is None else f"{named} where {text(self.where)}"


def parts_of(question: Bound) -> dict[Part, Role]:
    """The different parts of a question, and what each is to it.

    The `plain` ones together answer it; so does each `free` one by itself, for all constants or all
    levels at once; what follows from those `besides` may be intersected with the answer.
    """
    found = _parts(question)
    contrast = any(part.kind == "contrast" for part in found)
    return {part: _role(part, contrast) for part in found}


def _role(part: Part, contrast: bool) -> Role:
    if part.kind in _FREE:
        return "free"
    return "besides" if contrast and part.kind != "contrast" else "plain"


def _parts(question: Bound) -> list[Part]:
    make = _MAKERS.get(type(question))
    if make is None:
        raise NotDescribed(_NO_TEXT)
    return make(question)


_NO_TEXT = (
    "The question is made by Python, and only text over the table's own columns has a length in "
    "bits; write it as text, or ask it without."
)


def _average(mean: Mean) -> list[Part]:
    if isinstance(mean.row.source, LogLoss):
        return [_log_loss(mean.row.source)]
    tree = _tree(mean.row)
    if mean.variance is None:
        return _mean(tree, None)
    return [Part("declared", (tree,), numbers=(mean.variance,), form="variance")]


def _mean(tree: Expression, where: Expression | None) -> list[Part]:
    brier = brier_of(tree)
    if brier is not None:
        return [Part("brier", brier, where)]
    pair = paired_of(tree)
    if pair is not None:
        return [_paired(*pair, where)]
    tree = opposite_of(tree) or tree
    cuts = holes(tree) if tree.kind is Kind.BOOLEAN else []
    return [Part("mean", (tree,), where), *(Part("cut", (cut,), where) for cut in cuts)]


def _log_loss(source: LogLoss) -> Part:
    score = probability_of(source.probability)
    if score is None:
        raise NotDescribed(_NO_TEXT)
    return Part("log_loss", (score, source.positive), numbers=(source.floor,))


def _quantile(question: Quantile) -> list[Part]:
    where = _among(question.threshold(question.low))
    trees = (_tree(question.value),)
    quantile = Part("quantile", trees, where, (question.level,))
    return [quantile, Part("distribution", trees, where)]


def _relation(covariance: Covariance, form: str) -> Part:
    values = _sorted(covariance.first, covariance.second)
    return Part("relation", values, _among(covariance.product), form=form)


def _paired(first: RowValue, second: RowValue, where: Expression | None) -> Part:
    return Part("paired", _sorted(first, second), where)


def _difference(question: Difference) -> list[Part]:
    """A contrast of two groups, and both means; where the values differ, the means alone."""
    found: list[Part] = []
    sides = (question.first, question.second)
    means = [part for side in sides for part in _parts(side) if part.kind not in _FREE]
    first, second = map(_value_and_rows, sides)
    if first[0] == second[0] and first[1] is not None and second[1] is not None:
        groups = _contrasted(first[1], second[1])
        if groups is not None:
            one, other, shared = groups
            tree = opposite_of(first[0]) or first[0]
            found.append(Part("contrast", (tree, one, other), shared))
    return [*found, *means]


def _value_and_rows(side: object) -> tuple[Expression, Expression | None]:
    match side:
        case GroupMean() | Conditional():
            return _tree(side.value), side.condition
        case Mean(row):
            return _tree(row), None
    raise NotDescribed(_NO_TEXT)


def _contrasted(
    first: Expression, second: Expression
) -> tuple[Expression, Expression, Expression | None] | None:
    """Two different groups in the order of their texts, and the condition that they share."""
    if first == second:
        return None
    one, other = sorted((first, second), key=text)
    mine, others = (_conjuncts(each) for each in (one, other))
    shared = [each for each in mine if each in others]
    if not shared or len(shared) in (len(mine), len(others)):
        return one, other, None
    groups = sorted(
        (
            build.conjunction([each for each in whole if each not in shared])
            for whole in (mine, others)
        ),
        key=text,
    )
    return groups[0], groups[1], build.conjunction(shared)


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    if isinstance(condition, Call) and condition.op is Op.AND:
        return condition.args
    return (condition,)


def _among(average: Mean | GroupMean) -> Expression | None:
    return average.condition if isinstance(average, GroupMean) else None


def _sorted(*values: RowValue) -> tuple[Expression, ...]:
    return tuple(sorted(map(_tree, values), key=text))


def _tree(value: RowValue) -> Expression:
    if isinstance(value.source, Expression):
        return value.source
    raise NotDescribed(_NO_TEXT)


_MAKERS: dict[type, Callable[[Any], list[Part]]] = {
    Mean: _average,
    GroupMean: lambda mean: _mean(_tree(mean.value), mean.condition),
    Conditional: lambda mean: _mean(_tree(mean.value), mean.condition),
    Total: lambda total: _parts(total.mean),
    Variance: lambda of: [Part("spread", (_tree(of.value),), _among(of.mean))],
    Covariance: lambda of: [_relation(of, "covariance")],
    Correlation: lambda of: [_relation(of.covariance, "correlation")],
    Quantile: _quantile,
    Difference: _difference,
    Paired: lambda pair: [_paired(pair.first, pair.second, None)],
    F1Score: lambda f1: [Part("ratio", _sorted(f1.predicted, f1.labelled), form="f1")],
    Auc: lambda auc: [Part("auc", (auc.score, auc.positive))],
}
