"""Losses of regression: exact coverage in worlds of few losses, widths, R2."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import ArrayLike
from scipy.stats import binom

from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import bounded_mean_interval
from holdfast.theory.direct.losses import (
    enclosed_moment_interval,
    loss_ratio_lower,
    moment_upper,
    positive_mean_lower,
    root_interval,
)
from holdfast.theory.direct.paired import sign_test_log_p
from tests.theory.direct.worlds import coin, miss, shrunk

LAWS = ("loss_ratio_lower", "moment_upper", "positive_mean_lower")


def r2_interval(
    losses: ArrayLike,
    base: ArrayLike,
    caps: tuple[float, float],
    log_p: float,
    times: ArrayLike | None = None,
) -> Interval:
    """R2 = 1 - E l / E l0 by the ratio either way round, at half the level each."""
    side = log_p - math.log(2)
    least = loss_ratio_lower(losses, base, caps[1], side, times)
    inverse = loss_ratio_lower(base, losses, caps[0], side, times)
    return Interval(1.0 - 1.0 / inverse if inverse else -math.inf, 1.0 - least)


# Rows lose (1, 2) or (0, 1/2) against the baseline: both are large together.
LOSSES, BASE = [0.0, 1.0], [0.5, 2.0]
ROWS = coin(80, Fraction(1, 3))
SAMPLES = list(ROWS.samples())


@pytest.mark.parametrize(("p", "factor"), [(0.05, 0.4), (1e-3, 0.5), (1e-6, 0.6)])
def test_exact_coverage_of_r2(p: float, factor: float) -> None:
    table = {c: r2_interval(LOSSES, BASE, (1.0, 2.0), math.log(p), c) for c, _ in SAMPLES}
    truth = 1 - Fraction(1, 3) / (Fraction(1, 3) * 2 + Fraction(2, 3) / 2)
    assert miss(SAMPLES, table.__getitem__, truth) <= p

    def sabotaged(c: tuple[int, ...]) -> Interval:
        return shrunk(table[c], 1 - c[1] / (2 * c[1] + c[0] / 2), factor)

    assert miss(SAMPLES, sabotaged, truth) > p


@pytest.mark.parametrize(("q", "factor"), [(0.05, 0.4), (1e-3, 0.5), (1e-6, 0.5)])
def test_exact_coverage_of_a_mean_without_a_range(q: float, factor: float) -> None:
    """Losses 0 and 5, the latter with chance 1/3: the lower end needs no upper bound."""
    table = {c: positive_mean_lower([0.0, 5.0], math.log(q), c) for c, _ in SAMPLES}
    truth = Fraction(5, 3)
    assert miss(SAMPLES, lambda c: Interval(table[c], math.inf), truth) <= q

    def sabotaged(c: tuple[int, ...]) -> Interval:
        seen = 5 * c[1] / 80
        return Interval(seen - factor * (seen - table[c]), math.inf)

    assert miss(SAMPLES, sabotaged, truth) > q


@pytest.mark.parametrize("q", [0.05, 1e-3, 1e-7])
@pytest.mark.parametrize(("kappa", "n"), [(2.0, 20), (6.0, 300), (12.0, 1000)])
def test_exact_coverage_of_the_moment_bound(q: float, kappa: float, n: int) -> None:
    """Losses 0 and kappa with mean 1: E l^2 is just kappa. Twins: radius times .5, kappa halved."""
    counts = np.arange(n + 1)
    chances = binom.pmf(counts, n, 1 / kappa)
    log_q = math.log(q)

    def missed(factor: float, declared: float) -> float:
        means = kappa * counts / n
        upper = np.array([moment_upper(mean, n, declared, log_q) for mean in means])
        with np.errstate(invalid="ignore"):
            ends = np.where(np.isinf(upper), math.inf, means + factor * (upper - means))
        return float(chances[ends < 1.0].sum())

    assert missed(1.0, kappa) <= q
    if moment_upper(1.0, n, kappa, log_q) < math.inf:
        assert missed(0.5, kappa) > q
    if n == 1000:
        assert missed(1.0, kappa / 2) > q


def test_widths_of_squared_residuals() -> None:
    """n = 1,000 normal residuals, p = 5e-4: [.764, 1.137] capped and 1.382 with kappa = 6."""
    residuals = np.random.default_rng(6).normal(size=1000)
    residuals /= residuals.std()
    squares, cap = residuals**2, 2.576**2
    capped = bounded_mean_interval(np.minimum(squares / cap, 1.0), math.log(5e-4))
    low, high = (cap * end for end in capped)
    assert high - low == pytest.approx(1.137 - 0.764, abs=0.02)
    assert low < float(np.minimum(squares, cap).mean()) < high
    rmse = root_interval(Interval(low, high))
    assert rmse.low**2 == pytest.approx(low)
    assert rmse.high**2 == pytest.approx(high)
    found = enclosed_moment_interval(squares, squares, 6.0, math.log(5e-4))
    assert found.high == pytest.approx(1.382, abs=0.02)
    assert 0.7 < found.low < 1.0


def test_width_of_r2() -> None:
    """A model that explains .82 of the variance, n = 1,000: about +-.043 at p = 5e-4."""
    rng = np.random.default_rng(7)
    signal, noise = math.sqrt(4.55) * rng.normal(size=1000), rng.normal(size=1000)
    cap = 2.576**2
    losses = np.minimum(noise**2, cap)
    base = np.minimum((signal + noise) ** 2, 5.55 * cap)
    low, high = r2_interval(losses, base, (cap, 5.55 * cap), math.log(5e-4))
    seen = 1 - losses.sum() / base.sum()
    assert low < seen < high
    assert high - low < 0.115


def test_closer_on_more_rows_goes_round_in_a_circle() -> None:
    """Each of three models is closer than the next on two rows of three: such verdicts may never
    be chained, as differences of means may.
    """
    kinds = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]]).T  # a model's absolute residuals
    a, b, c = np.repeat(kinds, 100, axis=1)
    for first, second in ((a, b), (b, c), (c, a)):
        closer, further = int((first < second).sum()), int((first > second).sum())
        assert sign_test_log_p(closer, further) < math.log(1e-7)
    assert a.mean() == b.mean() == c.mean()


pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 3)), min_size=1, max_size=30)


@given(rows=pairs, log_p=st.floats(-20, -0.5), scale=st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_ratios_hold_the_sample_exchange_and_scale(
    rows: list[tuple[float, float]], log_p: float, scale: float
) -> None:
    losses, base = (np.array(side) for side in zip(*rows, strict=True))
    low, high = r2_interval(losses, base, (1.0, 3.0), log_p)
    assert low <= high <= 1.0
    if base.sum() > 1e-6:
        seen = 1 - losses.sum() / base.sum()
        assert low - 1e-9 <= seen <= high + 1e-9
    wider = r2_interval(losses, base, (1.0, 3.0), log_p - 1.0)
    assert wider.low <= low + 1e-9 * min(abs(low), 1e6)
    assert wider.high >= high - 1e-9
    ratio = loss_ratio_lower(losses, base, 3.0, log_p)
    scaled = loss_ratio_lower(scale * losses, base, 3.0, log_p)
    assert scaled == pytest.approx(scale * ratio, rel=1e-6, abs=1e-12)
    mean = positive_mean_lower(losses, log_p)
    assert 0.0 <= mean <= losses.mean() + 1e-9
    assert positive_mean_lower(scale * losses, log_p) == pytest.approx(scale * mean, rel=1e-6)


def test_what_nothing_can_be_said_of() -> None:
    assert moment_upper(1.0, 20, 12.0, -5.0) == math.inf
    assert enclosed_moment_interval([], [], 6.0, -3.0) == Interval(0.0, math.inf)
    assert 2.0 <= moment_upper(2.0, 10, 1.0, -5.0) < 2.05
    assert r2_interval([], [], (1.0, 1.0), -3.0) == Interval(-math.inf, 1.0)
    assert r2_interval([0.5, 0.2], [0.0, 0.0], (1.0, 1.0), -3.0).low == -math.inf
    with pytest.raises(InvalidArgument, match="same rows"):
        loss_ratio_lower([1.0], [1.0, 2.0], 2.0, -3.0)
    with pytest.raises(InvalidArgument, match="above the largest"):
        loss_ratio_lower([1.0], [3.0], 2.0, -3.0)
    with pytest.raises(InvalidArgument, match="not a number"):
        positive_mean_lower([1.0, math.inf], -3.0)
    with pytest.raises(InvalidArgument, match="kappa"):
        moment_upper(1.0, 10, 0.5, -3.0)
