"""What people ask for, in Python: the functions that name a statistic, wherever they are.

A family is a file with statistics that belong together: what each is of a table, its entry in the
registry, and the function that people call. `import holdfast` reads these names and no family.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.statistics.averages import (
        count,
        difference,
        distribution,
        effect,
        histogram,
        mean,
        proportion,
        sum,
    )
    from holdfast.statistics.geometric_mean import geometric_mean
    from holdfast.statistics.losses import closer, mae, mse, neg_rmse, r2, rmse
    from holdfast.statistics.moments import correlation, covariance, slope, std, variance
    from holdfast.statistics.quantile import median, quantile
    from holdfast.statistics.robust import catoni
    from holdfast.statistics.scores import (
        accuracy,
        balanced_accuracy,
        brier,
        error,
        f1,
        log_loss,
    )
    from holdfast.statistics.vectors import coordinate, coordinate_l1, vector_mean
    from holdfast.statistics.whole import auc, kendall

__all__ = [
    "accuracy",
    "auc",
    "balanced_accuracy",
    "brier",
    "catoni",
    "closer",
    "coordinate",
    "coordinate_l1",
    "correlation",
    "count",
    "covariance",
    "difference",
    "distribution",
    "effect",
    "error",
    "f1",
    "geometric_mean",
    "histogram",
    "kendall",
    "log_loss",
    "mae",
    "mean",
    "median",
    "mse",
    "neg_rmse",
    "proportion",
    "quantile",
    "r2",
    "rmse",
    "slope",
    "std",
    "sum",
    "variance",
    "vector_mean",
]

_FAMILIES = (
    "averages",
    "quantile",
    "moments",
    "geometric_mean",
    "losses",
    "scores",
    "robust",
    "vectors",
    "whole",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        homes = (import_module(f"holdfast.statistics.{family}") for family in _FAMILIES)
        return next(vars(home)[name] for home in homes if _is_own(home, name))
    raise AttributeError(f"module 'holdfast.statistics.call' has no attribute {name!r}")


def _is_own(home: ModuleType, name: str) -> bool:
    """Whether a family defines the name: it may also take it from another one."""
    return getattr(vars(home).get(name), "__module__", None) == home.__name__
