"""The k-fold cover: against simulation, one piece against blocks, and in the Gaussian limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.gaussian_noise import log_shift_excess
from holdfast.theory.transfer.likelihood_cover import (
    composed_shift,
    fisher_information,
    fold,
    shift_cover,
)
from tests.seam import shift_plan

LAWS = ("composed_shift",)

LOG_05 = math.log(0.05)


def shift_for(a: int, k: int, m: float) -> float:
    """t at which k steps have the signal m."""
    return m / math.sqrt(k * fisher_information(a))


def simulated_log_ratios(
    a: int, t: float, k: int, trials: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """S under p: the noise is shifted by t, the ratio is infinite beyond 1."""
    total = np.zeros(trials)
    for _ in range(k):
        v = 2.0 * generator.beta(a + 1, a + 1, trials) - 1.0 + t
        inside = v < 1.0
        x = np.where(inside, v, 0.0)
        total += np.where(inside, a * (np.log1p(-((x - t) ** 2)) - np.log1p(-x * x)), np.inf)
    return total


@pytest.mark.statistical
@pytest.mark.parametrize(("a", "k", "m"), [(2, 3, 0.3), (3, 30, 0.1), (2, 60, 0.05)])
def test_hockey_sticks_by_simulation(a: int, k: int, m: float) -> None:
    """E_p(1 - c/L)_+ is the hockey stick, the infinite ratio included; 5 standard errors."""
    t = shift_for(a, k, m)
    pair = composed_shift(a, t, k, LOG_05)
    weaker = composed_shift(a, t, math.ceil(0.8 * k) - (k < 5), LOG_05)
    log_ratio = simulated_log_ratios(a, t, k, 200_000, np.random.default_rng(502))
    caught = 0
    for threshold in (1 - m, 1.0, 1 + m, 1 + 2 * m):
        gain = np.maximum(1.0 - threshold * np.exp(-log_ratio), 0.0)
        error = 5 * gain.std() / math.sqrt(len(gain))
        assert gain.mean() - error <= pair.hockey_stick(threshold)
        assert pair.hockey_stick(threshold) <= gain.mean() + error + 1e-3 * m
        caught += weaker.hockey_stick(threshold) < gain.mean() - error
    assert caught > 0  # sabotage: four fifths of the steps are not enough


@pytest.mark.parametrize(("a", "k", "m"), [(2, 1000, 0.02), (3, 20_000, 0.01), (2, 300, 0.01)])
def test_blocks_agree_with_one_piece(a: int, k: int, m: float) -> None:
    t = shift_for(a, k, m)
    plan = shift_plan(a, t, k, LOG_05)
    assert plan.block > 1
    one = shift_cover(a, t, 0.03 * plan.sigma, plan.low, plan.high)
    piece = fold(one, k, m, math.log(1e-7 * m * m), math.log(1e-7 * m * m))
    blocks = composed_shift(a, t, k, LOG_05)
    for threshold in (1 - 2 * m, 1.0, 1 + m, 1 + 3 * m):
        assert blocks.hockey_stick(threshold) == pytest.approx(
            piece.hockey_stick(threshold), rel=2e-3, abs=1e-5 * m
        )
    ours, plain = blocks.excess(), piece.excess()
    for rho in (m, 1.5 * m, 2 * m):
        assert ours(rho) == pytest.approx(plain(rho), abs=0.004)


@pytest.mark.parametrize(("a", "k"), [(2, 10**8), (3, 10**6)])
def test_gaussian_limit(a: int, k: int) -> None:
    m = 0.03
    pair = composed_shift(a, shift_for(a, k, m), k, LOG_05)
    excess = pair.excess()
    for rho in (0.5 * m, m, 2 * m):
        gaussian = log_shift_excess(rho * rho, m)
        assert gaussian - 1e-3 <= excess(rho) <= gaussian + 0.015


def test_more_steps_and_larger_shifts_dominate() -> None:
    base = composed_shift(3, 1e-3, 200, LOG_05)
    more = composed_shift(3, 1e-3, 230, LOG_05)
    further = composed_shift(3, 1.1e-3, 200, LOG_05)
    for threshold in (0.95, 1.0, 1.03, 1.1):
        assert more.hockey_stick(threshold) > base.hockey_stick(threshold)
        assert further.hockey_stick(threshold) > base.hockey_stick(threshold)


@pytest.mark.parametrize("k", [1, 2, 15, 16, 200, 10**4, 10**6, 10**9])
@pytest.mark.parametrize("a", [2, 5])
def test_masses_are_complete_and_hardly_inflated(a: int, k: int) -> None:
    """r-mass and p-mass, the lost parts included, are 1 or a little more, never less."""
    pair = composed_shift(a, shift_for(a, k, 0.03), k, LOG_05)
    r_mass = float(pair.mass.sum()) + pair.at_zero
    p_mass = float((pair.mass * np.exp(pair.log_ratios)).sum()) + pair.at_infinity
    for mass in (r_mass, p_mass):
        assert 1.0 - 1e-12 <= mass <= 1.0 + 1e-5 + 1e-12 * k


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="k is"):
        composed_shift(2, 0.01, 10**13, LOG_05)
    with pytest.raises(InvalidArgument, match="log_beta is"):
        composed_shift(2, 0.01, 10, -26.0)
    with pytest.raises(InvalidArgument, match="t is"):
        composed_shift(2, math.nan, 10, LOG_05)
