"""Averages by name, and what is said of averages: totals, differences, the bins of a histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias, overload

from holdfast import require
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.declaring import Scale
from holdfast.question.expression import Column, ColumnType, Expression, Op, ValueKind, text_of
from holdfast.question.functions import RowFunction
from holdfast.question.row import RowValue, has_value, row_value
from holdfast.statistics.derived import (
    Conditional,
    Difference,
    OpenConditional,
    OpenDifference,
    Paired,
    Total,
    as_counted,
)
from holdfast.statistics.entry import (
    MOST_WHOLE,
    Better,
    Bounds,
    By,
    Call,
    Entry,
    Table,
    TableCall,
    What,
    grouped,
    number_of,
    pair_of,
    require_every_row,
    scale_between,
)
from holdfast.statistics.mean import (
    Average,
    GroupMean,
    Mean,
    expression_of,
    rows_with_value,
)
from holdfast.statistics.mean_events import (
    DESCRIBED_DIFFERENCES,
    DESCRIBED_MEANS,
    DESCRIBED_TOTALS,
    PRICES_OF_DIFFERENCES,
    PRICES_OF_MEANS,
)
from holdfast.statistics.statistic import ConcentratedGroupMean, ConcentratedMean

MEANS = ("avg", "mean", "proportion")  # three words for one statistic


@overload
def mean(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    variance: float | None = None,
    sigma: float | None = None,
    b: float | None = None,
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
    sigma: float | None = None,
    b: float | None = None,
) -> Call | TableCall:
    """The average of a value of the rows.

    `where` asks for the mean among the rows where a condition holds, `by` for each value of a
    column, or of two. `variance` declares that the value's variance is at most this, in its own
    unit squared: the interval is then narrower, and rests on the declaration.

    A number without a range is asked for with `sigma`: each row's value is declared to be
    sub-Gaussian about its expectation with this scale (with `b`, sub-exponential); see
    docs/unbounded.md.
    """
    call = Call("avg", (what,), where, pair_of(bounds), variance, scale=_scale(sigma, b))
    return grouped(call, by)


def _scale(sigma: float | None, b: float | None) -> Scale | None:
    if sigma is None and b is not None:
        raise InvalidArgument(f"b is {b!r}, and there is no sigma; give sigma= and b=.")
    return None if sigma is None else Scale(sigma, b)


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


@overload
def difference(
    first: What | Call,
    second: What | Call,
    *,
    where: str | None = None,
    better: Better | None = None,
) -> Call: ...
@overload
def difference(
    first: What | Call, second: What | Call, *, where: str | None = None, by: By
) -> TableCall: ...
def difference(
    first: What | Call,
    second: What | Call,
    *,
    where: str | None = None,
    by: By | None = None,
    better: Better | None = None,
) -> Call | TableCall:
    """The first minus the second.

    Two values are paired on the same rows: ``difference("new = label", "old = label")``. Two means
    of groups are not: ``difference(mean(x, where=...), mean(x, where=...))``; a group against all
    other rows is ``difference(mean(x, where=...), "rest")``. `where` is a condition for both sides,
    `by` asks for each value of a column, or of two. With `better` ("higher" or "lower") the answer
    says whether the first is better, worse, or cannot be told.
    """
    if better is not None and (not isinstance(better, str) or better not in ("higher", "lower")):
        raise InvalidArgument(f"better is {better!r}; it must be 'higher' or 'lower'.")
    return grouped(Call("difference", (first, second), where, better=better), by)


@overload
def effect(what: What, arm: What, *, bounds: Bounds = None, where: str | None = None) -> Call: ...
@overload
def effect(
    what: What, arm: What, *, bounds: Bounds = None, where: str | None = None, by: By
) -> TableCall: ...
def effect(
    what: What,
    arm: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    by: By | None = None,
) -> Call | TableCall:
    """The mean of a value in one arm minus that in the other.

    `arm` is a condition, which holds in the treated arm, or a column with two declared values, of
    which one called control, placebo or the like, else the first, is what the other is compared
    with.
    """
    return grouped(Call("effect", (what, arm), where, pair_of(bounds)), by)


def histogram(what: What, edges: Sequence[float], *, where: str | None = None) -> TableCall:
    """The share of rows in each bin between neighbouring edges; the last bin has both its ends."""
    allowed = "the ends of all bins in order, such as [0, 10, 20]"
    ends = _places("edges", edges, allowed)
    if not ends:
        raise InvalidArgument(f"edges is {edges!r}; it must be {allowed}.")
    return TableCall("histogram", (what, *ends), where)


def _places(name: str, places: object, allowed: str) -> list[Any]:
    """Places on the number line, one by one."""
    if isinstance(places, str):
        raise InvalidArgument(f"{name} is {places!r}; it must be {allowed}.")
    return require.items(name, places, allowed)


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


_OpenMean: TypeAlias = ConcentratedMean | ConcentratedGroupMean | OpenConditional
_AnySide: TypeAlias = Average | Conditional | _OpenMean


def _bind_average(call: Call, table: Table) -> _AnySide:
    (what,) = call.arguments
    if call.scale is not None:
        return open_mean(call, call.scale, table)
    declared = table.scale(what) if call.bounds is None and call.variance is None else None
    open_group = declared is not None and not has_range(what, table)
    if declared is not None and (call.where is None or open_group):
        return open_mean(call, declared, table)
    value = table.value(what, call.bounds)
    where = table.where(call.where)
    if call.variance is None:
        return table.mean(value, where)
    if where is not None:
        raise InvalidQuestion("A variance is declared for a mean of all rows, without where=.")
    require_every_row("A mean with a declared variance", value.known)
    return Mean(value, require.non_negative("variance", call.variance))


def has_range(what: Any, table: Table) -> bool:
    """Whether a value is in a range, declared or by what it is."""
    return range_of(table.expression(what, bounded=True)).finite


def open_mean(call: Call, scale: Scale, table: Table) -> _AnySide:
    """The mean of a number of which a scale is declared, for the question or for its column.

    Where it also has a range, the narrower radius is used. For every sampling and level Hoeffding's
    is that of a scale of half the range: a sigma above that says nothing.
    """
    (what,) = call.arguments
    if call.variance is not None:
        raise InvalidQuestion("A mean has a declared variance or a declared sigma, not both.")
    if isinstance(what, RowFunction):
        raise InvalidQuestion(
            "A sigma is declared for a row expression; a row_function has bounds, and a statistic "
            "of all rows (holdfast.statistic) may have its own sigma."
        )
    expression = table.expression(what, bounded=call.bounds is None)
    if call.bounds is not None:
        expression = build.clip(expression, *call.bounds)
    if expression.kind is not ValueKind.NUMBER:
        raise InvalidQuestion(
            "A sigma is declared for a number; a condition is between 0 and 1, and needs none."
        )
    require_every_row("A mean with a declared scale", has_value(expression))
    where = table.where(call.where)
    if call.share is not None and where is None:
        raise InvalidQuestion("A share is said of a group, and the mean is of all rows: no where.")
    if not range_of(expression).finite:
        whole = ConcentratedMean(expression, scale, usual=table.scale(expression) == scale)
        return whole if where is None else _open_group(whole, where, call.share, table)
    if where is not None:
        raise InvalidQuestion(
            f"{text_of(expression)} has a range, and a sigma beside it is for a mean of all rows, "
            "without where=; leave the sigma out."
        )
    value = row_value(expression)
    if value.is_condition or 2 * scale.sigma >= value.high - value.low:
        return Mean(value)
    return ConcentratedMean(expression, scale, value)


def _open_group(
    whole: ConcentratedMean, where: Expression, share: float | None, table: Table
) -> _OpenMean:
    """The mean of a number without a range in a group: by design, of a known share, or neither."""
    match table.mean(whole.value, where):
        case GroupMean(group=group) if share is None:
            return ConcentratedGroupMean(whole, where, group=group)
        case GroupMean():
            raise InvalidQuestion("The size of a design group is public; leave its share out.")
        case Conditional(inside=inside) as found:
            if share is not None:
                return ConcentratedGroupMean(whole, inside, share)
            return OpenConditional(found.value, found.condition, inside, whole)
    return whole


def _bind_total(call: Call, table: Table) -> Total:
    what, population = call.arguments
    value = table.value(what, call.bounds)
    if call.name == "count" and not value.is_condition:
        raise InvalidQuestion("count needs a condition; sum adds up numbers.")
    size = require.between("population", number_of("population", population), 1, MOST_WHOLE - 1)
    members = require.positive_integer("population", int(size) if size == int(size) else size)
    # What is missing adds nothing to a total.
    added = value if value.known == build.TRUE else _or_nothing(value)
    mean = table.average(added, table.where(call.where))
    if isinstance(mean, Conditional):
        raise TypeError(f"every row has {mean.value.text}")
    return Total(call.name, value, mean, members)


def _or_nothing(value: RowValue) -> RowValue:
    nothing = build.FALSE if value.is_condition else build.constant(0.0)
    return row_value(build.coalesce([expression_of(value), nothing]))


_AnyDifference: TypeAlias = Difference | Paired | Average | Conditional | _OpenMean


def _bind_difference(call: Call, table: Table) -> _AnyDifference:
    first, second = call.arguments
    if isinstance(first, Call) and second == _REST and _REST not in table.schema.types:
        second = _rest_of(first, table)
    if isinstance(first, Call) and isinstance(second, Call):
        within = table.where(call.where)
        sides = [_within(side, within, table) for side in (first, second) if side.name == "avg"]
        if len(sides) < 2:
            raise InvalidQuestion("The difference of two groups is that of two means.")
        if any(len(side.arguments) > 1 for side in sides):
            raise InvalidQuestion(
                "Each mean of a difference takes 1 argument; write it like "
                "difference(avg(delay) where arm = 'A', avg(delay) where arm = 'B')."
            )
        one, other = (_bind_average(side, table) for side in sides)
        if isinstance(one, _OpenMean) or isinstance(other, _OpenMean):
            return _open_difference(one, other, table)
        pair = _same_rows(one, other)
        return Difference(one, other) if pair is None else of_pairs(*pair, table)
    if isinstance(first, Call) or isinstance(second, Call):
        raise InvalidQuestion("A difference is of two values of the same rows, or of two means.")
    between = _number_between(first, second, table)
    if between is not None:
        return _bind_average(Call("avg", (between,), call.where), table)
    before, after = (table.value(what) for what in (first, second))
    return of_pairs(before, after, table.where(call.where), table)


def _number_between(first: What, second: What, table: Table) -> Expression | None:
    """One column minus another, where both have a scale and no range."""
    if isinstance(first, RowFunction) or isinstance(second, RowFunction):
        return None
    one, other = table.expression(first), table.expression(second)
    if one.kind is not ValueKind.NUMBER or other.kind is not ValueKind.NUMBER:
        return None
    between = build.arithmetic(Op.SUBTRACT, one, other)
    return None if table.scale(between) is None or has_range(between, table) else between


def _open_difference(first: _AnySide, second: _AnySide, table: Table) -> OpenDifference | _OpenMean:
    """Of two means of which one has no range: of the same rows, the mean of what is between."""
    one, other = map(_whole_of, (first, second))
    if one is None or other is None or first.among != second.among or one == other:
        return OpenDifference(first, second)
    between = build.arithmetic(Op.SUBTRACT, one.expression, other.expression)
    where, share = (getattr(first, name, None) for name in ("condition", "share"))
    scale = scale_between(one.scale, other.scale)
    difference = open_mean(Call("avg", (between,), where, share=share), scale, table)
    return difference if isinstance(difference, _OpenMean) else OpenDifference(first, second)


def _whole_of(mean: object) -> ConcentratedMean | None:
    """The mean of all rows of a number without a range."""
    whole = mean if isinstance(mean, ConcentratedMean) else getattr(mean, "whole", None)
    return whole if isinstance(whole, ConcentratedMean) and whole.bounded is None else None


_REST = "rest"  # all rows outside the group


def _rest_of(side: Call, table: Table) -> Call:
    """The same mean of all other rows: those where the condition is known, and does not hold."""
    inside = table.where(side.where)
    if inside is None:
        raise InvalidQuestion(
            "The rest is that of a group; write it like difference(avg(delay) where origin = "
            "'JFK', rest)."
        )
    return replace(side, where=build.negation(inside))


def _within(side: Call, where: Expression | None, table: Table) -> Call:
    """A side of a difference among the rows where a condition holds."""
    own = table.where(side.where)
    if where is None or own is None:
        return side if where is None else replace(side, where=where)
    return replace(side, where=build.conjunction([own, where]))


def _bind_effect(call: Call, table: Table) -> _AnyDifference:
    what, arm = call.arguments
    arms = arms_of(arm, table)
    if len(arms) > 1:
        raise InvalidQuestion(
            f"An effect compares two arms, and {text_of(table.expression(arm))} has "
            f"{len(arms) + 1} values; name one as a condition, as in effect(y, arm = 'b'), against "
            "the rest, or two groups with difference(...)."
        )
    sides = (Call("avg", (what,), condition, call.bounds) for condition in arms[0])
    return _bind_difference(Call("difference", tuple(sides), call.where), table)


_CONTROL = frozenset({"control", "placebo", "baseline", "standard", "none", "no", "off", "0", "a"})
_MOST_ARMS = 40


def arms_of(arm: Any, table: Table) -> list[tuple[Expression, Expression]]:
    """Each arm with the one that it is compared with, as conditions."""
    tree = table.expression(arm)
    if tree.kind is ValueKind.BOOLEAN:
        return [(tree, build.negation(tree))]
    values: Sequence[str | float] = ()
    if isinstance(tree, Column):
        bounds = table.schema.bounds.get(tree.name)
        values = table.schema.values.get(tree.name, ())
        if not values and bounds is not None and tree.type is ColumnType.INTEGER:
            whole = range(math.ceil(bounds.low), math.floor(bounds.high) + 1)
            values = [float(each) for each in whole] if len(whole) <= _MOST_ARMS else ()
    if len(values) < 2:
        raise InvalidQuestion(
            f"An effect compares arms, and the values of {text_of(tree)} are not declared; write "
            "a condition, as in effect(y, arm = 'treated'), or declare them: "
            f"declare(schema={{{text_of(tree)!r}: ['a', 'b']}}) (holdfast declare NAME --schema "
            f"FILE with [values] and {text_of(tree)} = ['a', 'b'])."
        )
    named = [each for each in values if str(each).lower() in _CONTROL]
    control = named[0] if len(named) == 1 else values[0]
    return [(_is(tree, each), _is(tree, control)) for each in values if each != control]


def _is(tree: Expression, value: str | float) -> Expression:
    return build.comparison(Op.EQUAL, tree, build.constant(value))


_Side = Average | Conditional
_Pair = tuple[RowValue, RowValue, Expression | None]


def _same_rows(first: _Side, second: _Side) -> _Pair | None:
    """The values of two means over the same rows, and which: the mean of their difference.

    That is one question, and its interval knows how the values go together.
    """
    (one, rows), (other, other_rows) = map(_value_and_rows, (first, second))
    plain = all(isinstance(value.source, Expression) for value in (one, other))
    together = one.known == other.known  # each mean leaves out its own rows
    declared = any(isinstance(side, Mean) and side.variance is not None for side in (first, second))
    if rows != other_rows or one == other or declared or not plain or not together:
        return None
    return one, other, rows


def _value_and_rows(side: _Side) -> tuple[RowValue, Expression | None]:
    if isinstance(side, Mean):
        return side.row, None
    return side.value, side.condition


def of_pairs(
    first: RowValue, second: RowValue, where: Expression | None, table: Table
) -> Paired | Average | Conditional:
    """The mean difference of two values of the same rows: those that have both."""
    conditions = first.is_condition and second.is_condition
    if where is None and conditions and rows_with_value(None, first, second) is None:
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
        described=DESCRIBED_MEANS,
        prices=PRICES_OF_MEANS,
    ),
    Entry(
        "sum",
        "sum(value, size of the population)",
        "the total over a population of known size",
        (2, 2),
        _bind_total,
        described=DESCRIBED_TOTALS,
    ),
    Entry(
        "count",
        "count(condition, size of the population)",
        "how many members of a population of known size",
        (2, 2),
        _bind_total,
        described=DESCRIBED_TOTALS,
    ),
    Entry(
        "difference",
        "difference(first, second)",
        "of two values of the same rows, or of the means of two groups",
        (2, 2),
        _bind_difference,
        described=DESCRIBED_DIFFERENCES,
        prices=PRICES_OF_DIFFERENCES,
    ),
    Entry(
        "effect",
        "effect(delay > 15, arm)",
        "the mean of a value in one arm minus that in the other",
        (2, 2),
        _bind_effect,
    ),
)
