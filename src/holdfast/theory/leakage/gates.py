"""Gates: is the candidate better than the incumbent? A claim with a small weight, almost always no.

A gate is a check of J = {difference > margin} whose claiming symbol, *shown*, has the small public
weight e; the other, *not shown*, is bare and costs -ln(1 - e). By Theorem C it is shown iff its
test is at most (beta - s) e/K (`claim_log_level`). With iid rows and margin 0 the test is the exact
sign test; with a margin, or for independent rows that are not alike, five bets.

What is said before asking ("so few differing rows can show nothing") uses a public share d of
differing rows: computed from the sample it would be a leak. Checks and gates count apart.

Symbols: k candidates at most, c so far, f of them shown; e the public prior of *shown*; b and c the
rows where the candidate, or the incumbent, alone is right; d the share of rows where they differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import round_up, smallest_integer, smallest_true
from holdfast.theory.base.theorem import theorem
from holdfast.theory.direct.paired import sign_test_log_p
from holdfast.theory.leakage.claim_levels import paired_claim_holds

# Numbers of differing rows further than this many standard errors from n d are left out: what they
# would add to the power is not counted.
_REACH = 8.0
_PRECISION = 1e-9


@theorem(
    source="Holdfast",
    place="Section 11.4, prior of a declared number of candidates",
    statement="With at most k candidates, f of those so far shown, the next is expected to be "
    "shown with e = (f + 1)/(k + 1).",
    domain="k >= 1, 0 <= shown < k: after k candidates there is no next one",
    monotone={"shown": "up", "k": "down"},
    slack="k candidates of which none is shown cost less than 1 nat in all",
)
def declared_gate_prior(shown: int, k: int) -> float:
    """e = (f + 1)/(k + 1)."""
    k = require.positive_integer("k", k)
    return (require.integer_between("shown", shown, 0, k - 1) + 1) / (k + 1)


@theorem(
    source="Holdfast",
    place="Section 11.4, open-ended prior",
    statement="With no number of candidates declared, after c of them, f shown, the next is "
    "expected to be shown with e = (f + 1/2)/(c + 10).",
    domain="0 <= shown <= c",
    monotone={"shown": "up"},
    slack="the first is shown at level beta/20; c of which none is shown cost (1/2) ln(c/10)",
)
def open_gate_prior(shown: int, c: int) -> float:
    """e = (f + 1/2)/(c + 10)."""
    c = require.integer_at_least("c", c, 0)
    return (require.integer_between("shown", shown, 0, c) + 0.5) / (c + 10)


@theorem(
    source="Holdfast",
    place="Section 11.4, what a run of gates costs",
    statement="Under the declared prior, a run of gates costs the sum of -ln e of those shown and "
    "of -ln(1 - e) of those not shown.",
    domain="k >= 1, a symbol for each of at most k candidates",
    slack="none",
)
def gates_log_charge(k: int, symbols: Sequence[bool]) -> float:
    """Nats of these symbols (True: shown), one after another, rounded up."""
    k = require.positive_integer("k", k)
    if len(symbols) > k:
        raise InvalidArgument(
            f"there are {len(symbols)} candidates and {k} were declared; declare more beforehand."
        )
    passed, total = 0, 0.0
    for symbol in symbols:
        e = declared_gate_prior(passed, k)
        total += -math.log(e) if symbol else -math.log1p(-e)
        passed += symbol
    return round_up(total, 4 + len(symbols)) if symbols else 0.0


def gate_shows(
    n: int,
    b: int,
    c: int,
    log_p: float,
    *,
    margin: float = 0.0,
    alike: bool = False,
    second_moment: float | None = None,
) -> bool:
    """Whether b rows against c of n show, at level e^{log_p}, that the candidate is better.

    `second_moment` is a public guess of the share of differing rows; it is not used by the sign
    test, which is for alike rows and margin 0 only.
    """
    margin = require.between("margin", margin, -1.0, 1.0, open_low=True, open_high=True)
    if alike and margin == 0.0:
        return sign_test_log_p(b, c) <= require.log_probability("log_p", log_p)
    # The claim is open, theta > margin: the least float above stands for it.
    claim = Interval(math.nextafter(margin, 2.0), math.inf)
    return paired_claim_holds(n, b, c, claim, log_p, alike=alike, second_moment=second_moment)


@theorem(
    source="Holdfast",
    place="Section 11.4, power of a gate",
    statement="A candidate that differs from the incumbent in a share d of n alike rows and gains "
    "`gain` on average is shown with this probability: the sum, over the numbers m of differing "
    "rows, of the binomial(m, (1 + gain/d)/2) tail from the least b that the sign test shows.",
    domain="n >= 1, 0 < differing <= 1, |gain| <= differing, log_p <= 0; alike rows, margin 0",
    monotone={"gain": "up", "log_p": "up"},
    slack="exact to 1e-9; not a promise",
)
def gate_power(n: int, differing: float, gain: float, log_p: float) -> float:
    """P[shown] at level e^{log_p}; a public plan, computed without any sample."""
    return _SignGate(n, differing, log_p).power(gain)


def gate_gain(n: int, differing: float, log_p: float, power: float = 0.8) -> float | None:
    """The least true gain that is shown with probability `power`; None if even d is not enough."""
    power = require.probability("power", power)
    gate = _SignGate(n, differing, log_p)
    if gate.power(differing) < power:
        return None
    return smallest_true(
        lambda gain: gate.power(gain) >= power, 0.0, differing, relative=_PRECISION
    )


class _SignGate:
    """For each likely number m of differing rows, its probability and the least b shown."""

    def __init__(self, n: int, differing: float, log_p: float) -> None:
        n = require.positive_integer("n", n)
        self._d = require.between("differing", differing, 0.0, 1.0, open_low=True)
        log_p = require.log_probability("log_p", log_p)
        reach = _REACH * math.sqrt(n * self._d) + _REACH**2
        least, most = (
            max(1, math.floor(n * self._d - reach)),
            min(n, math.ceil(n * self._d + reach)),
        )
        self._m = np.arange(least, most + 1, dtype=np.float64)
        logs = special.gammaln(n + 1) - special.gammaln(self._m + 1)
        logs -= special.gammaln(n - self._m + 1)
        logs += special.xlogy(self._m, self._d) + special.xlog1py(n - self._m, -self._d)
        self._masses = np.exp(logs)
        self._shown = np.array(_least_shown(least, most, log_p), dtype=np.float64)

    def power(self, gain: float) -> float:
        gain = require.between("gain", gain, -self._d, self._d)
        share = min(max(0.5 * (1.0 + gain / self._d), 0.0), 1.0)
        can = self._shown <= self._m
        b, m = self._shown[can], self._m[can]
        return float((self._masses[can] * special.betainc(b, m - b + 1.0, share)).sum())


def _least_shown(least: int, most: int, log_p: float) -> list[int]:
    """The least b that the sign test shows among m rows, m + 1 if none, for m = least..most.

    From m to m + 1 it stays or rises by one: one more row cannot take a success away, and adds one
    at most.
    """
    least_passed = smallest_integer(lambda b: sign_test_log_p(b, least - b) <= log_p, most=least)
    rows_needed = [least + 1 if least_passed is None else least_passed]
    for m in range(least + 1, most + 1):
        b = rows_needed[-1]
        fits = b <= m and sign_test_log_p(b, m - b) <= log_p
        rows_needed.append(b if fits else b + 1)
    return rows_needed
