"""Averages by name, and what is said of averages: totals, differences, the bins of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from holdfast import require
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression, Op
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.derived import Conditional, Difference, Paired, Total, as_counted
from holdfast.statistics.entry import MOST_WHOLE, Entry, number_of, require_all_rows
from holdfast.statistics.mean import Average, Mean
from holdfast.statistics.named import Better, Bounds, By, Call, TableCall, What, grouped, pair_of
from holdfast.statistics.table import Table

__all__ = [
    "AVERAGES",
    "MEANS",
    "count",
    "difference",
    "distribution",
    "histogram",
    "mean",
    "proportion",
    "sum",
]

MEANS = ("avg", "mean", "proportion")  # three words for one statistic


@overload
def mean(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    variance: float | None = None,
) -> Call: ...
@overload
def mean(what: What, *, bounds: Bounds = None, where: str | None = None, by: By) -> TableCall: ...
def mean(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    by: By | None = None,
    variance: float | None = None,
) -> Call | TableCall:
    """The average of a value of the rows.

    `where` asks for the mean among the rows where a condition holds, `by` for each value of a
    column, or of two. `variance` declares that the value's variance is at most this, in its own
    unit squared: the interval is then narrower, and rests on the declaration.
    """
    return grouped(Call("avg", (what,), where, pair_of(bounds), variance), by)


@overload
def proportion(condition: What, *, where: str | None = None) -> Call: ...
@overload
def proportion(condition: What, *, where: str | None = None, by: By) -> TableCall: ...
def proportion(
    condition: What, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The share of rows for which a condition holds: the mean of the condition."""
    return grouped(Call("avg", (condition,), where), by)


def sum(what: What, *, population: int, bounds: Bounds = None, where: str | None = None) -> Call:
    """The total over a population of known size."""
    return Call("sum", (what, population), where, pair_of(bounds))


def count(condition: What, *, population: int, where: str | None = None) -> Call:
    """How many members of a population of known size fulfil a condition."""
    return Call("count", (condition, population), where)


def difference(
    first: What | Call,
    second: What | Call,
    *,
    where: str | None = None,
    better: Better | None = None,
) -> Call:
    """The first minus the second.

    Two values are paired on the same rows: ``difference("new = label", "old = label")``. Two means
    of groups are not: ``difference(mean(x, where=...), mean(x, where=...))``. With `better`
    ("higher" or "lower") the answer says whether the first is better, worse, or cannot be told.
    """
    if better is not None and (not isinstance(better, str) or better not in ("higher", "lower")):
        raise InvalidArgument(f"better is {better!r}; it must be 'higher' or 'lower'.")
    return Call("difference", (first, second), where, better=better)


def histogram(what: What, edges: Sequence[float], *, where: str | None = None) -> TableCall:
    """The share of rows in each bin between neighbouring edges; the last bin has both its ends."""
    allowed = "the ends of all bins in order, such as [0, 10, 20]"
    ends = _places("edges", edges, allowed)
    if not ends:
        raise InvalidArgument(f"edges is {edges!r}; it must be {allowed}.")
    return TableCall("histogram", (what, *ends), where)


def _places(name: str, given: object, allowed: str) -> list[Any]:
    """Places on the number line, one by one."""
    if isinstance(given, str):
        raise InvalidArgument(f"{name} is {given!r}; it must be {allowed}.")
    return require.items(name, given, allowed)


def distribution(
    what: What,
    thresholds: Sequence[float] = (),
    *,
    bounds: Bounds = None,
    where: str | None = None,
) -> TableCall:
    """The share of rows with a value of at most each threshold, for all of them at once.

    Without `thresholds` there are 32, equally far apart, up to the upper end of the value's range.
    """
    points = _places("thresholds", thresholds, "a list in order, such as [0, 10, 20]")
    return TableCall("distribution", (what, *points), where, pair_of(bounds))


def _bind_average(call: Call, table: Table) -> Average | Conditional:
    (what,) = call.arguments
    value = table.value(what, call.bounds)
    where = table.where(call.where)
    if call.variance is None:
        return table.mean(value, where)
    if where is not None:
        raise InvalidQuestion("A variance is declared for a mean of all rows, without where=.")
    return Mean(value, require.non_negative("variance", call.variance))


def _bind_total(call: Call, table: Table) -> Total:
    what, population = call.arguments
    value = table.value(what, call.bounds)
    if call.name == "count" and not value.is_condition:
        raise InvalidQuestion("count needs a condition; sum adds up numbers.")
    size = require.between("population", number_of("population", population), 1, MOST_WHOLE - 1)
    members = require.positive_integer("population", int(size) if size == int(size) else size)
    return Total(call.name, value, table.average(value, table.where(call.where)), members)


def _bind_difference(call: Call, table: Table) -> Difference | Paired | Average | Conditional:
    first, second = call.arguments
    if isinstance(first, Call) and isinstance(second, Call):
        require_all_rows(call)
        sides = [_bind_average(side, table) for side in (first, second) if side.name == "avg"]
        if len(sides) < 2:
            raise InvalidQuestion("The difference of two groups is that of two means.")
        pair = _same_rows(*sides)
        return Difference(*sides) if pair is None else _of_pairs(*pair, table)
    if isinstance(first, Call) or isinstance(second, Call):
        raise InvalidQuestion("A difference is of two values of the same rows, or of two means.")
    one, other = (table.value(what) for what in (first, second))
    return _of_pairs(one, other, table.where(call.where), table)


_Side = Average | Conditional
_Pair = tuple[RowValue, RowValue, Expression | None]


def _same_rows(first: _Side, second: _Side) -> _Pair | None:
    """The values of two means over the same rows, and which: the mean of their difference.

    That is one question, and its interval knows how the values go together.
    """
    (one, rows), (other, other_rows) = map(_value_and_rows, (first, second))
    plain = all(isinstance(value.source, Expression) for value in (one, other))
    declared = any(isinstance(side, Mean) and side.variance is not None for side in (first, second))
    if rows != other_rows or one == other or declared or not plain:
        return None
    return one, other, rows


def _value_and_rows(side: _Side) -> tuple[RowValue, Expression | None]:
    if isinstance(side, Mean):
        return side.row, None
    return side.value, side.condition


def _of_pairs(
    first: RowValue, second: RowValue, where: Expression | None, table: Table
) -> Paired | Average | Conditional:
    """The mean difference of two values of the same rows."""
    if where is None and first.is_condition and second.is_condition:
        return Paired(first, second)
    value = row_value(build.arithmetic(Op.SUBTRACT, *map(as_counted, (first, second))))
    return table.mean(value, where)


AVERAGES = (
    Entry(
        "avg",
        "avg(delay > 15)",
        "the mean of a value, or the share of rows with a condition; also mean or proportion",
        (1, 1),
        _bind_average,
    ),
    Entry(
        "sum",
        "sum(value, size of the population)",
        "the total over a population of known size",
        (2, 2),
        _bind_total,
    ),
    Entry(
        "count",
        "count(condition, size of the population)",
        "how many members of a population of known size",
        (2, 2),
        _bind_total,
    ),
    Entry(
        "difference",
        "difference(first, second)",
        "of two values of the same rows, or of the means of two groups",
        (2, 2),
        _bind_difference,
    ),
)
