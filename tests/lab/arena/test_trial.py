"""Trials and verdicts: the same for the same seed wherever they run; thresholds are exact."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from holdfast.data.sampling import Declared
from holdfast.errors import BudgetExhausted, InvalidArgument, MissingExtra, Refused
from holdfast.lab.arena.trial import (
    Final,
    Game,
    Move,
    Result,
    Scenario,
    View,
    most_failures,
    play,
    run_trials,
    verdict,
)
from holdfast.lab.attacks.attacks import SignAttack, WidthReading
from holdfast.lab.world.holders import (
    CapPerAccount,
    Holder,
    Plain,
    Shown,
    Splitting,
)
from holdfast.lab.world.linear_questions import LabQuestion, Vote, average
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.lab.world.session import NoisyPart, Protected, planned_terms
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.mechanisms.terms import Account

POPULATION = Signs(20)
TERMS = terms_on(POPULATION, 200, 0.3, 21)
SCENARIO = Scenario(POPULATION, Protected(), SignAttack(20), TERMS)


def test_the_same_seed_gives_the_same_trials_in_any_number_of_processes() -> None:
    alone = run_trials(SCENARIO, 4, seed=3)
    assert run_trials(SCENARIO, 4, seed=3, n_jobs=2) == alone
    assert run_trials(SCENARIO, 4, seed=4) != alone
    assert len({result.final for result in alone}) == 4


def test_several_processes_need_joblib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(MissingExtra, match=r"holdfast\[lab\]"):
        run_trials(SCENARIO, 2, n_jobs=2)
    assert len(run_trials(SCENARIO, 2)) == 2
    with pytest.raises(InvalidArgument, match="n_jobs"):
        run_trials(SCENARIO, 2, n_jobs=0)


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    run_trials(SCENARIO, 3, progress=lambda done, trials: seen.append((done, trials)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


class Scripted:
    """A session that says what it is told to say; None is a refusal."""

    def __init__(self, answers: Sequence[Shown | None]) -> None:
        self.answers = list(answers)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:
        answer = self.answers.pop(0)
        if answer is None:
            raise BudgetExhausted("no more")
        return answer


class Asks:
    """Asks a number of questions; after a refusal it goes on only if told so."""

    name, description = "asks", "Asks."

    def __init__(self, count: int, *, stubborn: bool = False) -> None:
        self.count, self.stubborn = count, stubborn

    def play(self, view: View, rng: np.random.Generator) -> Game:
        for feature in range(self.count):
            try:
                yield Move(Vote.of({feature: 1}), final=True)
            except Refused:
                if not self.stubborn:
                    raise


def played(answers: Sequence[Shown | None], *, stubborn: bool = False) -> Result:
    analyst = Asks(len(answers), stubborn=stubborn)
    return play(analyst, Scripted(answers), POPULATION, View(TERMS), np.random.default_rng(1))


def test_a_trial_counts_answers_misses_and_slack() -> None:
    result = played([Shown(0.45, 0.35, 0.55), Shown(0.7, 0.6, 0.8), Shown(0.9)])
    assert (result.answered, result.intervals, result.missed, result.refused) == (3, 2, 1, 0)
    assert result.failed
    assert result.worst_error == pytest.approx(0.4)
    assert result.slack == pytest.approx(2.0)
    assert result.final == Final(0.9, 0.5, None, None)
    assert result.final.holds is None


def test_an_end_that_is_cut_off_binds_nothing() -> None:
    """0.5 is 0.4 below 0.9, whose interval was +-0.5 before it was cut to [0.4, 1]."""
    assert played([Shown(0.9, 0.4, 1.0)]).slack == pytest.approx(0.8)
    assert played([Shown(0.3, 0.0, 0.7)]).slack == pytest.approx(0.5)
    assert played([Shown(0.7, 0.4, 1.0)]).slack == pytest.approx(0.2 / 0.3)
    assert played([Shown(0.8, 0.0, 0.9)]).slack == pytest.approx(0.3 / 0.8)


def test_a_refusal_ends_the_game_unless_it_is_caught() -> None:
    answers = [Shown(0.5, 0.4, 0.6), None, Shown(0.6, 0.4, 0.8)]
    assert (played(answers).answered, played(answers).refused) == (1, 1)
    assert (played(answers, stubborn=True).answered, played(answers, stubborn=True).refused) == (
        2,
        1,
    )


def test_the_exact_threshold() -> None:
    for trials, beta in ((20, 0.05), (400, 0.05), (4_000, 0.001)):
        most = most_failures(trials, beta)
        assert binom.sf(most, trials, beta) <= 1e-9 < binom.sf(most - 1, trials, beta)


def results(failed: int, trials: int) -> list[Result]:
    final = Final(0.6, 0.5, 0.4, 0.8)
    return [Result(10 + i, 9 + i, int(i < failed), 1, 0.1, 0.5, final) for i in range(trials)]


def test_a_verdict_says_broken_exactly_beyond_the_threshold() -> None:
    most = most_failures(50, 0.05)
    assert verdict(results(most, 50), 0.05).holds
    assert not verdict(results(most + 1, 50), 0.05).holds
    found = verdict(results(3, 50), 0.05)
    assert (found.failures, found.allowed, found.failure_rate) == (3, most, 0.06)
    assert (found.fewest_answers, found.median_answers, found.most_answers) == (10, 34.5, 59)
    assert found.shown == pytest.approx(0.6)
    assert (found.truth, found.slack, found.intervals) == (0.5, 0.5, sum(range(9, 59)))
    assert str(found).startswith("holds: 3 of 50 trials")
    assert verdict(results(found.usual, 50), 0.05).word == "holds"
    assert verdict(results(found.usual + 1, 50), 0.05).word == "doubtful"
    assert str(verdict(results(50, 50), 0.05)).startswith("BROKEN: 50 of 50")
    with pytest.raises(InvalidArgument):
        verdict([], 0.05)


def test_a_verdict_holds_only_if_the_trials_could_have_said_otherwise() -> None:
    """Six failures of six have a chance of 0.05^6 > 1e-9; seven of seven are beyond the doubt."""
    assert verdict(results(6, 6), 0.05).word == "too few trials"
    assert verdict(results(0, 6), 0.05).word == "too few trials"
    assert verdict(results(0, 7), 0.05).word == "holds"
    assert verdict(results(7, 7), 0.05).word == "BROKEN"
    silent = [Result(0, 0, 0, 9, 0.0, 0.0, None)] * 50
    assert verdict(silent, 0.05).word == "no interval"
    assert str(verdict(silent, 0.05)).startswith("no interval: 0 of 50 trials")


def test_a_seed_is_a_whole_number() -> None:
    for seed in (-1, 1.5):
        with pytest.raises(InvalidArgument, match="seed"):
            run_trials(SCENARIO, 1, seed=seed)  # type: ignore[arg-type]


# Holders and sessions --------------------------------------------------------------------------


def test_a_repeated_question_is_free_and_the_same() -> None:
    table = POPULATION.draw(200, np.random.default_rng(1))
    session = Protected().open(TERMS, table, None, 5)
    first = session.ask(Vote.of({0: 1}), identity="one")
    for feature in range(1, 20):
        session.ask(Vote.of({feature: 1}))
    assert session.ask(Vote.of({0: 1}), identity="another") == first
    session.ask(Vote.of({0: 1, 1: 1}))
    with pytest.raises(BudgetExhausted):  # 21 were declared
        session.ask(Vote.of({0: 1, 2: 1}))
    assert session.ask(Vote.of({0: 1})) == first


def test_noise_is_addressed_by_the_seed() -> None:
    table = POPULATION.draw(200, np.random.default_rng(1))
    answers = [
        Protected().open(TERMS, table, None, seed).ask(Vote.of({0: 1})) for seed in (5, 5, 6)
    ]
    assert answers[0] == answers[1] != answers[2]


def account_of(session: Any) -> Account:
    """What a protected session has spent."""
    found: Account = session.account
    return found


def test_a_guess_is_confirmed_or_answered() -> None:
    table = POPULATION.draw(200, np.random.default_rng(1))
    session = Protected("analyst").open(TERMS, table, None, 5)
    assert session.ask(Vote.of({0: 1}), guess=0.5).status == "confirmed"
    looks = account_of(session).looks
    assert session.ask(Vote.of({0: 1}), guess=0.0).status == "not confirmed"
    assert account_of(session).looks == looks + 2, "the claim that was refuted, and the question"
    assert session.ask(Vote.of({0: 1})).status == "answered"


@pytest.mark.parametrize("name", ["ladder", "parameter-free ladder"])
def test_a_ladder_keeps_the_highest_score(name: str) -> None:
    table = POPULATION.draw(200, np.random.default_rng(1))
    votes = sorted((Vote.of({0: side}) for side in (-1, 1)), key=lambda vote: -average(vote, table))
    session = Protected(mechanism=name).open(planned_terms(name, TERMS), table, None, 5)
    high, still = (session.ask(vote).value for vote in votes)
    assert high == still == pytest.approx(average(votes[0], table), abs=0.01)
    assert average(votes[1], table) < high - 0.05


def test_mechanisms_are_made_from_the_catalogue_by_name() -> None:
    table = POPULATION.draw(200, np.random.default_rng(1))
    exact = average(Vote.of({0: 1}), table)
    for name, kind in CATALOGUE.items():
        holder = Protected(mechanism=name)
        terms = planned_terms(name, replace(TERMS, questions=9))
        session = holder.open(terms, table, table, 5)
        shown = session.ask(Vote.of({0: 1}))
        assert holder.promises == (kind.theorem is not None)
        assert (shown.low is None) == (kind.theorem is None)
        if shown.low is not None and shown.high is not None:
            assert shown.low <= exact <= shown.high
            assert shown.high - shown.low <= 2 * terms.half_width * (1 + 1e-9)
    with pytest.raises(InvalidArgument, match="did you mean 'median noise'"):
        Protected(mechanism="median nois")
    with pytest.raises(InvalidArgument, match="checks no guesses"):
        Protected("analyst", mechanism="sample splitting").open(
            replace(TERMS, questions=3, tolerance=0.45), table, None, 5
        )


@pytest.mark.parametrize("mechanism", ["bounded noise", "median noise", "rounding"])
def test_a_scale_shrinks_noise_and_half_width_together(mechanism: str) -> None:
    table, seeds = POPULATION.draw(4_000, np.random.default_rng(1)), range(40)
    terms = terms_on(POPULATION, 4_000, 0.3, 9)
    exact = average(Vote.of({0: 1}), table)
    errors, widths = [], []
    for scale in (1.0, 0.25):
        holder = Protected(scale=scale, mechanism=mechanism)
        terms = planned_terms(mechanism, terms)
        shown = [holder.open(terms, table, None, seed).ask(Vote.of({0: 1})) for seed in seeds]
        errors.append(max(abs(each.value - exact) for each in shown))
        widths.append(max(each.half_width or 0.0 for each in shown))
    assert widths[1] == pytest.approx(widths[0] / 4)
    assert 0 < errors[1] <= widths[1]
    if mechanism != "rounding":  # where the error is what rounding to another grid makes it
        assert errors[1] == pytest.approx(errors[0] / 4, rel=0.01)


def test_the_work_of_an_answer_tells_nothing() -> None:
    """What is computed depends on the kind of question and on what is shown, on nothing else.

    A guess that is confirmed takes one look, one that is refuted two: as many as are told.
    """
    table = POPULATION.draw(200, np.random.default_rng(1))
    for guesses, guess in (("nobody", None), ("analyst", 0.5), ("analyst", 0.02)):
        session = Protected(guesses).open(TERMS, table, None, 5)  # type: ignore[arg-type]
        shown = [session.ask(Vote.of({feature: 1}), guess) for feature in range(6)]
        assert {each.work for each in shown} == {shown[0].work} != {0}
        assert {each.status for each in shown} == {shown[0].status}
    checks = Protected("analyst").open(TERMS, table, None, 5)
    confirmed, refuted = (checks.ask(Vote.of({feature: 1}), feature / 2) for feature in (1, 0))
    assert (confirmed.status, confirmed.work) == ("confirmed", 1)
    assert (refuted.status, refuted.work) == ("not confirmed", 2)


def test_sabotage_is_named_and_promises_nothing() -> None:
    assert Protected().promises
    for broken in (Protected(scale=0.9), Protected(charging=False)):
        assert not broken.promises
        assert broken.name != Protected().name


def test_splitting_answers_as_often_as_the_tolerance_allows() -> None:
    terms = terms_on(POPULATION, 5_000, 0.1, None)
    assert (Splitting().parts(terms), Splitting(exact=True).parts(terms)) == (15, 22)
    tight = terms_on(POPULATION, 50, 0.1, None)
    session = Splitting().open(tight, POPULATION.draw(50, np.random.default_rng(1)), None, 5)
    with pytest.raises(BudgetExhausted, match="0 questions"):
        session.ask(Vote.of({0: 1}))


@pytest.mark.parametrize(
    "holder", [Protected("train"), Protected(mechanism="thresholdout")], ids=lambda h: h.name
)
def test_training_is_needed_where_it_is_used(holder: Holder) -> None:
    with pytest.raises(InvalidArgument, match="training table"):
        run_trials(Scenario(POPULATION, holder, SignAttack(20), TERMS), 1)


def test_a_noisy_part_needs_independent_rows() -> None:
    dependent = replace(TERMS, sampling=Declared(TERMS.concentration))
    with pytest.raises(InvalidArgument, match="dependent"):
        run_trials(Scenario(POPULATION, NoisyPart(), SignAttack(20), dependent), 1)


def test_a_cap_is_for_each_account() -> None:
    table = POPULATION.draw(200, np.random.default_rng(1))
    session = CapPerAccount(2).open(TERMS, table, None, 5)
    for account in ("a", "b"):
        for feature in range(2):
            session.ask(Vote.of({feature: 1}), identity=account)
        with pytest.raises(BudgetExhausted):
            session.ask(Vote.of({3: 1}), identity=account)


def test_refusals_are_no_news() -> None:
    """A refused question leaves the session as it was: asked again, it is refused again."""
    scenario = Scenario(
        POPULATION, Protected(), WidthReading(20), terms_on(POPULATION, 200, 0.3, 5)
    )
    (result,) = run_trials(scenario, 1)
    assert (result.answered, result.refused) == (5, 15 + 3 + 1)
    plain = Scenario(POPULATION, Plain(), WidthReading(20), TERMS)
    assert run_trials(plain, 1)[0].refused == 0


@pytest.mark.parametrize("beta", [0.001, 0.05, 0.5])
@pytest.mark.parametrize("chance", [1e-9, 0.01])
def test_the_most_failures_are_the_binomials(beta: float, chance: float) -> None:
    for trials in (1, 6, 7, 40, 1_000):
        assert most_failures(trials, beta, chance) == binom.isf(chance, trials, beta)
