"""Computed columns that are known by their content say for nothing which values occur."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.studies import twin_models
from holdfast.lab.attacks.analysts import TwinModels
from holdfast.lab.world.holders import ByContent, Plain
from holdfast.lab.world.linear_questions import Members, average
from holdfast.lab.world.populations import terms_on, universe

ROWS, TWINS = 1_000, 300


@pytest.mark.statistical
def test_twin_models_break_a_holdout_that_compares_contents_and_no_other() -> None:
    broken, honest = twin_models(ROWS, TWINS, 0.08, run=Run(trials=8)).rows
    assert (broken.promises, broken.verdict.word) == (False, "BROKEN")
    assert (honest.promises, honest.verdict.word) == (True, "holds")
    assert honest.answered == TWINS + 2


def test_what_is_said_to_be_the_same_is_exactly_what_does_not_occur() -> None:
    population = universe(4 * TWINS)
    sample = population.draw(ROWS, np.random.default_rng(1))
    terms = terms_on(population, ROWS, 0.08, TWINS + 2)
    for holder, told in ((ByContent(Plain()), True), (Plain(), False)):
        session = holder.open(terms, sample, None, 1)
        analyst = TwinModels(4 * TWINS, TWINS)
        game = analyst.play(None, np.random.default_rng(2))  # type: ignore[arg-type]
        move = next(game)
        while not move.final:
            move = game.send(session.ask(move.question, move.guess))
        assert isinstance(move.question, Members)
        occurring = np.isin(np.arange(TWINS), sample["row"])
        expected = occurring if told else np.ones(TWINS, dtype=bool)
        assert np.array_equal(move.question.members[:TWINS], expected)
        assert not move.question.members[TWINS:].any()
        assert (average(move.question, sample) > population.truth(move.question) + 0.05) == told


def test_a_repeat_is_of_the_same_guess() -> None:
    population = universe(10)
    session = ByContent(Plain()).open(
        terms_on(population, 50, 0.3, 5), population.draw(50, np.random.default_rng(1)), None, 1
    )
    nothing = Members(np.zeros(10, dtype=bool))
    assert [session.ask(nothing, guess).status for guess in (0.0, 0.1, 0.0)] == [
        "answered",
        "answered",
        "repeated",
    ]


def test_sizes_must_be_sizes() -> None:
    with pytest.raises(InvalidArgument, match="twins"):
        twin_models(twins=0)
