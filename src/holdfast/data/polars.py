"""The Polars engine: frames in memory, and files of any size by streaming.

**Exact sums at the price of one addition.** Between 2^52 steps and 2^53 steps the doubles are the
multiples of a step, so that adding 3/2 2^52 steps to a value of at most 2^50 steps rounds it to the
nearest multiple, and the bits of the result, read as an integer, are those of 3/2 2^52 steps plus
the number k of steps. The sum of these integers over n rows is exact modulo 2^64, in any order. It
is n times the constant for "low" plus the sum of all steps from low; the latter is at most n times
2^32 + 1, which is below 2^64 because Polars has fewer than 2^32 rows, and so it is the remainder.
"""

from __future__ import annotations

import copy
import functools
import operator
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from holdfast.data.cuts import MANY, Cuts, many_cuts
from holdfast.data.histogram import Histogram, histograms
from holdfast.data.keys import Places, require_joinable
from holdfast.data.plain import cleaned, column_type, plain
from holdfast.data.sample import (
    BATCH_ROWS,
    AcceptedShapes,
    Moments,
    check_names,
    complete,
    moments_of_sums,
    needed,
    prepare,
    reading,
    require_narrow_decimals,
    row_moments,
)
from holdfast.errors import InvalidArgument
from holdfast.question.expression import (
    ColumnType,
    Constant,
    Expression,
    Op,
    Operation,
    ValueKind,
    column_names,
)
from holdfast.question.row import RowValue
from holdfast.question.writing import WrittenRows, write_rows

# Polars expressions as a language for the writer.


_DTYPE = {
    ValueKind.BOOLEAN: pl.Boolean(),
    ValueKind.NUMBER: pl.Float64(),
    ValueKind.TEXT: pl.String(),
    ValueKind.MOMENT: pl.Datetime("us"),
}
_LOWER, _UPPER = list(string.ascii_lowercase), list(string.ascii_uppercase)


@dataclass(frozen=True, slots=True)
class PolarsLanguage:
    """Polars expressions over cleaned columns, which go by the names in `names`."""

    names: Mapping[str, str]

    def column(self, name: str) -> pl.Expr:
        """A cleaned column."""
        return pl.col(self.names[name])

    @property
    def named_operands(self) -> frozenset[Op]:
        """None: Polars mentions no operand twice, and computes both sides of a condition."""
        return frozenset()

    def named(self, name: str) -> pl.Expr:
        """A value of an earlier stage."""
        return pl.col(name)

    def constant(self, constant: Constant) -> pl.Expr:
        """A literal; cleaned columns are of the types that these have by themselves."""
        if isinstance(constant.value, bool | float | str):
            return pl.lit(constant.value)
        return pl.lit(constant.value, dtype=_DTYPE[constant.kind])

    def operation(self, op: Op, args: list[pl.Expr]) -> pl.Expr:
        """One operation."""
        return _SPELLING[op](*args)

    def harmless(self, op: Op, left: pl.Expr, right: pl.Expr) -> pl.Expr:
        """Arithmetic, which never fails here."""
        return self.operation(op, [left, right])

    def like(self, value: pl.Expr, pattern: str) -> pl.Expr:
        """Whether text fits a pattern."""
        signs = {"%": ".*", "_": "."}
        body = "".join(signs.get(character) or re.escape(character) for character in pattern)
        return value.str.contains(rf"(?s)\A{body}\z")

    def without_nan(self, value: pl.Expr) -> pl.Expr:
        """NULL in place of NaN."""
        return value.fill_nan(None)


def _balanced(combine: Callable[[pl.Expr, pl.Expr], pl.Expr], *args: pl.Expr) -> pl.Expr:
    """The operands combined in pairs: Polars takes a chain of thousands ill."""
    if len(args) == 1:
        return args[0]
    middle = len(args) // 2
    return combine(_balanced(combine, *args[:middle]), _balanced(combine, *args[middle:]))


def _quotient(dividend: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    # Polars multiplies by the reciprocal where a divisor is the same in all rows (49 / 49 < 1):
    # NumPy divides. NULL goes in as NaN and comes out as NULL.
    return pl.map_batches(
        [dividend, divisor], _divided, return_dtype=pl.Float64, is_elementwise=True
    )


def _divided(operands: Sequence[pl.Series]) -> pl.Series:
    dividend, divisor = (operand.to_numpy() for operand in operands)
    with np.errstate(all="ignore"):
        return pl.Series(np.divide(dividend, divisor), nan_to_null=True)


def _case(*args: pl.Expr) -> pl.Expr:
    *branches, result = args
    for when, then in zip(branches[-2::-2], branches[-1::-2], strict=True):
        result = pl.when(when).then(then).otherwise(result)
    return result


def _as_number(value: pl.Expr) -> pl.Expr:
    return value.cast(pl.Float64)


_SPELLING: dict[Op, Callable[..., pl.Expr]] = {
    Op.ADD: operator.add,
    Op.SUBTRACT: operator.sub,
    Op.MULTIPLY: operator.mul,
    Op.DIVIDE: _quotient,
    Op.NEGATE: operator.neg,
    Op.EQUAL: operator.eq,
    Op.UNEQUAL: operator.ne,
    Op.BELOW: operator.lt,
    Op.AT_MOST: operator.le,
    Op.ABOVE: operator.gt,
    Op.AT_LEAST: operator.ge,
    Op.AND: functools.partial(_balanced, operator.and_),
    Op.OR: functools.partial(_balanced, operator.or_),
    Op.NOT: operator.invert,
    Op.IS_NULL: pl.Expr.is_null,
    Op.LOWER: lambda value: value.str.replace_many(_UPPER, _LOWER),
    Op.UPPER: lambda value: value.str.replace_many(_LOWER, _UPPER),
    Op.ABS: pl.Expr.abs,
    Op.SQRT: pl.Expr.sqrt,
    Op.CLIP: pl.Expr.clip,
    Op.INDICATOR: _as_number,
    Op.COALESCE: pl.coalesce,
    Op.CASE: _case,
    Op.LENGTH: lambda value: _as_number(value.str.len_chars()),
    Op.YEAR: lambda value: _as_number(value.dt.year()),
    Op.MONTH: lambda value: _as_number(value.dt.month()),
    Op.DAY: lambda value: _as_number(value.dt.day()),
    Op.HOUR: lambda value: _as_number(value.dt.hour()),
    Op.MINUTE: lambda value: _as_number(value.dt.minute()),
    Op.WEEKDAY: lambda value: _as_number(value.dt.weekday()),
}


# Below this many rows in memory, starting the streaming engine costs more than it saves.
_STREAMING_ROWS = 1_000_000
# A table in files that is as small is read once, column by column as they are asked for, as long as
# so many values are held; whether it is still the same file is looked at by whoever watches it.
_HELD_VALUES = 4_000_000
# In memory, nothing that an optimiser could find is worth its search.
_AS_WRITTEN = pl.QueryOptFlags.none()
_ROWS = pl.len().alias("rows")


@dataclass(frozen=True, slots=True)
class _Beside:
    """Columns to join in a scan, by their key."""

    key: str
    columns: frozenset[str]
    frame: pl.DataFrame


class PolarsSample:
    """A table held by Polars."""

    def __init__(self, frame: pl.DataFrame | pl.LazyFrame) -> None:
        self._eager = frame.clone() if isinstance(frame, pl.DataFrame) else None
        self._without_nan: dict[str, bool] = {}
        self._empty: PolarsSample | None = None
        self._accepted = AcceptedShapes()
        self._beside: tuple[_Beside, ...] = ()
        self._held: pl.DataFrame | None = None
        self._places: dict[str, Places] = {}
        self._frame = frame.lazy()
        with reading():
            self._dtypes = dict(self._frame.collect_schema())
            check_names(list(self._dtypes))
            require_narrow_decimals(self._dtypes)
            if self._eager is None:
                count = self._frame.select(pl.len()).collect(engine="streaming")
                self._n = int(count.item())
            else:
                self._n = self._eager.height
        self._types = {name: column_type(dtype) for name, dtype in self._dtypes.items()}

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._n

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types."""
        return self._types

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Refuse what Polars cannot take; bins are counted by the same code as sums."""
        self._accepted.try_others(rows, self._try)

    def _try(self, rows: Sequence[RowValue]) -> None:
        if self._empty is None:
            usable = (name for name, kind in self._types.items() if kind is not ColumnType.OTHER)
            schema = {name: self._dtypes[name] for name in usable}
            self._empty = PolarsSample(pl.DataFrame(schema=schema))
        prepare(self._empty.sums, rows)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """Exact sums of grid units."""
        return [total for total, _ in row_moments(self, rows, self._sums)]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """Exact sums of grid units and of their squares."""
        return row_moments(self, rows, self._moments)

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """Exact counts in narrow bins."""
        return histograms(self, asked)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Batches of the columns."""
        if self._eager is not None:
            return self._eager.select(columns).iter_slices(BATCH_ROWS)
        return complete(in_batches(self._table(columns).select(columns)), self._n)

    def step_batches(
        self, rows: Sequence[tuple[RowValue, Expression]]
    ) -> Iterator[list[NDArray[np.int64]]]:
        """The steps of row values, in batches."""
        columns = _columns_of(rows)
        self._hold(columns)
        wanted = valued(self._table(columns), self._cleaned, rows)
        return steps_of_batches(self._batches(wanted), rows, self._n)

    def joined(self, key: str, frame: pl.DataFrame) -> PolarsSample:
        """The same rows with more columns: in memory at once, of files in every scan that asks."""
        require_joinable(self._types, key, frame)
        added = frame.drop(key)
        joined = copy.copy(self)
        joined._dtypes = {**self._dtypes, **added.schema}
        joined._types = {name: column_type(dtype) for name, dtype in joined._dtypes.items()}
        joined._empty, joined._held, joined._accepted = None, None, AcceptedShapes()
        if self._eager is None:
            joined._beside = (*self._beside, _Beside(key, frozenset(added.columns), frame))
        else:
            places = self._places_of(self._eager, key).among(frame[key])
            joined._eager = self._eager.hstack(added.select(pl.all().gather(places)))
            joined._frame = joined._eager.lazy()
        # What is known of columns is the same in both, but for columns that come later.
        joined._places, joined._without_nan = dict(self._places), dict(self._without_nan)
        return joined

    def _places_of(self, frame: pl.DataFrame, key: str) -> Places:
        if key not in self._places:
            keys = frame.select(plain(key, frame.schema[key])).to_series()
            self._places[key] = Places(keys)
        return self._places[key]

    def _hold(self, columns: Sequence[str]) -> None:
        """Read columns of small files, unless they are held: with those that are, if all fit."""
        if self._eager is not None or self._beside or self._n > _STREAMING_ROWS:
            return
        if self._holding(columns) is not None:
            return
        columns_held = [] if self._held is None else self._held.columns
        both = sorted({*columns_held, *columns})
        wanted = both if self._n * len(both) <= _HELD_VALUES else columns
        self._held = None
        if wanted and self._n * len(wanted) <= _HELD_VALUES:
            with reading():
                frame = self._frame.select(wanted).collect(engine="streaming")
                if frame.height != self._n:
                    raise EOFError
            self._held = frame

    def _holding(self, columns: Sequence[str]) -> pl.DataFrame | None:
        """What is held of files, if it has these columns."""
        if self._held is None or not self._held.schema.keys() >= set(columns):
            return None
        return self._held

    def _table(self, columns: Sequence[str]) -> pl.LazyFrame:
        """A frame that has these columns: what was joined is joined only if it is needed."""
        columns_held = self._holding(columns)
        if columns_held is not None:
            return columns_held.lazy()
        table = self._frame
        hidden = "k" * (1 + max(map(len, self._dtypes), default=0))  # no column has such a name
        for beside in needed(self._beside, columns):
            keyed = table.with_columns(plain(beside.key, self._dtypes[beside.key]).alias(hidden))
            frame = beside.frame.lazy().rename({beside.key: hidden})
            table = keyed.join(frame, on=hidden, how="left").drop(hidden)
        return table

    def _sums(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        counted = {
            place: (count, 0)
            for cuts in self._many_cuts(rows)
            for place, count in cuts.counts(self._values(cuts.value)).items()
        }
        others = [each for place, each in enumerate(rows) if place not in counted]
        remaining = iter(self._sums_of_codes(others) if others else ())
        return [counted.get(place) or next(remaining) for place in range(len(rows))]

    def _sums_of_codes(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        frame, codes = self._codes(rows)
        totals = self._collected(frame.select(_ROWS, *(code.sum() for code in codes)))
        return [
            ((total - self._n * _code_of_low(row)) % 2**64, 0)
            for (row, _), total in zip(rows, totals, strict=True)
        ]

    def _many_cuts(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Cuts]:
        """What takes a pass of its own: none of files that are not held, which are read once."""
        many = many_cuts(rows) if len(rows) >= MANY else []
        if many:
            columns = _columns_of(rows)
            self._hold(columns)
            if self._eager is None and self._holding(columns) is None:
                return []
        return many

    def _values(self, value: Expression) -> Iterator[pl.DataFrame]:
        """The values of an expression, in batches of one column."""
        code = write_rows([value], PolarsLanguage)
        frame = _staged(self._table(column_names(value)), self._cleaned, code)
        return complete(self._batches(frame.select(*code.codes)), self._n)

    def _batches(self, frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        """The rows of a frame over the table: those of one in memory at once."""
        if self._in_memory:
            yield frame.collect(engine="in-memory", optimizations=_AS_WRITTEN)
        else:
            yield from in_batches(frame)

    def _moments(self, rows: Sequence[tuple[RowValue, Expression]]) -> list[Moments]:
        frame, codes = self._codes(rows)
        frame = frame.select(
            code
            if row.is_condition
            else code.cast(pl.UInt64) - pl.lit(_code_of_low(row), dtype=pl.UInt64)
            for (row, _), code in zip(rows, codes, strict=True)
        )
        wanted = [_ROWS]
        for place, (row, _) in enumerate(rows):
            steps = pl.col(f"k{place}")
            high, low = steps // 2**16, steps % 2**16
            parts = {"": steps, "hh": high * high, "hl": high * low, "ll": low * low}
            if row.is_condition:
                parts = {"": steps}
            wanted += [part.sum().alias(f"k{place}{name}") for name, part in parts.items()]
        return moments_of_sums([row for row, _ in rows], self._collected(frame.select(wanted)))

    def _codes(
        self, rows: Sequence[tuple[RowValue, Expression]]
    ) -> tuple[pl.LazyFrame, list[pl.Expr]]:
        """A frame, and over it the codes k0, k1, ... of the steps of every row value.

        A code is an integer that grows by 1 with each step. Those of conditions stay Boolean: their
        sum counts the rows where they are true.
        """
        columns = _columns_of(rows)
        self._hold(columns)
        code, steps = _codes_of(tuple(rows))
        return _staged(self._table(columns), self._cleaned, code), steps

    @property
    def _in_memory(self) -> bool:
        is_held = self._held is not None or self._eager is not None
        return is_held and self._n <= _STREAMING_ROWS

    def _cleaned(self, column: str) -> pl.Expr:
        """The column as row expressions see it; what is held in memory is looked at once."""
        dtype = self._dtypes[column]
        frame = self._holding([column]) if self._eager is None else self._eager
        if frame is None or dtype != pl.Float64:
            return cleaned(column, dtype)
        if column not in self._without_nan:
            self._without_nan[column] = not frame.get_column(column).is_nan().any()
        return pl.col(column) if self._without_nan[column] else cleaned(column, dtype)

    def _collected(self, frame: pl.LazyFrame) -> list[int]:
        """The only row of the frame, but for the number of rows it starts with."""
        with reading():
            if self._in_memory:
                result = frame.collect(engine="in-memory", optimizations=_AS_WRITTEN)
            else:
                result = frame.collect(engine="streaming")
            rows, *totals = result.row(0)
            if rows != self._n:
                raise EOFError
        return totals


def _columns_of(rows: Sequence[tuple[RowValue, Expression]]) -> list[str]:
    return sorted({column for row, _ in rows for column in row.columns})


def in_batches(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The rows of a frame, in any order, as the streaming engine brings them."""
    return frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, lazy=True)


def _staged(
    table: pl.LazyFrame, cleaned_column: Callable[[str], pl.Expr], code: WrittenRows[pl.Expr]
) -> pl.LazyFrame:
    """A frame over the columns of a table that has all which written row values go by."""
    frame = table.select(cleaned_column(column).alias(name) for column, name in code.names.items())
    for stage in code.stages:
        frame = frame.with_columns(value.alias(name) for name, value in stage.items())
    return frame


def valued(
    table: pl.LazyFrame,
    cleaned_column: Callable[[str], pl.Expr],
    rows: Sequence[tuple[RowValue, Expression]],
) -> pl.LazyFrame:
    """The row values over the columns of a table, clipped ones before their clip."""
    written = write_rows([_clipped(expression)[0] for _, expression in rows], PolarsLanguage)
    return _staged(table, cleaned_column, written).select(
        value.fill_null(value=False if row.is_condition else row.missing).alias(f"k{place}")
        for place, ((row, _), value) in enumerate(zip(rows, written.codes, strict=True))
    )


def _clipped(expression: Expression) -> tuple[Expression, tuple[float, float] | None]:
    """What an expression clips, and where; itself where it is no clip."""
    match expression:
        case Operation(Op.CLIP, (inner, Constant(value=float(low)), Constant(value=float(high)))):
            return inner, (low, high)
    return expression, None


def steps_of_batches(
    batches: Iterable[pl.DataFrame], rows: Sequence[tuple[RowValue, Expression]], n: int
) -> Iterator[list[NDArray[np.int64]]]:
    """The steps of row values from batches of them, which are n rows together.

    Those of a batch are there until the next one. Polars would need new memory for each operation,
    and takes six times as long for a clip.
    """
    steppers = [_stepper(*each) for each in rows]
    for frame in complete(batches, n):
        for batch in frame.iter_slices(BATCH_ROWS):
            columns = zip(steppers, batch.get_columns(), strict=True)
            yield [steps(column) for steps, column in columns]


def _stepper(row: RowValue, expression: Expression) -> Callable[[pl.Series], NDArray[np.int64]]:
    """From the values of a batch to their steps, by the operations of `_code`."""
    if row.is_condition:
        return lambda column: column.cast(pl.Int64).to_numpy()
    grid, (_, ends) = row.grid, _clipped(expression)
    origin, shift, code_of_low = grid.origin, grid.shift, grid.code_of_low
    memory = np.empty(BATCH_ROWS)

    def steps(column: pl.Series) -> NDArray[np.int64]:
        values, own = column.to_numpy(), memory[: len(column)]
        if ends is not None:
            values = np.clip(values, *ends, out=own)
        if origin:
            values = np.subtract(values, origin, out=own)
        codes: NDArray[np.int64] = np.add(values, shift, out=own).view(np.int64)
        codes -= code_of_low
        return codes

    return steps


@lru_cache(maxsize=1)  # what is prepared without rows is counted over all rows next
def _codes_of(
    rows: tuple[tuple[RowValue, Expression], ...],
) -> tuple[WrittenRows[pl.Expr], list[pl.Expr]]:
    """How row values are computed, and the codes k0, k1, ... of their steps."""
    code = write_rows([expression for _, expression in rows], PolarsLanguage)
    steps = [
        (value if row.is_condition else _code(row, value)).alias(f"k{place}")
        for place, ((row, _), value) in enumerate(zip(rows, code.codes, strict=True))
    ]
    return code, steps


def _code(row: RowValue, value: pl.Expr) -> pl.Expr:
    grid = row.grid
    value = value.fill_null(row.missing)
    shifted = value - grid.origin if grid.origin else value
    return (shifted + grid.shift).reinterpret(dtype=pl.UInt64)


def _code_of_low(row: RowValue) -> int:
    return 0 if row.is_condition else row.grid.code_of_low


# A table in memory that nobody else can change.
#
# A Polars frame may share its memory with whatever it was made of: a numpy array, a pandas frame,
# an Arrow table. Nothing tells whether it does, and whoever holds that can change a row between
# two questions. So every table in memory is copied when it is opened, which takes less time than
# its fingerprint.


_AS_IN_NUMPY = (pl.Int32, pl.Int64, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64)


def owned(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows in memory of their own."""
    return pl.DataFrame([_owned(column) for column in frame.get_columns()])


def _owned(column: pl.Series) -> pl.Series:
    """The column; to clone or to slice it would share what it holds."""
    if column.dtype == pl.String:
        return column + ""
    if column.dtype in _AS_IN_NUMPY and not column.has_nulls():
        return pl.Series(column.name, column.to_numpy().copy())
    return _read_again(column)


def _read_again(column: pl.Series) -> pl.Series:
    """A column of any type, written out and read."""
    buffer = BytesIO()
    try:
        column.to_frame().write_ipc(buffer)
        buffer.seek(0)
        return pl.read_ipc(buffer).to_series()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise InvalidArgument(
            f"Column {column.name!r} holds {column.dtype} values that cannot be written down; make "
            "them numbers, text, dates or booleans, or drop the column."
        ) from None
