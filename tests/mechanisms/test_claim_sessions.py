"""Whole sessions of asks, checks and gates: everything claimed is true together, as promised.

The first worlds are so small that every sample is enumerated, so that the probability of a failure
is exact. The worst world of all is in `tests/theory/leakage/test_claim_worlds`; here it is the
mechanisms that are walked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from holdfast.ledger.dictionaries import after_opening, stake_in
from holdfast.mechanisms.bounded_noise import ROUNDED
from holdfast.mechanisms.claims import CHECKS, GATES, more_than
from holdfast.mechanisms.mechanism import Wish
from holdfast.mechanisms.terms import Account
from holdfast.statistics.mean_events import Share
from holdfast.theory.direct.paired import sign_test_log_p
from tests.mechanisms.fake import CONDITION, PAIRED, Session, independent, of_count, of_pairs
from tests.theory.coverage import too_many

# Two features that know nothing of the label, and what can be made of them: each is right on half
# of the population, whatever it is on the sample.
N, BETA = 10, 0.3
FEATURES: Mapping[str, Callable[[bool, bool], bool]] = {
    "a": lambda a, b: a,
    "b": lambda a, b: b,
    "same": lambda a, b: a == b,
}
CELLS = list(itertools.product((True, False), repeat=2))
MORE, LESS = (more_than(0.5), 1.0), (0.0, math.nextafter(0.5, 0.0))  # both are false


def worlds() -> Iterator[tuple[dict[str, int], float]]:
    """How many rows each feature is right on, and how likely that is."""
    for bars in itertools.combinations(range(N + 3), 3):
        edges = (-1, *bars, N + 3)
        times = [high - low - 1 for low, high in itertools.pairwise(edges)]
        right = {
            name: sum(count for cell, count in zip(CELLS, times, strict=True) if feature(*cell))
            for name, feature in FEATURES.items()
        }
        yield right, float(multinomial.pmf(times, N, [0.25] * 4))


def deceived(session: Session, right: Mapping[str, int], *, ask: bool) -> bool:
    """An analyst who wants something false to be claimed; whatever was told tells her what to try.

    She asks about one feature, checks what is true to learn of another, and then claims of each
    that it is better, or worse, than it is, on the side where it seems to be.
    """
    failed = False
    seems_more = dict.fromkeys(FEATURES, True)
    if ask:
        told = session.put(ROUNDED, Wish(CONDITION, 0.49), of_count(N, right["a"]))
        failed |= not told.interval.low <= 0.5 <= told.interval.high
        seems_more["a"] = told.told >= 0.5
        true = Wish(CONDITION, 0.3, (0.0, 0.95), 0.95)
        said = session.put(CHECKS, true, of_count(N, right["b"]))
        seems_more["b"] = said.status == "not confirmed"
    for name, count in right.items():
        for more in (seems_more[name], not seems_more[name]):
            claim = MORE if more else LESS
            mechanism = GATES if name == "same" else CHECKS
            release = session.put(mechanism, Wish(CONDITION, 0.3, claim), of_count(N, count))
            failed |= release.value is not None
    return failed


def failure(*, ask: bool, charging: bool = True) -> float:
    terms = independent(N, tolerance=0.49, questions=3, confidence_level=1 - BETA)
    return math.fsum(
        chance
        for right, chance in worlds()
        if deceived(Session(terms, charging=charging), right, ask=ask)
    )


@pytest.mark.parametrize("ask", [False, True])
def test_everything_claimed_is_true_together(ask: bool) -> None:
    assert 0.02 < failure(ask=ask) <= BETA


@pytest.mark.parametrize("ask", [False, True])
def test_without_charges_it_is_not(ask: bool) -> None:
    assert failure(ask=ask, charging=False) > BETA


def test_at_the_full_level_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the weight of the symbol and what has leaked, every claim has all that is left."""
    monkeypatch.setattr("holdfast.mechanisms.claims.claim_level", lambda left, _weight, _nats: left)
    assert failure(ask=False) > BETA


# Shares that are spent -------------------------------------------------------------------------


def spent_and_claimed() -> float:
    """A dictionary has half of what may fail, and a check has the rest; each of its own coins.

    It is opened, a false claim is checked, and then its one question is asked: nothing that was
    told helps anybody. The probability that either fails, both at the worst place, is exact.
    """
    n, terms = 1_000, independent(1_000, tolerance=0.49, questions=3, confidence_level=1 - BETA)
    stake = stake_in(terms, Account(), 0.5)
    session = Session(terms, account=after_opening(Account(), stake, 0.5))
    (offer,) = CHECKS.offer(terms, session.account, [Wish(CONDITION, 0.3, MORE)])
    confirmed = [
        count
        for count in range(n // 2, n // 2 + 100)
        if session.respond(CHECKS, offer, CONDITION, of_count(n, count)) == "confirmed"
    ]
    rule = Share(n, stake.log_level, (), alike=True)
    intervals = [rule.decode((count,)).interval for count in range(n + 1)]
    missed = [count for count, (low, high) in enumerate(intervals) if not low <= 0.4 <= high]
    claimed, wrong = binom.pmf(confirmed, n, 0.5).sum(), binom.pmf(missed, n, 0.4).sum()
    return float(1 - (1 - claimed) * (1 - wrong))


def test_what_a_dictionary_took_is_not_claimed_with_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.8 * BETA < spent_and_claimed() <= BETA
    # The twin: a claim that has all of it, whatever was spent.
    monkeypatch.setattr("holdfast.mechanisms.claims.log_left", lambda whole, _spent: whole)
    assert spent_and_claimed() > BETA


# A climber on gates ---------------------------------------------------------------------------

SESSIONS, CANDIDATES, ROWS, DIFFERING = 1_000, 10, 400, 0.1


def climbs(beta: float) -> tuple[list[bool], list[bool]]:
    """Whether any of the candidates, none better than the incumbent, is promoted in a session.

    By gates; and, the twin, by a test of each at the level that is promised for all.
    """
    rng = np.random.default_rng(20_29)
    chances = [DIFFERING / 2, DIFFERING / 2, 1 - DIFFERING]
    drawn = rng.multinomial(ROWS, chances, (SESSIONS, CANDIDATES)).tolist()
    terms = independent(ROWS, confidence_level=1 - beta)
    gate = Wish(PAIRED, 0.3, MORE, gated=True)
    gated, each_alone = [], []
    for candidates in drawn:
        session = Session(terms)
        statuses = [
            session.put(GATES, gate, of_pairs(same, b, c)).status for b, c, same in candidates
        ]
        gated.append("shown" in statuses)
        each_alone.append(any(sign_test_log_p(b, c) <= math.log(beta) for b, c, _ in candidates))
    return gated, each_alone


@pytest.mark.statistical
@pytest.mark.parametrize("beta", [0.05])
def test_candidates_that_are_no_better_are_promoted_no_more_often_than_promised(
    beta: float,
) -> None:
    gated, each_alone = climbs(beta)
    assert any(gated), "the instance can tell"
    assert not too_many(gated, beta)
    assert too_many(each_alone, beta)
