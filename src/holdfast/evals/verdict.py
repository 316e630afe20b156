"""Verdict of a gate on a candidate: promote it, or not; its chart."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from holdfast.ledger.entries import Recorded
from holdfast.wording import adjusted_text, nth_candidate, plural, points

if TYPE_CHECKING:
    from holdfast.evals.gate import EvalGate


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a candidate was shown to be better than the incumbent by more than `min_gain`.

    `bound` is what the gain is shown to be above, None where nothing is shown: that says nothing
    against the candidate. `looks` gates were tried so far, this one among them, and `left` more can
    be (None: no number was declared). `unmatched` items had no score of the candidate, and counted
    as wrong. A `repeated` verdict was given before, and is free, as is one that `follows` from
    earlier answers. It `holds_for` "items like these",
    a population that they are drawn from, or for "these items" alone.

    `forecast` is how likely it was said to be shown, by development scores or a stated number, and
    `level` what it was decided at; it was not `tried` if the forecast was below `skip_below`.
    `adjusted` is the adjusted p it was shown with, the largest so far, if grades were asked for.
    `next_gain` is what the next comparison shows 4 times in 5, if it comes without a forecast.
    `metric` is what is compared where scores are errors, with their cap.
    """

    candidate: str
    incumbent: str
    scorer: str | None
    where: str | None
    min_gain: float
    shown: bool
    looks: int
    left: int | None
    receipt: str
    unmatched: int
    question: str
    together: str
    holds_for: str
    repeated: bool = False
    follows: bool = False
    tried: bool = True
    forecast: float | None = None
    level: float | None = None
    adjusted: float | None = None
    next_gain: float | None = None
    metric: str | None = None

    @property
    def promote(self) -> bool:
        """Whether the candidate takes the incumbent's place: only if it was shown to be better."""
        return self.shown

    @property
    def bound(self) -> float | None:
        """Bound that the gain is above."""
        return self.min_gain if self.shown else None

    @property
    def status(self) -> str:
        """shown, not shown or not tried."""
        if not self.tried:
            return "not tried"
        return "shown" if self.shown else "not shown"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        fields = {"promote": self.promote, "status": self.status, "value": None}
        return fields | {"low": self.bound, "high": None, "bound": self.bound, **asdict(self)}

    @property
    def claim(self) -> str:
        """Claim that was to be shown, for people."""
        where = "" if self.scorer is None else f" on {self.scorer}"
        rows = "" if self.where is None else f" where {self.where}"
        if self.min_gain < 0:
            margin = f"is not worse than {self.incumbent} by {-self.min_gain:g} or more"
        elif self.min_gain == 0:
            margin = f"is better than {self.incumbent}"
        else:
            margin = f"is better than {self.incumbent} by more than {self.min_gain:g}"
        metric = "" if self.metric is None else f" in {self.metric}"
        return f"{self.candidate} {margin}{metric}{where}{rows}"

    @property
    def _grade(self) -> list[str]:
        """How strongly it is shown, where that was asked for."""
        return [] if self.adjusted is None else [adjusted_text(self.adjusted)]

    @property
    def _forecasts(self) -> list[str]:
        """What was said before, and what the next one can show."""
        if self.forecast is None:
            return []
        skipped = "" if self.tried else ", so nothing was charged"
        parts = [f"forecast {100 * self.forecast:.3g} %{skipped}"]
        if self.next_gain is not None:
            parts.append(f"the next without a forecast shows {points(self.next_gain)} 4 times in 5")
        return parts

    @property
    def details(self) -> str:
        """Bookkeeping in words: the level it was decided at, where one was forecast; receipt."""
        level = [] if self.level is None else [f"decided at level {self.level:.2g}"]
        return " · ".join([*level, f"receipt {self.receipt}"])

    @property
    def _counted(self) -> str | None:
        """Which candidate it was, of those that there may be."""
        if self.follows:
            return "follows from earlier answers"
        is_counted = self.tried and not self.repeated
        return nth_candidate(self.looks, self.left) if is_counted else None

    def __str__(self) -> str:
        headline = f"promote: {self.claim}" if self.promote else f"{self.status}: that {self.claim}"
        facts = [headline, f"for {self.holds_for}", self.together]
        facts += [self._counted] if self._counted else []
        facts += [*self._grade, *self._forecasts]
        if self.unmatched:
            facts.append(f"{plural(self.unmatched, 'item')} without a score counted as wrong")
        if self.repeated:
            facts.append("repeated")
        return " · ".join(facts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headline, *facts = (html.escape(each) for each in str(self).split(" · "))
        return f"<div><b>{headline}</b><br><small>{' &middot; '.join(facts)}</small></div>"

    def to_markdown(self) -> str:
        """A table for the summary of a job."""
        rows = {
            "verdict": "**promote**" if self.promote else f"**{self.status}**",
            "claim": self.claim,
            "holds for": self.holds_for,
            "together": self.together,
            **({"counted as": self._counted} if self._counted else {}),
            **({"strength": "; ".join(self._grade)} if self._grade else {}),
            **({"forecast": "; ".join(self._forecasts)} if self._forecasts else {}),
            "items without a score": f"{self.unmatched:,}",
            "receipt": f"`{self.receipt}`",
        }
        lines = [f"| {name} | {_cell(cell)} |" for name, cell in rows.items()]
        return "\n".join(["| gate | |", "|---|---|", *lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


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
            from holdfast.holdout.charts import new_axes

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
