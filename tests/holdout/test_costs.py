"""What a question costs is said before, and is never less than what it is then charged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from holdfast.errors import Refused
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.price import Worst
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer, Symbol, Wish, about
from holdfast.mechanisms.terms import Account
from tests.holdout.tables import Crash, crash, opened, untouchable, watch
from tests.mechanisms.fake import CONDITION, independent, leaked
from tests.seam import bound, put_sample

FACTS: dict[str, Any] = {"tolerance": 0.12, "schema": {"x": (-60, 180), "k": (0, 20)}}
ROWS = 600


def rows(seed: int = 0, late: float = 0.25, small: float = 0.3, x: float = 20.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "x": rng.normal(x, 40.0, ROWS),
            "late": rng.random(ROWS) < late,
            "small": rng.random(ROWS) < small,
            "k": rng.integers(0, 20, ROWS),
        }
    )


HOLD = rows()
QUESTIONS = [
    "avg(x)",
    "avg(x) where small",
    "f1(late, small)",
    "difference(late, small)",
    "difference(avg(x) where small, avg(x) where late)",
    "variance(x)",
    "median(k)",
    "quantile(x, 0.3)",
]
# Far from right in every part, in some of them, and in none.
GUESSES = [0.1, 0.9, rows(7, 0.9, 0.9, 150), rows(7, 0.25, 0.9), rows(7, x=170), rows(7)]


def guess_of(holdout: Holdout, question: str, guess: Any) -> Any:
    if not isinstance(guess, float):
        return guess
    found = bound(holdout, question)
    assert not hasattr(found, "members")
    return found.low + (found.high - found.low) * guess


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("before", [0, 2])
def test_no_way_through_a_check_costs_more_than_was_said(
    tmp_path: Path, question: str, before: int
) -> None:
    """Whatever its guesses turn out to be, and where surprises leave too little for its end."""
    for place, wrong in enumerate(GUESSES):
        with opened(tmp_path, HOLD, f"t{place}", **FACTS) as holdout:
            for k in range(before):
                holdout.check(f"avg(k > {3 * k + 2})", guess=1 - (3 * k + 3) / 20)
            guess = guess_of(holdout, question, wrong)
            watched = watch(holdout, untouchable)
            cost, spent = holdout.cost(question, guess), holdout.budget.nats
            put_sample(holdout, watched.sample)
            try:
                holdout.check(question, guess)
            except Refused:
                assert math.isinf(cost.most)
            if "quantile" not in question and "median" not in question:  # a search may be shorter
                assert cost.least <= (holdout.budget.nats - spent) * (1 + 1e-12)
            assert holdout.budget.nats - spent <= cost.most * (1 + 1e-12)
            assert holdout.budget.asked - before <= cost.questions


@pytest.mark.parametrize("surprises", [0, 2, 4])
@pytest.mark.parametrize("tight", [0.0425, 0.1])
def test_the_worst_is_that_of_all_ways(surprises: int, tight: float) -> None:
    """After surprises alone a confirmation is dear, the dearer the more of them there were."""
    terms, checks = independent(2_000), CHECKS
    start = leaked(0.0, asked=4, checks=4, surprises=surprises)
    wishes = [about(CONDITION, tight, 0.5), about(CONDITION, 0.4, 0.5), about(CONDITION, 0.4, 0.5)]

    def offers(wishes: Sequence[Wish], account: Account) -> tuple[Mechanism, list[Offer]]:
        return checks, checks.offer(terms, account, wishes)

    desk: Any = SimpleNamespace(offers=offers)
    worst, most = Worst(start, start), 0.0
    for wish in wishes:
        worst, charge = worst.after(desk, [wish])
        most += charge
    symbols: list[Symbol] = [CONFIRMED, "not confirmed"]
    for way in product(symbols, repeat=3):
        account = start
        for wish, symbol in zip(wishes, way, strict=True):
            (offer,) = checks.offer(terms, account, [wish])
            account = checks.advance(account, [offer], checks.settle([offer], [symbol]))
        assert account.nats <= most * (1 + 1e-12), way


@pytest.mark.parametrize("question", QUESTIONS)
def test_asking_costs_no_more_than_was_said(tmp_path: Path, question: str) -> None:
    with opened(tmp_path, HOLD, **FACTS | {"tolerance": 0.3}) as holdout:
        cost = holdout.cost(question)
        holdout.ask(question)
        assert holdout.budget.nats <= cost.most * (1 + 1e-12) < math.inf
        assert holdout.budget.asked <= cost.questions


def test_a_cost_shows_as_html(tmp_path: Path) -> None:
    with opened(tmp_path, HOLD, **FACTS) as holdout:
        cost = holdout.cost("avg(x < 1)")
    shown = cost._repr_html_()
    assert "<b>avg(x &lt; 1)</b>" in shown
    assert "half-width 0.12; takes about 0 of 6 left" in shown
    assert "nats" in cost.details


@pytest.mark.parametrize("question", ["avg(x)", "median(k)"])
def test_what_is_unfinished_counts_before_the_next(tmp_path: Path, question: str) -> None:
    with opened(tmp_path, HOLD, **FACTS | {"tolerance": 0.3}) as holdout:
        before = holdout.cost(question)
        watched = watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask("avg(late)")
        cost, spent = holdout.cost(question), holdout.budget.nats
        assert cost.most > before.most  # what is reserved has leaked, as far as anybody knows
        put_sample(holdout, watched.sample)
        holdout.ask(question)
        assert 0 < holdout.budget.nats - spent <= cost.most * (1 + 1e-12)


def test_a_search_that_may_use_up_everything_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, HOLD, **FACTS) as holdout:
        cost = holdout.cost("median(k)", guess=2.0)
        assert math.isinf(cost.most)
        assert cost.to_dict()["most"] is None  # JSON has no infinity
        assert "all that is left at worst" in str(cost)
        assert cost.questions > 2


def test_a_search_of_which_little_is_unknown_ends(tmp_path: Path) -> None:
    """Thresholds beyond the range's end are none, whatever has been asked about that end."""
    small = pl.DataFrame({"k": np.random.default_rng(0).integers(0, 5, 4_000)})
    with opened(tmp_path, small, tolerance=0.2, schema={"k": (0, 4)}) as holdout:
        for v in (0, 2, 3, 4):
            holdout.ask(f"avg(coalesce(clip(k, 0, 4), 0) <= {v})")
        # Which thresholds a search meets after a new one is not known before: all count as new.
        cost = holdout.cost("median(k)")
        assert 1 <= cost.questions <= 4
        before = holdout.budget.asked
        assert holdout.ask("median(k)").cost <= cost.most
        assert holdout.budget.asked == before + 1
        assert holdout.cost("median(k)").questions == 0
