"""Distances of laws by all events, one by one."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.laws import least_tau, multiplicative_distance, total_variation

LAWS = ("total_variation", "multiplicative_distance")

WEIGHTS = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)


def law(weights: list[int]) -> list[float]:
    return [weight / sum(weights) for weight in weights]


@given(first=WEIGHTS, second=WEIGHTS, eta=st.floats(0, 3))
def test_no_event_shows_more_and_one_shows_as_much(
    first: list[int], second: list[int], eta: float
) -> None:
    p, q = law(first), law(second)
    events = [set(each) for size in range(5) for each in combinations(range(4), size)]
    shown = max(
        sum(a[i] for i in event) - math.exp(eta) * sum(b[i] for i in event)
        for event in events
        for a, b in ((p, q), (q, p))
    )
    assert least_tau(p, q, eta) == pytest.approx(max(0.0, shown), abs=1e-12)
    assert total_variation(p, q) == total_variation(q, p) == least_tau(p, q, 0.0)
    far = multiplicative_distance(p, q)
    if math.isfinite(far):
        assert least_tau(p, q, far) <= 1e-15
        assert far == 0.0 or least_tau(p, q, 0.99 * far) > 0.0
    else:
        assert least_tau(p, q, 50.0) > 0.0


@given(
    first=WEIGHTS,
    second=WEIGHTS,
    made=st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=4, max_size=4),
    eta=st.floats(0, 3),
)
def test_what_is_made_of_an_answer_tells_no_more(
    first: list[int], second: list[int], made: list[list[int]], eta: float
) -> None:
    """Post-processing, with coins: each of four answers becomes one of three by its own law."""
    p, q = law(first), law(second)
    kernel = [law([1 + weights[0], *weights[1:]]) for weights in made]
    of_p, of_q = (
        [sum(a * k[i] for a, k in zip(x, kernel, strict=True)) for i in range(3)] for x in (p, q)
    )
    assert least_tau(of_p, of_q, eta) <= least_tau(p, q, eta) + 1e-12
    assert total_variation(of_p, of_q) <= total_variation(p, q) + 1e-12
    assert multiplicative_distance(of_p, of_q) <= multiplicative_distance(p, q) + 1e-12


@pytest.mark.parametrize(
    ("p", "q"), [([0.5], [1.0]), ([0.5, 0.5], [1.0]), ([], []), ([2.0, -1.0], [0.5, 0.5])]
)
def test_laws_are_laws(p: list[float], q: list[float]) -> None:
    with pytest.raises(InvalidArgument):
        least_tau(p, q, 0.0)
