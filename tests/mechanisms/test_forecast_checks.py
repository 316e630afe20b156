"""Checks with a forecast: the mechanism of Theorem F, walked on samples that are counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from holdfast.errors import InvalidArgument
from holdfast.mechanisms import claims
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.forecast_checks import FORECAST_CHECKS
from holdfast.mechanisms.mechanism import ForecastGrounds, Offer, TrainedMean, Wish, about
from holdfast.mechanisms.terms import Account
from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.claim_levels import share_claim_holds
from holdfast.theory.leakage.forecasts import Forecast
from tests.mechanisms.fake import CONDITION, Session, Sums, independent, of_count
from tests.theory.coverage import most_failures

ROWS = 1_000
TERMS = independent(ROWS)


def foreseen(expect: float | None = 0.9, guess: float = 0.5, t: float = 0.3) -> Wish:
    return replace(about(CONDITION, t, guess), forecast=ForecastGrounds(stated=expect))


def offered(wish: Wish, account: Account | None = None) -> Offer:
    (offer,) = FORECAST_CHECKS.offer(TERMS, account or Account(), [wish])
    return offer


# What is entered ---------------------------------------------------------------------------------


def test_the_first_check_with_a_stated_number() -> None:
    """Section 13.1 by hand: base has .3 and says .975, the number has .2; the others sleep."""
    weight = (0.3 * 0.975 + 0.2 * 0.4) / 0.5
    offer = offered(foreseen(0.4))
    assert ForecastGrounds.of_offer(offer) == ForecastGrounds(
        None, 0.4, Forecast(round(weight, 6), (0.975, 0.4, None, None, None))
    )
    assert offer.prior == pytest.approx(1 - weight, abs=1e-9)
    assert offer.log_p == pytest.approx(math.log(0.05 * weight), rel=1e-9)
    assert offer.forecast == pytest.approx((weight, 0.05 * weight), rel=1e-9)
    confirmed, refuted = (
        FORECAST_CHECKS.settle([offer], [symbol])[0] for symbol in ("confirmed", "not confirmed")
    )
    assert confirmed.charge == pytest.approx(-math.log(weight), rel=1e-6)
    assert refuted.charge == pytest.approx(-math.log(1 - weight), rel=1e-6)
    assert offer.worst_charge == refuted.charge


def by_hand(symbols: str, numbers: list[float]) -> Iterator[float]:
    """The weights of checks that were confirmed (c) or not (n), by exact fractions."""
    alone, stated = Fraction(3, 10), Fraction(2, 10)
    never, refuted = Fraction(1), 0
    for made, (symbol, number) in enumerate(zip(symbols, numbers, strict=True)):
        rate = (refuted + Fraction(1, 2)) / (made + 10)
        surprise = rate if refuted else never * rate / (1 + never)
        base, said = 1 - surprise, Fraction(number)
        yield float((alone * base + stated * said) / (alone + stated))
        never *= 1 - Fraction(1, 2) / (made + 10)
        refuted += symbol == "n"
        alone *= base if symbol == "c" else surprise
        stated *= said if symbol == "c" else 1 - said


def test_weights_follow_from_symbols_as_by_hand() -> None:
    symbols, numbers = "ccnncnc", [0.9, 0.5, 0.1, 0.2, 0.97, 0.6, 0.3]
    session = Session(TERMS)
    for symbol, number, weight in zip(symbols, numbers, by_hand(symbols, numbers), strict=True):
        (offer,) = FORECAST_CHECKS.offer(TERMS, session.account, [foreseen(number)])
        assert 1 - (offer.prior or 0) == pytest.approx(weight, abs=6e-7)
        said = session.put(FORECAST_CHECKS, foreseen(number), sample_for(symbol))
        assert said.status == {"c": "confirmed", "n": "not confirmed"}[symbol]


def sample_for(symbol: str) -> Sums:
    """Rows of which the check of .5 is surely confirmed (c), or surely not (n)."""
    return of_count(ROWS, 500 if symbol == "c" else 900)


def test_one_check_at_a_time_and_with_its_forecast() -> None:
    with pytest.raises(InvalidArgument, match="give one claim with its forecast"):
        FORECAST_CHECKS.offer(TERMS, Account(), [foreseen(), foreseen(0.5, 0.4)])
    with pytest.raises(InvalidArgument, match="give one claim with its forecast"):
        offered(about(CONDITION, 0.3, 0.5))


# What follows from symbols alone -----------------------------------------------------------------


def test_the_mixture_learns_from_symbols_and_from_nothing_else() -> None:
    accounts = []
    for count in (480, 500):
        session = Session(TERMS)
        assert session.put(FORECAST_CHECKS, foreseen(), of_count(ROWS, count)).value is not None
        accounts.append(session.account)
    assert accounts[0] == accounts[1]
    assert FORECAST_CHECKS.mixture(accounts[0]) != FORECAST_CHECKS.mixture(Account())


def test_a_check_without_a_forecast_moves_no_weight_and_counts_as_ever() -> None:
    session, alone = Session(TERMS), Session(TERMS)
    session.put(FORECAST_CHECKS, foreseen(), sample_for("c"))
    before = session.account
    session.put(CHECKS, about(CONDITION, 0.3, 0.5), sample_for("n"))
    assert session.account.memory == before.memory
    assert (session.account.checks, session.account.surprises) == (2, 1)
    alone.put(CHECKS, about(CONDITION, 0.3, 0.5), sample_for("n"))
    assert alone.account.memory == {}


def base_nats(symbols: str) -> float:
    """What the same checks cost without forecasts."""
    session = Session(TERMS)
    for symbol in symbols:
        said = session.put(CHECKS, about(CONDITION, 0.3, 0.5), sample_for(symbol))
        assert (said.status == "confirmed") is (symbol == "c")
    return session.account.nats


@pytest.mark.parametrize("symbols", ["n" * 12, "c" * 12, "ccccncccnccc", "nnnnnncnnnnc"])
@pytest.mark.parametrize("right", [True, False])
def test_never_more_than_ln_ten_thirds_behind_checks_without_forecasts(
    symbols: str, right: bool
) -> None:
    """Whatever was stated, on the same symbols: what they may cost more is known."""
    session = Session(TERMS)
    for place, symbol in enumerate(symbols):
        behind = FORECAST_CHECKS.most_behind(session.account)
        so_far = session.account.nats + behind - base_nats(symbols[:place])
        assert so_far == pytest.approx(math.log(10 / 3), abs=1e-3), "weights are rounded"
        number = 0.99 if (symbol == "c") is right else 0.001
        session.put(FORECAST_CHECKS, foreseen(number), sample_for(symbol))
    nats, base = session.account.nats, base_nats(symbols)
    assert nats <= base + math.log(10 / 3) + 1e-3
    if right and "n" in symbols:
        assert nats < base - 1.0, "what was foreseen costs less"


# Truth -------------------------------------------------------------------------------------------

# Few rows, so that every sample is enumerated: theta is one half, and of each bound she claims that
# it is another. Of every claim she states what pays best, as far as earlier symbols tell.
FEW, BETA = 12, 0.3
SMALL = independent(FEW, tolerance=0.49, questions=3, confidence_level=1 - BETA)
BELOW, ABOVE = (0.0, math.nextafter(0.5, 0.0)), (math.nextafter(0.5, 1.0), 1.0)
PLANS = list(itertools.product((0.05, 0.5, 0.95), repeat=2))


def deceived(session: Session, count: int, numbers: Sequence[float]) -> bool:
    """True claims tell on which side the sample is; then that side is claimed, which is false."""
    seems_more = True
    for bound in (0.95, 0.9, 0.85):
        true = Wish(CONDITION, 0.49, (0.0, bound), forecast=ForecastGrounds(stated=numbers[0]))
        seems_more &= session.put(FORECAST_CHECKS, true, of_count(FEW, count)).value is None
    for claim in (ABOVE, BELOW) if seems_more else (BELOW, ABOVE):
        false = Wish(CONDITION, 0.49, claim, forecast=ForecastGrounds(stated=numbers[1]))
        if session.put(FORECAST_CHECKS, false, of_count(FEW, count)).value is not None:
            return True
    return False


def failure(numbers: Sequence[float], *, charging: bool = True) -> float:
    return math.fsum(
        math.comb(FEW, count) / 2**FEW
        for count in range(FEW + 1)
        if deceived(Session(SMALL, charging=charging), count, numbers)
    )


def test_no_plan_and_no_number_makes_a_false_claim_likely() -> None:
    assert 0.02 < max(map(failure, PLANS)) <= BETA


def test_without_charges_one_does() -> None:
    assert max(failure(numbers, charging=False) for numbers in PLANS) > BETA


def test_a_number_that_was_stated_afterwards_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: who knows the symbol states it, so that nothing is charged and all is level."""

    def put(session: Session, wish: Wish, count: int) -> bool:
        best = replace(wish, forecast=ForecastGrounds(stated=0.99))
        said = Session(SMALL, account=session.account).put(
            FORECAST_CHECKS, best, of_count(FEW, count)
        )
        number = 0.99 if said.value is not None else 0.001
        chosen = replace(wish, forecast=ForecastGrounds(stated=number))
        return session.put(FORECAST_CHECKS, chosen, of_count(FEW, count)).value is not None

    # The mixture takes the number at its word: base and its weight protect from worse.
    monkeypatch.setattr(
        "holdfast.theory.leakage.forecasts.Mixture.weight", lambda _, members: members[1]
    )

    def fails(count: int) -> bool:
        session = Session(SMALL)
        claims = [Wish(CONDITION, 0.49, claim) for claim in (ABOVE, BELOW)]
        return any(put(session, claim, count) for claim in claims)

    chance = sum(math.comb(FEW, count) / 2**FEW for count in range(FEW + 1) if fails(count))
    assert chance > BETA


LEVELS = (1e-2, 1e-4)


@pytest.mark.parametrize("beta", LEVELS)
def test_small_levels_by_enumeration(beta: float) -> None:
    """One false claim after another, each foreseen as the last came out: exact, on 400 rows."""
    n, terms = 400, independent(400, confidence_level=1 - beta)
    failing = []
    for count in range(n + 1):
        session, number = Session(terms), 0.9
        for claim in (ABOVE, BELOW, ABOVE, BELOW):
            wish = Wish(CONDITION, 0.3, claim, forecast=ForecastGrounds(stated=number))
            if session.put(FORECAST_CHECKS, wish, of_count(n, count)).value is not None:
                failing.append(count)
                break
            number = 0.1
    log_pmf = [math.lgamma(n + 1) - math.lgamma(c + 1) - math.lgamma(n - c + 1) for c in failing]
    chance = math.fsum(math.exp(each - n * math.log(2)) for each in log_pmf)
    assert 0.2 * beta < chance <= beta


def test_levels_of_offer_and_decision_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level that is entered is the one that rows are tested at, on every way."""
    rng, session, tested = np.random.default_rng(3), Session(TERMS), []

    def noting(n: int, count: int, ends: Interval, log_p: float, **alike: bool) -> bool:
        tested.append(log_p)
        return share_claim_holds(n, count, ends, log_p, **alike)

    monkeypatch.setattr(claims, "share_claim_holds", noting)
    for number in rng.random(12):
        offer = offered(foreseen(float(number)), session.account)
        session.put(FORECAST_CHECKS, foreseen(float(number)), sample_for(rng.choice(["c", "n"])))
        assert tested[-1] == offer.log_p


# Training rows -----------------------------------------------------------------------------------


def entered_by_hand(
    log_left: float, base: float, guess: float, t: float, by: TrainedMean
) -> tuple[float, list[float]]:
    """Section 13.1 written out again: three trusts, six evaluations, rounding; the first check."""

    def members(p: float) -> list[float]:
        r, said = norm.isf(p) * math.sqrt(by.variance / ROWS), []
        for trust in (0.0, 0.5, 1.0):
            gap = trust * (by.mean - guess)
            sd = math.sqrt(by.variance * (1 / ROWS + trust**2 / by.rows))
            inside = norm.cdf((t - r - gap) / sd) - norm.cdf((-t + r - gap) / sd)
            said.append(min(max(inside if r < t else 0.0, 0.001), 0.99))
        return [base, *said]

    e = 1.0
    for _ in range(6):
        said = members(math.exp(log_left) * e)
        e = 0.3 * said[0] + 0.7 / 3 * sum(said[1:])
    return e, said


@pytest.mark.parametrize(
    ("guess", "t", "by"),
    [
        (0.24, 0.04, TrainedMean(0.24, 0.1824, 1_000)),
        (0.26, 0.04, TrainedMean(0.24, 0.1824, 400)),
        (0.35, 0.04, TrainedMean(0.24, 0.1824, 5_000)),
        (0.24, 0.01, TrainedMean(0.24, 0.1824, 5_000)),
    ],
)
def test_training_rows_forecast_as_by_hand(guess: float, t: float, by: TrainedMean) -> None:
    wish = replace(about(CONDITION, t, guess), forecast=ForecastGrounds(trained=by))
    offer = offered(wish)
    weight, said = entered_by_hand(math.log(0.05), 0.975, guess, t, by)
    assert 1 - (offer.prior or 0) == pytest.approx(round(weight, 6), abs=1.1e-6)
    grounds = ForecastGrounds.of_offer(offer)
    assert grounds is not None
    assert grounds.trained == by
    assert grounds.entered is not None
    base, stated, *trained = grounds.entered.members
    assert [base, *trained] == pytest.approx(said, rel=1e-9)
    assert stated == pytest.approx(math.fsum(said[1:]) / 3, rel=1e-9)


def test_a_claim_of_which_one_side_is_implied_is_forecast_by_its_other_one() -> None:
    by = TrainedMean(0.24, 0.1824, 1_000)
    whole = replace(about(CONDITION, 0.04, 0.24), forecast=ForecastGrounds(trained=by))
    half = replace(whole, claim=(0.2, 1.0))
    assert offered(half).prior == offered(whole).prior


LOOPS, GUESSES, TRIES, SAMPLED = 150, 10, 200, 400


def false_loops(shared: float, *, forecast: bool = True) -> int:
    """Loops in which a false guess is confirmed: of many values that are 1 with 1/2, the one that
    training rows speak for most is guessed to be 1 more often. Of these rows so many are shared."""
    rng, many = np.random.default_rng(11), 0
    terms, common = independent(SAMPLED), round(shared * SAMPLED)
    for _ in range(LOOPS):
        session = Session(terms)
        for _ in range(GUESSES):
            both = rng.binomial(common, 0.5, TRIES)
            training = both + rng.binomial(SAMPLED - common, 0.5, TRIES)
            best = int(training.argmax())
            count = int(both[best] + rng.binomial(SAMPLED - common, 0.5))
            mean = float(training[best]) / SAMPLED
            by = TrainedMean(mean, mean * (1 - mean), SAMPLED)
            wish = about(CONDITION, 0.3, 0.8001)  # 1/2 is just outside
            wish = replace(wish, forecast=ForecastGrounds(trained=by)) if forecast else wish
            mechanism = FORECAST_CHECKS if forecast else CHECKS
            if session.put(mechanism, wish, of_count(SAMPLED, count)).value is not None:
                many += 1
                break
    return many


def test_hill_climbed_training_rows_confirm_nothing_false() -> None:
    assert false_loops(0.0) <= most_failures(LOOPS, 0.05)


@pytest.mark.parametrize("shared", [0.5, 1.0])
def test_training_rows_that_are_protected_break_it(shared: float) -> None:
    """What is refused for; without a forecast they break guesses chosen by them just as well."""
    assert false_loops(shared) > most_failures(LOOPS, 0.05)
    assert false_loops(shared, forecast=False) > most_failures(LOOPS, 0.05)
