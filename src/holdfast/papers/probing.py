"""Probe of a learner as a black box: how stable it seems, how much it overfits, what would follow.

The table stands for the population: samples are drawn from it with replacement, the learner is run
many times on each, and what comes out is put into a few outcomes. Two independent samples show
(eta, tau, nu) in pair form, two that differ in one row total variation, and a score how much better
an output does on its own sample than on the population.

**It is an estimate.** Events are chosen on one half of the runs and counted on the other, so lower
bounds are true of the learner with the confidence that is named; what it does on samples, rows and
outcomes that were not tried nobody knows, and no promise rests on it. The rows must not be
protected ones: nothing here is charged.

Legend
    pairs       of samples; runs on each, of which one half chooses and the other counts
    eta, tau    closeness of two laws of outcomes; nu the share of pairs that are further apart
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from holdfast import require
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.papers.theorems.laws import least_tau
from holdfast.papers.theorems.tv_generalisation import tv_expected_error
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.intervals import clopper_pearson_upper
from holdfast.theory.direct.bounded_mean import bounded_mean_interval
from holdfast.theory.typical.generalisation import generalisation

_Learner = Callable[[Any, np.random.Generator], Any]

_ETAS = (0.0, *(0.05 * 1.25**step for step in range(26)))  # to 13.2
_WRONG = 0.01  # the probability that one pair is judged wrongly
_MOST_OUTCOMES = 64


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate, and what it is at least and at most with the confidence named; None: unknown.

    An infinite estimate is one for which nothing finite was enough; as JSON it is None.
    """

    value: float
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, float | None]:
        return {**asdict(self), "value": self.value if math.isfinite(self.value) else None}

    def __str__(self) -> str:
        ends = ("?" if end is None else f"{end:.3g}" for end in (self.low, self.high))
        return f"{self.value:.3g} [{', '.join(ends)}]"


@dataclass(frozen=True, slots=True)
class Probe:
    """Probe of a learner: an estimate, and no promise.

    `half_width`: were the estimated (eta, tau, nu) true, any mean of values in [0, 1] chosen by the
    learner's output would be within it of the truth but for probability `failure`; None where
    nothing would follow. `expected_error` is what L15 would say of the estimated total variation.
    """

    rows: int
    pairs: int
    runs: int
    outcomes: int
    confidence_level: float
    eta: Estimated
    tau: float
    nu: float
    tv: Estimated
    overfitting: Estimated | None
    half_width: float | None
    failure: float | None
    expected_error: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain = {
            name: value.to_dict() if isinstance(value, Estimated) else value
            for name, value in ((name, getattr(self, name)) for name in self.__slots__)
        }
        return {"estimate": True, **plain}

    def __str__(self) -> str:
        overfitting = (
            "not scored" if self.overfitting is None else f"{self.overfitting} on its own sample"
        )
        follows = (
            "nothing would follow"
            if self.half_width is None or self.failure is None
            else f"a mean that it chooses would be within {self.half_width:.3g} of the truth but "
            f"for probability {self.failure:.3g}"
        )
        return "\n".join(
            [
                f"ESTIMATE, no promise: {self.pairs:,} pairs of samples of {self.rows:,} rows, "
                f"{self.runs:,} runs on each, {self.outcomes} outcomes; "
                f"{self.confidence_level:.0%} bounds in brackets",
                f"  eta          {self.eta} at tau {self.tau:g} for all but {self.nu:g} of pairs",
                f"  total var.   {self.tv} for one row replaced, on average over rows",
                f"  overfitting  {overfitting}",
                f"  if eta were that: {follows}",
                "  if the total variation were that: the expected error would be at most "
                + (
                    "1, which is vacuous"
                    if self.expected_error >= 1
                    else f"{self.expected_error:.3g}"
                ),
            ]
        )

    __repr__ = __str__


def probe(
    learner: _Learner,
    table: Any,
    *,
    score: Callable[[Any, Any], float] | None = None,
    view: Callable[[Any], Any] | None = None,
    pairs: int = 20,
    runs: int = 100,
    tau: float = 0.1,
    nu: float = 0.2,
    outcomes: int = 4,
    confidence_level: float = 0.95,
    seed: int = 2026,
) -> Probe:
    """Estimate (eta, tau, nu), total variation and overfitting of `learner(sample, rng)`.

    `table` is a data frame, an array or a list of rows that no ledger protects. What comes out is
    looked at as it is if it is a number or a word, or by `view(output)`; numbers are put into so
    many `outcomes`. `score(output, rows)` says in [0, 1] how well an output does on some rows. The
    learner is run 3 x pairs x runs times, and a few times more to see what comes out.
    """
    pairs = require.integer_between("pairs", pairs, 2, 10_000)
    runs = require.integer_between("runs", runs, 4, 100_000)
    tau, nu = require.probability("tau", tau), require.probability("nu", nu)
    outcomes = require.integer_between("outcomes", outcomes, 2, _MOST_OUTCOMES)
    level = require.confidence_level(confidence_level)
    rng = np.random.default_rng(require.integer_at_least("seed", seed, 0))
    trying = _Trying(learner, table, view, rng)
    sorted_into = _outcomes(trying.pilot(runs), outcomes)
    independent, neighbours, gaps = [], [], []
    for _ in range(pairs):
        first, second, changed = trying.samples()
        laws = [trying.counts(rows, runs, sorted_into) for rows in (first, second, changed)]
        independent.append(_Halves(laws[0], laws[1], sorted_into.many))
        neighbours.append(_Halves(laws[0], laws[2], sorted_into.many).shown_gap(0.0))
        if score is not None:
            gaps.append(trying.overfit(score, first))
    eta = _eta(independent, tau, nu, 1 - level)
    tv = _distance(neighbours, 1 - level)
    n, (half_width, failure) = trying.rows, _consequence(trying.rows, eta.value, tau, nu)
    return Probe(
        n,
        pairs,
        runs,
        sorted_into.many,
        level,
        eta,
        tau,
        nu,
        tv,
        _mean(gaps, 1 - level) if gaps else None,
        half_width,
        failure,
        tv_expected_error(min(1.0, max(0.0, tv.value)), n, math.log(1 - level)),
    )


def _consequence(
    n: int, eta: float, tau: float, nu: float
) -> tuple[float, float] | tuple[None, None]:
    """Half-width and failure of a mean that is chosen by a (eta, tau, nu)-stable learner."""
    if not math.isfinite(eta):
        return None, None
    log_tail = math.log(tau) - eta
    half_width = BoundedMean(n).radius(log_tail)
    log_failure = generalisation(log_tail, eta, math.log(tau), math.log(nu))
    if half_width >= 0.5 or log_failure >= 0.0:
        return None, None
    return half_width, math.exp(log_failure)


def _mean(values: Sequence[float], beta: float) -> Estimated:
    """Mean of values in [-1, 1], and the interval by bets."""
    low, high = bounded_mean_interval([(1 + each) / 2 for each in values], math.log(beta))
    return Estimated(float(np.mean(values)), 2 * low - 1, 2 * high - 1)


def _distance(gaps: Sequence[float], beta: float) -> Estimated:
    """Distance in total variation: no event shows more than there is, and others may show more."""
    distance = _mean(gaps, beta)
    return Estimated(distance.value, max(0.0, distance.low or 0.0), None)


# Running the learner ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Trying:
    """The learner, the rows, and all coins."""

    learner: _Learner
    table: Any
    view: Callable[[Any], Any] | None
    rng: np.random.Generator

    @property
    def rows(self) -> int:
        try:
            return require.integer_at_least("the number of rows", len(self.table), 2)
        except TypeError:
            raise InvalidArgument(
                "table must be a data frame, an array or a list of rows."
            ) from None

    def samples(self) -> tuple[Any, Any, Any]:
        """Two independent samples, and the first with one row replaced."""
        n = self.rows
        first, second = (self.rng.integers(0, n, n) for _ in range(2))
        changed = first.copy()
        changed[self.rng.integers(n)] = self.rng.integers(n)
        return (
            _rows_at(self.table, first),
            _rows_at(self.table, second),
            _rows_at(self.table, changed),
        )

    def output(self, rows: Any) -> Any:
        return _called("learner", "(sample, rng)", self.learner, rows, self.rng)

    def seen(self, rows: Any) -> Any:
        output = self.output(rows)
        if self.view is not None:
            output = _called("view", "(output)", self.view, output)
        if isinstance(output, np.generic):
            output = output.item()
        if isinstance(output, float) and not math.isfinite(output):
            return "not finite"
        if not isinstance(output, Hashable):
            raise InvalidArgument(
                f"the learner gives a {type(output).__name__}, which is neither a number nor a "
                "word; give view=, which makes one of it."
            )
        return output

    def pilot(self, runs: int) -> list[Any]:
        """Pilot run, on samples that are not looked at again."""
        return [self.seen(self.samples()[0]) for _ in range(runs)]

    def counts(self, rows: Any, runs: int, into: _Outcomes) -> tuple[Counter[int], Counter[int]]:
        """The outcomes of the first half of the runs, and of the second."""
        places = [into.place(self.seen(rows)) for _ in range(runs)]
        return Counter(places[: runs // 2]), Counter(places[runs // 2 :])

    def overfit(self, score: Callable[[Any, Any], float], rows: Any) -> float:
        """How much better an output does on its own sample than on the population."""
        query = self.output(rows)
        own, all_rows = (
            require.between(
                "score", _called("score", "(output, rows)", score, query, each), 0.0, 1.0
            )
            for each in (rows, self.table)
        )
        return own - all_rows


def _called(name: str, form: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Result of somebody's function; what goes wrong in it is said in one sentence."""
    try:
        return function(*arguments)
    except HoldfastError:
        raise
    except Exception as error:
        raise InvalidArgument(
            f"the {name} failed ({type(error).__name__}: {error}); it is called as {name}{form}."
        ) from error


def _rows_at(table: Any, places: np.ndarray) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[places]
    if hasattr(table, "take") and not isinstance(table, np.ndarray):
        return table.take(places)
    if isinstance(table, list | tuple):
        return [table[place] for place in places]
    return table[places]


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """Bins of outputs: between edges if numbers came out, else by name; or the rest."""

    edges: tuple[float, ...]
    names: tuple[Any, ...]

    @property
    def many(self) -> int:
        return len(self.edges or self.names) + 1

    def place(self, output: Any) -> int:
        if self.edges and isinstance(output, int | float):
            return int(np.searchsorted(self.edges, output, side="right"))
        return self.names.index(output) if output in self.names else len(self.names)


def _outcomes(pilot: Sequence[Any], most: int) -> _Outcomes:
    distinct = Counter(pilot)
    numbers = [each for each in pilot if isinstance(each, int | float)]
    if len(distinct) > most and len(numbers) == len(pilot):
        edges = np.quantile(numbers, [step / most for step in range(1, most)])
        return _Outcomes(tuple(sorted(set(map(float, edges)))), ())
    return _Outcomes((), tuple(name for name, _ in distinct.most_common(most - 1)))


# Telling two laws apart ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Halves:
    """The outcomes on two samples, each in two halves: one chooses an event, one counts it."""

    first: tuple[Counter[int], Counter[int]]
    second: tuple[Counter[int], Counter[int]]
    outcomes: int

    def _events(self, eta: float) -> Iterator[tuple[int, int, int, int]]:
        """(times, of how many) on the one sample and on the other, in both directions."""
        for own, foreign in ((self.first, self.second), (self.second, self.first)):
            sizes = [half.total() for half in (*own, *foreign)]
            event = {
                place
                for place in own[0]
                if own[0][place] / sizes[0] > math.exp(eta) * foreign[0][place] / sizes[2]
            }
            times, of_other = (sum(half[place] for place in event) for half in (own[1], foreign[1]))
            yield times, sizes[1], of_other, sizes[3]

    def shown_gap(self, eta: float) -> float:
        """An estimate, of no more than the truth on average, of P(O) - e^eta Q(O)."""
        gaps = [a / n - math.exp(eta) * b / m for a, n, b, m in self._events(eta)]
        return max(-1.0, gaps[0]) if eta == 0.0 else max(-1.0, *gaps)

    def is_far(self, eta: float, tau: float) -> bool:
        """Whether they are not (eta, tau)-close, but for probability `_WRONG`."""
        log_p = math.log(_WRONG / 4)
        return any(
            (1 - clopper_pearson_upper(n, n - a, log_p))
            - math.exp(eta) * clopper_pearson_upper(m, b, log_p)
            > tau
            for a, n, b, m in self._events(eta)
        )

    def is_close(self, eta: float, tau: float) -> bool:
        """Whether their outcomes are (eta, tau)-close, but for probability `_WRONG`."""
        laws = [half[0] + half[1] for half in (self.first, self.second)]
        places = sorted(laws[0] | laws[1])
        p, q = ([law[place] / law.total() for place in places] for law in laws)
        runs = min(law.total() for law in laws)
        # How far a law of these outcomes may be from its frequencies (McDiarmid).
        error = 0.5 * math.sqrt(self.outcomes / runs) + math.sqrt(math.log(2 / _WRONG) / (2 * runs))
        return least_tau(p, q, eta) + (1 + math.exp(eta)) * error <= tau


def _eta(pairs: Sequence[_Halves], tau: float, nu: float, beta: float) -> Estimated:
    """The eta of all but a share nu of pairs: as it seems, at least and at most.

    Each end by a sequence of tests in a fixed order, the first that fails ending it, so that all of
    them have the confidence of one.
    """
    m, log_p = len(pairs), math.log(beta / 2)
    seeming = sorted(
        next((eta for eta in _ETAS if pair.shown_gap(eta) <= tau), math.inf) for pair in pairs
    )
    value = seeming[min(m - 1, math.ceil((1 - nu) * m) - 1)]
    low = high = None
    for eta in _ETAS:
        far = sum(pair.is_far(eta, tau) for pair in pairs)
        if 1 - clopper_pearson_upper(m, m - far, log_p) - _WRONG <= nu:
            break
        low = eta
    for eta in reversed(_ETAS):
        apart = sum(not pair.is_close(eta, tau) for pair in pairs)
        if clopper_pearson_upper(m, apart, log_p) + _WRONG > nu:
            break
        high = eta
    return Estimated(value, low, high)
