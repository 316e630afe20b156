"""Theorem C on rows: fair coins, the library's own tests and levels, every analyst.

The sample is n fair coins. Question c is the share of rows that differ from the pattern c: its
truth is 1/2 whatever c is, so a claim above 1/2 is false, and an analyst who has learnt something
of the sample can aim with c. She makes three checks, each true or false and about any pattern,
chosen from the symbols before; the best of all such analysts is found by trying every one of them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.theory.base.intervals import Interval
from holdfast.theory.leakage.claim_levels import claim_log_level, share_claim_holds
from holdfast.theory.leakage.gates import gate_shows

LAWS = ("claim_log_level",)

N_ROWS = 8
FALSE = Interval(math.nextafter(0.5, 1.0), math.inf)
TRUE = [Interval(edge, math.inf) for edge in (0.1, 0.3, 0.45)]
Samples = NDArray[np.bool_]

_all = np.arange(2**N_ROWS)
# How many rows of each sample (column) differ from each pattern (row).
DIFFERING = np.array([[(x ^ c).bit_count() for x in _all.tolist()] for c in _all.tolist()])


@functools.cache
def _shows(claim: Interval, level: float, *, gate: bool) -> Samples:
    n = N_ROWS
    if gate:  # the candidate is right where the row differs, the incumbent elsewhere
        shown = [gate_shows(n, b, n - b, level, alike=True) for b in range(n + 1)]
    else:
        shown = [share_claim_holds(n, b, claim, level) for b in range(n + 1)]
    return np.asarray(np.array(shown)[DIFFERING])


@dataclass(frozen=True)
class Session:
    """Checks, or gates, of weight u under beta; `forgets` names what is left out."""

    beta: float
    u: float
    gates: bool = False
    forgets: str = ""

    def shows(self, claim: Interval, nats: float) -> Samples:
        """For each pattern, the samples on which the library makes the claim."""
        weight = 1 - 1e-12 if self.forgets == "weight" else self.u
        return _shows(claim, claim_log_level(math.log(self.beta), weight, nats), gate=self.gates)

    def failing(self, left: Samples, nats: float, rounds: int, *, first: bool = False) -> float:
        """The most samples of `left` on which a false claim is made; `first`: by any pattern."""
        false = self.shows(FALSE, nats)
        if rounds == 1:
            return float((false @ left.astype(float)).max())
        silent_nats = nats - (0.0 if self.forgets == "silent" else math.log1p(-self.u))
        claimed_nats = nats - (0.0 if self.forgets == "claimed" else math.log(self.u))
        best = 0.0
        for pattern in range(1 if first else len(false)):
            fails = left & false[pattern]
            rest = self.failing(left & ~fails, silent_nats, rounds - 1)
            best = max(best, float(fails.sum()) + rest)
            for claim in () if self.gates else TRUE:
                shown = left & self.shows(claim, nats)[pattern]
                after = self.failing(shown, claimed_nats, rounds - 1)
                best = max(best, after + self.failing(left & ~shown, silent_nats, rounds - 1))
        return best

    def failure(self, rounds: int) -> float:
        """P[some claim is false], at its largest; by symmetry the first pattern is any."""
        every = np.ones(len(_all), bool)
        return self.failing(every, 0.0, rounds, first=True) / len(_all)


SESSIONS = [Session(0.2, 0.75), Session(0.15, 0.97), Session(0.0045, 0.9)]
GATES = [Session(0.2, 0.1, gates=True), Session(0.15, 0.97, gates=True)]


@pytest.mark.parametrize("session", [*SESSIONS, *GATES], ids=str)
def test_no_analyst_of_three_rounds_breaks_the_promise(session: Session) -> None:
    assert 0 < session.failure(3) <= session.beta


@pytest.mark.parametrize(
    ("session", "forgets"),
    [
        (SESSIONS[0], "claimed"),
        (SESSIONS[1], "silent"),
        (SESSIONS[2], "silent"),
        (GATES[0], "weight"),
        (GATES[1], "silent"),
    ],
    ids=str,
)
def test_sabotage_in_the_same_session_is_found_out(session: Session, forgets: str) -> None:
    assert replace(session, forgets=forgets).failure(3) > session.beta
