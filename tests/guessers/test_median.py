"""The Median mechanism: its median, removal, mistake bound and fallback, against an adversary."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Lesson
from holdfast.mechanisms.terms import Terms
from holdfast.papers.median_mechanism import (
    MOST_HISTOGRAMS,
    MedianMechanism,
    VersionSpace,
    weighted_median,
)
from holdfast.papers.theorems.median_parameters import histogram_mistakes, sequence_mistakes
from holdfast.statistics.mean import Mean
from holdfast.theory.base.intervals import Interval
from tests.guessers.play import Play, adversary, cells, grounds, histogram, mean_of, terms_for

CELLS, TOLERANCE, ROWS, QUESTIONS = 3, 0.15, 10**8, 40
TERMS = terms_for(ROWS, TOLERANCE, QUESTIONS)
# Every question with values in quarters that are not all the same.
ROWS_OF_QUARTERS = [
    values
    for values in itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), repeat=CELLS)
    if min(values) == 0.0 and max(values) == 1.0
]
QUESTION_OF = {values: mean_of(values) for values in ROWS_OF_QUARTERS}
SAMPLES = [np.array(part) * (ROWS // 10) for part in ((10, 0, 0), (1, 1, 8), (0, 7, 3), (2, 0, 8))]
KINDS: Mapping[str, dict[str, Any]] = {
    "histograms": {},
    "sequences": {"weights": "sequences"},
    "coarse": {"accuracy": 0.14},
}
every_kind = pytest.mark.parametrize("kind", list(KINDS))


@dataclass(frozen=True, slots=True)
class Forgetful:
    """Sabotage: nothing is ever removed."""

    honest: MedianMechanism

    def __getattr__(self, name: str) -> object:
        return getattr(self.honest, name)

    def learn(self, state: VersionSpace, lesson: Lesson) -> VersionSpace:
        return state


def play_of(guesser: MedianMechanism | Forgetful, sample: NDArray[np.int64]) -> Play:
    domain = MedianMechanism(cells(CELLS)).start(grounds(TERMS)).domain
    return Play(guesser, histogram(domain, sample), TERMS)  # type: ignore[arg-type]


def least_telling(play: Play, sample: NDArray[np.int64]) -> Mean | None:
    """The question that teaches least of those whose guess is surely refuted."""
    if not play.state.weights.size:
        return None
    truth = np.array(ROWS_OF_QUARTERS) @ sample / sample.sum()
    guesses = np.array([play.guess(question) for question in QUESTION_OF.values()])
    distances = np.abs(truth - guesses)
    wrong = np.flatnonzero(distances > TOLERANCE + 1e-9)
    if not wrong.size:
        return None
    return QUESTION_OF[ROWS_OF_QUARTERS[wrong[np.argmin(distances[wrong])]]]


@every_kind
def test_an_adversarial_stream_surprises_no_more_often_than_the_bound(kind: str) -> None:
    guesser = MedianMechanism(cells(CELLS), **KINDS[kind])
    parameters = guesser.parameters(grounds(TERMS), CELLS)
    by_kind = sequence_mistakes if kind == "sequences" else histogram_mistakes
    bound, surprises = by_kind(parameters.points, CELLS), []
    for sample in SAMPLES:
        play = play_of(guesser, sample)
        while (question := least_telling(play, sample)) is not None and play.surprises <= bound:
            before = play.state
            assert play.put(question)
            # Each surprise removes half of the weight, and the nearest histogram stays.
            assert play.state.weights.sum() <= before.weights.sum() / 2 * (1 + 1e-12)
            nearest = np.abs(play.state.histograms / parameters.points - sample / ROWS).max(axis=1)
            assert nearest.min() <= 1 / parameters.points
        assert play.surprises <= bound
        surprises.append(play.surprises)
    assert max(surprises) >= 3, "the analyst does find wrong guesses"
    assert min(surprises) >= 2


@every_kind
def test_without_removal_the_bound_is_exceeded(kind: str) -> None:
    guesser = MedianMechanism(cells(CELLS), **KINDS[kind])
    bound = histogram_mistakes(guesser.parameters(grounds(TERMS), CELLS).points, CELLS)
    play = play_of(Forgetful(guesser), SAMPLES[0])
    assert adversary(play, lambda: least_telling(play, SAMPLES[0]), more_than=bound) > bound


def test_a_removal_that_is_too_eager_loses_the_sample() -> None:
    """Sabotage: alpha = 0 removes the small data set that the bound needs."""
    guesser = MedianMechanism(cells(CELLS))
    sample = np.array([1, 2, 4]) * (ROWS // 7)
    nearest = []
    for alpha in (None, 0.0):
        state = started(guesser, TERMS)
        if alpha is not None:
            state = VersionSpace(state.domain, state.histograms, state.weights, alpha)
        for values in ROWS_OF_QUARTERS:
            q = float(np.array(values) @ sample / sample.sum())
            learnt = guesser.learn(state, exactly(QUESTION_OF[values], q))
            assert isinstance(learnt, VersionSpace)
            state = learnt
        nearest.append(bool(state.weights.size))
    assert nearest == [True, False]


def started(guesser: MedianMechanism, terms: Terms) -> VersionSpace:
    state = guesser.start(grounds(terms))
    assert isinstance(state, VersionSpace)
    return state


def exactly(question: Mean, q: float) -> Lesson:
    return Lesson(question.text, Interval(question.low, question.high), q, 0.2, Interval(q, q))


def test_an_empty_space_guesses_nothing_and_learns_nothing() -> None:
    guesser, question = MedianMechanism(cells(CELLS)), mean_of([0.0, 0.0, 1.0])
    state = started(guesser, TERMS)
    assert guesser.covers(state, question)
    for q in (0.0, 1.0):
        learnt = guesser.learn(state, exactly(question, q))
        assert isinstance(learnt, VersionSpace)
        state = learnt
    assert not state.weights.size
    assert not guesser.covers(state, question)
    assert guesser.learn(state, exactly(question, 0.5)) is state


@given(
    pairs=st.lists(st.tuples(st.integers(0, 8), st.floats(0.01, 9)), min_size=1, max_size=20),
)
def test_no_more_than_half_of_the_weight_is_on_one_side_of_the_median(
    pairs: list[tuple[int, float]],
) -> None:
    values = np.array([value for value, _ in pairs]) / 8
    weights = np.array([weight for _, weight in pairs])
    middle = weighted_median(values, weights)
    assert middle in values
    half = weights.sum() / 2 * (1 + 1e-12)
    assert weights[values < middle].sum() <= half
    assert weights[values > middle].sum() <= half


@given(points=st.integers(1, 12), count=st.integers(2, 4))
def test_every_histogram_is_there_once_and_weighs_its_sequences(points: int, count: int) -> None:
    terms = terms_for(ROWS, 0.49, 1)
    eta = math.sqrt(math.log(2) / (2 * points)) * 1.000001  # so many points for one question
    for weights in ("histograms", "sequences"):
        guesser = MedianMechanism(cells(count), min(1.0, eta), weights)
        state = started(guesser, terms)
        size = int(state.histograms[0].sum())
        found = {tuple(row) for row in state.histograms.tolist()}
        assert all(sum(row) == size for row in found)
        assert len(found) == len(state.histograms) == math.comb(size + count - 1, count - 1)
    orders = [
        math.factorial(size) // math.prod(math.factorial(each) for each in row)
        for row in state.histograms.tolist()
    ]
    assert state.weights == pytest.approx(np.array(orders) / max(orders))


def test_the_printed_parameters_are_the_lectures() -> None:
    terms = terms_for(400, 0.45, 30)
    guesser = MedianMechanism(cells(CELLS), weights="sequences", printed=True)
    found = guesser.parameters(grounds(terms), CELLS)
    eta = (math.log(120) / 800) ** 0.25
    assert (found.eta, found.alpha) == pytest.approx((eta, eta / 4))
    assert found.points == math.ceil(8 * math.log(120) / eta**2)
    state = started(guesser, terms)
    assert state.alpha == found.alpha
    assert len(state.histograms) == math.comb(found.points + 2, 2)


def test_its_needs_are_said() -> None:
    with pytest.raises(InvalidArgument, match="how many questions"):
        MedianMechanism(cells(3)).start(grounds(terms_for(100, 0.2, None)))
    with pytest.raises(InvalidArgument, match=rf"at most {MOST_HISTOGRAMS:,} can be enumerated"):
        MedianMechanism(cells(9), weights="histograms").start(grounds(TERMS))
    with pytest.raises(InvalidArgument, match="weights is 'none'"):
        MedianMechanism(weights="none")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="leave out one of"):
        MedianMechanism(accuracy=0.1, printed=True)
