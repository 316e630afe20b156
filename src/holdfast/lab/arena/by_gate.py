"""The experiment with gates: how often false gains are promoted, and how much of true ones is kept.

Each session is an improvement loop: candidate after candidate on one set of items, each with a yes
or no. A session fails if a candidate that is no better is promoted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast import require
from holdfast.lab.arena.comparison import Entrant, Experiment, Run, run_entrants
from holdfast.lab.arena.trial import Final, Result
from holdfast.lab.attacks.candidates import Candidates, NullClimber, SomeBetter
from holdfast.lab.world.promoters import EachTested, Gated, KeepBest, Promoter, gate_terms

__all__ = ["Climb", "null_hill_climber"]

_DIFFERING = 0.05  # the share of items that a candidate changes
_FEWEST_ROWS = 100


@dataclass(frozen=True, slots=True)
class Climb:
    """Who brings how many candidates to whom; each changes so many of the rows."""

    candidates: Candidates
    promoter: Promoter
    rows: int
    changed: int
    count: int

    def trial(self, seed: int, number: int) -> Result:
        """The session of this number: what was promoted, and the gain seen and true of it all."""
        rng = np.random.default_rng([seed, number])
        stream = self.candidates.stream(self.rows, self.changed, rng)
        deciding, brought, kept = self.promoter.start(), next(stream), []
        for _ in range(self.count):
            promoted = deciding.promotes(brought.pair)
            if promoted:
                kept.append(brought)
            brought = stream.send(promoted)
        stream.close()
        seen = sum(each.pair.b - each.pair.c for each in kept) / self.rows
        final = Final(seen, sum(each.gain for each in kept), None, None)
        false = sum(each.gain <= 0.0 for each in kept)
        return Result(self.count, len(kept), false, 0, final.error, 0.0, final)


def null_hill_climber(
    rows: int = 1_000, candidates: int = 100, *, run: Run | None = None
) -> Experiment:
    """An improvement loop by three ways to promote: where nothing is better, and where some is."""
    rows = require.integer_at_least("rows", rows, _FEWEST_ROWS)
    changed, gated = round(_DIFFERING * rows), Gated(gate_terms(rows, candidates), _DIFFERING)
    promoters: tuple[Promoter, ...] = (KeepBest(), EachTested(), gated)
    return run_entrants(
        "null hill-climber",
        f"{rows:,} items, {candidates:,} candidates in a row, each differing on {changed:,} items "
        "and chosen after the verdicts so far: promoted or not. False: a session in which one was "
        "promoted that is no better. Shown and truth: the gain seen and true of all promoted.",
        [
            Entrant(
                f"{brought.name}: {promoter.name}",
                promoter.promises,
                Climb(brought, promoter, rows, changed, candidates),
                gated.beta,
                reported="broken",
            )
            for brought in (NullClimber(), SomeBetter())
            for promoter in promoters
        ],
        run or Run(trials=1_500),
    )
