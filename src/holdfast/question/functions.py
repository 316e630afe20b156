"""Rows valued by a Python function of a batch of rows, with declared bounds.

The function sees rows as a Polars frame with plain types: Boolean, Int64, Float64 (NaN as null),
String, Date and Datetime in microseconds, whatever engine holds the data. It must work row by row:
the value of a row may not depend on the rows beside it. One that does not is found by rows that are
invented, which it is given together and one by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import ColumnType, identifier, numeral
from holdfast.question.row import RowValue, check_width

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RowFunction:
    """A Python function of a batch of rows. Its identity is its name and version, not its code."""

    function: Callable[[pl.DataFrame], object]
    columns: tuple[str, ...]
    bounds: Range
    name: str
    version: str

    @property
    def text(self) -> str:
        """The identity: a new version is a new question."""
        columns = ", ".join(identifier(column) for column in self.columns)
        return f"function {json.dumps(self.name)} version {json.dumps(self.version)} of ({columns})"

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """The function's numbers, one for each row."""
        import numpy as np
        import polars as pl

        result = self.function(frame.select(self.columns))
        if isinstance(result, pl.Series):
            result = result.cast(pl.Float64).to_numpy()
        numbers = np.asarray(result)
        if numbers.shape != (frame.height,):
            raise InvalidQuestion(
                f"Function {self.name!r} must give one number for each row of the batch."
            )
        return numbers.astype(np.float64)


def row_function(
    function: Callable[[pl.DataFrame], object],
    *,
    columns: Sequence[str],
    bounds: tuple[float, float],
    name: str,
    version: str,
) -> RowFunction:
    """A Python function of a batch of rows (a Polars frame with these columns) as a row value.

    It returns one number for each row. Whatever it does with a row, the row has a value: NaN, an
    infinity or an exception is a missing value (it counts as 0, or as the bound nearest to 0), a
    number outside `bounds` counts as the nearest bound. A function is known by `name` and
    `version`: change the version whenever its meaning changes, since the same name and version are
    answered from the ledger.
    """
    if not callable(function):
        raise InvalidArgument("function must be callable with a frame of rows.")
    names = require.texts("columns", columns)
    if not names:
        raise InvalidArgument("columns must be a list with the names of the columns it reads.")
    for noun, value in (("name", name), ("version", version)):
        if not isinstance(value, str) or not 0 < len(value) <= 200:
            raise InvalidArgument(f"{noun} must be text of 1 to 200 characters.")
    return RowFunction(function, tuple(dict.fromkeys(names)), bounds_pair(bounds), name, version)


def require_own(schema: Schema, names: Iterable[str]) -> None:
    """Refuse what is no column by this very name: functions are given their columns by it."""
    for name in names:
        column = schema.column(name, quoted=True)
        if column.name != name:
            raise InvalidQuestion(
                f"{name!r} is another name of column {column.name!r}; a function must name the "
                "column itself."
            )


def bind_function(function: RowFunction, schema: Schema) -> RowValue:
    """The function as a row value of this table; tried on invented rows, never on the table's."""
    require_own(schema, function.columns)
    invented = _invented_rows(schema, function.columns).drop_nulls()
    try:
        function.values(invented)
    except MemoryError:
        raise
    except Exception as failure:
        # It may only know values that were not invented: then it works on no rows at all.
        try:
            function.values(invented.clear())
        except Exception:
            raise InvalidQuestion(
                f"Function {function.name!r} fails on invented rows with {type(failure).__name__}: "
                f"{str(failure)[:200]}"
            ) from failure
    _require_row_by_row(function, invented)
    low, high = function.bounds
    check_width(function.bounds)
    text = f"{function.text} in [{numeral(low)}, {numeral(high)}]"
    return RowValue(function, low, high, text, is_condition=False)


def _require_row_by_row(function: RowFunction, invented: pl.DataFrame) -> None:
    """Refuse a function that values invented rows otherwise together than one by one."""
    import numpy as np
    import polars as pl

    rows, alone = [], []
    for row in invented.iter_slices(1):
        with suppress(Exception):  # it may not know what was invented
            alone.append(function.values(row))
            rows.append(row)
    if not rows:
        return
    try:
        is_alike = are_alike(function.values(pl.concat(rows)), np.concatenate(alone))
    except Exception:  # it fails on rows together that it values alone
        is_alike = False
    if not is_alike:
        raise InvalidQuestion(
            f"Function {function.name!r} values {len(rows)} invented rows otherwise together than "
            "one by one; the value of a row may depend on that row alone: compute what it needs of "
            "others, such as means, from other rows before."
        )


def are_alike(together: NDArray[np.float64], alone: NDArray[np.float64]) -> bool:
    """Whether numbers are the same, but for the rounding of sums in another order."""
    import numpy as np

    return np.allclose(together, alone, rtol=1e-4, atol=1e-6, equal_nan=True)


_INVENTED: dict[ColumnType, list[Any]] = {
    ColumnType.BOOLEAN: [True, False, None, True, False],
    ColumnType.INTEGER: [1, 0, -3, None, 2013],
    ColumnType.FLOAT: [0.5, -1.25, 1e6, 0.0, None],
    ColumnType.TEXT: ["a", "AB", "", "2013-01-31", None],
    ColumnType.DATE: [date(2013, 1, 31), date(1969, 7, 20), None, date(2024, 2, 29), date.min],
    ColumnType.DATETIME: [
        datetime(2013, 1, 31, 17, 45),
        datetime(1969, 7, 20, 20, 17, 40),
        None,
        datetime(2024, 2, 29),
        datetime(2000, 1, 1, 0, 0, 0, 1),
    ],
}


def _invented_rows(schema: Schema, columns: Sequence[str]) -> pl.DataFrame:
    """A few rows of the table's types, made up: the first two have no missing value."""
    import polars as pl

    dtypes = {
        ColumnType.BOOLEAN: pl.Boolean(),
        ColumnType.INTEGER: pl.Int64(),
        ColumnType.FLOAT: pl.Float64(),
        ColumnType.TEXT: pl.String(),
        ColumnType.DATE: pl.Date(),
        ColumnType.DATETIME: pl.Datetime("us"),
    }
    types = {column: schema.types[column] for column in columns}
    return pl.DataFrame(
        {column: _INVENTED[type_] for column, type_ in types.items()},
        schema={column: dtypes[type_] for column, type_ in types.items()},
    )
