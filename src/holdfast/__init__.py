"""Holdfast: adaptive questions on one data set, every released interval true, all together.

Two dozen names, and namespaces for the rest: `stats`, `sampling`, `tails`, `errors`, `papers`,
`evals`, `sklearn`. Names are loaded when first used, so that `import holdfast` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from holdfast.lazy import load as _load
from holdfast.statistics import call as _call

if TYPE_CHECKING:
    from holdfast import (
        errors as errors,
        evals as evals,
        papers as papers,
        sampling as sampling,
        sklearn as sklearn,
        stats as stats,
        tails as tails,
    )
    from holdfast.boards.leaderboard import Leaderboard as Leaderboard
    from holdfast.data.attached import computed as computed
    from holdfast.data.learning import learn_schema as learn_schema
    from holdfast.data.sampling import (
        clustered as clustered,
        declared as declared,
        dependency_graph as dependency_graph,
        m_dependent as m_dependent,
        markov_chain as markov_chain,
    )
    from holdfast.data.split import split as split
    from holdfast.errors import (
        BudgetExhausted as BudgetExhausted,
        DataChanged as DataChanged,
        HoldfastError as HoldfastError,
        InvalidQuestion as InvalidQuestion,
        LedgerBusy as LedgerBusy,
        LedgerTampered as LedgerTampered,
        NotBounded as NotBounded,
        Refused as Refused,
    )
    from holdfast.evals.compare import compare as compare
    from holdfast.evals.gate import EvalGate as EvalGate
    from holdfast.holdout.answer import Answer as Answer
    from holdfast.holdout.budget import Budget as Budget
    from holdfast.holdout.groups import Groups as Groups
    from holdfast.holdout.holdout import Holdout as Holdout
    from holdfast.holdout.open import open as open
    from holdfast.planner.plan import plan as plan
    from holdfast.planner.table import Plan as Plan
    from holdfast.question.functions import row_function as row_function
    from holdfast.service.client import connect as connect
    from holdfast.statistics.call import *  # noqa: F403
    from holdfast.statistics.whole import statistic as statistic

__version__ = "0.2.0"

# Where each name of the face lives.
_HOMES = {
    "Answer": "holdout.answer",
    "Budget": "holdout.budget",
    "BudgetExhausted": "errors",
    "DataChanged": "errors",
    "EvalGate": "evals.gate",
    "Groups": "holdout.groups",
    "HoldfastError": "errors",
    "Holdout": "holdout.holdout",
    "InvalidQuestion": "errors",
    "Leaderboard": "boards.leaderboard",
    "LedgerBusy": "errors",
    "LedgerTampered": "errors",
    "NotBounded": "errors",
    "Plan": "planner.table",
    "Refused": "errors",
    "compare": "evals.compare",
    "connect": "service.client",
    "learn_schema": "data.learning",
    "open": "holdout.open",
    "plan": "planner.plan",
    "split": "data.split",
}
_NAMESPACES = ("errors", "evals", "papers", "sampling", "sklearn", "stats", "tails")
__all__ = sorted([*_HOMES, *_NAMESPACES])  # noqa: PLE0605 - each name is listed once, with its home

# What many a notebook writes without its namespace: statistics, and how the rows came about.
_SHORTCUTS = {
    **dict.fromkeys([*_call.__all__, "computed", "row_function", "statistic"], "stats"),
    **dict.fromkeys(
        ("clustered", "declared", "dependency_graph", "m_dependent", "markov_chain"), "sampling"
    ),
}
# Where a name went that was here once.
_MOVED = {
    **dict.fromkeys(("Ask", "Check", "Gate", "bits"), "stats"),
    **dict.fromkeys(
        ("polynomial_tail", "sub_exponential", "sub_gaussian", "sub_weibull", "tail_table"), "tails"
    ),
    **dict.fromkeys(
        (
            "InvalidArgument",
            "LedgerUnavailable",
            "MissingExtra",
            "NotAllowed",
            "NotDescribed",
            "Retired",
            "SaysNothing",
            "SecondLedger",
            "ServiceUnavailable",
            "ToleranceTooLoose",
            "ToleranceTooTight",
        ),
        "errors",
    ),
    **dict.fromkeys(
        (
            "AdaptiveComposition",
            "Probe",
            "TypicalStability",
            "dp_step",
            "gaussian_step",
            "laplace_step",
            "learner_step",
            "probe",
            "tv_step",
        ),
        "papers",
    ),
    **dict.fromkeys(
        ("GateDisplay", "Standing", "Standings", "StandingsDisplay", "Verdict"), "evals"
    ),
}


def _meant(name: str) -> str:
    """What to write for a name that was never here; none for those that Python looks for."""
    from holdfast.did_you_mean import NAMES, near_names

    near = [] if name.startswith("_") else near_names(name, __all__)
    full_name = NAMES.get(name) or next((f"holdfast.{each}" for each in near), None)
    return "" if full_name is None else f"; did you mean {full_name}?"


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return importlib.import_module(f"holdfast.{name}")
    home = _HOMES.get(name, _SHORTCUTS.get(name))
    if home is None:
        advice = f"; it is holdfast.{_MOVED[name]}.{name}" if name in _MOVED else _meant(name)
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}{advice}")
    globals()[name] = value = _load(f"{home}.{name}")
    return value


def __dir__() -> list[str]:
    return __all__
