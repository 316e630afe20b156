"""Bounded noise, checks and gates: one door, public memory, charges and addressed noise.

The same for every mechanism of the catalogue is in `test_catalogue` and `test_invariants`.
"""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given, strategies as st
from scipy.stats import norm

from holdfast.errors import BudgetExhausted, ToleranceTooTight
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS, GATES, Claims
from holdfast.mechanisms.mechanism import Mechanism, Offer, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.mean import KnownVariance, Mean
from holdfast.theory.base.concentration import BinomialMean, BoundedMean
from tests.mechanisms.fake import (
    ALL,
    ARMS,
    CONDITION,
    CONSTANT,
    GUESSES,
    NUMBER,
    SECRET,
    Session,
    Sums,
    claimed,
    dependent,
    every_claim,
    every_mechanism,
    every_question,
    independent,
    leaked,
    noise_of,
    of_count,
    reach_of,
    said,
    settled,
    wish_for,
)


def alphabet(mechanism: Mechanism, offer: Offer) -> list[Symbol]:
    """The symbols at the ends of the offer's public alphabet, and some inside."""
    if isinstance(mechanism, Claims):
        return [mechanism.shown, mechanism.silent]
    last, reach = offer.own_grid.last, reach_of(offer)
    return [-reach, 0, last // 3, last + reach]


def test_the_suite_covers_all_mechanisms() -> None:
    assert [BOUNDED, CHECKS, GATES] == ALL


# Invariant 1: one door ------------------------------------------------------------------------


@every_mechanism
def test_only_respond_receives_the_sample(mechanism: Mechanism) -> None:
    for name in ("offer", "respond", "settle", "advance"):
        parameters = inspect.signature(getattr(mechanism, name)).parameters.values()
        given_data = {p.name for p in parameters if "Sample" in str(p.annotation)}
        assert given_data == ({"sample"} if name == "respond" else set())


@every_mechanism
@every_question
def test_one_scan_answers_a_batch(mechanism: Mechanism, question: Mean) -> None:
    scans: list[int] = []

    class Counting(Sums):
        def sums(self, rows):  # type: ignore[no-untyped-def]
            scans.append(len(rows))
            return super().sums(rows)

        def moments(self, rows):  # type: ignore[no-untyped-def]
            scans.append(len(rows))
            return super().moments(rows)

        def histograms(self, asked):  # type: ignore[no-untyped-def]
            scans.append(len(asked))
            return super().histograms(asked)

    terms, wishes = independent(500), [wish_for(mechanism, question)] * 3
    offers = mechanism.offer(terms, Account(), wishes)
    sample = Counting(500, lambda _: (0, 0), binned=of_count(500, 0).binned)
    symbols = mechanism.respond(
        terms, offers, [wish.question for wish in wishes], sample, noise_of(SECRET)
    )
    reads = mechanism == BOUNDED or question is not CONSTANT  # a constant shows itself unread
    assert scans == ([3] if reads else [])
    assert len(symbols) == 3


# Invariant 2: public memory -------------------------------------------------------------------


@every_mechanism
@given(nats=st.floats(0, 20), asked=st.integers(0, 9), data=st.data())
def test_offers_are_functions_of_the_transcript(
    mechanism: Mechanism, nats: float, asked: int, data: st.DataObject
) -> None:
    question = data.draw(st.sampled_from([CONDITION, NUMBER, CONSTANT]))
    checks = data.draw(st.integers(0, asked))
    account = leaked(nats, asked=asked, checks=checks, surprises=data.draw(st.integers(0, checks)))
    wish = wish_for(mechanism, question, data.draw(st.sampled_from(GUESSES)))
    (offer,) = mechanism.offer(independent(2_000), account, [wish])
    assert [offer] == mechanism.offer(independent(2_000), account, [wish])
    assert offer.number == account.looks + 1
    # And they survive the ledger: written and read, the same offer.
    assert Offer.from_dict(json.loads(json.dumps(offer.to_dict()))) == offer


@every_mechanism
@every_question
def test_accounts_are_folds_of_symbols_whatever_the_sample(
    mechanism: Mechanism, question: Mean
) -> None:
    terms, accounts = independent(500), []
    for _ in range(2):
        account = Account()
        for place in range(4):
            (offer,) = mechanism.offer(terms, account, [wish_for(mechanism, question)])
            choice = alphabet(mechanism, offer)
            release = settled(mechanism, offer, choice[place % len(choice)])
            account = mechanism.advance(account, [offer], [release])
        accounts.append(account)
    assert accounts[0] == accounts[1]
    assert accounts[0].looks == 4
    assert accounts[0].asked == (4 if mechanism == BOUNDED else 0)
    assert accounts[0].nats > 0


# Invariant 3: charge first, and enough --------------------------------------------------------


@given(
    nats=st.floats(0, 30),
    n=st.integers(300, 10**6),
    place=st.floats(0, 1),
    question=st.sampled_from([CONDITION, NUMBER]),
)
@example(nats=0.0, n=300, place=0.0, question=CONDITION)
@example(nats=0.0, n=300, place=1.0, question=CONDITION)
@example(nats=0.0, n=300, place=0.5, question=CONDITION)
def test_no_symbol_is_under_charged(nats: float, n: int, place: float, question: Mean) -> None:
    """Theorem L's condition, counted exactly for a population with this truth.

    Outside bad_j the sample's value is within the radius of the truth, so the noisy cell has
    probability 1/(2m + 1) on cells of a known stretch; W is uniform on that stretch.
    """
    (offer,) = BOUNDED.offer(independent(n), leaked(nats), [Wish(question, 0.3)])
    theta, alpha, G, m = (
        Fraction(place),
        Fraction(said(offer.radius)),
        offer.own_grid.last,
        reach_of(offer),
    )
    first = math.floor(max(Fraction(0), theta - alpha) * G + Fraction(1, 2))
    last = math.floor(min(Fraction(1), theta + alpha) * G + Fraction(1, 2))
    log_kappa = math.log1p((last - first) / (2 * m + 1))
    for symbol in (first, last):
        charge = settled(BOUNDED, offer, symbol).charge
        assert log_kappa <= charge <= offer.worst_charge
        if alpha <= theta <= 1 - alpha:  # nor is it over-charged, away from the ends
            assert charge <= log_kappa + 1e-5


@every_claim
@given(nats=st.floats(0, 30), made=st.integers(0, 50), data=st.data())
def test_the_two_symbols_of_a_claim_are_charged_by_their_weights(
    claims: Claims, nats: float, made: int, data: st.DataObject
) -> None:
    """Any two weights that add to 1 are a law of the symbols: nothing else is charged."""
    account = claimed(claims, made, data.draw(st.integers(0, made)), nats)
    (offer,) = claims.offer(independent(900), account, [wish_for(claims, CONDITION)])
    assert 0 < said(offer.prior) < 1
    weights: dict[Symbol, Fraction] = {claims.silent: Fraction(said(offer.prior))}
    weights[claims.shown] = 1 - weights[claims.silent]
    if claims == GATES:
        weights = {claims.shown: weights[claims.silent], claims.silent: weights[claims.shown]}
    for symbol, weight in weights.items():
        charge = settled(claims, offer, symbol).charge
        assert -math.log(weight) * (1 - 1e-12) <= charge <= -math.log(weight) + 1e-12
        assert charge <= offer.worst_charge
    # And the level is what is left, times the weight of the symbol that claims.
    level = math.log(0.05) + math.log(weights[claims.shown]) - nats
    assert level - 1e-9 <= said(offer.log_p) <= level


@every_mechanism
@every_question
def test_the_worst_charge_covers_every_symbol(mechanism: Mechanism, question: Mean) -> None:
    for made, unexpected in ((0, 0), (9, 0), (9, 9)):
        account = leaked(1.0, asked=made)
        if isinstance(mechanism, Claims):
            account = claimed(mechanism, made, unexpected)
        (offer,) = mechanism.offer(independent(900), account, [wish_for(mechanism, question)])
        for symbol in alphabet(mechanism, offer):
            release = settled(mechanism, offer, symbol)
            assert 0 < release.charge <= offer.worst_charge
            after = mechanism.advance(account, [offer], [release])
            assert after.nats >= account.nats + release.charge
            assert after.looks == account.looks + 1


@every_question
def test_what_has_leaked_lowers_the_level(question: Mean) -> None:
    wish = Wish(question, 0.3)
    offers = [BOUNDED.offer(independent(900), leaked(nats), [wish])[0] for nats in (0.0, 1.0, 10.0)]
    for offer, nats in zip(offers, (0.0, 1.0, 10.0), strict=True):
        # Level and radius by hand: of a mean of [0, 1] values by Hoeffding, of a condition by the
        # binomial law.
        level = math.log(0.05 / 10) - nats
        assert level - 1e-9 <= said(offer.log_p) < level
        if question.row.is_condition:
            by_hand = 1 / 900 + norm.isf(math.exp(said(offer.log_p)) / 2) / 60
        else:
            by_hand = math.sqrt((math.log(2) - said(offer.log_p)) / (2 * 900)) + GRID_ERROR
        assert by_hand * (1 - 1e-12) <= said(offer.radius) <= by_hand + 1e-12
        profile = (BinomialMean if question.row.is_condition else BoundedMean)(900)
        exactly = Fraction(profile.radius(said(offer.log_p))) + Fraction(question.error)
        assert Fraction(said(offer.radius)) >= exactly, "a sum of two bounds is rounded up"
        reach = Fraction(2 * reach_of(offer) + 1, 2 * offer.own_grid.last)
        assert reach + Fraction(said(offer.radius)) <= Fraction(wish.tolerance)


@pytest.mark.parametrize("question", [CONDITION, NUMBER], ids=lambda question: question.text)
def test_a_known_variance_narrows_the_radius(question: Mean) -> None:
    wish = Wish(question, 0.3, variance=KnownVariance(1e-3))
    (offer,) = BOUNDED.offer(independent(900), leaked(1.0), [wish])
    assert offer.log_p == pytest.approx(math.log(0.05 / 10) - 1.0, abs=1e-9)
    # Bernstein's: n a^2 = 2 L (v + a/3).
    L = math.log(2) - said(offer.log_p)
    bernstein = L / 2_700 + math.sqrt((L / 2_700) ** 2 + 2 * 1e-3 * L / 900)
    error = 0.0 if question.row.is_condition else GRID_ERROR
    assert bernstein + error <= said(offer.radius) <= bernstein + error + 1e-12


@every_claim
@every_question
def test_a_claim_takes_no_share_and_no_variance_narrows_it(claims: Claims, question: Mean) -> None:
    """What its rows show is the test's own business: exact for counts, bets for numbers."""
    wish = wish_for(claims, question)
    (plain,) = claims.offer(independent(900), leaked(1.0), [wish])
    assert (plain.grid, plain.log_share, plain.variance) == (None,) * 3
    known = replace(wish, variance=KnownVariance(1e-3), narrow=True)
    assert claims.offer(independent(900), leaked(1.0), [known]) == [plain]


@every_mechanism
def test_the_binomial_law_is_of_conditions_on_rows_that_are_alike(mechanism: Mechanism) -> None:
    """With a design each row has a law of its own, and dependent rows have no such law."""
    for terms, question in (
        (replace(independent(900), design=ARMS), CONDITION),
        (dependent(900, sigma=1 / 60), CONDITION),
        (independent(900), NUMBER),
    ):
        (offer,) = mechanism.offer(terms, Account(), [wish_for(mechanism, question)])
        assert offer.profile is None
        if mechanism == BOUNDED:
            assert said(offer.radius) >= BoundedMean(900).radius(said(offer.log_p))
    (offer,) = mechanism.offer(independent(900), Account(), [wish_for(mechanism, CONDITION)])
    assert offer.profile == {"binomial": 900}
    if mechanism == BOUNDED:
        assert said(offer.radius) < 0.87 * BoundedMean(900).radius(said(offer.log_p))


def test_a_batch_of_asks_shares_one_leakage_and_pays_for_all() -> None:
    terms, account = independent(900), leaked(2.0, asked=1)
    wishes = [Wish(question, 0.3) for question in (CONDITION, CONDITION, NUMBER)]
    offers = BOUNDED.offer(terms, account, wishes)
    assert [offer.number for offer in offers] == [2, 3, 4]
    assert offers[0].log_p == offers[1].log_p
    releases = BOUNDED.settle(offers, [0, 0, 0])
    after = BOUNDED.advance(account, offers, releases)
    assert after.nats >= account.nats + sum(release.charge for release in releases)
    assert after.asked == 4


def test_refusals_come_before_anything_is_computed() -> None:
    wish = Wish(CONDITION, 0.3)
    with pytest.raises(BudgetExhausted, match=r"requested 3 more questions; remaining 2 .* 1\."):
        BOUNDED.offer(independent(900), leaked(0.0, asked=8), [wish] * 3)
    with pytest.raises(BudgetExhausted, match="requested 1 more question; remaining 0"):
        BOUNDED.offer(independent(900), leaked(0.0, asked=10), [wish])
    with pytest.raises(
        ToleranceTooTight, match=r"half-width 0\.3 .* possible here is \+-0\.\d+\. Ask for a larger"
    ):
        BOUNDED.offer(independent(20), Account(), [wish])
    with pytest.raises(BudgetExhausted, match="after 3 questions the best possible here is"):
        BOUNDED.offer(independent(900), leaked(500.0, asked=3), [wish])


# Invariant 4: addressed noise -----------------------------------------------------------------


@every_mechanism
@given(count=st.integers(0, 400), secret=st.binary(min_size=32, max_size=32))
def test_an_unfinished_entry_repeats_itself(
    mechanism: Mechanism, count: int, secret: bytes
) -> None:
    session = Session(independent(400), secret)
    wish = wish_for(mechanism, CONDITION)
    (offer,) = mechanism.offer(session.terms, Account(), [wish])
    first, again = (
        session.respond(mechanism, offer, CONDITION, of_count(400, count)) for _ in range(2)
    )
    assert first == again


def test_noise_is_fresh_for_every_question_of_a_batch() -> None:
    terms = independent(400)
    wishes = [Wish(CONDITION, 0.3)] * 8
    offers = BOUNDED.offer(terms, Account(), wishes)
    symbols = BOUNDED.respond(terms, offers, [CONDITION] * 8, of_count(400, 0), noise_of(SECRET))
    assert len(set(symbols)) == 8


def test_noise_is_added_to_the_cell_of_the_sample() -> None:
    terms, wish = independent(400), Wish(CONDITION, 0.3)
    (offer,) = BOUNDED.offer(terms, Account(), [wish])
    (symbol,) = BOUNDED.respond(terms, [offer], [CONDITION], of_count(400, 100), noise_of(SECRET))
    noise = Noise(SECRET, "1").uniform(-reach_of(offer), reach_of(offer))
    assert symbol == math.floor(Fraction(offer.own_grid.last, 4) + Fraction(1, 2)) + noise
