"""Paired differences and the sign test, exactly."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval, clopper_pearson_upper
from holdfast.theory.direct.paired import (
    exact_paired_lower,
    paired_difference_interval,
    paired_difference_lower,
    paired_difference_within,
    sign_test_log_p,
    smallest_shown_difference,
)
from tests.theory.direct.worlds import World, miss, shrunk

LAWS = ("exact_paired_lower", "paired_difference_lower", "sign_test_log_p")

# Cells: better, worse, equal.
WORLD = World(30, (Fraction(5, 20), Fraction(1, 20), Fraction(14, 20)))


@pytest.mark.parametrize(("p", "factor"), [(0.1, 0.4), (1e-3, 0.5), (1e-6, 0.3)])
def test_exact_coverage(p: float, factor: float) -> None:
    truth = WORLD.shares[0] - WORLD.shares[1]
    table = {c: paired_difference_interval(WORLD.n, c[0], c[1], math.log(p)) for c, _ in samples()}
    assert miss(samples(), table.__getitem__, truth) <= p

    def sabotaged(counts: tuple[int, ...]) -> Interval:
        return shrunk(table[counts], (counts[0] - counts[1]) / WORLD.n, factor)

    assert miss(samples(), sabotaged, truth) > p


@pytest.mark.parametrize("p", [0.05, 1e-3])
def test_exact_coverage_of_the_exact_test(p: float) -> None:
    world = World(30, (Fraction(1, 8), Fraction(1, 10), Fraction(31, 40)))
    truth = world.shares[0] - world.shares[1]
    low = {c: exact_paired_lower(world.n, c[0], c[1], math.log(p)) for c, _ in world.samples()}
    assert miss(world.samples(), lambda c: Interval(low[c], 1.0), truth) <= p

    def sabotaged(c: tuple[int, ...]) -> Interval:
        return shrunk(Interval(low[c], 1.0), (c[0] - c[1]) / world.n, 0.1)

    assert miss(world.samples(), sabotaged, truth) > p


def _tail(n: int, d: float, theta: float, T: int) -> float:
    """P[S >= T], sample by sample."""
    better, worse = (d + theta) / 2, (d - theta) / 2
    return math.fsum(
        math.comb(n, i) * math.comb(n - i, j) * better**i * worse**j * (1 - d) ** (n - i - j)
        for i in range(n + 1)
        for j in range(n + 1 - i)
        if i - j >= T
    )


@pytest.mark.parametrize(("n", "b", "c", "q"), [(60, 14, 1, 1e-3), (60, 12, 3, 1e-4)])
def test_at_the_bound_the_tail_is_the_level_and_largest_at_the_largest_d(
    n: int, b: int, c: int, q: float
) -> None:
    low = exact_paired_lower(n, b, c, math.log(q))
    d = clopper_pearson_upper(n, b + c, math.log(0.05 * q))
    assert low > -d
    assert low < (b - c - 2 - math.sqrt(3 * (n * d + 1))) / n  # the tail decides, not the mode
    tails = [_tail(n, share * d, low, b - c) for share in (0.4, 0.6, 0.8, 0.95, 1.0)]
    assert tails == sorted(tails)
    assert tails[-1] == pytest.approx(0.95 * q, rel=1e-6)
    assert tails[-1] <= 0.95 * q


def test_alike_rows_are_narrower_where_there_are_many() -> None:
    for n, L in ((10_000, 12.0), (100_000, 20.0)):
        b, c = round(0.03 * n), round(0.02 * n)
        alike = paired_difference_interval(n, b, c, -L, alike=True)
        bets = paired_difference_interval(n, b, c, -L)
        assert alike.high - alike.low < 0.93 * (bets.high - bets.low)
        mirrored = paired_difference_interval(n, c, b, -L, alike=True)
        assert mirrored == (-alike.high, -alike.low)
    few = paired_difference_interval(1000, 30, 20, -12.0)
    assert paired_difference_interval(1000, 30, 20, -12.0, alike=True) == few
    deep = paired_difference_interval(10**6, 30, 20, -700.0)
    assert paired_difference_interval(10**6, 30, 20, -700.0, alike=True) == deep


def test_where_the_exact_test_says_nothing() -> None:
    assert exact_paired_lower(100, 70, 20, -3.0) == -1.0  # too many differ
    assert exact_paired_lower(10**6, 3000, 0, -601.0) == -1.0


@given(
    n=st.integers(300, 100_000),
    d=st.floats(0, 0.6),
    won=st.floats(0, 1),
    log_p=st.floats(-30, -1),
    alike=st.booleans(),
    off=st.sampled_from([-0.1, -1e-9, 1e-9, 0.1]),
)
@settings(max_examples=60, deadline=None)
def test_a_claim_is_tested_as_the_interval_would_tell(
    n: int, d: float, won: float, log_p: float, alike: bool, off: float
) -> None:
    differ = round(d * n)
    b = round(won * differ)
    counts = n, b, differ - b, log_p
    low, high = paired_difference_interval(*counts, alike=alike)
    for claim in (
        Interval(low - off, math.inf),
        Interval(-math.inf, high + off),
        Interval(low - off, high + off),
    ):
        assert paired_difference_within(*counts, claim, alike=alike) is (off > 0)


def samples() -> list[tuple[tuple[int, ...], Fraction]]:
    return list(WORLD.samples())


@given(n=st.integers(1, 3000), b=st.floats(0, 1), c=st.floats(0, 1), log_p=st.floats(-60, -1))
@settings(max_examples=50)
def test_intervals_hold_the_sample_and_mirror(n: int, b: float, c: float, log_p: float) -> None:
    better = round(b * n)
    worse = round(c * (n - better))
    low, high = paired_difference_interval(n, better, worse, log_p)
    assert -1.0 <= low <= (better - worse) / n + 1e-12
    assert (better - worse) / n - 1e-12 <= high <= 1.0
    assert paired_difference_interval(n, worse, better, log_p) == (-high, -low)


@pytest.mark.parametrize(
    ("n", "L", "ratio"), [(1000, 12, 3.14), (10_000, 20, 3.56), (100_000, 28, 4.05)]
)
def test_ratio_to_the_normal_half_width(n: int, L: float, ratio: float) -> None:
    """The independently measured ratios for 5 % differing rows."""
    b, c = round(0.03 * n), round(0.02 * n)
    low, high = paired_difference_interval(n, b, c, -L)
    spread = math.sqrt(((b + c) / n - ((b - c) / n) ** 2) / n)
    assert 0.5 * (high - low) / (1.96 * spread) == pytest.approx(ratio, abs=0.01)


def test_the_sign_test_is_the_exact_tail() -> None:
    for b in range(15):
        for c in range(15):
            tail = sum(math.comb(b + c, k) for k in range(b, b + c + 1)) / 2 ** (b + c)
            found = sign_test_log_p(b, c)
            assert math.log(tail) - 1e-12 <= found <= math.log(tail) + 1e-8


@pytest.mark.parametrize("differing", [1, 400, 1023, 1024, 1025, 1100])
@pytest.mark.parametrize("share", [0.5, 0.53, 0.7, 1.0])
def test_the_sign_test_is_never_below_its_tail_counted_or_not(differing: int, share: float) -> None:
    b = round(share * differing)
    ways = sum(math.comb(differing, k) for k in range(b, differing + 1))
    exact = Context(prec=60).ln(Decimal(ways)) - differing * Context(prec=60).ln(Decimal(2))
    found = sign_test_log_p(b, differing - b)
    assert exact <= Decimal(found) or found == 0.0
    assert found <= float(exact) + 1e-8


@pytest.mark.parametrize("p", [0.1, 1e-3, 1e-6])
def test_a_candidate_that_is_not_better_is_rarely_shown(p: float) -> None:
    """iid rows of equal chances: exact; twin: the level doubled (three times at 1e-6)."""
    world = World(60, (Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)))
    shown = {c: sign_test_log_p(*c[:2]) for c, _ in world.samples()}

    def chance(log_level: float) -> float:
        return float(sum(w for c, w in world.samples() if shown[c] <= log_level))

    assert chance(math.log(p)) <= p
    assert chance(math.log(4 * p)) > p


def test_what_so_few_rows_can_show() -> None:
    assert smallest_shown_difference(1000, 50, -21.0) == pytest.approx(0.042)
    assert smallest_shown_difference(1000, 20, -21.0) is None
    assert smallest_shown_difference(1000, 0, -1.0) is None
    b = 46
    least = sign_test_log_p(b, 50 - b)
    assert least <= -21.0 < sign_test_log_p(b - 1, 51 - b)
    assert smallest_shown_difference(1000, 50, least) == pytest.approx(0.042)  # shown at its own p


def test_counts_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="b \\+ c"):
        paired_difference_lower(10, 6, 5, -3.0)
    with pytest.raises(InvalidArgument, match="b is"):
        sign_test_log_p(-1, 5)
