"""Only symbols leave: every release contains what the sample says, every claim is tested first."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import beta

from holdfast.errors import Refused
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS, Claims
from holdfast.mechanisms.mechanism import Mechanism, Wish, about
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.row import GRID
from holdfast.statistics.mean import Mean
from tests.mechanisms.by_hand import chernoff
from tests.mechanisms.fake import (
    CONDITION,
    CONSTANT,
    GUESSES,
    NUMBER,
    SECRET,
    Session,
    dependent,
    every_claim,
    every_mechanism,
    independent,
    leaked,
    noise_of,
    of_count,
    of_units,
    reach_of,
    said,
    settled,
    wish_for,
)


def shown_by(terms: Terms, log_p: float, question: Mean, units: list[int]) -> tuple[float, float]:
    """What a fixed question's test says at p a side, by independent means; not wider than the code.

    More than a half a side is no level, for then both sides of a truth could be claimed.
    """
    n, q = len(units), sum(units) / (len(units) * GRID)
    if not terms.independent:
        reach = terms.concentration.radius(log_p)
        return q - reach, q + reach
    assert question.row.is_condition
    count, side = round(q * n), min(0.5, math.exp(log_p))
    return (
        float(beta.ppf(side, count, n - count + 1)) if count else 0.0,
        float(beta.isf(side, count + 1, n - count)) if count < n else 1.0,
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Terms, Mean, list[int]]:
    """Terms, a question, and the grid units of a sample of its rows."""
    question = draw(st.sampled_from([CONDITION, NUMBER, CONSTANT]))
    n = draw(st.sampled_from([2, 3, 25, 60, 200]))
    if question is CONDITION:
        count = draw(st.integers(0, n))
        units = [GRID] * count + [0] * (n - count)
    elif question is NUMBER:
        middle, width = draw(st.floats(0, 1)), draw(st.sampled_from([0.0, 0.01, 1.0]))
        rng = draw(st.randoms(use_true_random=False))
        draws = (middle + width * (rng.random() - 0.5) for _ in range(n))
        units = [math.floor(min(1.0, max(0.0, value)) * GRID) for value in draws]
    else:
        units = [0] * n
    t = draw(st.sampled_from([0.2, 0.49]))
    level = 0.05 if n < 20 else 0.95
    build = draw(st.sampled_from([independent, dependent]))
    return build(n, tolerance=t, questions=1, confidence_level=level), question, units


@st.composite
def wished(draw: st.DrawFn, question: Mean, t: float) -> Wish:
    guess = draw(st.one_of(st.sampled_from(GUESSES), st.floats(0, 1)))
    kind = draw(st.sampled_from(["about", "at most", "at least"]))
    if kind == "about":
        return about(question, t, guess)
    return Wish(question, t, (0.0, guess) if kind == "at most" else (guess, 1.0), guess)


@given(world=worlds(), nats=st.sampled_from([0.0, 0.3, 2.0]))
def test_every_release_contains_what_the_sample_says(
    world: tuple[Terms, Mean, list[int]], nats: float
) -> None:
    terms, question, units = world
    try:
        (offer,) = BOUNDED.offer(terms, leaked(nats), [Wish(question, terms.half_width)])
    except Refused:
        assume(False)
    sample = of_units(units)
    (symbol,) = BOUNDED.respond(terms, [offer], [question], sample, noise_of(SECRET))
    release = settled(BOUNDED, offer, symbol)
    assert 0.0 <= release.interval.low <= release.told <= release.interval.high <= 1.0
    q, alpha = Fraction(sum(units), len(units) * GRID), Fraction(said(offer.radius))
    assert isinstance(symbol, int)
    reach = Fraction(2 * reach_of(offer) + 1, 2 * offer.own_grid.last)
    assert abs(Fraction(symbol, offer.own_grid.last) - q) <= reach
    assert reach + alpha <= Fraction(terms.half_width)
    assert Fraction(release.interval.low) <= max(Fraction(0), q - alpha)
    assert min(Fraction(1), q + alpha) <= Fraction(release.interval.high)


@every_claim
@given(world=worlds(), nats=st.sampled_from([0.0, 0.3, 2.0]), data=st.data())
def test_a_claim_is_made_only_if_a_fixed_question_would_show_it_at_its_level(
    claims: Claims, world: tuple[Terms, Mean, list[int]], nats: float, data: st.DataObject
) -> None:
    terms, question, units = world
    assume(question is not CONSTANT)
    wish = data.draw(wished(question, terms.half_width))
    assert wish.claim is not None
    (offer,) = claims.offer(terms, leaked(nats), [wish])
    (symbol,) = claims.respond(terms, [offer], [question], of_units(units), noise_of(SECRET))
    release = settled(claims, offer, symbol)
    low_free, high_free = wish.claim[0] <= 0, wish.claim[1] >= 1
    if symbol == claims.silent:
        assert (release.value, release.interval) == (None, (0.0, 1.0))
    else:
        assert release.interval == (max(0.0, wish.claim[0]), min(1.0, wish.claim[1]))
        assert release.interval.low <= said(release.value) <= release.interval.high
        q = sum(units) / (len(units) * GRID)
        assert release.interval.low <= q <= release.interval.high, "nothing is shown against q"
    if question is CONDITION or not terms.independent:
        low, high = shown_by(terms, said(offer.log_p), question, units)
        slack = -1e-9 if symbol == claims.shown else 1e-9  # either way it is decided by this
        made = (low_free or wish.claim[0] + slack <= low) and (
            high_free or high <= wish.claim[1] - slack
        )
        assert made is (symbol == claims.shown)


@every_mechanism
@given(first=worlds(), data=st.data())
def test_samples_with_the_same_symbol_have_the_same_release(
    mechanism: Mechanism, first: tuple[Terms, Mean, list[int]], data: st.DataObject
) -> None:
    """Whatever else differs between two samples does not show: not in value, interval or charge."""
    terms, question, units = first
    other = [min(GRID, unit + 1) for unit in units] if question is NUMBER else units[::-1]
    wish = wish_for(mechanism, question, data.draw(st.sampled_from(GUESSES)), terms.half_width)
    session = Session(terms)
    try:
        (offer,) = mechanism.offer(terms, session.account, [wish])
    except Refused:
        assume(False)
    symbols = [
        session.respond(mechanism, offer, question, of_units(each)) for each in (units, other)
    ]
    assume(symbols[0] == symbols[1])
    releases = [Session(terms).put(mechanism, wish, of_units(each)) for each in (units, other)]
    assert releases[0] == releases[1] == settled(mechanism, offer, symbols[0])


# The ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "guess"), [(0, 0.0), (400, 1.0)])
def test_a_guess_at_the_end_of_the_range_can_be_confirmed(count: int, guess: float) -> None:
    release = Session(independent(400)).put(
        CHECKS, about(CONDITION, 0.3, guess), of_count(400, count)
    )
    assert release.status == "confirmed"
    assert release.value == guess
    assert release.interval == ((0.0, 0.3) if guess == 0.0 else (0.7, 1.0))


@pytest.mark.parametrize(("count", "status"), [(100, "confirmed"), (200, "not confirmed")])
@pytest.mark.parametrize("side", ["at most", "at least"])
def test_one_sided_claims(count: int, status: str, side: str) -> None:
    bound, claim = (0.4, (0.0, 0.4)) if side == "at most" else (0.6, (0.6, 1.0))
    seen = count if side == "at most" else 400 - count
    release = Session(independent(400)).put(
        CHECKS, Wish(CONDITION, 0.3, claim, bound), of_count(400, seen)
    )
    assert release.status == status
    assert release.interval == (claim if status == "confirmed" else (0.0, 1.0))
    assert release.value == (bound if status == "confirmed" else None)


def test_a_claim_about_all_of_the_range_is_always_confirmed() -> None:
    for count in (0, 200, 400):
        release = Session(independent(400)).put(
            CHECKS, Wish(CONDITION, 0.3, (0.0, 1.0), 1.0), of_count(400, count)
        )
        assert (release.status, release.interval) == ("confirmed", (0.0, 1.0))


def test_rare_events_are_confirmed_where_hoeffding_would_not() -> None:
    # 4 of 400: the exact interval at level 0.05 ends near 0.03, q + alpha is near 0.08.
    wish = Wish(CONDITION, 0.3, (0.0, 0.05), 0.05)
    exact = Session(independent(400)).put(CHECKS, wish, of_count(400, 4))
    rough = Session(dependent(400, sigma=0.025)).put(CHECKS, wish, of_count(400, 4))
    assert (exact.status, rough.status) == ("confirmed", "not confirmed")


def test_quiet_numbers_are_confirmed_where_chernoff_would_not() -> None:
    n = 20_000
    terms = independent(n, tolerance=0.02, questions=10)
    wish = Wish(NUMBER, 0.02, (0.495, 0.505), 0.5)
    (offer,) = CHECKS.offer(terms, Account(), [wish])
    low, high = chernoff(n, 0.5, said(offer.log_p))
    assert low < 0.495
    assert high > 0.505
    quiet, loud = of_units([GRID // 2] * n), of_count(n, n // 2)
    assert Session(terms).put(CHECKS, wish, quiet).status == "confirmed"
    assert Session(terms).put(CHECKS, wish, loud).status == "not confirmed"


def test_an_open_ended_schedule_gives_falling_shares() -> None:
    terms, wish, shares = independent(900, questions=None), Wish(CONDITION, 0.3), []
    for asked in range(200):
        (offer,) = BOUNDED.offer(terms, leaked(0.0, asked=asked), [wish])
        shares.append(said(offer.log_share))
    assert math.fsum(map(math.exp, shares)) <= 0.05
    assert math.exp(shares[3]) == pytest.approx(0.05 / 20)
