"""An improvement loop: what is promoted by a gate is better, and by the usual ways it is not."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom

from holdfast.errors import BudgetExhausted, InvalidArgument
from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.experiments import Sizes, attacked
from holdfast.lab.arena.studies import Climb, null_hill_climber
from holdfast.lab.arena.trial import run_trials, verdict
from holdfast.lab.attacks.analysts import NullClimber, SomeBetter
from holdfast.lab.world.promoters import EachTested, Gated, KeepBest, Pair, Promoter, gate_terms
from holdfast.theory.leakage.claim_levels import claim_log_level
from holdfast.theory.leakage.gates import declared_gate_prior, gate_shows, gates_log_charge

ROWS, CHANGED, DIFFERING, CANDIDATES = 1_000, 50, 0.05, 100
GATE = Gated(gate_terms(ROWS, CANDIDATES), DIFFERING)
BETS = replace(GATE, submitted=True)


def fooled(promoter: Promoter, sessions: int) -> int:
    """In how many sessions of the null hill-climber something is promoted."""
    declared = promoter.terms.candidates if isinstance(promoter, Gated) else CANDIDATES
    climb = Climb(NullClimber(), promoter, ROWS, CHANGED, declared or 0)
    results = run_trials(climb, sessions, seed=13)
    assert all(result.missed == result.intervals for result in results)
    return verdict(results, GATE.beta).failures


@pytest.mark.statistical
def test_a_null_hill_climber_is_promoted_in_no_more_sessions_than_promised() -> None:
    # Bets are wrong less often than they may be: their twin is seen in longer sessions, at a level
    # that is larger.
    longer = replace(gate_terms(ROWS, 3 * CANDIDATES), confidence_level=0.7)
    for gate, sessions in ((GATE, 120), (replace(BETS, terms=longer), 30)):
        allowed = binom.isf(1e-9, sessions, gate.beta)
        assert fooled(gate, sessions) <= allowed
        assert fooled(replace(gate, counting=False), sessions) > allowed  # the twin


def test_the_usual_ways_promote_what_is_no_better_in_nearly_every_session() -> None:
    # One candidate of fifty differing rows is significant with probability 0.0325.
    alone = binom.sf(31, CHANGED, 0.5)
    assert alone == pytest.approx(0.0325, abs=1e-4)
    sessions = 20
    assert fooled(KeepBest(), sessions) == sessions
    assert fooled(EachTested(), sessions) >= binom.isf(1 - 1e-9, sessions, 1 - (1 - alone) ** 60)


@pytest.mark.parametrize(("gate", "last"), [(GATE, True), (BETS, False)], ids=["scores", "bets"])
def test_a_gate_decides_by_the_level_that_its_verdicts_leave(gate: Gated, last: bool) -> None:
    """The theorems by hand, along a path with promotions, twice: what is remembered is the same."""
    path = [Pair(25, 25), Pair(48, 2), Pair(39, 11), Pair(50, 0), Pair(0, 50), Pair(44, 6)]
    for _ in range(2):
        deciding = gate.start()
        symbols: list[bool] = []
        for b, c in path:
            prior = declared_gate_prior(sum(symbols), CANDIDATES)
            nats = gates_log_charge(CANDIDATES, symbols)
            log_p = claim_log_level(GATE.terms.log_beta, prior, nats)
            alike = not gate.submitted
            shown = gate_shows(ROWS, b, c, log_p, alike=alike, second_moment=DIFFERING)
            assert deciding.promotes(Pair(b, c)) is shown
            symbols.append(shown)
        assert symbols == [False, True, False, True, False, last]


def test_a_gate_refuses_the_candidate_after_the_last_one() -> None:
    deciding = Gated(gate_terms(ROWS, 2), DIFFERING).start()
    assert [deciding.promotes(Pair(25, 25)) for _ in range(2)] == [False, False]
    with pytest.raises(BudgetExhausted, match="requested candidate 3"):
        deciding.promotes(Pair(25, 25))


def test_a_gate_has_the_part_of_the_failure_probability_that_a_holdout_gives_it() -> None:
    assert GATE.beta == pytest.approx(0.03)
    assert not GATE.terms.alike
    first = claim_log_level(log(0.03), declared_gate_prior(0, CANDIDATES), 0.0)
    assert exp(first) == pytest.approx(0.03 / 101)


def test_a_null_candidate_changes_as_many_items_as_it_says_and_is_right_on_half_of_those() -> None:
    stream = NullClimber().stream(ROWS, CHANGED, np.random.default_rng(1))
    brought = next(stream)
    total = 0
    for _ in range(200):
        assert brought.pair.b + brought.pair.c == CHANGED
        assert brought.gain == 0.0
        total += brought.pair.b
        brought = stream.send(False)
    assert total / (200 * CHANGED) == pytest.approx(0.5, abs=0.05)


def test_promoted_changes_are_kept() -> None:
    """Promoting whatever scores better, the incumbent soon is right on far more than half."""
    stream = NullClimber().stream(ROWS, CHANGED, np.random.default_rng(1))
    brought, gained = next(stream), 0
    for _ in range(300):
        promoted = brought.pair.b > brought.pair.c
        gained += promoted * (brought.pair.b - brought.pair.c)
        brought = stream.send(promoted)
    assert 100 < gained < ROWS / 2 + 5 * ROWS**0.5


def test_true_gains_are_what_they_are_said_to_be() -> None:
    stream = SomeBetter(0.03, 0.5).stream(ROWS, CHANGED, np.random.default_rng(1))
    brought = [next(stream) for _ in range(2_000)]
    for gain in (0.0, 0.03):
        seen = [(each.pair.b - each.pair.c) / ROWS for each in brought if each.gain == gain]
        assert len(seen) == pytest.approx(1_000, abs=150)
        assert np.mean(seen) == pytest.approx(gain, abs=6 * 0.007 / len(seen) ** 0.5)


@pytest.mark.statistical
def test_the_experiment_has_a_row_for_each_way_and_each_world() -> None:
    found = null_hill_climber(run=Run(trials=10))
    assert [row.promises for row in found.rows] == [False, False, True] * 2
    best, tested, gate = found.rows[3:]
    assert [row.verdict.word for row in found.rows[:2]] == ["BROKEN", "BROKEN"]
    assert found.kept
    for row in (best, tested, gate):
        assert row.answered == CANDIDATES
    # A gate proves and does not optimise: it keeps a part of what the others keep.
    assert best.truth is not None
    assert tested.truth is not None
    assert gate.truth is not None
    assert 0.02 < gate.truth < 0.4 * tested.truth < best.truth
    assert best.shown is not None
    assert best.shown > 1.5 * best.truth


def test_sizes_are_passed_on_or_refused() -> None:
    found = attacked("null-hill-climber", Sizes(rows=200, questions=5), Run(trials=1))
    assert found.description.startswith("200 items, 5 candidates in a row, each differing on 10")
    with pytest.raises(InvalidArgument, match="rows"):
        attacked("null-hill-climber", Sizes(rows=10), Run(trials=1))
    with pytest.raises(InvalidArgument, match="whatever the mechanism"):
        attacked("null-hill-climber", Sizes(mechanism="rounding"), Run(trials=1))
