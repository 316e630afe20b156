"""The tests of claims by exact sums over all samples, against rule R1, and as tables print them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from holdfast.papers.theorems.published import empirical_bernstein_radius
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.base.dependence import ClusteredRows, PooledUnits
from holdfast.theory.base.intervals import Interval, clopper_pearson, kl_interval
from holdfast.theory.leakage.claim_levels import (
    claim_holds,
    claim_log_level,
    confirmations_log_charge,
    confirmed_paired_half_width,
    confirmed_share_half_width,
    mean_claim_holds,
    paired_claim_holds,
    radius_claim_holds,
    share_claim_holds,
    surprise_prior,
    two_sided_log_level,
    unit_claim_holds,
)
from tests.theory.direct.worlds import World, coin

LAWS = (
    "confirmed_paired_half_width",
    "confirmed_share_half_width",
    "two_sided_log_level",
)

LOG_03 = math.log(0.03)
# One unit in the last digit that the tables print.
DIGIT = 1.0e-4


# --- Tests of claims: exact sums over all samples ------------------------------------------------

LEVELS = [0.2, 0.01, 1e-6]
RATES = [Fraction(1, 50), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)]


def _sides(truth: float) -> list[Interval]:
    """False claims, above and below the truth, as near as they can be."""
    above, below = math.nextafter(truth, 2.0), math.nextafter(truth, -2.0)
    return [
        Interval(above, math.inf),
        Interval(-math.inf, below),
        Interval(above, above + 0.3),
        Interval(below - 0.3, below),
    ]


# What a unit can be: its sum and its size. In the first world the large units are the ill ones.
UNITS: list[tuple[World, list[int], list[int]]] = [
    (World(60, (Fraction(60, 61), Fraction(1, 61))), [0, 60], [1, 60]),
    (World(9, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))), [1, 0, 2], [1, 4, 2]),
]


@pytest.mark.parametrize("p", [0.2, 1e-3])
@pytest.mark.parametrize(("world", "sums", "sizes"), UNITS, ids=["large ones ill", "three sizes"])
def test_units_whose_sizes_tell_show_nothing_false(
    world: World, sums: list[int], sizes: list[int], p: float
) -> None:
    truth = float(world.mean(sums) / world.mean(sizes))
    falsely = dict.fromkeys(_sides(truth)[:2], Fraction(0))
    given_sizes = Fraction(0)
    for counts, weight in world.samples():
        if weight < Fraction(1, 10**9):
            continue
        S, m = np.repeat(sums, counts), np.repeat(sizes, counts)
        units = PooledUnits(int(m.sum()), world.n, max(sizes))
        for claim in falsely:
            falsely[claim] += weight * unit_claim_holds(S, m, claim, math.log(p), units)
        decided = ClusteredRows.of_sizes(m.tolist())
        mean = float(S.sum() / m.sum())
        below = Interval(-math.inf, math.nextafter(truth, 0.0))
        given_sizes += weight * radius_claim_holds(mean, decided, below, math.log(p))
    assert max(falsely.values()) <= p
    if world.n == 60:  # the twin: as if the sizes had been decided
        assert given_sizes > 0.35


def test_sums_that_lose_their_small_parts_show_nothing_more() -> None:
    """Added in floats, 120 units of 2^-53 vanish beside ones: the mean is 7.5 last places lower."""
    S = np.repeat([1.0, 2.0**-53], [8, 120])
    units, log_p = (
        PooledUnits(S.size, S.size, 1),
        -0.1,
    )  # at which the radius is below the bets' end
    exact = sum(map(Fraction, S.tolist())) / S.size
    end = exact + Fraction(units.radius(log_p))
    assert exact - Fraction(float(S.sum())) / S.size > 7 * math.ulp(float(exact))

    def is_shown(high: float) -> bool:
        return unit_claim_holds(S, np.ones(S.size), Interval(0.0, high), log_p, units)

    assert not is_shown(float(end * (1 - Fraction(1, 2**52))))
    assert is_shown(float(end) + 1e-12)


def _false_shares(n: int, rate: Fraction, log_p: float, *, alike: bool = True) -> list[float]:
    samples = list(coin(n, rate).samples())
    return [
        math.fsum(
            float(weight)
            for (_, ones), weight in samples
            if share_claim_holds(n, ones, claim, log_p, alike=alike)
        )
        for claim in _sides(float(rate))
    ]


@pytest.mark.parametrize("p", LEVELS)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_a_false_claim_of_a_share_is_confirmed_with_at_most_p(rate: Fraction, p: float) -> None:
    for alike in (True, False):
        assert max(_false_shares(40, rate, math.log(p), alike=alike)) <= p


@pytest.mark.parametrize("p", LEVELS)
def test_sabotage_twice_the_level_a_side_is_too_much(p: float) -> None:
    """The level is used up: at the rate with 30 ones or more in 1.9p of the samples, 2p claims."""
    rate = Fraction(float(special.betaincinv(30, 11, 1.9 * p)))
    assert (
        max(_false_shares(40, rate, math.log(2 * p)))
        > p
        >= max(_false_shares(40, rate, math.log(p)))
    )


# Three values, of which the middle is the most frequent: a small variance, and a large one.
SPREADS = [(1, 18, 1), (1, 1, 1), (6, 1, 3), (0, 1, 30)]


def _false_means(shares: tuple[int, ...], log_p: float, guess: float | None) -> list[float]:
    world = World(8, tuple(Fraction(share, sum(shares)) for share in shares))
    values = [0.0, 0.5, 1.0]
    samples = list(world.samples())
    return [
        math.fsum(
            float(weight)
            for counts, weight in samples
            if mean_claim_holds(values, values, claim, log_p, counts, second_moment=guess)
        )
        for claim in _sides(float(world.mean(values)))
    ]


@pytest.mark.parametrize("p", [0.2, 1e-3])
@pytest.mark.parametrize("shares", SPREADS, ids=str)
def test_a_false_claim_of_a_mean_is_confirmed_with_at_most_p(
    shares: tuple[int, ...], p: float
) -> None:
    for guess in (None, 0.05, 1.0):
        assert max(_false_means(shares, math.log(p), guess)) <= p


def test_sabotage_a_level_that_is_no_level_confirms_false_means() -> None:
    """Markov leaves room: a factor 60 of the level is more than any of these tests has."""
    for guess in (None, 0.05, 1.0):
        assert max(_false_means((6, 1, 3), math.log(0.6), guess)) > 0.01


def _false_pairs(shares: tuple[int, ...], log_p: float, guess: float | None) -> list[float]:
    n = 8
    world = World(n, tuple(Fraction(share, sum(shares)) for share in shares))
    samples, truth = list(world.samples()), world.mean([-1.0, 0.0, 1.0])
    return [
        math.fsum(
            float(weight)
            for (worse, _, better), weight in samples
            if paired_claim_holds(n, better, worse, claim, log_p, second_moment=guess)
        )
        for claim in _sides(float(truth))
    ]


@pytest.mark.parametrize("p", [0.2, 1e-3])
@pytest.mark.parametrize("shares", SPREADS, ids=str)
def test_a_false_claim_of_a_paired_difference_is_confirmed_with_at_most_p(
    shares: tuple[int, ...], p: float
) -> None:
    for guess in (None, 0.1):
        assert max(_false_pairs(shares, math.log(p), guess)) <= p


def test_sabotage_a_level_that_is_no_level_confirms_false_pairs() -> None:
    """What a test at level 0.01 may confirm is found out when the level is 60 times as much."""
    for guess in (None, 0.1):
        found = {p: max(_false_pairs((6, 1, 3), math.log(p), guess)) for p in (0.01, 0.6)}
        assert found[0.01] <= 0.01 < found[0.6]


def test_sabotage_a_pair_turned_over_confirms_false_pairs() -> None:
    """Rows that are worse counted as better: the claim of one side is then nearly always shown."""
    world = World(8, (Fraction(9, 10), Fraction(1, 20), Fraction(1, 20)))
    truth = float(world.mean([-1.0, 0.0, 1.0]))
    above = Interval(math.nextafter(truth, math.inf), math.inf)
    right, wrong = (
        math.fsum(
            float(weight)
            for counts, weight in world.samples()
            if paired_claim_holds(8, counts[better], counts[2 - better], above, math.log(0.1))
        )
        for better in (2, 0)
    )
    assert right <= 0.1 < wrong


def test_a_claim_is_shown_by_enough_rows() -> None:
    about_half, half_line = Interval(0.45, 0.55), Interval(0.45, math.inf)
    for claim in (about_half, half_line):
        assert share_claim_holds(10_000, 5_000, claim, -20.0)
        assert not share_claim_holds(100, 50, claim, -20.0)
        for guess in (None, 0.1):
            even = ([0.25, 0.75], [0.25, 0.75])
            assert mean_claim_holds(*even, claim, -20.0, [5_000, 5_000], second_moment=guess)
            assert not mean_claim_holds(*even, claim, -20.0, [50, 50], second_moment=guess)
            shown = Interval(-0.1, claim.high)
            assert paired_claim_holds(10_000, 500, 500, shown, -20.0, second_moment=guess)
            assert not paired_claim_holds(100, 5, 5, shown, -20.0, second_moment=guess)
        assert radius_claim_holds(0.5, BoundedMean(10_000), claim, -20.0)
        assert not radius_claim_holds(0.5, BoundedMean(10_000), claim, -20.0, error=0.02)
    assert not mean_claim_holds([1.0], [1.0], Interval(1.0, 2.0), -1.0, [9], second_moment=0.5)
    assert not mean_claim_holds([], [], about_half, -1.0)


@given(
    edge=st.floats(0.0, 0.3),
    width=st.floats(0.0, 0.2),
    counts=st.lists(st.integers(0, 400), min_size=2, max_size=2).filter(sum),
    guess=st.none() | st.floats(0.01, 1),
)
def test_wider_bins_confirm_nothing_more(
    edge: float, width: float, counts: list[int], guess: float | None
) -> None:
    values = np.array([edge, edge + 0.4])
    claim = Interval(0.2, 0.7)
    coarse = mean_claim_holds(values, values + width, claim, -3.0, counts, second_moment=guess)
    for known in (values, values + width):
        fine = mean_claim_holds(known, known, claim, -3.0, counts, second_moment=guess)
        assert fine or not coarse


# --- Never wider than the check of rule R1 -------------------------------------------------------

GRID = [
    (n, share, log_p)
    for n in (30, 300, 3_000, 100_000)
    for share in (0.0, 0.003, 0.1, 0.5, 0.93)
    for log_p in (-1.0, -5.0, -20.0, -80.0)
]


def _just_holds(interval: Interval) -> Interval:
    """The narrowest claim that rule R1's check confirmed; an end of the range binds nothing."""
    return Interval(
        interval.low if interval.low > 0.0 else -math.inf,
        interval.high if interval.high < 1.0 else math.inf,
    )


@pytest.mark.parametrize(("n", "share", "log_p"), GRID)
def test_what_rule_r1_confirmed_of_a_share_is_confirmed(n: int, share: float, log_p: float) -> None:
    ones = round(n * share)
    alike = _just_holds(clopper_pearson(n, ones, log_p))
    assert share_claim_holds(n, ones, alike, log_p)
    unlike = _just_holds(kl_interval(n, ones / n, log_p))
    assert share_claim_holds(n, ones, unlike, log_p, alike=False)
    profile = BoundedMean(n)
    radius = profile.radius(log_p)
    reach = Interval(ones / n - radius - 1e-12, ones / n + radius + 1e-12)
    assert radius_claim_holds(ones / n, profile, reach, log_p)


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.4, 0.6), (0.0, 0.01), (0.3, 1.0)], ids=str)
@pytest.mark.parametrize(("n", "share", "log_p"), GRID)
def test_what_rule_r1_confirmed_of_a_mean_is_confirmed(
    n: int, share: float, log_p: float, values: tuple[float, float]
) -> None:
    """That was: Chernoff at nine tenths of the level, empirical Bernstein at one tenth, inside."""
    high = round(n * share)
    counts = [n - high, high]
    mean = math.fsum(v * t for v, t in zip(values, counts, strict=True)) / n
    spread = math.fsum((v - mean) ** 2 * t for v, t in zip(values, counts, strict=True)) / (n - 1)
    chernoff = kl_interval(n, mean, log_p + math.log(0.9))
    radius = empirical_bernstein_radius(n, spread, log_p + math.log(0.1))
    old = Interval(max(chernoff.low, mean - radius), min(chernoff.high, mean + radius))
    assert mean_claim_holds(values, values, _just_holds(old), log_p, counts)


# --- The tables of sections 11.2 and 11.3 --------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k", "printed", "nothing_described", "paired"),
    [
        (1_000, 100, (0.0489, 0.0309, 0.0158), 0.0455, 0.0295),
        (5_000, 200, (0.0220, 0.0135, 0.0066), 0.0204, 0.0129),
        (50_000, 500, (0.0070, 0.0042, 0.0020), 0.0065, 0.0041),
    ],
)
def test_confirmed_half_widths_as_printed(
    n: int, k: int, printed: tuple[float, ...], nothing_described: float, paired: float
) -> None:
    for rate, expected in zip((0.5, 0.1, 0.02), printed, strict=True):
        found = confirmed_share_half_width(n, k, rate, LOG_03)
        assert found == pytest.approx(expected, abs=DIGIT / 2)
    alone = confirmed_share_half_width(n, k, 0.5, math.log(0.05))
    assert alone == pytest.approx(nothing_described, abs=DIGIT / 2)
    assert confirmed_paired_half_width(n, k, 0.05, LOG_03) == pytest.approx(paired, abs=DIGIT / 2)


@pytest.mark.parametrize(("n", "k", "rate"), [(1_000, 100, 0.1), (5_000, 20, 0.5), (200, 3, 0.02)])
def test_a_claim_of_the_confirmed_half_width_is_confirmed(n: int, k: int, rate: float) -> None:
    ones, t = round(n * rate), confirmed_share_half_width(n, k, rate, LOG_03)
    level = claim_log_level(LOG_03, 1.0 - surprise_prior(k - 1, 0), confirmations_log_charge(k - 1))
    room = math.sqrt(rate * (1 - rate) / n)
    for guess in (ones / n - 0.999 * room, ones / n + 0.999 * room):
        assert share_claim_holds(n, ones, Interval(guess - t, guess + t), level)
    narrow = Interval(ones / n + room - 0.9 * t, ones / n + room + 0.9 * t)
    wide = Interval(ones / n - room - 0.9 * t, ones / n - room + 0.9 * t)
    assert not all(share_claim_holds(n, ones, claim, level) for claim in (narrow, wide))


def test_a_level_that_doubles_is_a_whole_level_at_most() -> None:
    assert two_sided_log_level(math.log(0.6)) == 0.0
    assert claim_holds(Interval(0.2, 0.3), Interval(0.2, 0.3))
    assert not claim_holds(Interval(0.2, 0.3), Interval(0.2, 0.29))
