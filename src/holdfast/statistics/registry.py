"""Every statistic that can be asked for, once: name, form, meaning, and what it is of a table.

Texts, refusals, the table in the docs and the tests read this list. What people write in Python is
a function of the same name in `call`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, TypeAlias

from holdfast import require
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Column, ColumnType, Expression, Op, Operation, ValueKind
from holdfast.question.functions import RowFunction
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import numeral, text_of
from holdfast.statistics.derived import Conditional, Derived, Difference, Paired, Total, as_counted
from holdfast.statistics.mean import Average, Mean
from holdfast.statistics.moments import Correlation, Covariance, Variance, product_of, square_of
from holdfast.statistics.named import Call
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.scores import F1Score, LogLoss, squared_distance
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table
from holdfast.statistics.whole import Auc

__all__ = ["MEANS", "STATISTICS", "WHOLE", "Bound", "Entry", "number_of"]

Bound: TypeAlias = Statistic | Derived | Quantile

MEANS = ("avg", "mean", "proportion")  # three words for one statistic
WHOLE = 2**53  # up to here, and not beyond, all whole numbers are doubles
_STEPS = 1_000
_FINEST = 1e-9


@dataclass(frozen=True, slots=True)
class Entry:
    """A statistic: `form` is how it is written, `arguments` the least and most number of them."""

    name: str
    form: str
    meaning: str
    arguments: tuple[int, int]
    binder: Callable[[Call, Table], Bound]

    def bind(self, call: Call, table: Table) -> Bound:
        """What it is of a table, which has a play."""
        count, (least, most) = len(call.arguments), self.arguments
        if not least <= count <= most:
            wanted = f"{least}" if least == most else f"{least} or {most}"
            raise InvalidQuestion(
                f"{self.name} takes {wanted} arguments, and {count} were given; write it like "
                f"{self.form}."
            )
        return self.binder(call, table)


def _average(call: Call, table: Table) -> Average | Conditional:
    (what,) = call.arguments
    value = table.value(what, call.bounds)
    where = table.where(call.where)
    if call.variance is None:
        return table.mean(value, where)
    if where is not None:
        raise InvalidQuestion("A variance is declared for a mean of all rows, without where=.")
    return Mean(value, require.non_negative("variance", call.variance))


def _total(call: Call, table: Table) -> Total:
    what, population = call.arguments
    value = table.value(what, call.bounds)
    if call.name == "count" and not value.is_condition:
        raise InvalidQuestion("count needs a condition; sum adds up numbers.")
    size = require.between("population", number_of("population", population), 1, WHOLE - 1)
    members = require.positive_integer("population", int(size) if size == int(size) else size)
    return Total(call.name, value, table.average(value, table.where(call.where)), members)


def _variance(call: Call, table: Table) -> Variance:
    (what,) = call.arguments
    value = table.value(what, call.bounds)
    average = partial(table.average, where=table.where(call.where))
    return Variance(value, average(value), average(square_of(value)), call.name == "std")


def _covariance(call: Call, table: Table) -> Covariance | Correlation:
    values = [table.value(what) for what in call.arguments]
    first, second = sorted(values, key=lambda value: value.text)
    average = partial(table.average, where=table.where(call.where))
    covariance = Covariance(
        first, second, (average(first), average(second)), average(product_of(first, second))
    )
    if call.name == "covariance":
        return covariance
    return Correlation(covariance, (average(square_of(first)), average(square_of(second))))


def _quantile(call: Call, table: Table) -> Quantile:
    what, level, *step = call.arguments
    value = table.value(what, call.bounds)
    whole = not isinstance(what, RowFunction) and _is_whole(table.expression(what))
    usual = 1.0 if whole else (value.high - value.low) / _STEPS
    if value.high == value.low:
        raise InvalidQuestion(f"{value.text} is always {numeral(value.low)}; it needs no quantile.")
    size = require.positive("step", number_of("step", step[0])) if step else usual
    require.at_least("step", size, _FINEST * (value.high - value.low))
    average = partial(table.average, where=table.where(call.where))
    share = require.probability("level", number_of("level", level))
    quantile = Quantile(value, share, size, average)
    quantile.threshold(value.low)  # whether it can be asked shows in any of them
    return quantile


def _median(call: Call, table: Table) -> Quantile:
    what, *step = call.arguments
    return _quantile(replace(call, arguments=(what, 0.5, *step)), table)


def _is_whole(expression: Expression) -> bool:
    if isinstance(expression, Operation) and expression.op is Op.CLIP:
        expression = expression.args[0]
    return isinstance(expression, Column) and expression.type is ColumnType.INTEGER


def _difference(call: Call, table: Table) -> Difference | Paired | Average | Conditional:
    first, second = call.arguments
    if isinstance(first, Call) and isinstance(second, Call):
        _without_where(call)
        sides = [_average(side, table) for side in (first, second) if side.name == "avg"]
        if len(sides) < 2:
            raise InvalidQuestion("The difference of two groups is that of two means.")
        return Difference(*sides)
    if isinstance(first, Call) or isinstance(second, Call):
        raise InvalidQuestion("A difference is of two values of the same rows, or of two means.")
    values = [table.value(what) for what in (first, second)]
    where = table.where(call.where)
    if where is None and all(value.is_condition for value in values):
        return Paired(*values)
    value = row_value(build.arithmetic(Op.SUBTRACT, *map(as_counted, values)))
    return table.mean(value, where)


def _without_where(call: Call) -> None:
    if call.where is not None:
        raise InvalidQuestion(f"{call.name} is asked of all rows: it has no where.")


def _auc(call: Call, table: Table) -> Auc:
    _without_where(call)
    score, label = call.arguments
    positive = _label(label, table)
    if not table.design.covers(positive):
        raise InvalidQuestion(
            f"An AUC needs to know how many rows are positive, and {text_of(positive)} is not "
            "about design columns; declare its columns with design=[...] when the ledger is opened."
        )
    positives = table.design.group(positive).size
    negatives = sum(table.design.counts) - positives
    if not positives or not negatives:
        raise InvalidQuestion(
            f"All rows of the design are of one class by {text_of(positive)}; an AUC needs two."
        )
    number_of = build.as_number(table.expression(score), "an AUC")
    return Auc(number_of, positive, positives, negatives)


def _label(label: Any, table: Table) -> Expression:
    """A condition that says which rows are positive; a column of numbers means 1."""
    found = table.expression(label)
    if found.kind is ValueKind.NUMBER:
        return build.comparison(Op.EQUAL, found, build.constant(1.0))
    return table.condition(found)


def _agreement(call: Call, table: Table) -> Average | Conditional:
    prediction, label = (table.expression(each) for each in call.arguments)
    right = build.comparison(Op.EQUAL, prediction, label)
    if call.name == "error":
        # A row without a prediction or a label is not right.
        right = build.negation(build.coalesce([right, build.FALSE]))
    return table.mean(row_value(right), table.where(call.where))


def _brier(call: Call, table: Table) -> Average | Conditional:
    probability, label = call.arguments
    share = table.value(probability, (0.0, 1.0))
    square = squared_distance(share, row_value(_label(label, table)))
    return table.mean(square, table.where(call.where))


def _log_loss(call: Call, table: Table) -> Mean:
    _without_where(call)
    probability, label, *floor = call.arguments
    least = require.between(
        "floor", number_of("floor", floor[0] if floor else 0.01), 0.0, 0.5, open_low=True
    )
    source = LogLoss(as_counted(table.value(probability, (0.0, 1.0))), _label(label, table), least)
    return Mean(RowValue(source, 0.0, -math.log(least), source.text, is_condition=False))


def _f1(call: Call, table: Table) -> F1Score:
    _without_where(call)
    prediction, label = (row_value(_label(each, table)) for each in call.arguments)
    return F1Score(prediction, label)


def number_of(name: str, value: Any) -> float:
    """An argument that is a number, or the text of one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InvalidQuestion(f"{name} is {value[:40]!r}; it must be a number.") from None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidQuestion(f"{name} is {value!r}; it must be a number.")
    return require.finite(name, value)


STATISTICS = {
    entry.name: entry
    for entry in (
        Entry(
            "avg",
            "avg(delay > 15)",
            "the mean of a value, or the share of rows with a condition; also mean or proportion",
            (1, 1),
            _average,
        ),
        Entry(
            "sum",
            "sum(value, size of the population)",
            "the total over a population of known size",
            (2, 2),
            _total,
        ),
        Entry(
            "count",
            "count(condition, size of the population)",
            "how many members of a population of known size",
            (2, 2),
            _total,
        ),
        Entry(
            "median",
            "median(value)",
            "the quantile at level 1/2",
            (1, 2),
            _median,
        ),
        Entry(
            "quantile",
            "quantile(value, level)",
            "the least v that this share of the population does not exceed",
            (2, 3),
            _quantile,
        ),
        Entry(
            "variance",
            "variance(value)",
            "the population's variance",
            (1, 1),
            _variance,
        ),
        Entry(
            "std",
            "std(value)",
            "the root of the variance",
            (1, 1),
            _variance,
        ),
        Entry(
            "covariance",
            "covariance(first, second)",
            "the covariance of two values",
            (2, 2),
            _covariance,
        ),
        Entry(
            "correlation",
            "correlation(first, second)",
            "the covariance over both standard deviations",
            (2, 2),
            _covariance,
        ),
        Entry(
            "difference",
            "difference(first, second)",
            "of two values of the same rows, or of the means of two groups",
            (2, 2),
            _difference,
        ),
        Entry(
            "accuracy",
            "accuracy(prediction, label)",
            "the share of rows whose prediction is the label",
            (2, 2),
            _agreement,
        ),
        Entry(
            "error",
            "error(prediction, label)",
            "the share of rows whose prediction is not the label",
            (2, 2),
            _agreement,
        ),
        Entry(
            "f1",
            "f1(prediction, label)",
            "2 P(both)/(P(predicted) + P(labelled))",
            (2, 2),
            _f1,
        ),
        Entry(
            "auc",
            "auc(score, label)",
            "how often a positive row has the higher score, ties 1/2",
            (2, 2),
            _auc,
        ),
        Entry(
            "brier",
            "brier(probability, label)",
            "the mean squared distance from the label",
            (2, 2),
            _brier,
        ),
        Entry(
            "log_loss",
            "log_loss(probability, label)",
            "the mean of -ln of the probability given to the label",
            (2, 3),
            _log_loss,
        ),
    )
}
