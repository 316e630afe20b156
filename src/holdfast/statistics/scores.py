"""Scores of predictions: accuracy, balanced too, error, F1, Brier's, and log loss.

No row is left out: a prediction that is missing is a wrong one, and a missing probability has the
worst score there is. Log loss is a function of a row that no expression spells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, overload

from holdfast import require
from holdfast.data.values import evaluate
from holdfast.errors import NotDescribed
from holdfast.prior.grammar import Grammar
from holdfast.question import build
from holdfast.question.expression import Expression, Op, column_names, numeral, text_of
from holdfast.question.row import RowValue, may_be_missing, row_value
from holdfast.statistics.derived import (
    Conditional,
    Difference,
    Estimate,
    Joined,
    Stages,
    counted_condition,
    ratio_value,
)
from holdfast.statistics.entry import (
    NO_TEXT,
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
    positive_label,
    require_all_rows,
    sorted_trees,
    tree_of,
)
from holdfast.statistics.mean import Average, Mean, expression_of
from holdfast.statistics.mean_events import Overlap, numbers_price, overlap_counts, overlap_look
from holdfast.statistics.mean_rules import Contrast, of_groups
from holdfast.statistics.rounded_rules import RoundedOverlap
from holdfast.statistics.rule import Ground, GroupRows, Look
from holdfast.statistics.spelling import probability_of, score_number, squared_distance
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import ratio_interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.length.levels import any_order_millibits

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


def other_class(positive: Expression) -> Expression:
    """The rows that are not positive; a missing label is no positive one."""
    return build.negation(build.coalesce([positive, build.FALSE]))


def is_right(prediction: Expression, label: Expression) -> Expression:
    """Whether a prediction is the label; a missing one is not."""
    return counted_condition(build.comparison(Op.EQUAL, prediction, label))


def or_wrong(predicted: Expression, positive: Expression) -> Expression:
    """The prediction of a class; a missing one is that of the other class."""
    return build.coalesce([predicted, other_class(positive)])


@dataclass(frozen=True, slots=True)
class LogLoss:
    """-ln of the probability given to the label, taken as at least `floor`.

    A function of a row that no row expression can spell.
    """

    probability: Expression
    positive: Expression
    floor: float

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({*column_names(self.probability), *column_names(self.positive)}))

    @property
    def text(self) -> str:
        trees = f"{text_of(self.probability)}, {text_of(self.positive)}"
        return f"log_loss({trees}, {numeral(self.floor)})"

    @property
    def part(self) -> Part:
        """The event of its mean."""
        score = probability_of(self.probability)
        if score is None:
            raise NotDescribed(NO_TEXT)
        return Part("log_loss", (score, self.positive), numbers=(self.floor,))

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        import numpy as np

        probability, positive = evaluate(frame, [self.probability, self.positive])
        chance = probability.to_numpy()
        chances = np.where(positive.fill_null(value=False).to_numpy(), chance, 1.0 - chance)
        chances = np.where(positive.is_null().to_numpy(), self.floor, chances)
        # NULL is NaN here: a missing probability is as bad as the worst one.
        return -np.log(np.fmax(chances, self.floor))


@dataclass(frozen=True, slots=True)
class F1Score:
    """2 P(both)/(P(predicted) + P(labelled)), by the residual of the ratio around 1/2."""

    theorems: ClassVar[tuple[str, ...]] = ("ratio_interval",)
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    predicted: RowValue
    labelled: RowValue

    @property
    def text(self) -> str:
        return f"f1({self.predicted.text}, {self.labelled.text})"

    @property
    def stages(self) -> Stages:
        label = expression_of(self.labelled)
        sides = [or_wrong(expression_of(self.predicted), label), label]
        both, either = build.conjunction(sides), build.disjunction(sides)

        def scored(hit: float, miss: float) -> Mean:
            branches = [(both, build.constant(hit)), (either, build.constant(miss))]
            return Mean(row_value(build.case(branches, build.constant(0.0))))

        # 2 hits - (predicted + labelled)/2: 1 for a hit, -1/2 for a miss.
        return ((scored(2.0, 1.0),), (scored(1.0, -0.5),))

    def join(self, parts: Sequence[Estimate]) -> Joined:
        total, rest = parts
        if total.interval.high <= 0.0:
            return Joined(None, Interval(0.0, 1.0))
        interval = ratio_interval(0.5, *rest.interval, *total.interval)
        return Joined.within(ratio_value(0.5, rest, total), interval, 0.0, 1.0)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        most = 2.0 if estimates[0] is None else estimates[0].interval.high
        misses = min(1.0, most)  # 1 for each miss, and 2 for each hit
        return [(most, most / 2), (misses, -misses / 2)]

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        (total,) = values
        return (guess - 0.5) * total


@dataclass(frozen=True, slots=True)
class BalancedAccuracy:
    """The mean of the shares that are right among positive and among negative rows.

    That is a half more than half of how much more often positive rows are predicted than others:
    `rates` is the difference of those two means.
    """

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    predicted: RowValue
    labelled: RowValue
    rates: Difference

    @property
    def text(self) -> str:
        return f"balanced_accuracy({self.predicted.text}, {self.labelled.text})"

    @property
    def stages(self) -> Stages:
        return self.rates.stages

    def join(self, parts: Sequence[Estimate]) -> Joined:
        joined = self.rates.join(parts)
        low, high = ((1.0 + end) / 2 for end in joined.interval)
        value = None if joined.value is None else (1.0 + joined.value) / 2
        return Joined.within(value, Interval(round_down(low), round_up(high)), 0.0, 1.0)

    def favourable(self, estimates: Sequence[Estimate | None]) -> list[tuple[float, ...]]:
        return self.rates.favourable(estimates)

    def last_guess(self, guess: float, values: Sequence[float]) -> float:
        return self.rates.last_guess(2.0 * guess - 1.0, values)


@overload
def accuracy(prediction: What, label: str, *, where: str | None = None) -> Call: ...
@overload
def accuracy(prediction: What, label: str, *, where: str | None = None, by: By) -> TableCall: ...
def accuracy(
    prediction: What, label: str, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The share of rows whose prediction is the label; one that is missing is not."""
    return grouped(Call("accuracy", (prediction, label), where), by)


@overload
def error(prediction: What, label: str, *, where: str | None = None) -> Call: ...
@overload
def error(prediction: What, label: str, *, where: str | None = None, by: By) -> TableCall: ...
def error(
    prediction: What, label: str, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The share of rows whose prediction is not the label."""
    return grouped(Call("error", (prediction, label), where), by)


def balanced_accuracy(prediction: str, label: str) -> Call:
    """The mean of the shares that are predicted rightly among positive and negative rows."""
    return Call("balanced_accuracy", (prediction, label))


def f1(prediction: str, label: str) -> Call:
    """2 P(predicted and labelled)/(P(predicted) + P(labelled))."""
    return Call("f1", (prediction, label))


@overload
def brier(probability: str, label: str, *, where: str | None = None) -> Call: ...
@overload
def brier(probability: str, label: str, *, where: str | None = None, by: By) -> TableCall: ...
def brier(
    probability: str, label: str, *, where: str | None = None, by: By | None = None
) -> Call | TableCall:
    """The mean squared distance of a probability from the label."""
    return grouped(Call("brier", (probability, label), where), by)


def log_loss(probability: str, label: str, *, floor: float = 0.01) -> Call:
    """The mean of -ln(probability of the label), with probabilities not below `floor`."""
    return Call("log_loss", (probability, label, floor))


def _bind_agreement(call: Call, table: Table) -> Average | Conditional:
    right = is_right(*(table.expression(each) for each in call.arguments))
    if call.name == "error":
        right = build.negation(build.coalesce([right, build.FALSE]))
    return table.mean(row_value(right), table.where(call.where))


def _bind_brier(call: Call, table: Table) -> Average | Conditional:
    probability, label = call.arguments
    share = table.value(probability, (0.0, 1.0))
    square = squared_distance(share, row_value(positive_label(label, table)))
    return table.mean(square, table.where(call.where))


def _bind_log_loss(call: Call, table: Table) -> Mean:
    require_all_rows(call)
    probability, label, *floor = call.arguments
    least = require.between(
        "floor", number_of("floor", floor[0] if floor else 0.01), 0.0, 0.5, open_low=True
    )
    chance = table.value(probability, (0.0, 1.0))
    source = LogLoss(score_number(chance), positive_label(label, table), least)
    return Mean(RowValue(source, 0.0, -math.log(least), source.text, is_condition=False))


def _bind_f1(call: Call, table: Table) -> F1Score:
    require_all_rows(call)
    prediction, label = (row_value(positive_label(each, table)) for each in call.arguments)
    return F1Score(prediction, label)


def _bind_balanced_accuracy(call: Call, table: Table) -> BalancedAccuracy:
    require_all_rows(call)
    predicted, label = (positive_label(each, table) for each in call.arguments)
    scored = row_value(or_wrong(predicted, label))
    rates = (table.mean(scored, rows) for rows in (label, other_class(label)))
    return BalancedAccuracy(row_value(predicted), row_value(label), Difference(*rates))


# As they are described.


def _labelled_price(words: Grammar, part: Part) -> int:
    score, label = part.trees
    return words.number(score, bounded=False) + words.condition(label, "v") + numbers_price(part)


def _ratio_price(words: Grammar, part: Part) -> int:
    """Two conditions, or the values and numbers of a loss; two values may be in any order."""
    if part.form in ("f1", "balanced_accuracy"):
        return sum(words.condition(each, "v") for each in part.trees)
    either = () if part.form == "r2" else part.trees[:2]
    cost = sum(words.number(each, bounded=False) for each in part.trees) + numbers_price(part)
    return cost + any_order_millibits(len(set(either)))


def _balanced_uses(score: BalancedAccuracy) -> list[Use]:
    """Which of the two is the label matters."""
    trees = (tree_of(score.predicted), tree_of(score.labelled))
    return [Use(Part("ratio", trees, form="balanced_accuracy"))]


def _f1_uses(score: F1Score) -> list[Use]:
    """Which of the two is the label matters where one may be missing."""
    both = score.predicted, score.labelled
    ordered = any(may_be_missing(tree_of(each)) for each in both)
    trees = tuple(map(tree_of, both)) if ordered else sorted_trees(*both)
    return [Use(Part("ratio", trees, form="f1"))]


def _balanced_look(_score: BalancedAccuracy, part: Part, ground: Ground) -> Look | None:
    """Balanced accuracy, a part of [0, 1], is the difference of both rates as a part of [-1, 1].

    The size of one class follows from that of the other, and so does how far it may be off.
    """
    if not ground.alike:
        return None
    predicted, positive = part.trees
    sizes = (ground.log_share(positive),)
    rule = Contrast(ground.rows, ground.log_level(part), (sizes, sizes), disjoint=True)
    first, second = (
        GroupRows(each, (), sizes, known=False) for each in (positive, other_class(positive))
    )
    return of_groups(row_value(or_wrong(predicted, positive)), (first, second), rule, ground)


def _f1_look(_score: F1Score, part: Part, ground: Ground) -> Look | None:
    """The rows where either holds, and those where both do."""
    if not ground.alike:
        return None
    first, second = part.trees
    if may_be_missing(first):
        first = or_wrong(first, second)
    either = build.disjunction([first, second])
    within = either if part.where is None else build.conjunction([part.where, either])
    levels = ground.log_level(part), ground.log_share(within)
    sides = row_value(first), row_value(second)
    if ground.rounded:
        rounded = RoundedOverlap(ground.rows, *levels)
        return Look(rounded, rounded.encode, overlap_counts(*sides, part.where))
    return overlap_look(*sides, part.where, Overlap(ground.rows, *levels))


SCORES = (
    Entry(
        "accuracy",
        "accuracy(prediction, label)",
        "the share of rows whose prediction is the label",
        (2, 2),
        _bind_agreement,
    ),
    Entry(
        "balanced_accuracy",
        "balanced_accuracy(prediction, label)",
        "the mean of the shares that are right among positive and among negative rows",
        (2, 2),
        _bind_balanced_accuracy,
        described=(Description(BalancedAccuracy, _balanced_uses, _balanced_look),),
    ),
    Entry(
        "error",
        "error(prediction, label)",
        "the share of rows whose prediction is not the label",
        (2, 2),
        _bind_agreement,
    ),
    Entry(
        "f1",
        "f1(prediction, label)",
        "2 P(both)/(P(predicted) + P(labelled))",
        (2, 2),
        _bind_f1,
        described=(Description(F1Score, _f1_uses, _f1_look),),
        prices={"ratio": EventPrice(_ratio_price)},
    ),
    Entry(
        "brier",
        "brier(probability, label)",
        "the mean squared distance from the label",
        (2, 2),
        _bind_brier,
        prices={"brier": EventPrice(_labelled_price)},
    ),
    Entry(
        "log_loss",
        "log_loss(probability, label)",
        "the mean of -ln of the probability given to the label",
        (2, 3),
        _bind_log_loss,
        prices={"log_loss": EventPrice(_labelled_price, None)},
    ),
)
