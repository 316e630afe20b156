"""Guesser: a public function of the transcript and of unprotected rows; all by name.

With a guesser, `ask` becomes a check of its guess. No promise depends on where a guess comes from;
only the number of surprises does, and with it what the questions cost. So a guesser is not a part
of the ledger: its state is a fold over the answers there, and is made again whenever it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.did_you_mean import did_you_mean
from holdfast.errors import InvalidArgument
from holdfast.lazy import load
from holdfast.ledger.entries import Recorded
from holdfast.mechanisms.mechanism import Claim, Wish
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.entry import Table
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval


@dataclass(frozen=True, slots=True)
class Grounds:
    """Grounds of guesses beside the answers; nothing of them is about the protected rows.

    `train` are other rows, if there are any; `secret` addresses a guesser's own noise.
    """

    terms: Terms
    table: Table
    train: Sample | None
    secret: bytes


@dataclass(frozen=True, slots=True)
class Lesson:
    """Lesson of an answered question, known to everybody; numbers are fractions of its range.

    `revealed` holds the sample's value; `tolerance` is the half-width that was promised.
    """

    question: str
    range: Interval
    value: float
    tolerance: float | None
    revealed: Interval


@runtime_checkable
class Guesser(Protocol):
    """A frozen value; its state is folded from lessons and never written to."""

    @property
    def name(self) -> str:
        """Name, for people."""
        ...

    def start(self, grounds: Grounds) -> Any:
        """The state before the first answer; refused where the grounds are not enough."""
        ...

    def learn(self, state: Any, lesson: Lesson) -> Any:
        """The state after one more answer."""
        ...

    def covers(self, state: Any, statistic: Statistic) -> bool:
        """Whether it has something to go on for this statistic."""
        ...

    def guess(self, state: Any, statistics: Sequence[Statistic]) -> list[float]:
        """For statistics it covers, a guess of each, as a fraction of its range."""
        ...

    def claim(self, guess: float, tolerance: float) -> Claim:
        """Claim of a guess: the interval that the truth is claimed to be in."""
        ...


def around(guess: float, tolerance: float) -> Claim:
    """The usual claim: within the tolerance of the guess, on both sides."""
    return guess - tolerance, guess + tolerance


def lesson_of(answer: Recorded) -> Lesson:
    """Lesson of a finished question of a ledger."""
    low, high = answer.range
    value = (answer.estimate.value - low) / (high - low) if high > low else 0.0
    return Lesson(answer.question, answer.range, value, answer.tolerance, answer.revealed)


class _Memory(NamedTuple):
    """Each guesser's state, and how many lessons it was folded from."""

    states: tuple[Any, ...]
    lessons: int


class Guessing:
    """Guessers in order of preference with what they have learnt; every lesson is folded once.

    A statistic is guessed by the first that covers it, and asked without a guess if none does.
    """

    def __init__(self, guessers: Sequence[Guesser], grounds: Grounds) -> None:
        self._guessers = tuple(guessers)
        self._memory = _Memory(tuple(each.start(grounds) for each in guessers), 0)

    @property
    def lessons(self) -> int:
        """How many lessons have been learnt."""
        return self._memory.lessons

    def learn(self, lesson: Lesson) -> None:
        """One more answer; all of it or, if this is interrupted, nothing."""
        states, lessons = self._memory
        self._memory = _Memory(
            tuple(
                guesser.learn(state, lesson)
                for guesser, state in zip(self._guessers, states, strict=True)
            ),
            lessons + 1,
        )

    def covers(self, statistic: Statistic) -> bool:
        """Whether any of them would guess this statistic."""
        return self._first(statistic) is not None

    def wishes(self, asks: Sequence[Wish]) -> list[Wish]:
        """To check what is guessed of each that is asked for, where something is."""
        requests = list(asks)
        by_guesser: dict[int, list[int]] = {}
        for place, wish in enumerate(asks):
            first = self._first(wish.question)
            if first is not None:
                by_guesser.setdefault(first, []).append(place)
        for index, places in by_guesser.items():
            guesser, state = self._guessers[index], self._memory.states[index]
            guesses = guesser.guess(state, [asks[place].question for place in places])
            for place, value in zip(places, guesses, strict=True):
                guess = require.between(f"the guess by {guesser.name}", value, 0.0, 1.0)
                claim = guesser.claim(guess, asks[place].tolerance)
                if not claim[0] < claim[1]:
                    raise InvalidArgument(f"{guesser.name} claims {claim}, which is no interval.")
                requests[place] = replace(asks[place], claim=claim, guess=guess)
        return requests

    def _first(self, statistic: Statistic) -> int | None:
        """First guesser that covers it."""
        states = self._memory.states
        return next(
            (
                index
                for index, guesser in enumerate(self._guessers)
                if guesser.covers(states[index], statistic)
            ),
            None,
        )


# Every guesser a holdout can be opened with, by name.


# No guesser: the analyst's own guesses are checked, and `ask` asks.
ANALYST = "analyst"


_HOMES = (
    "guessers.training.TrainingMean",
    "guessers.training.NoisyTraining",
    "papers.multiplicative_weights.MultiplicativeWeights",
    "papers.median_mechanism.MedianMechanism",
    "guessers.training.LastBest",
)


@cache
def guessers() -> Mapping[str, Guesser]:
    """Guessers by their names; loaded where one is wanted."""
    every: list[Guesser] = [load(home)() for home in _HOMES]
    return {guesser.name: guesser for guesser in every}


def guessers_of(wanted: str | Guesser | None, *, with_training: bool) -> tuple[Guesser, ...]:
    """Guessers, in order of preference.

    Training rows guess where nobody else is named, and what the one that is named does not cover.
    """
    training = _training() if with_training else ()
    if wanted is None:
        return training
    if isinstance(wanted, str) and wanted == ANALYST:
        return ()
    chosen = guessers().get(wanted) if isinstance(wanted, str) else wanted
    if not isinstance(chosen, Guesser):
        names = [ANALYST, *guessers()]
        hint = did_you_mean(wanted, names, f"there are {', '.join(names)}.")
        raise InvalidArgument(f"guesser is {wanted!r}, which is not a guesser; {hint}")
    return (chosen, *(each for each in training if each.name != chosen.name))


def _training() -> tuple[Guesser, ...]:
    from holdfast.guessers.training import TrainingMean

    return (TrainingMean(),)
