"""The discrete Laplace law, drawn exactly: every cell by chi-square, and wrong laws are found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from holdfast.mechanisms.noise import (
    LAPLACE,
    WORD,
    Noise,
    below,
    discrete_laplace,
    happens_with_exp,
)
from tests.theory.coverage import counts_refute

DRAWS = 6_000
SECRET = bytes(range(32))


def words(seed: int) -> Iterator[int]:
    rng = np.random.default_rng(seed)
    while True:
        yield from rng.integers(0, WORD - 1, 4096, dtype=np.uint64, endpoint=True).tolist()


def refuted(values: list[int], law: Callable[[int], float], reach: int) -> bool:
    """Whether a chi-square test at level 1e-9 refutes the law; beyond the reach two cells."""
    z = range(-reach, reach + 1)
    inner = [law(each) for each in z]
    outer = (1 - math.fsum(inner)) / 2
    expected = np.array([outer, *inner, outer]) * len(values)
    places = np.clip(np.array(values), -reach - 1, reach + 1) + reach + 1
    counts = np.bincount(places, minlength=2 * reach + 3)
    assert expected.min() > 10
    return counts_refute(counts, expected)


def laplace_law(scale: float) -> Callable[[int], float]:
    return lambda z: math.tanh(1 / (2 * scale)) * math.exp(-abs(z) / scale)


@pytest.mark.statistical
@pytest.mark.parametrize(("scale", "reach"), [(1, 4), (3, 9), (7, 15)])
def test_it_is_the_discrete_laplace_law(scale: int, reach: int) -> None:
    values = [LAPLACE.draw(Noise(SECRET, str(j)), scale) for j in range(DRAWS)]
    assert not refuted(values, laplace_law(scale), reach)
    # Wrong laws are found: a scale a fifth too large, and the rounded continuous Laplace law.
    assert refuted(values, laplace_law(1.2 * scale), reach)
    if scale == 1:
        middle = -math.expm1(-1 / 2)
        side = math.sinh(1 / 2)
        assert refuted(values, lambda z: middle if z == 0 else side * math.exp(-abs(z)), reach)


@pytest.mark.statistical
def test_a_zero_with_two_signs_is_found() -> None:
    stream = words(5)

    def careless() -> int:  # without the rejection of -0: zero is twice as likely
        value = discrete_laplace(stream, 3)
        return 0 if abs(value) == 1 and below(stream, 3) == 0 else value

    assert refuted([careless() for _ in range(DRAWS)], laplace_law(3), 9)


@pytest.mark.statistical
def test_large_scales_have_the_law_in_every_part() -> None:
    scale, stream = 2**75, words(6)
    parts = [math.floor(4 * discrete_laplace(stream, scale) / scale) for _ in range(DRAWS)]

    def law(part: int) -> float:
        near, far = sorted((abs(part) / 4, abs(part + 1) / 4))
        return (math.exp(-near) - math.exp(-far)) / 2

    counts = np.bincount(np.clip(np.array(parts), -8, 7) + 8, minlength=16)
    tail = math.exp(-2) / 2
    expected = np.array([tail + law(-8), *(law(part) for part in range(-7, 7)), tail + law(7)])
    assert not counts_refute(counts, DRAWS * expected)
    # A twin that is off by a quarter of the scale.
    assert counts_refute(counts, DRAWS * np.roll(expected, 1))


@pytest.mark.statistical
@pytest.mark.parametrize(("numerator", "denominator"), [(0, 5), (1, 7), (2, 3), (1, 1)])
def test_an_event_of_probability_exp(numerator: int, denominator: int) -> None:
    stream, p = words(7), math.exp(-numerator / denominator)
    hits = sum(happens_with_exp(stream, numerator, denominator) for _ in range(DRAWS))
    low, high = binom.ppf(5e-10, DRAWS, p), binom.isf(5e-10, DRAWS, p)
    assert low <= hits <= high
    if numerator:
        assert not binom.ppf(5e-10, DRAWS, p + 0.1) <= hits <= binom.isf(5e-10, DRAWS, p + 0.1)


@given(span=st.integers(1, 10**40), seed=st.integers(0, 1000))
def test_below_is_below(span: int, seed: int) -> None:
    assert 0 <= below(words(seed), span) < span


def test_numbers_beyond_the_last_multiple_are_drawn_again() -> None:
    # Two words for a span of 3: 2^128 is 1 more than a multiple of 3, so only 2^128 - 1 is refused.
    top = WORD - 1
    assert below(iter([top, top, 0, 5]), 3) == 2
    assert below(iter([top, top - 1]), 3) == (top * WORD + top - 1) % 3


def test_the_stream_is_the_one_that_was_recorded() -> None:
    # A crashed entry is finished by another version with the same noise: these never change; they
    # were drawn by this code when it was first used, and say nothing about the law.
    assert [LAPLACE.draw(Noise(SECRET, str(j)), 2**20) for j in (1, 2, 3)] == RECORDED


RECORDED = [-703_794, 836_080, -1_018_697]
