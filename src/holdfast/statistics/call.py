"""What people ask for, in Python: each function names a statistic that has not met its table yet.

The same names, with the same arguments, are understood as text: ``"quantile(distance, 0.9)"``.
Wherever a value of a row is wanted, text (``"arr_delay > 15"``), a Polars expression or a
`row_function` will do; with ``bounds`` it is cut to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.question.columns import bounds_pair
from holdfast.question.expression import Expression
from holdfast.question.functions import RowFunction
from holdfast.statistics.named import Better, Bounds, Call, TableCall

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "accuracy",
    "auc",
    "brier",
    "correlation",
    "count",
    "covariance",
    "difference",
    "error",
    "f1",
    "histogram",
    "log_loss",
    "mean",
    "median",
    "proportion",
    "quantile",
    "std",
    "sum",
    "variance",
]

_What: TypeAlias = "str | Expression | RowFunction | pl.Expr"


def _pair(bounds: Bounds) -> Bounds:
    if bounds is None:
        return None
    low, high = bounds_pair(bounds)
    return low, high


@overload
def mean(
    what: _What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    variance: float | None = None,
) -> Call: ...
@overload
def mean(what: _What, *, bounds: Bounds = None, where: str | None = None, by: str) -> TableCall: ...
def mean(
    what: _What,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    by: str | None = None,
    variance: float | None = None,
) -> Call | TableCall:
    """The average of a value of the rows.

    `where` asks for the mean among the rows where a condition holds, `by` for each value of a
    column. `variance` declares that the value's variance is at most this, in its own unit squared:
    the interval is then narrower, and rests on the declaration.
    """
    if by is not None:
        if variance is not None:
            raise InvalidArgument("variance= is declared for a mean of all rows, without by=.")
        return TableCall("avg", (what,), where, _pair(bounds), require.text("by", by))
    return Call("avg", (what,), where, _pair(bounds), variance)


def proportion(condition: _What, *, where: str | None = None) -> Call:
    """The share of rows for which a condition holds: the mean of the condition."""
    return Call("avg", (condition,), where)


def sum(what: _What, *, population: int, bounds: Bounds = None, where: str | None = None) -> Call:
    """The total over a population of known size."""
    return Call("sum", (what, population), where, _pair(bounds))


def count(condition: _What, *, population: int, where: str | None = None) -> Call:
    """How many members of a population of known size fulfil a condition."""
    return Call("count", (condition, population), where)


def variance(what: _What, *, bounds: Bounds = None, where: str | None = None) -> Call:
    """The variance of a value."""
    return Call("variance", (what,), where, _pair(bounds))


def std(what: _What, *, bounds: Bounds = None, where: str | None = None) -> Call:
    """The standard deviation of a value."""
    return Call("std", (what,), where, _pair(bounds))


def covariance(first: _What, second: _What, *, where: str | None = None) -> Call:
    """The covariance of two bounded values."""
    return Call("covariance", (first, second), where)


def correlation(first: _What, second: _What, *, where: str | None = None) -> Call:
    """The correlation of two bounded values."""
    return Call("correlation", (first, second), where)


def quantile(
    what: _What,
    level: float,
    *,
    bounds: Bounds = None,
    where: str | None = None,
    step: float | None = None,
) -> Call:
    """The least v such that at least the share `level` of the population has a value up to v.

    Looked for on thresholds `step` apart: 1 for a column of whole numbers, otherwise a thousandth
    of the range.
    """
    steps = () if step is None else (step,)
    return Call("quantile", (what, level, *steps), where, _pair(bounds))


def median(
    what: _What, *, bounds: Bounds = None, where: str | None = None, step: float | None = None
) -> Call:
    """The quantile at level 1/2."""
    return quantile(what, 0.5, bounds=bounds, where=where, step=step)


def histogram(what: _What, edges: Sequence[float], *, where: str | None = None) -> TableCall:
    """The share of rows in each bin between neighbouring edges; the last bin has both its ends."""
    allowed = "the ends of all bins in order, such as [0, 10, 20]"
    given: object = edges
    ends = [] if isinstance(given, str) else require.items("edges", given, allowed)
    if not ends:
        raise InvalidArgument(f"edges is {edges!r}; it must be {allowed}.")
    return TableCall("histogram", (what, *ends), where)


def difference(
    first: _What | Call,
    second: _What | Call,
    *,
    where: str | None = None,
    better: Better | None = None,
) -> Call:
    """The first minus the second.

    Two values are paired on the same rows: ``difference("new = label", "old = label")``. Two means
    of groups are not: ``difference(mean(x, where=...), mean(x, where=...))``. With `better`
    ("higher" or "lower") the answer says whether the first is better, worse, or cannot be told.
    """
    if better is not None and (not isinstance(better, str) or better not in ("higher", "lower")):
        raise InvalidArgument(f"better is {better!r}; it must be 'higher' or 'lower'.")
    return Call("difference", (first, second), where, better=better)


def auc(score: _What, label: str) -> Call:
    """The area under the ROC curve of a score; the label must be a design column."""
    return Call("auc", (score, label))


def accuracy(prediction: _What, label: str, *, where: str | None = None) -> Call:
    """The share of rows whose prediction is the label."""
    return Call("accuracy", (prediction, label), where)


def error(prediction: _What, label: str, *, where: str | None = None) -> Call:
    """The share of rows whose prediction is not the label."""
    return Call("error", (prediction, label), where)


def log_loss(probability: str, label: str, *, floor: float = 0.01) -> Call:
    """The mean of -ln(probability of the label), with probabilities not below `floor`."""
    return Call("log_loss", (probability, label, floor))


def brier(probability: str, label: str, *, where: str | None = None) -> Call:
    """The mean squared distance of a probability from the label."""
    return Call("brier", (probability, label), where)


def f1(prediction: str, label: str) -> Call:
    """2 P(predicted and labelled)/(P(predicted) + P(labelled))."""
    return Call("f1", (prediction, label))
