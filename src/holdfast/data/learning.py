"""What training rows say of a table that may be declared of it: categories, and ranges to propose.

Nothing here reads protected rows: what is declared after them makes no promise true.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.data.source import open_sample
from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.columns import no_column
from holdfast.question.declaring import Scale
from holdfast.question.expression import ColumnType, ValueKind
from holdfast.theory.base.unbounded import mean_square_log_p, scaled_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_VALUES = 1_000
_MOST_LEVELS = 40  # whole numbers that are counted one by one: a month, an hour
_MOST_NUMBERS, _OFTEN = 50, 10  # different ones of a column with few, and rows of each
_REPEATS = 10  # expected among as many whole numbers by chance, where there is none
_QUANTILES = (0.001, 0.999)
_MARGIN = 0.1  # of their distance, on both sides
RANGE_LEARNT = (
    "from the 0.1 % to the 99.9 % quantile and a tenth of that more on both sides, in round "
    "numbers; of few whole numbers, or few numbers at all, from the least to the greatest"
)


class _LearntValues(dict[str, Any]):
    """The values of a text column, as a schema declares them, and the rows they are from."""

    def __init__(self, values: Sequence[str], rows: Sample) -> None:
        super().__init__(values=list(values))
        self.rows = rows


class _LearntRange(tuple[float, float]):
    """The range of a number column, and the rows that it is from."""

    rows: Sample

    @classmethod
    def of(cls, ends: tuple[float, float], rows: Sample) -> _LearntRange:
        learnt = cls(ends)
        learnt.rows = rows
        return learnt


def learnt_from(schema: object) -> list[Sample]:
    """The rows that entries of a schema were learnt from, wherever these were copied to."""
    entries = schema.values() if isinstance(schema, Mapping) else ()
    learnt = (each for each in entries if isinstance(each, _LearntValues | _LearntRange))
    return list({id(each.rows): each.rows for each in learnt}.values())


def learn_schema(
    train: Any,
    columns: Sequence[str] | None = None,
    quantiles: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """What other rows than the protected ones say of their columns, as a `schema=` for `open`.

    Text columns get their values; number columns the range from the least to the greatest, or
    between two `quantiles`. A range is a proposal: where a column is averaged, values outside count
    as the nearest end, so that a narrow range changes what is asked. Look at it, and widen it.

    Without `columns`, those that are skipped have all values different, more than 1,000 of them, or
    no two different numbers; a named column of that kind is refused.

    Its entries remember the rows: `open` refuses them where these are in part the protected ones.
    """
    return learnt_schema(open_sample(train), columns, quantiles)


def learnt_schema(
    sample: Sample,
    columns: Sequence[str] | None = None,
    quantiles: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """The same of rows that are open."""
    levels = (0.0, 1.0) if quantiles is None else _levels(quantiles)
    named = None if columns is None else require.texts("columns", columns)
    for name in named or ():
        if name not in sample.types:
            raise InvalidArgument(f"columns names {no_column(name, sample.types)}")
    wanted = list(sample.types) if named is None else named
    values = learnt_values(sample, wanted)
    learnt = {
        **{name: _LearntValues(categories, sample) for name, categories in values.items()},
        **{name: _LearntRange.of(ends, sample) for name, ends in _ranges(sample, wanted, levels)},
    }
    left = [name for name in named or () if name not in learnt]
    if left:
        raise InvalidArgument(
            f"columns names {left[0]!r}, of which nothing can be learnt from these rows: it must "
            f"be text of at most {MOST_VALUES:,} values that are not all different, or numbers "
            "that are not all the same."
        )
    return {name: learnt[name] for name in wanted if name in learnt}


def learnt_values(sample: Sample, columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The categories of text columns, sorted; without those that look like names or free text."""
    text = [name for name in columns if sample.types.get(name) is ColumnType.TEXT]
    categories = {name: _categories(sample, name) for name in text}
    return {name: values for name, values in categories.items() if values}


def _categories(sample: Sample, column: str) -> tuple[str, ...]:
    import polars as pl

    values: set[str] = set()
    rows = 0
    for frame in sample.frames([column]):
        texts = frame[column].cast(pl.String).drop_nulls()
        rows += len(texts)
        values.update(texts.unique().to_list())
        if len(values) > MOST_VALUES:
            return ()
    return tuple(sorted(values)) if len(values) < rows else ()


def _ranges(
    sample: Sample, columns: Iterable[str], levels: tuple[float, float]
) -> Iterator[tuple[str, tuple[float, float]]]:
    for column in columns:
        if sample.types[column].kind is not ValueKind.NUMBER:
            continue
        numbers = finite_numbers(sample, column)
        if not numbers.size:
            continue
        low = float(np.quantile(numbers, levels[0], method="lower"))
        high = float(np.quantile(numbers, levels[1], method="higher"))
        if low < high:
            yield column, (low, high)


def learnt_numbers(sample: Sample, columns: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """The numbers of float columns that have few different ones, and each of them often."""
    few = {}
    for column in columns:
        if sample.types.get(column) is ColumnType.FLOAT:
            numbers, rows = np.unique(finite_numbers(sample, column) + 0.0, return_counts=True)
            if 1 < numbers.size <= _MOST_NUMBERS and rows.min() >= _OFTEN:
                few[column] = tuple(numbers.tolist())
    return few


def row_numbers(sample: Sample, columns: Iterable[str]) -> set[str]:
    """Columns of whole numbers that number rows: so close together, measures would repeat."""
    keys = set()
    for column in columns:
        if sample.types.get(column) is ColumnType.INTEGER:
            numbers = np.sort(finite_numbers(sample, column))
            if numbers.size < 2 or not np.diff(numbers).all():
                continue
            span = float(numbers[-1] - numbers[0]) + 1
            if numbers.size * (numbers.size - 1) >= 2 * _REPEATS * span:
                keys.add(column)
    return keys


def learnt_ranges(sample: Sample, columns: Iterable[str]) -> dict[str, Range]:
    """Ranges of number columns, with a margin for rows that were not seen (`RANGE_LEARNT`)."""
    ranges = {}
    for column in columns:
        kind = sample.types.get(column)
        if kind is None or kind.kind is not ValueKind.NUMBER:
            continue
        numbers = finite_numbers(sample, column)
        if not numbers.size or numbers.min() == numbers.max():
            continue
        low, high = float(numbers.min()), float(numbers.max())
        if kind is not ColumnType.INTEGER or len(np.unique(numbers)) > _MOST_LEVELS:
            low, high = _with_margin(numbers)
        if low < high and math.isfinite(high - low):
            ranges[column] = Range(low, high)
    return ranges


def _with_margin(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Quantiles and a margin, rounded outwards; on the side of 0 that no number is, none."""
    low = float(np.quantile(numbers, _QUANTILES[0], method="lower"))
    high = float(np.quantile(numbers, _QUANTILES[1], method="higher"))
    width = high - low
    if not 0 < width < math.inf:  # nearly all are the same number
        low, high = float(numbers.min()), float(numbers.max())
        width = high - low
    if not 0 < width < math.inf:
        return low, high
    digits = 1 - math.floor(math.log10(width))
    step = 10.0**-digits
    ends = (low - _MARGIN * width) / step, (high + _MARGIN * width) / step
    rounded = round(math.floor(ends[0]) * step, digits), round(math.ceil(ends[1]) * step, digits)
    if numbers.min() >= 0:
        return max(0.0, rounded[0]), rounded[1]
    return (rounded[0], min(0.0, rounded[1])) if numbers.max() <= 0 else rounded


def require_ranges_fit(training: Sample, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Refuse declared ranges that most training rows are outside of: a slip, or another unit."""
    for column, (low, high) in bounds.items():
        kind = training.types.get(column)
        if kind is None or kind.kind is not ValueKind.NUMBER:
            continue
        numbers = finite_numbers(training, column)
        outside = int(((numbers < low) | (numbers > high)).sum())
        if 2 * outside > numbers.size:
            raise InvalidArgument(
                f"the bounds of column {column!r} are {low:g} to {high:g}, and of {numbers.size:,} "
                f"training rows {outside:,} are outside, where they would count as the nearest "
                f"end; declare a range that holds them ({numbers.min():g} to {numbers.max():g}), "
                "or leave it out to have it learnt."
            )


def finite_numbers(sample: Sample, column: str) -> NDArray[np.float64]:
    """The finite numbers of a column."""
    import polars as pl

    parts = [
        frame[column].cast(pl.Float64).drop_nulls().to_numpy() for frame in sample.frames([column])
    ]
    numbers: NDArray[np.float64] = np.concatenate(parts)
    return numbers[np.isfinite(numbers)]


def _levels(quantiles: object) -> tuple[float, float]:
    if isinstance(quantiles, tuple | list) and len(quantiles) == 2:
        low, high = (require.between("quantiles", each, 0.0, 1.0) for each in quantiles)
        if low < high:
            return low, high
    raise InvalidArgument(
        f"quantiles is {quantiles!r}; it must be two levels, the first below the second: "
        "(0.001, 0.999)."
    )


# Declared scales against training rows: what other rows say of a sigma that nobody can prove.


_LOG_LEVEL = math.log(1e-6)  # of a false alarm, for each column and test


def implausible_scales(training: Sample, scales: Mapping[str, Scale]) -> Iterator[str]:
    """One sentence for each declared scale that the training rows contradict.

    They are taken to be independent and of one population; what they say of it may be told, since
    they are not protected.
    """
    for column, scale in scales.items():
        kind = training.types.get(column)
        if kind is None or kind.kind is not ValueKind.NUMBER:
            continue
        numbers = finite_numbers(training, column)
        evidence = _too_large(numbers, scale) if numbers.size > 1 else None
        if evidence is not None:
            yield (
                f"column {column!r} is declared with {scale.text}, and of {numbers.size:,} "
                f"training rows {evidence}: if the protected rows are like them, intervals that "
                "rest on this scale may be false; declare a larger one."
            )


def _too_large(numbers: NDArray[np.float64], scale: Scale) -> str | None:
    """What is seen that a value of this scale shows once in a million times at most."""
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = float(np.var(numbers / scale.sigma))  # no number where doubles overflow
    squares = math.isfinite(ratio) and scale.b is None
    if squares and mean_square_log_p(numbers.size, ratio) <= _LOG_LEVEL:
        return f"the standard deviation is {math.sqrt(ratio) * scale.sigma:,.4g}"
    # Two rows that are further apart than 2a: one of them is further than a from its expectation.
    apart = float(numbers.max() / 2 - numbers.min() / 2)
    most = scaled_tail(scale.sigma, scale.b).radius(_LOG_LEVEL - math.log(numbers.size))
    return f"two are {2 * apart:,.4g} apart" if apart > most else None
