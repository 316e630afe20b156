"""The Median mechanism with a sampled space: points stay in it, and surprises end."""

from __future__ import annotations

import math
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Lesson
from holdfast.papers.median_mechanism import MOST_SAMPLED_CELLS, DistributionSpace, MedianMechanism
from holdfast.papers.theorems.median_parameters import median_samples, volume_mistakes
from holdfast.statistics.mean import Mean
from holdfast.theory.base.intervals import Interval
from tests.guessers.play import Play, adversary, cells, grounds, histogram, mean_of, terms_for
from tests.theory.coverage import too_many

CELLS, TOLERANCE, ROWS, QUESTIONS = 12, 0.15, 10**8, 60
TERMS = terms_for(ROWS, TOLERANCE, QUESTIONS)
GUESSER = MedianMechanism(cells(CELLS), weights="volume")
RNG = np.random.default_rng(12)
# Conditions on the cell: every pair and triple of neighbours, each cell, and some at random.
_EACH_ONCE = {
    tuple(float(cell in inside) for cell in range(CELLS)): None
    for inside in [
        *({c} for c in range(CELLS)),
        *({c, (c + 1) % CELLS} for c in range(CELLS)),
        *({c, (c + 1) % CELLS, (c + 2) % CELLS} for c in range(CELLS)),
        *(set(RNG.choice(CELLS, 6, replace=False).tolist()) for _ in range(24)),
    ]
}
ASKED = list(_EACH_ONCE)
QUESTION_OF = {values: mean_of(values) for values in ASKED}


def started() -> DistributionSpace:
    state = GUESSER.start(grounds(TERMS))
    assert isinstance(state, DistributionSpace)
    return state


def spread(kind: str) -> NDArray[np.int64]:
    parts = np.ones(CELLS) if kind == "even" else np.zeros(CELLS)
    if kind == "one cell":
        parts[3] = 1
    if kind == "two":
        parts[[0, 7]] = 0.3, 0.7
    counts: NDArray[np.int64] = np.rint(parts / parts.sum() * ROWS).astype(np.int64)
    return counts


def wrong(play: Play, sample: NDArray[np.int64]) -> Mean | None:
    """The question that is guessed worst, of those whose guess is surely refuted."""
    truth = np.array(ASKED) @ sample / sample.sum()
    guesses = np.array(play.guesser.guess(play.state, list(QUESTION_OF.values())))
    distances = np.abs(truth - guesses)
    worst = int(np.argmax(distances))
    return QUESTION_OF[ASKED[worst]] if distances[worst] > TOLERANCE + 1e-9 else None


@pytest.mark.parametrize("kind", ["even", "one cell", "two"])
def test_surprises_end_and_are_no_more_than_the_bound(kind: str) -> None:
    sample = spread(kind)
    bound = volume_mistakes(CELLS, TOLERANCE / 2, 0.1)
    play = Play(GUESSER, histogram(GUESSER.start(grounds(TERMS)).domain, sample), TERMS)
    found = adversary(play, lambda: wrong(play, sample), more_than=bound)
    assert found <= bound
    assert (found >= 1) == (kind != "even")
    state = play.state
    assert isinstance(state, DistributionSpace)
    values = state.points @ state.questions.T
    assert np.all(values >= state.ends[:, 0] - 1e-9)
    assert np.all(values <= state.ends[:, 1] + 1e-9)
    assert state.points.sum(axis=1) == pytest.approx(1)
    assert state.points.min() >= 0


def told(state: DistributionSpace, values: tuple[float, ...], low: float, high: float) -> Any:
    lesson = Lesson(QUESTION_OF[values].text, Interval(0, 1), low, 0.2, Interval(low, high))
    return GUESSER.learn(state, lesson)


def test_points_are_uniform_in_what_is_left() -> None:
    """Of the simplex where the first cell has at least half, by a law that is known.

    There the rest is uniform again: 2 (1 - first) is Beta(N - 1, 1).
    """
    state = told(started(), ASKED[0], 0.5 + TOLERANCE / 2, 1.0)
    first = np.asarray(state.points[:, 0])
    assert first.min() >= 0.5 - 1e-12
    levels = (2 * (1 - first)) ** (CELLS - 1)
    for beta in (0.1, 0.5):
        assert not too_many(levels < beta, beta)
        assert not too_many(levels > 1 - beta, beta)
    # The twin: points that were put there and never moved.
    stuck = np.full(len(first), first[0])
    assert too_many((2 * (1 - stuck)) ** (CELLS - 1) < levels[0] + 1e-9, 0.5)


def test_the_same_answers_make_the_same_points_and_another_secret_others() -> None:
    start = started()
    one, other = (told(start, ASKED[5], 0.4, 0.5).points for _ in range(2))
    assert np.array_equal(one, other)
    assert len(one) == median_samples(QUESTIONS, math.log(0.01), 0.1)


def test_no_point_left_begins_again_inside_and_nothing_left_guesses_nothing() -> None:
    state: Any = GUESSER.start(grounds(TERMS))
    state = told(state, ASKED[3], 0.97, 1.0)  # no point of so few is there
    assert not state.is_empty
    assert (state.points @ np.array(ASKED[3])).min() >= 0.97 - TOLERANCE / 2 - 1e-9
    empty = told(state, ASKED[4], 0.9, 1.0)
    assert empty.is_empty
    assert not GUESSER.covers(empty, QUESTION_OF[ASKED[4]])
    assert told(empty, ASKED[4], 0.0, 1.0) is empty


def test_what_tells_nothing_new_changes_nothing() -> None:
    start: Any = GUESSER.start(grounds(TERMS))
    assert told(start, ASKED[0], 0.0, 1.0) is start


def test_many_cells_are_guessed_in_time() -> None:
    many = 256
    guesser = MedianMechanism(cells(many))
    state: Any = guesser.start(grounds(TERMS))
    question = mean_of([float(cell < 40) for cell in range(many)])
    began = time.process_time()
    lesson = Lesson(question.text, Interval(0, 1), 0.5, 0.2, Interval(0.45, 0.55))
    state = guesser.learn(state, lesson)
    assert 0.37 < guesser.guess(state, [question])[0] < 0.63
    assert time.process_time() - began < 20


def test_the_points_of_a_large_domain_have_their_failure_probability() -> None:
    """Fewer of them where there are more cells, and then more beyond a half."""
    few, many = (GUESSER.samples(TERMS, size) for size in (CELLS, MOST_SAMPLED_CELLS))
    assert (few, many) == (median_samples(QUESTIONS, math.log(0.01), 0.1), 256)
    excess = GUESSER.excess(TERMS, MOST_SAMPLED_CELLS)
    assert median_samples(QUESTIONS, math.log(0.01), excess * (1 + 1e-9)) <= many
    assert median_samples(QUESTIONS, math.log(0.01), excess * 0.99) > many


@pytest.mark.parametrize("columns", [4, 8])
def test_theorem_2_as_printed_runs_where_nothing_can_be_enumerated(
    columns: int, tmp_path: Path
) -> None:
    """16 and 256 values, by name and with the printed parameters, halting on mistake m + 1."""
    rng, names = np.random.default_rng(columns), [f"b{j}" for j in range(columns)]
    table = pl.DataFrame({name: rng.random(60_000) < 0.3 for name in names})
    printed = MedianMechanism(dict.fromkeys(names), printed=True)
    for number, guesser in enumerate((printed, "median mechanism")):
        with holdfast.open(
            table,
            ledger=tmp_path / f"{number}.ledger",
            questions=40,
            mechanism="halting guess and check",
            options={"mistakes": 12},
            guesser=guesser,
            task=f"{number}",
        ) as holdout:
            asked = [f"avg({a} and {b})" for a, b in combinations(names[:3], 2)]
            answers = [holdout.ask(question) for question in [*asked, "avg(b0 or b1)"]]
            assert all(0.09 in answer.interval for answer in answers[:-1])
            assert 0.51 in answers[-1].interval
            assert holdout.budget.account.surprises <= 4


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"weights": "volumes"}, "weights"),
        ({"weights": "volume", "failure": 0.0}, "failure"),
        ({"weights": "volume", "failure": math.nan}, "failure"),
    ],
    ids=str,
)
def test_bad_options(said: Any, match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        MedianMechanism(cells(CELLS), **said)


def test_too_many_cells_and_an_open_number_of_questions_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="cells"):
        MedianMechanism(cells(MOST_SAMPLED_CELLS + 1)).start(grounds(TERMS))
    with pytest.raises(InvalidArgument, match="how many questions"):
        GUESSER.start(grounds(terms_for(ROWS, TOLERANCE, None)))
