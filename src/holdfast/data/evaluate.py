"""Row expressions over a frame in memory: for what needs the values themselves, not their sums.

Mechanisms and statistics that plan, price or audit import this and have no frame: only whoever has
one loads Polars.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from holdfast.data.sample import plain_frames, reading, steps_of_batch
from holdfast.question.expression import Expression, column_names
from holdfast.question.row import RowValue
from holdfast.question.writing import Writer

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["evaluate", "steps_of_frame"]


def evaluate(frame: pl.DataFrame, expressions: Sequence[Expression]) -> list[pl.Series]:
    """The values of each expression, one for each row of the frame; NULL where it is missing."""
    from holdfast.data.plain import cleaned
    from holdfast.data.polars_code import PolarsLanguage

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


def steps_of_frame(frame: pl.DataFrame, rows: Sequence[RowValue]) -> list[NDArray[np.int64]]:
    """For each row value the steps of each row of a frame: those that an engine would sum."""
    expressions = [row.source for row in rows if isinstance(row.source, Expression)]
    values = iter(evaluate(frame, expressions) if expressions else [])
    return [
        _steps(row, next(values)) if isinstance(row.source, Expression) else _of_batch(row, frame)
        for row in rows
    ]


def _steps(row: RowValue, values: pl.Series) -> NDArray[np.int64]:
    if row.is_condition:
        return values.fill_null(value=False).cast(int).to_numpy()
    grid = row.grid
    numbers = values.cast(float).fill_null(row.missing).to_numpy()
    return (numbers - grid.origin + grid.shift).view(np.int64) - grid.code_of_low


def _of_batch(row: RowValue, frame: pl.DataFrame) -> NDArray[np.int64]:
    (batch,) = plain_frames([frame.select(row.columns)])
    return steps_of_batch(row, batch)
