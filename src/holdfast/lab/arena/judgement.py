"""Verdicts on trials: exact binomial thresholds, no judgement by eye."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean, median
from typing import Literal

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.lab.arena.trial import Result

__all__ = [
    "DOUBT",
    "SUSPICION",
    "WORDS",
    "TrialsVerdict",
    "Word",
    "fewest_trials",
    "most_failures",
    "verdict",
]

Word = Literal["holds", "no interval", "too few trials", "doubtful", "BROKEN"]
# From the best to the worst: of several promises the worst word is true of all together.
WORDS: tuple[Word, ...] = ("holds", "no interval", "too few trials", "doubtful", "BROKEN")

# The chance that a holder which keeps its promise is judged to break it, and to be doubtful.
DOUBT, SUSPICION = 1e-9, 0.01


def most_failures(trials: int, beta: float, chance: float = DOUBT) -> int:
    """More failures than this have probability below `chance` if each has probability <= beta."""
    from scipy.stats import binom

    trials = require.positive_integer("trials", trials)
    return int(binom.isf(chance, trials, require.probability("beta", beta)))


def fewest_trials(beta: float) -> int:
    """With fewer trials than this not even a failure of all of them is beyond doubt."""
    return next(trials for trials in count(1) if most_failures(trials, beta) < trials)


@dataclass(frozen=True, slots=True)
class TrialsVerdict:
    """What many trials say together.

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
