"""The mean of a group from its share and its residual: every population is inside."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from holdfast.theory.base.propagation import conditional_mean_interval

LAWS = ("conditional_mean_interval",)
small = st.floats(0, 0.2)


@given(
    theta=st.floats(-3, 3),
    p=st.floats(0.01, 1),
    pivot=st.floats(-3, 3),
    below=small,
    above=small,
    less=small,
    more=small,
)
def test_the_truth_is_inside_whenever_both_intervals_are_true(
    theta: float, p: float, pivot: float, below: float, above: float, less: float, more: float
) -> None:
    r = (theta - pivot) * p
    found = conditional_mean_interval(
        pivot, r - below, r + above, max(0.0, p - less), min(1.0, p + more)
    )
    slack = 1e-12 * (1 + abs(theta)) / p
    assert found.low <= theta + slack
    assert theta - slack <= found.high


@given(theta=st.floats(-3, 3), p=st.floats(0.05, 1), pivot=st.floats(-3, 3))
def test_exact_answers_give_the_exact_mean(theta: float, p: float, pivot: float) -> None:
    r = (theta - pivot) * p
    found = conditional_mean_interval(pivot, r, r, p, p)
    assert math.isclose(found.low, theta, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(found.high, theta, rel_tol=1e-9, abs_tol=1e-9)


def test_a_group_that_may_be_empty_has_no_ends() -> None:
    found = conditional_mean_interval(0.5, -0.01, 0.01, 0.0, 0.1)
    assert found == (-math.inf, math.inf)
