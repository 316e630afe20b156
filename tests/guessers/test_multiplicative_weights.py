"""Multiplicative weights: laws of one update, and the mistake bound against an adversary."""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import holdfast
from holdfast.errors import InvalidArgument, Refused
from holdfast.guessers.guesser import Lesson
from holdfast.papers.multiplicative_weights import CellWeights, MultiplicativeWeights
from holdfast.papers.theorems.baselines import (
    multiplicative_weights_drop,
    multiplicative_weights_surprises,
)
from holdfast.statistics.mean import Mean
from holdfast.theory.base.intervals import Interval
from tests.guessers.play import (
    Array,
    Play,
    adversary,
    cells,
    grounds,
    histogram,
    mean_of,
    terms_for,
)

CELLS = 6
UPDATES = ["projection", "step"]
every_update = pytest.mark.parametrize("update", UPDATES)
TERMS = terms_for(1_000, 0.2)


def told(question: Mean, low: float, high: float) -> Lesson:
    return Lesson(
        question.text,
        Interval(question.low, question.high),
        (low + high) / 2,
        0.2,
        Interval(low, high),
    )


fractions = st.integers(0, 20).map(lambda k: k / 20)
rows = st.lists(fractions, min_size=CELLS, max_size=CELLS).filter(lambda row: len(set(row)) > 1)
known = st.tuples(fractions, fractions).map(sorted)


@every_update
@given(lessons=st.lists(st.tuples(rows, known), min_size=1, max_size=6), asked=rows)
def test_mass_is_conserved_and_guesses_are_in_the_range(
    update: str, lessons: list[tuple[list[float], list[float]]], asked: list[float]
) -> None:
    guesser = MultiplicativeWeights(cells(CELLS), update=update)  # type: ignore[arg-type]
    state = guesser.start(grounds(TERMS))
    for values, (low, high) in lessons:
        state = guesser.learn(state, told(mean_of(values), low, high))
        assert float(state.weights.sum()) == pytest.approx(1.0, abs=1e-12)
        assert (state.weights >= 0).all()
        assert np.isfinite(state.logs).all()
        (guess,) = guesser.guess(state, [mean_of(asked)])
        assert 0.0 <= guess <= 1.0


@every_update
@given(before=st.lists(st.tuples(rows, known), max_size=4), values=rows, interval=known)
def test_an_answer_moves_the_guess_towards_it_and_never_past_its_near_end(
    update: str,
    before: list[tuple[list[float], list[float]]],
    values: list[float],
    interval: list[float],
) -> None:
    guesser = MultiplicativeWeights(cells(CELLS), update=update)  # type: ignore[arg-type]
    state = guesser.start(grounds(TERMS))
    for row, (low, high) in before:
        state = guesser.learn(state, told(mean_of(row), low, high))
    question, (low, high) = mean_of(values), interval
    (guess,) = guesser.guess(state, [question])
    target = min(high, max(low, guess))
    (after,) = guesser.guess(guesser.learn(state, told(question, low, high)), [question])
    if abs(target - guess) < 1e-9:
        assert after == pytest.approx(guess, abs=1e-9)
    elif min(state.weights) > 1e-6:
        assert abs(after - target) < abs(guess - target)
        assert (after - target) * (guess - target) >= -1e-9
        if update == "projection" and 0.01 < target < 0.99:
            assert after == pytest.approx(target, abs=1e-6)


def divergence(truth: Array, state: CellWeights) -> float:
    inside = truth > 0
    return float((truth[inside] * (np.log(truth[inside]) - state.logs[inside])).sum())


@every_update
@given(
    values=rows, truth=st.lists(st.integers(0, 9), min_size=CELLS, max_size=CELLS), data=st.data()
)
def test_each_answer_lowers_the_divergence_by_twice_the_gap_squared(
    update: str, values: list[float], truth: list[int], data: st.DataObject
) -> None:
    """For every sample that the answer allows; from a start that is not uniform."""
    if not sum(truth):
        return
    sample = np.array(truth) / sum(truth)
    guesser = MultiplicativeWeights(cells(CELLS), update=update)  # type: ignore[arg-type]
    state = guesser.start(grounds(TERMS))
    state = guesser.learn(state, told(mean_of(data.draw(rows)), 0.4, 0.6))
    question = mean_of(values)
    face = state.domain.face(question.row)
    q = float(sample @ np.broadcast_to(face.values, face.shape).ravel())
    low, high = max(0.0, q - data.draw(fractions)), min(1.0, q + data.draw(fractions))
    (guess,) = guesser.guess(state, [question])
    gap = max(low - guess, guess - high)
    after = guesser.learn(state, told(question, low, high))
    if gap > 1e-9:
        drop = divergence(sample, state) - divergence(sample, after)
        assert drop >= multiplicative_weights_drop(gap) - 1e-9
    else:
        assert np.allclose(after.weights, state.weights)


# The mistake bound -----------------------------------------------------------------------------

SIZE, TOLERANCE, ROWS = 64, 0.18, 10**9


@dataclass(frozen=True, slots=True)
class Sabotaged:
    """The same guesser with its updates scaled: forgetful at 0, perverse below."""

    honest: MultiplicativeWeights
    scale: float

    def __getattr__(self, name: str) -> object:
        return getattr(self.honest, name)

    def learn(self, state: CellWeights, lesson: Lesson) -> CellWeights:
        after = self.honest.learn(state, lesson)
        logs = state.logs + self.scale * (after.logs - state.logs)
        weights = np.exp(logs - logs.max())
        return CellWeights(state.domain, logs, weights / weights.sum())


def counts(seed: int) -> NDArray[np.int64]:
    """A sample far from uniform."""
    drawn = np.random.default_rng(seed).dirichlet(np.full(SIZE, 0.15))
    return np.floor(drawn * ROWS).astype(np.int64)


def least_telling(play: Play, sample: Array, rng: np.random.Generator) -> Mean | None:
    """The set of cells, of many, that teaches least of those that surely surprise."""
    guess = play.state.weights
    sets = rng.random((400, SIZE)) < rng.random((400, 1))
    sets[0] = guess < sample  # the most telling one: if it does not surprise, nothing does
    distances = np.abs(sets @ (sample - guess))
    surprising = np.flatnonzero(distances > play.terms.half_width)
    if not surprising.size:
        return None
    chosen = surprising[np.argmin(distances[surprising])]
    return mean_of([float(inside) for inside in sets[chosen]])


def run(guesser: object, seed: int) -> tuple[Play, Array, int]:
    sample = counts(seed)
    n = int(sample.sum())
    honest = MultiplicativeWeights(cells(SIZE))
    domain = honest.start(grounds(terms_for(n, TOLERANCE))).domain
    play = Play(guesser, histogram(domain, sample), terms_for(n, TOLERANCE))  # type: ignore[arg-type]
    rng = np.random.default_rng([seed, 1])
    # The radius at the end of the run is the largest: with it the bound is the weakest.
    bound = multiplicative_weights_surprises(SIZE, TOLERANCE - 0.001)
    adversary(play, lambda: least_telling(play, sample / n, rng), more_than=bound)
    return play, sample / n, bound


@every_update
@pytest.mark.parametrize("seed", [1, 2])
def test_an_adversarial_stream_surprises_no_more_often_than_the_bound(
    update: str, seed: int
) -> None:
    play, sample, bound = run(MultiplicativeWeights(cells(SIZE), update=update), seed)  # type: ignore[arg-type]
    assert min(play.gaps) >= TOLERANCE - 0.001
    assert play.surprises <= bound
    start = math.log(SIZE) + float((sample[sample > 0] * np.log(sample[sample > 0])).sum())
    spent = sum(multiplicative_weights_drop(gap) for gap in play.gaps)
    assert spent <= start
    assert spent + divergence(sample, play.state) <= start + 1e-9
    if update == "step":
        assert spent >= 0.3 * start, "the stream has teeth"
    assert play.surprises >= 8


@pytest.mark.parametrize("scale", [0.02, -0.2])
def test_a_sabotaged_update_exceeds_the_bound(scale: float) -> None:
    play, _, bound = run(Sabotaged(MultiplicativeWeights(cells(SIZE)), scale), seed=1)
    assert play.surprises > bound


def test_learning_folds_questions_outside_the_domain_to_nothing() -> None:
    guesser = MultiplicativeWeights(cells(CELLS))
    state = guesser.start(grounds(TERMS))
    for text in ("avg(other)", "nonsense(", "auc(cell, cell)"):
        strange = Lesson(text, Interval(0, 1), 0.9, 0.2, Interval(0.9, 1.0))
        assert guesser.learn(state, strange) is state


def test_its_declarations_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="update is 'never'"):
        MultiplicativeWeights(update="never")  # type: ignore[arg-type]


# What it is for --------------------------------------------------------------------------------


def test_many_questions_about_few_columns_are_answered_where_asking_runs_dry(
    tmp_path: Path,
) -> None:
    rows, rng = 20_000, np.random.default_rng(4)
    common = rng.random(rows)
    data = pl.DataFrame(
        {f"b{j}": rng.random(rows) < 0.15 + 0.1 * j + 0.2 * (common - 0.5) for j in range(8)}
    )
    questions = [
        f"avg({' and '.join(f'b{j}' for j in chosen)})"
        for size in range(1, 5)
        for chosen in itertools.combinations(range(8), size)
    ]
    answered, surprises = {}, {}
    for name in ("analyst", "multiplicative weights"):
        ledger = tmp_path / f"{name}.ledger"
        with holdfast.open(
            data,
            ledger=ledger,
            questions=len(questions),
            tolerance=0.05,
            guesser=name,
            described="off",
        ) as holdout:
            with contextlib.suppress(Refused):
                for question in questions:
                    holdout.ask(question)
            answered[name] = len(holdout.ledger)
            surprises[name] = holdout.budget.account.surprises
    assert answered["analyst"] < 150
    assert answered["multiplicative weights"] == len(questions) == 162
    assert surprises["multiplicative weights"] <= 30
