"""Guesses from training rows, and from the best score so far.

Questions that were chosen after looking at the training rows have training means that are too good,
so guesses are refuted. Noise keeps the training rows from being overfitted, as far as questions and
guesses are all that anybody sees of them: with Theorem T's noise for k questions on the training
rows, every noisy mean stays near the truth, whoever asks (theory.md, section 5). It costs what it
adds to the distance of a guess, and protects nothing where the analyst holds the rows.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import ClassVar

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Grounds, Lesson, around
from holdfast.holdout.guess import averages
from holdfast.mechanisms.mechanism import Claim
from holdfast.mechanisms.noise import NORMAL, Noise
from holdfast.statistics.entry import Better
from holdfast.statistics.statistic import Statistic
from holdfast.theory.transfer.gaussian_noise import gaussian_half_width

_OPEN_ENDED_QUESTIONS = 1_000
_LOG_BETA = math.log(0.05)
# Means and noise are whole numbers of this grid: the low digits of a double would tell of rows.
_GRID = 2**30
_PURPOSE = b"holdfast noisy training/1|"


@dataclass(frozen=True, slots=True)
class TrainingMean:
    """The statistic's value on the training rows."""

    name: ClassVar[str] = "training mean"

    def start(self, grounds: Grounds) -> Grounds:
        _training_rows(self.name, grounds)
        return grounds

    def learn(self, state: Grounds, lesson: Lesson) -> Grounds:  # noqa: ARG002 - rows never change
        return state

    def covers(self, state: Grounds, statistic: Statistic) -> bool:
        return _covers(state, statistic)

    def guess(self, state: Grounds, statistics: Sequence[Statistic]) -> list[float]:
        return averages(_training_rows(self.name, state), statistics, state.table)

    def claim(self, guess: float, tolerance: float) -> Claim:
        return around(guess, tolerance)


@dataclass(frozen=True, slots=True)
class _NoisyRows:
    grounds: Grounds
    scale: float


@dataclass(frozen=True, slots=True)
class NoisyTraining:
    """The value on the training rows plus N(0, noise^2), the same for the same question.

    `noise` is a fraction of the range; left out, it is Theorem T's best for the declared number of
    questions on the training rows (1,000 where none is declared).
    """

    name: ClassVar[str] = "noisy training"

    noise: float | None = None

    def __post_init__(self) -> None:
        if self.noise is not None:
            require.between("noise", self.noise, 0.0, 1.0, open_low=True)

    def start(self, grounds: Grounds) -> _NoisyRows:
        rows = _training_rows(self.name, grounds)
        if self.noise is not None:
            return _NoisyRows(grounds, self.noise)
        questions = grounds.terms.questions or _OPEN_ENDED_QUESTIONS
        best = gaussian_half_width(rows.n, questions, _LOG_BETA)
        return _NoisyRows(grounds, best.noise_scale)

    def learn(self, state: _NoisyRows, lesson: Lesson) -> _NoisyRows:  # noqa: ARG002
        return state

    def covers(self, state: _NoisyRows, statistic: Statistic) -> bool:
        return _covers(state.grounds, statistic)

    def guess(self, state: _NoisyRows, statistics: Sequence[Statistic]) -> list[float]:
        grounds = state.grounds
        exact = averages(_training_rows(self.name, grounds), statistics, grounds.table)
        return [
            _noisy(value, state.scale, Noise(_address(grounds.secret, statistic), ""))
            for value, statistic in zip(exact, statistics, strict=True)
        ]

    def claim(self, guess: float, tolerance: float) -> Claim:
        return around(guess, tolerance)


def _covers(grounds: Grounds, statistic: Statistic) -> bool:
    """Everything, but for columns attached to the holdout that training rows do not have."""
    own = {*grounds.table.schema.types, *_training_rows("training", grounds).types}
    return own.issuperset(statistic.columns)


def _training_rows(name: str, grounds: Grounds) -> Sample:
    if grounds.train is None:
        raise InvalidArgument(
            f"the guesser {name!r} guesses from other rows and was given none; attach them with "
            "train=, such as the first part of holdfast.split."
        )
    return grounds.train


def _address(secret: bytes, statistic: Statistic) -> bytes:
    """The same question has the same noise, so that asking again does not average it out."""
    return hmac.digest(secret, _PURPOSE + statistic.text.encode(), sha256)


def _noisy(value: float, scale: float, noise: Noise) -> float:
    """The value with noise of exactly the normal law, both rounded to the grid, in the range."""
    step = NORMAL.draw(noise, max(1, math.ceil(scale * _GRID)))
    return min(_GRID, max(0, math.floor(value * _GRID + 0.5) + step)) / _GRID


# The best score so far, raised only by what is clearly better: the Ladder, with an interval.
#
# Blum and Hardt (2015) show a submission's score only when it beats the best by a step. Here each
# submission is a one-sided check: "not better than the best so far plus a step". Confirmed, it
# costs almost nothing, and the promise is that it is not better; a surprise is answered with a
# value and an interval, and may be the new best. Both kinds of answers hold together, however
# many submissions.


# Scores are compared where they have the same range: the best of each, as a fraction of it.
_Best = Mapping[tuple[float, float], float]


@dataclass(frozen=True, slots=True)
class LastBest:
    """The guess is the best value so far among statistics of the same range.

    `better` says whether higher or lower scores win; `step` is how much better (a fraction of the
    range) the truth may be for "not better" to be confirmed, by default the tolerance. The first
    submission is asked for, or checked against training rows if there are any.
    """

    name: ClassVar[str] = "last best"

    better: Better = "higher"
    step: float | None = None

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower"):
            raise InvalidArgument(f"better is {self.better!r}; it must be 'higher' or 'lower'.")
        if self.step is not None:
            require.between("step", self.step, 0.0, 1.0, open_low=True)

    def start(self, grounds: Grounds) -> _Best:  # noqa: ARG002 - a leaderboard starts empty
        return MappingProxyType({})

    def learn(self, state: _Best, lesson: Lesson) -> _Best:
        """Only what tells both sides of a score counts, not "at most 0.9"."""
        low, high = lesson.revealed
        if lesson.tolerance is not None and high - low > 2 * lesson.tolerance * (1 + 1e-9):
            return state
        key = (lesson.range.low, lesson.range.high)
        before = state.get(key, lesson.value)
        best = max(before, lesson.value) if self.better == "higher" else min(before, lesson.value)
        return MappingProxyType({**state, key: best})

    def covers(self, state: _Best, statistic: Statistic) -> bool:
        return (statistic.low, statistic.high) in state

    def guess(self, state: _Best, statistics: Sequence[Statistic]) -> list[float]:
        return [state[statistic.low, statistic.high] for statistic in statistics]

    def claim(self, guess: float, tolerance: float) -> Claim:
        step = tolerance if self.step is None else self.step
        return (0.0, guess + step) if self.better == "higher" else (guess - step, 1.0)
