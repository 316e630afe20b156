"""Power of gates: the smallest difference they can show after so many promotions.

For alike rows, by the exact sign test; how many rows differ is a public guess, so a plan looks at
no data. `promoted` candidates came first: what they cost makes the next one harder to show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast import require
from holdfast.mechanisms.terms import Pots
from holdfast.theory.direct.paired import smallest_shown_difference
from holdfast.theory.leakage.claim_levels import claim_log_level
from holdfast.theory.leakage.gates import declared_gate_prior, gate_gain, gates_log_charge
from holdfast.wording import percent, plural, sure

_PROMOTIONS = (0, 3, 10)
_POWER = 0.8
_MOST_ROWS = 10**6
_MOST_CANDIDATES = 10**5


@dataclass(frozen=True, slots=True)
class GateStep:
    """The next candidate: the smallest observed difference that is shown, as a part of the rows,
    and the true gain that is shown in 80 % of cases; None where nothing can be shown."""

    name: str
    smallest_difference: float | None
    gain: float | None


@dataclass(frozen=True, slots=True)
class GatePlan:
    """Plan of a run of gates: what it can show. Text and dict."""

    rows: int
    candidates: int
    disagreement: float
    pots: Pots
    steps: tuple[GateStep, ...]

    def __getitem__(self, name: str) -> GateStep:
        """The step of this name, e.g. plan["after 3 promotions"]."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(f"no step {name!r}; there are {', '.join(s.name for s in self.steps)}")

    def __str__(self) -> str:
        names = max(len(step.name) for step in self.steps)
        return "\n".join(
            [
                f"Gates: {self.rows:,} rows, {plural(self.candidates, 'candidate')}, which differ "
                f"from the incumbent in {100 * self.disagreement:.4g} % of the rows",
                f"       {sure(self.pots.confidence_level)}, with everything else the "
                "ledger says; independent rows that are alike, by the sign test",
                "",
                f"  {'':<{names}}  smallest difference shown  gain shown in {percent(_POWER)}",
                *(
                    f"  {step.name:<{names}}  {_text(step.smallest_difference):>25}  "
                    f"{_text(step.gain):>18}"
                    for step in self.steps
                ),
            ]
        )

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "rows": self.rows,
            "candidates": self.candidates,
            "disagreement": self.disagreement,
            **self.pots._asdict(),
            "power": _POWER,
            "steps": [asdict(step) for step in self.steps],
        }


def gate_plan(rows: int, candidates: int, disagreement: float, pots: Pots) -> GatePlan:
    """The first candidate, after 3 and 10 promotions, the last one, and Bonferroni's for all."""
    n = require.integer_between("rows", rows, 1, _MOST_ROWS)
    k = require.integer_between("candidates", candidates, 1, _MOST_CANDIDATES)
    d = require.between("disagreement", disagreement, 0.0, 1.0, open_low=True)

    def step(name: str, log_level: float) -> GateStep:
        smallest = smallest_shown_difference(n, round(n * d), log_level)
        return GateStep(name, smallest, gate_gain(n, d, log_level, _POWER))

    def after(symbols: Sequence[bool]) -> float:
        prior = declared_gate_prior(sum(symbols), k)
        return claim_log_level(pots.log_beta, prior, gates_log_charge(k, symbols))

    steps = [
        step("at first" if f == 0 else f"after {f} promotions", after([True] * f))
        for f in _PROMOTIONS
        if f < k
    ]
    if k > 1:
        steps.append(step("the last, none promoted", after([False] * (k - 1))))
    alone = Pots(pots.confidence_level, 0.0).log_beta - math.log(k)
    steps.append(step("Bonferroni, candidates fixed beforehand", alone))
    return GatePlan(n, k, d, pots, tuple(steps))


def _text(number: float | None) -> str:
    """Rounded up, so that what is said is shown."""
    return "nothing" if number is None else f"{math.ceil(number * 1e4 - 1e-6) / 1e4:.4f}"
