"""One suite over all guessers, as a user meets them: the promise does not depend on who guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.guessers.guesser import (
    ANALYST,
    Grounds,
    Guesser,
    Lesson,
    around,
    guessers,
    guessers_of,
)
from holdfast.guessers.training import LastBest, NoisyTraining
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.request import wishes_for
from holdfast.ledger.audit import audit
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.mechanism import Claim
from holdfast.papers.median_mechanism import MedianMechanism
from holdfast.papers.multiplicative_weights import MultiplicativeWeights
from holdfast.statistics.statistic import Statistic
from tests.holdout.tables import (
    BOUNDS,
    Crash,
    copied,
    crash,
    noise_by_number,
    table,
    untouchable,
    watch,
)
from tests.seam import bound, desk_of, transcript_of

TABLE, TRAIN = table(20_000), table(5_000, seed=2)
QUESTIONS = ["avg(late)", "avg(x > 20)", "avg(origin = 'JFK')", "avg(x > 60)", "avg(x)"]
COLUMNS = {"late": None, "origin": ["EWR", "JFK", "LGA"], "x": 12}
# How each is opened; at 20,000 rows a half-width of 0.05 has room for many surprises.
OPENED: Mapping[str, dict[str, Any]] = {
    ANALYST: {"guesser": "analyst"},
    "training mean": {"guesser": "training mean", "train": TRAIN},
    "training mean by itself": {"train": TRAIN},
    "noisy training": {"guesser": NoisyTraining(), "train": TRAIN},
    "multiplicative weights": {"guesser": MultiplicativeWeights(COLUMNS)},
    "multiplicative weights, step": {"guesser": MultiplicativeWeights(COLUMNS, update="step")},
    "multiplicative weights, by name": {"guesser": "multiplicative weights"},
    "multiplicative weights with training": {
        "guesser": MultiplicativeWeights({"late": None}),
        "train": TRAIN,
    },
    "median mechanism": {"guesser": MedianMechanism({"late": None})},
    "median mechanism, by name": {"guesser": "median mechanism", "schema": {}},
    "last best": {"guesser": "last best"},
    "last best, lower": {"guesser": LastBest(better="lower", step=0.03)},
}
every_guesser = pytest.mark.parametrize("name", list(OPENED))


def test_the_suite_covers_all_guessers() -> None:
    assert {ANALYST, *guessers()} <= OPENED.keys()


def opened(folder: Path, name: str, data: Any = TABLE, **changed: Any) -> Holdout:
    new = not (folder / "g.ledger").exists()
    facts = {"questions": 40, "tolerance": 0.05, "schema": BOUNDS} if new else {}
    found = {**facts, **OPENED[name], **changed}
    if not new:
        found.pop("schema", None)
    return holdfast.open(data, ledger=folder / "g.ledger", **{"described": "off", **found})


def asked(name: str) -> Sequence[str]:
    """The questions that can be asked without bounds for x, if none are declared."""
    return QUESTIONS if "schema" not in OPENED[name] else QUESTIONS[:4]


@every_guesser
def test_a_session(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as holdout:
        for question in asked(name):
            cost = holdout.cost(question)
            answer = holdout.ask(question, why="because")
            assert answer.status in ("answered", "confirmed")
            assert (answer.recorded.guess is None) == (answer.status == "answered")
            assert answer.interval.low <= answer <= answer.interval.high
            assert answer.cost <= cost.most
            if answer.status == "confirmed":
                assert answer.cost == cost.least
        spent = holdout.budget.to_dict()
        watch(holdout, untouchable)
        for question in asked(name):
            again = holdout.ask(question)
            assert again.status == "repeated"
            assert again.cost == 0
        assert holdout.budget.to_dict() == spent
    findings = audit(tmp_path / "g.ledger")
    assert all(finding.fine for finding in findings), findings


@every_guesser
def test_the_state_is_a_fold_of_the_ledger_alone(tmp_path: Path, name: str) -> None:
    """Resumed without the data it guesses as the one that never stopped."""
    last, answered = "avg(late or x > 40)", []
    with opened(tmp_path, name) as holdout:
        for question in asked(name):
            holdout.ask(question)
        ledger = copied(tmp_path / "g.ledger", tmp_path / "copy")
        with opened(tmp_path / "copy", name, data=None) as blind:
            wishes = []
            for each in (holdout, blind):
                statistic = bound(each, last)
                wishes.append(wishes_for(desk_of(each), [statistic], None, None))  # type: ignore[list-item]
            assert wishes[0] == wishes[1]
        answered.append(holdout.ask(last))
    with opened(ledger.parent, name) as resumed:
        answered.append(resumed.ask(last))
    assert answered[0].to_dict()["value"] == answered[1].to_dict()["value"]
    assert answered[0].interval == answered[1].interval


@every_guesser
def test_a_crash_is_finished_with_the_same_guess_and_noise(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name) as one:
        one.ask(QUESTIONS[0])
        watch(one, crash)
        with pytest.raises(Crash):
            one.ask(QUESTIONS[1])
        assert transcript_of(one).pending is not None, "it is charged, and to be finished"
    copied(tmp_path / "g.ledger", tmp_path / "copy")
    finished = []
    for folder, changed in ((tmp_path, {}), (tmp_path / "copy", {"guesser": "analyst"})):
        with opened(folder, name, **changed) as two:  # whoever guesses from now on
            two.ask(QUESTIONS[2])
            before = [each for each in two.ledger if each.question in QUESTIONS[:2]]
            finished.append([(each.question, each.value, each.guess) for each in before])
    assert finished[0] == finished[1]


@every_guesser
def test_a_guess_by_a_guesser_is_answered_as_the_same_guess_by_an_analyst(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So every promise about checks holds, whoever guesses."""
    noise_by_number(monkeypatch)  # the guesses differ in a last digit, and so the offers
    with opened(tmp_path, name):
        copied(tmp_path / "g.ledger", tmp_path / "copy")
    with opened(tmp_path, name) as guessing, opened(tmp_path / "copy", ANALYST) as plain:
        for question in asked(name):
            statistic = bound(guessing, question)
            (wish,) = wishes_for(desk_of(guessing), [statistic], None, None)  # type: ignore[list-item]
            found = guessing.ask(question, tolerance=0.05)
            low, high = found.interval
            step = 0.03 if "lower" in name else 0.05
            start, width = statistic.low, statistic.high - statistic.low  # type: ignore[union-attr]
            if wish.guess is None:
                told = plain.ask(question, tolerance=0.05)
            elif "last best" not in name:
                told = plain.check(question, guess=start + wish.guess * width, tolerance=0.05)
            elif "lower" in name:
                least = start + max(wish.guess - step, 0) * width
                told = plain.check(question, at_least=least, tolerance=0.05)
            else:
                most = start + min(wish.guess + step, 1) * width
                told = plain.check(question, at_most=most, tolerance=0.05)
            # To ask is to be told what is true; to check is to be told that the guess was not.
            status = "answered" if told.status == "not confirmed" else told.status
            assert status == found.status
            assert told.cost == pytest.approx(found.cost)
            assert told.interval == pytest.approx((low, high), abs=1e-9)


@every_guesser
def test_what_is_exhausted_is_refused_before_data_is_touched(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, name, questions=2) as holdout:
        with opened(tmp_path, ANALYST) as other:
            other.ask_many(QUESTIONS[:2])
        watch(holdout, untouchable)
        spent = holdout.budget.to_dict()
        with pytest.raises(BudgetExhausted, match=r"requested (1 more question|a claim)"):
            holdout.ask(QUESTIONS[2])
        assert holdout.budget.to_dict() == spent


def truth(question: str) -> float:
    found = {
        "avg(late)": pl.col("late").mean(),
        "avg(x > 20)": (pl.col("x") > 20).mean(),
        "avg(origin = 'JFK')": (pl.col("origin") == "JFK").mean(),
        "avg(x > 60)": (pl.col("x") > 60).mean(),
        "avg(x)": pl.col("x").clip(-60, 180).mean(),
    }
    return float(TABLE.select(found[question]).item())


@every_guesser
def test_confirmed_or_not_the_samples_own_value_is_in_the_interval(
    tmp_path: Path, name: str
) -> None:
    with opened(tmp_path, name) as holdout:
        for question in asked(name):
            assert holdout.ask(question).interval.low <= truth(question)
            assert truth(question) <= holdout.ask(question).interval.high


# Batches with and without guesses ---------------------------------------------------------------


def test_what_no_guesser_covers_is_asked_or_guessed_from_training(tmp_path: Path) -> None:
    guesser = MultiplicativeWeights({"late": None})
    both = ["avg(x > 20)", "avg(late)", "avg(x > 60)"]
    with opened(tmp_path, "multiplicative weights", guesser=guesser) as holdout:
        cost = [holdout.cost(question) for question in both]
        answers = holdout.ask_many(both)
        assert [answer.status for answer in answers] == ["answered"] * 3
        assert cost[0].least == cost[0].most
        assert cost[1].least < cost[1].most
        account = transcript_of(holdout).account
        assert (account.asked, account.checks, account.surprises) == (3, 1, 1)
    folder = tmp_path / "trained"
    folder.mkdir()
    with opened(folder, "multiplicative weights", guesser=guesser, train=TRAIN) as holdout:
        answers = holdout.ask_many(both)
        assert [answer.status for answer in answers] == ["confirmed", "answered", "confirmed"]
    assert all(finding.fine for finding in audit(tmp_path / "g.ledger"))


def test_a_mixed_batch_is_refused_whole(tmp_path: Path) -> None:
    guesser = MultiplicativeWeights({"late": None})
    with opened(tmp_path, "multiplicative weights", guesser=guesser, questions=1) as holdout:
        watch(holdout, untouchable)
        with pytest.raises(BudgetExhausted, match="requested 2 more questions; remaining 1"):
            holdout.ask_many(["avg(late)", "avg(x > 20)", "avg(x > 60)"])
        assert holdout.budget.asked == 0


# Guessers of one's own --------------------------------------------------------------------------


class Counting:
    """Always a half; it counts the lessons, which must come once each and in order."""

    name = "a half"

    def __init__(self, value: float = 0.5, claim: Claim | None = None) -> None:
        self.value, self.fixed = value, claim
        self.heard: list[str] = []

    def start(self, grounds: Grounds) -> int:
        return 0

    def learn(self, state: int, lesson: Lesson) -> int:
        self.heard.append(lesson.question)
        assert lesson.revealed.low <= lesson.value <= lesson.revealed.high
        return state + 1

    def covers(self, state: int, statistic: Statistic) -> bool:
        return True

    def guess(self, state: int, statistics: Sequence[Statistic]) -> list[float]:
        assert state == len(self.heard)
        return [self.value for _ in statistics]

    def claim(self, guess: float, tolerance: float) -> Claim:
        return self.fixed or around(guess, tolerance)


def test_every_answer_is_folded_once_whoever_asked(tmp_path: Path) -> None:
    mine = Counting()
    with opened(tmp_path, ANALYST) as other, opened(tmp_path, ANALYST, guesser=mine) as holdout:
        holdout.ask_many(QUESTIONS[:2])
        other.ask(QUESTIONS[2])
        holdout.ask(QUESTIONS[3])
        other.check(QUESTIONS[4], guess=20)
        holdout.ask("avg(x > 7)")
        holdout.ask("avg(x > 7)")
        assert set(mine.heard) == {each.question for each in holdout.ledger}
        assert len(mine.heard) == transcript_of(holdout).account.looks


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.5, "much"])
def test_a_guess_outside_the_range_is_refused_and_free(tmp_path: Path, value: Any) -> None:
    with opened(tmp_path, ANALYST, guesser=Counting(value)) as holdout:
        watch(holdout, untouchable)
        with pytest.raises(InvalidArgument, match="the guess by a half"):
            holdout.ask(QUESTIONS[0])
        assert holdout.budget.asked == 0


@pytest.mark.parametrize("claim", [(0.6, 0.4), (float("nan"), 0.5)])
def test_a_claim_that_is_no_interval_is_refused_and_free(tmp_path: Path, claim: Claim) -> None:
    with opened(tmp_path, ANALYST, guesser=Counting(0.5, claim)) as holdout:
        with pytest.raises(InvalidArgument, match="which is no interval"):
            holdout.ask(QUESTIONS[0])
        assert holdout.budget.asked == 0


def test_a_guesser_is_a_value_of_the_protocol() -> None:
    for guesser in guessers().values():
        assert isinstance(guesser, Guesser)
        assert hash(guesser) is not None
    assert isinstance(Counting(), Guesser)


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("multiplicative weight", "did you mean 'multiplicative weights'"),
        ("zzz", "there are analyst, training mean"),
        (7, "not a guesser"),
    ],
)
def test_what_is_no_guesser_is_refused(tmp_path: Path, wanted: Any, hint: str) -> None:
    with pytest.raises(InvalidArgument, match=hint):
        opened(tmp_path, ANALYST, guesser=wanted)
    assert not (tmp_path / "g.ledger").exists()


@pytest.mark.parametrize("name", ["training mean", "noisy training"])
def test_guesses_from_training_need_training_rows(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match="attach them with train="):
        opened(tmp_path, ANALYST, guesser=name)
    with opened(tmp_path, ANALYST) as holdout:  # nothing is left open or broken
        holdout.ask(QUESTIONS[0])


def test_training_rows_guess_unless_the_analyst_does() -> None:
    assert [each.name for each in guessers_of(None, with_training=True)] == ["training mean"]
    assert guessers_of(None, with_training=False) == ()
    assert guessers_of(ANALYST, with_training=True) == ()
    both = guessers_of("last best", with_training=True)
    assert [each.name for each in both] == ["last best", "training mean"]


def test_a_mechanism_that_checks_nothing_refuses_a_guesser(tmp_path: Path) -> None:
    refusing = [kind.name for kind in CATALOGUE.values() if kind.refuses_checks and kind.trained]
    assert refusing
    for mechanism in refusing:
        folder = tmp_path / mechanism
        folder.mkdir()
        declared = {"mechanism": mechanism, "train": TRAIN, "tolerance": None}
        with pytest.raises(InvalidArgument, match="checks no guesses"):
            opened(folder, ANALYST, guesser="last best", **declared)
        with opened(folder, ANALYST, guesser=None, train=TRAIN) as holdout:
            assert holdout.ask(QUESTIONS[0]).status != "confirmed"
