"""Checks without a half-width: the narrowest that is likely to be confirmed, chosen in public."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import holdfast
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.plays import answered
from holdfast.ledger.audit import audit
from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.claim_levels import likely_half_width, share_claim_holds
from tests.holdout.tables import Crash, copied, crash, watch
from tests.ledger.forging import Body, forged, numbers_forged
from tests.ledger.reading import rows_of

ROWS = 50_000
LATE, GUESS = "avg(late)", 0.237
PLACES = np.arange(ROWS)
TABLE = pl.DataFrame({"late": PLACES % 1_000 < 236, "delay": PLACES % 120 - 40.0})


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with holdfast.open(
        TABLE, ledger=tmp_path / "t.ledger", schema={"delay": (-60.0, 1_000.0)}
    ) as opened:
        yield opened


def confirmed(rng: np.random.Generator, n: int, m: int, log_p: float, part: float = 1.0) -> int:
    """How many of 400 guesses, each a share of m rows, are confirmed on n others."""
    count, rate = 0, float(rng.choice([0.5, 0.2, 0.05]))
    for _ in range(400):
        guess, found = rng.binomial(m, rate) / m, int(rng.binomial(n, rate))
        t = part * likely_half_width(n, guess * (1 - guess), m, log_p)
        ends = Interval(guess - t if guess > t else -math.inf, guess + t)
        count += share_claim_holds(n, found, ends, log_p, alike=True)
    return count


@pytest.mark.parametrize(("n", "m"), [(2_000, 2_000), (5_000, 500), (50_000, 500_000)])
@pytest.mark.parametrize("log_p", [-3.5, -12.0])
def test_39_of_40_are_confirmed(n: int, m: int, log_p: float) -> None:
    rng = np.random.default_rng(n + m)
    least, most = stats.binom.ppf([1e-5, 1 - 1e-5], 400, 0.975)
    assert least <= confirmed(rng, n, m, log_p) <= most
    assert confirmed(rng, n, m, log_p, 0.7) < least  # the twin is too narrow to be likely


def test_it_is_narrow_and_written_down_before_rows_are_touched(
    holdout: Holdout, tmp_path: Path
) -> None:
    """By hand: beta .03, level .0293: (1.892 + 2.241 sqrt 2) standard errors of .0019."""
    cost = holdout.cost(LATE, guess=GUESS)
    answer = holdout.check(LATE, guess=GUESS)
    assert answer.status == "confirmed"
    assert cost.half_width == pytest.approx(answer.half_width)
    assert answer.half_width == pytest.approx(0.00965, abs=2e-5)
    bodies = [json.loads(text) for _, text, _ in rows_of(tmp_path / "t.ledger")]
    (reserved,) = [body for body in bodies if body["kind"] == "reserve/2"]
    (request,) = reserved["asked"]
    assert request["tolerance"] == request["likely"]["tolerance"]
    assert request["tolerance"] == pytest.approx(0.00965, abs=2e-5)
    assert (request["likely"]["n"], request["likely"]["rows"]) == (ROWS, ROWS)
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_width_that_pleases_is_found(holdout: Holdout, tmp_path: Path) -> None:
    """A smaller one, which the rows happened to show, and one by more rows than there were."""
    holdout.check(LATE, guess=GUESS)
    source = tmp_path / "t.ledger"

    def other(name: str, value: float) -> None:
        def changed(bodies: list[Body]) -> None:
            for body in bodies:
                for request in body.get("asked", ()):
                    request["likely"][name] = value

        (fault,) = forged(copied(source, tmp_path / name), changed)
        assert "its half-width is not the one that its guess makes likely" in fault

    other("rows", 10 * ROWS)
    other("n", 2 * ROWS)
    other("tolerance", 0.004)


def test_the_same_check_is_free_whatever_was_spent(holdout: Holdout) -> None:
    right, wrong = holdout.check(LATE, guess=GUESS), holdout.check("avg(delay > 0)", guess=0.5)
    assert (right.status, wrong.status) == ("confirmed", "not confirmed")
    for number in range(5):
        holdout.ask(f"avg(delay > {number})", tolerance=0.05)
    for first, guess in ((right, GUESS), (wrong, 0.5)):
        again = holdout.check(first.question, guess=guess)
        assert (again.repeated, again.cost, again.interval) == (True, 0.0, first.interval)
    keyed = holdout.check("avg(delay > 50)", guess=0.25, request_key="k")
    again = holdout.check("avg(delay > 50)", guess=0.25, request_key="k")
    assert again.interval == keyed.interval


def two_of(ledger: Path) -> tuple[Holdout, Holdout]:
    """Two that share a ledger, as two workers do."""
    first = holdfast.open(TABLE, ledger=ledger, schema={"delay": (-60.0, 1_000.0)})
    return first, holdfast.open(TABLE, ledger=ledger)


def require_one_claim(holdout: Holdout, answer: Answer, others: int, ledger: Path) -> None:
    """One claim was paid for, one line is told, and the audit agrees."""
    assert holdout.budget.account.checks == 1 + others
    assert [line.question for line in holdout.ledger].count(answer.question) == 1
    assert all(finding.fine for finding in audit(ledger))


@pytest.mark.parametrize("guess", [GUESS, 0.5])
@pytest.mark.parametrize("moved", [False, True], ids=["at once", "after another"])
def test_a_check_that_died_is_finished_at_the_width_it_began_with(
    tmp_path: Path, guess: float, moved: bool
) -> None:
    """Reserved it counts as spent: the next choice of a width would be another one."""
    one, two = two_of(tmp_path / "t.ledger")
    with one, two:
        watch(one, crash)
        with pytest.raises(Crash):
            one.check(LATE, guess=guess, request_key="k")
        if moved:
            two.check("avg(delay > 0)", guess=0.3)
        answer = two.check(LATE, guess=guess, request_key="k")
        assert two.check(LATE, guess=guess, request_key="k").interval == answer.interval
        require_one_claim(two, answer, int(moved), tmp_path / "t.ledger")


@pytest.mark.parametrize("guess", [GUESS, 0.5])
@pytest.mark.parametrize("dies", [False, True], ids=["answered", "reserved"])
def test_a_check_that_another_began_meanwhile_is_made_at_its_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guess: float, dies: bool
) -> None:
    """Its width was chosen, and its turn came after a question, and the same check."""
    one, two = two_of(tmp_path / "t.ledger")

    def overtake() -> None:
        one.check("avg(delay > 0)", guess=0.3)
        if not dies:
            one.check(LATE, guess=guess, request_key="k")
            return
        watch(one, crash)
        with pytest.raises(Crash):
            one.check(LATE, guess=guess, request_key="k")

    def after_others(*asked: Any) -> Any:
        monkeypatch.setattr("holdfast.holdout.ask.answered", answered)
        overtake()
        return answered(*asked)

    with one, two:
        monkeypatch.setattr("holdfast.holdout.ask.answered", after_others)
        answer = two.check(LATE, guess=guess, request_key="k")
        assert answer.half_width == one.check(LATE, guess=guess, request_key="k").half_width
        require_one_claim(two, answer, 1, tmp_path / "t.ledger")


def test_an_answer_that_settles_it_is_told_again(holdout: Holdout) -> None:
    """At the ledger's half-width, as before: nothing is looked at to say it more narrowly."""
    answer = holdout.ask(LATE)
    again = holdout.check(LATE, guess=GUESS)
    assert (again.cost, again.interval) == (0.0, answer.interval)


def test_training_rows_are_worth_their_number(tmp_path: Path) -> None:
    """Ten times as many make the guess better, and the spread of numbers is theirs."""
    widths = []
    for times in (0.1, 1, 10):
        train = TABLE[np.arange(int(times * ROWS)) % ROWS].with_columns(pl.col("delay") + 0.25)
        with holdfast.open(
            TABLE, ledger=tmp_path / f"{times}.ledger", schema={"delay": (-60.0, 1_000.0)}
        ) as opened:
            share = opened.check(LATE, guess=train)
            mean = opened.check("avg(delay)", guess=train)
            assert (share.status, mean.status) == ("confirmed", "confirmed")
            widths.append((share.half_width, mean.half_width))
            assert all(finding.fine for finding in audit(tmp_path / f"{times}.ledger"))
    assert widths == sorted(widths, reverse=True)
    assert widths[1][0] == pytest.approx(0.00965, abs=2e-5)
    # Delays have the spread 34.6, and bets that know no variance reach 3.5 standard errors.
    assert widths[1][1] == pytest.approx((3.47 + 3.17) * 34.6 / math.sqrt(ROWS), rel=0.1)


def test_each_of_several_has_its_own(holdout: Holdout, tmp_path: Path) -> None:
    rare, half = holdout.check_many(["avg(delay > 78)", "avg(delay > 19)"], [1 / 120, 0.5])
    assert (rare.status, half.status) == ("confirmed", "confirmed")
    assert rare.half_width < 0.3 * half.half_width < 0.004
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
    assert numbers_forged(copied(tmp_path / "t.ledger", tmp_path / "forged")) >= 20
