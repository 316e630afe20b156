"""Holdfast: adaptive questions on one data set, every released interval true, all together.

Names are loaded when first used, so that `import holdfast` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.answer import Answer
    from holdfast.data.split import split
    from holdfast.errors import (
        BudgetExhausted,
        DataChanged,
        HoldfastError,
        InvalidArgument,
        InvalidQuestion,
        LedgerBusy,
        LedgerTampered,
        LedgerUnavailable,
        MissingExtra,
        NotBounded,
        Refused,
        ToleranceTooTight,
    )
    from holdfast.groups import Groups
    from holdfast.holdout import Holdout
    from holdfast.opening import open
    from holdfast.plan_table import Plan
    from holdfast.planner import plan
    from holdfast.question.functions import row_function
    from holdfast.sampling import clustered, declared, m_dependent
    from holdfast.statistics.call import (
        accuracy,
        auc,
        brier,
        correlation,
        count,
        covariance,
        difference,
        error,
        f1,
        histogram,
        log_loss,
        mean,
        median,
        proportion,
        quantile,
        std,
        sum,
        variance,
    )
    from holdfast.statistics.whole import statistic

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "BudgetExhausted",
    "DataChanged",
    "Groups",
    "HoldfastError",
    "Holdout",
    "InvalidArgument",
    "InvalidQuestion",
    "LedgerBusy",
    "LedgerTampered",
    "LedgerUnavailable",
    "MissingExtra",
    "NotBounded",
    "Plan",
    "Refused",
    "ToleranceTooTight",
    "accuracy",
    "auc",
    "brier",
    "clustered",
    "correlation",
    "count",
    "covariance",
    "declared",
    "difference",
    "error",
    "f1",
    "histogram",
    "log_loss",
    "m_dependent",
    "mean",
    "median",
    "open",
    "plan",
    "proportion",
    "quantile",
    "row_function",
    "split",
    "statistic",
    "std",
    "sum",
    "variance",
]

_HOMES = {
    "Answer": "answer",
    "Groups": "groups",
    "Holdout": "holdout",
    "Plan": "plan_table",
    "clustered": "sampling",
    "declared": "sampling",
    "m_dependent": "sampling",
    "open": "opening",
    "plan": "planner",
    "row_function": "question.functions",
    "split": "data.split",
    "statistic": "statistics.whole",
    **dict.fromkeys(
        (
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
        ),
        "statistics.call",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"holdfast.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
