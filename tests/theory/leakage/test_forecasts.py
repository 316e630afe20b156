"""Theorem F: the worked gates, the law on every path, and exact worlds with an optimal analyst.

In a world the sample is one of N data sets, all equally likely, and any forecasts from a grid may
be made. A claim may be false, its test claiming it on as many data sets as its level allows; or
true, splitting the data sets left as she likes. Backward induction finds the best of all analysts.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import assume, given, strategies as st

from holdfast.errors import InvalidArgument
from holdfast.theory.leakage.claim_levels import claim_log_level, log_left, surprise_prior
from holdfast.theory.leakage.forecasts import (
    CHECK_PRIOR,
    GATE_PRIOR,
    STATED_CHECK_PRIOR,
    STATED_GATE_PRIOR,
    DevPosterior,
    DevResult,
    Mixture,
    TrainedGuess,
    check_forecasters,
    dev_rows_wanted,
    forecast,
    forecast_log_charge,
    forecast_weights,
    gate_forecasters,
    needed_margin,
)
from holdfast.theory.leakage.gates import declared_gate_prior
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge

LAWS = ("forecast_log_charge", "forecast_weights")
LOG_05 = math.log(0.05)
FIRST = declared_gate_prior(0, 100)


# --- Worked examples: decide.md, section 13.1, computed with independent code --------------------


def test_the_margin_that_the_sign_test_needs() -> None:
    assert needed_margin(50, math.log(0.0005)) == pytest.approx(23.837184981587978, rel=1e-8)
    assert needed_margin(50, math.log(0.5)) == 1.0
    assert needed_margin(5, -100.0) == 11.0  # more than there are


def test_the_forecast_by_one_development_result() -> None:
    result = DevResult(40, 10, 1000)
    shown = DevPosterior.of([result]).show_probability(result, 1000, math.log(0.02))[0]
    assert shown**0.7 == pytest.approx(0.936430054186251, rel=1e-7)


@pytest.mark.parametrize(
    ("better", "worse", "e"), [(40, 10, 0.6579045008619331), (25, 25, 0.00636)]
)
def test_the_first_gate_of_a_hundred(better: int, worse: int, e: float) -> None:
    result = DevResult(better, worse, 1000)
    members = gate_forecasters(FIRST, 1000, DevPosterior.of([result]), result, candidates=100)
    entered = forecast(Mixture.opened(GATE_PRIOR), members, LOG_05)
    assert entered.weight == pytest.approx(e, abs=2e-6 if better > worse else 5e-6)
    assert entered.weight == round(entered.weight, 6)
    level = math.exp(claim_log_level(LOG_05, entered.weight, 0.0))
    if better > worse:
        assert level == pytest.approx(0.0329, abs=5e-5)
        assert surprise_log_charge(entered.weight, 0.0) == pytest.approx(0.419, abs=5e-4)
    else:
        assert confirmed_log_charge(entered.weight) == pytest.approx(0.0064, abs=5e-5)


def test_the_level_of_a_gate() -> None:
    left = log_left(math.log(0.05), math.log(0.01))
    assert claim_log_level(left, 0.8, 2.5) == pytest.approx(-5.942019376182411, rel=1e-9)


def test_a_check_by_training_rows() -> None:
    """l = 0: Phi((t - r)/sd) - Phi((r - t)/sd), sd^2 = v'/n: here (t - r)/sd is 1 exactly."""
    z = 1.6448536269514722  # of p = .05
    tolerance = (1.0 + z) * math.sqrt(0.25 / 400)
    trained = TrainedGuess(0.5, tolerance, 0.5, 0.25, 400)
    untrusting, _, trusting = check_forecasters(0.975, 400, trained)(LOG_05)[1:]
    assert untrusting == pytest.approx(0.6826894921370859, rel=1e-9)  # Phi(1) - Phi(-1)
    assert trusting == pytest.approx(0.5204998778130465, rel=1e-9)  # sd sqrt 2 as large: erf(1/2)
    narrow = TrainedGuess(0.5, 0.9 * z * math.sqrt(0.25 / 400), 0.5, 0.25, 400)
    assert check_forecasters(0.975, 400, narrow)(LOG_05) == (0.975, 0.001, 0.001, 0.001)


def test_the_priors_sum_to_one_and_base_has_a_tenth_or_three() -> None:
    for prior in (GATE_PRIOR, STATED_GATE_PRIOR, CHECK_PRIOR, STATED_CHECK_PRIOR):
        assert math.fsum(prior) == pytest.approx(1.0, abs=1e-15)
    assert GATE_PRIOR[0] == STATED_GATE_PRIOR[0] == 0.1
    assert CHECK_PRIOR[0] == STATED_CHECK_PRIOR[0] == 0.3


# --- On every path -------------------------------------------------------------------------------

_u = st.floats(1e-6, 1 - 1e-6)


@st.composite
def paths(draw: st.DrawFn) -> tuple[list[float], list[list[float | None]], list[bool]]:
    members = draw(st.integers(1, 4))
    raw = draw(st.lists(st.floats(0.01, 1), min_size=members, max_size=members))
    claims = draw(st.integers(1, 8))
    forecasts: list[list[float | None]] = [
        [draw(_u), *draw(st.lists(st.none() | _u, min_size=members - 1, max_size=members - 1))]
        for _ in range(claims)
    ]
    symbols = draw(st.lists(st.booleans(), min_size=claims, max_size=claims))
    return [each / math.fsum(raw) for each in raw], forecasts, symbols


@given(paths())
def test_no_path_costs_more_than_any_forecaster_and_its_weight(
    path: tuple[list[float], list[list[float | None]], list[bool]],
) -> None:
    prior, forecasts, symbols = path
    nats = forecast_log_charge(prior, forecasts, symbols)
    mixed = forecast_weights(prior, forecasts, symbols)
    for place, weight in enumerate(prior):
        own = 0.0
        for members, among, symbol in zip(forecasts, mixed, symbols, strict=True):
            said = members[place]
            own -= math.log((among if said is None else said) if symbol else 1 - (said or among))
        assert nats <= own - math.log(weight) + 1e-6


@given(paths())
def test_the_charges_telescope_to_the_mixtures_probability_of_the_path(
    path: tuple[list[float], list[list[float | None]], list[bool]],
) -> None:
    prior, forecasts, symbols = path
    assume(all(each is not None for members in forecasts for each in members))
    total = math.fsum(
        weight
        * math.prod(
            (said if symbol else 1 - said)
            for members, symbol in zip(forecasts, symbols, strict=True)
            if (said := members[place]) is not None
        )
        for place, weight in enumerate(prior)
    )
    assert forecast_log_charge(prior, forecasts, symbols) == pytest.approx(
        -math.log(total), rel=1e-9
    )
    with pytest.raises(ValueError, match="shorter"):  # a claim without its symbol is not free
        forecast_log_charge(prior, forecasts, symbols[:-1])


@given(st.data())
def test_gates_forecast_by_development_rows_stay_within_ln_10(data: st.DataObject) -> None:
    """The whole rule, rounding and all, against section 11.4's on the same symbols."""
    mixture, posterior = Mixture.opened(GATE_PRIOR), DevPosterior()
    nats = base_nats = 0.0
    shown, k = 0, 12
    for _ in range(data.draw(st.integers(1, 6))):
        better, worse = data.draw(st.integers(0, 60)), data.draw(st.integers(0, 60))
        result = DevResult(better, worse, 500) if data.draw(st.booleans()) else None
        posterior = posterior if result is None else posterior.after(result)
        base = declared_gate_prior(shown, k)
        members = gate_forecasters(base, 500, posterior, result, candidates=k)
        entered = forecast(mixture, members, LOG_05 - nats)
        symbol = data.draw(st.booleans())
        nats -= math.log(entered.weight if symbol else 1.0 - entered.weight)
        base_nats -= math.log(base if symbol else 1.0 - base)
        mixture = mixture.after(entered.members, claimed=symbol)
        shown += symbol
    # A weight is rounded by 5e-7, and none of these is below .05/13.
    assert nats <= base_nats + math.log(10) + 6 * 2e-4


@given(st.data())
def test_checks_with_forecasts_stay_within_ln_ten_thirds(data: st.DataObject) -> None:
    """By a stated number, by training rows, by both or none, on the same symbols."""
    mixture, nats, base_nats, refuted = Mixture.opened(STATED_CHECK_PRIOR), 0.0, 0.0, 0
    claims = data.draw(st.integers(1, 8))
    for made in range(claims):
        share = data.draw(st.floats(0.05, 0.95))
        guess, rows = data.draw(st.floats(0.05, 0.95)), data.draw(st.integers(1, 5000))
        trained = TrainedGuess(guess, 0.05, share, share * (1 - share), rows)
        base = 1.0 - surprise_prior(made, refuted)
        members = check_forecasters(
            base,
            1000,
            data.draw(st.sampled_from([trained, None])),
            stated=data.draw(st.none() | st.floats(0, 1)),
            states=True,
        )
        entered = forecast(mixture, members, LOG_05 - nats)
        symbol = data.draw(st.booleans())
        nats -= math.log(entered.weight if symbol else 1.0 - entered.weight)
        base_nats -= math.log(base if symbol else 1.0 - base)
        mixture = mixture.after(entered.members, claimed=symbol)
        refuted += not symbol
        # Base's part of the mixture says exactly how far it is behind, but for the rounding.
        assert nats - mixture.log_share(0) == pytest.approx(base_nats + math.log(10 / 3), abs=5e-3)
    assert nats <= base_nats + math.log(10 / 3) + 5e-3


def test_a_sleeper_keeps_its_weight() -> None:
    before = Mixture.opened([0.5, 0.5])
    after = before.after([0.25, None], claimed=True)
    assert after.log_weights == pytest.approx(before.log_weights)
    with pytest.raises(InvalidArgument, match="every forecaster sleeps"):
        before.weight([None, None])
    with pytest.raises(InvalidArgument, match=r"sum to 0\.9"):
        Mixture.opened([0.5, 0.4])


def test_a_forecast_rises_with_the_level() -> None:
    result = DevResult(40, 20, 1000)
    posterior = DevPosterior.of([DevResult(25, 25, 1000), result])
    rows = [posterior.show_probability(result, 1000, math.log(p)) for p in (1e-9, 1e-6, 1e-3, 0.05)]
    for lower, higher in pairwise(rows):
        assert (lower < higher).all()


def test_a_number_is_stated_only_where_gates_were_opened_so() -> None:
    members = gate_forecasters(
        FIRST, 1000, DevPosterior(), None, candidates=100, stated=0.9999, states=True
    )
    assert members(LOG_05) == (FIRST, 0.99, None, None, None)
    with pytest.raises(InvalidArgument, match="without stated numbers"):
        gate_forecasters(FIRST, 1000, DevPosterior(), None, candidates=100, stated=0.5)


def test_a_candidate_is_stopped_on_development_rows() -> None:
    """Looks at 250, 500 and 1,000 rows; on from .3 and from 1 standard error."""
    assert dev_rows_wanted(None, 1000) == 250
    assert dev_rows_wanted(DevResult(6, 6, 250), 1000) == 250
    assert dev_rows_wanted(DevResult(8, 6, 250), 1000) == 500  # z = 2/sqrt(250 15/270) = .54
    assert dev_rows_wanted(DevResult(14, 10, 500), 1000) == 500  # z = 4/sqrt(500 25/520) = .82
    assert dev_rows_wanted(DevResult(16, 10, 500), 1000) == 1000  # z = 6/sqrt(500 27/520) = 1.18
    assert dev_rows_wanted(DevResult(40, 10, 1000), 1000) == 1000
    assert dev_rows_wanted(DevResult(3, 3, 100), 1000) == 250  # no look is due yet


# --- Exact worlds --------------------------------------------------------------------------------

ONE = Fraction(1)


@dataclass(frozen=True)
class World:
    """N data sets; forecasters with equal weights, each with any forecast of the grid.

    `forgets` names what is left out: the charge of a symbol, or the mixture, for the best
    forecaster in hindsight.
    """

    N: int
    beta: Fraction
    members: int = 1
    grid: tuple[Fraction, ...] = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    forgets: str = ""

    def failures(self, rounds: int) -> int:
        return self._worst(self.N, (ONE,) * self.members, rounds)

    def _probability(self, path: tuple[Fraction, ...]) -> Fraction:
        """The prior's, of the symbols so far: its level is beta times this."""
        return max(path) if self.forgets == "mixture" else Fraction(sum(path), self.members)

    @functools.cache  # noqa: B019 - a few worlds, for the time of a test
    def _worst(self, left: int, path: tuple[Fraction, ...], rounds: int) -> int:
        if not rounds or not left:
            return 0
        best = 0
        for said in product(self.grid, repeat=self.members):
            claimed = tuple(q * u for q, u in zip(path, said, strict=True))
            silent = tuple(q * (1 - u) for q, u in zip(path, said, strict=True))
            most = math.floor(self.N * self.beta * self._probability(claimed))
            claimed = path if self.forgets == "shown" else claimed
            silent = path if self.forgets == "not shown" else silent
            failing = min(left, most)
            best = max(best, failing + self._worst(left - failing, silent, rounds - 1))
            if rounds > 1:
                best = max(
                    best,
                    *(
                        self._split(part, left, claimed, silent, rounds - 1)
                        for part in range(left + 1)
                    ),
                )
        return best

    def _split(
        self,
        part: int,
        left: int,
        claimed: tuple[Fraction, ...],
        silent: tuple[Fraction, ...],
        rounds: int,
    ) -> int:
        """A true claim, told on so many of the data sets left."""
        return self._worst(part, claimed, rounds) + self._worst(left - part, silent, rounds)


WORLDS = [
    World(N, beta, members)
    for N, members in ((8, 1), (16, 1), (16, 2))
    for beta in (Fraction(1, 4), Fraction(1, 2))
]


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_no_analyst_and_no_forecast_fails_more_often_than_beta(world: World) -> None:
    assert 0 < world.failures(3) <= world.beta * world.N


@pytest.mark.parametrize("forgets", ["shown", "not shown", "mixture"])
def test_sabotage_each_charge_and_the_mixture_are_needed(forgets: str) -> None:
    world = World(32, Fraction(1, 2), 2 if forgets == "mixture" else 1, forgets=forgets)
    assert world.failures(3) > world.beta * world.N
