"""Laws of the two guessers: multiplicative weights and the Median mechanism, run for real."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.baselines import (
    multiplicative_weights_drop,
    multiplicative_weights_step,
    multiplicative_weights_surprises,
)
from holdfast.papers.theorems.median_parameters import (
    MedianParameters,
    histogram_mistakes,
    median_parameters,
    median_parameters_printed,
    sequence_mistakes,
)

LAWS = (
    "histogram_mistakes",
    "median_parameters",
    "median_parameters_printed",
    "multiplicative_weights_drop",
    "multiplicative_weights_step",
    "multiplicative_weights_surprises",
    "sequence_mistakes",
)

Array = NDArray[np.float64]


# --- Multiplicative weights --------------------------------------------------------------------


def _divergence(D: Array, guess: Array) -> Array:
    terms = np.where(D > 0, D * np.log(np.where(D > 0, D, 1) / guess), 0.0)
    return np.asarray(terms.sum(axis=-1))


def _updated(guess: Array, phi: Array, step: Array) -> Array:
    raised = guess * np.exp(step[..., None] * phi)
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _random_rounds(rows: int, size: int, seed: int) -> tuple[Array, Array, Array]:
    """Distributions (some sparse), guesses and questions, many kinds of each."""
    generator = np.random.default_rng(seed)
    D = generator.dirichlet(np.full(size, 0.2), rows)
    guess = generator.dirichlet(np.full(size, 2.0), rows) + 1e-9
    guess /= guess.sum(axis=1, keepdims=True)
    phi = generator.random((rows, size))
    half = rows // 2
    phi[:half] = phi[:half] < generator.random((half, 1))
    return D, guess, phi


@pytest.mark.parametrize("size", [2, 5, 64])
@pytest.mark.parametrize("known", [1.0, 0.5])
def test_each_surprise_lowers_the_divergence_by_twice_the_gap_squared(
    size: int, known: float
) -> None:
    """Also if only a part of the distance is known; the step is towards the sample."""
    D, guess, phi = _random_rounds(4000, size, seed=size)
    distance = (D * phi).sum(axis=1) - (guess * phi).sum(axis=1)
    kept = np.abs(distance) > 1e-6
    D, guess, phi, distance = D[kept], guess[kept], phi[kept], distance[kept]
    gap = known * np.abs(distance)
    step = np.sign(distance) * [multiplicative_weights_step(g) for g in gap]
    drop = _divergence(D, guess) - _divergence(D, _updated(guess, phi, step))
    promised = np.array([multiplicative_weights_drop(g) for g in gap])
    assert (drop >= promised - 1e-12).all()
    away = _divergence(D, guess) - _divergence(D, _updated(guess, phi, -step))
    assert (away < 0).all(), "sabotage: a step away from the sample raises the divergence"


def test_the_drop_is_attained_by_an_even_question_and_the_step_is_the_best() -> None:
    for gap in (0.001, 0.01, 0.05):
        D, guess = np.array([0.5 + gap, 0.5 - gap]), np.array([0.5, 0.5])
        phi = np.array([1.0, 0.0])

        def drop(step: float, D: Array = D, guess: Array = guess, phi: Array = phi) -> float:
            updated = _updated(guess, phi, np.asarray(step))
            return float(_divergence(D, guess) - _divergence(D, updated))

        step = multiplicative_weights_step(gap)
        promised = multiplicative_weights_drop(gap)
        assert promised <= drop(step) <= promised * (1 + 5 * gap)
        assert promised == pytest.approx(step * gap - step**2 / 8, rel=1e-12)
        for factor in (0.8, 1.25):
            assert step * factor * gap - (step * factor) ** 2 / 8 < promised
            assert drop(step * factor) < drop(step)


@pytest.mark.parametrize(("size", "gap_min"), [(16, 0.05), (64, 0.05), (64, 0.1), (256, 0.08)])
def test_an_adversarial_stream_surprises_no_more_often_than_promised(
    size: int, gap_min: float
) -> None:
    """Each question is the one, of many random sets, that teaches least and still surprises."""
    generator = np.random.default_rng(size)
    D = generator.dirichlet(np.full(size, 0.3))
    guess, surprises = np.full(size, 1 / size), 0
    bound = multiplicative_weights_surprises(size, gap_min)
    while surprises <= bound:
        sets = generator.random((2000, size)) < generator.random((2000, 1))
        # The set where D exceeds the guess is the most telling one: if it fails, all do.
        sets[0] = guess < D
        distances = sets @ D - sets @ guess
        telling = np.flatnonzero(np.abs(distances) >= gap_min)
        if telling.size == 0:
            break
        chosen = telling[np.argmin(np.abs(distances[telling]))]
        distance = float(distances[chosen])
        step = np.asarray(math.copysign(multiplicative_weights_step(abs(distance)), distance))
        guess = _updated(guess, sets[chosen].astype(float), step)
        surprises += 1
    assert surprises <= bound
    assert surprises <= multiplicative_weights_surprises(size, gap_min)
    start = float(_divergence(D, np.full(size, 1 / size)))
    assert surprises <= start / multiplicative_weights_drop(gap_min)
    assert surprises >= 0.3 * start / multiplicative_weights_drop(gap_min), "the stream has teeth"


@given(size=st.integers(2, 2**20), gap=st.floats(1e-3, 1))
def test_surprises_are_the_divergence_over_the_drop(size: int, gap: float) -> None:
    count = multiplicative_weights_surprises(size, gap)
    drop = multiplicative_weights_drop(gap)
    assert count * drop <= math.log(size) * (1 + 1e-12)
    assert (count + 1) * drop >= math.log(size) * (1 - 1e-12)


@pytest.mark.parametrize("gap", [0.0, -0.1, 1.5, math.nan])
def test_gaps_are_in_the_unit_interval(gap: float) -> None:
    for function in (multiplicative_weights_drop, multiplicative_weights_step):
        with pytest.raises(InvalidArgument, match="gap"):
            function(gap)


# --- The Median mechanism ----------------------------------------------------------------------

N = 3
# Questions on a domain of three values: every row of quarters.
QUESTIONS = np.array(list(itertools.product(np.linspace(0, 1, 5), repeat=N)))


def _histograms(points: int) -> NDArray[np.int64]:
    return np.array(
        [(i, j, points - i - j) for i in range(points + 1) for j in range(points + 1 - i)]
    )


def _log2_orders(histograms: NDArray[np.int64]) -> Array:
    """How many sequences have this histogram, as a logarithm to base 2."""
    points = int(histograms[0].sum())
    factorial = np.array([math.lgamma(c + 1) for c in range(points + 1)])
    return np.asarray((factorial[points] - factorial[histograms].sum(axis=1)) / math.log(2))


def _weighted_medians(values: Array, weights: Array) -> Array:
    """For each column, a value with at most half of the weight strictly to each side."""
    order = np.argsort(values, axis=0)
    reached = np.cumsum(weights[order], axis=0) >= 0.5 * weights.sum()
    rows = order[np.argmax(reached, axis=0), np.arange(values.shape[1])]
    return np.asarray(values[rows, np.arange(values.shape[1])])


def _play(
    parameters: MedianParameters, sample: Array, sequences: bool, rounding: float
) -> tuple[int, bool, bool]:
    """(mistakes, whether each halved the space, whether the small data set nearest to the sample
    stayed).

    The analyst asks, at most K times, the question that teaches least of those whose guess is
    wrong; corrections are off by `rounding` times rho, towards the guess if it is positive.
    """
    histograms = _histograms(parameters.points)
    weights = np.exp2(_log2_orders(histograms)) if sequences else np.ones(len(histograms))
    values = histograms @ QUESTIONS.T / parameters.points
    truth = QUESTIONS @ sample
    nearest = values[np.argmin(np.abs(values - truth).max(axis=1))]
    mistakes, halved, stayed = 0, True, True
    for _ in range(K):
        if not weights.size:
            break
        errors = _weighted_medians(values, weights) - truth
        wrong = np.flatnonzero(np.abs(errors) > parameters.eta + 1e-9)
        if not wrong.size:
            break
        asked = wrong[np.argmin(np.abs(errors[wrong]))]
        answer = truth[asked] + rounding * math.copysign(parameters.rho, errors[asked])
        kept = np.abs(values[:, asked] - answer) <= parameters.theta + 1e-10
        mistakes += 1
        halved &= bool(weights[kept].sum() <= 0.5 * weights.sum() * (1 + 1e-12))
        stayed &= bool(abs(nearest[asked] - answer) <= parameters.theta + 1e-10)
        values, weights = values[kept], weights[kept]
    return mistakes, halved, stayed


SAMPLES = [np.array((i, j, 19 - i - j)) / 19 for i in range(0, 20, 5) for j in range(0, 20 - i, 4)]
SETTINGS = [(0.2, 0.0), (0.25, 0.03)]
ROUNDS = list(itertools.product(SAMPLES, (-1.0, 1.0)))
K = 30


@pytest.mark.parametrize(("eta", "rho"), SETTINGS)
@pytest.mark.parametrize("sequences", [False, True], ids=["histograms", "sequences"])
def test_mistakes_halve_the_version_space_and_the_nearest_data_set_stays(
    eta: float, rho: float, sequences: bool
) -> None:
    parameters = median_parameters(K, N, eta, rho)
    bound = (sequence_mistakes if sequences else histogram_mistakes)(parameters.points, N)
    most = 0
    for sample, rounding in ROUNDS:
        mistakes, halved, stayed = _play(parameters, sample, sequences, rounding)
        assert halved
        assert stayed
        assert mistakes <= bound
        most = max(most, mistakes)
    assert most >= 3, "the analyst does find wrong guesses"


@pytest.mark.parametrize(("eta", "rho"), SETTINGS)
def test_a_threshold_outside_its_range_breaks_one_half_of_the_proof(eta: float, rho: float) -> None:
    """Sabotage: a removal that is too mild does not halve, one that is too eager loses the best."""
    parameters = median_parameters(K, N, eta, rho)
    mild = replace(parameters, theta=1.2 * (eta + rho))
    eager = replace(parameters, theta=0.01 * eta)
    assert not all(_play(mild, sample, False, rounding)[1] for sample, rounding in ROUNDS)
    assert not all(_play(eager, sample, False, rounding)[2] for sample, rounding in ROUNDS)


@given(
    k=st.integers(1, 10**6),
    size=st.integers(2, 1000),
    eta=st.floats(0.01, 1),
    share=st.floats(0, 0.49),
)
def test_repaired_parameters_satisfy_the_condition_exactly(
    k: int, size: int, eta: float, share: float
) -> None:
    p = median_parameters(k, size, eta, share * eta)
    alpha, rho, theta = Fraction(p.alpha), Fraction(p.rho), Fraction(p.theta)
    assert alpha + rho <= theta <= Fraction(p.eta) - rho
    # A random small data set is close on all k questions with positive probability.
    assert math.log(2 * k) - 2 * p.points * p.alpha**2 < 0
    assert math.log(2 * k) - 2 * (p.points - 1) * p.alpha**2 >= -1e-9
    assert p.mistakes == histogram_mistakes(p.points, size)


@given(n=st.integers(1, 10**9), k=st.integers(1, 10**6), size=st.integers(2, 1000))
def test_printed_parameters_are_sound_and_wasteful(n: int, k: int, size: int) -> None:
    p = median_parameters_printed(n, k, size)
    assert p.alpha + p.rho <= p.theta <= p.eta - p.rho
    assert p.eta**4 == pytest.approx(math.log(4 * k) / (2 * n))
    assert p.points == pytest.approx(8 * math.sqrt(2 * n * math.log(4 * k)), abs=1.01)
    assert p.mistakes == sequence_mistakes(p.points, size)
    repaired = median_parameters(k, size, p.eta, p.eta / 8)
    assert 9 * (repaired.points - 1) <= p.points
    assert repaired.mistakes <= p.mistakes


@given(points=st.integers(1, 300), size=st.integers(1, 60))
def test_mistake_bounds_are_whole_bits_of_the_space(points: int, size: int) -> None:
    assert sequence_mistakes(points, size) == (size**points).bit_length() - 1
    histograms = math.comb(points + size - 1, size - 1)
    assert histogram_mistakes(points, size) == histograms.bit_length() - 1
    assert histogram_mistakes(points, size) <= sequence_mistakes(points, size)


@pytest.mark.parametrize("rho", [0.05, 0.1, -0.01])
def test_rounding_must_leave_room(rho: float) -> None:
    with pytest.raises(InvalidArgument, match="rho"):
        median_parameters(10, 3, 0.1, rho)
