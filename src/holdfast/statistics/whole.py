"""Statistics of the table as a whole: AUC, and functions with a declared concentration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from holdfast import require
from holdfast.data.sample import Sample, plain_frames, reading, silent
from holdfast.data.sampling import Clustered, Independent, Sampling
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question import build
from holdfast.question.bounds import Range
from holdfast.question.expression import Expression, column_names
from holdfast.question.functions import row_function
from holdfast.question.row import RowValue
from holdfast.question.text import identifier, numeral, string, text_of
from holdfast.statistics.concentrated import ConcentratedMean
from holdfast.statistics.entry import Entry, positive_label, require_all_rows
from holdfast.statistics.named import Call, What
from holdfast.statistics.statistic import ROUNDINGS, Measured, Statistic
from holdfast.statistics.table import Table
from holdfast.theory.base.concentration import (
    BoundedDifferences,
    Concentration,
    SubExponential,
    SubGaussian,
    TwoSampleU,
)
from holdfast.theory.base.dependence import ClusteredDifferences

if TYPE_CHECKING:
    import polars as pl

__all__ = ["WHOLE", "Auc", "TableFunction", "auc", "columns_of", "statistic"]


@dataclass(frozen=True, slots=True)
class Auc:
    """P[score of a positive row > score of a negative one], ties counting a half.

    Which rows are positive is public by design. A missing score is below every other.
    """

    score: Expression
    positive: Expression
    positives: int
    negatives: int

    @property
    def text(self) -> str:
        return f"auc({text_of(self.score)}, {text_of(self.positive)})"

    @property
    def low(self) -> float:
        return 0.0

    @property
    def high(self) -> float:
        return 1.0

    @property
    def unbounded(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return ROUNDINGS

    @property
    def row(self) -> RowValue | None:
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return tuple(sorted({*column_names(self.score), *column_names(self.positive)}))

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        if isinstance(sampling, Independent):
            return TwoSampleU(self.positives, self.negatives)
        raise InvalidQuestion(
            f"The interval of an AUC is proved for independent rows, and this ledger has "
            f"{sampling}; ask for the accuracy at a threshold instead."
        )

    def read(self, sample: Sample) -> Measured:
        import numpy as np

        from holdfast.data.ranking import scores_by_class

        above, below = scores_by_class(sample, self.score, self.positive)
        sides = (np.searchsorted(below, above, side=side) for side in ("left", "right"))
        doubled = sum(int(side.sum()) for side in sides)
        # For the protected rows the public numbers; other rows, to guess from, have their own.
        pairs = len(above) * len(below)
        return Measured(doubled, 2 * pairs, sample.n) if pairs else Measured(1, 2, sample.n)


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A Python function of all rows with declared bounds and a declared concentration.

    `change`: one row changes its value by at most this (McDiarmid). `sigma`, with `b`: it is
    sub-Gaussian, or sub-exponential, whatever the rows are (typical stability's own case).
    """

    function: Callable[[pl.DataFrame], float]
    columns: tuple[str, ...]
    bounds: Range
    name: str
    version: str
    change: float | None
    sigma: float | None
    b: float | None

    @property
    def text(self) -> str:
        columns = ", ".join(identifier(column) for column in self.columns)
        declared = {"change": self.change, "sigma": self.sigma, "b": self.b}
        said = ", ".join(f"{k} {numeral(v)}" for k, v in declared.items() if v is not None)
        return (
            f"statistic {string(self.name)} version {string(self.version)} of ({columns}) in "
            f"[{numeral(self.bounds.low)}, {numeral(self.bounds.high)}], {said}"
        )

    @property
    def low(self) -> float:
        return self.bounds.low

    @property
    def high(self) -> float:
        return self.bounds.high

    @property
    def unbounded(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return ROUNDINGS

    @property
    def row(self) -> RowValue | None:
        return None

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - all of the range
        return 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        width = self.bounds.high - self.bounds.low
        if self.sigma is not None:
            if self.b is None:
                return SubGaussian(self.sigma / width)
            return SubExponential(self.sigma / width, self.b / width)
        delta = (self.change or 0.0) / width
        match sampling:
            case Independent():
                return BoundedDifferences(n, delta)
            case Clustered(_, size) if size is not None:
                return ClusteredDifferences(round(size * n), delta)
        raise InvalidQuestion(
            f"A statistic that changes by at most {numeral(self.change or 0.0)} with a row "
            f"concentrates for independent rows or units, and this ledger has {sampling}; declare "
            "its sigma= instead."
        )

    def read(self, sample: Sample) -> Measured:
        import polars as pl

        with reading():
            table = pl.concat(plain_frames(sample.frames(self.columns)))
        try:
            with silent():
                value = float(self.function(table))
        except (Exception, GeneratorExit, SystemExit, pl.exceptions.PanicException):
            value = math.nan  # what it does with these rows may not be told
        low, high = self.bounds
        value = low if math.isnan(value) else min(high, max(low, value))
        part = (Fraction(value) - Fraction(low)) / (Fraction(high) - Fraction(low))
        return Measured(part.numerator, part.denominator, sample.n)


def columns_of(statistic: Statistic) -> tuple[str, ...]:
    """The columns that a statistic reads, where it reads any by itself."""
    if statistic.row is not None:
        return statistic.row.columns
    known = isinstance(statistic, Auc | ConcentratedMean | TableFunction)
    return statistic.columns if known else ()


def statistic(
    function: Callable[[pl.DataFrame], float],
    *,
    columns: Sequence[str],
    bounds: tuple[float, float],
    name: str,
    version: str = "1",
    change: float | None = None,
    sigma: float | None = None,
    b: float | None = None,
) -> TableFunction:
    """Any number computed from all rows together, whose concentration you declare.

    `function` gets a Polars frame of these columns, in any order of rows, and returns a number; one
    outside `bounds` counts as the nearest bound, and NaN or a failure as the lower one.
    Declare either `change`, the most that one row can change the number (for independent rows or
    units), or the scale `sigma` of its deviations (with `b`, sub-exponential ones), in its own
    unit. The truth is its expectation over samples of this size. It is known by `name` and
    `version`: change the version whenever its meaning changes.
    """
    if (change is None) == (sigma is None) or (b is not None and sigma is None):
        raise InvalidArgument("statistic() takes change=, or sigma=, or sigma= and b=.")
    scales = {"change": change, "sigma": sigma, "b": b}
    known = {k: None if v is None else require.positive(k, v) for k, v in scales.items()}
    named = row_function(function, columns=columns, bounds=bounds, name=name, version=version)
    return TableFunction(function, named.columns, named.bounds, name, version, **known)


def auc(score: What, label: str) -> Call:
    """The area under the ROC curve of a score; the label must be a design column."""
    return Call("auc", (score, label))


def _bind_auc(call: Call, table: Table) -> Auc:
    require_all_rows(call)
    score, label = call.arguments
    positive = positive_label(label, table)
    if not column_names(positive):
        raise InvalidQuestion(
            f"By {text_of(positive)} all rows are of one class, whatever they hold; an AUC needs "
            "two, so write a label that uses a column."
        )
    if not table.design.covers(positive):
        raise InvalidQuestion(
            f"An AUC needs to know how many rows are positive, and {text_of(positive)} is not "
            "about design columns; declare its columns with design=[...] when the ledger is opened."
        )
    positives = table.design.group(positive).size
    negatives = sum(table.design.counts) - positives
    if not positives or not negatives:
        raise InvalidQuestion(
            f"All rows of the design are of one class by {text_of(positive)}; an AUC needs two."
        )
    ranked = build.as_number(table.expression(score), "an AUC")
    return Auc(ranked, positive, positives, negatives)


WHOLE = (
    Entry(
        "auc",
        "auc(score, label)",
        "how often a positive row has the higher score, ties 1/2",
        (2, 2),
        _bind_auc,
    ),
)
