"""Gates with a forecast: the mechanism of Theorem F, walked on samples that are counts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.mechanisms.claims import GATES, more_than
from holdfast.mechanisms.forecast_gates import FORECAST_GATES
from holdfast.mechanisms.mechanism import ForecastGrounds, Offer, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.theory.leakage.forecasts import DevResult, Forecast
from tests.mechanisms.fake import PAIRED, Session, independent, of_pairs
from tests.theory.coverage import most_failures

ROWS, CANDIDATES, BETA = 1_000, 100, 0.05
BETTER = Wish(PAIRED, 0.5, (more_than(0.5), 1.0), gated=True)
SHOWN, SILENT = of_pairs(950, 45, 5), of_pairs(950, 25, 25)


def terms(rows: int = ROWS, candidates: int | None = CANDIDATES, beta: float = BETA) -> Terms:
    return replace(independent(rows, confidence_level=1 - beta), candidates=candidates)


def foreseen(
    better: int = 40, worse: int = 10, rows: int = 1_000, stated: float | None = None
) -> Wish:
    return replace(BETTER, forecast=ForecastGrounds(DevResult(better, worse, rows), stated))


def offered(wish: Wish, account: Account | None = None, on: Terms | None = None) -> Offer:
    (offer,) = FORECAST_GATES.offer(on or terms(), account or Account(), [wish])
    return offer


# What is entered ---------------------------------------------------------------------------------


def test_the_worked_example() -> None:
    """Section 13.1: k = 100, the first gate, dev 40 : 10 and 25 : 25 of 1,000."""
    offer = offered(foreseen())
    assert offer.prior == pytest.approx(0.6579, abs=5e-5)
    assert math.exp(offer.log_p or 0.0) == pytest.approx(0.0329, abs=5e-5)
    (shown,) = FORECAST_GATES.settle([offer], ["shown"])
    assert shown.charge == pytest.approx(0.419, abs=5e-4)
    assert offer.worst_charge == pytest.approx(-math.log1p(-0.6579), abs=5e-4)
    even = offered(foreseen(25, 25))
    assert even.prior == pytest.approx(0.00636, abs=5e-6)
    (silent,) = FORECAST_GATES.settle([even], ["not shown"])
    assert silent.charge == pytest.approx(0.0064, abs=5e-5)


def test_without_development_rows_a_stated_number_and_base_are_awake() -> None:
    """Base 1/101 with .1 and 1/2 with .2; the fixed point does not depend on the level."""
    offer = offered(replace(BETTER, forecast=ForecastGrounds(stated=0.5)))
    assert offer.prior == pytest.approx((0.1 / 101 + 0.2 * 0.5) / 0.3, abs=1e-6)
    assert ForecastGrounds.of_offer(offer) == ForecastGrounds(
        None, 0.5, Forecast(offer.prior or 0.0, (1 / 101, 0.5, None, None, None))
    )


@pytest.mark.parametrize("better", [0, 20, 30, 40, 60])
def test_what_speaks_for_it_raises_the_weight(better: int) -> None:
    assert (offered(foreseen(better, 10)).prior or 0) < (
        offered(foreseen(better + 5, 10)).prior or 0
    )


def test_a_ledger_that_is_full_or_spent_refuses() -> None:
    with pytest.raises(BudgetExhausted, match="candidate 101"):
        offered(foreseen(), Account(gates=CANDIDATES))
    with pytest.raises(InvalidArgument, match="give one claim"):
        FORECAST_GATES.offer(terms(), Account(), [foreseen(), foreseen(30, 10)])
    with pytest.raises(InvalidArgument, match="give one claim"):
        offered(BETTER)


# What follows from symbols alone -----------------------------------------------------------------


def test_never_more_than_ln_10_nats_behind_gates_without_forecasts() -> None:
    """On the same symbols, whatever development rows say: here they are wrong every time."""
    session, base_nats, passed = Session(terms()), 0.0, 0
    rng = np.random.default_rng(4)
    for _ in range(CANDIDATES):
        gains = bool(rng.random() < 0.2)
        b, c = (50, 0) if gains else (20, 30)
        wish = foreseen(*((10, 40) if gains else (40, 10)))
        said = session.put(FORECAST_GATES, wish, of_pairs(ROWS - b - c, b, c))
        base = (passed + 1) / (CANDIDATES + 1)
        shown = said.status == "shown"
        base_nats += -math.log(base) if shown else -math.log1p(-base)
        passed += shown
        assert session.account.nats <= base_nats + math.log(10) + 1e-3
    assert passed > 0
    assert session.account.nats > base_nats + 1.0, "wrong forecasts cost something"


def test_the_mixture_learns_from_symbols_and_from_nothing_else() -> None:
    """The same symbol of other rows, nearer to being another one, leaves the same account."""
    accounts = []
    for sample in (of_pairs(950, 45, 5), of_pairs(950, 50, 0)):
        session = Session(terms())
        assert session.put(FORECAST_GATES, foreseen(), sample).status == "shown"
        accounts.append(session.account)
    assert accounts[0] == accounts[1]
    moved = FORECAST_GATES.mixture(accounts[0]).log_weights
    assert moved[0] < FORECAST_GATES.mixture(Account()).log_weights[0] - 3, "base was surprised"


def test_a_gate_without_a_forecast_moves_no_weight_and_counts_as_ever() -> None:
    session, alone = Session(terms()), Session(terms())
    session.put(FORECAST_GATES, foreseen(25, 25), SILENT)
    before = session.account
    session.put(GATES, BETTER, SILENT)
    assert session.account.memory == before.memory
    assert (session.account.gates, session.account.shown) == (2, 0)
    first = alone.put(GATES, BETTER, SILENT)
    assert first.charge == pytest.approx(-math.log1p(-1 / 101), rel=1e-12)
    assert alone.account.memory == {}


def test_one_result_of_a_question_counts_the_last() -> None:
    """Entered again, the first is forgotten; of a candidate that was not tried, too."""
    twice = FORECAST_GATES.after_untried(
        FORECAST_GATES.after_untried(Account(), PAIRED.text, DevResult(9, 9, 1_000)),
        PAIRED.text,
        DevResult(40, 10, 1_000),
    )
    assert twice.memory[FORECAST_GATES.name]["dev"] == {
        next(iter(twice.memory[FORECAST_GATES.name]["dev"])): [40, 10, 1_000]
    }
    assert twice.nats == 0.0
    assert offered(foreseen(), twice).prior == offered(foreseen()).prior
    other = FORECAST_GATES.after_untried(Account(), "another", DevResult(10, 40, 1_000))
    assert offered(foreseen(), other).prior != offered(foreseen()).prior
    assert Account.from_dict(other.to_dict()) == other


# Truth -------------------------------------------------------------------------------------------

LOOPS, GATED, TRIES, SMALL = 300, 20, 200, 200


def false_loops(seed: int, *, shared: bool) -> int:
    """Loops of null candidates, each the best of many on development rows, with one promoted.

    `shared` is the sabotage: the development rows are the protected ones.
    """
    rng, many = np.random.default_rng(seed), 0
    for _ in range(LOOPS):
        session = Session(terms(SMALL, GATED))
        for _ in range(GATED):
            # Of 200 rows 40 differ; a null candidate is better on each of them with 1/2.
            protected, dev = rng.binomial(40, 0.5, (2, TRIES))
            best = int(dev.argmax())
            b = int(dev[best] if shared else protected[best])
            wish = foreseen(int(dev[best]), 40 - int(dev[best]), SMALL)
            said = session.put(FORECAST_GATES, wish, of_pairs(SMALL - 40, b, 40 - b))
            if said.status == "shown":
                many += 1
                break
    return many


def test_hill_climbed_development_rows_show_nothing_false() -> None:
    assert false_loops(7, shared=False) <= most_failures(LOOPS, BETA)


def test_development_rows_that_are_protected_break_it() -> None:
    assert false_loops(7, shared=True) > most_failures(LOOPS, BETA)
