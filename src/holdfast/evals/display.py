"""The history of a gate drawn on axes of matplotlib, as scikit-learn's displays are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from holdfast.holdout.charts import new_axes
from holdfast.ledger.entries import Recorded

if TYPE_CHECKING:
    from holdfast.evals.gate import EvalGate

__all__ = ["GateDisplay"]

_SHOWN, _NOT_SHOWN = "#0b6e4f", "#a0a8b0"
_SHOWN_NAMES = 40  # characters
_WIDE, _HIGH = 7.0, 3.2  # inches


class GateDisplay:
    """Comparisons in order, and how many showed a gain so far; `ax_` and `figure_` once drawn."""

    def __init__(self, history: Sequence[Recorded]) -> None:
        self.history = history

    @classmethod
    def from_gate(cls, gate: EvalGate, ax: Any = None) -> Self:
        """Draw what a gate was asked so far."""
        return cls(gate.history()).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it, on axes of one's own or on new ones."""
        if ax is None:
            ax = new_axes(_WIDE, _HIGH)
        self.ax_, self.figure_ = ax, ax.figure
        places = range(1, len(self.history) + 1)
        promoted = [line.status == "shown" for line in self.history]
        so_far = [sum(promoted[:place]) for place in places]
        ax.step([0, *places], [0, *so_far], where="post", color=_SHOWN)
        for status, colour in ((True, _SHOWN), (False, _NOT_SHOWN)):
            mine = [place for place in places if promoted[place - 1] is status]
            label = "shown" if status else "not shown"
            ax.plot(mine, [so_far[place - 1] for place in mine], "o", color=colour, label=label)
        for place in places:
            if promoted[place - 1]:
                name = (self.history[place - 1].why or "")[:_SHOWN_NAMES]
                ax.annotate(name, (place, so_far[place - 1]), ha="right", va="bottom", fontsize=8)
        ax.set_xlabel("comparisons")
        ax.set_ylabel("shown to be better")
        ax.legend()
        return self
