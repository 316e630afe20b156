"""Thresholdout: decisions and noise as published, drawn by address; its state is a fold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import holdfast
from holdfast.data.sampling import Independent
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.mechanisms.mechanism import CONFIRMED, Offer, Symbol, Wish, cell_of
from holdfast.mechanisms.noise import Noise, discrete_laplace, words_of
from holdfast.mechanisms.terms import Account, Terms
from holdfast.papers.thresholdout import THRESHOLDOUT, Thresholdout
from holdfast.theory.leakage.release import RESOLUTION
from tests.holdout.tables import BOUNDS, opened, table, untouchable, watch
from tests.mechanisms.fake import (
    CONDITION,
    SECRET,
    audited,
    independent,
    leaked,
    noise_of,
    of_count,
    settled,
)
from tests.theory.coverage import counts_refute

ROWS = 1_000
TERMS = independent(ROWS, tolerance=None, questions=10**6)
UNSURE = Thresholdout(threshold=0.04, noise=0.01, budget=10**6)


def answered(
    mechanism: Thresholdout, number: int, guess: float, count: int, since: int = 0
) -> tuple[Offer, Symbol]:
    """The symbol of question `number` on a sample with `count` true rows."""
    account = leaked(0.0, asked=number - 1).remembering("thresholdout", [0, since])
    (offer,) = mechanism.offer(TERMS, account, [Wish(CONDITION, 0.5, guess=guess)])
    (symbol,) = mechanism.respond(
        TERMS, [offer], [CONDITION], of_count(ROWS, count), noise_of(SECRET)
    )
    return offer, symbol


def laplaces(number: int) -> list[float]:
    """The three draws of a question, in units of sigma, as the file says it draws them."""
    words = words_of(Noise(SECRET, str(number)))
    return [discrete_laplace(words, scale * RESOLUTION) / RESOLUTION for scale in (2, 4, 1)]


@pytest.mark.parametrize("count", [230, 250, 270, 300, 400])
def test_the_decision_is_the_published_one(count: int) -> None:
    for number in range(1, 41):
        for since in (0, 3):
            _, compared, shown = laplaces(number)
            on_threshold, _, _ = laplaces(since)
            gap = abs(count / ROWS - 0.25)
            offer, symbol = answered(UNSURE, number, 0.25, count, since)
            release = settled(UNSURE, offer, symbol)
            if gap > 0.04 + 0.01 * (on_threshold + compared):
                assert release.value == pytest.approx(
                    min(1.0, max(0.0, count / ROWS + 0.01 * shown)), abs=1e-6
                )
            else:
                assert symbol == CONFIRMED
                assert release.value == 0.25
            assert (release.status, release.interval) == ("no promise", (0.0, 1.0))


def test_the_threshold_is_drawn_afresh_after_an_answer_over_it_and_not_before() -> None:
    # Noise so small that it decides none of these.
    mechanism, account = Thresholdout(threshold=0.04, noise=0.001, budget=10**6), Account()
    for count, over in ((250, False), (900, True), (250, False), (100, True)):
        (offer,) = mechanism.offer(TERMS, account, [Wish(CONDITION, 0.5, guess=0.25)])
        used, since = account.memory.get("thresholdout", (0, 0))
        assert offer.extra == {"since": since}
        (symbol,) = mechanism.respond(
            TERMS, [offer], [CONDITION], of_count(ROWS, count), noise_of(SECRET)
        )
        assert (symbol != CONFIRMED) == over
        before = account
        account = mechanism.advance(account, [offer], [settled(mechanism, offer, symbol)])
        after = [used + 1, offer.number] if over else [used, since]
        assert account.memory["thresholdout"] == after
        tampered = replace(offer, extra={"since": offer.number})
        assert audited(mechanism, TERMS, before, [offer], [CONDITION]) is None
        found = audited(mechanism, TERMS, before, [tampered], [CONDITION])
        assert found == "way of answering"


def test_answers_over_the_threshold_run_out() -> None:
    mechanism = Thresholdout(threshold=0.04, noise=0.001, budget=2)
    account = Account()
    for left in (2, 1):
        assert mechanism.questions_left(TERMS, account) == left
        (offer,) = mechanism.offer(TERMS, account, [Wish(CONDITION, 0.5, guess=0.25)])
        release = settled(mechanism, offer, offer.own_grid.last)
        account = mechanism.advance(account, [offer], [release])
    with pytest.raises(BudgetExhausted, match=r"requested 1 more; remaining 0 of the 2 .* 1\."):
        mechanism.offer(TERMS, account, [Wish(CONDITION, 0.5, guess=0.25)])


@pytest.mark.parametrize("place", [0.0, 0.3, 1.0])
def test_no_answer_is_under_charged(place: float) -> None:
    """Half of the weight on the training value, half on the cells: sums of the largest chances."""
    offer, _ = answered(UNSURE, 1, 0.25, round(place * ROWS))
    cells = offer.own_grid.last
    at_most = 1 + cells * math.tanh(1 / (2 * RESOLUTION))
    assert settled(UNSURE, offer, CONFIRMED).charge >= math.log(2)
    worst = settled(UNSURE, offer, 7).charge
    assert math.log(2 * at_most) <= worst <= math.log(2 * at_most) + 1e-6
    assert worst == offer.worst_charge


# The law of what is shown -----------------------------------------------------------------------

DRAWS = 1_500


def refuted(draw: Callable[[int], float], scale: float) -> bool:
    """Whether a chi-square test at level 1e-9 refutes Laplace(scale) in eight equal cells."""
    draws = np.array([draw(number) for number in range(1, DRAWS + 1)])
    places = np.where(draws < 0, np.exp(draws / scale) / 2, 1 - np.exp(-draws / scale) / 2)
    counts = np.bincount(np.minimum(7, (8 * places).astype(int)), minlength=8)
    return counts_refute(counts, DRAWS / 8)


@pytest.mark.statistical
def test_what_is_shown_has_laplace_noise_and_not_another() -> None:
    always_over = Thresholdout(threshold=0.0, noise=0.01, budget=10**6)

    def noise(number: int) -> float:
        offer, symbol = answered(always_over, number, 0.0, 1_000)
        assert symbol != CONFIRMED
        return float(Fraction(cell_of(offer, symbol), offer.own_grid.last)) - 1.0

    seen = {number: noise(number) for number in range(1, DRAWS + 1)}
    assert not refuted(seen.__getitem__, 0.01)
    assert refuted(seen.__getitem__, 0.013)  # power: a scale 30 % larger is found


# In a ledger ------------------------------------------------------------------------------------


def test_it_needs_training_rows_for_what_is_new(tmp_path: Path) -> None:
    train = table(300, seed=9)
    with opened(
        tmp_path, table(), train=train, mechanism="thresholdout", questions=5, schema=BOUNDS
    ) as holdout:
        answer = holdout.ask("avg(late)")
        assert answer.guess == pytest.approx(train["late"].mean())
    with holdfast.open(table(), ledger=tmp_path / "t.ledger", described="off") as alone:
        watch(alone, untouchable)
        assert alone.ask("avg(late)").value == answer.value
        with pytest.raises(InvalidArgument, match="open it with train="):
            alone.ask("avg(x)")


def test_its_options() -> None:
    wanted = Terms(ROWS, None, 0.95, None, Independent())
    with pytest.raises(InvalidArgument, match="needs questions=, or options"):
        THRESHOLDOUT.plan(wanted, {})
    for wrong in ({"noise": 0}, {"threshold": 2}, {"budget": 0}, {"treshold": 0.1}):
        with pytest.raises(InvalidArgument):
            THRESHOLDOUT.plan(wanted, {"budget": 3, **wrong})
    parameters = THRESHOLDOUT.plan(wanted, {"budget": 3, "noise": 0.02}).parameters
    assert THRESHOLDOUT.build(TERMS, parameters) == Thresholdout(0.04, 0.02, 3)
