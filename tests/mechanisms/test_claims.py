"""Checks and gates: two symbols, one level left, worst charges over all paths, and a public order.

What rows show at a level is in `test_showing`; whole sessions are in `test_claim_sessions`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import BudgetExhausted, Refused
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS, GATES, Claims, Showing, reach_of_test
from holdfast.mechanisms.mechanism import Claim, Offer, Release, Symbol, Wish, about, walk
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.row import GRID
from holdfast.statistics.statistic import Statistic
from holdfast.theory.leakage.claim_levels import ordered_log_levels
from tests.mechanisms.fake import (
    ARMS,
    CONDITION,
    NUMBER,
    PAIRED,
    SECRET,
    Session,
    audited,
    claimed,
    dependent,
    every_claim,
    independent,
    leaked,
    noise_of,
    of_count,
    of_units,
    said,
    settled,
    wish_for,
)

DECLARED = {"nothing": {}, "declared": {"surprises": 2, "candidates": 8}}
every_declaration = pytest.mark.parametrize("declared", DECLARED.values(), ids=DECLARED)


def terms_of(declared: dict[str, Any], n: int = 900) -> Terms:
    return replace(independent(n), **declared)


def symbols_of(claims: Claims, path: Sequence[bool]) -> list[Symbol]:
    """The symbols of a path, on which these were expected."""
    symbols = (claims.silent, claims.shown)
    return [symbols[expected is claims.expects_shown] for expected in path]


def one_by_one(
    claims: Claims, terms: Terms, account: Account, wishes: Sequence[Wish], path: Sequence[bool]
) -> tuple[list[Offer], list[Release], Account]:
    """The same claims, each in a batch of its own."""
    offers, releases = [], []
    for wish, symbol in zip(wishes, symbols_of(claims, path), strict=True):
        (offer,) = claims.offer(terms, account, [wish])
        release = settled(claims, offer, symbol)
        account = claims.advance(account, [offer], [release])
        offers.append(offer)
        releases.append(release)
    return offers, releases, account


# A batch, in its order ------------------------------------------------------------------------


@every_claim
@every_declaration
@pytest.mark.parametrize("before", [(0, 0), (3, 0), (4, 2)])
def test_the_worst_charges_bound_every_path_of_a_batch(
    claims: Claims, declared: dict[str, int], before: tuple[int, int]
) -> None:
    terms, account = terms_of(declared), claimed(claims, *before)
    wishes = [wish_for(claims, CONDITION)] * 4
    offers = claims.offer(terms, account, wishes)
    # All of it survives the ledger.
    assert [Offer.from_dict(json.loads(json.dumps(each.to_dict()))) for each in offers] == offers
    dearest = [0.0] * 4
    for path in product((True, False), repeat=4):
        releases = claims.settle(offers, symbols_of(claims, path))
        for place, (offer, release) in enumerate(zip(offers, releases, strict=True)):
            assert 0.0 < release.charge <= offer.worst_charge
            dearest[place] = max(dearest[place], release.charge)
    # And each of them is reached: what is reserved is no more than what may be needed.
    assert dearest == pytest.approx([offer.worst_charge for offer in offers], rel=1e-12)


@every_claim
@every_declaration
@given(path=st.lists(st.booleans(), min_size=1, max_size=6), asked=st.integers(0, 9))
def test_a_batch_is_the_same_as_its_claims_one_after_another(
    claims: Claims, declared: dict[str, int], path: list[bool], asked: int
) -> None:
    """Charges, counts and the account after it; so nothing is gained or lost by asking at once."""
    terms, account = terms_of(declared), leaked(1.0, asked=asked)
    wishes = [wish_for(claims, CONDITION)] * len(path)
    offers = claims.offer(terms, account, wishes)
    releases = claims.settle(offers, symbols_of(claims, path))
    _, alone, after = one_by_one(claims, terms, account, wishes, path)
    assert [release.charge for release in releases] == [release.charge for release in alone]
    assert [release.number for release in releases] == [release.number for release in alone]
    assert claims.advance(account, offers, releases) == after
    made, unexpected = (getattr(after, name) for name in claims.tally)
    assert (made, unexpected) == (len(path), path.count(False))
    assert (after.asked, after.claims) == (asked, len(path))
    assert after.leakage.log_beta_spent == account.leakage.log_beta_spent, "they take no share"


def recording(claims: Claims, path: Sequence[bool], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """From now on rows show what the path wants; the levels that they are asked at."""
    levels: list[float] = []

    def at(place: int) -> Showing:
        def showing(_claim: Claim, log_p: float, _moment: float | None) -> bool:
            levels.append(log_p)
            return path[place] is claims.expects_shown

        return showing

    def showings(
        _terms: Terms, questions: Sequence[Statistic], *_inside_the_door: object
    ) -> list[Showing]:
        return [at(place) for place in range(len(questions))]

    monkeypatch.setattr("holdfast.mechanisms.claims.showings", showings)
    return levels


@every_claim
@every_declaration
@pytest.mark.parametrize("path", list(product((True, False), repeat=3)))
def test_respond_and_the_levels_of_the_theorem_agree(
    claims: Claims,
    declared: dict[str, int],
    path: tuple[bool, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The level inside the door is Theorem C's, and the one that the claim has by itself."""
    terms, account = terms_of(declared), claimed(claims, 2, 1)
    wishes = [wish_for(claims, CONDITION)] * 3
    offers = claims.offer(terms, account, wishes)
    seen = recording(claims, path, monkeypatch)
    noise = noise_of(SECRET)
    symbols = claims.respond(terms, offers, [CONDITION] * 3, of_count(900, 0), noise)
    assert symbols == symbols_of(claims, path)
    alone, _, _ = one_by_one(claims, terms, account, wishes, path)
    assert seen == [offer.log_p for offer in alone]
    weights = [
        1 - said(offer.prior) if claims.expects_shown else said(offer.prior) for offer in alone
    ]
    made = [symbol == claims.shown for symbol in symbols]
    by_theorem = ordered_log_levels(terms.log_beta, account.nats, weights, made[:-1])
    assert seen == pytest.approx(by_theorem, abs=1e-12)
    # The levels that offers name are those of the path that is expected.
    if all(path):
        assert seen == [offer.log_p for offer in offers]


def test_the_order_of_a_batch_is_public_and_matters() -> None:
    """After a surprise the next claim has less: two orders of the same claims differ as told."""
    n = 2_000
    terms, noise = independent(n), noise_of(SECRET)
    false = about(CONDITION, 0.3, 1.0)
    statuses = {}
    for t in (0.06 - 0.001 * step for step in range(40)):
        right = Wish(CONDITION, 0.3, (0.5 - t, 0.5 + t), 0.5)
        for name, wishes in (("first", [right, false]), ("last", [false, right])):
            _, releases, _ = walk(CHECKS, terms, Account(), wishes, of_count(n, n // 2), noise)
            found = {
                wish.guess: release.status for wish, release in zip(wishes, releases, strict=True)
            }
            statuses[t, name] = found[0.5]
    first, last = (
        [t for t, name in statuses if name == which and statuses[t, name] == "confirmed"]
        for which in ("first", "last")
    )
    assert min(first) < min(last), "a claim before the surprise may be narrower"
    assert set(last) < set(first)


def test_what_bets_decide_is_counted_and_charged_as_any_other_symbol() -> None:
    """With a public guess of the spread the test is another one; its yes and no are no others."""
    n = 900
    terms, sample, noise = independent(n), of_units([GRID // 2] * n), noise_of(SECRET)
    wishes = [replace(about(NUMBER, 0.3, guess), moment=0.01) for guess in (0.5, 0.9, 0.5)]
    _, releases, account = walk(CHECKS, terms, Account(), wishes, sample, noise)
    assert [each.status for each in releases] == ["confirmed", "not confirmed", "confirmed"]
    assert (account.checks, account.surprises) == (3, 1)
    path = [True, False, True]
    _, alone, after = one_by_one(CHECKS, terms, Account(), wishes, path)
    assert ([each.charge for each in releases], account) == ([e.charge for e in alone], after)
    gates = [Wish(NUMBER, 0.3, (bound, 1.0), moment=0.01, gated=True) for bound in (0.6, 0.4, 0.4)]
    _, releases, account = walk(GATES, terms, Account(), gates, sample, noise)
    assert [each.status for each in releases] == ["not shown", "shown", "shown"]
    assert (account.gates, account.shown) == (3, 2)


@every_claim
def test_an_audit_makes_every_level_again(claims: Claims) -> None:
    terms, account = independent(900), claimed(claims, 5, 1, 2.0)
    questions = [CONDITION, NUMBER, CONDITION]
    wishes = [wish_for(claims, question) for question in questions]
    wishes[1] = replace(wishes[1], moment=0.3)
    offers = claims.offer(terms, account, wishes)
    assert audited(claims, terms, account, offers, questions) is None
    other = claimed(claims, 5, 2, 2.0)
    assert audited(claims, terms, other, offers, questions) is not None
    for place in range(3):
        forged = list(offers)
        extra = offers[place].extra or {}
        standing = {**extra["standing"], "nats": 0.0}
        forged[place] = replace(offers[place], extra={**extra, "standing": standing})
        assert audited(claims, terms, account, forged, questions) == "way of answering"


# Priors ---------------------------------------------------------------------------------------


def test_surprises_are_expected_the_more_the_more_there_were() -> None:
    session, priors = Session(independent(5_000, questions=30)), []
    for guess in (0.5, 0.5, 0.9, 0.9, 0.5):
        wish = about(CONDITION, 0.1, guess)
        (offer,) = CHECKS.offer(session.terms, session.account, [wish])
        session.finish(CHECKS, offer, CONDITION, of_count(5_000, 2_500))
        priors.append(offer.prior)
    # By hand: B = 1, 19/20, 19/20 * 21/22 and eps = B b/(1 + B) until the first surprise.
    B = 19 / 20 * 21 / 22
    first = [1 / 40, 19 / 39 * 0.5 / 11, B / (1 + B) * 0.5 / 12]
    assert priors == pytest.approx([*first, 1.5 / 13, 2.5 / 14])
    assert (session.account.checks, session.account.surprises) == (5, 2)


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [(None, [0.5 / 10, 0.5 / 11, 1.5 / 12, 1.5 / 13]), (7, [1 / 8, 1 / 8, 2 / 8, 2 / 8])],
)
def test_a_gate_is_expected_to_be_shown_the_more_the_more_were(
    candidates: int | None, expected: list[float]
) -> None:
    session, priors = Session(replace(independent(5_000), candidates=candidates)), []
    for shown in (False, True, False, False):
        wish = wish_for(GATES, CONDITION, 0.1 if shown else 0.6)
        (offer,) = GATES.offer(session.terms, session.account, [wish])
        session.finish(GATES, offer, CONDITION, of_count(5_000, 2_500))
        priors.append(offer.prior)
    assert priors == pytest.approx(expected)
    assert (session.account.gates, session.account.shown) == (4, 1)


def test_checks_and_gates_are_counted_apart() -> None:
    terms, account = independent(5_000), Account()
    alone = {each: each.offer(terms, account, [wish_for(each, CONDITION)])[0].prior
             for each in (CHECKS, GATES)}  # fmt: skip
    for claims, other in ((CHECKS, GATES), (GATES, CHECKS)):
        *_, after = one_by_one(claims, terms, account, [wish_for(claims, CONDITION)] * 3,
                               [True, False, True])  # fmt: skip
        (offer,) = other.offer(terms, after, [wish_for(other, CONDITION)])
        assert offer.prior == alone[other]
        assert offer.number == 4
        # But what leaked, leaked for both.
        (fresh,) = other.offer(terms, account, [wish_for(other, CONDITION)])
        assert said(offer.log_p) == pytest.approx(said(fresh.log_p) - after.nats, abs=1e-9)


@given(run=st.lists(st.booleans(), min_size=1, max_size=8), batches=st.booleans())
def test_declared_surprises_set_one_prior_for_every_check(run: list[bool], batches: bool) -> None:
    """Alone or together, whatever came before: its charges are those that were planned with."""
    terms = replace(independent(50_000, questions=10), surprises=2)
    account, wishes = Account(), [about(CONDITION, 0.3, 0.5) for _ in run]
    parts = [range(len(run))] if batches else [[place] for place in range(len(run))]
    for places in parts:
        offers = CHECKS.offer(terms, account, [wishes[place] for place in places])
        symbols = symbols_of(CHECKS, [not run[place] for place in places])
        releases = CHECKS.settle(offers, symbols)
        assert {offer.prior for offer in offers} == {3 / 12}
        account = CHECKS.advance(account, offers, releases)
    assert (account.checks, account.surprises) == (len(run), sum(run))


# What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", [0, 2])
def test_the_candidate_after_the_last_is_refused(shown: int) -> None:
    terms, wish = replace(independent(900), candidates=4), wish_for(GATES, CONDITION)
    with pytest.raises(BudgetExhausted, match=r"requested candidate 5; remaining 0 of the 4 "):
        GATES.offer(terms, claimed(GATES, 4, shown), [wish])
    with pytest.raises(BudgetExhausted, match=r"requested candidate 5; .* missing 1"):
        GATES.offer(terms, claimed(GATES, 2, shown), [wish] * 3)
    assert len(GATES.offer(terms, claimed(GATES, 2, shown), [wish] * 2)) == 2
    # Even if all of them are shown: the weight of the last stays below 1.
    offers = GATES.offer(terms, Account(), [wish] * 4)
    releases = GATES.settle(offers, ["shown"] * 4)
    assert all(math.isfinite(release.charge) for release in releases)
    # Neither checks nor asks are candidates.
    assert CHECKS.offer(terms, claimed(GATES, 4, shown), [wish_for(CHECKS, CONDITION)])
    assert BOUNDED.offer(terms, claimed(GATES, 4, shown), [Wish(CONDITION, 0.3)])


@every_claim
def test_claims_are_none_of_the_declared_questions(claims: Claims) -> None:
    """They are refused when nothing of the failure probability is left, and not before."""
    terms, account, wish = independent(5_000, questions=3), Account(), wish_for(claims, CONDITION)
    for place in range(3):
        assert len(claims.offer(terms, account, [wish] * 20)) == 20
        (offer,) = BOUNDED.offer(terms, account, [Wish(CONDITION, 0.3)])
        account = BOUNDED.advance(account, [offer], [settled(BOUNDED, offer, 0)])
        left = math.log(0.05 * (1 - (place + 1) / 3)) if place < 2 else -math.inf
        if place < 2:
            (next_one,) = claims.offer(terms, account, [wish])
            weight = 1 - said(next_one.prior) if claims == CHECKS else said(next_one.prior)
            level = left + math.log(weight) - account.nats
            assert level - 1e-9 <= said(next_one.log_p) <= level
    with pytest.raises(BudgetExhausted, match="remaining nothing of the failure probability"):
        claims.offer(terms, account, [wish])


@every_claim
def test_no_claim_is_too_narrow_to_try(claims: Claims) -> None:
    wish = Wish(CONDITION, 1e-9, (0.5, 0.5), 0.5)
    release = Session(independent(30)).put(claims, wish, of_count(30, 15))
    assert release.status == claims.silent
    far = Session(independent(30), account=leaked(5_000.0))
    assert far.put(claims, wish_for(claims, CONDITION), of_count(30, 30)).status == claims.silent


@every_claim
def test_no_noise_is_drawn(claims: Claims) -> None:
    def none(number: int) -> Noise:
        raise AssertionError(f"noise of {number}")

    wishes = [wish_for(claims, CONDITION, guess) for guess in (0.0, 0.5, 1.0)]
    walk(claims, independent(400), Account(), wishes, of_count(400, 200), none)


def test_as_many_surprises_as_are_said_to_be_left_can_be_met() -> None:
    """Each refuted, and then asked at the declared tolerance: never more than are left."""
    for n in range(1_200, 2_400, 75):
        terms, account, met = independent(n, tolerance=0.1, questions=40), Account(), 0
        promised = CHECKS.surprises_left(terms, account, terms.concentration)
        while True:
            try:
                (offer,) = CHECKS.offer(terms, account, [about(NUMBER, 0.1, 0.5)])
                refuted = settled(CHECKS, offer, "not confirmed")
                account = CHECKS.advance(account, [offer], [refuted])
                (ask,) = BOUNDED.offer(terms, account, [Wish(NUMBER, 0.1)])
            except Refused:
                break
            account = BOUNDED.advance(account, [ask], [settled(BOUNDED, ask, 0)])
            met += 1
        assert promised == met, f"{n} rows"


def test_the_reach_of_a_test_is_known_where_its_interval_is_inside_it() -> None:
    """Of shares of rows that are alike, and of means; bets need not stay inside Hoeffding's."""
    alike, dependent_ = independent(900), dependent(900)
    unlike = replace(alike, design=ARMS)
    share, mean, paired = (Wish(each, 0.1) for each in (CONDITION, NUMBER, PAIRED))
    moment = replace(mean, moment=0.2)
    hoeffding = math.sqrt(math.log(2 * math.e**3) / (2 * 900))
    for wish, terms in ((share, alike), (mean, alike), (mean, unlike)):
        reach = reach_of_test(terms, wish, -3.0)
        assert reach == pytest.approx(hoeffding, rel=1e-6)
    for wish, terms in ((share, unlike), (moment, alike), (paired, alike), (moment, unlike)):
        assert reach_of_test(terms, wish, -3.0) is None
    declared_radius = dependent_.sampling.profile(900).radius(-3.0)
    for wish in (share, mean, moment):
        assert reach_of_test(dependent_, wish, -3.0) == pytest.approx(declared_radius)
