"""Epochs: shares that sum up, signals that add up, and the ledger's bound in the exponent."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.epochs import (
    epoch_log_beta,
    first_epoch_noise,
    gaussian_epoch,
    interleaved_log_beta,
    median_epoch_half_width,
)
from holdfast.theory.transfer.gaussian_noise import (
    gaussian_half_width,
    gaussian_max_noise,
    gaussian_shift,
)
from holdfast.theory.transfer.median_width import median_max_noise, median_shift

LOG_05 = math.log(0.05)


@given(log_beta=st.floats(-600, 0), epochs=st.integers(1, 101))
def test_shares_never_exceed_beta(log_beta: float, epochs: int) -> None:
    spent = math.fsum(math.exp(epoch_log_beta(log_beta, e)) for e in range(epochs))
    whole = math.exp(log_beta)
    assert spent <= whole * (1 - 1 / (epochs + 1)) * (1 + 1e-15)
    assert spent >= whole * (1 - 1 / (epochs + 1)) * (1 - 1e-10)


@given(
    n=st.integers(10, 10**8),
    k0=st.integers(1, 10**5),
    s0=st.floats(1e-4, 1),
    epoch=st.integers(0, 30),
)
def test_signals_accumulate_including_the_epoch_itself(
    n: int, k0: int, s0: float, epoch: int
) -> None:
    here = gaussian_epoch(n, k0, s0, LOG_05, epoch)
    before = gaussian_epoch(n, k0, s0, LOG_05, epoch - 1).m ** 2 if epoch else 0.0
    own = here.questions / (4 * n**2 * here.noise_scale**2)
    assert here.questions == k0 * 2**epoch
    assert here.noise_scale == pytest.approx(s0 * 2 ** (epoch / 4), rel=1e-13)
    assert here.m**2 == pytest.approx(before + own, rel=1e-12)
    noise = here.noise_scale * gaussian_max_noise(here.questions, here.log_beta)
    shift = gaussian_shift(here.m, here.log_beta)
    assert here.half_width == pytest.approx(noise + shift, rel=1e-13)
    # Sabotage: leaving the epoch's own signal out gives a narrower interval.
    if epoch and shift < 1.0:
        assert noise + gaussian_shift(math.sqrt(before), here.log_beta) < here.half_width


@pytest.mark.parametrize("aim", [0, 1, 4])
def test_first_noise_is_best_at_its_aim(aim: int) -> None:
    n, k0 = 10**6, 200
    s0 = first_epoch_noise(n, k0, LOG_05, aim)
    best = gaussian_epoch(n, k0, s0, LOG_05, aim).half_width
    for factor in (0.8, 0.95, 1.05, 1.25):
        assert gaussian_epoch(n, k0, factor * s0, LOG_05, aim).half_width > best


def test_first_epoch_alone_is_theorem_t_at_half_beta() -> None:
    n, k0 = 50_000, 400
    design = gaussian_half_width(n, k0, LOG_05 - math.log(2))
    epoch = gaussian_epoch(n, k0, design.noise_scale, LOG_05, 0)
    assert epoch.half_width == pytest.approx(design.half_width, rel=1e-7)


def test_an_open_end_costs_a_bounded_factor() -> None:
    """The width of each epoch over that of a run known to end there."""
    n, k0 = 10**7, 100
    s0 = first_epoch_noise(n, k0, LOG_05, 5)
    for e in range(10):
        known = gaussian_half_width(n, k0 * (2 ** (e + 1) - 1), LOG_05).half_width
        assert known < gaussian_epoch(n, k0, s0, LOG_05, e).half_width < 1.8 * known


def test_interleaving_is_division_by_kbar_on_the_safe_side() -> None:
    for log_beta, log_kbar in [(LOG_05, 0.0), (LOG_05, 2.5), (-700.0, 300.0)]:
        level = interleaved_log_beta(log_beta, log_kbar)
        assert level <= log_beta - log_kbar
        assert level == pytest.approx(log_beta - log_kbar, rel=1e-14)
    apart = gaussian_half_width(10**5, 100, LOG_05).half_width
    mixed = gaussian_half_width(10**5, 100, interleaved_log_beta(LOG_05, 5.0)).half_width
    assert mixed > apart


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="log_kbar is"):
        interleaved_log_beta(-1.0, -0.1)
    with pytest.raises(InvalidArgument, match="epoch is 101"):
        epoch_log_beta(-1.0, 101)
    with pytest.raises(InvalidArgument, match="s0 is"):
        gaussian_epoch(10, 10, 0.0, -1.0, 0)


def test_a_median_epoch_counts_its_own_noise_and_all_shifts() -> None:
    n, D, a = 20_000, 0.05, 3
    alone = median_epoch_half_width(n, 200, 200, D, a, LOG_05)
    noise, shift = D * median_max_noise(200, a, LOG_05), median_shift(n, 200, D, a, LOG_05)
    assert alone == pytest.approx(noise + shift, rel=1e-12)
    # The last 50 of 200: their own noise, everybody's shift. Sabotage: only their own shift.
    last = median_epoch_half_width(n, 200, 50, D, a, LOG_05)
    own = D * median_max_noise(50, a, LOG_05)
    assert last == pytest.approx(own + shift, rel=1e-12)
    assert own + median_shift(n, 50, D, a, LOG_05) < 0.85 * last
    # With a variance bound the shift is 2 sqrt(v) times that.
    quiet = median_epoch_half_width(n, 200, 50, D, a, LOG_05, 0.04)
    assert quiet == pytest.approx(own + 0.4 * shift, rel=1e-3)
    assert median_epoch_half_width(10, 10, 10, D, a, LOG_05) >= 1.0
    with pytest.raises(InvalidArgument, match="questions is 201"):
        median_epoch_half_width(n, 200, 201, D, a, LOG_05)
