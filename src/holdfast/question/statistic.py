"""Statistics: what is asked about the population, made of row values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, overload

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.columns import Schema, bounds_pair
from holdfast.question.expression import Call, Column, Constant, Expression
from holdfast.question.functions import RowFunction, bind_function
from holdfast.question.parse import parse_row, parse_row_of_average
from holdfast.question.polars_row import from_polars
from holdfast.question.row import RowValue, row_value

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Mean", "MeanOf", "MeansBy", "Question", "bind", "mean", "parse_average"]


@dataclass(frozen=True, slots=True)
class Mean:
    """The average of a row value over the rows."""

    row: RowValue

    @property
    def text(self) -> str:
        """The canonical text: two questions are the same question when their texts are equal."""
        return f"avg({self.row.text})"

    @property
    def low(self) -> float:
        """The least value the average can have."""
        return self.row.low

    @property
    def high(self) -> float:
        """The greatest value the average can have."""
        return self.row.high


@dataclass(frozen=True, slots=True, eq=False)
class MeanOf:
    """A mean that has not met its table yet: made by `mean`, completed by `bind`."""

    what: str | Expression | RowFunction | pl.Expr
    bounds: tuple[float, float] | None
    where: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MeansBy:
    """A mean for each value of a column: made by `mean` with `by=`."""

    mean: MeanOf
    by: str


Question: TypeAlias = str | MeanOf | Mean


@overload
def mean(
    what: str | Expression | RowFunction | pl.Expr,
    *,
    bounds: tuple[float, float] | None = None,
    where: str | None = None,
) -> MeanOf: ...
@overload
def mean(
    what: str | Expression | RowFunction | pl.Expr,
    *,
    bounds: tuple[float, float] | None = None,
    where: str | None = None,
    by: str,
) -> MeansBy: ...
def mean(
    what: str | Expression | RowFunction | pl.Expr,
    *,
    bounds: tuple[float, float] | None = None,
    where: str | None = None,
    by: str | None = None,
) -> MeanOf | MeansBy:
    """The average of a row expression.

    `what` is text (``"arr_delay > 15"``), a Polars expression, or a `row_function`. With `bounds`
    the value is clipped: ``mean("x", bounds=(0, 9))`` is ``avg(clip(x, 0, 9))``. `where` asks for
    the mean among the rows where a condition holds, `by` for each value of a column.
    """
    pair = None if bounds is None else bounds_pair(bounds)
    made = MeanOf(what, None if pair is None else (pair.low, pair.high), where)
    return made if by is None else MeansBy(made, by)


def parse_average(text: str, schema: Schema) -> Mean:
    """The question spelled ``avg(<row expression>)``."""
    return Mean(row_value(parse_row_of_average(text, schema)))


def bind(question: Question, schema: Schema) -> Mean:
    """The question asked of a table with these columns; nothing of the table is touched."""
    if isinstance(question, str):
        return parse_average(question, schema)
    if isinstance(question, Mean):
        for column in question.row.columns:
            schema.column(column, quoted=True)
        return question
    if isinstance(question, MeanOf):
        if question.where is not None:
            raise InvalidQuestion("A mean with where= is asked by itself, with ask or check.")
        return Mean(_row(question, schema))
    raise InvalidQuestion(
        f"A question is text such as avg(delay > 15), or mean(...), not {type(question).__name__}."
    )


def _row(question: MeanOf, schema: Schema) -> RowValue:
    what, bounds = question.what, question.bounds
    if isinstance(what, str):
        what = parse_row(what, schema, bounded=bounds is None)
    if isinstance(what, Column | Constant | Call):
        return row_value(what if bounds is None else build.clip(what, *bounds))
    if isinstance(what, RowFunction):
        if bounds is not None:
            raise InvalidQuestion("The bounds of a row_function are given to row_function itself.")
        return bind_function(what, schema)
    if type(what).__module__.partition(".")[0] == "polars":
        return from_polars(what, schema, bounds)
    raise InvalidQuestion(
        f"mean(...) takes text, a Polars expression or a row_function, not {type(what).__name__}."
    )
