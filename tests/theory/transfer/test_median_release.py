"""The integer release: a post-processing of the real one; its leakage charge, counted exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.transfer.median_width import median_noise_log_charge, median_noise_release

LAWS = ("median_noise_release",)


@given(
    n=st.integers(1, 10**6),
    B=st.integers(1, 2**30),
    D=st.floats(1e-6, 2.0),
    share=st.floats(0, 1),
    uniforms=st.lists(st.fractions(-1, 1), min_size=5, max_size=7).filter(lambda u: len(u) % 2),
)
def test_report_is_near_the_real_answer(
    n: int, B: int, D: float, share: float, uniforms: list[Fraction]
) -> None:
    """floor(S + M V) = S + median of the floors, and the report is within 1/(2nB) of q + D V."""
    release = median_noise_release(n, B, D)
    assert release.M - 1 < Fraction(D) * n * B <= release.M
    total = int(share * n * B)
    noise = sorted(math.floor(release.M * u) for u in uniforms)[len(uniforms) // 2]
    assert noise == math.floor(release.M * median(uniforms))
    real = Fraction(total, n * B) + release.D * median(uniforms)
    assert abs(release.answer(total, noise) - real) <= Fraction(1, 2 * n * B)
    exact = release.D - Fraction(D) + Fraction(1, 2 * n * B)
    assert exact <= Fraction(release.extra_half_width) <= exact * (1 + Fraction(1, 10**13))
    assert release.extra_half_width <= 1.5000001 / (n * B)


def median_law(a: int, M: int) -> list[Fraction]:
    """P[median of 2a + 1 uniform integers on {-M, ..., M - 1} is i], exactly."""
    draws, size = 2 * a + 1, 2 * M

    def at_most(i: int) -> Fraction:  # at least a + 1 of the draws are <= i
        p = Fraction(i + M + 1, size)
        return sum(
            (math.comb(draws, j) * p**j * (1 - p) ** (draws - j) for j in range(a + 1, draws + 1)),
            Fraction(0),
        )

    below = [at_most(i) for i in range(-M - 1, M)]
    return [high - low for low, high in pairwise(below)]


@pytest.mark.parametrize("a", [2, 3])
@pytest.mark.parametrize(("M", "spread"), [(3, 1), (10, 4), (40, 15), (40, 0)])
def test_charge_bounds_the_exact_envelope(a: int, M: int, spread: int) -> None:
    """Sums S within alpha of the centre: 2 alpha nB + 1 of them; their envelope has mass kappa."""
    law = median_law(a, M)
    assert sum(law) == 1
    envelope = sum(
        max(
            law[i - shift] if 0 <= i - shift < len(law) else Fraction(0)
            for shift in range(spread + 1)
        )
        for i in range(len(law) + spread)
    )
    n, B = 7, 11
    charge = median_noise_log_charge(spread / (2 * n * B), n, B, M / (n * B), a)
    assert float(envelope) <= math.exp(charge)
    if spread > 1:  # sabotage: a charge for half of the spread is too small
        half = median_noise_log_charge((spread / 2 - 1) / (2 * n * B), n, B, M / (n * B), a)
        assert math.exp(half) < float(envelope)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="D is"):
        median_noise_release(10, 10, 0.0)
    with pytest.raises(InvalidArgument, match="B is"):
        median_noise_release(10, 0, 0.1)
    with pytest.raises(InvalidArgument, match="radius is"):
        median_noise_log_charge(-0.1, 10, 10, 0.1, 2)
