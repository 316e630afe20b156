"""The best score so far, raised only by what is clearly better: the Ladder, with an interval.

Blum and Hardt (2015) show a submission's score only when it beats the best by a step. Here each
submission is a one-sided check: "not better than the best so far plus a step". Confirmed, it costs
almost nothing, and the promise is that it is not better; a surprise is answered with a value and an
interval, and may be the new best. Both kinds of answers hold together, however many submissions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Grounds, Lesson
from holdfast.mechanisms.mechanism import Claim
from holdfast.statistics.named import Better
from holdfast.statistics.statistic import Statistic

__all__ = ["LastBest"]

# Scores are compared where they have the same range: the best of each, as a fraction of it.
_Best = Mapping[tuple[float, float], float]


@dataclass(frozen=True, slots=True)
class LastBest:
    """The guess is the best value so far among statistics of the same range.

    `better` says whether higher or lower scores win; `step` is how much better (a fraction of the
    range) the truth may be for "not better" to be confirmed, by default the tolerance. The first
    submission is asked for, or checked against training rows if there are any.
    """

    better: Better = "higher"
    step: float | None = None

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise InvalidArgument(f"better is {self.better!r}; it must be 'higher' or 'lower'.")
        if self.step is not None:
            require.between("step", self.step, 0.0, 1.0, open_low=True)

    @property
    def name(self) -> str:
        return "last best"

    def start(self, grounds: Grounds) -> _Best:  # noqa: ARG002 - a leaderboard starts empty
        return MappingProxyType({})

    def learn(self, state: _Best, lesson: Lesson) -> _Best:
        """Only what tells both sides of a score counts, not "at most 0.9"."""
        low, high = lesson.revealed
        if lesson.tolerance is not None and high - low > 2 * lesson.tolerance * (1 + 1e-9):
            return state
        key = (lesson.range.low, lesson.range.high)
        known = state.get(key, lesson.value)
        best = max(known, lesson.value) if self.better == "higher" else min(known, lesson.value)
        return MappingProxyType({**state, key: best})

    def covers(self, state: _Best, statistic: Statistic) -> bool:
        return (statistic.low, statistic.high) in state

    def guess(self, state: _Best, statistics: Sequence[Statistic]) -> list[float]:
        return [state[statistic.low, statistic.high] for statistic in statistics]

    def claim(self, guess: float, tolerance: float) -> Claim:
        step = tolerance if self.step is None else self.step
        return (0.0, guess + step) if self.better == "higher" else (guess - step, 1.0)
