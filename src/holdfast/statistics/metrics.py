"""Metrics of models by name, one registry for eval gates, leaderboards and scikit-learn.

What is told here of a metric holds wherever it is used; how the score of a row is computed is up to
whoever has the rows, or the columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.expression import numeral

UNIT = Range(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """Facts of a metric: its direction, and of what its range follows.

    `scoring` is its name in scikit-learn, where more is always better, and `aliases` are what else
    people call it. One `of_rows` is the average of a score of each row. That of errors is of their
    `power`, in a declared range or capped; `root` takes the root of the average.
    """

    name: str
    scoring: str | None = None
    aliases: tuple[str, ...] = ()
    more_is_better: bool = True
    of_rows: bool = False
    power: int | None = None
    root: bool = False


METRICS = {
    each.name: each
    for each in (
        MetricFacts("accuracy", "accuracy", ("acc", "accuracy_score"), of_rows=True),
        MetricFacts("balanced_accuracy", "balanced_accuracy"),
        MetricFacts("f1", "f1", ("f1_score",)),
        MetricFacts("f1_macro"),
        MetricFacts("precision"),
        MetricFacts("recall"),
        MetricFacts("roc_auc", "roc_auc", ("auc", "roc_auc_score")),
        MetricFacts(
            "brier", "neg_brier_score", ("brier_score",), more_is_better=False, of_rows=True
        ),
        MetricFacts("log_loss", "neg_log_loss", ("logloss",), more_is_better=False, of_rows=True),
        MetricFacts(
            "mean_absolute_error",
            "neg_mean_absolute_error",
            ("mae",),
            more_is_better=False,
            of_rows=True,
            power=1,
        ),
        MetricFacts(
            "mean_squared_error",
            "neg_mean_squared_error",
            ("mse",),
            more_is_better=False,
            of_rows=True,
            power=2,
        ),
        MetricFacts(
            "root_mean_squared_error",
            "neg_root_mean_squared_error",
            ("rmse",),
            more_is_better=False,
            power=2,
            root=True,
        ),
        MetricFacts("r2", "r2", ("r2_score",), power=2),
    )
}


def metric_meant(name: str) -> MetricFacts | None:
    """The metric that has this name, or is called so elsewhere."""
    return next(
        (each for each in METRICS.values() if name in (each.name, each.scoring, *each.aliases)),
        None,
    )


def scoring_meant(name: str) -> str | None:
    """What scikit-learn calls the metric of this name; None if it has none."""
    metric = metric_meant(name)
    return None if metric is None else metric.scoring


def loss_text(prediction: str, label: str, cap: float, power: int = 2) -> str:
    """The text of a row's error to a power, where errors beyond the cap count as the cap.

    So does one that is not known.
    """
    size = f"clip(abs({prediction} - {label}), 0, {numeral(cap)})"
    return f"coalesce({' * '.join([size] * power)}, {numeral(cap**power)})"


_QUANTILE = 0.99
_DIGITS = 3  # that a cap is rounded up to: it is part of every question


def cap_of_errors(errors: Iterable[float]) -> float:
    """The 0.99-quantile of the sizes of errors on rows that are not protected, rounded up."""
    sizes = sorted(map(abs, errors))
    cap = sizes[math.ceil(_QUANTILE * (len(sizes) - 1))] if sizes else math.nan
    if not (math.isfinite(cap) and cap > 0.0):
        raise InvalidArgument(
            f"the 0.99-quantile of the absolute errors is {cap}, which caps nothing; give rows "
            "that are predicted with errors, or a cap of your own."
        )
    unit = 10.0 ** (math.floor(math.log10(cap)) - _DIGITS + 1)
    return float(f"{math.ceil(cap / unit) * unit:.{_DIGITS}g}")
