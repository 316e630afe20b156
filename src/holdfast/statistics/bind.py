"""A question put to a table: names and texts become statistics; no data is touched."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

from holdfast import require
from holdfast.data.design import Value
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.question import build
from holdfast.question.calls import read_call
from holdfast.question.expression import Call as Operation, Column, ColumnType, Expression, Kind, Op
from holdfast.question.functions import RowFunction
from holdfast.question.row import RowValue, row_value
from holdfast.question.text import number, text
from holdfast.statistics.call import Call, TableCall
from holdfast.statistics.derived import (
    Conditional,
    Derived,
    Difference,
    Paired,
    Total,
    counted,
)
from holdfast.statistics.mean import Average, Mean
from holdfast.statistics.moments import Correlation, Covariance, Variance, product_of, square_of
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.scores import F1Score, LogLoss, squared_distance
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table
from holdfast.statistics.whole import Auc, TableFunction

__all__ = ["Labelled", "Question", "bind", "labelled", "read_again", "read_question"]

Question: TypeAlias = str | Call | Mean | TableFunction
Bound: TypeAlias = Statistic | Derived | Quantile

_STEPS = 1_000
_GROUPING = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.TEXT)
_MEANS = ("avg", "mean", "proportion")
_FINEST = 1e-9
_WHOLE = 2**53  # up to here, and not beyond, all whole numbers are doubles
_LOG_LOSS = re.compile(r"log_loss\s*\(", re.IGNORECASE)
_VARIANCE = re.compile(r"variance\s*<=\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Statistics that are asked together, each with its label; `by` names the labels."""

    by: str
    members: tuple[tuple[Value, Statistic | Derived], ...]


def bind(question: Question, table: Table) -> Bound:
    """The statistic that a question means."""
    if isinstance(question, str):
        question = _single(read_question(question))
    if isinstance(question, TableFunction):
        for column in question.columns:
            table.schema.column(column, quoted=True)
        return question
    if isinstance(question, Mean):
        for column in question.row.columns:
            table.schema.column(column, quoted=True)
        return question
    if isinstance(question, Call):
        try:
            return _BINDERS[question.name](question, table)
        except InvalidArgument as error:
            raise InvalidQuestion(f"In {question.name}, {error}") from None
    raise InvalidQuestion(
        "A question is text such as 'avg(delay > 15)', or a statistic such as "
        f"holdfast.mean('delay > 15'), not {type(question).__name__}."
    )


def read_again(text: str, table: Table) -> Statistic:
    """The statistic that a ledger knows by this text; refused where the text alone is not it."""
    try:
        question = bind(text, table)
    except HoldfastError as error:
        raise InvalidQuestion("The text in the ledger cannot be read.") from error
    if question.text != text or not hasattr(question, "row"):
        raise InvalidQuestion("The text in the ledger now reads as another question.")
    return question  # type: ignore[return-value]


def read_question(source: str) -> Call | TableCall:
    """The statistic that a text names, with the texts of its arguments."""
    found = read_call(source)
    if found.name == "histogram":
        return TableCall("histogram", found.arguments, found.where)
    name = "avg" if found.name in _MEANS else found.name
    if name not in _BINDERS and name != "median":
        known = sorted({*_BINDERS, "histogram", "median"})
        near = difflib.get_close_matches(name, [*_MEANS, *known], n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        raise InvalidQuestion(f"{name[:40]!r} is not a statistic; {hint}")
    arguments: tuple[Any, ...] = found.arguments
    if name == "avg" and _LOG_LOSS.match(arguments[0]):
        if len(arguments) > 1 or found.where is not None:
            raise InvalidQuestion("A log loss is asked of all rows, without where and variance.")
        return read_question(arguments[0])  # as a ledger writes it
    if name == "median":
        name, arguments = "quantile", (arguments[0], 0.5, *arguments[1:])
    if name == "difference":
        arguments = tuple(_inner(argument) for argument in arguments)
    declared = _VARIANCE.fullmatch(arguments[-1]) if name == "avg" else None
    if declared is not None and len(arguments) > 1:
        variance = _number("variance", declared[1])
        return Call(name, arguments[:-1], found.where, variance=variance)
    return Call(name, arguments, found.where)


def _inner(argument: str) -> str | Call:
    """A mean inside a difference, or the text of a value."""
    try:
        inner = read_call(argument)
    except InvalidQuestion:
        return argument
    return _single(read_question(argument)) if inner.name in _MEANS else argument


def _single(call: Call | TableCall) -> Call:
    if isinstance(call, TableCall):
        raise InvalidQuestion("A histogram is many answers; ask for it by itself.")
    return call


def labelled(
    call: TableCall, table: Table, members: Callable[[Column], Sequence[Value]]
) -> Labelled:
    """The statistics of a table of answers; `members` tells the values of a column of groups."""
    where = table.where(call.where)
    if call.name == "histogram":
        return _histogram(call, table, where)
    column = _grouping(call.by or "", table)
    value = table.value(call.arguments[0], call.bounds)
    found = []
    for member in members(column):
        group = _equals(column, member)
        condition = group if where is None else build.conjunction([where, group])
        found.append((member, table.mean(value, condition)))
    if not found:
        raise InvalidQuestion(
            f"by={column.name!r} has no group: all values that are known are NULL."
        )
    return Labelled(column.name, tuple(found))


def _grouping(by: str, table: Table) -> Column:
    column = table.schema.column(by)
    if column.type not in _GROUPING:
        raise InvalidQuestion(
            f"by= needs a column of text, whole numbers or booleans, and {by!r} is {column.type}."
        )
    return column


def _equals(column: Column, member: Value) -> Expression:
    if member is True:
        return column
    if member is None:
        return build.is_null(column)
    if isinstance(member, int) and abs(member) > _WHOLE:
        raise InvalidQuestion(
            f"by={column.name!r} has the group {member}, and whole numbers beyond 2^53 are not "
            "told apart in questions; give the column as text."
        )
    return build.compare(Op.EQUAL, column, build.constant(member))


def _histogram(call: TableCall, table: Table, where: Expression | None) -> Labelled:
    what, *rest = call.arguments
    edges = [_number("edge", edge) for edge in rest]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise InvalidQuestion(
            f"A histogram needs at least two edges, each above the one before, not {edges}."
        )
    value = build.number(table.expression(what), "a histogram")
    found = []
    for low, high in pairwise(edges):
        last = high == edges[-1]
        upper = build.compare(Op.AT_MOST if last else Op.BELOW, value, build.constant(high))
        inside = build.conjunction([build.compare(Op.AT_LEAST, value, build.constant(low)), upper])
        label = f"[{number(low)}, {number(high)}{']' if last else ')'}"
        found.append((label, table.mean(row_value(inside), where)))
    return Labelled(text(value), tuple(found))


def _average(call: Call, table: Table) -> Average | Conditional:
    (what,) = _arguments(call, 1)
    value = table.value(what, call.bounds)
    where = table.where(call.where)
    if call.variance is None:
        return table.mean(value, where)
    if where is not None:
        raise InvalidQuestion("A variance is declared for a mean of all rows, without where=.")
    return Mean(value, require.non_negative("variance", call.variance))


def _total(call: Call, table: Table) -> Total:
    what, population = _arguments(call, 2)
    value = table.value(what, call.bounds)
    if call.name == "count" and not value.is_condition:
        raise InvalidQuestion("count needs a condition; sum adds up numbers.")
    size = require.between("population", _number("population", population), 1, _WHOLE - 1)
    members = require.positive_integer("population", int(size) if size == int(size) else size)
    return Total(call.name, value, table.average(value, table.where(call.where)), members)


def _variance(call: Call, table: Table) -> Variance:
    (what,) = _arguments(call, 1)
    value = table.value(what, call.bounds)
    average = partial(table.average, where=table.where(call.where))
    return Variance(value, average(value), average(square_of(value)), call.name == "std")


def _covariance(call: Call, table: Table) -> Covariance | Correlation:
    values = [table.value(what) for what in _arguments(call, 2)]
    first, second = sorted(values, key=lambda value: value.text)
    average = partial(table.average, where=table.where(call.where))
    covariance = Covariance(
        first, second, (average(first), average(second)), average(product_of(first, second))
    )
    if call.name == "covariance":
        return covariance
    return Correlation(covariance, (average(square_of(first)), average(square_of(second))))


def _quantile(call: Call, table: Table) -> Quantile:
    what, level, *step = _arguments(call, 2, 3)
    value = table.value(what, call.bounds)
    whole = not isinstance(what, RowFunction) and _is_whole(table.expression(what))
    usual = 1.0 if whole else (value.high - value.low) / _STEPS
    if value.high == value.low:
        raise InvalidQuestion(f"{value.text} is always {number(value.low)}; it needs no quantile.")
    size = require.positive("step", _number("step", step[0])) if step else usual
    require.at_least("step", size, _FINEST * (value.high - value.low))
    average = partial(table.average, where=table.where(call.where))
    share = require.probability("level", _number("level", level))
    quantile = Quantile(value, share, size, average)
    quantile.threshold(value.low)  # whether it can be asked shows in any of them
    return quantile


def _is_whole(expression: Expression) -> bool:
    if isinstance(expression, Operation) and expression.op is Op.CLIP:
        expression = expression.args[0]
    return isinstance(expression, Column) and expression.type is ColumnType.INTEGER


def _difference(call: Call, table: Table) -> Difference | Paired | Average | Conditional:
    first, second = _arguments(call, 2)
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
    value = row_value(build.arithmetic(Op.SUBTRACT, *map(counted, values)))
    return table.mean(value, where)


def _without_where(call: Call) -> None:
    if call.where is not None:
        raise InvalidQuestion(f"{call.name} is asked of all rows: it has no where.")


def _auc(call: Call, table: Table) -> Auc:
    _without_where(call)
    score, label = _arguments(call, 2)
    positive = _label(label, table)
    if not table.design.covers(positive):
        raise InvalidQuestion(
            f"An AUC needs to know how many rows are positive, and {text(positive)} is not about "
            "design columns; declare its columns with design=[...] when the ledger is opened."
        )
    positives = table.design.group(positive).size
    negatives = sum(table.design.counts) - positives
    if not positives or not negatives:
        raise InvalidQuestion(
            f"All rows of the design are of one class by {text(positive)}; an AUC needs two."
        )
    number_of = build.number(table.expression(score), "an AUC")
    return Auc(number_of, positive, positives, negatives)


def _label(label: Any, table: Table) -> Expression:
    """A condition that says which rows are positive; a column of numbers means 1."""
    found = table.expression(label)
    if found.kind is Kind.NUMBER:
        return build.compare(Op.EQUAL, found, build.constant(1.0))
    return table.condition(found)


def _agreement(call: Call, table: Table) -> Average | Conditional:
    prediction, label = (table.expression(each) for each in _arguments(call, 2))
    right = build.compare(Op.EQUAL, prediction, label)
    if call.name == "error":
        # A row without a prediction or a label is not right.
        right = build.negation(build.coalesce([right, build.FALSE]))
    return table.mean(row_value(right), table.where(call.where))


def _brier(call: Call, table: Table) -> Average | Conditional:
    probability, label = _arguments(call, 2)
    share = table.value(probability, (0.0, 1.0))
    square = squared_distance(share, row_value(_label(label, table)))
    return table.mean(square, table.where(call.where))


def _log_loss(call: Call, table: Table) -> Mean:
    _without_where(call)
    probability, label, *floor = _arguments(call, 2, 3)
    least = require.between(
        "floor", _number("floor", floor[0] if floor else 0.01), 0.0, 0.5, open_low=True
    )
    source = LogLoss(counted(table.value(probability, (0.0, 1.0))), _label(label, table), least)
    return Mean(RowValue(source, 0.0, -math.log(least), source.text, is_condition=False))


def _f1(call: Call, table: Table) -> F1Score:
    _without_where(call)
    prediction, label = (row_value(_label(each, table)) for each in _arguments(call, 2))
    return F1Score(prediction, label)


def _arguments(call: Call, least: int, most: int | None = None) -> tuple[Any, ...]:
    count = len(call.arguments)
    if not least <= count <= (most or least):
        wanted = f"{least}" if most is None else f"{least} or {most}"
        raise InvalidQuestion(
            f"{call.name} takes {wanted} arguments, and {count} were given; write it like "
            f"{_FORMS[call.name]}."
        )
    return call.arguments


def _number(name: str, value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InvalidQuestion(f"{name} is {value[:40]!r}; it must be a number.") from None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidQuestion(f"{name} is {value!r}; it must be a number.")
    return require.finite(name, value)


_FORMS = {
    "avg": "avg(delay > 15)",
    "sum": "sum(value, size of the population)",
    "count": "count(condition, size of the population)",
    "quantile": "quantile(value, level)",
    "difference": "difference(first, second)",
    **{name: f"{name}(value)" for name in ("variance", "std")},
    **{name: f"{name}(first, second)" for name in ("covariance", "correlation")},
    **{name: f"{name}(prediction, label)" for name in ("accuracy", "error", "f1")},
    **{name: f"{name}(probability, label)" for name in ("brier", "log_loss")},
    "auc": "auc(score, label)",
}
_BINDERS: dict[str, Callable[[Call, Table], Bound]] = {
    "avg": _average,
    "sum": _total,
    "count": _total,
    "variance": _variance,
    "std": _variance,
    "covariance": _covariance,
    "correlation": _covariance,
    "quantile": _quantile,
    "difference": _difference,
    "auc": _auc,
    "accuracy": _agreement,
    "error": _agreement,
    "brier": _brier,
    "log_loss": _log_loss,
    "f1": _f1,
}
