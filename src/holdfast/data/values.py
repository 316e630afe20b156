"""Values of rows beside each other, by units, or missing; row expressions over a frame in memory.

A value is the fraction steps/top of its range, on the exact grid of `holdfast.question.row`: the
same double on every engine, and off the row's own value by less than GRID_ERROR. Rows come sorted
by what they hold, so nothing depends on where they stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.data.histogram import Counting, summed_by, value_counts
from holdfast.data.sample import Sample, plain_frames, reading, sources, steps_of_batch
from holdfast.errors import InvalidArgument
from holdfast.question import build
from holdfast.question.columns import no_column
from holdfast.question.expression import Column, Expression
from holdfast.question.row import RowValue, condition_row
from holdfast.question.writing import write_rows

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

# Row expressions over a frame in memory: for what needs the values themselves, not their sums.
#
# Mechanisms and statistics that plan, price or audit import this and have no frame: only whoever
# has one loads Polars and NumPy.


def evaluate(frame: pl.DataFrame, expressions: Sequence[Expression]) -> list[pl.Series]:
    """The values of each expression, one for each row of the frame; NULL where it is missing."""
    from holdfast.data.plain import cleaned
    from holdfast.data.polars import PolarsLanguage

    code = write_rows(expressions, PolarsLanguage)
    table = frame.lazy().select(
        cleaned(column, frame.schema[column]).alias(name) for column, name in code.names.items()
    )
    for stage in code.stages:
        table = table.with_columns(value.alias(name) for name, value in stage.items())
    wanted = [value.alias(f"v{place}") for place, value in enumerate(code.codes)]
    with reading():
        series = table.select(wanted).collect().get_columns()
    # What uses no column comes as one value, and is that of every row.
    return [each if len(each) == frame.height else _repeated(each, frame.height) for each in series]


def _repeated(series: pl.Series, height: int) -> pl.Series:
    return series.new_from_index(0, height)


def steps_of_frame(frame: pl.DataFrame, rows: Sequence[RowValue]) -> list[NDArray[np.int64]]:
    """For each row value the steps of each row of a frame: those that an engine would sum."""
    expressions = [row.source for row in rows if isinstance(row.source, Expression)]
    values = iter(evaluate(frame, expressions) if expressions else [])
    return [
        _steps(row, next(values)) if isinstance(row.source, Expression) else _of_batch(row, frame)
        for row in rows
    ]


def _steps(row: RowValue, values: pl.Series) -> NDArray[np.int64]:
    import numpy as np

    if row.is_condition:
        return values.fill_null(value=False).cast(int).to_numpy()
    grid = row.grid
    numbers = values.cast(float).fill_null(row.missing).to_numpy()
    return (numbers - grid.origin + grid.shift).view(np.int64) - grid.code_of_low


def _of_batch(row: RowValue, frame: pl.DataFrame) -> NDArray[np.int64]:
    (batch,) = plain_frames([frame.select(row.columns)])
    return steps_of_batch(row, batch)


def unit_values_of(
    sample: Sample, values: Sequence[RowValue], where: Expression | None = None
) -> list[NDArray[np.float64]]:
    """Each value in [0, 1], the rows where the condition holds side by side; one scan."""
    import numpy as np

    columns, times = distinct_unit_values(sample, values, where)
    return [np.repeat(column, times) for column in columns]


def distinct_unit_values(
    sample: Sample, values: Sequence[RowValue], where: Expression | None = None
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """As `unit_values_of`, each combination of values once, and how many rows have it."""
    import polars as pl

    table = _step_counts(sample, values, where).sort(pl.exclude("times"))
    columns = [fractions(table[f"k{place}"].to_numpy(), row) for place, row in enumerate(values)]
    return columns, table["times"].to_numpy()


def _step_counts(
    sample: Sample, values: Sequence[RowValue], where: Expression | None
) -> pl.DataFrame:
    """Each combination of steps k0, k1, ... once, and how many rows have it."""
    import polars as pl

    expressions = sources(values)
    if isinstance(sample, Counting) and len(expressions) == len(values):
        return sample.step_counts(expressions, where)
    names = [f"k{place}" for place in range(len(values))]
    conditions = [] if where is None else [condition_row(where)]
    rows = [*values, *conditions]

    def count_batch(frame: pl.DataFrame) -> pl.DataFrame:
        steps = steps_of_frame(frame, rows)
        if conditions:
            inside = steps.pop() == 1
            steps = [each[inside] for each in steps]
        batch = pl.DataFrame(dict(zip(names, steps, strict=True)))
        return batch.group_by(names).agg(times=pl.len().cast(pl.Int64))

    columns = sorted({column for row in rows for column in row.columns})
    return summed_by(names, (count_batch(frame) for frame in sample.frames(columns)))


def fractions(steps: NDArray[np.int64], row: RowValue) -> NDArray[np.float64]:
    """Steps, or sums of them, as multiples of the range; 0 where the range has no width."""
    import numpy as np

    return np.asarray(steps / max(1, row.grid.top))


# Units of rows that belong together: what their rows add up to, and how many there are.


def unit_sums(
    sample: Sample, value: RowValue, where: Expression | None, column: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Each unit's sum of the value in [0, 1], and its rows, of those where the condition holds.

    Sums are exact sums of steps over top. A unit without such rows has sum and size 0: how many
    units there are is public, and is how many come back. They come from the smallest to the
    largest, the same on every engine.
    """
    (own,) = unit_sums_of_groups(sample, value, (where,), column)
    return own


def unit_sums_of_groups(
    sample: Sample, value: RowValue, groups: Sequence[Expression | None], column: str
) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """As `unit_sums`, of several groups: the same place is the same unit in all of them."""
    rows = [value, *(condition_row(group) for group in groups if group is not None)]
    columns = sorted({column, *(name for row in rows for name in row.columns)})

    def count_batch(frame: pl.DataFrame) -> pl.DataFrame:
        import numpy as np
        import polars as pl

        from holdfast.data.plain import told_apart

        steps, *conditions = steps_of_frame(frame, rows)
        held, everywhere = iter(conditions), np.ones(frame.height, dtype=np.int64)
        counted: dict[str, Any] = {}
        counted["unit"] = frame.select(told_apart(column, frame.schema[column])).to_series()
        for place, group in enumerate(groups):
            inside = everywhere if group is None else next(held)
            counted |= {f"size{place}": inside, f"sum{place}": steps * inside}
        return pl.DataFrame(counted)

    units = summed_by(["unit"], (count_batch(frame) for frame in sample.frames(columns)))
    units = units.drop("unit")
    units = units.sort(units.columns)
    return [
        (fractions(units[f"sum{place}"].to_numpy(), value), units[f"size{place}"].to_numpy())
        for place in range(len(groups))
    ]


def cluster_sizes(sample: Sample, column: str) -> list[int]:
    """The number of rows for each distinct value of a column, largest first; NULL is one value."""
    if column not in sample.types:
        raise InvalidArgument(f"sampling names {no_column(column, sample.types)}")
    return sorted(value_counts(sample, [column])["rows"].to_list(), reverse=True)


# Which columns hold missing values: looked up once, when a ledger is opened.


_AT_ONCE = 64  # columns of one scan


def columns_with_missing(sample: Sample, columns: Iterable[str]) -> list[str]:
    """Those of the columns that hold NULL or NaN; one whose type no question can use is passed."""
    usable = [name for name in columns if sample.types[name].kind is not None]
    incomplete: list[str] = []
    for start in range(0, len(usable), _AT_ONCE):
        names = usable[start : start + _AT_ONCE]
        missing = (build.is_null(Column(name, sample.types[name])) for name in names)
        totals = sample.sums([condition_row(each) for each in missing])
        incomplete += [name for name, total in zip(names, totals, strict=True) if total]
    return incomplete
