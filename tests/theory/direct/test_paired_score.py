"""Paired differences in the order of the score: every sample of small worlds, and its twins."""

from __future__ import annotations

import math
from functools import cache

import pytest

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.paired import (
    TEST_SHARE,
    detectable_gain,
    paired_difference_interval,
    paired_score_interval,
    paired_score_lower,
    sign_test_log_p,
)
from tests.theory.direct.worlds import shrunk

LAWS = ("paired_score_lower",)
STEPS = 24


@cache
def intervals(n: int, p: float) -> dict[tuple[int, int], Interval]:
    """The interval of every sample."""
    return {
        (b, c): paired_score_interval(n, b, c, math.log(p))
        for b in range(n + 1)
        for c in range(n + 1 - b)
    }


def misses(n: int, told: dict[tuple[int, int], Interval]) -> tuple[float, float]:
    """The largest probability to miss the truth from above and from below, of many worlds."""
    above = below = 0.0
    for i in range(STEPS + 1):
        for j in range(STEPS + 1 - i):
            win, loss, truth = i / STEPS, j / STEPS, (i - j) / STEPS
            weights = {
                (b, c): math.comb(n, b)
                * math.comb(n - b, c)
                * win**b
                * loss**c
                * ((STEPS - i - j) / STEPS) ** (n - b - c)
                for b, c in told
            }
            above = max(above, math.fsum(w for at, w in weights.items() if told[at].low > truth))
            below = max(below, math.fsum(w for at, w in weights.items() if told[at].high < truth))
    return above, below


@pytest.mark.parametrize(
    ("n", "p"),
    [
        (6, 0.05),
        (12, 1e-3),
        pytest.param(14, 0.05, marks=pytest.mark.campaign),
        pytest.param(12, 0.2, marks=pytest.mark.campaign),
    ],
)
def test_no_world_is_missed_more_often_than_said(n: int, p: float) -> None:
    """By every sample of n rows, with its exact probability."""
    above, below = misses(n, intervals(n, p))
    assert above <= p / 2
    assert below <= p / 2
    assert above == pytest.approx(below)


@pytest.mark.parametrize(("n", "p", "factor"), [(14, 0.05, 0.85), (12, 0.2, 0.85), (12, 1e-3, 0.8)])
def test_narrower_intervals_miss(n: int, p: float, factor: float) -> None:
    """The twin: the bound is nearly reached, so a little less is false."""
    told = intervals(n, p)
    cut = {(b, c): shrunk(each, (b - c) / n, factor) for (b, c), each in told.items()}
    assert max(misses(n, cut)) > p / 2


@pytest.mark.parametrize("n", [14, pytest.param(40, marks=pytest.mark.campaign)])
def test_it_tells_a_gain_where_the_sign_test_does_and_nowhere_else(n: int) -> None:
    for b in range(0, n + 1, 3):
        for c in range(0, n + 1 - b, 3):
            low = paired_score_lower(n, b, c, math.log(0.025))
            shown = sign_test_log_p(b, c) <= math.log(TEST_SHARE * 0.025)
            assert (low >= 0.0) if shown else (low <= 0.0), (b, c)


def test_no_theta_below_the_bound_has_a_larger_tail() -> None:
    """The tail over a grid of d, sample by sample, is at most .99 q for every theta below."""
    n, b, c, q = 18, 8, 1, 0.05
    low = paired_score_lower(n, b, c, math.log(q))
    assert low > 0.03
    for theta in [low * k / 10 for k in range(1, 11)]:
        score = (b - c - n * theta) / math.sqrt(b + c + 4)
        for d in [0.14 + 0.04 * k for k in range(17)]:
            win, loss = (d + theta) / 2, (d - theta) / 2
            tail = math.fsum(
                math.comb(n, i) * math.comb(n - i, j) * win**i * loss**j * (1 - d) ** (n - i - j)
                for i in range(n + 1)
                for j in range(n + 1 - i)
                if (i - j - n * theta) / math.sqrt(i + j + 4) >= score - 1e-9
            )
            assert tail <= TEST_SHARE * q


@pytest.mark.parametrize(("n", "b", "c"), [(1_000, 48, 17), (5_000, 300, 240), (200, 25, 10)])
def test_it_is_narrower_than_bets_at_ordinary_levels(n: int, b: int, c: int) -> None:
    """And near to the normal interval, which promises nothing."""
    found = paired_score_interval(n, b, c, math.log(0.05))
    bets = paired_difference_interval(n, b, c, math.log(0.05))
    normal = 2 * 1.96 * math.sqrt(b + c - (b - c) ** 2 / n) / n
    assert found.high - found.low < 0.8 * (bets.high - bets.low)
    assert normal < found.high - found.low < 1.12 * normal
    assert found.low < (b - c) / n < found.high
    mirrored = paired_score_interval(n, c, b, math.log(0.05))
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


def test_ends_and_bad_counts() -> None:
    assert paired_score_interval(30, 30, 0, math.log(0.05)).high == 1.0
    assert paired_score_interval(30, 0, 30, math.log(0.05)).low == -1.0
    nothing = paired_score_interval(30, 0, 0, math.log(0.05))
    assert nothing.low == -nothing.high < 0.0
    one = paired_score_interval(1, 1, 0, math.log(0.05))
    assert one.low <= 0.0
    assert one.high == 1.0
    with pytest.raises(InvalidArgument, match=r"b \+ c is 7"):
        paired_score_lower(6, 4, 3, -3.0)


def test_what_so_many_rows_could_show() -> None:
    """At the gain said, the sign test rejects in four samples of five; at half of it, in fewer."""
    n, d, q = 60, 0.3, 0.025
    gain = detectable_gain(n, d, math.log(q))

    def power(theta: float) -> float:
        win, loss = (d + theta) / 2, (d - theta) / 2
        return math.fsum(
            math.comb(n, b) * math.comb(n - b, c) * win**b * loss**c * (1 - d) ** (n - b - c)
            for b in range(n + 1)
            for c in range(n + 1 - b)
            if sign_test_log_p(b, c) <= math.log(TEST_SHARE * q)
        )

    assert power(gain) == pytest.approx(0.8, abs=1e-3)
    assert power(gain / 2) < 0.4
    assert detectable_gain(4, 0.5, math.log(q)) == 1.0  # not even four wins of four
