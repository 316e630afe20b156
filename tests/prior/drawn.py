"""Questions drawn with the probabilities of the prior: a derivation, and the part it ends in."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

from holdfast.data.design import ANY_GROUP
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.columns import Schema
from holdfast.question.expression import Expression, Op
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.bind import parts_of
from holdfast.statistics.derived import Difference, Paired, as_counted
from holdfast.statistics.entry import Bound, Part, Table
from holdfast.statistics.mean import Mean
from holdfast.statistics.moments import Correlation, Covariance, Variance, product_of, square_of
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.scores import F1Score, LogLoss
from holdfast.statistics.spelling import score_number, squared_distance
from holdfast.statistics.whole import Auc
from tests.prior.derivations import Chooser, Forward, Lost

_OPEN = 123456.789  # stands for the open constant of a cut; nobody else draws it


def drawn_part(schema: Schema, choose: Chooser) -> Part:
    """One derivation of the whole prior."""
    return _Parts(Forward(schema, choose), Table(schema, ANY_GROUP)).part()


class _Parts:
    def __init__(self, words: Forward, table: Table) -> None:
        self.words, self.table = words, table

    def part(self) -> Part:
        kind = self.words.row("part")
        if kind == "cut":
            return self.cut()
        found = parts_of(getattr(self, kind)())
        wanted = "free" if kind == "distribution" else "plain"
        return next(use.part for use in found if use.role == wanted)

    def where(self, row: str) -> Expression | None:
        return self.words.condition("w") if self.words.row(f"where {row}") == "yes" else None

    def value(self) -> RowValue:
        return row_value(self.words.value())

    def free_number(self) -> float:
        return range_of(self.words.plain_number()).low

    def mean(self) -> Bound:
        value = self.value()
        return self.table.mean(value, self.where("mean"))

    def cut(self) -> Part:
        tree = self.open_condition()
        found = parts_of(self.table.mean(row_value(tree), self.where("cut")))
        cuts = [use.part for use in found if use.role == "free"]
        found_there = [cut for cut in cuts if str(_OPEN) not in cut.text]
        if not found_there:
            raise Lost  # which rows are known depends on the constant: no question uses it
        return found_there[0]

    def open_condition(self) -> Expression:
        form = self.words.row("cut")
        if form == "atom":
            op = Op.ABOVE if self.words.row("direction") == "up" else Op.BELOW
            subject, of = self.words.subject("v")
            if of not in ("level", "range", "number"):  # no dates in this test
                raise Lost
            return build.comparison(op, subject, build.constant(_OPEN))
        first = self.open_condition()
        units = self.words.units(self.words.count(), "v")
        join = build.conjunction if form == "both" else build.disjunction
        return join([first, *units])

    def contrast(self) -> Bound:
        value, where = self.value(), self.where("contrast")
        groups = self.groups()
        if where is not None:
            groups = [build.conjunction([where, group]) for group in groups]
        return Difference(*(self.table.mean(value, group) for group in groups))

    def groups(self) -> list[Expression]:
        if self.words.row("groups") == "other":
            return self.words.different(2, lambda: self.words.condition("w"))
        column = self.words.column("contrast")
        of = self.words.class_of(column.name)
        if of == "flag":
            return [column, build.negation(column)]
        values: list[Any] = list(self.words.schema.values.get(column.name, ()))
        if of == "level":
            low, high = self.words.schema.bounds[column.name]
            values = [float(i) for i in range(int(low), int(high) + 1)]
        pairs = list(combinations(values, 2))
        chosen = pairs[self.words.choose.uniform(len(pairs))]
        return [build.comparison(Op.EQUAL, column, build.constant(value)) for value in chosen]

    def quantile(self) -> Bound:
        level = self.words.row("level of a quantile")
        at = range_of(self.words.decimal()).low if level == "other" else float(level)
        return self.levels(at)

    def distribution(self) -> Bound:
        return self.levels(0.5)

    def levels(self, level: float) -> Bound:
        value = row_value(self.words.number(bounded=True))
        if not 0 < level < 1:
            raise Lost
        average = partial(self.table.average, where=self.where("quantile"))
        return Quantile(value, level, 1.0, average)

    def paired(self) -> Bound:
        values = [self.value(), self.value()]
        where = self.where("other")
        if where is None and all(value.is_condition for value in values):
            return Paired(values[0], values[1])
        return self.table.mean(
            row_value(build.arithmetic(Op.SUBTRACT, *map(as_counted, values))), where
        )

    def spread(self) -> Bound:
        value = self.value()
        average = partial(self.table.average, where=self.where("other"))
        return Variance(value, average(value), average(square_of(value)), root=False)

    def relation(self) -> Bound:
        form = self.words.row("relation")
        first, second = self.value(), self.value()
        average = partial(self.table.average, where=self.where("other"))
        both = (average(first), average(second))
        covariance = Covariance(first, second, both, average(product_of(first, second)))
        squares = (average(square_of(first)), average(square_of(second)))
        return covariance if form == "covariance" else Correlation(covariance, squares)

    def auc(self) -> Bound:
        return Auc(self.words.number(bounded=False), self.words.condition("v"), 1, 1)

    def probability(self) -> tuple[RowValue, Expression]:
        score = row_value(build.clip(self.words.number(bounded=False), 0.0, 1.0))
        return score, self.words.condition("v")

    def brier(self) -> Bound:
        score, label = self.probability()
        return self.table.mean(squared_distance(score, row_value(label)), self.where("other"))

    def log_loss(self) -> Bound:
        score, label = self.probability()
        floor = self.free_number()
        if not 0 < floor <= 0.5:
            raise Lost
        source = LogLoss(score_number(score), label, floor)
        return Mean(RowValue(source, 0.0, 1.0, source.text, is_condition=False))

    def declared(self) -> Bound:
        if self.words.row("declared") != "variance":
            raise Lost
        return Mean(self.value(), abs(self.free_number()))

    def ratio(self) -> Bound:
        if self.words.row("ratio") != "f1":
            raise Lost
        both = [row_value(self.words.condition("v")) for _ in range(2)]
        if self.where("other") is not None:
            raise Lost  # no such statistic yet
        return F1Score(*both)
