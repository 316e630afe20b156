"""Standings drawn on axes of matplotlib, as scikit-learn's displays are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from holdfast import require
from holdfast.boards.standings import Standing, Standings
from holdfast.holdout.charts import new_axes

if TYPE_CHECKING:
    from holdfast.boards.leaderboard import Leaderboard

__all__ = ["StandingsDisplay"]

_WIDE, _LEAST_HIGH, _OF_A_ROW = 7.0, 1.2, 0.35  # inches
_LEADS, _OTHERS = "#0b6e4f", "#5c6570"


class StandingsDisplay:
    """The interval of each submission, best first; `ax_` and `figure_` are there once it is drawn.

    Without an interval there is a name and no line: nothing is known. An open end has an arrow.
    """

    def __init__(self, standings: Standings) -> None:
        self.standings = standings

    @classmethod
    def from_board(cls, board: Leaderboard, ax: Any = None) -> Self:
        """Draw the standings of a board as they are now."""
        return cls(board.standings()).plot(ax)

    def plot(self, ax: Any = None, *, most: int = 30) -> Self:
        """Draw the first `most` of them, on axes of one's own or on new ones."""
        rows = self.standings.rows[: require.positive_integer("most", most)]
        if ax is None:
            ax = new_axes(_WIDE, _LEAST_HIGH + _OF_A_ROW * len(rows))
        self.ax_, self.figure_ = ax, ax.figure
        ends = [end for row in rows for end in (row.low, row.high, row.value) if end is not None]
        edges = (min(ends), max(ends)) if ends else (0.0, 1.0)
        for place, row in enumerate(rows):
            _draw(ax, place, row, edges)
        ax.set_yticks(range(len(rows)), [_name(row) for row in rows])
        ax.invert_yaxis()
        ax.set_xlabel(f"{self.standings.metric}, {self.standings.together}")
        return self


def _name(row: Standing) -> str:
    return f"{'–' if row.rank is None else row.rank}  {row.submission}"


def _draw(ax: Any, place: int, row: Standing, edges: tuple[float, float]) -> None:
    colour = _LEADS if row.rank == 1 else _OTHERS
    if row.low is not None or row.high is not None:
        low = edges[0] if row.low is None else row.low
        high = edges[1] if row.high is None else row.high
        ax.hlines(place, low, high, color=colour, linewidth=3, alpha=0.5)
        for end, value, mark in ((low, row.low, "<"), (high, row.high, ">")):
            if value is None:
                ax.plot([end], [place], mark, color=colour, markersize=6)
    if row.value is not None:
        ax.plot([row.value], [place], "o", color=colour, markersize=5)
