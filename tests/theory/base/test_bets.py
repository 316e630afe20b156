"""The engine of bets: capital that cannot grow on average, and ends that are surely rejected."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.bets import (
    StakeLadder,
    Tally,
    centred,
    counted,
    first_kept,
    fixed_lower_odds,
    last_rejected,
    log_bets,
    log_capital,
    log_least_capital,
    log_mixture,
    lower_odds,
    odds_interval,
    share_above,
    share_below,
    spread_ladder,
    unit_values,
)
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import level_share
from tests.seam import bracket
from tests.theory.direct.worlds import World, mean_of

LAWS = ("log_least_capital", "lower_odds")


def test_the_bracket_is_just_below_where_its_bound_rejects() -> None:
    """By hand: capital is enough up to 1, and the bound on it says up to 1 + 2^-12."""
    asked: list[float] = []

    def excess(odds: float) -> float:
        asked.append(odds)
        return 1.0 - odds

    low, high = bracket(excess, lambda odds: 1.0 + 2.0**-12 - odds, 0.5, 2.0)
    assert low <= 1.0 < high
    assert high - low < 2.0**-9  # 2^8 and 2^12 times 2^-18 below the bound: no further
    assert len(asked) <= 4
    # Where even the farthest of these is not rejected, nothing is known but what was.
    assert bracket(lambda odds: 0.75 - odds, lambda odds: 1.0 - odds, 0.5, 2.0)[0] == 0.5


STAKES, EVEN = [0.05, 0.3, 0.7, 1.0], [0.25] * 4
THIRD = World(12, (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))


def tally(gains: list[float], losses: list[float], counts: tuple[int, ...], **more: float) -> Tally:
    times = np.array(counts, dtype=float)
    largest = float(more.get("largest_loss", 1.0))
    root = int(more.get("root", 1))
    return Tally(np.array(gains), np.array(losses), times, int(times.sum()), largest, root)


@pytest.mark.parametrize(
    ("gains", "losses", "largest"),
    [([0.0, 0.5, 1.0], [1.0, 0.5, 0.0], 1.0), ([2.0, 0.0, 1.0], [0.0, 1.0, 3.0], 3.0)],
    ids=["rows", "units"],
)
def test_capital_at_the_truth_has_mean_one(
    gains: list[float], losses: list[float], largest: float
) -> None:
    """For alike rows exactly 1: nothing is given away before Markov's inequality."""
    odds = float(THIRD.mean(gains) / THIRD.mean(losses))

    def capital(counts: tuple[int, ...]) -> float:
        bets = tally(gains, losses, counts, largest_loss=largest)
        return log_bets(bets, STAKES[:3], [1 / 3] * 3, odds)

    assert mean_of(THIRD.samples(), capital) == pytest.approx(1.0, abs=1e-9)
    assert mean_of(THIRD.samples(), capital) <= 1.0
    # The sabotage: a truth 10 % lower than it is would let capital grow.
    lower = mean_of(
        THIRD.samples(),
        lambda counts: log_bets(
            tally(gains, losses, counts, largest_loss=largest), STAKES[:3], [1 / 3] * 3, 0.9 * odds
        ),
    )
    assert lower > 1.05


def test_copies_of_rows_need_the_root() -> None:
    """Each row twice: the square root of the capital is that of the rows; without it, it grows."""
    gains, losses = [0.0, 0.5, 1.0], [1.0, 0.5, 0.0]
    odds = float(THIRD.mean(gains) / THIRD.mean(losses))

    def capital(counts: tuple[int, ...], root: int) -> float:
        doubled = tuple(2 * count for count in counts)
        return log_bets(tally(gains, losses, doubled, root=root), [0.7], [1.0], odds)

    assert mean_of(THIRD.samples(), lambda c: capital(c, 2)) == pytest.approx(1.0, abs=1e-9)
    assert mean_of(THIRD.samples(), lambda c: capital(c, 1)) > 1.5


values = st.lists(st.integers(0, 2**20).map(lambda k: k / 2**20), min_size=1, max_size=30)


@given(x=values, log_q=st.floats(-60, -1), odds=st.floats(0, 1))
@settings(max_examples=60)
def test_everything_below_the_bound_is_rejected(x: list[float], log_q: float, odds: float) -> None:
    """The chain over cells, by brute force: each lower o is rejected by the stakes of its cell."""
    rows = Tally.of_values(np.array(x), np.ones(len(x)))
    bound = lower_odds(rows, log_q)
    o = odds * bound
    if o < 2.0**-40:
        return
    cell = math.frexp(o)[1] - 1
    unit = math.sqrt(2 * (-log_q + 2.5) * math.sqrt(2) / len(x))
    stakes = [min(1.0, unit * math.sqrt(2.0**cell) * 2 ** (0.75 * j)) for j in range(9)]
    assert log_bets(rows, stakes, [1 / 9] * 9, o) >= -log_q - 1e-9


@given(x=values, log_q=st.floats(-60, 0))
def test_the_bound_is_below_the_sample(x: list[float], log_q: float) -> None:
    rows = Tally.of_values(np.array(x), np.ones(len(x)))
    gained, lost = sum(x), len(x) - sum(x)
    for bound in (lower_odds(rows, log_q), fixed_lower_odds(rows, STAKES, EVEN, log_q)):
        assert bound >= 0.0
        assert lost == 0.0 or bound <= gained / lost * (1 + 1e-9) or bound <= 2.0**-200


def many_values(name: str, n: int = 20_000) -> Tally:
    """Rows of a law in 10,000 bins, as a histogram has them."""
    rng = np.random.default_rng(5)
    drawn = {
        "even": rng.random(n),
        "narrow": np.clip(0.5 + 0.02 * rng.standard_normal(n), 0, 1),
        "skewed": rng.beta(0.2, 3, n),
        "heavy": np.clip(0.3 + 0.05 * rng.standard_cauchy(n), 0, 1),
    }[name]
    bins, times = np.unique(np.floor(drawn * 10_000) / 10_000, return_counts=True)
    return Tally.of_values(unit_values(bins), times.astype(float))


LARGE = ("even", "narrow", "skewed", "heavy")


@pytest.mark.parametrize("name", LARGE)
def test_merged_units_bound_every_bet_and_change_no_bit(name: str) -> None:
    rows = many_values(name)
    merged = rows.merged()
    assert merged.times.size <= 256
    assert merged.times.sum() == rows.times.sum()
    own = float((rows.gains * rows.times).sum() / (rows.losses * rows.times).sum())
    stakes = [0.02 * 2 ** (0.75 * k) for k in range(7)] + [1.0, 1.0]
    weights = [1 / 9] * 9
    for odds in (0.3 * own, 0.97 * own, own, 1.3 * own):
        for stake in stakes:
            each = log_bets(rows, [stake], [1.0], odds)
            assert log_bets(merged, [stake], [1.0], odds) >= each - 1e-9
        whole = log_mixture([log_bets(rows, [s], [1.0], odds) for s in stakes], weights)
        assert log_bets(rows, stakes, weights, odds, merged) == log_bets(
            rows, stakes, weights, odds
        )
        assert log_bets(rows, stakes, weights, odds) == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("steps", [50, 3_000, 10**6])
def test_a_bound_that_is_told_in_steps_is_looked_for_no_further(name: str, steps: int) -> None:
    """What is told is that of the sharp bound, and the bound itself is rejected as that one is."""
    rows = many_values(name)

    def told(interval: Interval) -> tuple[int, int]:
        return math.floor(interval.low * steps), math.ceil(interval.high * steps)

    mirrored = Tally(rows.losses, rows.gains, rows.times, rows.units)
    sharp = odds_interval(rows, mirrored, -12.0)
    rough = odds_interval(rows, mirrored, -12.0, told)
    assert told(rough) == told(sharp)
    assert rough.low <= sharp.low * (1 + 1e-10)
    assert rough.high >= sharp.high * (1 - 1e-10)


def test_ends_of_the_range() -> None:
    zeros, ones = np.zeros(50), np.ones(50)
    assert lower_odds(Tally.of_values(zeros, np.ones(50)), -3.0) == 0.0
    # Every stake is 1 against very high odds: capital o^-n (1 + o)^n.
    bound = lower_odds(Tally.of_values(ones, np.ones(50)), -3.0)
    assert 1.0 < bound < 50 / 3
    assert lower_odds(Tally.of_values(np.zeros(0), np.zeros(0)), -3.0) == 0.0
    # Odds below all cells: nothing was rejected, so nothing is claimed.
    tiny = Tally(np.array([1e-200, 0.0]), np.array([0.0, 1.0]), np.full(2, 5.0), 10)
    assert lower_odds(tiny, -3.0) == 0.0
    assert share_below(math.inf) == 1.0
    assert share_above(0.0) == 1.0
    assert share_below(0.0) == 0.0


def test_a_level_of_e_to_the_minus_1000() -> None:
    x = np.linspace(0, 1, 10_001)
    low = share_below(lower_odds(Tally.of_values(unit_values(x), np.ones(x.size)), -1000.0))
    assert 0.2 < low < 0.5
    assert level_share(-1000.0) < -1000.69
    assert level_share(-1000.0, 0.1) < level_share(-1000.0)


def test_values_go_to_the_safe_side_of_the_grid() -> None:
    x = np.array([0.1, 1 / 3, 1.0, 0.0])
    low, high = unit_values(x), unit_values(x, up=True)
    assert np.all(low <= x)
    assert np.all(x <= high)
    assert np.all(high - low <= 2.0**-48)
    assert np.all(1.0 - (1.0 - high) == high)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_values_outside_the_range_are_refused(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="not in \\[0, 1\\]"):
        unit_values([0.5, bad])


def test_tallies_that_cannot_be() -> None:
    one = np.ones(1)
    with pytest.raises(InvalidArgument, match="largest"):
        Tally(one, 2 * one, one, 1)
    with pytest.raises(InvalidArgument, match="not a number"):
        Tally(-one, one, one, 1)
    with pytest.raises(InvalidArgument, match="1 gains, 2 losses"):
        Tally(one, np.ones(2), one, 1)
    with pytest.raises(InvalidArgument, match="declared"):
        Tally(one, one, 3 * one, 2)
    with pytest.raises(InvalidArgument, match="one count"):
        counted([1, 2], np.ones(3))
    for bad in (-1.0, 0.5, math.nan):
        with pytest.raises(InvalidArgument, match="whole number"):
            counted([bad], one)


def test_a_factor_that_is_not_positive_leaves_no_capital() -> None:
    once = np.ones(3)
    for bad in (0.0, -1e-300, math.nan):
        assert log_capital(np.array([2.0, bad, 2.0]), once) == -math.inf
    assert log_mixture([-math.inf, 0.0], [0.5, 0.5]) == pytest.approx(-math.log(2))
    assert log_mixture([], []) == -math.inf


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=200))
def test_log_capital_is_below_the_exact_sum(factors: list[float]) -> None:
    import mpmath

    with mpmath.workdps(40):
        exact = mpmath.fsum(mpmath.log(mpmath.mpf(z)) for z in factors)
        for size in (0.0, 10.0):
            assert log_capital(np.array(factors), np.ones(len(factors)), size) < exact


@given(root=st.floats(0.01, 0.99), step=st.floats(1e-6, 2.0))
def test_searches_end_on_the_rejected_side(root: float, step: float) -> None:
    def excess(value: float) -> float:
        return (root - value) * 50 if value > 0.3 * root else math.inf

    for found in (last_rejected(excess, 0.0, 1.0), first_kept(excess, 1.0, 0.0, step)):
        assert excess(found) >= 0.0
        assert found == pytest.approx(root, rel=1e-5, abs=1e-5)
    assert first_kept(lambda _: -1.0, 0.5, 0.0, step) == 0.0
    assert last_rejected(lambda _: 1.0, 0.0, 1.0) == 1.0


@pytest.mark.parametrize("low", [0.0, 0.1, 1 / 3, 0.7, 1.0 - 2.0**-52])
@pytest.mark.parametrize("width", [0.0, 2.0**-53, 2.0**-52, 1e-9, 0.3])
def test_a_box_lies_around_its_centre(low: float, width: float) -> None:
    """In fractions: of neighbouring numbers the centre is one of them."""
    box = Interval(low, low + width)
    centre, reach = map(Fraction, centred(box))
    assert centre - reach <= Fraction(box.low)
    assert Fraction(box.high) <= centre + reach
    assert reach <= (Fraction(box.high) - Fraction(box.low)) / 2 + Fraction(2.0**-51)


def test_weights_of_a_ladder_add_up_to_one_at_most() -> None:
    for n in (1, 100, 10**6):
        weights = spread_ladder(n, -20.0).weights
        assert 1 - 1e-9 < sum(map(Fraction, weights)) <= 1
    assert sum(map(Fraction, StakeLadder.weighed([1.0] * 7, [0.1] * 7).weights)) <= 1


CELLS = [0.0, 0.3, 1.0]


def _square(a: float, s2: float, counts: tuple[int, ...], w: float, vertices: int) -> float:
    """ln least capital of squared deviations, the mean known to be within w of a0 = a + w/2."""
    a0 = a + 0.5 * w
    X = np.array(CELLS) - a0
    corners = [(w, w * w), (-w, w * w), (0.5 * w, 0.0), (-0.5 * w, 0.0)][:vertices]
    deviations = [X * X - 2 * alpha * X + A - s2 for alpha, A in corners]
    ladder = StakeLadder((0.5, 1.0, 2.0), (0.3, 0.3, 0.4))
    return log_least_capital(ladder, deviations, np.array(counts, dtype=float), s2 + w * w, 4.0)


@pytest.mark.parametrize("w", [1e-9, 0.05, 0.3])
def test_least_capital_at_the_truth_has_mean_one_at_most(w: float) -> None:
    mean = THIRD.mean(CELLS)
    variance = float(THIRD.mean([Fraction(v) ** 2 for v in CELLS]) - mean**2)

    def grown(s2: float) -> float:
        return mean_of(THIRD.samples(), lambda c: _square(float(mean), s2, c, w, 4))

    assert grown(variance) <= 1.0
    if w < 1e-6:
        assert grown(variance) == pytest.approx(1.0, abs=1e-6)
        assert grown(0.8 * variance) > 1.1  # the sabotage


def test_the_vertices_are_below_the_parabola_and_two_of_them_are_not_enough() -> None:
    mean = THIRD.mean(CELLS)
    variance = float(THIRD.mean([Fraction(v) ** 2 for v in CELLS]) - mean**2)
    w = 0.3
    for counts in [(12, 0, 0), (0, 0, 12), (6, 4, 2), (0, 12, 0)]:
        least = _square(float(mean), variance, counts, w, 4)
        assert least <= _square(float(mean), variance, counts, 1e-12, 1) + 1e-9
    # The ends of the chord alone can be above the capital at the truth.
    assert any(
        _square(float(mean), variance, counts, w, 2)
        > _square(float(mean), variance, counts, 1e-12, 1)
        for counts, _ in THIRD.samples()
    )


def test_smaller_stakes_are_tried_after_ruined_ones() -> None:
    """The guess of the best stake is too high by far: one row of many would ruin it."""
    g = np.array([0.01, -0.9])
    ladder = StakeLadder(tuple(2.0**k for k in range(-6, 6)), (1 / 12,) * 12)
    times = np.array([1000.0, 1.0])
    assert log_least_capital(ladder, [g, g], times, 1e-9, 2.0) > 4.0


def test_both_sign_guards() -> None:
    """A stake that some declared value could ruin counts 0, and so does one that a row ruins."""
    ladder = StakeLadder((2.0,), (1.0,))
    fine = [np.array([1.0, 1.0])]
    once = np.ones(2)
    assert log_least_capital(ladder, fine, once, 0.4, 2.0) > 0.0
    assert log_least_capital(ladder, fine, once, 0.5, 2.0) == -math.inf
    ruined = [np.array([1.0, 1.0]), np.array([1.0, -0.6])]
    assert log_least_capital(ladder, ruined, once, 0.4, 2.0) == -math.inf
    unknown = [np.array([1.0, math.nan])]
    assert log_least_capital(ladder, unknown, once, 0.4, 2.0) == -math.inf
