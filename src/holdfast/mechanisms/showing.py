"""Whether rows show a claim: what is read of them, and the test that a claim's level is for.

Which test it is follows from the question, the sampling and the claim, all public. Nothing but its
yes or no leaves the door. The theorems are in `theory.leakage.confirmation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.data.sample import Sample
from holdfast.mechanisms.mechanism import Claim, Wish
from holdfast.mechanisms.terms import Terms
from holdfast.question.bounds import few_values
from holdfast.question.chosen import where_equal
from holdfast.question.expression import Expression
from holdfast.question.row import GRID, RowValue, condition_row
from holdfast.statistics.mean import GroupMean, Mean
from holdfast.statistics.measuring import measure
from holdfast.statistics.statistic import Measured, Statistic
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.direct.paired import sign_test_log_p
from holdfast.theory.leakage.confirmation import (
    mean_claim_holds,
    paired_claim_holds,
    radius_claim_holds,
    share_claim_holds,
)

if TYPE_CHECKING:
    from holdfast.data.histogram import Histogram

__all__ = [
    "Showing",
    "by_sign_test",
    "claimable",
    "is_paired",
    "more_than",
    "reach_of_test",
    "showings",
]

_DIFFERENCES = frozenset({-1.0, 0.0, 1.0})
_EVEN = 0.5  # no difference, as a fraction of [-1, 1]

# Whether the rows show a claim at a level (ln), given a public guess of the second moment.
Showing = Callable[[Claim, float, float | None], bool]


def showings(
    terms: Terms, questions: Sequence[Statistic], alike: Sequence[bool], sample: Sample
) -> list[Showing]:
    """For each question what its rows, alike for it or not, show; one scan for counts, one for
    histograms."""
    kinds = [_read_by(terms, *each) for each in zip(questions, alike, strict=True)]
    counted = [row for kind in kinds if isinstance(kind, _Counts) for row in kind.rows]
    totals = iter(sample.sums(counted) if counted else ())
    binned = [kind.asked for kind in kinds if isinstance(kind, _Bins)]
    histograms = iter(sample.histograms(binned) if binned else ())
    others = [
        question
        for question, kind in zip(questions, kinds, strict=True)
        if isinstance(kind, _Whole)
    ]
    measured = iter(measure(sample, others))
    found: list[Showing] = []
    for kind in kinds:
        match kind:
            case _Counts():
                found.append(kind.showing([next(totals) // GRID for _ in kind.rows]))
            case _Bins():
                found.append(kind.showing(next(histograms)))
            case _Whole():
                found.append(kind.showing(next(measured)))
            case None:  # it has one value, and needs no rows
                found.append(lambda claim, _log_p, _moment: claim[0] <= 0.0)
    return found


def is_paired(question: Statistic) -> bool:
    """Whether it is a mean of differences of two conditions, each -1, 0 or 1."""
    if not isinstance(question, Mean) or (question.low, question.high) != (-1.0, 1.0):
        return False
    source = question.row.source
    values = few_values(source) if isinstance(source, Expression) else frozenset()
    return bool(values) and values <= _DIFFERENCES


def by_sign_test(question: Statistic, claim: Claim | None, *, alike: bool) -> bool:
    """Whether a claim is that of two conditions one holds more often, of rows that are alike."""
    return alike and claim in _EITHER_WAY and is_paired(question)


def claimable(claim: Claim | None) -> bool:
    """Whether it is an interval that has a part in the range."""
    return claim is not None and claim[0] <= claim[1] and claim[0] <= 1.0 and claim[1] >= 0.0


def more_than(bound: float) -> float:
    """The least fraction above a bound: a gate claims the open side of it."""
    return math.nextafter(bound, math.inf)


def reach_of_test(terms: Terms, wish: Wish, log_p: float) -> float | None:
    """How far from the sample's value the interval of a test may reach; None where none is known.

    Clopper and Pearson's ends lie inside Chernoff's, and those inside Hoeffding's; those of bets,
    and for conditions of rows that are not alike, need not.
    """
    question, row = wish.question, wish.question.row
    if row is not None and terms.independent:
        by_bets = wish.moment is not None or is_paired(question)
        if by_bets or (row.is_condition and not wish.of_alike_rows(terms)):
            return None
    profile = question.concentration(terms.rows, terms.sampling)
    return round_up(profile.radius(min(0.0, log_p)) + question.error)


@dataclass(frozen=True, slots=True)
class _Counts:
    """How often conditions hold: one, or the two of a paired difference."""

    n: int
    rows: tuple[RowValue, ...]
    alike: bool

    def showing(self, counts: Sequence[int]) -> Showing:
        def share(claim: Claim, log_p: float, _moment: float | None) -> bool:
            return share_claim_holds(self.n, counts[0], _ends(claim), log_p, alike=self.alike)

        def paired(claim: Claim, log_p: float, moment: float | None) -> bool:
            b, c = counts
            if self.alike and claim in _EITHER_WAY:
                return sign_test_log_p(*((b, c) if claim == _MORE else (c, b))) <= log_p
            low, high = _ends(claim)
            # Fractions of [-1, 1] as differences; doubling is exact, and the claim only shrinks.
            wanted = Interval(
                round_up(2 * low - 1) if low > 0.0 else low,
                round_down(2 * high - 1) if high < 1.0 else high,
            )
            return paired_claim_holds(
                self.n, b, c, wanted, log_p, alike=self.alike, second_moment=moment
            )

        return share if len(self.rows) == 1 else paired


@dataclass(frozen=True, slots=True)
class _Bins:
    """The histogram of a bounded value, of all rows or of a public group."""

    asked: tuple[RowValue, Expression | None]

    def showing(self, histogram: Histogram) -> Showing:
        def mean(claim: Claim, log_p: float, moment: float | None) -> bool:
            low, high, times = histogram.low, histogram.high, histogram.counts
            return mean_claim_holds(low, high, _ends(claim), log_p, times, second_moment=moment)

        return mean


@dataclass(frozen=True, slots=True)
class _Whole:
    """A statistic of which a concentration is known, and no more."""

    terms: Terms
    question: Statistic

    def showing(self, measured: Measured) -> Showing:
        def near(claim: Claim, log_p: float, _moment: float | None) -> bool:
            profile = self.question.concentration(self.terms.rows, self.terms.sampling)
            error = self.question.error
            return radius_claim_holds(measured.value, profile, _ends(claim), log_p, error)

        return near


def _read_by(terms: Terms, question: Statistic, alike: bool) -> _Counts | _Bins | _Whole | None:
    row = question.row
    if question.low == question.high:
        return None
    if row is None or not terms.independent:
        return _Whole(terms, question)
    if row.is_condition:
        return _Counts(question.rows(terms.rows), (row,), alike)
    if is_paired(question) and isinstance(row.source, Expression):
        alone = tuple(condition_row(where_equal(row.source, sign)) for sign in (1.0, -1.0))
        return _Counts(terms.rows, alone, alike)
    if isinstance(question, GroupMean):
        return _Bins((question.value, question.condition))
    return _Bins((row, None))


_MORE: Claim = (more_than(_EVEN), 1.0)
_LESS: Claim = (0.0, math.nextafter(_EVEN, 0.0))
_EITHER_WAY = (_MORE, _LESS)


def _ends(claim: Claim) -> Interval:
    """The claim's two ends; those at the ends of the range bind nothing."""
    low, high = claim
    return Interval(low if low > 0.0 else -math.inf, high if high < 1.0 else math.inf)
