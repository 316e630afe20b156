"""Which groups there are: as it is publicly known, or as it is discovered in the protected rows.

Known are, in this order, the groups of a design, the declared values of a column, both truth
values, the whole numbers of a short declared range, and what other rows have. To look into the
protected rows ends asks and checks: whoever names a group by them has seen more than answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product

from holdfast import require
from holdfast.data.design import DesignValue, in_order
from holdfast.data.groups import group_sizes
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.holdout.closing import close
from holdfast.holdout.cost import Cost
from holdfast.holdout.describing import is_describable
from holdfast.holdout.desk import Desk
from holdfast.holdout.reading import as_named
from holdfast.holdout.widths import NamedWidth
from holdfast.question.columns import Schema
from holdfast.question.expression import Column, ColumnType
from holdfast.statistics.bind import Question
from holdfast.statistics.labelled import GroupsOf, grouping_column, of_group, whole_text
from holdfast.statistics.named import TableCall
from holdfast.wording import plural

__all__ = ["cost_of_discovering", "groups_for", "knowing"]

_MOST_DISCOVERED = 1_000
_LONGEST_RANGE = 40  # whole numbers of a declared range
# A group that stands for all of its column: what can be asked does not depend on its value.
_ANY_MEMBER: dict[ColumnType, DesignValue] = {
    ColumnType.BOOLEAN: True,
    ColumnType.INTEGER: 0,
    ColumnType.TEXT: "",
}

_Group = tuple[DesignValue, ...]


def knowing(desk: Desk, others: Sample | None) -> GroupsOf:
    """The groups that are known without the protected rows; `others` are rows to take them from."""
    return partial(_known, desk, others)


def _known(desk: Desk, others: Sample | None, columns: Sequence[Column]) -> Sequence[_Group]:
    names = [column.name for column in columns]
    if set(names) <= set(desk.table.design.columns):
        return desk.table.design.combinations(names)
    declared = [_declared(desk, column) for column in columns]
    unknown = [name for name, values in zip(names, declared, strict=True) if values is None]
    if not unknown:
        return list(product(*(values or () for values in declared)))
    observed = sorted(group_sizes(_other_rows(desk, others, unknown), unknown), key=in_order)
    if len(unknown) == len(names):
        return observed
    seen = [value for (value,) in observed]
    return list(product(*(seen if values is None else values for values in declared)))


def _declared(desk: Desk, column: Column) -> Sequence[DesignValue] | None:
    """The values of a column as they were declared; None if they were not."""
    schema: Schema = desk.table.schema
    if column.name in desk.table.design.columns:
        return desk.table.design.members(column.name)
    if column.name in schema.values:
        return schema.values[column.name]
    if column.type is ColumnType.BOOLEAN:
        return (False, True)
    if column.type is ColumnType.INTEGER and column.name in schema.bounds:
        low, high = schema.bounds[column.name]
        if high - low < _LONGEST_RANGE:
            return range(math.ceil(low), math.floor(high) + 1)
    return None


def _other_rows(desk: Desk, others: Sample | None, names: Sequence[str]) -> Sample:
    """Rows to take groups from, which are not the protected ones."""
    rows = desk.train if others is None else others
    missing = [name for name in names if rows is None or name not in rows.types]
    if rows is None or missing:
        raise InvalidQuestion(
            f"by={missing[0]!r} needs to know the groups without looking at the protected rows: "
            "declare its values= (or a range of whole numbers) in the schema, attach other rows "
            "with train= (--train FILE), declare design= (--design at init), or ask each group "
            "with where=."
        )
    return rows


def groups_for(
    desk: Desk,
    question: Question | TableCall,
    width: NamedWidth,
    *,
    discover: bool,
    top: int | None,
) -> GroupsOf:
    """The groups that are known; or to `discover`, those of the protected rows.

    Of them the `top` largest, if so many are wanted. To look ends asks and checks.
    """
    if discover:
        if width.is_named:
            raise InvalidArgument(
                "tolerance= and half_width= ask on the ledger, which discover= closes; give one."
            )
        most = None if top is None else require.positive_integer("top", top)
        return partial(_discovered, desk, _with_groups(question), most)
    if top is not None:
        raise InvalidArgument("top= chooses among discovered groups; it needs discover=True.")
    return knowing(desk, None)


def cost_of_discovering(desk: Desk, question: Question | TableCall) -> Cost:
    """What it costs to discover groups, whatever they are; refused where it is not possible."""
    call = _with_groups(question)
    columns = [grouping_column(name, desk.table) for name in call.by]
    _require_discoverable(desk, call, columns)
    text = whole_text(call, desk.table, [column.name for column in columns])
    return Cost(text, None, 0.0, 0.0, 0, closes=True)


def _with_groups(question: Question | TableCall) -> TableCall:
    call = as_named(question)
    if isinstance(call, TableCall) and call.by:
        return call
    raise InvalidArgument("discover= finds the groups of by=, and the question has none.")


def _discovered(
    desk: Desk, call: TableCall, top: int | None, columns: Sequence[Column]
) -> Sequence[_Group]:
    _require_discoverable(desk, call, columns)
    names = [column.name for column in columns]
    rows = close(desk, f"the groups by {', '.join(names)} were looked up in the protected rows")
    sizes = group_sizes(rows, names)
    if top is None:
        wanted = sorted(sizes, key=in_order)
    else:
        wanted = sorted(sizes, key=lambda group: (-sizes[group], in_order(group)))[:top]
    if len(wanted) > _MOST_DISCOVERED:
        raise InvalidArgument(
            f"by {', '.join(names)} there are {plural(len(wanted), 'group')}, and at most "
            f"{_MOST_DISCOVERED:,} are asked together; ask for the largest ones with top=."
        )
    return wanted


def _require_discoverable(desk: Desk, call: TableCall, columns: Sequence[Column]) -> None:
    """Refuse, before anything is closed, groups that could not be asked about afterwards."""
    if desk.ground is None:
        raise InvalidArgument(
            "discover= needs described answers, and this ledger has none; open one with "
            "described='exact', or name the groups with values=, design= or train=. Nothing was "
            "spent."
        )
    anyone = of_group(call, desk.table, columns, [_ANY_MEMBER[each.type] for each in columns])
    if not is_describable(desk, anyone):
        raise InvalidQuestion(
            f"{call.name} has no described answer in groups like these, and nothing else may be "
            "asked once groups were discovered; name them with values=, design= or train=. "
            "Nothing was spent."
        )
