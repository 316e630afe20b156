"""A question put to a table: names and texts become statistics; no data is touched."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from holdfast.data.design import DesignValue
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.question import build
from holdfast.question.calls import read_call
from holdfast.question.expression import Column, ColumnType, Expression, Op
from holdfast.question.row import row_value
from holdfast.question.text import numeral, text_of
from holdfast.statistics.averages import MEANS
from holdfast.statistics.derived import Derived
from holdfast.statistics.entry import MOST_WHOLE, Bound, number_of
from holdfast.statistics.mean import Mean
from holdfast.statistics.named import Call, TableCall
from holdfast.statistics.registry import STATISTICS
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table
from holdfast.statistics.whole import TableFunction

__all__ = ["Labelled", "Question", "bind", "labelled", "read_again", "read_question"]

Question: TypeAlias = str | Call | Mean | TableFunction

_GROUPING = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.TEXT)
_LOG_LOSS = re.compile(r"log_loss\s*\(", re.IGNORECASE)
_VARIANCE = re.compile(r"variance\s*<=\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Statistics that are asked together, each with its label; `by` names the labels."""

    by: str
    members: tuple[tuple[DesignValue, Statistic | Derived], ...]


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
            return STATISTICS[question.name].bind(question, table)
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
    name = "avg" if found.name in MEANS else found.name
    if name not in STATISTICS:
        known = sorted({*STATISTICS, "histogram"})
        near = difflib.get_close_matches(name, [*MEANS, *known], n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        raise InvalidQuestion(f"{name[:40]!r} is not a statistic; {hint}")
    arguments: tuple[Any, ...] = found.arguments
    if name == "avg" and _LOG_LOSS.match(arguments[0]):
        if len(arguments) > 1 or found.where is not None:
            raise InvalidQuestion("A log loss is asked of all rows, without where and variance.")
        return read_question(arguments[0])  # as a ledger writes it
    if name == "difference":
        arguments = tuple(_inner(argument) for argument in arguments)
    declared = _VARIANCE.fullmatch(arguments[-1]) if name == "avg" else None
    if declared is not None and len(arguments) > 1:
        variance = number_of("variance", declared[1])
        return Call(name, arguments[:-1], found.where, variance=variance)
    return Call(name, arguments, found.where)


def _inner(argument: str) -> str | Call:
    """A mean inside a difference, or the text of a value."""
    try:
        inner = read_call(argument)
    except InvalidQuestion:
        return argument
    return _single(read_question(argument)) if inner.name in MEANS else argument


def _single(call: Call | TableCall) -> Call:
    if isinstance(call, TableCall):
        raise InvalidQuestion("A histogram is many answers; ask for it by itself.")
    return call


def labelled(
    call: TableCall, table: Table, members: Callable[[Column], Sequence[DesignValue]]
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


def _equals(column: Column, member: DesignValue) -> Expression:
    if member is True:
        return column
    if member is None:
        return build.is_null(column)
    if isinstance(member, int) and abs(member) > MOST_WHOLE:
        raise InvalidQuestion(
            f"by={column.name!r} has the group {member}, and whole numbers beyond 2^53 are not "
            "told apart in questions; give the column as text."
        )
    return build.comparison(Op.EQUAL, column, build.constant(member))


def _histogram(call: TableCall, table: Table, where: Expression | None) -> Labelled:
    what, *rest = call.arguments
    edges = [number_of("edge", edge) for edge in rest]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise InvalidQuestion(
            f"A histogram needs at least two edges, each above the one before, not {edges}."
        )
    value = build.as_number(table.expression(what), "a histogram")
    found = []
    for low, high in pairwise(edges):
        last = high == edges[-1]
        upper = build.comparison(Op.AT_MOST if last else Op.BELOW, value, build.constant(high))
        inside = build.conjunction(
            [build.comparison(Op.AT_LEAST, value, build.constant(low)), upper]
        )
        label = f"[{numeral(low)}, {numeral(high)}{']' if last else ')'}"
        found.append((label, table.mean(row_value(inside), where)))
    return Labelled(text_of(value), tuple(found))
