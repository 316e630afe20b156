"""Variance, standard deviation, covariance, correlation and slope, from averages of products.

Squares and products are taken around the middle of each range, a public number: E[(x - a)(y - b)]
minus E[x - a] E[y - b] is the covariance whatever a and b are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, overload

from holdfast.errors import InvalidQuestion
from holdfast.question import build
from holdfast.question.declaring import Scale
from holdfast.question.expression import Expression, Op, numeral
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.averages import has_range
from holdfast.statistics.derived import (
    Conditional,
    Estimate,
    Joined,
    Stages,
    as_counted,
    estimated_means,
    known_means,
    last_part,
    parts_with,
    stages_of,
)
from holdfast.statistics.entry import (
    Bounds,
    By,
    Call,
    Description,
    Entry,
    EventPrice,
    Part,
    Table,
    TableCall,
    Use,
    What,
    grouped,
    pair_of,
    sorted_trees,
    tree_of,
)
from holdfast.statistics.grid_rules import gridded_rule, relation_look, spread_look
from holdfast.statistics.mean import Average, Mean, rows_with_value
from holdfast.statistics.mean_events import rows_among, values_price
from holdfast.statistics.open_variance import DESCRIBED_VARIANCES, OpenVariance, open_variance
from holdfast.statistics.rule import Ground, Look, group_of_rows
from holdfast.statistics.statistic import ConcentratedVariance
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import (
    correlation_interval,
    covariance_interval,
    difference_interval,
    ratio_interval,
    std_interval,
    variance_interval,
)
from holdfast.theory.base.safeside import round_up


def square_of(value: RowValue) -> RowValue:
    """The squared distance from the middle of the range."""
    # A product of absolute values, so that its range is known not to be below 0.
    size = build.function(Op.ABS, _centred(value))
    return row_value(build.arithmetic(Op.MULTIPLY, size, size))


def product_of(first: RowValue, second: RowValue) -> RowValue:
    """The product of the distances from the middles of the ranges."""
    return row_value(build.arithmetic(Op.MULTIPLY, _centred(first), _centred(second)))


def _centred(value: RowValue) -> Expression:
    return build.arithmetic(Op.SUBTRACT, as_counted(value), build.constant(_middle(value)))


def _middle(value: RowValue) -> float:
    return value.low + (value.high - value.low) / 2


def _around_middle(mean: Estimate, value: RowValue) -> Estimate:
    middle = _middle(value)
    return Estimate(mean.value - middle, difference_interval(*mean.interval, middle, middle))


def _variance(mean: Estimate, square: Estimate, value: RowValue) -> Estimate:
    shift = _around_middle(mean, value)
    interval = variance_interval(*shift.interval, *square.interval)
    return Estimate(max(0.0, square.value - shift.value**2), interval).within(0.0, _largest(value))


def _largest(value: RowValue) -> float:
    """No variance in the range is larger."""
    width = value.high - value.low
    return round_up((round_up(width) / 2) ** 2) if width else 0.0


@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of a value, from its mean and its mean square; or the root of it."""

    theorems: ClassVar[tuple[str, ...]] = ("variance_interval", "std_interval")
    low: ClassVar[float] = 0.0
    value: RowValue
    mean: Average | Conditional
    square: Average | Conditional
    root: bool

    @property
    def text(self) -> str:
        return f"{'std' if self.root else 'variance'}({self.value.text}){self.mean.among}"

    @property
    def high(self) -> float:
        largest = _largest(self.value)
        return std_interval(0.0, largest).high if self.root else largest

    @property
    def stages(self) -> Stages:
        return stages_of(self._means)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        mean, square = estimated_means(self._means, parts)
        variance = _variance(mean, square, self.value)
        if not self.root:
            return Joined(variance.value, variance.interval)
        interval = std_interval(*variance.interval)
        return Joined.within(variance.value**0.5, interval, 0.0, self.high)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        middle, ends = _middle(self.value), (self.square.high, self.square.low)
        return [parts_with(self._means, (middle, end), estimates) for end in ends]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        mean, _ = known_means(self._means, values)
        square = (guess * guess if self.root else guess) + (mean - _middle(self.value)) ** 2
        return last_part(self._means, square, values)

    @property
    def _means(self) -> tuple[Average | Conditional, Average | Conditional]:
        return self.mean, self.square


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of two values, from their means and the mean of their product."""

    theorems: ClassVar[tuple[str, ...]] = ("covariance_interval",)
    first: RowValue
    second: RowValue
    means: tuple[Average | Conditional, Average | Conditional]
    product: Average | Conditional

    @property
    def text(self) -> str:
        return f"covariance({self.first.text}, {self.second.text}){self.product.among}"

    @property
    def low(self) -> float:
        return -self.high

    @property
    def high(self) -> float:
        first, second = (std_interval(0.0, _largest(each)).high for each in self._values)
        return round_up(first * second) if first and second else 0.0

    @property
    def stages(self) -> Stages:
        return stages_of(self.all_means)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        estimate = self.estimate(estimated_means(self.all_means, parts))
        return Joined(estimate.value, estimate.interval)

    @property
    def all_means(self) -> tuple[Average | Conditional, ...]:
        """What it follows from: both means, and that of the product."""
        return (*self.means, self.product)

    def estimate(self, estimates: Sequence[Estimate]) -> Estimate:
        """The covariance from the means and the mean product."""
        *means, product = estimates
        x, y = (
            _around_middle(mean, value) for mean, value in zip(means, self._values, strict=True)
        )
        interval = covariance_interval(*x.interval, *y.interval, *product.interval)
        return Estimate(product.value - x.value * y.value, interval).within(self.low, self.high)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return [parts_with(self.all_means, values, estimates) for values in self.favourable_means()]

    def favourable_means(self) -> list[tuple[float, ...]]:
        """Values of the means by which most would be said."""
        middles = (_middle(self.first), _middle(self.second))
        return [(*middles, self.product.low), (*middles, self.product.high)]

    @property
    def _values(self) -> tuple[RowValue, RowValue]:
        return self.first, self.second

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        x, y, _ = known_means(self.all_means, values)
        return last_part(self.all_means, self.product_with(guess, x, y), values)

    def product_with(self, guess: float, x: float, y: float) -> float:
        """The mean product by which the covariance is what is guessed, given the means."""
        return guess + (x - _middle(self.first)) * (y - _middle(self.second))


@dataclass(frozen=True, slots=True)
class Correlation:
    """The covariance over both standard deviations; [-1, 1] where one of them may be 0."""

    theorems: ClassVar[tuple[str, ...]] = ("correlation_interval",)
    low: ClassVar[float] = -1.0
    high: ClassVar[float] = 1.0
    covariance: Covariance
    squares: tuple[Average | Conditional, Average | Conditional]

    @property
    def text(self) -> str:
        return self.covariance.text.replace("covariance", "correlation", 1)

    @property
    def stages(self) -> Stages:
        return stages_of(self._means)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        means = estimated_means(self._means, parts)
        x, y = self._variances(means)
        covariance = self.covariance.estimate(means[2:])
        interval = correlation_interval(*covariance.interval, *x.interval, *y.interval)
        spread = (x.value * y.value) ** 0.5
        value = covariance.value / spread if spread > 0 else None
        return Joined.within(value, interval, -1.0, 1.0)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        largest = tuple(square.high for square in self.squares)
        rest = self.covariance.favourable_means()
        return [parts_with(self._means, (*largest, *each), estimates) for each in rest]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        exactly = [
            Estimate(each, Interval(each, each)) for each in known_means(self._means, values)
        ]
        x, y = self._variances(exactly)
        covariance = guess * (x.value * y.value) ** 0.5
        product = self.covariance.product_with(covariance, exactly[2].value, exactly[3].value)
        return last_part(self._means, product, values)

    def _variances(self, means: Sequence[Estimate]) -> tuple[Estimate, Estimate]:
        values = (self.covariance.first, self.covariance.second)
        x, y = (
            _variance(mean, square, value)
            for square, mean, value in zip(means[:2], means[2:4], values, strict=True)
        )
        return x, y

    @property
    def _means(self) -> tuple[Average | Conditional, ...]:
        return (*self.squares, *self.covariance.all_means)


@dataclass(frozen=True, slots=True)
class Slope:
    """The slope of the least-squares line of y on x: their covariance over the variance of x.

    Of both it takes the rows that have both values. Described, it follows from the two; on the
    ledger, from the means that those follow from. Where the variance may be 0 it says nothing.
    """

    theorems: ClassVar[tuple[str, ...]] = ("ratio_interval",)
    y: RowValue
    covariance: Covariance
    variance: Variance
    square: Average | Conditional

    @property
    def text(self) -> str:
        among = self.covariance.product.among
        return f"slope({self.y.text}, {self.variance.value.text}){among}"

    @property
    def low(self) -> float:
        return -self.high

    @property
    def high(self) -> float:
        # A slope may be any number: one that is not surely below this is not told.
        x = self.variance.value
        return round_up(_STEEPEST * (self.y.high - self.y.low) / (x.high - x.low))

    @property
    def described_by(self) -> tuple[Covariance, Variance]:
        return self.covariance, self.variance

    @property
    def stages(self) -> Stages:
        return stages_of(self._means)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        covariance, variance = parts if len(parts) == _BOTH else self._of_means(parts)
        if variance.interval.low <= 0.0:
            return Joined(None, Interval(self.low, self.high))
        interval = ratio_interval(0.0, *covariance.interval, *variance.interval)
        value = covariance.value / variance.value
        if not self.low < interval.low <= interval.high < self.high:
            return Joined(None, Interval(self.low, self.high))
        return Joined(min(interval.high, max(interval.low, value)), interval)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        rest = self.covariance.favourable_means()
        return [parts_with(self._means, (self.square.high, *each), estimates) for each in rest]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        square, first, second, _ = known_means(self._means, values)
        x = self.variance.value
        mean = first if self.covariance.first == x else second
        variance = max(0.0, square - (mean - _middle(x)) ** 2)
        product = self.covariance.product_with(guess * variance, first, second)
        return last_part(self._means, product, values)

    def _of_means(self, parts: Sequence[Estimate]) -> tuple[Estimate, Estimate]:
        square, *means = estimated_means(self._means, parts)
        x = self.variance.value
        mean = means[0] if self.covariance.first == x else means[1]
        return self.covariance.estimate(means), _variance(mean, square, x)

    @property
    def _means(self) -> tuple[Average | Conditional, ...]:
        return (self.square, *self.covariance.all_means)


_BOTH = 2  # parts: by means there are more
_STEEPEST = 2.0**20


@overload
def variance(
    what: What, *, bounds: Bounds = None, where: str | None = None, sigma: float | None = None
) -> Call: ...
@overload
def variance(
    what: What, *, bounds: Bounds = None, where: str | None = None, by: By
) -> TableCall: ...
def variance(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    by: By | None = None,
    sigma: float | None = None,
) -> Call | TableCall:
    """The variance of a value.

    A number without a range is asked for with `sigma`: it is declared to be sub-Gaussian about its
    expectation with this scale; see docs/unbounded.md.
    """
    return grouped(_spread_call("variance", what, where, bounds, sigma), by)


@overload
def std(
    what: What, *, bounds: Bounds = None, where: str | None = None, sigma: float | None = None
) -> Call: ...
@overload
def std(what: What, *, bounds: Bounds = None, where: str | None = None, by: By) -> TableCall: ...
def std(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    by: By | None = None,
    sigma: float | None = None,
) -> Call | TableCall:
    """The standard deviation of a value; of one without a range, with its `sigma`."""
    return grouped(_spread_call("std", what, where, bounds, sigma), by)


def _spread_call(
    name: str, what: What, where: str | None, bounds: Bounds, sigma: float | None
) -> Call:
    scale = None if sigma is None else Scale(sigma)
    return Call(name, (what,), where, pair_of(bounds), scale=scale)


@overload
def covariance(first: What, second: What, *, where: str | None = None) -> Call: ...
@overload
def covariance(first: What, second: What, *, where: str | None = None, by: By) -> TableCall: ...
def covariance(
    first: What, second: What, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The covariance of two bounded values."""
    return grouped(Call("covariance", (first, second), where), by)


@overload
def correlation(first: What, second: What, *, where: str | None = None) -> Call: ...
@overload
def correlation(first: What, second: What, *, where: str | None = None, by: By) -> TableCall: ...
def correlation(
    first: What, second: What, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The correlation of two bounded values."""
    return grouped(Call("correlation", (first, second), where), by)


@overload
def slope(y: What, x: What, *, where: str | None = None) -> Call: ...
@overload
def slope(y: What, x: What, *, where: str | None = None, by: By) -> TableCall: ...
def slope(y: What, x: What, *, where: str | None = None, by: By | None = None) -> Call | TableCall:
    """The slope of the least-squares line of y on x, two bounded values."""
    return grouped(Call("slope", (y, x), where), by)


def _bind_variance(call: Call, table: Table) -> Variance | ConcentratedVariance | OpenVariance:
    (argument,) = call.arguments
    declared = table.scale(argument) if call.bounds is None else None
    if call.scale is not None or (declared is not None and not has_range(argument, table)):
        return open_variance(call, call.scale or declared, table)
    value = table.value(argument, call.bounds)
    where = table.where(call.where)
    mean, square = (table.average(each, where) for each in (value, square_of(value)))
    return Variance(value, mean, square, call.name == "std")


def _bind_covariance(call: Call, table: Table) -> Covariance | Correlation | Slope:
    values = [table.value(argument) for argument in call.arguments]
    first, second = sorted(values, key=lambda value: value.text)
    where = table.where(call.where)

    def average(value: RowValue, other: RowValue) -> Average | Conditional:
        return _beside(other, where, table.average(value, where, first, second))

    product = table.average(product_of(first, second), where, first, second)
    covariance = Covariance(
        first, second, (average(first, second), average(second, first)), product
    )
    if call.name == "covariance":
        return covariance
    if call.name == "correlation":
        squares = average(square_of(first), second), average(square_of(second), first)
        return Correlation(covariance, squares)
    y, x = values
    if x.low == x.high:
        raise InvalidQuestion(
            f"{x.text} is {numeral(x.low)} in every row, and a slope needs values that differ; "
            "write another value in its place."
        )
    square = average(square_of(x), y)
    return Slope(y, covariance, Variance(x, average(x, y), square, root=False), square)


def _beside(
    other: RowValue, where: Expression | None, mean: Average | Conditional
) -> Average | Conditional:
    """The mean of rows that have the other value, too, as its text says it."""
    if isinstance(mean, Mean) or mean.value.known == other.known:
        return mean
    return replace(mean, condition=rows_with_value(where, other))


# As they are described.


def _spread_uses(spread: Variance) -> list[Use]:
    return [Use(Part("spread", (tree_of(spread.value),), rows_among(spread.mean)))]


def _relation_uses(covariance: Covariance, form: str = "covariance") -> list[Use]:
    values = sorted_trees(covariance.first, covariance.second)
    return [Use(Part("relation", values, rows_among(covariance.product), form=form))]


def _spread_look(question: Variance, part: Part, ground: Ground) -> Look | None:
    """By bets on squared deviations of alike rows."""
    if not ground.alike:
        return None
    group = group_of_rows(part.where, ground, question.value)
    rule = gridded_rule("spread", part, group, ground, squared=not question.root)
    return spread_look(question.value, group, rule)


def _relation_look(question: Covariance | Correlation, part: Part, ground: Ground) -> Look | None:
    """By bets on products of deviations of alike rows."""
    if not ground.alike:
        return None
    covariance = question.covariance if isinstance(question, Correlation) else question
    values = (covariance.first, covariance.second)
    group = group_of_rows(part.where, ground, *values)
    rule = gridded_rule(part.form, part, group, ground)
    return relation_look(values, group, part.form, rule)


_SPREAD = (
    Description(Variance, _spread_uses, _spread_look),
    *DESCRIBED_VARIANCES,
)
_SPREAD_PRICES = {"spread": EventPrice(lambda words, part: words.value(part.trees[0]))}
_RELATION_PRICES = {"relation": EventPrice(values_price)}
_RELATION = (
    Description(Covariance, _relation_uses, _relation_look),
    Description(
        Correlation,
        lambda question: _relation_uses(question.covariance, "correlation"),
        _relation_look,
    ),
)
MOMENTS = (
    Entry(
        "variance",
        "variance(value)",
        "the population's variance",
        (1, 1),
        _bind_variance,
        described=_SPREAD,
        prices=_SPREAD_PRICES,
    ),
    Entry(
        "std",
        "std(value)",
        "the root of the variance",
        (1, 1),
        _bind_variance,
        described=_SPREAD,
        prices=_SPREAD_PRICES,
    ),
    Entry(
        "covariance",
        "covariance(first, second)",
        "the covariance of two values",
        (2, 2),
        _bind_covariance,
        described=_RELATION,
        prices=_RELATION_PRICES,
    ),
    Entry(
        "correlation",
        "correlation(first, second)",
        "the covariance over both standard deviations",
        (2, 2),
        _bind_covariance,
        described=_RELATION,
        prices=_RELATION_PRICES,
    ),
    Entry(
        "slope",
        "slope(y, x)",
        "the slope of the least-squares line of y on x",
        (2, 2),
        _bind_covariance,
    ),
)
