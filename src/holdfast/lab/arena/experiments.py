"""The field's experiments, run again, with the published numbers beside ours.

Each experiment is a function of its sizes; the defaults are the published ones. It compares holders
on the same samples (the trials have the same seeds) and returns a frozen table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from holdfast.did_you_mean import did_you_mean
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.lab.arena.comparison import Cell, Experiment, Run, run_cells
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
from holdfast.lab.attacks.analysts import FeatureSelection
from holdfast.lab.attacks.attacks import (
    Fingerprinting,
    LeaderboardBoosting,
    LinearSignAttack,
    LogOddsVote,
    SignAttack,
    Snowball,
)
from holdfast.lab.attacks.roster import ATTACKS, attack_cell
from holdfast.lab.world.holders import Plain, Splitting, as_if_independent
from holdfast.lab.world.populations import (
    AutoRegressive,
    Blocks,
    HeavyTails,
    OnePoint,
    Population,
    Signs,
    terms_on,
    universe,
)
from holdfast.lab.world.session import (
    BY_BOUNDED_NOISE,
    GuessedBy,
    NoisyPart,
    Protected,
    planned_terms,
)
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.safeside import largest_integer
from holdfast.theory.leakage.equal_width import bounded_noise_half_width

# All terms here promise 95 %.
_LOG_BETA = math.log1p(-0.95)


def _terms(
    population: Population,
    rows: int,
    questions: int,
    mechanism: str,
    tolerance: float | None = None,
) -> Terms:
    """The terms for so many questions; the half-width is the mechanism's own unless given."""
    terms = terms_on(population, rows, tolerance, questions)
    return terms if terms.promises else planned_terms(mechanism, terms)


def reusable_holdout(
    rows: int = 10_000,
    features: int = 10_000,
    selected: int = 500,
    *,
    signal: bool = False,
    tolerance: float | None = 0.07,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Dwork et al. 2015 (Science): features chosen on training and holdout, then their vote.

    Features are +-1 here and normal there; a shift of .06 is a mean of .06 in both. Thresholdout's
    threshold .04 and noise .01 are on the scale of accuracies, and drawn as in the published
    algorithm; the experiment drew normal noise of that size.
    """
    population = Signs(features, 20, 0.06) if signal else Signs(features)
    terms = _terms(population, rows, features + 1, mechanism, tolerance)
    theirs = (rows, features, selected) == (10_000, 10_000, 500)
    note = "fresh data: 0.518" if signal else ""
    cells = [
        Cell(
            population,
            holder,
            FeatureSelection(features, selected),
            terms,
            rows,
            published if theirs else None,
            note=note if theirs and isinstance(holder, Plain) else "",
        )
        for holder, published in (
            (Plain(), 0.65 if signal else 0.63),
            (Protected(mechanism="thresholdout"), None if signal else 0.51),
            (_against_training(mechanism), None),
        )
    ]
    return run_cells(
        "reusable holdout" + (" with signal" if signal else ""),
        f"{rows:,} rows, {features:,} features: choose {selected:,} features that training and "
        "holdout agree on, and ask the accuracy of their vote.",
        cells,
        run or Run(trials=8),
    )


def _against_training(mechanism: str) -> Protected:
    """Guesses from training are checked where the mechanism allows it, and else it is asked."""
    checks = kind_of(mechanism).refuses_checks is None
    return Protected("train" if checks else "nobody", mechanism=mechanism)


def log_odds_vote(
    rows: int = 5_000,
    tolerance: float = 0.1,
    most: int = 1_000,
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Rogers et al. 2020: how many questions are answered before the width cannot be kept."""
    population, analyst = Signs(most), LogOddsVote(most)
    declared = terms_on(population, rows, tolerance, most)
    planned = largest_integer(lambda k: _fits(mechanism, declared, k), most=most)
    theirs = (rows, tolerance) == (5_000, 0.1)
    return run_cells(
        "log-odds vote",
        f"{rows:,} rows, half-width {tolerance:g}: features one by one, and again and again the "
        "log-odds vote of all so far, until refused.",
        [
            Cell(population, Plain(), analyst, declared),
            Cell(
                population,
                Splitting(),
                analyst,
                declared,
                published=15 if theirs else None,
                reported="answered",
            ),
            Cell(
                population,
                Splitting(exact=True),
                analyst,
                declared,
                published=22 if theirs else None,
                reported="answered",
            ),
            Cell(
                population,
                NoisyPart(0.01, share=0.25),
                analyst,
                replace(declared, questions=min(most, 200)),
                published=151 if theirs else None,
                reported="answered",
                note="noise picked afterwards",
            ),
            Cell(
                population,
                Protected(mechanism=mechanism),
                analyst,
                replace(declared, questions=max(1, planned)),
            ),
            Cell(
                population,
                Protected(0.5),
                analyst,
                declared,
                note=f"stopped after {most:,} features",
            ),
        ],
        run or Run(trials=20),
    )


def _fits(mechanism: str, declared: Terms, questions: int) -> bool:
    """Whether the mechanism promises the half-width for so many questions."""
    try:
        planned = planned_terms(mechanism, replace(declared, questions=questions))
    except HoldfastError:
        return False
    return planned.half_width <= declared.half_width


def leaderboard(
    rows: int = 4_000,
    submissions: int = 400,
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Blum and Hardt 2015: random submissions, then the majority of those that scored well."""
    population, analyst = Signs(submissions), LeaderboardBoosting(submissions)
    terms = _terms(population, rows, submissions + 1, mechanism)
    theirs = (rows, submissions) == (4_000, 400)
    accuracy = "1 - loss"
    return run_cells(
        "leaderboard boosting",
        f"{rows:,} rows, {submissions:,} random submissions, then the majority of those shown "
        "above 1/2.",
        [
            Cell(
                population,
                Plain(5),
                analyst,
                terms,
                published=0.573 if theirs else None,
                note=accuracy,
            ),
            Cell(population, Plain(2), analyst, terms),
            Cell(population, Protected(mechanism="ladder"), analyst, terms),
            Cell(
                population,
                Protected(mechanism="parameter-free ladder"),
                analyst,
                terms,
                published=0.516 if theirs else None,
                note=accuracy,
            ),
            Cell(population, Protected(mechanism=mechanism), analyst, terms),
        ],
        run or Run(),
    )


def fingerprinting(
    rows: int = 1_000,
    population_rows: int = 5_000,
    questions: int = 500,
    held: int = 200,
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Steinke and Ullman, Nissim et al.: random sets of rows; `held` of them against Holdfast."""
    population = universe(population_rows)
    plain = _terms(population, rows, questions + 1, BY_BOUNDED_NOISE, 0.1)
    protected = _terms(population, rows, held + 1, mechanism)
    return run_cells(
        "fingerprinting",
        f"{rows:,} of {population_rows:,} rows, {questions:,} random sets, then the rows that "
        "pulled the answers.",
        [
            Cell(population, Plain(), Fingerprinting(population_rows, questions), plain),
            Cell(population, Plain(2), Fingerprinting(population_rows, questions), plain),
            Cell(
                population,
                Protected(mechanism=mechanism),
                Fingerprinting(population_rows, held),
                protected,
            ),
        ],
        run or Run(),
    )


def snowball(
    questions: int = 1_000,
    scales: Sequence[float] = (1.0, 0.9),
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Is there slack in bounded noise? Noise and half-width scaled together, and attacked."""
    # The questions' scale: a plan for them needs a half-width of about 0.3 of the range.
    sigma = 0.3 / bounded_noise_half_width(SubGaussian(1.0), questions, _LOG_BETA)
    population = OnePoint(sigma)
    least = bounded_noise_half_width(population.concentration(1), questions, _LOG_BETA)
    tolerance = least * (1 + 1e-6) if mechanism == BY_BOUNDED_NOISE else None
    terms = _terms(population, 1, questions, mechanism, tolerance)
    theirs = (questions, mechanism) == (1_000, BY_BOUNDED_NOISE)
    return run_cells(
        "snowball",
        f"{questions:,} questions that concentrate on what is already known of the sample.",
        [
            Cell(
                population,
                Protected(scale=scale, mechanism=mechanism),
                Snowball(questions),
                terms,
                published={1.0: 0.0, 0.9: 0.97}.get(scale) if theirs else None,
                reported="broken",
            )
            for scale in scales
        ],
        run or Run(trials=40),
    )


def dependent_data(
    features: int = 60,
    block_rows: int = 4_000,
    block: int = 20,
    time_rows: int = 10_000,
    rho: float = 0.95,
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Rows that are not independent: repeated rows, and AR(1) in time.

    The naive holders take rows for independent; Holdfast declares the right concentration. The last
    row of each kind is Holdfast with the wrong one: no accounting repairs a false assumption.
    """
    cells = []
    for kind, population, rows in (
        (f"blocks of {block}", Blocks(Signs(features), block), block_rows),
        (f"AR(1) {rho:g}", AutoRegressive(features, rho), time_rows),
    ):
        right = _terms(population, rows, features + 1, mechanism)
        naive = as_if_independent(right)
        wrong = planned_terms(mechanism, naive)
        holdfast = Protected(mechanism=mechanism)
        cells += [
            Cell(
                population,
                holder,
                SignAttack(features),
                terms,
                label=f"{kind}: {label}",
                misled=terms is not right,
            )
            for holder, terms, label in (
                (Plain(), naive, "plain holdout"),
                (Splitting(), naive, "sample splitting"),
                (holdfast, right, "Holdfast"),
                (holdfast, wrong, "Holdfast told that rows are independent"),
            )
        ]
    return run_cells(
        "dependent data",
        f"Sign attack with {features:,} features on {block_rows:,} rows in blocks and "
        f"{time_rows:,} rows in time.",
        cells,
        run or Run(),
    )


def heavy_tails(
    rows: int = 1_000,
    features: int = 100,
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Values without bounds, sub-exponential: shown as fractions of the range they are cut to."""
    population = HeavyTails(features)
    terms = _terms(population, rows, features + 1, mechanism)
    return run_cells(
        "heavy tails",
        f"{rows:,} rows, {features:,} two-sided exponential features: their means, then their sum "
        "with the signs that fit.",
        [
            Cell(population, holder, LinearSignAttack(features), terms)
            for holder in (Plain(), Protected(mechanism=mechanism))
        ],
        run or Run(),
    )


_ATTACK_TRIALS = 20


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes that a caller may change; None leaves the usual one."""

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
        known = [*EXPERIMENTS, *ATTACKS]
        hint = did_you_mean(name, known, "the names are listed by: holdfast attack")
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
