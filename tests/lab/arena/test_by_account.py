"""Many accounts at a leaderboard: worthless on one ledger, and not on one ledger for each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom

from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.experiments import Sizes, attacked
from holdfast.lab.arena.studies import Climb, ManyAccounts, board_gate
from holdfast.lab.arena.trial import Result, run_trials
from holdfast.lab.attacks.analysts import NullClimber

ROWS, CHANGED, SUBMISSIONS, SESSIONS = 1_000, 50, 200, 40
GATE = board_gate(ROWS, SUBMISSIONS)
# Columns that one program made have the sign test, which is nearly as likely wrong as it may be.
ALIKE = replace(GATE, submitted=False)


def sessions(board: ManyAccounts) -> tuple[Result, ...]:
    climb = Climb(NullClimber(), board, ROWS, CHANGED, SUBMISSIONS)
    return run_trials(climb, SESSIONS, seed=17)


@pytest.mark.statistical
def test_two_hundred_accounts_gain_nothing_over_one_and_a_ledger_for_each_would_break() -> None:
    allowed = binom.isf(1e-9, SESSIONS, GATE.beta)
    one, many = sessions(ManyAccounts(ALIKE, 1)), sessions(ManyAccounts(ALIKE, SUBMISSIONS))
    assert one == many  # session by session
    assert sum(each.missed > 0 for each in many) <= allowed
    twin = sessions(ManyAccounts(ALIKE, SUBMISSIONS, pooled=False))
    assert sum(each.missed > 0 for each in twin) > allowed


def test_the_experiment_has_its_twin() -> None:
    found = attacked("many-accounts", Sizes(rows=200, questions=4), Run(trials=2))
    assert [row.promises for row in found.rows] == [True, True, False]
    assert [row.holder for row in found.rows] == [
        "one account, one ledger",
        "4 accounts, one ledger",
        "4 accounts, a ledger for each",
    ]
