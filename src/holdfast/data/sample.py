"""The protocol every engine follows, and the sums of functions that engines cannot compute.

All sums are exact integers of steps of a grid (see `holdfast.question.row`): they do not depend on
the order of the rows, on threads or on the engine.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from holdfast.errors import DataChanged, HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.question.expression import (
    ColumnType,
    Expression,
    Operation,
    expression_shape,
)
from holdfast.question.row import BatchFunction, RowValue

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from holdfast.data.histogram import Histogram

BATCH_ROWS = 1 << 17
# A decimal of this many digits and its power of ten are exact doubles, so that one correctly
# rounded division gives the same number on every engine.
EXACT_DIGITS = 15
_MOST_DIGITS = 38
_WIDE_DECIMAL = re.compile(r"decimal(?:256)?\((?:precision=)?(\d+)", re.IGNORECASE)

# A sum over the rows, and the sum of the squares: of steps inside an engine, then of grid units.
Moments: TypeAlias = tuple[int, int]


class Sample(Protocol):
    """A table that never changes."""

    @property
    def n(self) -> int:
        """The number of rows."""
        ...

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The columns and their types, in the table's order."""
        ...

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Make what a scan of these values would run, and run it on no rows; no data is touched.

        Refused where the engine cannot take it: better before a question is paid for.
        """
        ...

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        """For each row value, the sum of its grid units over all rows: an integer in [0, n 2^30].

        One scan for all row expressions together, and one more for all functions of batches.
        """
        ...

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        """For each row value, the sum of its grid units and the sum of their squares.

        Made of exact sums of steps; the latter is rounded up.
        """
        ...

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        """For each row value the rows in narrow bins of its range, of those in a condition.

        One scan for all together; a condition that is NULL does not hold.
        """
        ...

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns as the engine holds them, in batches, in any order of rows."""
        ...

    def joined(self, key: str, frame: pl.DataFrame) -> Sample:
        """The same rows, with the frame's columns beside them: those of its row with the same key.

        The key is integer or text, in the frame as Int64 or String and each once. A row whose key
        is not there has NULL.
        """
        ...


@contextmanager
def reading() -> Iterator[None]:
    """Turn an engine's failure in the middle of a scan into words that quote no data."""
    import polars as pl

    try:
        yield
    except (HoldfastError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException):
        raise HoldfastError(
            "The table could not be read to its end; see that its files are unchanged and readable."
        ) from None


def _is_lost(error: BaseException) -> bool:
    """Whether a database says that its connection is gone, or that it is being shut down."""
    state = getattr(error, "sqlstate", "")
    lost = state is None or state.startswith(("08", "57P"))
    return lost and any(
        each.__module__.startswith("psycopg") and each.__name__ == "OperationalError"
        for each in type(error).__mro__
    )


def prepare(scan: Callable[[list[RowValue]], object], rows: Sequence[RowValue]) -> None:
    """Refuse row expressions that the engine cannot take; `scan` is of the table without rows."""
    import polars as pl

    try:
        scan([row for row in rows if isinstance(row.source, Expression)])
    except (DataChanged, InvalidQuestion, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        if isinstance(error, HoldfastError) and type(error) is not HoldfastError:
            raise  # about the table, not about the question
        if _is_lost(error):
            raise HoldfastError(
                "The table's database was lost; see that its server runs and can be reached, and "
                "ask again. Nothing was spent."
            ) from None
        raise InvalidQuestion(
            "The table's engine cannot compute the question; write it smaller. Nothing was spent."
        ) from None


_MOST_SHAPES, _MOST_NODES = 1_000, 50  # shapes that are kept, and the nodes of one


@dataclass(slots=True)
class AcceptedShapes:
    """Cache of expression shapes an engine has already accepted, constants ignored."""

    _shapes: set[Expression] = field(default_factory=set)

    def try_others(
        self, rows: Sequence[RowValue], trial: Callable[[Sequence[RowValue]], None]
    ) -> None:
        """Try one row value of each shape that is new; what the trial raises is for the caller."""
        shapes = {
            expression_shape(row.source): row for row in rows if isinstance(row.source, Expression)
        }
        unknown = {shape: row for shape, row in shapes.items() if shape not in self._shapes}
        if not unknown:
            return
        trial(list(unknown.values()))
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes |= {shape for shape in unknown if _is_small(shape)}


def _is_small(shape: Expression) -> bool:
    return not isinstance(shape, Operation) or shape.size <= _MOST_NODES


@contextmanager
def silent() -> Iterator[None]:
    """No warning tells what rows hold, nor, made an error by a filter, changes their values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are not the name of one column: repeated ones and Polars' patterns."""
    if len(set(names)) != len(names):
        raise InvalidArgument("Two columns of the table have the same name.")
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise InvalidArgument(f"A column is named {name!r}, which is a pattern; rename it.")


def require_narrow_decimals(types: Mapping[str, object]) -> None:
    """Refuse decimals of more than 128 bits, by what Arrow or Polars writes for their types."""
    for name, dtype in types.items():
        wide = _WIDE_DECIMAL.search(str(dtype))
        if wide and int(wide[1]) > _MOST_DIGITS:
            raise InvalidArgument(
                f"column {name!r} has decimals of {wide[1]} digits, and at most {_MOST_DIGITS} can "
                "be read; cast it to decimal128, to a double or to text, or leave it out."
            )


def complete(frames: Iterable[pl.DataFrame], n: int) -> Iterator[pl.DataFrame]:
    """The frames, with a failure at the end unless they hold exactly n rows.

    A streaming engine that breaks down may simply stop: what came before is not the table.
    """
    rows = 0
    with reading():
        for frame in frames:
            rows += frame.height
            yield frame
        if rows != n:
            raise EOFError


def split_squares(high_high: int, high_low: int, low_low: int) -> int:
    """Sum of k^2 from sums over k = 2^16 high + low: each fits 64 bits for fewer than 2^32 rows."""
    return (high_high << 32) + (high_low << 17) + low_low


def moments_of_sums(rows: Sequence[RowValue], sums: Iterable[int]) -> list[Moments]:
    """Moments of steps from an engine's sums, in order: the steps, then the parts of their squares.

    A condition is 0 or 1 and its own square: of it there is the one sum.
    """
    remaining = iter(sums)
    moments: list[Moments] = []
    for row in rows:
        total = next(remaining)
        squares = total if row.is_condition else split_squares(*islice(remaining, 3))
        moments.append((total, squares))
    return moments


def sources(rows: Iterable[RowValue]) -> list[tuple[RowValue, Expression]]:
    """The row values that are expressions, beside these."""
    return [(row, row.source) for row in rows if isinstance(row.source, Expression)]


def row_moments(
    sample: Sample,
    rows: Sequence[RowValue],
    native: Callable[[Sequence[tuple[RowValue, Expression]]], list[Moments]],
) -> list[Moments]:
    """Moments of all rows in grid units, in order.

    Steps are counted and squared by the engine's `native` for expressions, and in batches for
    functions.
    """
    expressions = sources(rows)
    functions = [row for row in rows if not isinstance(row.source, Expression)]
    by_engine = iter(native(expressions) if expressions else [])
    by_batches = iter(_batch_moments(functions, sample) if functions else [])
    return [
        row.grid.moments(*next(by_engine if isinstance(row.source, Expression) else by_batches))
        for row in rows
    ]


def _batch_moments(rows: Sequence[RowValue], sample: Sample) -> list[Moments]:
    columns = sorted({column for row in rows for column in row.columns})
    totals = [(0, 0)] * len(rows)
    for frame in plain_frames(sample.frames(columns)):
        for place, row in enumerate(rows):
            totals[place] = added(totals[place], steps_of_batch(row, frame))
    return totals


def added(before: Moments, steps: NDArray[np.int64]) -> Moments:
    """Moments with those of the steps of some more rows, exactly."""
    total, squares = before
    high, low = steps >> 16, steps & 0xFFFF
    sums = (int((a * b).sum()) for a, b in ((high, high), (high, low), (low, low)))
    return total + int(steps.sum()), squares + split_squares(*sums)


def is_readable(sample: Sample) -> bool:
    """Whether the rows can be read at all, whatever is computed of them."""
    try:
        for _ in sample.frames(sorted(sample.types)):
            pass
    except Exception:
        return False
    return True


def plain_frames(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The frames as functions of Python see them, with plain types."""
    from holdfast.data.plain import plain

    for frame in frames:
        yield frame.select(plain(name, dtype) for name, dtype in frame.schema.items())


def steps_of_batch(row: RowValue, frame: pl.DataFrame) -> NDArray[np.int64]:
    """The steps of each row of a batch, for a function of batches."""
    import numpy as np

    if isinstance(row.source, Expression):
        raise TypeError("Row expressions are computed by the engine.")
    values = values_of_batch(row.source, frame)
    finite = np.isfinite(values)
    values = np.where(finite, np.clip(values, row.low, row.high), row.missing)
    grid = row.grid
    return np.rint((values - grid.origin) / grid.step).astype(np.int64) - grid.first


def values_of_batch(source: BatchFunction, frame: pl.DataFrame) -> NDArray[np.float64]:
    """The function's values; a row it fails on is missing (NaN), the others are not affected."""
    import numpy as np
    import polars as pl

    try:
        with silent():
            return source.values(frame)
    # A panic of Polars quotes rows as well, and so may what leaves a program.
    except (Exception, GeneratorExit, SystemExit, pl.exceptions.PanicException):
        if frame.height <= 1:
            return np.full(frame.height, np.nan)
    middle = frame.height // 2
    halves = (frame.head(middle), frame.tail(frame.height - middle))
    return np.concatenate([values_of_batch(source, half) for half in halves])


def require_unchanged(sample: Sample) -> None:
    """Refuse a table that was seen to change; one in memory is our own copy and cannot."""
    # A question asks it several times: to ask a protocol would take as long as its scan.
    watch: Callable[[], None] | None = getattr(sample, "require_unchanged", None)
    if watch is not None:
        watch()


class _Keyed(Protocol):
    """Columns that were put beside a table, by a key that it had then."""

    @property
    def key(self) -> str: ...
    @property
    def columns(self) -> frozenset[str]: ...


_Beside = TypeVar("_Beside", bound=_Keyed)


def needed(joined: Sequence[_Beside], columns: Iterable[str]) -> list[_Beside]:
    """What must be joined to have these columns, in its order: a key may have been joined too."""
    wanted, joins = set(columns), []
    for beside in reversed(joined):
        if not beside.columns.isdisjoint(wanted):
            joins.append(beside)
            wanted.add(beside.key)
    return joins[::-1]
