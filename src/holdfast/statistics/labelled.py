"""Several statistics asked together: for each group, in each bin, at each threshold.

Which groups, bins and thresholds there are is public before anything is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from holdfast import require
from holdfast.data.design import ANY_GROUP, DesignValue
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import (
    Column,
    ColumnType,
    Expression,
    Op,
    ValueKind,
    identifier,
    numeral,
    text_of,
)
from holdfast.statistics.bind import TABLES, bind
from holdfast.statistics.entry import MOST_WHOLE, Bound, Call, Table, TableCall, number_of
from holdfast.statistics.vectors import VECTOR, coordinates, vector_text

Label: TypeAlias = DesignValue | float | tuple[DesignValue, ...]
# The groups of some columns: for each a value of every column.
GroupsOf: TypeAlias = Callable[[Sequence[Column]], Sequence[tuple[DesignValue, ...]]]

THRESHOLDS = 32  # of a distribution, where none are named
_GROUPING = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.TEXT)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Statistics that are asked together, each with its label; `by` names the parts of labels.

    `text` is what was asked for, as the ledger tells it; `kind` is "groups" or the name of a table.
    """

    text: str
    kind: str
    by: tuple[str, ...]
    members: tuple[tuple[Label, Bound], ...]

    @property
    def vector(self) -> str | None:
        """Its text, where the members are the coordinates of a vector: one question."""
        return self.text if self.kind == VECTOR else None


def labelled(
    call: TableCall,
    table: Table,
    groups: GroupsOf,
    bound: Callable[[Call], Bound] | None = None,
) -> Labelled:
    """The statistics of a table of answers, each bound to the table by itself.

    `groups` tells the values of the columns that are grouped by.
    """
    of_table = bound or (lambda member: bind(member, table))
    match call.name:
        case "histogram":
            by, members = _histogram(call, table)
        case "distribution":
            by, members = _distribution(call, table)
        case _ if call.name == VECTOR:
            by, members = ("coordinate",), list(coordinates(call, table))
        case _:
            by, members = _groups(call, table, groups)
    kind = call.name if call.name in TABLES else "groups"
    bound_members = tuple((label, of_table(member)) for label, member in members)
    return Labelled(whole_text(call, table, by), kind, by, bound_members)


_Members: TypeAlias = tuple[tuple[str, ...], list[tuple[Label, Call]]]


def whole_text(call: TableCall, table: Table, by: Sequence[str]) -> str:
    """The canonical text of the whole: each member's is another."""
    if call.name == VECTOR:
        return vector_text(call, table)
    if call.name in TABLES:
        value, *places = call.arguments
        if call.bounds is not None and not places:
            places = _spread_evenly(call, table)
        numbers = [numeral(number_of("place", place)) for place in places]
        where = table.where(call.where)
        among = "" if where is None else f" where {text_of(where)}"
        return f"{call.name}({', '.join([text_of(table.expression(value)), *numbers])}){among}"
    plain = Call(call.name, call.arguments, call.where, call.bounds)
    whole = bind(plain, replace(table, design=ANY_GROUP)).text
    return f"{whole} by {', '.join(map(identifier, by))}"


def _groups(call: TableCall, table: Table, groups: GroupsOf) -> _Members:
    columns = tuple(grouping_column(name, table) for name in call.by)
    names = tuple(column.name for column in columns)
    groups_found = groups(columns)
    if not groups_found:
        raise InvalidQuestion(
            f"by={', '.join(names)!r} has no group: all values that are known are NULL."
        )
    return names, [
        (values if len(values) > 1 else values[0], of_group(call, table, columns, values))
        for values in groups_found
    ]


def of_group(
    call: TableCall, table: Table, columns: Sequence[Column], values: Sequence[DesignValue]
) -> Call:
    """The statistic in one group."""
    where = table.where(call.where)
    conditions = [] if where is None else [where]
    conditions += [_equals(*pair) for pair in zip(columns, values, strict=True)]
    within = build.conjunction(conditions)
    return Call(call.name, call.arguments, within, call.bounds)


def grouping_column(by: str, table: Table) -> Column:
    """A column that groups can be made of."""
    try:
        column = table.schema.column(by)
    except InvalidQuestion as error:
        if "," in by:
            several = [each.strip() for each in by.split(",")]
            raise InvalidQuestion(f"{error} Columns are a list: by={several!r}.") from None
        if "did you mean" in str(error):
            raise
        raise InvalidQuestion(f"{error} The person who asks is asked_by= (--asked-by).") from None
    if column.type not in _GROUPING and column.name not in table.schema.values:
        few = f" or declare its values, as in schema={{{column.name!r}: [0.5, 1, 2]}}"
        raise InvalidQuestion(
            f"by= needs a column of text, whole numbers or booleans, and {by!r} is {column.type}; "
            f"ask for one group, as in where {identifier(by)} > 2"
            f"{few if column.kind is ValueKind.NUMBER else ''}."
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


def _histogram(call: TableCall, table: Table) -> _Members:
    argument, *rest = call.arguments
    edges = [number_of("edge", edge) for edge in rest]
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise InvalidQuestion(
            f"A histogram needs at least two edges, each above the one before, not {edges}; write "
            f"it like histogram({text_of(table.expression(argument))}, 0, 10, 20)."
        )
    value = build.as_number(table.expression(argument), "a histogram")
    bins: list[tuple[Label, Call]] = []
    for low, high in pairwise(edges):
        last = high == edges[-1]
        upper = build.comparison(Op.AT_MOST if last else Op.BELOW, value, build.constant(high))
        inside = build.conjunction(
            [build.comparison(Op.AT_LEAST, value, build.constant(low)), upper]
        )
        label = f"[{numeral(low)}, {numeral(high)}{']' if last else ')'}"
        bins.append((label, Call("avg", (inside,), table.where(call.where))))
    return (text_of(value),), bins


def _distribution(call: TableCall, table: Table) -> _Members:
    """The share of rows up to each threshold: all of them rest on one event.

    It is that of a condition with an open constant, which a missing value never fulfils; the event
    of all quantiles counts missing values, and would be false of these shares.
    """
    argument, *rest = call.arguments
    value = build.as_number(table.expression(argument), "a distribution")
    points = [number_of("threshold", point) for point in rest] or _spread_evenly(call, table)
    if any(a >= b for a, b in pairwise(points)):
        raise InvalidQuestion(
            f"The thresholds of a distribution are in order, each above the one before, not "
            f"{points}."
        )
    return (text_of(value),), [
        (
            point,
            Call(
                "avg",
                (build.comparison(Op.AT_MOST, value, build.constant(point)),),
                table.where(call.where),
            ),
        )
        for point in points
    ]


def _spread_evenly(call: TableCall, table: Table) -> list[float]:
    """Thresholds from above the lower end of the declared range to its upper end."""
    value = table.value(call.arguments[0], call.bounds)
    width = require.positive("width of the range", value.high - value.low)
    return [value.low + width * place / THRESHOLDS for place in range(1, THRESHOLDS + 1)]
