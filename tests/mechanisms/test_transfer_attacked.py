"""Median and Gaussian noise: the laws of their noise, and their intervals under attack."""

from __future__ import annotations

import math
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import norm

from holdfast.mechanisms.mechanism import Offer, Release, Wish, cell_of
from holdfast.mechanisms.terms import Account, Terms
from holdfast.mechanisms.transfer import Transfer
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.theory.transfer.gaussian_noise import gaussian_max_noise
from holdfast.theory.transfer.median_width import median_max_noise
from tests.mechanisms.fake import CONDITION, CONSTANT, SECRET, Session, noise_of, of_count
from tests.mechanisms.transferring import every_law, opened
from tests.mechanisms.voting import BETAS
from tests.theory.coverage import counts_refute, too_many

# The law of the noise -------------------------------------------------------------------------


def symbols(name: str, count: int) -> tuple[Offer, NDArray[np.float64]]:
    """The noise of `count` questions on a sample of zeros, as fractions of the range."""
    terms, mechanism = opened(name, rows=2_000)
    (offer,) = mechanism.offer(terms, Account(), [Wish(CONDITION, 0.4)])
    zeros, noise = of_count(2_000, 0), noise_of(SECRET)
    drawn = [
        mechanism.respond(terms, [replace(offer, number=j)], [CONDITION], zeros, noise)[0]
        for j in range(1, count + 1)
    ]
    return offer, np.array([cell_of(offer, symbol) / offer.own_grid.last for symbol in drawn])


def refuted(noise: NDArray[np.float64], edges: NDArray[np.float64]) -> bool:
    """Whether a chi-square test at level 1e-9 refutes that the cells are equally likely."""
    counts = np.bincount(np.searchsorted(edges, noise), minlength=len(edges) + 1)
    return counts_refute(counts, len(noise) / len(counts))


@pytest.mark.statistical
def test_median_noise_has_the_density_of_the_theorem() -> None:
    _, mechanism = opened("median noise", rows=2_000)
    offer, noise = symbols("median noise", 6_000)
    D, order = offer.own_grid.scale / (2_000 * GRID), mechanism.law.order  # type: ignore[attr-defined]
    levels = np.arange(1, 20) / 20

    def edges(a: int) -> NDArray[np.float64]:
        return np.asarray(D * (2 * betaincinv(a + 1, a + 1, levels) - 1))

    assert not refuted(noise, edges(order))
    assert refuted(noise, edges(order + 1))
    assert refuted(noise, 0.9 * edges(order))
    assert np.abs(noise).max() <= D


@pytest.mark.statistical
def test_gaussian_noise_is_normal() -> None:
    offer, noise = symbols("gaussian", 6_000)
    edges = offer.own_grid.scale / (2_000 * GRID) * norm.ppf(np.arange(1, 20) / 20)
    assert not refuted(noise, edges)
    assert refuted(noise, 0.9 * edges)


# Coverage under attack ------------------------------------------------------------------------

ROWS, FEATURES, TRIALS, TRUTH = 1_000, 100, 12, 0.5
SCALE = 0.2  # the sabotage: noise and half-width of this part of what they must be


def attacked(terms: Terms, mechanism: Transfer, trial: int) -> bool:
    """Features that know nothing vote, weighted by what the answers said; some interval fails?"""
    rng = np.random.default_rng([20_27, trial])
    agreement = rng.random((ROWS, FEATURES)) < TRUTH
    session = Session(terms, blake2b(str(trial).encode(), digest_size=32).digest())

    def put(agreeing: NDArray[np.bool_]) -> Release:
        sample = of_count(ROWS, int(np.count_nonzero(agreeing)))
        return session.put(mechanism, Wish(CONDITION, terms.half_width), sample)

    releases = [put(column) for column in agreement.T]
    weights = np.array([release.told - TRUTH for release in releases])
    releases.append(put((agreement - TRUTH) @ weights > 0))
    return any(not each.interval.low <= TRUTH <= each.interval.high for each in releases)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@every_law
def test_intervals_stay_true_under_attack_and_scaled_ones_do_not(name: str, beta: float) -> None:
    terms, mechanism = opened(name, ROWS, FEATURES + 1, beta=beta)
    assert not too_many([attacked(terms, mechanism, trial) for trial in range(TRIALS)], beta)
    small = [
        replace(epoch, scale=math.ceil(SCALE * epoch.scale), half_width=SCALE * epoch.half_width)
        for epoch in mechanism.epochs
    ]
    scaled = replace(mechanism, epochs=tuple(small))
    assert too_many([attacked(terms, scaled, trial) for trial in range(TRIALS)], beta)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@every_law
def test_the_noise_alone_stays_within_its_part(name: str, beta: float) -> None:
    """A constant has no sampling error, so what can fail is the largest of k noises, nearly tight.

    The half-width without its shift, at a share of the failure probability that the noise has.
    """
    questions, trials = 20, 250
    terms, mechanism = opened(name, 2_000, questions, beta=beta)
    (offer,) = mechanism.offer(terms, Account(), [Wish(CONSTANT, terms.half_width)])
    scale = offer.own_grid.scale / (2_000 * GRID)
    if name == "gaussian":
        largest = gaussian_max_noise(questions, math.log(beta))
    else:
        order = mechanism.law.order  # type: ignore[attr-defined]
        largest = median_max_noise(questions, order, math.log(beta))
    bound = scale * largest + GRID_ERROR
    zeros, worst = of_count(2_000, 0), []
    for trial in range(trials):
        noise = noise_of(blake2b(str(trial).encode(), digest_size=32).digest())
        drawn = [
            mechanism.respond(terms, [replace(offer, number=j)], [CONSTANT], zeros, noise)[0]
            for j in range(1, questions + 1)
        ]
        worst.append(max(abs(cell_of(offer, symbol)) for symbol in drawn) / offer.own_grid.last)
    assert not too_many(np.array(worst) > bound, beta)
    assert too_many(np.array(worst) > 0.7 * bound, beta)
