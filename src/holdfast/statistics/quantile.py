"""Quantiles: from answers about F(v) = P[x <= v] at public thresholds, found by binary search."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import partial
from typing import ClassVar, overload

from holdfast import require
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidQuestion, Refused
from holdfast.prior.grammar import Grammar
from holdfast.prior.literals import level_millibits
from holdfast.question import build
from holdfast.question.bounds import range_of
from holdfast.question.expression import (
    Column,
    ColumnType,
    Expression,
    Op,
    Operation,
    ValueKind,
    numeral,
    text_of,
)
from holdfast.question.functions import RowFunction
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.derived import (
    Conditional,
    Estimate,
    Joined,
    Play,
    Subquestion,
    as_counted,
    estimated_means,
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
    number_of,
    pair_of,
    tree_of,
)
from holdfast.statistics.grid_rules import Gridded, gridded_rule, log_gridded_rule, quantile_look
from holdfast.statistics.log_scale import FARTHEST, from_log_scale, on_log_scale
from holdfast.statistics.mean import Average
from holdfast.statistics.mean_events import rows_among
from holdfast.statistics.rule import Ground, Look, group_of_rows
from holdfast.statistics.statistic import is_single
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import quantile_interval

_Search = Generator[float, Interval, None]

_STEPS = 1_000
_FINEST = 1e-9
_EXACT = Context(prec=40)
_DIGITS = 12  # of the range, that a threshold is written with: more than the finest step needs


@dataclass(frozen=True, slots=True)
class Quantile:
    """The lower quantile of a value at a level: the least v with P[value <= v] >= level.

    Thresholds are `step` apart, from the lower end of the value's range.
    """

    theorems: ClassVar[tuple[str, ...]] = ("quantile_interval",)
    value: RowValue
    level: float
    step: float
    average: Callable[[RowValue], Average | Conditional]

    @property
    def text(self) -> str:
        among = self.threshold(self.value.low).among
        return f"quantile({self.value.text}, {numeral(self.level)}, {numeral(self.step)}){among}"

    @property
    def low(self) -> float:
        return self.value.low

    @property
    def high(self) -> float:
        return self.value.high

    @property
    def cells(self) -> int:
        """How many steps the range has."""
        return max(1, math.ceil((self.value.high - self.value.low) / self.step))

    def threshold(self, v: float) -> Average | Conditional:
        """The share of rows with a value of at most v, among those that have one."""
        below = build.comparison(Op.AT_MOST, as_counted(self.value), build.constant(v))
        return self.average(row_value(below))

    def claims(self, guess: float, reach: float) -> dict[float, tuple[float, float]]:
        """What F must be, and where, for the quantile to be within `reach` of a guess."""
        # Below the quantile F is below the level, which doubles say with the next one down.
        both = {
            self._readable(guess - reach, ROUND_CEILING): (0.0, math.nextafter(self.level, 0.0)),
            self._readable(guess + reach, ROUND_FLOOR): (self.level, 1.0),
        }
        return {v: claim for v, claim in both.items() if self.low <= v < self.high}

    def is_about(self, guess: float, interval: Interval, tolerance: float) -> bool:
        """Whether an interval says that it is within the tolerance (a part of the range) of it."""
        reach = tolerance * (self.high - self.low)
        return guess - reach <= interval.low and interval.high <= guess + reach

    def place(self, cell: int) -> float:
        """The threshold after so many steps."""
        return min(self.value.high, self._readable(self.value.low + cell * self.step))

    def _readable(self, v: float, rounding: str = ROUND_HALF_EVEN) -> float:
        """A threshold near v: any will do, and people read it in the ledger."""
        last = Decimal(self.high - self.low).adjusted() - _DIGITS
        return float(Decimal(v).quantize(Decimal((0, (1,), last)), rounding, _EXACT)) + 0.0

    def play(self, guess: float | None, tolerance: float) -> Play:
        """A guess is checked by two thresholds; otherwise, or if it is refuted, it is looked for.

        `tolerance` is what "about" means, as a part of the range. What was answered before a
        refusal stays true, and is all that is said then.
        """
        estimates: dict[float, Estimate] = {}
        if guess is not None:
            claims = self.claims(guess, tolerance * (self.high - self.low))
            claimed = {v: share for v in claims if is_single(share := self.threshold(v))}
            if claimed:
                answers = yield [Subquestion(claimed[v], self.level, claims[v]) for v in claimed]
                estimates.update(zip(claimed, answers, strict=True))
            joined = self.join(estimates)
            if estimates and self.is_about(guess, joined.interval, tolerance):
                return Joined(guess, joined.interval)
        walk = self.search()
        v = next(walk, None)
        try:
            while v is not None:
                if v not in estimates:
                    estimates[v] = yield from self._share_up_to(v)
                v = walk.send(estimates[v].interval)
        except StopIteration:
            pass
        except Refused:  # surprises may use up what the rest needs
            if not estimates:
                raise
        found_there = self.join(estimates)
        return Joined(found_there.value, found_there.interval)

    def _share_up_to(
        self, v: float
    ) -> Generator[Sequence[Subquestion], Sequence[Estimate], Estimate]:
        """The share up to a threshold: of rows that are left out, their share is asked first."""
        means = (self.threshold(v),)
        parts: list[Estimate] = []
        for stage in stages_of(means):
            parts += yield [Subquestion(part) for part in stage]
        (estimate,) = estimated_means(means, parts)
        return estimate

    def search(self) -> _Search:
        """Yields thresholds and is sent F's intervals: both ends of the quantile's, one by one.

        A threshold is surely below the quantile, surely not below it, or undecided. The search
        halves until something is undecided, then finds the ends to its left and to its right. No
        way is longer than the one on which every threshold is undecided.
        """
        below, above = -1, self.cells
        while above - below > 1:
            middle = (below + above) // 2
            share = yield self.place(middle)
            if share.high < self.level:
                below = middle
            elif share.low >= self.level:
                above = middle
            else:
                yield from self._left_end(below, middle)
                yield from self._right_end(middle, above)
                return

    @property
    def longest(self) -> int:
        """How many thresholds a search asks for at most."""
        walk, nothing = self.search(), Interval(0.0, 1.0)
        visited = {next(walk)}
        try:
            while True:
                visited.add(walk.send(nothing))
        except StopIteration:
            return len(visited)

    def _left_end(self, left: int, right: int) -> _Search:
        """The last threshold that is surely below; the part next to `left` is the longer one."""
        while right - left > 1:
            middle = left + _half(right - left)
            if (yield self.place(middle)).high < self.level:
                left = middle
            else:
                right = middle

    def _right_end(self, left: int, right: int) -> _Search:
        """The first threshold that is surely not below; the part next to `right` is the longer."""
        while right - left > 1:
            middle = right - _half(right - left)
            if (yield self.place(middle)).low < self.level:
                left = middle
            else:
                right = middle

    def join(self, shares: Mapping[float, Estimate]) -> Estimate:
        """What follows from the answers about the thresholds."""
        points = sorted(shares)
        lows, highs = ([shares[v].interval[end] for v in points] for end in (0, 1))
        interval = quantile_interval(self.level, points, lows, highs, self.low, self.high)
        return Estimate(self._value(shares), interval).within(self.low, self.high)

    def _value(self, shares: Mapping[float, Estimate]) -> float:
        """Where the line through the nearest answers reaches the level."""
        under = [(v, each.value) for v, each in shares.items() if each.value < self.level]
        over = [(v, each.value) for v, each in shares.items() if each.value >= self.level]
        left, low = max(under, default=(self.low, 0.0))
        right, high = min(over, default=(self.high, 1.0))
        if right <= left:
            return left
        return left + (right - left) * ((self.level - low) / (high - low))  # low < level <= high


_LOG_CELLS = 4_096
_LOG_DIGITS = 6  # of a threshold: neighbours differ by more than two parts in a hundred


@dataclass(frozen=True, slots=True)
class OpenQuantile(Quantile):
    """The quantile of a number without a range: `value` is the `number` on the logarithmic scale.

    Thresholds are equally far apart on that scale. An interval that reaches the farthest number of
    it is open there.
    """

    low: ClassVar[float] = -FARTHEST
    unbounded: ClassVar[bool] = True

    number: Expression

    @property
    def text(self) -> str:
        among = self.threshold(0.0).among
        return f"quantile({text_of(self.number)}, {numeral(self.level)}){among}"

    @property
    def high(self) -> float:
        return FARTHEST

    @property
    def cells(self) -> int:
        return _LOG_CELLS

    def threshold(self, v: float) -> Average | Conditional:
        """The share of rows with a number of at most v: this needs no range."""
        below = build.comparison(Op.AT_MOST, self.number, build.constant(v))
        return self.average(row_value(below))

    def place(self, cell: int) -> float:
        return float(f"{from_log_scale(cell / _LOG_CELLS):.{_LOG_DIGITS}g}") + 0.0

    def play(self, guess: float | None, tolerance: float) -> Play:
        """A guess is refused: it is claimed of a share, of which a half-width is a part."""
        if guess is not None:
            share = f"avg({text_of(self.number)} <= {numeral(guess)})"
            raise InvalidQuestion(
                f"{self.text} has no range that a half-width could be a part of, so a guess of it "
                f"claims nothing; check a threshold instead: {share} is at least "
                f"{numeral(self.level)} exactly where the quantile is at most {numeral(guess)}."
            )
        return Quantile.play(self, None, tolerance)


def _half(gap: int) -> int:
    """The larger part of a gap, so that its halves again are whole: a power of two."""
    return 1 << ((gap - 1).bit_length() - 1)


@overload
def quantile(
    what: What,
    level: float,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    step: float | None = None,
) -> Call: ...
@overload
def quantile(
    what: What,
    level: float,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    step: float | None = None,
    by: By,
) -> TableCall: ...
def quantile(
    what: What,
    level: float,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    step: float | None = None,
    by: By | None = None,
) -> Call | TableCall:
    """The least v such that at least the share `level` of the population has a value up to v.

    Looked for on thresholds `step` apart: 1 for a column of whole numbers, otherwise a thousandth
    of the range.
    """
    steps = () if step is None else (step,)
    return grouped(Call("quantile", (what, level, *steps), where, pair_of(bounds)), by)


@overload
def median(
    what: What, *, bounds: Bounds = None, where: str | None = None, step: float | None = None
) -> Call: ...
@overload
def median(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    step: float | None = None,
    by: By,
) -> TableCall: ...
def median(
    what: What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    step: float | None = None,
    by: By | None = None,
) -> Call | TableCall:
    """The quantile at level 1/2."""
    steps = () if step is None else (step,)
    return grouped(Call("quantile", (what, 0.5, *steps), where, pair_of(bounds)), by)


def usual_step(low: float, high: float, *, whole: bool) -> float:
    """The distance of thresholds where nobody says it."""
    return 1.0 if whole else float(f"{(high - low) / _STEPS:.{_DIGITS}g}")


def _bind_quantile(call: Call, table: Table) -> Quantile:
    argument, level, *step = call.arguments
    number = _open_number(argument, table) if call.bounds is None else None
    if number is not None:
        return _bind_open(number, call, table)
    value = table.value(argument, call.bounds)
    whole = not isinstance(argument, RowFunction) and _is_whole(table.expression(argument))
    usual = usual_step(value.low, value.high, whole=whole)
    if value.high == value.low:
        raise InvalidQuestion(f"{value.text} is always {numeral(value.low)}; it needs no quantile.")
    size = require.positive("step", number_of("step", step[0])) if step else usual
    require.at_least("step", size, _FINEST * (value.high - value.low))
    average = partial(table.average, where=table.where(call.where))
    share = require.probability("level", number_of("level", level))
    quantile = Quantile(value, share, size, average)
    quantile.threshold(value.low)  # whether it can be asked shows in any of them
    return quantile


def _open_number(argument: What, table: Table) -> Expression | None:
    """A number without a range; None for whatever has one, or is no number."""
    if isinstance(argument, RowFunction):
        return None
    number = table.expression(argument, bounded=True)
    is_open = number.kind is ValueKind.NUMBER and not range_of(number).finite
    return number if is_open else None


def _bind_open(number: Expression, call: Call, table: Table) -> OpenQuantile:
    _, level, *step = call.arguments
    if step:
        raise InvalidQuestion(
            f"Steps of thresholds are parts of a range, and {text_of(number)} has none; leave the "
            "step out, or give bounds=(low, high) (--bounds LOW HIGH)."
        )
    share = require.probability("level", number_of("level", level))
    average = partial(table.average, where=table.where(call.where))
    value = on_log_scale(number)
    quantile = OpenQuantile(value, share, 1.0 / _LOG_CELLS, average, number)
    quantile.threshold(0.0)  # whether it can be asked shows in any of them
    return quantile


def _bind_median(call: Call, table: Table) -> Quantile:
    value, *step = call.arguments
    return _bind_quantile(replace(call, arguments=(value, 0.5, *step)), table)


def _is_whole(expression: Expression) -> bool:
    if isinstance(expression, Operation) and expression.op is Op.CLIP:
        expression = expression.args[0]
    return isinstance(expression, Column) and expression.type is ColumnType.INTEGER


# As they are described.


def _quantile_uses(question: Quantile) -> list[Use]:
    where = rows_among(question.threshold(question.low))
    trees = (tree_of(question.value),)
    quantile = Part("quantile", trees, where, (question.level,))
    return [Use(quantile), Use(Part("distribution", trees, where), "free")]


def _quantile_look(
    question: Quantile,
    part: Part,
    ground: Ground,
    made: Callable[..., Gridded] = gridded_rule,
) -> Look | None:
    """By order statistics of independent rows."""
    group = group_of_rows(part.where, ground, question.value)
    if not isinstance(ground.sampling, Independent) or (group and not ground.alike):
        return None
    (level,) = part.numbers
    rule = made("quantile", part, group, ground, log_free=next(iter(ground.log_free), None))
    return quantile_look(question.value, group, level, rule, alike=ground.alike)


def _open_uses(question: OpenQuantile) -> list[Use]:
    """The events of the number itself: its logarithm is in the same order."""
    trees, where = (question.number,), rows_among(question.threshold(0.0))
    quantile = Part("quantile", trees, where, (question.level,))
    return [Use(quantile), Use(Part("distribution", trees, where), "free")]


def _open_look(question: OpenQuantile, part: Part, ground: Ground) -> Look | None:
    return _quantile_look(question, part, ground, log_gridded_rule)


def _distribution_price(words: Grammar, part: Part) -> int:
    return words.number(part.trees[0], bounded=True)


def _quantile_price(words: Grammar, part: Part) -> int:
    return _distribution_price(words, part) + level_millibits(part.numbers[0])


_DESCRIBED = (
    Description(Quantile, _quantile_uses, _quantile_look),
    Description(OpenQuantile, _open_uses, _open_look),
)
_PRICES = {
    "quantile": EventPrice(_quantile_price, "where quantile"),
    "distribution": EventPrice(_distribution_price, "where quantile"),
}
QUANTILE = (
    Entry(
        "median",
        "median(value)",
        "the quantile at level 1/2",
        (1, 2),
        _bind_median,
        described=_DESCRIBED,
        prices=_PRICES,
    ),
    Entry(
        "quantile",
        "quantile(value, level)",
        "the least v that this share of the population does not exceed",
        (2, 3),
        _bind_quantile,
        described=_DESCRIBED,
        prices=_PRICES,
    ),
)
