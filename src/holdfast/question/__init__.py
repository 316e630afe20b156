"""Questions: bounded values of a row, the averages made of them, and their canonical text."""

from holdfast.question.columns import Schema, declared_bounds
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.functions import row_function
from holdfast.question.row import GRID, GRID_ERROR, RowValue
from holdfast.question.statistic import Mean, MeanOf, Question, bind, mean, parse_average

__all__ = [
    "GRID",
    "GRID_ERROR",
    "ColumnType",
    "Expression",
    "Mean",
    "MeanOf",
    "Question",
    "RowValue",
    "Schema",
    "bind",
    "declared_bounds",
    "mean",
    "parse_average",
    "row_function",
]
