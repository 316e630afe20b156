"""The Ladder, fixed-step and parameter-free, against the algorithms as printed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.mechanisms.mechanism import CONFIRMED, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.papers.ladder import LADDER, PARAMETER_FREE_LADDER, Ladder
from holdfast.question.columns import Schema
from holdfast.statistics.statistic import Statistic
from tests.holdout.tables import untouchable, watch
from tests.mechanisms.fake import (
    CONDITION,
    audited,
    independent,
    noise_of,
    of_count,
    settled,
)
from tests.statistics.asked import asked

ROWS, SUBMISSIONS = 400, 12


def submissions(seed: int, kind: str) -> pl.DataFrame:
    """Losses of models that slowly become better: 0/1, or numbers in [0, 1]."""
    rng = np.random.default_rng(seed)
    hard = rng.random(ROWS)
    columns: dict[str, Any] = {}
    for place in range(SUBMISSIONS):
        wrong = hard + 0.15 * rng.standard_normal(ROWS) < 0.5 - 0.02 * place
        columns[f"m{place}"] = wrong if kind == "boolean" else wrong * rng.random(ROWS)
    return pl.DataFrame(columns)


def losses(frame: pl.DataFrame) -> list[NDArray[np.float64]]:
    return [frame[column].cast(float).to_numpy() for column in frame.columns]


def printed_ladder(rows: list[NDArray[np.float64]], eta: float) -> list[float]:
    """Blum and Hardt 2015, Figure 1."""
    best, shown, step = Fraction(2), [], Fraction(str(eta))
    for loss in rows:
        mean = Fraction(float(loss.sum())) / ROWS
        if mean < best - step:
            best = math.floor(mean / step + Fraction(1, 2)) * step
        shown.append(float(best))
    return shown


def printed_parameter_free(rows: list[NDArray[np.float64]]) -> list[float]:
    """Blum and Hardt 2015, Figure 2."""
    best, best_rows, shown = math.inf, np.zeros(ROWS), []
    for loss in rows:
        s = float(np.std(loss - best_rows))
        if loss.mean() < best - s / math.sqrt(ROWS):
            best, best_rows = math.floor(loss.mean() * ROWS + 0.5) / ROWS, loss
        shown.append(best)
    return shown


def questions(frame: pl.DataFrame) -> list[Statistic]:
    schema = Schema(PolarsSample(frame).types)
    return [
        asked(f"avg(clip({m}, 0, 1))" if frame[m].dtype == pl.Float64 else f"avg({m})", schema)
        for m in frame.columns
    ]


def played(mechanism: Ladder, frame: pl.DataFrame) -> tuple[list[float], Account]:
    terms = independent(ROWS, tolerance=None, questions=SUBMISSIONS)
    sample, account, shown = PolarsSample(frame), Account(), []
    for question in questions(frame):
        (offer,) = mechanism.offer(terms, account, [Wish(question, 0.5)])
        assert audited(mechanism, terms, account, [offer], [question]) is None
        (symbol,) = mechanism.respond(terms, [offer], [question], sample, noise_of(b""))
        release = settled(mechanism, offer, symbol)
        assert (release.status, release.interval) == ("no promise", (0.0, 1.0))
        least = 2 if symbol == CONFIRMED else 2 * (offer.own_grid.last + 1)
        assert math.log(least) <= release.charge <= math.log(least) + 1e-9
        account = mechanism.advance(account, [offer], [release])
        shown.append(release.told)
    return shown, account


@pytest.mark.parametrize("kind", ["boolean", "number"])
@pytest.mark.parametrize("seed", range(4))
def test_a_fixed_step_as_printed(seed: int, kind: str) -> None:
    frame = submissions(seed, kind)
    for eta in (0.01, 0.03, 0.4):
        shown, _ = played(Ladder(eta, False, (0.0, 1.0)), frame)
        assert shown == pytest.approx(
            [min(1.0, each) for each in printed_ladder(losses(frame), eta)]
        )
        assert len(set(shown)) > 1 or eta == 0.4


@pytest.mark.parametrize("kind", ["boolean", "number"])
@pytest.mark.parametrize("seed", range(4))
def test_parameter_free_as_printed(seed: int, kind: str) -> None:
    frame = submissions(seed, kind)
    shown, account = played(Ladder(None, False, (0.0, 1.0)), frame)
    assert shown == pytest.approx(printed_parameter_free(losses(frame)))
    assert len(set(shown)) > 2
    best = account.memory["ladder"]
    assert best["best"] == round(min(shown) * ROWS)
    assert best["reached_by"] == questions(frame)[shown.index(min(shown))].text


@pytest.mark.parametrize("step", [0.01, None])
def test_scores_are_losses_upside_down(step: float | None) -> None:
    frame = submissions(1, "boolean")
    scores = frame.select(~pl.all())
    shown, _ = played(Ladder(step, False, (0.0, 1.0)), frame)
    up, _ = played(Ladder(step, True, (0.0, 1.0)), scores)
    assert up == pytest.approx([1 - each for each in shown])


def test_a_batch_is_compared_with_the_best_before_it() -> None:
    mechanism, terms = Ladder(0.1, False, (0.0, 1.0)), independent(ROWS, tolerance=None)
    offers = mechanism.offer(terms, Account(), [Wish(CONDITION, 0.5)] * 3)
    assert [offer.extra for offer in offers] == [None] * 3
    for beyond in (-1, 11):  # levels are 0, 0.1, ..., 1
        with pytest.raises(ValueError, match="outside the alphabet"):
            settled(mechanism, offers[0], beyond)
    releases = [
        settled(mechanism, offer, level) for offer, level in zip(offers, (5, 3, 4), strict=True)
    ]
    account = mechanism.advance(Account(), offers, releases)
    assert account.memory["ladder"]["best"] == 3
    (after,) = mechanism.offer(terms, account, [Wish(CONDITION, 0.5)])
    (symbol,) = mechanism.respond(
        terms, [after], [CONDITION], of_count(ROWS, 81), noise_of(b"")
    )  # 0.2025 is not below 0.3 - 0.1
    assert symbol == CONFIRMED
    assert settled(mechanism, after, symbol).value == 0.3
    tampered = replace(after, extra={"best": 4, "reached_by": "avg(b)"})
    assert audited(mechanism, terms, account, [tampered], [CONDITION]) == "way of answering"


def test_a_leaderboard_in_a_ledger(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, ROWS)
    frame = pl.DataFrame({"y": label, "p": np.clip(label + rng.normal(0, 0.4, ROWS), 0, 1)})
    scores = ["log_loss(1 - p, y)", "log_loss(0.5 + 0 * p, y)", "log_loss(p, y)"]
    with holdfast.open(
        frame,
        ledger=tmp_path / "l.ledger",
        mechanism="parameter-free ladder",
        options={"bounds": [0, -math.log(0.01)]},
        questions=9,
    ) as holdout:
        shown = [float(holdout.ask(score)) for score in scores]
        assert shown[0] > shown[1] > shown[2]
    with holdfast.open(
        frame, ledger=tmp_path / "l.ledger", described="off"
    ) as again:  # the best is in the ledger
        assert again.ask("log_loss(clip(p, 0.3, 0.7), y)").value == shown[2]
        watch(again, untouchable)
        with pytest.raises(InvalidQuestion, match="questions of the range"):
            again.ask("avg(p > 0.5)")
        model = holdfast.row_function(
            lambda rows: rows["p"].to_numpy(),
            columns=["p"],
            bounds=(0, -math.log(0.01)),
            name="model",
            version="1",
        )
        with pytest.raises(InvalidQuestion, match="not of a Python function"):
            again.ask(holdfast.mean(model))
    assert all(finding.fine for finding in audit(tmp_path / "l.ledger"))


def test_its_options() -> None:
    wanted = Terms(ROWS, None, 0.95, 5, Independent())
    for wrong in ({"step": 0}, {"better": "up"}, {"bounds": [1, 0]}, {"stp": 0.1}):
        with pytest.raises(InvalidArgument):
            LADDER.plan(wanted, wrong)
    with pytest.raises(InvalidArgument, match="no option 'step'"):
        PARAMETER_FREE_LADDER.plan(wanted, {"step": 0.1})
    parameters = LADDER.plan(wanted, {"step": 0.02, "better": "higher"}).parameters
    built = LADDER.build(independent(ROWS), parameters)
    assert built == Ladder(0.02, True, (0.0, 1.0))
