"""Trials: an analyst let loose on a holder, many times, each interval compared with the truth.

The verdict on them rests on exact binomial thresholds, not on judgement by eye.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from statistics import fmean, median
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from holdfast import require
from holdfast.errors import InvalidArgument, MissingExtra, Refused
from holdfast.lab.world.holders import Holder, Session, Shown
from holdfast.lab.world.linear_questions import Arrays, LabQuestion
from holdfast.lab.world.populations import Population
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base import special

# What exact truths are computed to, where they are not whole numbers of halves.
_TRUTH_ERROR = 1e-9
_MOST_MOVES = 1_000_000


@dataclass(frozen=True, slots=True)
class Move:
    """Move of an analyst: a question, under some identity, perhaps with a guess.

    `final` marks the question whose error is the attack's score.
    """

    question: LabQuestion
    guess: float | None = None
    identity: str = ""
    final: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """View of an analyst before the first answer: the terms, and the training table.

    An `Insider` has seen the protected `rows` too.
    """

    terms: Terms
    train: Arrays | None = None
    rows: Arrays | None = None


# Yields moves and is sent what was shown; a refusal is thrown in, to be caught or not.
Game = Generator[Move, Shown, None]


class Analyst(Protocol):
    """A way to ask, as a frozen value."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """One line: what it tries."""
        ...

    def play(self, view: View, rng: np.random.Generator) -> Game: ...


@runtime_checkable
class Insider(Analyst, Protocol):
    """An analyst who has seen the rows: what is described is true for everybody who asks it."""

    def of_rows(self, rows: Arrays) -> LabQuestion:
        """The question that these rows answer most wrongly."""
        ...


@dataclass(frozen=True, slots=True)
class Final:
    """The attack's last word: what was shown, and what is true."""

    shown: float
    truth: float
    low: float | None
    high: float | None

    @property
    def error(self) -> float:
        return abs(self.shown - self.truth)

    @property
    def holds(self) -> bool | None:
        """Whether the interval contains the truth; None where no interval was shown."""
        if self.low is None or self.high is None:
            return None
        return self.low - _TRUTH_ERROR <= self.truth <= self.high + _TRUTH_ERROR


@dataclass(frozen=True, slots=True)
class Result:
    """One trial: answers, intervals shown and those that missed, refusals, and the last word.

    `slack` is the largest error in units of what the interval allowed on that side: above 1, an
    interval missed.
    """

    answered: int
    intervals: int
    missed: int
    refused: int
    worst_error: float
    slack: float
    final: Final | None

    @property
    def failed(self) -> bool:
        """Whether any interval missed the truth."""
        return self.missed > 0


@dataclass(slots=True)
class _Record:
    answered: int = 0
    intervals: int = 0
    missed: int = 0
    refused: int = 0
    worst_error: float = 0.0
    slack: float = 0.0
    final: Final | None = None

    def add(self, move: Move, reply: Shown, truth: float) -> None:
        final = Final(reply.value, truth, reply.low, reply.high)
        self.answered += 1
        self.intervals += final.holds is not None
        self.missed += final.holds is False
        self.worst_error = max(self.worst_error, final.error)
        self.slack = max(self.slack, _slack(final))
        if move.final:
            self.final = final

    def result(self) -> Result:
        return Result(
            self.answered,
            self.intervals,
            self.missed,
            self.refused,
            self.worst_error,
            self.slack,
            self.final,
        )


def _slack(final: Final) -> float:
    """How far the truth is from the shown value, in half-widths on its side.

    An end that was cut off at 0 or 1 binds nothing; the half-width is then that of the other side.
    """
    if final.low is None or final.high is None or final.error <= _TRUTH_ERROR:
        return 0.0
    end, far_end = (final.low, final.high)[:: 1 if final.truth < final.shown else -1]
    room = abs(final.shown - end)
    if end in (0.0, 1.0):
        room = max(room, abs(final.shown - far_end))
    return final.error / room if room > 0 else math.inf


def play(
    analyst: Analyst,
    session: Session,
    population: Population,
    view: View,
    rng: np.random.Generator,
) -> Result:
    """One game to its end: the analyst stops, or does not want to go on after a refusal."""
    record, game = _Record(), analyst.play(view, rng)
    step = partial(next, game)
    for _ in range(_MOST_MOVES):
        try:
            move = step()
        except (StopIteration, Refused):
            break
        try:
            reply = session.ask(move.question, move.guess, move.identity)
        except Refused as refusal:
            record.refused += 1
            step = partial(game.throw, refusal)
            continue
        record.add(move, reply, population.truth(move.question))
        step = partial(game.send, reply)
    game.close()
    return record.result()


class Trial(Protocol):
    """Trial that can be repeated."""

    def trial(self, seed: int, number: int) -> Result:
        """The trial of this number: the same for the same seed, wherever it is run."""
        ...


@dataclass(frozen=True, slots=True)
class Scenario:
    """Scenario: who asks whom about what. `terms` is what the holder declares."""

    population: Population
    holder: Holder
    analyst: Analyst
    terms: Terms
    train_rows: int = 0

    def trial(self, seed: int, number: int) -> Result:
        """The trial of this number: the same for the same seed, wherever it is run."""
        streams = np.random.SeedSequence([seed, number]).spawn(4)
        rng, train_rng, analyst_rng, holder_rng = map(np.random.default_rng, streams)
        sample = self.population.draw(self.terms.rows, rng)
        train = self.population.draw(self.train_rows, train_rng) if self.train_rows else None
        session = self.holder.open(self.terms, sample, train, int(holder_rng.integers(0, 2**63)))
        view = View(self.terms, train, sample if isinstance(self.analyst, Insider) else None)
        return play(self.analyst, session, self.population, view, analyst_rng)


def run_trials(
    scenario: Trial,
    trials: int,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Result, ...]:
    """Independent trials, in order. `progress(done, trials)` is called after each.

    With another n_jobs than 1 joblib runs them, in that many processes (-1: one for each core), so
    that `joblib.parallel_config` can hand them to Dask, Ray or Spark.
    """
    trials = require.positive_integer("trials", trials)
    seed = require.integer_at_least("seed", seed, 0)
    n_jobs = processes(n_jobs)
    results: dict[int, Result] = {}
    for number, result in _results(scenario, trials, seed, n_jobs):
        results[number] = result
        if progress is not None:
            progress(len(results), trials)
    return tuple(results[number] for number in range(trials))


def processes(n_jobs: int) -> int:
    """A number of processes, or -1 for one on each core."""
    return -1 if n_jobs == -1 else require.positive_integer("n_jobs (-1: every core)", n_jobs)


def _numbered(scenario: Trial, seed: int, number: int) -> tuple[int, Result]:
    return number, scenario.trial(seed, number)


def _results(scenario: Trial, trials: int, seed: int, n_jobs: int) -> Iterator[tuple[int, Result]]:
    if n_jobs == 1:
        yield from (_numbered(scenario, seed, number) for number in range(trials))
        return
    try:
        import joblib
    except ImportError as missing:
        raise MissingExtra(
            "trials in several processes need joblib, which is not installed; install the extra: "
            "pip install 'holdfast[lab]', or leave n_jobs (--jobs) at 1."
        ) from missing
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    task = joblib.delayed(_numbered)
    yield from parallel(task(scenario, seed, number) for number in range(trials))


Word = Literal["holds", "no interval", "too few trials", "doubtful", "BROKEN"]
# From the best to the worst: of several promises the worst word is true of all together.
WORDS: tuple[Word, ...] = ("holds", "no interval", "too few trials", "doubtful", "BROKEN")

# The chance that a holder which keeps its promise is judged to break it, and to be doubtful.
DOUBT, SUSPICION = 1e-9, 0.01


def most_failures(trials: int, beta: float, chance: float = DOUBT) -> int:
    """More failures than this have probability below `chance` if each has probability <= beta."""
    trials = require.positive_integer("trials", trials)
    failures = np.arange(trials)
    # More than k of n failures have the probability I_beta(k + 1, n - k); more than n have none.
    more = special.betainc(failures + 1, trials - failures, require.probability("beta", beta))
    return int(np.count_nonzero(more > chance))


def fewest_trials(beta: float) -> int:
    """With fewer trials than this not even a failure of all of them is beyond doubt."""
    return next(trials for trials in count(1) if most_failures(trials, beta) < trials)


@dataclass(frozen=True, slots=True)
class TrialsVerdict:
    """Verdict on many trials together.

    `intervals` were shown in all. `failures` counts the trials in which any of them missed;
    `allowed` is the most that a holder which keeps its promise of 1 - beta would have, `usual` the
    most that it has in all but one of a hundred such verdicts. `slack` is the largest error in
    half-widths. `shown` and `truth` are averages of the final questions.
    """

    trials: int
    intervals: int
    failures: int
    allowed: int
    usual: int
    slack: float
    worst_error: float
    fewest_answers: int
    median_answers: float
    most_answers: int
    shown: float | None
    truth: float | None

    @property
    def holds(self) -> bool:
        """Whether the trials are compatible with the promise."""
        return self.failures <= self.allowed

    @property
    def telling(self) -> bool:
        """Whether the trials could have broken the promise: intervals were shown, often enough."""
        return self.intervals > 0 and self.allowed < self.trials

    @property
    def word(self) -> Word:
        """One word for people."""
        if not self.telling:
            return "too few trials" if self.intervals else "no interval"
        if not self.holds:
            return "BROKEN"
        return "holds" if self.failures <= self.usual else "doubtful"

    @property
    def failure_rate(self) -> float:
        return self.failures / self.trials

    def __str__(self) -> str:
        slack = f" worst error {self.slack:.2f} half-widths;" if self.intervals else ""
        return (
            f"{self.word}: {self.failures:,} of {self.trials:,} trials with a false interval "
            f"(allowed {self.allowed:,});{slack} answers {self.fewest_answers:,} to "
            f"{self.most_answers:,}"
        )


def verdict(results: Sequence[Result], beta: float) -> TrialsVerdict:
    """The verdict on a holder that promises all intervals of a trial together with 1 - beta."""
    if not results:
        raise InvalidArgument("A verdict needs at least one trial.")
    answers = [result.answered for result in results]
    finals = [result.final for result in results if result.final is not None]
    return TrialsVerdict(
        trials=len(results),
        intervals=sum(result.intervals for result in results),
        failures=sum(result.failed for result in results),
        allowed=most_failures(len(results), beta),
        usual=most_failures(len(results), beta, SUSPICION),
        slack=max(result.slack for result in results),
        worst_error=max(result.worst_error for result in results),
        fewest_answers=min(answers),
        median_answers=float(median(answers)),
        most_answers=max(answers),
        shown=fmean(final.shown for final in finals) if finals else None,
        truth=math.fsum(final.truth for final in finals) / len(finals) if finals else None,
    )
