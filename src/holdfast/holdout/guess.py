"""Guesses: from numbers, or computed from other rows than the protected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

from holdfast import require
from holdfast.data.overlap import RowContents, unexplained_overlap
from holdfast.data.sample import Sample, is_readable
from holdfast.data.source import KnownTable, csv_paths, open_sample
from holdfast.did_you_mean import number_meant
from holdfast.errors import InvalidArgument
from holdfast.ledger.identity import is_protected
from holdfast.ledger.opening import Opening
from holdfast.mechanisms.mechanism import ForecastGrounds, LikelyWidth
from holdfast.question.row import GRID, RowValue, row_value
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import GroupMean
from holdfast.statistics.player import Side, Verb
from holdfast.statistics.statistic import Statistic, columns_of

__all__ = [
    "Guess",
    "averages",
    "guess_of",
    "guessed_number",
    "other_rows",
    "require_one_claim",
    "require_others",
    "training_rows",
    "training_variance",
]


@dataclass(frozen=True, slots=True)
class Guess:
    """What the analyst guesses: a number for each question, every part from other rows, or nothing.

    With a `side` the number is a bound that is claimed, and what is `gated` is to be shown beyond
    it, perhaps `graded`; `differing` is the share of rows that are said to differ, and `forecast`
    what is said of how likely it is to be shown. Where no half-width is named, `likely` are those
    of each place, if one is chosen there. Read once: a table to guess from is opened once, whatever
    it is used for.
    """

    numbers: tuple[float, ...] | None = None
    rows: Sample | None = None
    side: Side | None = None
    gated: bool = False
    differing: float | None = None
    forecast: ForecastGrounds | None = None
    graded: bool = False
    likely: tuple[LikelyWidth | None, ...] = ()

    @property
    def verb(self) -> Verb:
        """What is done with it."""
        if self.gated:
            return "gate"
        return "ask" if self.numbers is None and self.rows is None else "check"

    def likely_at(self, place: int) -> LikelyWidth | None:
        """The half-width that was chosen for the question at a place."""
        return self.likely[place] if self.likely else None

    def tolerance_at(self, place: int, tolerance: float | None) -> float | None:
        """The half-width of the claim at a place; where other rows are a way to ask, the call's."""
        likely = self.likely_at(place)
        return tolerance if likely is None or self.rows is not None else likely.tolerance

    def each(self, count: int) -> Guess:
        """One number as the guess of each of so many questions."""
        return self if self.numbers is None else Guess(self.numbers * count)

    def of(self, place: int) -> float | None:
        """The number guessed of the question at a place."""
        return None if self.numbers is None else self.numbers[place]


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
    columns.update(column for statistic in statistics for column in columns_of(statistic))
    _require_columns(training, columns, table)
    totals = iter(training.sums(rows) if rows else [])
    return [_value(training, statistic, totals) for statistic in statistics]


def training_variance(training: Sample, row: RowValue) -> float:
    """The variance of a row's value on other rows, as a part of the squared range."""
    (histogram,) = training.histograms([(row, None)])
    middles, counts = (histogram.low + histogram.high) / 2, histogram.counts
    total = max(1, histogram.rows)
    mean = float((middles * counts).sum()) / total
    return float(((middles - mean) ** 2 * counts).sum()) / total


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


def _require_columns(training: Sample, columns: Iterable[str], table: Table) -> None:
    for column in columns:
        kind = training.types[column].kind if column in training.types else None
        declared = table.schema.types.get(column)  # what was attached, training rows may have
        if kind is None or (declared is not None and kind is not declared.kind):
            raise InvalidArgument(
                f"the table to guess from has no column {column!r} of the type it has in the "
                "holdout; give rows of the same columns. Nothing was spent."
            )


def guess_of(
    other_rows: Callable[[Any], Sample],
    guess: Any,
    at_most: float | None,
    at_least: float | None,
) -> Guess:
    """A number, a side, or other rows to guess from; only here a table is opened."""
    if at_most is not None:
        return Guess((require.finite("at_most", at_most),), side="at most")
    if at_least is not None:
        return Guess((require.finite("at_least", at_least),), side="at least")
    if guess is None:
        return Guess()
    if isinstance(guess, Real) or number_meant(guess) is not None:
        return Guess((guessed_number(guess),))
    return Guess(rows=other_rows(guess))


def require_one_claim(
    verb: Verb, guess: Any, at_most: float | None, at_least: float | None
) -> None:
    """Refuse a claim of nothing, or several claims at once."""
    if [guess is None, at_most is None, at_least is None].count(False) != 1:
        options = "guess=, at_most= and at_least=" if verb == "check" else "at_most= and at_least="
        example = "guess=0.24" if verb == "check" else "at_least=0.2"
        raise InvalidArgument(f"{verb} takes one of {options}, such as {example}.")


def guessed_number(guess: object) -> float:
    """A guess that must be a number."""
    return require.finite("guess", guess, "a finite number, such as 0.24")
