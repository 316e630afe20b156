"""Row expressions over a frame in memory: for what needs the values themselves, not their sums."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from holdfast.data.plain import cleaned
from holdfast.data.polars_code import PolarsLanguage
from holdfast.data.sample import reading
from holdfast.question.expression import Expression, column_names
from holdfast.question.writing import Writer

__all__ = ["evaluate"]


def evaluate(frame: pl.DataFrame, expressions: Sequence[Expression]) -> list[pl.Series]:
    """The values of each expression, one for each row of the frame; NULL where it is missing."""
    columns = sorted({name for each in expressions for name in column_names(each)})
    names = {column: f"c{place}" for place, column in enumerate(columns)}
    writer = Writer(PolarsLanguage(names))
    codes = [writer.write(expression) for expression in expressions]
    table = frame.lazy().select(
        cleaned(column, frame.schema[column]).alias(name) for column, name in names.items()
    )
    for stage in writer.stages:
        table = table.with_columns(code.alias(name) for name, code in stage.items())
    wanted = [code.alias(f"v{place}") for place, code in enumerate(codes)]
    with reading():
        found = table.select(wanted).collect().get_columns()
    # What uses no column comes as one value, and is that of every row.
    return [each if len(each) == frame.height else _repeated(each, frame.height) for each in found]


def _repeated(one: pl.Series, height: int) -> pl.Series:
    return one.new_from_index(0, height)
