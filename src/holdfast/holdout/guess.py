"""Guesses: from numbers, or computed from other rows than the protected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from holdfast.data.fingerprint import RowContents, unexplained_overlap
from holdfast.data.sample import Sample, is_readable
from holdfast.data.source import KnownTable, csv_paths, open_sample
from holdfast.errors import InvalidArgument
from holdfast.ledger.opening import Opening, is_protected
from holdfast.mechanisms.mechanism import TrainedMean
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, RowValue, row_value
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.statistic import Statistic


def other_rows(data: Any, opening: Opening, secret: bytes, protected: RowContents | None) -> Sample:
    """A table to guess from, for a ledger; refused if it holds protected rows."""
    known_table = KnownTable(opening.form, opening.schema.types)
    is_same = partial(is_protected, opening, secret)
    return require_others(training_rows(data, known_table), opening.name, is_same, protected)


def training_rows(data: Any, known_table: KnownTable) -> Sample:
    """A table to guess from; CSV files as the ledger's types say, if they can be read so."""
    try:
        sample = open_sample(data, known=known_table)
        if known_table.types and csv_paths(data) and not is_readable(sample):
            sample = open_sample(data, known=KnownTable(known_table.form))
    except InvalidArgument as error:
        raise InvalidArgument(f"the table to guess from: {error}") from None
    return sample


def require_others(
    sample: Sample, name: str, is_same: Callable[[Sample], bool], protected: RowContents | None
) -> Sample:
    """A table to guess or learn from; one with protected rows of `name` would tell their values.

    What is told is for the custodian: whoever gives a table here has the protected rows in hand. A
    service takes no tables to guess from.
    """
    shared = 0 if protected is None else unexplained_overlap(protected, sample)
    if is_same(sample):
        fault = f"the table to guess from is the protected table of {name!r} itself"
    elif shared:
        fault = (
            f"of the {sample.n:,} rows of the table to guess from {shared:,} are also in the "
            f"protected table of {name!r}, more than duplicates explain"
        )
    else:
        return sample
    raise InvalidArgument(
        f"{fault}; guess from other rows, such as the first part of holdfast.split. Nothing was "
        "spent."
    )


def averages(training: Sample, statistics: Sequence[Statistic], table: Table) -> list[float]:
    """The statistics' values on other rows, as fractions of the range."""
    rows = [row for statistic in statistics for row in _rows(statistic)]
    columns = {column for row in rows for column in row.columns}
    columns.update(column for statistic in statistics for column in statistic.columns)
    require_columns(training, columns, table)
    totals = iter(training.sums(rows) if rows else [])
    return [_value(training, statistic, totals) for statistic in statistics]


def training_variance(training: Sample, row: RowValue, among: Expression | None = None) -> float:
    """The variance of a row's value on other rows, as a part of the squared range."""
    (histogram,) = training.histograms([(row, among)])
    middles, counts = (histogram.low + histogram.high) / 2, histogram.counts
    total = max(1, histogram.rows)
    mean = float((middles * counts).sum()) / total
    return float(((middles - mean) ** 2 * counts).sum()) / total


def trained_mean(
    training: Sample, statistic: Mean | GroupMean, rows: int, table: Table
) -> TrainedMean:
    """What training rows say of a mean of bounded values, that of so many protected `rows`."""
    (mean,) = averages(training, [statistic], table)
    many = max(1, round(training.n * statistic.rows(rows) / rows))
    if statistic.row.is_condition:
        return TrainedMean(mean, mean * (1.0 - mean), many)
    value, among = statistic.row, None
    if isinstance(statistic, GroupMean):
        value, among = statistic.value, statistic.inside
    return TrainedMean(mean, training_variance(training, value, among), many)


def _rows(statistic: Statistic) -> list[RowValue]:
    """What is summed: the value, and for a group, which has another size there, its share."""
    if statistic.row is None:
        return []
    if isinstance(statistic, GroupMean):
        return [statistic.row, row_value(statistic.inside)]
    return [statistic.row]


def _value(training: Sample, statistic: Statistic, totals: Iterator[int]) -> float:
    if statistic.row is None:
        return statistic.read(training).value
    total = next(totals)
    among = next(totals) if isinstance(statistic, GroupMean) else training.n * GRID
    return min(1.0, total / among) if among else 0.5


def require_columns(training: Sample, columns: Iterable[str], table: Table) -> None:
    for column in columns:
        kind = training.types[column].kind if column in training.types else None
        declared = table.schema.types.get(column)  # what was attached, training rows may have
        if kind is None or (declared is not None and kind is not declared.kind):
            raise InvalidArgument(
                f"the table to guess from has no column {column!r} of the type it has in the "
                "holdout; give rows of the same columns. Nothing was spent."
            )
