"""An adaptive analyst: features that know nothing of the labels vote, as the answers told them to.

Labels are fair coins that no feature knows anything of, so the truth of every question is 1/2. The
analyst learns on which side of 1/2 each feature fell in the sample, turns the features round
accordingly, lets them vote, and asks for the vote's agreement with the labels. In the sample that
agreement is far above 1/2. A trial fails when any of its intervals misses 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from holdfast.mechanisms.mechanism import Mechanism, Release, Wish
from holdfast.mechanisms.terms import Terms
from tests.mechanisms.fake import CONDITION, Session, Sums, of_count

ROWS, FEATURES, TRIALS, TRUTH = 1_000, 160, 24, 0.5
BETAS = [0.05, 0.001]
QUESTIONS = 102  # an odd number of features, so that a vote is never a tie, and the vote
Signs = NDArray[np.int64]


def features(trial: int) -> Signs:
    """For each row and feature, +1 where the feature agrees with the label and -1 where not."""
    rng = np.random.default_rng([20_26, trial])
    return 2 * rng.integers(0, 2, (ROWS, FEATURES)) - 1


def agreeing(votes: Signs) -> Sums:
    return of_count(ROWS, int(np.count_nonzero(votes > 0)))


def missed(release: Release) -> bool:
    return not release.interval.low <= TRUTH <= release.interval.high


def by_asking(
    mechanism: Mechanism, session: Session, wish: Callable[[], Wish], agreement: Signs
) -> bool:
    """Ask every feature; the answer's side of 1/2 is the feature's weight in the last question."""
    lies, weights = [], []
    for column in agreement.T:
        release = session.put(mechanism, wish(), agreeing(column))
        weights.append(1 if release.told > TRUTH else -1)
        lies.append(missed(release))
    vote = agreement @ np.array(weights)
    return any(lies) or missed(session.put(mechanism, wish(), agreeing(vote)))


def secret_of(trial: int) -> bytes:
    return blake2b(f"{trial}".encode(), digest_size=32).digest()


def attack(mechanism: Mechanism, session: Session, trial: int) -> bool:
    """As many features as the declared questions allow, at the declared tolerance."""
    assert session.terms.questions is not None
    asked = features(trial)[:, : session.terms.questions - 1]
    wish = Wish(CONDITION, session.terms.half_width)
    return by_asking(mechanism, session, lambda: wish, asked)


def attacks(mechanism: Mechanism, terms: Terms, *, charging: bool) -> list[bool]:
    """Which trials fail."""
    return [
        attack(mechanism, Session(terms, secret_of(trial), charging), trial)
        for trial in range(TRIALS)
    ]
