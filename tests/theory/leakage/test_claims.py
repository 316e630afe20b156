"""Theorem C: levels of claims, rounded down, one after another and at once."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.base.safeside import log_add
from holdfast.theory.leakage.claim_levels import (
    claim_log_level,
    confirmations_log_charge,
    log_left,
    ordered_log_levels,
    parallel_log_levels,
    surprise_log_level,
    surprise_prior,
)
from holdfast.theory.leakage.nats import (
    LeakageAccount,
    confirmed_log_charge,
    surprise_log_charge,
)

LAWS = (
    "claim_log_level",
    "confirmations_log_charge",
    "log_left",
    "ordered_log_levels",
    "parallel_log_levels",
    "surprise_log_level",
)

LOG_03 = math.log(0.03)
weights = st.floats(1e-6, 1 - 1e-6)


@given(log_beta=st.floats(-60, 0), log_spent=st.floats(-60, 0))
def test_what_is_left_is_rounded_down(log_beta: float, log_spent: float) -> None:
    left = log_left(log_beta, log_spent)
    with mpmath.workdps(60):
        exact = mpmath.exp(log_beta) - mpmath.exp(log_spent)
        if exact <= 0:
            assert left == -math.inf
            return
        assert left <= mpmath.log(exact)
        if exact > 1e-6 * mpmath.exp(log_beta):
            assert left >= mpmath.log(exact) - 1e-8


def test_nothing_is_left_where_all_is_spent() -> None:
    assert log_left(LOG_03, LOG_03) == -math.inf
    with pytest.raises(InvalidArgument, match="log_left"):
        claim_log_level(log_left(LOG_03, LOG_03), 0.5, 0.0)


@given(log_left=st.floats(-60, 0), weight=weights, nats=st.floats(0, 500))
def test_levels_of_claims_are_rounded_down(log_left: float, weight: float, nats: float) -> None:
    with mpmath.workdps(60):
        claim = log_left + mpmath.log(weight) - mpmath.mpf(nats)
        # A check's weight is 1 - eps in floats: also that is covered.
        confirmed = log_left + mpmath.log1p(-mpmath.mpf(weight)) - mpmath.mpf(nats)
        assert claim_log_level(log_left, weight, nats) <= claim
        assert surprise_log_level(log_left, weight, nats) <= claim
        assert claim_log_level(log_left, weight, nats) >= claim - 1e-13 * (1 - claim)
        if weight < 0.5:
            assert claim_log_level(log_left, 1.0 - weight, nats) <= confirmed


@given(c=st.integers(0, 400))
def test_confirmations_cost_what_they_cost_one_by_one(c: int) -> None:
    one_by_one = math.fsum(confirmed_log_charge(surprise_prior(i, 0)) for i in range(c))
    assert confirmations_log_charge(c) == pytest.approx(one_by_one, abs=1e-11)
    assert confirmations_log_charge(c) < math.log(2)


@given(
    nats=st.floats(0, 50),
    checks=st.lists(st.tuples(weights, st.booleans()), min_size=1, max_size=8),
)
def test_a_batch_in_order_is_a_history_that_was_planned(
    nats: float, checks: list[tuple[float, bool]]
) -> None:
    account = LeakageAccount(nats=nats)
    expected = []
    for weight, claimed in checks:
        expected.append(claim_log_level(LOG_03, weight, account.nats))
        own = surprise_log_charge(weight, 0.0) if claimed else confirmed_log_charge(weight)
        account = account.charge(own)
    found = ordered_log_levels(LOG_03, nats, *zip(*checks, strict=True))
    assert found == expected
    assert ordered_log_levels(LOG_03, nats, [w for w, _ in checks], []) == expected[:1]


def test_a_decided_check_has_a_weight() -> None:
    with pytest.raises(InvalidArgument, match="2 checks are decided and 1 have a weight"):
        ordered_log_levels(LOG_03, 0.0, [0.5], [True, False])
    assert parallel_log_levels(LOG_03, 0.0, []) == []


@given(batch=st.lists(weights, min_size=1, max_size=6), data=st.data())
def test_checks_decided_at_once_share_what_the_prior_draws(
    batch: list[float], data: st.DataObject
) -> None:
    """For every set of false claims: their levels add to at most beta times its probability."""
    levels = parallel_log_levels(LOG_03, 0.0, batch)
    false = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
    drawn = -math.expm1(
        math.fsum(math.log1p(-u) for u, wrong in zip(batch, false, strict=True) if wrong)
    )
    spent = [level for level, wrong in zip(levels, false, strict=True) if wrong]
    if spent:
        assert math.exp(log_add(*spent)) <= 0.03 * drawn * (1 + 1e-12)
        assert math.exp(log_add(*levels)) <= 0.03
