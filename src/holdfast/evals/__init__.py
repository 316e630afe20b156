"""Evaluation item by item: logs that other tools wrote, gates and leaderboards over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import lazy_names

if TYPE_CHECKING:
    from holdfast.boards.leaderboard import Leaderboard as Leaderboard
    from holdfast.boards.standings import (
        Standing as Standing,
        Standings as Standings,
        StandingsDisplay as StandingsDisplay,
    )
    from holdfast.evals.comparison import Comparison as Comparison
    from holdfast.evals.gate import EvalGate as EvalGate
    from holdfast.evals.item_scores import ItemScores as ItemScores
    from holdfast.evals.submission import read as read
    from holdfast.evals.verdict import GateDisplay as GateDisplay, Verdict as Verdict

_HOMES = {
    "Comparison": "evals.comparison",
    "EvalGate": "evals.gate",
    "GateDisplay": "evals.verdict",
    "ItemScores": "evals.item_scores",
    "Leaderboard": "boards.leaderboard",
    "Standing": "boards.standings",
    "Standings": "boards.standings",
    "StandingsDisplay": "boards.standings",
    "Verdict": "evals.verdict",
    "read": "evals.submission",
}
__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
