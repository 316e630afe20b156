"""What one symbol can answer: a number of the sample with a stated concentration.

A `Statistic` is measured through the door by itself. Everything else that people ask for (variance,
correlation, quantiles, differences of groups) is derived from the answers to several of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol, TypeGuard

from holdfast import require
from holdfast.data.design import Group
from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling, profile_of_rows
from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.declaring import Scale
from holdfast.question.expression import Expression, Op, column_names, numeral, text_of
from holdfast.question.row import GRID, GRID_ERROR, RowValue, condition_row, row_value
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.dependence import PooledUnits
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.unbounded import (
    GroupOfRows,
    InUnits,
    Narrower,
    SpreadOfRows,
    UnboundedMean,
    Windowed,
    scale_in_group,
    scaled_tail,
    square_scale,
)

ROUNDINGS = 2.0**-50  # of a range: what a few of them come to


@dataclass(frozen=True, slots=True)
class Measured:
    """What the sample says, exactly: numerator/denominator of the way from `low` to `high`.

    For an average, `count` is how many rows were averaged and `squares` the sum of their squared
    grid units.
    """

    numerator: int
    denominator: int
    count: int
    squares: int = 0

    @property
    def value(self) -> float:
        """The nearest double."""
        return self.numerator / self.denominator


class Statistic(Protocol):
    """A frozen value; everything but `read` is public."""

    @property
    def text(self) -> str:
        """The canonical text: two questions are the same question when their texts are equal."""
        ...

    @property
    def low(self) -> float:
        """The least value it can have."""
        ...

    @property
    def high(self) -> float:
        """The greatest value it can have."""
        ...

    @property
    def unbounded(self) -> bool:
        """Whether the truth may be beyond `low` and `high`, which are then those of a grid."""
        ...

    @property
    def row(self) -> RowValue | None:
        """The row value that is averaged; None for a statistic of the table as a whole."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        ...

    def unit(self, n: int) -> float:
        """What a tolerance is a part of, as a part of the range: all of it, but without a range."""
        ...

    def rows(self, n: int) -> int:
        """How many of the table's n rows are averaged: a public number."""
        ...

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        """How far the sample's value may be from the truth, as a fraction of the range.

        Refused, in one sentence, where no theorem covers the way the rows came about.
        """
        ...

    @property
    def error(self) -> float:
        """A bound on |computed - exact|, a fraction of the range: the grid, or a few roundings."""
        ...

    def read(self, sample: Sample) -> Measured:
        """The value of a statistic of the table as a whole; inside the door only."""
        ...


def is_single(question: object) -> TypeGuard[Statistic]:
    """Whether one symbol answers it."""
    return hasattr(question, "row")


def is_unbounded(question: object) -> bool:
    """Whether the truth may be beyond its `low` and `high`, which are then those of a grid."""
    return bool(getattr(question, "unbounded", False))


def own_unit(question: object, rows: int) -> float:
    """What a tolerance is a part of, as a part of the range: all of it where nothing else is."""
    unit = getattr(question, "unit", None)
    return 1.0 if unit is None else float(unit(rows))


def fraction(value: object, statistic: Statistic, name: str = "guess") -> float:
    """A number in the statistic's own unit as a fraction of its range."""
    number = require.between(name, value, statistic.low, statistic.high)
    width = statistic.high - statistic.low
    return (number - statistic.low) / width if width else 0.0


def averaged(statistic: Statistic) -> RowValue:
    """The row value of an average."""
    if statistic.row is None:
        raise TypeError(f"{statistic.text} is not an average of row values")
    return statistic.row


def row_error(row: RowValue) -> float:
    """How far the average of a row value may be computed wrongly, as a fraction of its range."""
    return ROUNDINGS if row.is_condition else GRID_ERROR


# Means of values without a range: what is declared of them is how concentrated they are.
#
# Rows are summed exactly, on a grid that is scaled to the declared sigma. The grid has ends: a
# row beyond +-`window` counts as the nearest of them, and a mean beyond half of that as the half.
# So the value that is read is in a range, like every other; an interval that reaches an end of
# that range says nothing about what is beyond, and is infinite there. What all this changes is at
# most the probability that some row deviates by a quarter of the window, 2,048 sigma, from its
# expectation: it is added to the tail (`theory.base.unbounded.Windowed`).


_WINDOW = 2.0**13  # scales from 0 to the end of the grid: some 10^-5 of a scale is a step of it


@dataclass(frozen=True, slots=True)
class ConcentratedMean:
    """The average of a number over all rows, of which a scale is declared.

    Where its `expression` has a range of its own, that is the range of the mean, and at every level
    the narrower of the two radii is used. It is `usual` if it is a column without a range, with the
    scale that was declared for it at opening: then its words need not say the scale.
    """

    expression: Expression
    scale: Scale
    bounded: RowValue | None = None
    usual: bool = False

    @property
    def text(self) -> str:
        """The canonical text; the scale is part of what is asked."""
        return f"avg({text_of(self.expression)}, {self.scale.text})"

    @property
    def among(self) -> str:
        """Of which rows: of all."""
        return ""

    @property
    def value(self) -> RowValue:
        """What is summed: the number, cut at the ends of its range or of the window."""
        if self.bounded is not None:
            return self.bounded
        return row_value(build.clip(self.expression, -self.window, self.window))

    @property
    def window(self) -> float:
        """The end of the grid."""
        return _WINDOW * self.scale.longest

    @property
    def log_row(self) -> float:
        """ln of the probability that a row is a quarter of the window from its expectation."""
        return scaled_tail(self.scale.sigma, self.scale.b).log_tail(self.window / 4)

    @property
    def low(self) -> float:
        return -self.high if self.bounded is None else self.bounded.low

    @property
    def high(self) -> float:
        return self.window / 2 if self.bounded is None else self.bounded.high

    @property
    def unbounded(self) -> bool:
        return self.bounded is None

    @property
    def row(self) -> RowValue | None:
        """Nothing is known of its rows that an interval could rest on, but the scale."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return self.value.columns

    @property
    def error(self) -> float:
        """A bound on |computed - exact| as a part of the range, of which the window has two."""
        return 2 * GRID_ERROR if self.bounded is None else GRID_ERROR

    def rows(self, n: int) -> int:
        return n

    def unit(self, n: int) -> float:  # noqa: ARG002 - it is about rows, however many
        """2 sigma, as a part of the range: what its range is to a mean of bounded values."""
        return 2 * self.scale.sigma / (self.high - self.low) if self.bounded is None else 1.0

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        width = self.high - self.low
        if self.bounded is not None:
            return self._narrower(n, sampling, width)
        return self.windowed(sampling.unbounded(n, self.scale), n)

    def windowed(self, mean: Concentration, n: int, of: Concentration | None = None) -> InUnits:
        """The tail `of` what is read of rows whose mean of all has this one, as a part of it."""
        tail = Windowed(of or mean, _possible_rows(mean, n), self.log_row)
        return InUnits(tail, self.high - self.low)

    def _narrower(self, n: int, sampling: Sampling, width: float) -> Concentration:
        by_range = profile_of_rows(sampling, n)
        try:
            return Narrower(by_range, InUnits(sampling.unbounded(n, self.scale), width))
        except InvalidQuestion:  # no theorem makes anything of the scale: the range has one
            return by_range

    def read(self, sample: Sample) -> Measured:
        (total,) = sample.sums([self.value])
        return self.measured(total, sample.n)

    def measured(self, total: int, rows: int) -> Measured:
        """What the sum of all rows, in grid units, says."""
        part = self.part_of(total, rows)
        return Measured(part.numerator, part.denominator, rows)

    def part_of(self, total: int, rows: int) -> Fraction:
        """The mean as a part of the range, given the sum of all rows in grid units."""
        part = Fraction(total, rows * GRID)
        if self.bounded is not None:
            return part
        # The rows were read from -window to window, and the range is the middle half of that.
        return min(Fraction(1), max(Fraction(0), 2 * part - Fraction(1, 2)))


def _possible_rows(mean: Concentration, n: int) -> int:
    """A number of rows for a union bound over all there may be, given the tail of their mean."""
    return mean.possible_rows if isinstance(mean, PooledUnits) else n


@dataclass(frozen=True, slots=True)
class ConcentratedGroupMean:
    """The average of a number in a group of rows; a scale is declared of the number in all rows.

    Of the group it is known that it has a `share` of all rows, or more; or `group`, by design, its
    size.
    """

    unbounded: ClassVar[bool] = True
    row: ClassVar[RowValue | None] = None

    whole: ConcentratedMean
    condition: Expression
    share: float | None = None
    group: Group | None = None

    @property
    def text(self) -> str:
        """The canonical text; the scale, and the share that is taken for known, are part of it."""
        known = "" if self.share is None else f", share >= {numeral(self.share)}"
        return f"{self.whole.text[:-1]}{known}){self.among}"

    @property
    def among(self) -> str:
        """Of which rows, in the words of the question."""
        return f" where {text_of(self.condition)}"

    @property
    def low(self) -> float:
        return self.whole.low

    @property
    def high(self) -> float:
        return self.whole.high

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return tuple(sorted({*self.whole.columns, *column_names(self.condition)}))

    @property
    def error(self) -> float:
        return self.whole.error

    def rows(self, n: int) -> int:
        return n if self.group is None else self.group.size

    def unit(self, n: int) -> float:
        """2 sigma over the share that is known, by which it is as wide as a mean of all rows."""
        return self.whole.unit(n) / (1.0 if self.share is None else self.share)

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        scale = self.whole.scale
        tail = self.tail(n, sampling, scale)
        if self.group is not None:
            return self.whole.windowed(tail, self.group.size)
        return self.whole.windowed(sampling.unbounded(n, scale), n, tail)

    @property
    def sized(self) -> Expression | None:
        """The group of which a share is taken for known."""
        return None if self.share is None else self.condition

    def of_share(self, share: float) -> ConcentratedGroupMean:
        """The same of a group that is known to have this share."""
        return replace(self, share=share)

    def tail(self, n: int, sampling: Sampling, scale: Scale) -> Concentration:
        """The tail of the group's mean, given a scale of all rows."""
        if self.group is not None:
            own = sampling.unbounded(self.group.size, scale)
            if isinstance(own, UnboundedMean):
                return own
            raise InvalidQuestion(_NO_GROUP.format(sampling))
        match mean := sampling.unbounded(n, scale):
            case UnboundedMean(colours=together):
                weight = 0.0
            case PooledUnits(largest=together):
                weight = mean.log_weight
            case _:
                raise InvalidQuestion(_NO_GROUP.format(sampling))
        share = self.share or 0.0
        return GroupOfRows(n, share, scale.sigma, scale.b, min(n, together), weight)

    def summed(self) -> tuple[RowValue, RowValue]:
        """What is added up in the group, and the rows of it."""
        inside = build.coalesce([self.condition, build.FALSE])
        value = self.whole.value
        number = build.case([(inside, _number_of(value))], build.constant(value.low))
        return row_value(number), condition_row(inside)

    def part_of(self, total: int, rows: int) -> Fraction:
        """The mean as a part of the range; of no rows, the middle."""
        return self.whole.part_of(total, rows) if rows else Fraction(1, 2)

    def read(self, sample: Sample) -> Measured:
        total, counted = sample.sums(list(self.summed()))
        rows = counted // GRID
        part = self.part_of(total, rows)
        return Measured(part.numerator, part.denominator, rows)


# Variances of such values: the mean square around the rows' own mean, wherever that is. It is found
# inside the door, on a grid that reaches far and is coarse, or two; then squares are summed on a
# fine one around it. A row that deviates by a quarter of that one is counted among the failures.


_NEAR, _FAR = (
    2.0**35,
    2.0**61,
)  # scales: beyond the farthest, doubles themselves are 2^8 scales apart
_WIDE = 2.0**10  # scales from the middle to the end of the fine grid
# Rows are off by some 2.9e-6 of a scale, and so is the root of their variance at most.
SPREAD_ERROR = 2.0**-17
_MOST_SPREAD = 2.0**20  # of all rows' own: that of a group of whose rows nothing is told


@dataclass(frozen=True, slots=True)
class ConcentratedVariance:
    """The variance of a number without a range, at most the square of the sigma that is declared.

    It is about the rows that the `mean` is about.
    """

    mean: ConcentratedMean | ConcentratedGroupMean

    @property
    def whole(self) -> ConcentratedMean:
        """The mean of all rows."""
        return self.mean if isinstance(self.mean, ConcentratedMean) else self.mean.whole

    @property
    def inside(self) -> Expression | None:
        """The condition of its group."""
        return None if isinstance(self.mean, ConcentratedMean) else self.mean.condition

    @property
    def share(self) -> float | None:
        """What its group is known to have of all rows."""
        return None if isinstance(self.mean, ConcentratedMean) else self.mean.share

    @property
    def sized(self) -> Expression | None:
        """The group of which a share is taken for known."""
        return None if isinstance(self.mean, ConcentratedMean) else self.mean.sized

    def of_share(self, share: float) -> ConcentratedVariance:
        """The same of a group that is known to have this share."""
        mean = self.mean
        return (
            self if isinstance(mean, ConcentratedMean) else replace(self, mean=mean.of_share(share))
        )

    @property
    def text(self) -> str:
        return self.mean.text.replace("avg", "variance", 1)

    @property
    def low(self) -> float:
        # An end of a grid is open, and 0 is not.
        return -self.high if self.unbounded else 0.0

    @property
    def high(self) -> float:
        return round_up(self._sigma**2) * (_MOST_SPREAD if self.unbounded else 1.0)

    @property
    def _sigma(self) -> float:
        """That of its rows, about their own mean."""
        sigma = self.whole.scale.sigma
        return sigma if self.share is None else scale_in_group(sigma, self.share)

    @property
    def unbounded(self) -> bool:
        """Whether the truth may be above `high`: in a group of which no share is known."""
        return self.inside is not None and self.share is None

    @property
    def row(self) -> RowValue | None:
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return self.mean.columns

    @property
    def error(self) -> float:
        return SPREAD_ERROR * self._part

    @property
    def _part(self) -> float:
        """The square of sigma as a part of the range."""
        return 1.0 / (2 * _MOST_SPREAD) if self.unbounded else 1.0

    def rows(self, n: int) -> int:
        return self.mean.rows(n)

    def unit(self, n: int) -> float:  # noqa: ARG002 - it is about rows, however many
        """Twice the scale of squares, by which it is as wide as a mean."""
        share = 1.0 if self.share is None else self.share
        return 2 * square_scale(1.0)[0] / math.sqrt(share) * self._part

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        squares, b = square_scale(self._sigma)
        if self.share is not None:  # it is the group's own, and is not to be divided by its share
            squares = round_up(squares * math.sqrt(self.share))
        of_mean, of_squares = (
            self._tail(n, sampling, scale) for scale in (self.whole.scale, Scale(squares, b))
        )
        all_rows = _possible_rows(sampling.unbounded(n, self.whole.scale), n)
        tail = Windowed(SpreadOfRows(of_squares, of_mean), all_rows, SPREAD_LOG_ROW)
        return InUnits(tail, self.high - self.low)

    def _tail(self, n: int, sampling: Sampling, scale: Scale) -> Concentration:
        if isinstance(self.mean, ConcentratedGroupMean):
            return self.mean.tail(n, sampling, scale)
        tail = sampling.unbounded(n, scale)
        if isinstance(tail, UnboundedMean | PooledUnits):
            return tail
        raise InvalidQuestion(_NO_VARIANCE.format(sampling))

    @property
    def read_values(self) -> tuple[RowValue, ...]:
        """What an engine has to compute, wherever the middle is."""
        return tuple(_spread_values(self.whole, self.inside, 1.0))

    def read(self, sample: Sample) -> Measured:
        rows, variance = spread_of(sample, self.whole, self.inside)
        part = self.part_of(variance)
        return Measured(part.numerator, part.denominator, rows)

    def part_of(self, variance: Fraction) -> Fraction:
        """A variance as a part of the range."""
        low, high = Fraction(self.low), Fraction(self.high)
        return min(Fraction(1), (variance - low) / (high - low))


# ln of the probability that a row is a quarter of the fine grid from its expectation.
SPREAD_LOG_ROW = scaled_tail(1.0, None).log_tail(_WIDE / 4)


def spread_of(
    sample: Sample, whole: ConcentratedMean, inside: Expression | None
) -> tuple[int, Fraction]:
    """How many rows a group has, and their variance; inside the door only."""
    number, sigma = whole.expression, whole.scale.sigma
    near = _middle(sample, number, 0.0, _NEAR * sigma)
    if abs(near) >= _NEAR * sigma / 2:
        far = _middle(sample, number, 0.0, _FAR * sigma)
        near = _middle(sample, number, far, _NEAR * sigma)
    (total, squares), *counted = sample.moments(_spread_values(whole, inside, near))
    rows = counted[0][0] // GRID if counted else sample.n
    if not rows:
        return 0, Fraction(0)
    # Grid units from the middle, where the rows outside the group are: half-way up the grid.
    half = GRID // 2
    moved = Fraction(total - sample.n * half, rows)
    squared = Fraction(squares - 2 * half * total + sample.n * half**2, rows)
    unit = 2 * Fraction(_WIDE * sigma) / GRID
    return rows, max(Fraction(0), squared - moved**2) * unit**2


def _spread_values(
    whole: ConcentratedMean, inside: Expression | None, middle: float
) -> list[RowValue]:
    """Distances of a group's rows from the middle, and which rows are of the group."""
    distance = _distance(whole.expression, middle, _WIDE * whole.scale.sigma)
    if inside is None:
        return [row_value(distance)]
    group = build.coalesce([inside, build.FALSE])
    in_group = build.case([(group, distance)], build.constant(0.0))
    return [row_value(in_group), condition_row(group)]


def _middle(sample: Sample, number: Expression, around: float, reach: float) -> float:
    """The mean of all rows on a coarse grid that reaches so far."""
    (total,) = sample.sums([row_value(_distance(number, around, reach))])
    return around + float((2 * Fraction(total, sample.n * GRID) - 1) * Fraction(reach))


def _distance(number: Expression, middle: float, reach: float) -> Expression:
    """How far a row is from the middle, cut at the reach."""
    away = build.arithmetic(Op.SUBTRACT, number, build.constant(middle)) if middle else number
    return build.clip(away, -reach, reach)


_NO_VARIANCE = (
    "No theorem here covers the variance of a column without a range, with {}; give it bounds=, or "
    "open the ledger with clustered(..., largest=)."
)
_NO_GROUP = (
    "No theorem here covers the mean of a group of a column without a range, with {}; give it "
    "bounds=, or open the ledger with clustered(..., largest=)."
)


def _number_of(value: RowValue) -> Expression:
    if isinstance(value.source, Expression):
        return value.source
    raise TypeError(f"{value.text} is no expression")


# Statistics measured inside the door: one scan for all that are sums of rows.


def summed(statistic: Statistic) -> RowValue | None:
    """The row value whose sum it is measured by; None if it reads the table by itself."""
    return statistic.value if isinstance(statistic, ConcentratedMean) else statistic.row


def measure(
    sample: Sample, statistics: Sequence[Statistic], *, squares: bool = False
) -> list[Measured]:
    """All of them: one scan for the averages, one more for each statistic of the whole table."""
    rows = [row for statistic in statistics if (row := summed(statistic)) is not None]
    if squares:
        moments = iter(sample.moments(rows) if rows else [])
    else:
        moments = iter([(total, 0) for total in sample.sums(rows)] if rows else [])
    measured = []
    for statistic in statistics:
        if summed(statistic) is None:
            measured.append(statistic.read(sample))
            continue
        total, total_squares = next(moments)
        if isinstance(statistic, ConcentratedMean):
            measured.append(statistic.measured(total, sample.n))
            continue
        count = statistic.rows(sample.n)
        measured.append(Measured(total, count * GRID, count, total_squares))
    return measured
