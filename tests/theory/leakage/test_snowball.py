"""The snowball: an adaptive analyst who makes the leakage recurrence bite."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.leakage.equal_width import bounded_noise_half_width
from holdfast.theory.leakage.nats import LeakageAccount, ask_log_cost, fixed_share
from tests.theory.coverage import too_many

LAWS = ("bounded_noise_half_width",)

UNIT = SubGaussian(1.0)
Array = NDArray[np.float64]


def _radii(k: int, t: float, log_beta: float) -> list[float]:
    account, share, radii = LeakageAccount(), fixed_share(log_beta, k), []
    for _ in range(k):
        radius = account.radius(UNIT, share)
        radii.append(radius)
        account = account.ask(share).charge(ask_log_cost(radius, t))
    return radii


def _snowball(t: float, radii: list[float], scale: float, trials: int) -> NDArray[np.bool_]:
    """Which trials break, noise and half-width being scaled.

    The analyst knows that the sample is in a set A of probability e^{-L} (at first L = 0). The next
    question is 0 outside A and takes n + 1 evenly spaced values from -r to r on equal parts of A,
    with 2 e^{-r^2/2} = e^{-L}: its mean is 0 and P[|q| > a] <= 2 e^{-a^2/2} for every a, as for any
    question of scale 1. The answer q + D U leaves the parts whose value is within D of it, all
    equally likely, and their union is the next A: so only L need be remembered, and the part in
    which the sample is may be drawn when it is asked for. n is chosen to learn most on average.
    """
    generator = np.random.default_rng(5)
    L, broken = np.zeros(trials), np.zeros(trials, dtype=bool)
    for radius in radii:
        D = scale * (t - radius)
        r = np.sqrt(2 * (math.log(2) + L))
        fewer = np.maximum(np.floor(r / D), 1)
        more = np.floor(r / D) + 1
        n = np.where(_gain(more, r / D) > _gain(fewer, r / D), more, fewer)
        spacing = 2 * r / n
        q = spacing * np.floor(generator.random(trials) * (n + 1)) - r
        answer = q + D * generator.uniform(-1, 1, trials)
        broken |= np.abs(answer) > scale * t
        first = np.maximum(np.ceil((answer - D + r) / spacing - 1e-9), 0)
        last = np.minimum(np.floor((answer + D + r) / spacing + 1e-9), n)
        L += np.log((n + 1) / (last - first + 1))
    return broken


def _gain(n: Array, reach: Array) -> Array:
    """Expected nats from n + 1 values: ln(n + 1), less ln 2 where two neighbours are confused."""
    confused = np.clip(2 * n * (1 - reach / n) / (n + 1), 0, 1)
    return np.asarray(np.log(n + 1) - confused * math.log(2))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("k", "sabotage", "trials"), [(100, 0.8, 20_000), (300, 0.88, 10_000), (1000, 0.9, 4_000)]
)
@pytest.mark.parametrize("beta", [0.05, 0.001])
def test_the_snowball_breaks_what_is_scaled_and_not_what_is_planned(
    k: int, sabotage: float, trials: int, beta: float
) -> None:
    t = bounded_noise_half_width(UNIT, k, math.log(beta))
    radii = _radii(k, t, math.log(beta))
    assert not too_many(_snowball(t, radii, 1.0, trials), beta)
    assert too_many(_snowball(t, radii, sabotage, trials), beta)
