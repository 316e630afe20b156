"""The group of rows that a described question is about, and whose sizes are told with it.

These are the rows of a `where` that have a value: how many there are, and how many are missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.described.rule import Ground
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue, condition_row
from holdfast.statistics.mean import rows_with_value

__all__ = ["GroupRows", "group_of_rows"]


@dataclass(frozen=True, slots=True)
class GroupRows:
    """Rows that are told by their number; `log_sizes` and `known` are those of `GroupSizes`.

    `around` is the group with its missing rows, where it is told too.
    """

    inside: Expression
    around: tuple[RowValue, ...]
    log_sizes: tuple[float, ...]
    known: bool

    @property
    def counted(self) -> tuple[RowValue, ...]:
        """The conditions whose rows are counted, in the order of their levels."""
        return (*self.around, condition_row(self.inside))


def group_of_rows(where: Expression | None, ground: Ground, *values: RowValue) -> GroupRows | None:
    """The rows in `where` that have all values; None if those are all rows."""
    inside = rows_with_value(where, *values)
    if inside is None:
        return None
    known = inside != where
    around = (where,) if where is not None and known else ()
    return GroupRows(
        inside,
        tuple(map(condition_row, around)),
        tuple(map(ground.log_share, (*around, inside))),
        known,
    )
