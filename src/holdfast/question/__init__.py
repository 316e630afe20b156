"""Questions: bounded values of a row, and their canonical text."""

from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.functions import row_function
from holdfast.question.parse import parse_row
from holdfast.question.row import GRID, GRID_ERROR, RowValue, row_value

__all__ = [
    "GRID",
    "GRID_ERROR",
    "ColumnType",
    "Expression",
    "RowValue",
    "Schema",
    "parse_row",
    "row_function",
    "row_value",
]
