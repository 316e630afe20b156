"""The experiments by name, with the sizes that a caller may change."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.comparison import Experiment, Run, run_cells
from holdfast.lab.arena.experiments import (
    dependent_data,
    fingerprinting,
    heavy_tails,
    leaderboard,
    log_odds_vote,
    reusable_holdout,
    snowball,
)
from holdfast.lab.arena.studies import (
    beside_description,
    composition,
    dependent_tails,
    many_accounts,
    null_hill_climber,
    parities,
    twin_models,
    written_votes,
)
from holdfast.lab.attacks.roster import ATTACKS, attack_cell
from holdfast.lab.world.holders import as_if_independent
from holdfast.lab.world.session import BY_BOUNDED_NOISE, GuessedBy, Protected
from holdfast.mechanisms.catalogue import kind_of

__all__ = ["EXPERIMENTS", "ExperimentKind", "Sizes", "attacked", "usual_trials"]

_ATTACK_TRIALS = 20


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a caller wants other than usual; None leaves it as it is."""

    rows: int | None = None
    questions: int | None = None
    tolerance: float | None = None
    mechanism: str = BY_BOUNDED_NOISE


@dataclass(frozen=True, slots=True)
class ExperimentKind:
    """An entry: what it shows, and how its arguments are called.

    `questions` names the argument that sets how many are asked, `extra` how many come on top of it.
    `asks`: whether a mechanism that a caller may choose is asked.
    """

    name: str
    description: str
    function: Callable[..., Experiment]
    trials: int = 20
    rows: str | None = "rows"
    questions: str = "features"
    extra: int = 1
    tolerance: str | None = None
    asks: bool = True

    def run(self, sizes: Sizes, run: Run) -> Experiment:
        """The experiment at these sizes, or at the published ones."""
        arguments: dict[str, Any] = {"run": run}
        if self.asks:
            arguments["mechanism"] = sizes.mechanism
        elif sizes.mechanism != BY_BOUNDED_NOISE:
            raise InvalidArgument(f"{self.name} is the same whatever the mechanism; leave it out.")
        for option, argument in (("rows", self.rows), ("tolerance", self.tolerance)):
            value = getattr(sizes, option)
            if value is None:
                continue
            if argument is None:
                raise InvalidArgument(
                    f"{self.name} has no {option} of its own to change; leave it."
                )
            arguments[argument] = value
        if sizes.questions is not None:
            if sizes.questions <= self.extra + 1:
                raise InvalidArgument(
                    f"questions is {sizes.questions}; {self.name} needs at least {self.extra + 2}."
                )
            arguments[self.questions] = sizes.questions - self.extra
        return self.function(**arguments)


_REUSABLE = ExperimentKind(
    "reusable-holdout",
    "Features chosen on training and holdout, then their vote (Dwork et al. 2015).",
    reusable_holdout,
    trials=8,
    tolerance="tolerance",
)
_KINDS = (
    _REUSABLE,
    replace(
        _REUSABLE,
        name="reusable-holdout-signal",
        description="The same with a little signal in 20 features.",
        function=partial(reusable_holdout, signal=True),
    ),
    ExperimentKind(
        "log-odds-vote",
        "Features and their log-odds vote, until the half-width cannot be kept (Rogers 2020).",
        log_odds_vote,
        questions="most",
        extra=0,
        tolerance="tolerance",
    ),
    ExperimentKind(
        "leaderboard",
        "Random submissions, then the majority of the good ones (Blum and Hardt 2015).",
        leaderboard,
        questions="submissions",
    ),
    ExperimentKind(
        "fingerprinting",
        "Random sets of rows; the rows that pull the answers are accused (Steinke and Ullman).",
        fingerprinting,
        questions="held",
    ),
    ExperimentKind(
        "snowball",
        "Questions that concentrate on what is known; noise as planned, and 0.9 of it.",
        snowball,
        trials=40,
        rows=None,
        questions="questions",
        extra=0,
    ),
    ExperimentKind(
        "dependent-data",
        "Repeated rows and rows in time, taken for independent or declared as they are.",
        dependent_data,
        rows=None,
    ),
    ExperimentKind(
        "heavy-tails",
        "Means of values without bounds, then their sum with the signs that fit.",
        heavy_tails,
    ),
    ExperimentKind(
        "dependent-tails",
        "Sub-exponential questions on rows of a dependency graph, by Algorithms 2 and 3.",
        dependent_tails,
        asks=False,
    ),
    ExperimentKind(
        "parities",
        "The worst of all parities of features, by somebody who has seen the rows.",
        parities,
        trials=80,
        extra=0,
        asks=False,
    ),
    ExperimentKind(
        "written-votes",
        "The majority of the columns that fit the rows, written out by somebody who has seen them.",
        written_votes,
        trials=80,
        extra=0,
        asks=False,
    ),
    ExperimentKind(
        "beside-description",
        "Features by their description, then their vote by the ledger: charged, and free.",
        beside_description,
        tolerance="tolerance",
        asks=False,
    ),
    ExperimentKind(
        "twin-models",
        "Columns computed by twins of a model: known by their digests, and by their content.",
        twin_models,
        questions="twins",
        extra=2,
        tolerance="tolerance",
    ),
    ExperimentKind(
        "null-hill-climber",
        "Candidate after candidate, none or few of them better: who promotes what is not.",
        null_hill_climber,
        trials=1_500,
        questions="candidates",
        extra=0,
        asks=False,
    ),
    ExperimentKind(
        "many-accounts",
        "A leaderboard with 200 accounts: one ledger for all of them, and one for each.",
        many_accounts,
        trials=240,
        questions="submissions",
        extra=0,
        asks=False,
    ),
    ExperimentKind(
        "composition",
        "Typically stable steps against an adversary: (eta, tau, nu) of all, proved and measured.",
        composition,
        trials=200,
        rows=None,
        questions="steps",
        extra=0,
        asks=False,
    ),
)

EXPERIMENTS: Mapping[str, ExperimentKind] = {kind.name: kind for kind in _KINDS}


def usual_trials(name: str) -> int:
    """How many trials an experiment or an attack has unless told otherwise."""
    return EXPERIMENTS[name].trials if name in EXPERIMENTS else _ATTACK_TRIALS


def attacked(name: str, sizes: Sizes, run: Run) -> Experiment:
    """An experiment, or an attack on the holder it breaks and on a mechanism, by name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name].run(sizes, run)
    if name not in ATTACKS:
        near = difflib.get_close_matches(name, [*EXPERIMENTS, *ATTACKS], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "the names are listed by: holdfast attack"
        raise InvalidArgument(f"there is no attack {name!r}; {hint}")
    kind = ATTACKS[name]
    reason = kind_of(sizes.mechanism).refuses_checks
    if kind.guesses and reason is not None:
        raise InvalidArgument(f"{sizes.mechanism} checks no guesses: {reason}")
    guesses: GuessedBy = "analyst" if kind.guesses else "nobody"
    own = attack_cell(
        kind,
        Protected(guesses, mechanism=sizes.mechanism),
        rows=sizes.rows,
        questions=sizes.questions,
        tolerance=sizes.tolerance,
    )
    terms = own.terms
    naive = attack_cell(kind, kind.breaks, rows=terms.rows, questions=terms.questions)
    if not isinstance(kind.breaks, Protected):
        naive = replace(naive, terms=as_if_independent(naive.terms))
    return run_cells(
        own.analyst.name,
        f"{kind.description} {terms.rows:,} rows, {terms.questions:,} questions.",
        [naive, own],
        run,
    )
