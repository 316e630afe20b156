"""Metrics of a leaderboard: the average, over all items, of a bounded score of each, or its root.

Whatever is no such average is refused here, for two submissions could not be compared item by item,
which is what shows small differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType, ValueKind, identifier, numeral
from holdfast.statistics.metrics import METRICS, UNIT, MetricFacts, loss_text, metric_meant
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.propagation import std_interval
from holdfast.wording import plural

if TYPE_CHECKING:
    import polars as pl

_FLOOR = 0.01  # probabilities are this far from 0 and 1, at least, in the logarithmic loss

_Columns = Mapping[str, "pl.Series"]  # what is attached of a submission, by the ending of its name


@dataclass(frozen=True, slots=True)
class Metric:
    """The score of an item, as a text about its label and the columns of a submission.

    `row` spells it for the name of a submission; its average, or the `root` of that, is in
    `bounds`. `allowed` is where values have to be. `columns` are what is attached of them.
    """

    name: str
    bounds: Range
    more_is_better: bool
    kind: ValueKind | None
    row: Callable[[str], str]
    allowed: Range | None = None
    columns: Callable[[pl.Series], _Columns] = lambda values: {"": values}
    root: bool = False

    def average(self, column: str) -> str:
        """The question for the score of a submission, or for its square."""
        return f"avg({self.row(column)})"

    def mean_of(self, score: float) -> float:
        """The average that makes this score."""
        return score * score if self.root else score

    def score_of(self, mean: float) -> float:
        """The score that this average makes."""
        return math.sqrt(max(0.0, mean)) if self.root else mean

    def interval_of(self, means: Interval) -> Interval:
        """The interval of the score, from that of the average."""
        return std_interval(max(0.0, means.low), means.high) if self.root else means

    def gain(self, column: str, against: str) -> str:
        """The question for how much better one submission is than another one, on average."""
        better, worse = (column, against) if self.more_is_better else (against, column)
        return f"difference({self.row(better)}, {self.row(worse)})"

    def require_scorable(self, values: pl.Series, kind: ValueKind | None) -> None:
        """Refuse values that this metric is not for."""
        if kind is not self.kind:
            raise InvalidArgument(
                f"the predictions are of the kind {kind}, and {self.name} takes {self.kind}; write "
                "them like the labels, or as numbers."
            )
        if self.allowed is not None:
            outside = int((~values.is_between(*self.allowed)).sum())
            if outside:
                low, high = self.allowed
                raise InvalidArgument(
                    f"{plural(outside, 'prediction')} of {len(values):,} lie outside "
                    f"[{numeral(low)}, {numeral(high)}], where {self.name} takes them; bring them "
                    "there."
                )


def metric_of(
    name: str, label: str, kind: ColumnType, y_range: Range | None, cap: float | None = None
) -> Metric:
    """The metric of this name for a column of labels; refused in one sentence where it is none.

    Of errors the range of labels is declared, or a cap: an error beyond it counts as the cap.
    """
    facts, make = METRICS.get(name), BOARD_METRICS.get(name)
    if facts is None or make is None:
        named = metric_meant(name)
        why = (
            "which is no average of scores of single items, so that no submission could be shown "
            "to be better than another one"
            if facts is not None
            else "which is not known"
            if named is None or named.name not in BOARD_METRICS
            else f"which is {named.name} here"
        )
        choices = ", ".join(BOARD_METRICS)
        raise InvalidArgument(f"metric is {name!r}, {why}; choose one of {choices}.")
    if facts.power is not None and cap is not None and y_range is None:
        return _capped_error(facts, label, kind, require.positive("cap", cap))
    if cap is not None:
        clash = "the range of labels is declared" if facts.power else "it is no error"
        raise InvalidArgument(f"metric is {name!r} with a cap, and {clash}; leave the cap out.")
    if facts.root:
        raise InvalidArgument(f"metric is {name!r}, and errors are not capped; say cap=.")
    if (y_range is not None) is not (facts.power is not None):
        wanted = "leave it out" if y_range is not None else "say y_range=(low, high), or cap="
        raise InvalidArgument(
            f"metric is {name!r}, and the range of labels is "
            f"{'not ' if y_range is None else ''}declared; {wanted}."
        )
    return make(name, label, kind, y_range or UNIT)


def _accuracy(name: str, label: str, kind: ColumnType, _: Range) -> Metric:
    def row(column: str) -> str:
        return f"{identifier(column)} = {identifier(label)}"

    return Metric(name, UNIT, True, kind.kind, row)


def _error(name: str, label: str, kind: ColumnType, y_range: Range) -> Metric:
    _require_numbers(name, kind)
    low, high = y_range
    power = METRICS[name].power or 1
    truth = f"clip({identifier(label)}, {numeral(low)}, {numeral(high)})"

    def row(column: str) -> str:
        clipped = f"clip({identifier(column)}, {numeral(low)}, {numeral(high)})"
        return " * ".join([f"abs({clipped} - {truth})"] * power)

    bounds = Range(0.0, (high - low) ** power)
    return Metric(name, bounds, False, ValueKind.NUMBER, row, allowed=y_range)


def _require_numbers(name: str, kind: ColumnType) -> None:
    if kind.kind is not ValueKind.NUMBER:
        raise InvalidArgument(f"metric is {name!r}, and the labels are {kind}; give numbers.")


def _capped_error(facts: MetricFacts, label: str, kind: ColumnType, cap: float) -> Metric:
    """Errors that count as the cap beyond it, whatever the range of labels."""
    _require_numbers(facts.name, kind)
    power, truth = facts.power or 1, identifier(label)

    def row(column: str) -> str:
        return loss_text(identifier(column), truth, cap, power)

    name = f"{facts.name} of errors capped at {numeral(cap)}"
    bounds = Range(0.0, cap if facts.root else cap**power)
    return Metric(name, bounds, False, ValueKind.NUMBER, row, root=facts.root)


def _brier(name: str, label: str, kind: ColumnType, _: Range) -> Metric:
    positive = _positive(name, label, kind)

    def row(column: str) -> str:
        clipped = f"clip({identifier(column)}, 0, 1)"
        missed = f"(1 - {clipped})"
        return f"case when {positive} then {missed} * {missed} else {clipped} * {clipped} end"

    return Metric(name, UNIT, False, ValueKind.NUMBER, row, allowed=UNIT)


def _log_loss(name: str, label: str, kind: ColumnType, _: Range) -> Metric:
    """The loss is in two columns, for either label: both follow from what was submitted."""
    positive, most = _positive(name, label, kind), -math.log(_FLOOR)
    suffix = " (if not)"

    def clipped(column: str) -> str:
        return f"clip({identifier(column)}, 0, {numeral(most)})"

    def row(column: str) -> str:
        return f"case when {positive} then {clipped(column)} else {clipped(column + suffix)} end"

    def columns(values: pl.Series) -> _Columns:
        import polars as pl

        chance = values.cast(pl.Float64).clip(_FLOOR, 1.0 - _FLOOR)
        return {"": -chance.log(), suffix: -(1.0 - chance).log()}

    bounds = Range(0.0, most)
    return Metric(name, bounds, False, ValueKind.NUMBER, row, UNIT, columns)


def _positive(name: str, label: str, kind: ColumnType) -> str:
    """The condition that an item is positive: its label is true, or 1."""
    match kind.kind:
        case ValueKind.BOOLEAN:
            return identifier(label)
        case ValueKind.NUMBER:
            return f"{identifier(label)} = 1"
    raise InvalidArgument(
        f"metric is {name!r}, and the labels are {kind}; give labels that are true or false, or 1 "
        "or 0."
    )


BOARD_METRICS: Mapping[str, Callable[[str, str, ColumnType, Range], Metric]] = {
    "accuracy": _accuracy,
    "brier": _brier,
    "log_loss": _log_loss,
    "mean_absolute_error": _error,
    "mean_squared_error": _error,
    "root_mean_squared_error": _error,
}
