"""The voting analyst against `ask` and `check`: all intervals stay true; sabotage shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.data.sampling import declared
from holdfast.errors import BudgetExhausted
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import CONFIRMED, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.theory.base.concentration import BoundedMean
from holdfast.theory.leakage.equal_width import bounded_noise_half_width, claims_half_width
from tests.mechanisms import voting
from tests.mechanisms.fake import (
    CONDITION,
    SECRET,
    Session,
    independent,
    noise_of,
    of_count,
    said,
)
from tests.mechanisms.voting import (
    BETAS,
    FEATURES,
    ROWS,
    TRIALS,
    TRUTH,
    Signs,
    agreeing,
    features,
    missed,
    secret_of,
)
from tests.theory.coverage import LEVELS, most_failures, too_many

QUESTIONS = FEATURES + 1
Analyst = Callable[[Session, float, Signs], bool]


def by_asking(session: Session, t: float, agreement: Signs) -> bool:
    """Ask every feature with bounded noise."""
    return voting.by_asking(BOUNDED, session, lambda: Wish(CONDITION, t), agreement)


def by_checking(session: Session, t: float, agreement: Signs) -> bool:
    """Check "at most 1/2 + radius": confirmed tells that the sample's value is at most 1/2.

    Half of the guesses are refuted, so that every check gives one bit away: the worst analyst.
    """
    lies, weights = [], []
    for column in agreement.T:
        (offer,) = CHECKS.offer(session.terms, session.account, [claim(1.0, t)])
        bound = TRUTH + session.terms.concentration.radius(said(offer.log_p)) + 2.0**-45
        offer = replace(offer, claim=(0.0, bound), guess=bound)
        release = session.finish(CHECKS, offer, CONDITION, agreeing(column))
        weights.append(-1 if release.status == "confirmed" else 1)
        lies.append(missed(release))
    vote = agreement @ np.array(weights)
    last = session.put(BOUNDED, Wish(CONDITION, t), agreeing(vote))
    return any(lies) or missed(last)


def claim(bound: float, t: float) -> Wish:
    return Wish(CONDITION, t, (0.0, bound), bound)


def terms_for(t: float, beta: float) -> Terms:
    # Hoeffding's radius for the checks too, so that the boundary of "confirmed" is easy to aim at.
    return Terms(ROWS, t, 1 - beta, QUESTIONS, declared(sigma=BoundedMean(ROWS).sigma))


def failures(analyst: Analyst, t: float, beta: float, *, charging: bool) -> list[bool]:
    found = []
    for trial in range(TRIALS):
        session = Session(terms_for(t, beta), secret_of(trial), charging)
        found.append(analyst(session, t, features(trial)))
    return found


def honest_width(analyst: Analyst, beta: float) -> float:
    profile, log_beta = BoundedMean(ROWS), math.log(beta)
    if analyst is by_asking:
        return bounded_noise_half_width(profile, QUESTIONS, log_beta) * 1.001
    surprises = QUESTIONS // 2 + 30  # far more than half of the coins fall on one side
    return 1.05 * claims_half_width(profile, QUESTIONS, surprises, log_beta)


def careless_width(beta: float) -> float:
    """A little more than what one question needs: enough if answers leaked nothing."""
    return 1.1 * BoundedMean(ROWS).radius(math.log(beta / QUESTIONS))


ANALYSTS = pytest.mark.parametrize(
    "analyst", [by_asking, by_checking], ids=lambda each: each.__name__
)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@ANALYSTS
def test_intervals_stay_true_together(analyst: Analyst, beta: float) -> None:
    t = honest_width(analyst, beta)
    assert t < 0.5
    assert not too_many(failures(analyst, t, beta, charging=True), beta)


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
@ANALYSTS
def test_without_charges_they_do_not(analyst: Analyst, beta: float) -> None:
    assert too_many(failures(analyst, careless_width(beta), beta, charging=False), beta)


@pytest.mark.parametrize("beta", BETAS)
@ANALYSTS
def test_with_charges_that_width_is_refused(analyst: Analyst, beta: float) -> None:
    session = Session(terms_for(careless_width(beta), beta))
    with pytest.raises(BudgetExhausted):
        analyst(session, careless_width(beta), features(0))
    assert 0 < session.account.looks < QUESTIONS


@pytest.mark.statistical
@pytest.mark.parametrize("beta", BETAS)
def test_plain_intervals_of_the_sample_fail(beta: float) -> None:
    """Sabotage by a naive width: exact sample values with Bonferroni intervals."""
    width, failed = BoundedMean(ROWS).radius(math.log(beta / QUESTIONS)), []
    for trial in range(TRIALS):
        agreement = features(trial)
        vote = agreement @ np.where(agreement.sum(0) > 0, 1, -1)
        failed.append(abs(float(np.mean(vote > 0)) - TRUTH) > width)
    assert too_many(failed, beta)


# The step where `check` is tight: one fixed question, confirmed on the wrong side --------------


def confirmed_counts(
    n: int, bound: float, log_left: float | None, beta: float
) -> NDArray[np.bool_]:
    """For every count of n, whether "at most `bound`" is confirmed; `log_left` is sabotage."""
    terms = independent(n, tolerance=0.4, questions=1, confidence_level=1 - beta)
    (offer,) = CHECKS.offer(terms, Account(), [claim(bound, 0.4)])
    if log_left is not None:
        standing = {**(offer.extra or {})["standing"], "log_left": log_left}
        offer = replace(offer, extra={**(offer.extra or {}), "standing": standing})

    def status(count: int) -> bool:
        (symbol,) = CHECKS.respond(
            terms, [offer], [CONDITION], of_count(n, count), noise_of(SECRET)
        )
        return symbol == CONFIRMED

    return np.array([status(count) for count in range(n + 1)])


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), LEVELS)
@pytest.mark.parametrize("truth", [0.1, 0.5])
def test_a_false_claim_is_confirmed_no_more_often_than_promised(
    beta: float, trials: int, truth: float
) -> None:
    n = 200
    counts = np.random.default_rng(7).binomial(n, truth, trials)
    bound = truth - 1e-6  # the claim "at most this" is false
    table = confirmed_counts(n, bound, None, beta)
    failed = int(np.count_nonzero(table[counts]))
    assert failed <= most_failures(trials, beta)
    assert failed > 0.1 * beta * trials  # and the instance is tight enough to tell
    # Sabotage: as if much more were left (half of the nats that the level should have).
    careless = confirmed_counts(n, bound, math.log(beta) / 2, beta)
    assert too_many(careless[counts], beta)
