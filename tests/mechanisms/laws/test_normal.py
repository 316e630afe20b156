"""The exact normal: digits are drawn until they decide, and the law is the rounded normal one."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

from holdfast.mechanisms.noise import (
    WORD,
    Noise,
    rounded_normal as drawn,
)
from tests.seam import NormalUniform, normal_below, normal_decays, normal_half, normal_rate_of
from tests.theory.coverage import counts_refute

DRAWS = 20_000
MAX = WORD - 1


@pytest.fixture(autouse=True)
def _decided() -> Iterator[None]:
    """A draw that never decides fails: after ten seconds of the processor."""

    def undecided(*_: object) -> None:
        pytest.fail("a draw was not decided")

    before = signal.signal(signal.SIGVTALRM, undecided)
    signal.setitimer(signal.ITIMER_VIRTUAL, 10.0)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    signal.signal(signal.SIGVTALRM, before)


def test_a_deviation_beyond_the_first_digits_draws_more() -> None:
    """Two words decide k = 0 and accept x; one word of x leaves 2^16 whole numbers to choose."""
    stream = words(11)
    assert {drawn(stream, 2**80) % 2**16 for _ in range(40)} != {0}


def words(seed: int) -> Iterator[int]:
    rng = np.random.default_rng(seed)
    while True:
        yield from rng.integers(0, MAX, 4096, dtype=np.uint64, endpoint=True).tolist()


def refuted(counts: list[int], probabilities: list[float]) -> bool:
    """Whether a chi-square test at level 1e-9 refutes that the counts have these probabilities."""
    expected = sum(counts) * np.array(probabilities)
    assert expected.min() > 20
    return counts_refute(counts, expected)


def cell_counts(values: list[int], edges: list[float]) -> list[int]:
    return [int(count) for count in np.bincount(np.searchsorted(edges, values))]


def cell_probabilities(deviation: float, edges: list[float]) -> list[float]:
    ends = norm.cdf(np.array([-math.inf, *edges, math.inf]) / deviation)
    return [float(each) for each in np.diff(ends)]


@pytest.mark.statistical
@pytest.mark.parametrize("deviation", [1, 3, 1_000, 10**15])
def test_it_is_the_rounded_normal_law(deviation: int) -> None:
    stream = words(deviation)
    values = [drawn(stream, deviation) for _ in range(DRAWS)]
    # Between half numbers, so that no cell cuts a rounded value in two.
    edges = [math.floor(deviation * z) + 0.5 for z in np.linspace(-2.4, 2.4, 17)]
    edges = sorted(set(edges))
    counts = cell_counts(values, edges)
    assert not refuted(counts, cell_probabilities(deviation, edges))
    # A wrong law is found: noise a tenth too large.
    assert refuted(counts, cell_probabilities(1.1 * deviation, edges))


@pytest.mark.statistical
def test_the_discrete_gaussian_is_another_law() -> None:
    """Deviation 1: the theorem is about rounded normal noise, and the test can tell them apart."""
    stream, edges = words(7), [-1.5, -0.5, 0.5, 1.5]
    counts = cell_counts([drawn(stream, 1) for _ in range(3 * DRAWS // 2)], edges)
    weights = np.exp(-(np.arange(-8, 9) ** 2) / 2)
    weights /= weights.sum()
    discrete = [weights[:7].sum(), weights[7], weights[8], weights[9], weights[10:].sum()]
    assert not refuted(counts, cell_probabilities(1, edges))
    assert refuted(counts, discrete)


@pytest.mark.statistical
@pytest.mark.parametrize("k", [0, 1, 4])
def test_an_event_of_probability_e_to_the_minus_rate(k: int) -> None:
    stream, x = words(k), 0.7
    happened = 0
    for _ in range(DRAWS):
        number = NormalUniform(stream, math.floor(x * 2**64), 64)
        happened += normal_decays(stream, normal_rate_of(k, number), number)
    p = math.exp(-x * (2 * k + x) / (2 * k + 2))
    assert not refuted([happened, DRAWS - happened], [p, 1 - p])
    assert refuted([happened, DRAWS - happened], [0.95 * p, 1 - 0.95 * p])


def test_digits_are_drawn_until_they_decide() -> None:
    # Below 1/2: one word decides at the very edge on both sides.
    assert normal_below(iter([WORD // 2 - 1]), normal_half, 1, None)
    assert not normal_below(iter([WORD // 2]), normal_half, 1, None)
    # 1/6 is inside the cell of floor(2^64/6): the next word tells; 2^64/6 has the fraction 2/3.
    edge = WORD // 6
    for second, expected in ((0, True), (MAX // 3, True), (MAX, False)):
        stream = iter([edge, second])
        assert normal_below(stream, normal_half, 3, None) is expected
        assert next(stream, None) is None


@given(k=st.integers(0, 5), digits=st.integers(0, 2**64 - 1))
def test_the_rate_is_bracketed_and_below_one(k: int, digits: int) -> None:
    x = NormalUniform(iter([]), digits, 64)
    low, high, whole = normal_rate_of(k, x)()
    exact = (digits / 2**64) * (2 * k + digits / 2**64) / (2 * k + 2)
    assert low / whole <= exact + 1e-12
    assert exact - 1e-12 <= high / whole
    assert 0 <= low < high <= whole


def test_a_deviation_beyond_one_word_gets_all_its_digits() -> None:
    stream = words(3)
    last = [drawn(stream, 2**130) % 256 for _ in range(DRAWS // 4)]
    assert not refuted(np.bincount(np.array(last) // 16, minlength=16).tolist(), [1 / 16] * 16)


def test_it_is_a_function_of_its_stream() -> None:
    stream = list(islice(words(5), 4_000))
    assert [drawn(iter(stream), 10**6)] == [drawn(iter(stream), 10**6)]
    # A crashed entry is finished by another version with the same noise: these never change.
    recorded = [drawn(Noise(bytes(range(32)), str(j)).uniforms(0, MAX), 10**6) for j in (1, 2, 3)]
    assert recorded == [-26_177, 1_901_881, 831_620]
