"""The composition experiment: what is proved holds, a tenth of what is measured does not."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.studies import ComposedRun, composition, measured_eta
from holdfast.theory.typical.calibrated_noise import gaussian_scale


@pytest.mark.statistical
def test_what_is_proved_holds_and_its_twin_is_broken() -> None:
    found = composition(6, run=Run(trials=40))
    by = {row.holder.partition(":")[0]: row for row in found.rows}
    assert {name for name, row in by.items() if row.promises} >= {
        "laplace, printed",
        "laplace, sharp",
        "gaussian, sharp",
        "printed gaussian, sharp",
    }
    for name, row in by.items():
        assert row.holds is row.promises, name
    proved, measured = (
        float(by["laplace, sharp"].holder.split(word)[1].split(",")[0])
        for word in (" eta ", "red ")
    )
    assert measured < proved < 6 * 0.5 + 1e-9


def test_the_log_ratio_is_that_of_the_noise() -> None:
    """Gaussian answers a radius off: normal, with mean k mu^2/2 and variance k mu^2."""
    ratios = [ComposedRun("gaussian", 4, 1.0).log_ratio(3, number) for number in range(150)]
    mu = 1 / gaussian_scale(1.0, 3.0, math.log(1e-6))
    spread = math.sqrt(4) * mu
    assert np.mean(ratios) == pytest.approx(2 * mu * mu, abs=5 * spread / math.sqrt(150))
    assert np.std(ratios) == pytest.approx(spread, rel=0.3)


def test_the_measured_eta_is_the_gaussian_curve() -> None:
    m, tau = 1.5, 0.01
    normal = NormalDist(m * m / 2, m)
    ratios = [normal.inv_cdf((i + 0.5) / 20_000) for i in range(20_000)]
    eta, cdf = measured_eta(ratios, tau), NormalDist().cdf
    assert cdf(m / 2 - eta / m) - math.exp(eta) * cdf(-m / 2 - eta / m) == pytest.approx(
        tau, rel=0.01
    )
    assert measured_eta([-1.0, -2.0], tau) == 0.0
