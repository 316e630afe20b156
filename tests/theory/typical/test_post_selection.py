"""A statistic chosen after all answers: exact worlds in which somebody decodes the sample."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtr

from holdfast.theory.typical.generalisation import (
    post_selected_gaussian_log_level,
    post_selected_log_level,
)

# The sample is k fair bits. An answer tells each, with noise; whoever reads them claims that the
# sample is not what they say. Of a sample fixed before, that fails with probability 2^-k.
WORLDS = [(1, 0.5), (4, 1.0), (8, 2.0), (12, 3.0)]


def told_right(truth: float) -> float:
    """How often a bit comes out right, if that is e^truth times as likely as that it does not."""
    return 1 / (1 + math.exp(-truth))


def eta_of(truth: float) -> float:
    """The log-ratio of such an answer to a fair coin."""
    return -math.log(2 * (1 - told_right(truth)))


def failing(level: Callable[[float], float], p: float) -> float:
    """The least failure probability whose level is as high as p."""
    low, high = -60.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if level(middle) >= math.log(p) else (middle, high)
    return math.exp(high)


@pytest.mark.parametrize(("k", "truth"), WORLDS)
def test_bits_that_are_told_with_lies_are_decoded_no_more_often(k: int, truth: float) -> None:
    def level(log_beta: float, eta: float = eta_of(truth)) -> float:
        return post_selected_log_level(log_beta, k, eta, -math.inf, -math.inf)

    decoded = told_right(truth) ** k
    assert decoded <= failing(level, 2.0**-k)
    assert decoded > failing(lambda b: level(b, eta_of(truth) / 4), 2.0**-k), "the twin"


@pytest.mark.parametrize(("k", "mu"), [(1, 1.0), (4, 2.0), (9, 1.5), (16, 2.0)])
def test_bits_that_are_told_with_gaussian_noise(k: int, mu: float) -> None:
    def level(log_beta: float, mu: float = mu) -> float:
        return post_selected_gaussian_log_level(log_beta, k, mu, -math.inf)

    decoded = float(ndtr(mu)) ** k
    assert decoded <= failing(level, 2.0**-k)
    assert decoded > failing(lambda b: level(b, mu / 4), 2.0**-k), "the twin"


@given(st.integers(1, 40), st.floats(0.001, 1.0), st.floats(-20, -0.01))
def test_no_worse_than_all_steps_at_their_most(k: int, eta: float, log_beta: float) -> None:
    found = post_selected_log_level(log_beta, k, eta, -math.inf, -math.inf)
    assert log_beta - k * eta - 1e-9 <= found <= log_beta
    assert post_selected_log_level(log_beta, k, 0.0, -math.inf, -math.inf) <= log_beta


def test_nothing_is_left_where_answers_may_fail_themselves() -> None:
    assert post_selected_log_level(math.log(0.01), 100, 0.5, -math.inf, math.log(1e-6)) == -math.inf
    assert post_selected_gaussian_log_level(math.log(0.01), 9, 1.0, math.log(0.01)) == -math.inf
    assert post_selected_log_level(math.log(0.01), 9, 0.1, math.log(0.01), -math.inf) == -math.inf
