"""An entry of a family of statistics: its name, its form, and what it is of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast import require
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.expression import Expression, Op, ValueKind
from holdfast.statistics.named import Call
from holdfast.statistics.table import Table

if TYPE_CHECKING:
    from holdfast.statistics.derived import Derived
    from holdfast.statistics.quantile import Quantile
    from holdfast.statistics.statistic import Statistic

__all__ = ["MOST_WHOLE", "Bound", "Entry", "number_of", "positive_label", "require_all_rows"]

Bound: TypeAlias = "Statistic | Derived | Quantile"

MOST_WHOLE = 2**53  # up to here, and not beyond, all whole numbers are doubles


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


def positive_label(label: Any, table: Table) -> Expression:
    """A condition that says which rows are positive; a column of numbers means 1."""
    found = table.expression(label)
    if found.kind is ValueKind.NUMBER:
        return build.comparison(Op.EQUAL, found, build.constant(1.0))
    return table.condition(found)


def require_all_rows(call: Call) -> None:
    """Refuse a `where` for a statistic that has no theorem for groups."""
    if call.where is not None:
        raise InvalidQuestion(f"{call.name} is asked of all rows: it has no where.")
