"""Rules R1 to R3 for every mechanism: only symbols leave, and every release contains CI(X)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import beta

from holdfast.errors import Refused
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.guess_and_check import GuessAndCheck, sample_interval
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer, Wish, about
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID, GRID_ERROR
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Measured
from tests.mechanisms.by_hand import chernoff
from tests.mechanisms.fake import (
    CONDITION,
    CONSTANT,
    GUESSES,
    NUMBER,
    SECRET,
    Session,
    dependent,
    every_mechanism,
    independent,
    leaked,
    noise_of,
    of_count,
    of_units,
    reach_of,
    said,
    wish_for,
)


def fixed_interval(
    terms: Terms, offer: Offer, question: Mean, units: list[int]
) -> tuple[float, float]:
    """CI(X) by independent means: a fixed question's interval, not wider than the code's.

    The rows' own values may be off the grid by GRID_ERROR to either side.
    """
    n, q = len(units), sum(units) / (len(units) * GRID)
    reach = (max(0.0, q - said(offer.radius)), min(1.0, q + said(offer.radius)))
    if not terms.independent:
        return reach
    if question.row.is_condition:
        count, side = round(q * n), math.exp(said(offer.log_p)) / 2
        return (
            float(beta.ppf(side, count, n - count + 1)) if count else 0.0,
            float(beta.isf(side, count + 1, n - count)) if count < n else 1.0,
        )
    mean_square = sum((unit / GRID - q) ** 2 for unit in units) / (n - 1)
    L = math.log(4) - (said(offer.log_p) + math.log(0.1 / 0.9))
    bernstein = math.sqrt(2 * mean_square * L / n) + 7 * L / (3 * (n - 1))
    least, most = max(0.0, q - GRID_ERROR), min(1.0, q + GRID_ERROR)
    return (
        max(reach[0], chernoff(n, least, said(offer.log_p))[0], least - bernstein),
        min(reach[1], chernoff(n, most, said(offer.log_p))[1], most + bernstein),
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
def claims(draw: st.DrawFn, question: Mean, t: float) -> Wish:
    guess = draw(st.one_of(st.sampled_from(GUESSES), st.floats(0, 1)))
    kind = draw(st.sampled_from(["about", "at most", "at least"]))
    if kind == "about":
        return about(question, t, guess)
    return Wish(question, t, (0.0, guess) if kind == "at most" else (guess, 1.0), guess)


@given(world=worlds(), nats=st.sampled_from([0.0, 0.3, 2.0]))
def test_the_interval_inside_the_door_is_valid_and_within_the_radius(
    world: tuple[Terms, Mean, list[int]], nats: float
) -> None:
    """Rule R1: one event, at the offer's level, inside the radius that is charged."""
    terms, question, units = world
    try:
        (offer,) = GuessAndCheck().offer(terms, leaked(nats), [about(question, 0.49, 0.5)])
    except Refused:
        assume(False)
    n, squares = len(units), sum(unit * unit for unit in units)
    inside = sample_interval(terms, offer, question, Measured(sum(units), n * GRID, n, squares))
    low, high = fixed_interval(terms, offer, question, units)
    assert inside.low <= low + 1e-12
    assert high - 1e-12 <= inside.high
    q = sum(units) / (n * GRID)
    assert q - said(offer.radius) - 2.0**-50 <= inside.low <= q <= inside.high
    assert inside.high <= q + said(offer.radius) + 2.0**-50


@every_mechanism
@given(world=worlds(), nats=st.sampled_from([0.0, 0.3, 2.0]), data=st.data())
def test_every_release_contains_what_the_sample_says(
    mechanism: Mechanism, world: tuple[Terms, Mean, list[int]], nats: float, data: st.DataObject
) -> None:
    terms, question, units = world
    t = terms.half_width
    checks = isinstance(mechanism, GuessAndCheck)
    wish = data.draw(claims(question, t)) if checks else Wish(question, t)
    try:
        (offer,) = mechanism.offer(terms, leaked(nats), [wish])
    except Refused:
        assume(False)
    sample = of_units(units)
    (symbol,) = mechanism.respond(terms, [offer], [question], sample, noise_of(SECRET))
    release = mechanism.settle(offer, symbol)
    assert 0.0 <= release.interval.low <= release.told <= release.interval.high <= 1.0
    q, alpha = Fraction(sum(units), len(units) * GRID), Fraction(said(offer.radius))
    if symbol == CONFIRMED:
        low, high = fixed_interval(terms, offer, question, units)
        assert release.interval.low <= low + 1e-12
        assert high - 1e-12 <= release.interval.high
        assert wish.claim is not None
        assert release.interval.low == max(0.0, wish.claim[0])
        assert release.interval.high == min(1.0, wish.claim[1])
    else:
        assert isinstance(symbol, int)
        reach = Fraction(2 * reach_of(offer) + 1, 2 * offer.own_grid.last)
        assert abs(Fraction(symbol, offer.own_grid.last) - q) <= reach
        assert reach + alpha <= Fraction(t)
        assert Fraction(release.interval.low) <= max(Fraction(0), q - alpha)
        assert min(Fraction(1), q + alpha) <= Fraction(release.interval.high)
        # CI(X) is inside q -+ alpha, so a claim that contains all of that was confirmed.
        if wish.claim is not None:
            low_free, high_free = wish.claim[0] <= 0, wish.claim[1] >= 1
            slack = Fraction(1, 2**49)
            assert not (
                (low_free or q - alpha - slack >= Fraction(wish.claim[0]))
                and (high_free or q + alpha + slack <= Fraction(wish.claim[1]))
            )


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
    assert releases[0] == releases[1] == mechanism.settle(offer, symbols[0])


# The ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "guess"), [(0, 0.0), (400, 1.0)])
def test_a_guess_at_the_end_of_the_range_can_be_confirmed(count: int, guess: float) -> None:
    release = Session(independent(400)).put(
        GuessAndCheck(), about(CONDITION, 0.3, guess), of_count(400, count)
    )
    assert release.status == "confirmed"
    assert release.value == guess
    assert release.interval == ((0.0, 0.3) if guess == 0.0 else (0.7, 1.0))


@pytest.mark.parametrize(("count", "status"), [(100, "confirmed"), (200, "surprise")])
@pytest.mark.parametrize("side", ["at most", "at least"])
def test_one_sided_claims(count: int, status: str, side: str) -> None:
    bound, claim = (0.4, (0.0, 0.4)) if side == "at most" else (0.6, (0.6, 1.0))
    seen = count if side == "at most" else 400 - count
    release = Session(independent(400)).put(
        GuessAndCheck(), Wish(CONDITION, 0.3, claim, bound), of_count(400, seen)
    )
    assert release.status == status
    if status == "confirmed":
        assert release.interval == claim
    else:  # a surprise of a one-sided claim has the two-sided event, and so a two-sided interval
        assert release.interval.low <= seen / 400 <= release.interval.high
        assert release.interval.high - release.interval.low == pytest.approx(0.6, abs=1e-9)


def test_a_claim_about_all_of_the_range_is_always_confirmed() -> None:
    for count in (0, 200, 400):
        release = Session(independent(400)).put(
            GuessAndCheck(), Wish(CONDITION, 0.3, (0.0, 1.0), 1.0), of_count(400, count)
        )
        assert (release.status, release.interval) == ("confirmed", (0.0, 1.0))


def test_rare_events_are_confirmed_where_hoeffding_would_be_surprised() -> None:
    # 4 of 400: the exact interval at level 0.005 ends near 0.04, q + alpha is near 0.096.
    wish = Wish(CONDITION, 0.3, (0.0, 0.05), 0.05)
    exact = Session(independent(400)).put(GuessAndCheck(), wish, of_count(400, 4))
    rough = Session(dependent(400, sigma=0.025)).put(GuessAndCheck(), wish, of_count(400, 4))
    assert (exact.status, rough.status) == ("confirmed", "surprise")


def test_quiet_numbers_are_confirmed_where_chernoff_would_be_surprised() -> None:
    # All values are 1/2: the empirical Bernstein interval is narrower than the Chernoff one.
    n = 20_000
    units = [GRID // 2] * n
    terms = independent(n, tolerance=0.02, questions=10)
    wish = Wish(NUMBER, 0.02, (0.49, 0.51), 0.5)
    (offer,) = GuessAndCheck().offer(terms, Account(), [wish])
    low, high = chernoff(n, 0.5, said(offer.log_p))
    assert low < 0.49
    assert high > 0.51
    assert Session(terms).put(GuessAndCheck(), wish, of_units(units)).status == "confirmed"
    # And the interval is that of the tenth of the level that is left for it, no narrower.
    measured = Measured(sum(units), n * GRID, n, sum(unit * unit for unit in units))
    inside = sample_interval(terms, offer, NUMBER, measured)
    left = 0.05 / 10 - math.exp(said(offer.log_p))
    L = math.log(4) - math.log(left)
    bernstein = 7 * L / (3 * (n - 1))
    assert 0.5 - inside.low == pytest.approx(bernstein, rel=1e-3)
    # On the grid all values are equal; they may have been GRID_ERROR apart to either side of it.
    off_the_grid = GRID_ERROR + math.sqrt(2 * L / n) * GRID_ERROR
    assert inside.low <= 0.5 - bernstein - off_the_grid
    assert inside.high >= 0.5 + bernstein + off_the_grid


def test_surprises_are_expected_the_more_the_more_there_were() -> None:
    session, priors = Session(independent(5_000, questions=30)), []
    for guess in (0.5, 0.5, 0.9, 0.9, 0.5):
        wish = about(CONDITION, 0.1, guess)
        (offer,) = GuessAndCheck().offer(session.terms, session.account, [wish])
        session.finish(GuessAndCheck(), offer, CONDITION, of_count(5_000, 2_500))
        priors.append(offer.prior)
    # By hand: B = 1, 19/20, 19/20 * 21/22 and eps = B b/(1 + B) until the first surprise.
    B = 19 / 20 * 21 / 22
    first = [1 / 40, 19 / 39 * 0.5 / 11, B / (1 + B) * 0.5 / 12]
    assert priors == pytest.approx([*first, 1.5 / 13, 2.5 / 14])
    assert (session.account.checks, session.account.surprises) == (5, 2)


@given(run=st.lists(st.booleans(), min_size=1, max_size=8), batches=st.booleans())
def test_declared_surprises_set_one_prior_for_every_check(run: list[bool], batches: bool) -> None:
    """Alone or together, whatever came before: its charges are those that were planned with."""
    terms = replace(independent(50_000, questions=10), surprises=2)
    checks, account = GuessAndCheck(), Account()
    wishes = [about(CONDITION, 0.3, 0.5) for _ in run]
    parts = [range(len(run))] if batches else [[place] for place in range(len(run))]
    for places in parts:
        offers = checks.offer(terms, account, [wishes[place] for place in places])
        symbols = [0 if run[place] else CONFIRMED for place in places]
        releases = [checks.settle(*both) for both in zip(offers, symbols, strict=True)]
        assert {offer.prior for offer in offers} == {3 / 12}
        account = checks.advance(account, offers, releases)
    assert (account.checks, account.surprises) == (len(run), sum(run))


def test_as_many_surprises_as_are_said_to_be_left_can_be_met() -> None:
    """In a check of a number a part of the level is the Bernstein interval's: never one less."""
    checks = GuessAndCheck()
    for n in range(1_200, 2_400, 25):
        terms, account, met = independent(n, tolerance=0.1, questions=40), Account(), 0
        promised = checks.surprises_left(terms, account)
        while True:
            try:
                (offer,) = checks.offer(terms, account, [about(NUMBER, 0.1, 0.5)])
            except Refused:
                break
            surprise = checks.settle(offer, offer.own_grid.last // 2)
            account, met = checks.advance(account, [offer], [surprise]), met + 1
        assert met - 1 <= promised <= met, f"{n} rows"


@every_mechanism
def test_an_open_ended_schedule_gives_falling_shares(mechanism: Mechanism) -> None:
    terms = independent(900, questions=None)
    wish, shares = wish_for(mechanism, CONDITION), []
    for asked in range(200):
        (offer,) = mechanism.offer(terms, leaked(0.0, asked=asked), [wish])
        shares.append(said(offer.log_share))
    assert math.fsum(map(math.exp, shares)) <= 0.05
    assert math.exp(shares[3]) == pytest.approx(0.05 / 20)
