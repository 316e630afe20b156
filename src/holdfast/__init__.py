"""Holdfast: adaptive questions on one data set, every released interval true, all together.

Names are loaded when first used, so that `import holdfast` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from holdfast.statistics import call as _call

if TYPE_CHECKING:
    from holdfast.boards.display import StandingsDisplay as StandingsDisplay
    from holdfast.boards.leaderboard import Leaderboard as Leaderboard
    from holdfast.boards.standings import Standing as Standing, Standings as Standings
    from holdfast.data.computed import computed as computed
    from holdfast.data.learning import learn_schema as learn_schema
    from holdfast.data.sampling import (
        clustered as clustered,
        declared as declared,
        dependency_graph as dependency_graph,
        m_dependent as m_dependent,
        markov_chain as markov_chain,
        polynomial_tail as polynomial_tail,
        sub_weibull as sub_weibull,
        tail_table as tail_table,
    )
    from holdfast.data.split import split as split
    from holdfast.errors import (
        BudgetExhausted as BudgetExhausted,
        DataChanged as DataChanged,
        HoldfastError as HoldfastError,
        ImplausibleScale as ImplausibleScale,
        InvalidArgument as InvalidArgument,
        InvalidQuestion as InvalidQuestion,
        LedgerBusy as LedgerBusy,
        LedgerTampered as LedgerTampered,
        LedgerUnavailable as LedgerUnavailable,
        MissingExtra as MissingExtra,
        NotAllowed as NotAllowed,
        NotBounded as NotBounded,
        NotDescribed as NotDescribed,
        Refused as Refused,
        Retired as Retired,
        SaysNothing as SaysNothing,
        SecondLedger as SecondLedger,
        ServiceUnavailable as ServiceUnavailable,
        ToleranceTooLoose as ToleranceTooLoose,
        ToleranceTooTight as ToleranceTooTight,
    )
    from holdfast.evals.display import GateDisplay as GateDisplay
    from holdfast.evals.gate import EvalGate as EvalGate
    from holdfast.evals.verdict import Verdict as Verdict
    from holdfast.holdout.answer import Answer as Answer
    from holdfast.holdout.groups import Distribution as Distribution, Groups as Groups
    from holdfast.holdout.holdout import Holdout as Holdout
    from holdfast.holdout.open import open as open
    from holdfast.holdout.search import Search as Search
    from holdfast.holdout.verbs import Ask as Ask, Check as Check, Gate as Gate
    from holdfast.papers.composition import (
        AdaptiveComposition as AdaptiveComposition,
        dp_step as dp_step,
        gaussian_step as gaussian_step,
        laplace_step as laplace_step,
        learner_step as learner_step,
        tv_step as tv_step,
    )
    from holdfast.papers.probe import Probe as Probe, probe as probe
    from holdfast.planner.gate_power import GatePlan as GatePlan
    from holdfast.planner.plan import plan as plan
    from holdfast.planner.question_plan import QuestionPlan as QuestionPlan
    from holdfast.planner.table import Plan as Plan
    from holdfast.prior.bits import bits as bits
    from holdfast.question.functions import row_function as row_function
    from holdfast.question.scale import (
        sub_exponential as sub_exponential,
        sub_gaussian as sub_gaussian,
    )
    from holdfast.service.client import connect as connect
    from holdfast.statistics.call import *  # noqa: F403
    from holdfast.statistics.whole import statistic as statistic
    from holdfast.theory.typical.notion import TypicalStability as TypicalStability

__version__ = "0.2.0"

# Where each public name lives.
_OTHERS = {
    "AdaptiveComposition": "papers.composition",
    "Answer": "holdout.answer",
    "Ask": "holdout.verbs",
    "BudgetExhausted": "errors",
    "Check": "holdout.verbs",
    "DataChanged": "errors",
    "Distribution": "holdout.groups",
    "EvalGate": "evals.gate",
    "Gate": "holdout.verbs",
    "GateDisplay": "evals.display",
    "GatePlan": "planner.gate_power",
    "Groups": "holdout.groups",
    "HoldfastError": "errors",
    "Holdout": "holdout.holdout",
    "ImplausibleScale": "errors",
    "InvalidArgument": "errors",
    "InvalidQuestion": "errors",
    "Leaderboard": "boards.leaderboard",
    "LedgerBusy": "errors",
    "LedgerTampered": "errors",
    "LedgerUnavailable": "errors",
    "MissingExtra": "errors",
    "NotAllowed": "errors",
    "NotBounded": "errors",
    "NotDescribed": "errors",
    "Plan": "planner.table",
    "Probe": "papers.probe",
    "QuestionPlan": "planner.question_plan",
    "Refused": "errors",
    "Retired": "errors",
    "SaysNothing": "errors",
    "Search": "holdout.search",
    "SecondLedger": "errors",
    "ServiceUnavailable": "errors",
    "Standing": "boards.standings",
    "Standings": "boards.standings",
    "StandingsDisplay": "boards.display",
    "ToleranceTooLoose": "errors",
    "ToleranceTooTight": "errors",
    "TypicalStability": "theory.typical.notion",
    "Verdict": "evals.verdict",
    "bits": "prior.bits",
    "clustered": "data.sampling",
    "computed": "data.computed",
    "connect": "service.client",
    "declared": "data.sampling",
    "dependency_graph": "data.sampling",
    "dp_step": "papers.composition",
    "gaussian_step": "papers.composition",
    "laplace_step": "papers.composition",
    "learn_schema": "data.learning",
    "learner_step": "papers.composition",
    "m_dependent": "data.sampling",
    "markov_chain": "data.sampling",
    "open": "holdout.open",
    "plan": "planner.plan",
    "polynomial_tail": "data.sampling",
    "probe": "papers.probe",
    "row_function": "question.functions",
    "split": "data.split",
    "statistic": "statistics.whole",
    "sub_exponential": "question.scale",
    "sub_gaussian": "question.scale",
    "sub_weibull": "data.sampling",
    "tail_table": "data.sampling",
    "tv_step": "papers.composition",
}
_HOMES = dict(sorted({**_OTHERS, **dict.fromkeys(_call.__all__, "statistics.call")}.items()))
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"holdfast.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
