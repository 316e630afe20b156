"""What is public of the protected table, and the means that can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.data.design import NO_DESIGN, Design
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.columns import Schema
from holdfast.question.expression import Column, Expression, ValueKind
from holdfast.question.functions import RowFunction, bind_function
from holdfast.question.parse import parse_row
from holdfast.question.polars_row import from_polars
from holdfast.question.row import RowValue, row_value
from holdfast.question.scale import Scale
from holdfast.question.text import text_of
from holdfast.statistics.derived import Conditional
from holdfast.statistics.mean import Average, Mean, expression_of, group_mean

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """The columns with their declared bounds, and the design."""

    schema: Schema
    design: Design = NO_DESIGN

    def value(self, what: Any, bounds: tuple[float, float] | None = None) -> RowValue:
        """A value of a row, from whatever may name one."""
        if isinstance(what, RowFunction):
            if bounds is not None:
                raise InvalidQuestion(
                    "The bounds of a row_function are given to row_function itself."
                )
            return bind_function(what, self.schema)
        found = self.expression(what, bounded=bounds is None)
        return row_value(found if bounds is None else build.clip(found, *bounds))

    def scale(self, what: Any) -> Scale | None:
        """The scale that is declared for a column, where a value is just that column."""
        if not self.schema.scales or isinstance(what, RowFunction):
            return None
        found = self.expression(what)
        return self.schema.scales.get(found.name) if isinstance(found, Column) else None

    def expression(self, what: Any, *, bounded: bool = False) -> Expression:
        """A row expression; with `bounded`, declared bounds are applied to its columns."""
        if isinstance(what, Expression):
            return what
        if isinstance(what, str):
            return parse_row(what, self.schema, bounded=bounded)
        if isinstance(what, RowFunction):
            raise InvalidQuestion("This needs a row expression, not a row_function.")
        return from_polars(what, self.schema, bounded=bounded)

    def condition(self, what: Any) -> Expression:
        """A row expression that is true or false."""
        found = self.expression(what)
        if found.kind is not ValueKind.BOOLEAN:
            raise InvalidQuestion(f"A condition is needed, and {text_of(found)} is {found.kind}.")
        return found

    def where(self, what: str | Expression | None) -> Expression | None:
        """The condition of a `where`."""
        return None if what is None else self.condition(what)

    def mean(self, value: RowValue, where: Expression | None) -> Average | Conditional:
        """The mean of a value, of all rows or among those where a condition holds."""
        if where is None or where == build.TRUE:
            return Mean(value)
        if where == build.FALSE:
            raise InvalidQuestion("The condition of where= holds for no row, whatever the data.")
        if self.design.covers(where):
            return group_mean(value, where, self.design.group(where))
        expression_of(value)  # a Python function has no residual
        return Conditional(value, where)

    def average(self, value: RowValue, where: Expression | None) -> Average:
        """The mean as one statistic: of all rows, or of a group of public size."""
        found = self.mean(value, where)
        if isinstance(found, Conditional):
            raise InvalidQuestion(
                f"A where must be about design columns here, and {text_of(found.condition)} is "
                "not: the size of its group is not public. Declare design=[...] when the ledger is "
                "opened, or ask for a mean."
            )
        return found
