"""Campaign: every mechanism against every attack, and how much each has to spare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.errors import InvalidArgument, Refused
from holdfast.lab.arena.comparison import Cell, Run
from holdfast.lab.arena.trial import Scenario, TrialsVerdict, fewest_trials, run_trials, verdict
from holdfast.lab.attacks.roster import ATTACKS, AttackKind, attack_cell
from holdfast.lab.world.session import Protected
from holdfast.mechanisms.catalogue import CATALOGUE, kind_of

# Scale factors are told to this fineness; below the least nothing is looked for.
_STEP = 0.02
_LEAST = 0.1


@dataclass(frozen=True, slots=True)
class Met:
    """One mechanism under one attack: the verdict, or why they do not meet."""

    mechanism: str
    attack: str
    questions: int | None
    half_width: float | None
    verdict: TrialsVerdict | None
    reason: str | None

    @property
    def kept(self) -> bool:
        """Whether the promise was not broken."""
        return self.verdict is None or self.verdict.holds


@dataclass(frozen=True, slots=True)
class Spare:
    """How tight a mechanism is: the largest scale of noise and half-width that an attack breaks.

    `broken_at` is None if nothing was broken down to the least scale looked at.
    """

    mechanism: str
    attack: str
    half_width: float
    questions: int
    broken_at: float | None


def promising() -> tuple[str, ...]:
    """The mechanisms of the catalogue that promise an interval, by name."""
    return tuple(name for name, kind in CATALOGUE.items() if kind.theorem is not None)


def campaign(
    mechanisms: Sequence[str] | None = None,
    attacks: Iterable[AttackKind] | None = None,
    *,
    run: Run | None = None,
    confidence_level: float = 0.95,
) -> tuple[Met, ...]:
    """Every mechanism that promises something against every attack of the roster.

    All mechanisms meet an attack on the same samples; each attack has samples of its own.
    """
    run = run or Run(trials=20)
    chosen = [
        (name, kind) for name in mechanisms or promising() for kind in attacks or ATTACKS.values()
    ]
    met = []
    for place, (name, kind) in enumerate(chosen, start=1):
        met.append(_meet(name, kind, run.seeded_for(kind.name), confidence_level))
        if run.progress is not None:
            run.progress(place, len(chosen))
    return tuple(met)


def _holder(mechanism: str, kind: AttackKind, scale: float = 1.0) -> Protected:
    return Protected("analyst" if kind.guesses else "nobody", scale, mechanism=mechanism)


def _meet(mechanism: str, kind: AttackKind, run: Run, confidence_level: float) -> Met:
    try:
        if kind.guesses and (reason := kind_of(mechanism).refuses_checks) is not None:
            return Met(mechanism, kind.name, None, None, None, f"No guesses are checked: {reason}")
        cell = attack_cell(kind, _holder(mechanism, kind), confidence_level=confidence_level)
        outcome = _verdict(cell, run)
    except (InvalidArgument, Refused) as error:
        return Met(mechanism, kind.name, None, None, None, str(error))
    terms = cell.terms
    return Met(mechanism, kind.name, terms.questions, terms.tolerance, outcome, None)


def _verdict(cell: Cell, run: Run) -> TrialsVerdict:
    scenario = Scenario(cell.population, cell.holder, cell.analyst, cell.terms, cell.train_rows)
    results = run_trials(scenario, run.trials, seed=run.seed, n_jobs=run.n_jobs)
    return verdict(results, 1 - cell.terms.confidence_level)


def tightness(
    mechanisms: Sequence[str] | None = None,
    attacks: Iterable[AttackKind] | None = None,
    *,
    run: Run | None = None,
) -> tuple[Spare, ...]:
    """For each mechanism the largest scale at which some attack breaks it.

    An attack is looked at more closely only if it breaks a larger scale than those before it.
    """
    run = require_enough_trials(run or Run(trials=12))
    names, kinds = tuple(mechanisms or promising()), tuple(attacks or ATTACKS.values())
    spares = []
    for place, name in enumerate(names):
        best: Spare | None = None
        for number, kind in enumerate(kinds, start=1):
            best = _better(best, name, kind, run)
            if run.progress is not None:
                run.progress(place * len(kinds) + number, len(names) * len(kinds))
        if best is not None:
            spares.append(best)
    return tuple(spares)


def require_enough_trials(run: Run) -> Run:
    """The run, if it has trials enough to break a promise of 95 %."""
    fewest = fewest_trials(0.05)
    if run.trials < fewest:
        raise InvalidArgument(
            f"trials is {run.trials}; it must be at least {fewest}: with fewer not even a false "
            "interval in every trial is more than chance allows."
        )
    return run


def _better(best: Spare | None, mechanism: str, kind: AttackKind, run: Run) -> Spare | None:
    """The better of what is known and this attack, if they meet."""
    if kind.guesses:
        return best  # a check has no noise until it is refuted, and then it is an ask
    try:
        cell = attack_cell(kind, _holder(mechanism, kind))

        def broken(scale: float) -> bool:
            return not _verdict(replace(cell, holder=_holder(mechanism, kind, scale)), run).holds

        broken_at = None if best is None else best.broken_at
        reached = largest_broken(broken, _LEAST if broken_at is None else broken_at + _STEP, _STEP)
    except (InvalidArgument, Refused):
        return best
    if best is not None and reached is None:
        return best
    terms = cell.terms
    return Spare(mechanism, kind.name, terms.half_width, terms.questions or 0, reached)


def largest_broken(broken: Callable[[float], bool], least: float, step: float) -> float | None:
    """The largest multiple of `step` from `least` on that is broken; 1 is not. None if none is."""
    low, high = round(least / step), round(1 / step)
    if low >= high or not broken(low * step):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if broken(middle * step) else (low, middle)
    return low * step
