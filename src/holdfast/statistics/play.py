"""A question is a play: it yields parts to put together, is sent their answers, returns its own.

Whoever runs a play decides what an answer is: the desk asks the protected rows, the price is found
with public stand-ins. All that a play does with an answer is public.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from holdfast import require
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = ["Estimate", "Joined", "Play", "Subquestion", "alone", "fraction"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A released value with its interval; of a claim that was `refuted` nothing is known yet."""

    value: float
    interval: Interval
    refuted: bool = False

    def within(self, low: float, high: float) -> Estimate:
        """The same, knowing that the truth is in [low, high]."""
        interval = Interval(
            min(high, max(low, self.interval.low)), max(low, min(high, self.interval.high))
        )
        return Estimate(min(interval.high, max(interval.low, self.value)), interval)


@dataclass(frozen=True, slots=True)
class Joined:
    """What follows from the parts: an interval, and a value where their values have one."""

    value: float | None
    interval: Interval

    @classmethod
    def within(cls, value: float | None, interval: Interval, low: float, high: float) -> Joined:
        """The value and interval found, knowing that the truth is in [low, high]."""
        found = Estimate(low if value is None else value, interval).within(low, high)
        return cls(None if value is None else found.value, found.interval)


@dataclass(frozen=True, slots=True)
class Subquestion:
    """A statistic to be answered.

    With a `guess` (a fraction of its range) the analyst claims that it is about that; with a
    `claim` too, that it is there. What was `refuted` is asked, and not guessed again.
    """

    statistic: Statistic
    guess: float | None = None
    claim: tuple[float, float] | None = None
    refuted: bool = False


Play = Generator[Sequence[Subquestion], Sequence[Estimate], Joined]


def alone(statistic: Statistic, guess: float | None) -> Play:
    """The play of a statistic that one symbol answers."""
    (found,) = yield [Subquestion(statistic, None if guess is None else fraction(guess, statistic))]
    return Joined(found.value, found.interval)


def fraction(value: object, statistic: Statistic, name: str = "guess") -> float:
    """A number in the statistic's own unit as a fraction of its range."""
    number = require.between(name, value, statistic.low, statistic.high)
    width = statistic.high - statistic.low
    return (number - statistic.low) / width if width else 0.0
