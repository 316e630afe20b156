"""Losses of regression: mean squared and absolute errors, their root, R2, and who is closer.

A squared error has no useful range of its own. Capped at a public number its mean is a bounded one,
and the truth is that of the capped loss. With a cap no row is left out: one whose prediction or
label is missing counts as the cap. Without one, `rmse` needs declared bounds, or any of them a
declared `kappa`: a bound on E l^2 / (E l)^2, which no row can check.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

from holdfast import require
from holdfast.data.sampling import Independent
from holdfast.errors import NotDescribed
from holdfast.question import build
from holdfast.question.expression import Op, numeral, text_of
from holdfast.question.row import RowValue, row_value
from holdfast.statistics.averages import of_pairs
from holdfast.statistics.derived import (
    Conditional,
    Estimate,
    Joined,
    Paired,
    Stages,
    estimated_means,
    known_means,
    last_part,
    parts_with,
    stages_of,
)
from holdfast.statistics.entry import (
    NO_TEXT,
    By,
    Call,
    Description,
    Entry,
    Part,
    Table,
    TableCall,
    Use,
    What,
    grouped,
    number_of,
)
from holdfast.statistics.grid_rules import (
    Gridded,
    gridded_rule,
    loss_ratio_look,
    root_mean_look,
)
from holdfast.statistics.kappa_losses import (
    KAPPA_DESCRIBED,
    KAPPA_PRICES,
    LossByKappa,
    bind_by_kappa,
)
from holdfast.statistics.mean import Average, Mean, expression_of
from holdfast.statistics.mean_events import rows_among
from holdfast.statistics.rule import (
    Ground,
    GroupRows,
    Look,
    group_of_rows,
)
from holdfast.statistics.spelling import (
    capped_loss,
    closer_conditions,
    loss_of,
    score_number,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import std_interval
from holdfast.theory.base.safeside import round_down, round_up

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class RootMeanSquaredError:
    """The root of the mean squared difference of two values; `of` are those, and perhaps a cap."""

    of: str
    square: Average | Conditional

    @property
    def text(self) -> str:
        return f"rmse({self.of}){self.square.among}"

    @property
    def low(self) -> float:
        return 0.0

    @property
    def high(self) -> float:
        return std_interval(0.0, self.square.high).high

    @property
    def stages(self) -> Stages:
        return stages_of([self.square])

    def join(self, parts: Sequence[Estimate]) -> Joined:
        (square,) = estimated_means([self.square], parts)
        return Joined.within(
            math.sqrt(max(0.0, square.value)),
            std_interval(max(0.0, square.interval.low), max(0.0, square.interval.high)),
            self.low,
            self.high,
        )

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        ends = (self.square.low, self.square.high)
        return [parts_with([self.square], [end], estimates) for end in ends]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        return last_part([self.square], guess * guess, values)


@dataclass(frozen=True, slots=True)
class MinusRootMeanSquaredError(RootMeanSquaredError):
    """The same with its sign changed, so that more is better: what a search for the best asks."""

    @property
    def text(self) -> str:
        return f"neg_rmse({self.of}){self.square.among}"

    @property
    def low(self) -> float:
        return -std_interval(0.0, self.square.high).high

    @property
    def high(self) -> float:
        return 0.0

    def join(self, parts: Sequence[Estimate]) -> Joined:
        root = RootMeanSquaredError(self.of, self.square).join(parts)
        return Joined(-(root.value or 0.0), Interval(-root.interval.high, -root.interval.low))


_LEAST_R2 = -1.0  # what is below it counts as it: such a model is of no use, however bad it is


@dataclass(frozen=True, slots=True)
class RSquared:
    """1 minus the mean capped squared error over that of a fixed baseline, not below -1."""

    of: str
    loss: Average | Conditional
    base: Average | Conditional
    part: Part

    @property
    def text(self) -> str:
        return f"r2({self.of}){self.loss.among}"

    @property
    def low(self) -> float:
        return _LEAST_R2

    @property
    def high(self) -> float:
        return 1.0

    @property
    def stages(self) -> Stages:
        return stages_of(self._means)

    def join(self, parts: Sequence[Estimate]) -> Joined:
        base, loss = estimated_means(self._means, parts)
        value = 1.0 - loss.value / base.value if base.value > 0.0 else None
        (least, most), (lowest, highest) = loss.interval, base.interval
        low = round_down(1.0 - round_up(most / lowest)) if lowest > 0.0 else _LEAST_R2
        high = round_up(1.0 - round_down(least / highest)) if highest > 0.0 else 1.0
        return Joined.within(value, Interval(low, high), _LEAST_R2, 1.0)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        pairs = ((self.base.high, self.loss.low), (self.base.high, self.base.high))
        return [parts_with(self._means, pair, estimates) for pair in pairs]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        base, _ = known_means(self._means, values)
        return last_part(self._means, (1.0 - guess) * base, values)

    @property
    def _means(self) -> tuple[Average | Conditional, Average | Conditional]:
        return self.base, self.loss


class _MeanLoss(Protocol):
    """A mean loss of a prediction and the label, capped or with a declared `kappa`."""

    @overload
    def __call__(
        self,
        prediction: What,
        label: What,
        cap: float | None = None,
        *,
        kappa: float | None = None,
        where: str | None = None,
    ) -> Call: ...
    @overload
    def __call__(
        self, prediction: What, label: What, cap: float, *, where: str | None = None, by: By
    ) -> TableCall: ...


def _mean_loss(name: str, summary: str) -> _MeanLoss:
    """The function that people call for a loss of this name."""

    def loss(
        prediction: What,
        label: What,
        cap: float | None = None,
        *,
        kappa: float | None = None,
        where: str | None = None,
        by: By | None = None,
    ) -> Call | TableCall:
        return grouped(_loss_call(name, prediction, label, cap, kappa, where), by)

    loss.__name__, loss.__qualname__, loss.__doc__ = name, name, summary
    return cast("_MeanLoss", loss)


def _loss_call(
    name: str,
    prediction: What,
    label: What,
    cap: float | None,
    kappa: float | None,
    where: str | None,
) -> Call:
    arguments = (prediction, label) if cap is None else (prediction, label, cap)
    return Call(name, arguments, where, kappa=kappa)


_OF_LOSS = (
    "of a prediction and the label, each capped at `cap`; or, without a range, where `kappa` is "
    "declared: E l^2 <= kappa (E l)^2 of the loss l."
)
mse = _mean_loss("mse", f"The mean squared difference {_OF_LOSS}")
mae = _mean_loss("mae", f"The mean difference {_OF_LOSS}")


@overload
def rmse(
    prediction: What,
    label: What,
    cap: float | None = None,
    *,
    kappa: float | None = None,
    where: str | None = None,
) -> Call: ...
@overload
def rmse(
    prediction: What, label: What, cap: float | None = None, *, where: str | None = None, by: By
) -> TableCall: ...
def rmse(
    prediction: What,
    label: What,
    cap: float | None = None,
    *,
    kappa: float | None = None,
    where: str | None = None,
    by: By | None = None,
) -> Call | TableCall:
    """The root of the mean squared difference of a prediction and the label, in their unit.

    With `cap` a difference beyond it counts as it; without, the values have declared bounds, or
    `kappa` is declared: E l^2 <= kappa (E l)^2 of the squared difference l.
    """
    return grouped(_loss_call("rmse", prediction, label, cap, kappa, where), by)


@overload
def neg_rmse(prediction: What, label: What, cap: float, *, where: str | None = None) -> Call: ...
@overload
def neg_rmse(
    prediction: What, label: What, cap: float, *, where: str | None = None, by: By
) -> TableCall: ...
def neg_rmse(
    prediction: What, label: What, cap: float, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """Minus the capped `rmse`, so that more is better."""
    return grouped(Call("neg_rmse", (prediction, label, cap), where), by)


@overload
def r2(
    prediction: What,
    label: What,
    baseline: float,
    cap: float,
    baseline_cap: float,
    *,
    where: str | None = None,
) -> Call: ...
@overload
def r2(
    prediction: What,
    label: What,
    baseline: float,
    cap: float,
    baseline_cap: float,
    *,
    where: str | None = None,
    by: By,
) -> TableCall: ...
def r2(
    prediction: What,
    label: What,
    baseline: float,
    cap: float,
    baseline_cap: float,
    *,
    where: str | None = None,
    by: By | None = None,
) -> Call | TableCall:
    """1 minus the mean squared error over that of `baseline`, a fixed number; not below -1.

    The differences are capped, those from the baseline (the training rows' mean, say) at
    `baseline_cap`.
    """
    return grouped(Call("r2", (prediction, label, baseline, cap, baseline_cap), where), by)


@overload
def closer(first: What, second: What, label: What, *, where: str | None = None) -> Call: ...
@overload
def closer(
    first: What, second: What, label: What, *, where: str | None = None, by: By
) -> TableCall: ...
def closer(
    first: What, second: What, label: What, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """On how many more rows, as a share of all, the first prediction is closer than the second.

    It needs no range. A missing prediction is further away than any, and rows without a label are
    ties. It says nothing of average losses, and is not transitive.
    """
    return grouped(Call("closer", (first, second, label), where), by)


def _cap(name: str, value: Any) -> float:
    return require.positive(name, number_of(name, value))


def _bind_mean_loss(call: Call, table: Table) -> Average | Conditional | LossByKappa:
    return _bind_loss(call, table) if call.kappa is None else bind_by_kappa(call, table)


def _bind_loss(call: Call, table: Table) -> Average | Conditional:
    prediction, label, cap = call.arguments
    values = table.expression(prediction), table.expression(label)
    power = 1 if call.name == "mae" else 2
    return table.mean(capped_loss(*values, _cap("cap", cap), power), table.where(call.where))


def _bind_rmse(call: Call, table: Table) -> RootMeanSquaredError | LossByKappa:
    if call.kappa is not None:
        return bind_by_kappa(call, table)
    prediction, label, *cap = call.arguments
    if not cap:
        values = sorted(map(table.value, (prediction, label)), key=lambda value: value.text)
        where = table.where(call.where)
        square = table.mean(_squared_difference(*values), where, *values)
        return RootMeanSquaredError(", ".join(value.text for value in values), square)
    trees = sorted(map(text_of, map(table.expression, (prediction, label))))
    of = ", ".join([*trees, numeral(_cap("cap", cap[0]))])
    loss_class = RootMeanSquaredError if call.name == "rmse" else MinusRootMeanSquaredError
    return loss_class(of, _bind_loss(call, table))


def _squared_difference(first: RowValue, second: RowValue) -> RowValue:
    """Missing where one of them is: such rows are left out."""
    gap = build.arithmetic(Op.SUBTRACT, *map(score_number, (first, second)))
    size = build.function(Op.ABS, gap)
    return row_value(build.arithmetic(Op.MULTIPLY, size, size))  # which is known not to be below 0


def _bind_r2(call: Call, table: Table) -> RSquared:
    prediction, label, *numbers = call.arguments
    fixed = number_of("baseline", numbers[0])
    caps = _cap("cap", numbers[1]), _cap("baseline_cap", numbers[2])
    trees = table.expression(prediction), table.expression(label)
    where = table.where(call.where)
    loss = table.mean(capped_loss(*trees, caps[0], 2), where)
    base = table.mean(capped_loss(trees[1], build.constant(fixed), caps[1], 2), where)
    of = ", ".join([*map(text_of, trees), *map(numeral, (fixed, *caps))])
    part = Part("ratio", trees, rows_among(loss), (fixed, *caps), "r2")
    return RSquared(of, loss, base, part)


def _bind_closer(call: Call, table: Table) -> Paired | Average | Conditional:
    trees = [table.expression(each) for each in call.arguments]
    one, other = map(row_value, closer_conditions(*trees))
    pair = of_pairs(one, other, table.where(call.where), table)
    named = f"closer({', '.join(map(text_of, trees))})"
    return replace(pair, named=named) if isinstance(pair, Paired) else pair


# As they are described: means by the rules of means, the root by that of its square.


def _r2_look(question: RSquared, part: Part, ground: Ground) -> Look | None:
    """By bets on both losses of independent rows."""
    values = _value_of(question.loss), _value_of(question.base)
    facts = _independent(part, ground, *values)
    return None if facts is None else loss_ratio_look(values, *facts)


def _independent(
    part: Part, ground: Ground, *values: RowValue
) -> tuple[GroupRows | None, Gridded] | None:
    """The group and the rule of a loss, where rows are independent, and in a group alike."""
    group = group_of_rows(part.where, ground, *values)
    if not isinstance(ground.sampling, Independent) or not (ground.alike or group is None):
        return None
    return group, gridded_rule(part.form, part, group, ground)


def _root_uses(question: MinusRootMeanSquaredError) -> list[Use]:
    loss = loss_of(expression_of(_value_of(question.square)))
    if loss is None:
        raise NotDescribed(NO_TEXT)
    part = Part("ratio", loss.values, rows_among(question.square), (loss.cap,), "rmse")
    return [Use(part, turned=True)]


def _root_look(question: MinusRootMeanSquaredError, part: Part, ground: Ground) -> Look | None:
    value = _value_of(question.square)
    facts = _independent(part, ground, value)
    return None if facts is None else root_mean_look(value, *facts)


def _value_of(mean: Average | Conditional) -> RowValue:
    return mean.row if isinstance(mean, Mean) else mean.value


LOSSES = (
    Entry(
        "mse",
        "mse(prediction, label, cap)",
        "the mean squared difference from the label, each difference capped",
        (3, 3),
        _bind_mean_loss,
        described=KAPPA_DESCRIBED,
        prices=KAPPA_PRICES,
    ),
    Entry(
        "mae",
        "mae(prediction, label, cap)",
        "the mean difference from the label, each capped",
        (3, 3),
        _bind_mean_loss,
        described=KAPPA_DESCRIBED,
        prices=KAPPA_PRICES,
    ),
    Entry(
        "rmse",
        "rmse(prediction, label)",
        "the root of the mean squared difference from the label; with a third argument, capped",
        (2, 3),
        _bind_rmse,
    ),
    Entry(
        "neg_rmse",
        "neg_rmse(prediction, label, cap)",
        "minus the root of the mean squared difference from the label, each difference capped",
        (3, 3),
        _bind_rmse,
        described=(Description(MinusRootMeanSquaredError, _root_uses, _root_look),),
    ),
    Entry(
        "r2",
        "r2(prediction, label, baseline, cap, baseline_cap)",
        "1 minus the capped mean squared error over that of a fixed baseline, not below -1",
        (5, 5),
        _bind_r2,
        described=(Description(RSquared, lambda question: [Use(question.part)], _r2_look),),
    ),
    Entry(
        "closer",
        "closer(first, second, label)",
        "on how many more rows, as a share of all, the first is closer to the label",
        (3, 3),
        _bind_closer,
    ),
)
