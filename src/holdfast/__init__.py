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
    from holdfast.holdout import Holdout
    from holdfast.opening import open
    from holdfast.plan_table import Plan
    from holdfast.planner import plan
    from holdfast.question.functions import row_function
    from holdfast.question.statistic import mean
    from holdfast.sampling import clustered, declared, m_dependent

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "BudgetExhausted",
    "DataChanged",
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
    "clustered",
    "declared",
    "m_dependent",
    "mean",
    "open",
    "plan",
    "row_function",
    "split",
]

_HOMES = {
    "Answer": "answer",
    "Holdout": "holdout",
    "Plan": "plan_table",
    "clustered": "sampling",
    "declared": "sampling",
    "m_dependent": "sampling",
    "mean": "question.statistic",
    "open": "opening",
    "plan": "planner",
    "row_function": "question.functions",
    "split": "data.split",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"holdfast.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
