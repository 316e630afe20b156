"""Populations: truths are exact, draws follow them, and declared concentrations hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.lab.world.linear_questions import (
    POINT_BITS,
    Arrays,
    BothPositive,
    LabQuestion,
    Linear,
    Members,
    Staircase,
    Tails,
    Vote,
    average,
    grid_moments,
)
from holdfast.lab.world.populations import (
    AutoRegressive,
    Blocks,
    HeavyTails,
    OnePoint,
    Population,
    Resampled,
    Signs,
    universe,
)
from holdfast.question.row import GRID
from tests.theory.coverage import most_failures

SIGNAL = Signs(5, 3, 0.4)
WIDE = 1 << POINT_BITS


def by_enumeration(question: LabQuestion, population: Signs) -> float:
    """The truth over all labels and agreements, weighed one by one."""
    total = 0.0
    for label, *agree in itertools.product((-1, 1), repeat=1 + population.features):
        weight = 0.5
        for feature, side in enumerate(agree):
            chance = population.agreement(feature)
            weight *= chance if side > 0 else 1 - chance
        row = Arrays({"agree": np.array([agree], dtype=np.int8).T, "label": np.array([label])})
        total += weight * average(question, row)
    return total


@pytest.mark.parametrize(
    "question",
    [
        Vote.of({0: 1}),
        Vote.of({4: -1}),
        Vote.of({0: 1, 1: 1}),  # ties
        Vote.of({0: 3, 1: -2, 2: 2, 3: 5, 4: -1}),
        Vote.of({}),
        BothPositive(1),
        BothPositive(4),
    ],
    ids=lambda question: question.text,
)
@pytest.mark.parametrize("population", [SIGNAL, Signs(5)], ids=["signal", "coins"])
def test_truth_is_what_enumeration_gives(question: LabQuestion, population: Signs) -> None:
    assert population.truth(question) == pytest.approx(by_enumeration(question, population))


def test_a_heavy_vote_is_refused_not_guessed() -> None:
    with pytest.raises(InvalidArgument, match="sum to"):
        SIGNAL.truth(Vote.of({0: 10_000_000}))


@pytest.mark.parametrize(
    ("population", "question"),
    [
        (Signs(3), Linear((0,), (1.0,))),
        (HeavyTails(3), Vote.of({0: 1})),
        (OnePoint(0.01), Vote.of({0: 1})),
    ],
)
def test_unknown_truths_are_refused(population: Population, question: LabQuestion) -> None:
    with pytest.raises(InvalidQuestion, match="does not know"):
        population.truth(question)


def test_tails_are_as_heavy_as_their_scale_allows() -> None:
    population, sigma = OnePoint(0.01), 0.01
    size = WIDE >> 40
    tails = Tails(5, size, sigma)
    table = Arrays({"point": np.array([4, 5, 5 + size // 4, 4 + size, 5 + size], dtype=object)})
    outside, least, quarter, most, beyond = tails.values(table)
    assert outside == beyond == 0.5
    assert least == 1 - most
    # A quarter of the points is further out on either side: half of a set of probability 2^-40.
    log_p = -41 * math.log(2)
    assert population.concentration(1).log_tail(0.5 - quarter) == pytest.approx(log_p)
    assert tails.below(quarter) / size == pytest.approx(1 / 4, rel=1e-6)
    assert tails.below(1 - quarter) / size == pytest.approx(3 / 4, rel=1e-6)
    assert (tails.below(0.0005), tails.below(0.5), tails.below(0.9995)) == (0, size // 2, size)
    assert population.truth(tails) == 0.5
    with pytest.raises(InvalidQuestion, match="heavier"):
        population.truth(Tails(5, size, 2 * sigma))
    with pytest.raises(InvalidArgument, match="2 points"):
        Tails(5, 1, sigma)


def test_a_staircase_that_is_too_high_is_refused() -> None:
    population, allowed = OnePoint(0.01), 0.01 * math.sqrt(2 * math.log(2))
    assert population.truth(Staircase(0, WIDE // 2, 2, allowed)) == 0.5
    with pytest.raises(InvalidQuestion, match="higher"):
        population.truth(Staircase(0, WIDE // 2, 2, 1.01 * allowed))


def test_a_table_is_its_own_population() -> None:
    rng = np.random.default_rng(1)
    table = SIGNAL.draw(40, rng)
    population, question = Resampled(table), Vote.of({0: 1, 3: 2})
    assert population.truth(question) == average(question, table)
    drawn = population.draw(500, rng)
    assert np.array_equal(drawn["agree"], table["agree"][:, drawn["row"]])
    members = np.arange(10) < 3
    assert universe(10).truth(Members(members)) == 0.3


def test_blocks_repeat_rows() -> None:
    table = Blocks(Signs(4), 5).draw(20, np.random.default_rng(1))
    assert table.n == 20
    assert all(
        np.array_equal(table["agree"][:, i], table["agree"][:, i - i % 5]) for i in range(20)
    )
    with pytest.raises(InvalidArgument, match="multiple"):
        Blocks(Signs(4), 5).draw(21, np.random.default_rng(1))


def test_autoregression_has_the_correlation_it_says() -> None:
    agree = AutoRegressive(200, 0.95).draw(2_000, np.random.default_rng(1))["agree"].astype(float)
    # The correlation of the signs of two normals with correlation rho (Sheppard).
    assert np.mean(agree[:, 1:] * agree[:, :-1]) == pytest.approx(
        2 / math.pi * math.asin(0.95), abs=0.01
    )
    assert np.mean(agree[:, 0]) == pytest.approx(0.0, abs=0.25)


def test_moments_are_exact_integers() -> None:
    table = HeavyTails(2).draw(300, np.random.default_rng(1))
    question = Linear((0, 1), (0.6, -0.8))
    units = [math.floor(value * GRID) for value in question.values(table)]
    assert grid_moments(question, table) == (sum(units), sum(unit**2 for unit in units))
    signs = SIGNAL.draw(300, np.random.default_rng(1))
    count = int(np.count_nonzero(Vote.of({0: 1}).values(signs)))
    assert grid_moments(Vote.of({0: 1}), signs) == (count * GRID, count * GRID**2)


# Declared concentrations: the deviation of a fixed question, against its radius ------------------

FIXED: list[tuple[Population, LabQuestion, int]] = [
    (Signs(3), Vote.of({0: 1}), 100),
    (Signs(3, 2, 0.3), Vote.of({0: 1, 1: 1, 2: 1}), 100),
    (Blocks(Signs(3), 10), Vote.of({0: 1}), 500),
    (AutoRegressive(1, 0.9), Vote.of({0: 1}), 500),
    (HeavyTails(2), Linear((0, 1), (0.6, 0.8)), 50),
    (universe(50), Members(np.arange(50) < 25), 100),
]


@pytest.mark.statistical
@pytest.mark.parametrize("beta", [pytest.param(0.05, marks=pytest.mark.campaign), 0.001])
@pytest.mark.parametrize(
    ("population", "question", "n"), FIXED, ids=lambda value: type(value).__name__
)
def test_the_declared_concentration_holds(
    population: Population, question: LabQuestion, n: int, beta: float
) -> None:
    rng, trials = np.random.default_rng(11), 2_000
    truth, radius = population.truth(question), population.concentration(n).radius(math.log(beta))
    errors = np.array(
        [abs(average(question, population.draw(n, rng)) - truth) for _ in range(trials)]
    )
    assert np.count_nonzero(errors > radius) <= most_failures(trials, beta)
    # Sabotage: a radius that takes the rows for more, or lighter, than they are.
    assert np.count_nonzero(errors > 0.2 * radius) > most_failures(trials, beta)
