"""The experiment with accounts: who submits under many names gains nothing by it.

All accounts write to one ledger, so that it is the same whoever submits. The twin opens a ledger
for each of them, with the whole failure probability in every one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import cycle

from holdfast import require
from holdfast.data.sampling import Independent
from holdfast.lab.arena.by_gate import Climb
from holdfast.lab.arena.comparison import Entrant, Experiment, Run, run_entrants
from holdfast.lab.attacks.candidates import NullClimber
from holdfast.lab.world.promoters import Deciding, Gated, Pair
from holdfast.mechanisms.terms import Terms

__all__ = ["ManyAccounts", "board_gate", "many_accounts"]

_DIFFERING = 0.05  # the share of items in which a submission differs from the leader's
_FEWEST_ROWS = 100


@dataclass(frozen=True, slots=True)
class ManyAccounts:
    """A board's gate that submissions come to from so many accounts in turn.

    One sabotage, for trials that must fail: without `pooled` each account has its own ledger, which
    was opened for the submissions of that account alone.
    """

    gate: Gated
    accounts: int
    pooled: bool = True

    @property
    def name(self) -> str:
        who = "one account" if self.accounts == 1 else f"{self.accounts:,} accounts"
        return f"{who}, {'one ledger' if self.pooled else 'a ledger for each'}"

    @property
    def promises(self) -> bool:
        return self.pooled

    def start(self) -> Deciding:
        if self.pooled:
            return self.gate.start()
        terms = self.gate.terms
        each = math.ceil((terms.candidates or 1) / self.accounts)
        gate = replace(self.gate, terms=replace(terms, candidates=each))
        return _InTurn(cycle([gate.start() for _ in range(self.accounts)]))


@dataclass(slots=True)
class _InTurn:
    ledgers: cycle[Deciding]

    def promotes(self, pair: Pair) -> bool:
        return next(self.ledgers).promotes(pair)


def board_gate(rows: int, submissions: int) -> Gated:
    """The gate of `holdfast.Leaderboard(..., submissions=...)`."""
    terms = Terms(
        rows,
        tolerance=None,
        confidence_level=0.95,
        questions=None,
        sampling=Independent(),
        described="off",
        described_share=0.0,
        key="item",
        candidates=submissions,
    )
    return Gated(terms, _DIFFERING, submitted=True)


def many_accounts(
    rows: int = 1_000, submissions: int = 200, *, run: Run | None = None
) -> Experiment:
    """Submissions to a leaderboard, none better than the first: by one, and by many accounts."""
    rows = require.integer_at_least("rows", rows, _FEWEST_ROWS)
    count = require.positive_integer("submissions", submissions)
    gate = board_gate(rows, count)
    changed = round(_DIFFERING * rows)
    boards = [ManyAccounts(gate, 1), ManyAccounts(gate, count), ManyAccounts(gate, count, False)]
    return run_entrants(
        "many accounts",
        f"{rows:,} items, {count:,} submissions, none better than the leader, each differing on "
        f"{changed:,} items and chosen after the verdicts so far. False: a session in which one "
        "was given a new rank.",
        [
            Entrant(
                board.name,
                board.promises,
                Climb(NullClimber(), board, rows, changed, count),
                gate.beta,
                reported="broken",
            )
            for board in boards
        ],
        run or Run(trials=240),
    )
