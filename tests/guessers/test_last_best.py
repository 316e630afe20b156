"""The Ladder on the ledger: a stream of submissions, almost free unless they are better."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Lesson
from holdfast.guessers.training import LastBest
from holdfast.holdout.holdout import Holdout
from holdfast.lab.arena.trial import Scenario, run_trials, verdict
from holdfast.lab.attacks.attacks import LeaderboardBoosting
from holdfast.lab.world.holders import Plain
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.lab.world.session import Protected
from holdfast.ledger.audit import audit
from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.equal_width import bounded_noise_half_width
from tests.guessers.play import grounds, mean_of, terms_for

ROWS, SUBMISSIONS, TOLERANCE = 20_000, 60, 0.05
GOOD = {20: 0.7, 40: 0.85}  # the submissions that are better than chance


def leaderboard() -> pl.DataFrame:
    """For each row and submission, whether its prediction was right."""
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {f"s{j}": rng.random(ROWS) < GOOD.get(j, 0.5) for j in range(SUBMISSIONS)}
        | {f"wrong{j}": rng.random(ROWS) < 1 - GOOD.get(j, 0.5) for j in range(SUBMISSIONS)}
    )


def opened(folder: Path, guesser: Any, **declared: Any) -> Holdout:
    return holdfast.open(
        leaderboard(),
        ledger=folder / "l.ledger",
        questions=SUBMISSIONS,
        tolerance=TOLERANCE,
        guesser=guesser,
        **{"described": "off", **declared},
    )


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_only_better_submissions_are_surprises(tmp_path: Path, better: str) -> None:
    higher = better == "higher"
    with opened(tmp_path, LastBest(better)) as holdout:  # type: ignore[arg-type]
        first, *rest = [
            holdout.ask(f"avg({'s' if higher else 'wrong'}{j})") for j in range(SUBMISSIONS)
        ]
        assert first.status == "answered"
        surprises = [place for place, a in enumerate(rest, start=1) if a.status == "answered"]
        assert {20, 40} <= set(surprises)
        assert len(surprises) <= 4  # the noise of an early best may be beaten once or twice
        best = float(first)
        for place, answer in enumerate(rest, start=1):
            low, high = answer.interval
            truth = GOOD.get(place, 0.5)
            assert low <= (truth if higher else 1 - truth) <= high
            if answer.status == "confirmed":
                assert answer.value == best
                end = (0.0, best + TOLERANCE) if higher else (best - TOLERANCE, 1.0)
                assert (low, high) == pytest.approx(end)
            else:
                assert answer.half_width <= TOLERANCE * 1.001
                best = (max if higher else min)(best, float(answer))
        late = [a.cost for a in rest[-15:]]
        assert max(late) < 0.2, "almost free"
    assert all(finding.fine for finding in audit(tmp_path / "l.ledger"))


def test_a_larger_step_is_harder_to_beat(tmp_path: Path) -> None:
    with opened(tmp_path, LastBest(step=0.25)) as holdout:
        answers = [holdout.ask(f"avg(s{j})") for j in (0, 20, 40)]
        assert [answer.status for answer in answers] == ["answered", "confirmed", "answered"]
        assert answers[1].interval.high == pytest.approx(answers[0] + 0.25)


def test_one_sided_claims_of_the_analyst_are_no_scores(tmp_path: Path) -> None:
    """ "At most 0.9" is true of a score of a half, and must not become the best."""
    with opened(tmp_path, "last best") as holdout:
        assert holdout.check("avg(s0)", at_most=0.9).status == "confirmed"
        assert holdout.ask("avg(s1)").status == "answered"
        assert holdout.check("avg(s2)", guess=0.52, tolerance=0.1).status == "confirmed"
        best = max(0.52, holdout.ledger[1].estimate.value)
        assert holdout.ask("avg(s3)").recorded.guess == pytest.approx(best)


@given(
    values=st.lists(st.floats(0, 1), min_size=1, max_size=10),
    reach=st.floats(0.001, 0.3),
    better=st.sampled_from(["higher", "lower"]),
)
def test_the_best_is_the_best_of_the_scores_that_are_known(
    values: list[float], reach: float, better: str
) -> None:
    guesser, question = LastBest(better), mean_of([0.0, 1.0])  # type: ignore[arg-type]
    other = mean_of([0.0, 2.0, 1.0])
    state = guesser.start(grounds(terms_for(100, 0.2)))
    known = []
    for value in values:
        lesson = Lesson(
            question.text, Interval(0.0, 1.0), value, 0.1, Interval(value - reach, value + reach)
        )
        before = dict(state)
        state = guesser.learn(state, lesson)
        if reach <= 0.1:
            known.append(value)
        else:
            assert dict(state) == before
    assert guesser.covers(state, question) == bool(known)
    assert not guesser.covers(state, other), "a score of another range is another score"
    if known:
        best = (max if better == "higher" else min)(known)
        assert guesser.guess(state, [question]) == [best]
        low, high = guesser.claim(best, 0.1)
        assert (low, high) == ((0.0, best + 0.1) if better == "higher" else (best - 0.1, 1.0))


@pytest.mark.statistical
@pytest.mark.parametrize(("beta", "trials"), [(0.05, 7), (0.001, 4)])
def test_boosting_a_leaderboard_of_400_submissions(beta: float, trials: int) -> None:
    """Blum and Hardt's attack on 4,000 rows; without guesses the half-width would be 0.2."""
    rows, submissions, t = 4_000, 400, 0.08
    population = Signs(submissions)
    profile = population.concentration(rows)
    assert bounded_noise_half_width(profile, submissions + 1, math.log(beta)) > 2.5 * t
    terms = terms_on(population, rows, t, submissions + 1, 1 - beta)
    found = {}
    for holder in (Protected("last best"), Plain()):
        scenario = Scenario(population, holder, LeaderboardBoosting(submissions), terms)
        found[holder.name] = verdict(run_trials(scenario, trials), beta)
    kept, broken = found.values()
    assert kept.holds
    assert kept.fewest_answers == submissions + 1
    assert not broken.holds, "the sabotage twin: scores shown as they are"


def test_its_declarations_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="better is 'larger'"):
        LastBest("larger")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="step"):
        LastBest(step=0.0)
