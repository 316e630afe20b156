"""Studies: accounts, composition, content, descriptions, gates and scales.

All accounts write to one ledger, so that it is the same whoever submits. The twin opens a ledger
for each of them, with the whole failure probability in every one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from typing import Any, Literal

import numpy as np

from holdfast import require
from holdfast.data.sampling import DependencyGraph, Independent
from holdfast.lab.arena.comparison import Cell, Entrant, Experiment, Run, run_cells, run_entrants
from holdfast.lab.arena.trial import Final, Result
from holdfast.lab.attacks.analysts import (
    AfterExactAnswers,
    Candidates,
    NullClimber,
    SomeBetter,
    TwinModels,
    WorstParity,
    WrittenMajority,
)
from holdfast.lab.attacks.attacks import LinearSignAttack
from holdfast.lab.world.holders import ByContent, Plain, as_if_independent
from holdfast.lab.world.populations import Blocks, HeavyTails, Signs, terms_on, universe
from holdfast.lab.world.promoters import (
    Deciding,
    EachTested,
    Gated,
    KeepBest,
    Pair,
    Promoter,
    gate_terms,
)
from holdfast.lab.world.session import BY_BOUNDED_NOISE, Protected
from holdfast.lab.world.text_questions import ByDescription, ByScale
from holdfast.mechanisms.noise import LAPLACE
from holdfast.mechanisms.terms import Terms
from holdfast.papers.adaptive_composition import (
    AdaptiveComposition,
    Interaction,
    NoisyStep,
    gaussian_step,
    laplace_step,
)
from holdfast.question.declaring import Scale
from holdfast.theory.base.concentration import SubGaussian
from holdfast.theory.base.safeside import smallest_true
from holdfast.theory.typical.notion import TypicalStability

# The experiment with gates: how often false gains are promoted, and how much of true ones is
# kept.
#
# Each session is an improvement loop: candidate after candidate on one set of items, each with a
# yes or no. A session fails if a candidate that is no better is promoted.


_DIFFERING = 0.05  # the share of items that a candidate changes
_FEWEST_ROWS = 100


@dataclass(frozen=True, slots=True)
class Climb:
    """Climb: who brings how many candidates to whom; each changes so many of the rows."""

    candidates: Candidates
    promoter: Promoter
    rows: int
    changed: int
    count: int

    def trial(self, seed: int, number: int) -> Result:
        """The session of this number: what was promoted, and the gain seen and true of it all."""
        rng = np.random.default_rng([seed, number])
        stream = self.candidates.stream(self.rows, self.changed, rng)
        deciding, candidate, promotions = self.promoter.start(), next(stream), []
        for _ in range(self.count):
            promoted = deciding.promotes(candidate.pair)
            if promoted:
                promotions.append(candidate)
            candidate = stream.send(promoted)
        stream.close()
        gain = sum(each.pair.b - each.pair.c for each in promotions) / self.rows
        final = Final(gain, sum(each.gain for each in promotions), None, None)
        false = sum(each.gain <= 0.0 for each in promotions)
        return Result(self.count, len(promotions), false, 0, final.error, 0.0, final)


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
                f"{climber.name}: {promoter.name}",
                promoter.promises,
                Climb(climber, promoter, rows, changed, candidates),
                gated.beta,
                reported="broken",
            )
            for climber in (NullClimber(), SomeBetter())
            for promoter in promoters
        ],
        run or Run(trials=1_500),
    )


_DIFFERING_ITEMS = 0.05  # the share of items in which a submission differs from the leader's
_FEWEST_ITEMS = 100


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
        accounts = "one account" if self.accounts == 1 else f"{self.accounts:,} accounts"
        return f"{accounts}, {'one ledger' if self.pooled else 'a ledger for each'}"

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
    return Gated(terms, _DIFFERING_ITEMS, submitted=True)


def many_accounts(
    rows: int = 1_000, submissions: int = 200, *, run: Run | None = None
) -> Experiment:
    """Submissions to a leaderboard, none better than the first: by one, and by many accounts."""
    rows = require.integer_at_least("rows", rows, _FEWEST_ITEMS)
    count = require.positive_integer("submissions", submissions)
    gate = board_gate(rows, count)
    changed = round(_DIFFERING_ITEMS * rows)
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


# The composition experiment: what k adaptive steps are together, measured and proved side by
# side.
#
# The population is the one on which Algorithms 2 and 3 are as little stable as they may be: every
# sample is typical, and its statistic is exactly a radius off, to one side or the other. The
# adversary asks for the statistic or for its negative, by the last answer. Of each run the
# log-ratio between the law of its answers and the oracle's is known. If all steps together are
# (eta, tau, nu)-typically stable, it is within eta + ln 2 of 0 but for probability 3 tau + nu:
# where P > 2 e^eta Q, P <= e^eta Q + tau makes P at most 2 tau, and the other way round. A run
# that is not is a failure. The measured eta is the least at which the mass beyond the ratio is
# tau.


_ComposedNoise = Literal["laplace", "gaussian", "printed gaussian"]

_PROFILE = SubGaussian(1.0)
_NU, _TAU = 1e-24, 1e-6
_LEVEL = 0.01
_MEASURED = 4_000  # steps, in all runs of which eta is measured
_SABOTAGE = 10.0


@cache
def _step(noise: _ComposedNoise, sign: float) -> NoisyStep:
    """The statistic of a sample, or its negative, with the noise of one of the Algorithms."""

    def value(sample: float) -> float:
        return sign * sample

    if noise == "laplace":
        return laplace_step(value, _PROFILE, 0.5, _NU)
    return gaussian_step(value, _PROFILE, 3.0, _TAU, _NU, printed=noise != "gaussian")


@dataclass(frozen=True, slots=True)
class _Follower:
    """Asks for the statistic, or for its negative after an answer below the truth."""

    noise: _ComposedNoise

    def sign(self, answers: Sequence[Any]) -> float:
        return -1.0 if answers and answers[-1] < 0 else 1.0

    def next_step(self, answers: tuple[Any, ...]) -> NoisyStep:
        return _step(self.noise, self.sign(answers))


@dataclass(frozen=True, slots=True)
class ComposedRun:
    """k steps against the adversary, and the eta that is claimed of them together."""

    noise: _ComposedNoise
    steps: int
    claimed: float

    def trial(self, seed: int, number: int) -> Result:
        """One run on a sample of its own: its log-ratio, against what is claimed."""
        log_ratio = self.log_ratio(seed, number)
        most = self.claimed + math.log(2.0)
        final = Final(log_ratio, log_ratio, -most, most)
        return Result(
            self.steps, 1, int(abs(log_ratio) > most), 0, 0.0, abs(log_ratio) / most, final
        )

    def log_ratio(self, seed: int, number: int) -> float:
        """ln of the law of the answers on the sample over the oracle's, at the answers."""
        rng = np.random.default_rng([seed, number])
        first, follower = _step(self.noise, 1.0), _Follower(self.noise)
        sample = float(first.unit) * float(rng.choice([-1.0, 1.0]))
        played = AdaptiveComposition(self.steps, first.stability).run(
            follower, sample, rng.bytes(32)
        )
        scale = float(first.unit) * first.grid.scale / float(first.grid.cells)
        total = 0.0
        for place, answer in enumerate(map(float, played.answers)):
            off = answer - follower.sign(played.answers[:place]) * sample
            if first.law is LAPLACE:
                total += (abs(answer) - abs(off)) / scale
            else:
                total += (answer * answer - off * off) / (2 * scale * scale)
        return total


def measured_eta(log_ratios: Sequence[float], tau: float) -> float:
    """The least eta at which the mass beyond the ratio e^eta is tau, in these runs."""
    ratios = np.asarray(log_ratios)

    def fits(eta: float) -> bool:
        return float(np.maximum(0.0, -np.expm1(eta - ratios)).mean()) <= tau

    most = max(0.0, float(ratios.max()))
    return smallest_true(fits, 0.0, most, relative=1e-6) if not fits(0.0) else 0.0


def composition(steps: int = 10, *, run: Run | None = None) -> Experiment:
    """Algorithm 1 with the noise of Algorithms 2 and 3: proved, measured, and claimed too low."""
    steps = require.integer_between("questions", steps, 1, 1_000)
    run = run or Run(trials=200)
    entrants = []
    noises: tuple[_ComposedNoise, ...] = ("laplace", "gaussian", "printed gaussian")
    for noise in noises:
        apart = ComposedRun(noise, steps, math.inf)
        ratios = [apart.log_ratio(run.seed + 1, number) for number in range(_MEASURED // steps)]
        measured = measured_eta(ratios, _LEVEL)
        stability = _step(noise, 1.0).stability
        certificate = Interaction((0,) * steps, stability).certificate(_LEVEL)
        low = TypicalStability(measured / _SABOTAGE, _LEVEL, 0.0)
        claims = {"printed": certificate.printed, "sharp": certificate.sharp, "too low": low}
        entrants += [
            _entrant(noise, by, steps, claimed, measured)
            for by, claimed in claims.items()
            if claimed is not None
        ]
    return run_entrants(
        "composition",
        f"{steps:,} adaptive steps on a sample that is as far off as a typical one may be. Shown "
        "is the log-ratio of the answers, which is within the eta that is claimed of all of them "
        f"and ln 2 of 0 (tau = {_LEVEL:g}); false: a run in which it is not.",
        entrants,
        run,
    )


def _entrant(
    noise: _ComposedNoise, by: str, steps: int, claimed: TypicalStability, measured: float
) -> Entrant:
    return Entrant(
        f"{noise}, {by}: eta {claimed.eta:.3g}, measured {measured:.3g}",
        by != "too low",
        ComposedRun(noise, steps, claimed.eta),
        3 * claimed.tau + claimed.nu,
        reported="broken",
        note=f"tau {claimed.tau:.2g}, nu {claimed.nu:.2g}",
    )


# The experiment with computed columns: known by what was declared, and by what they hold.


_PART_TRIED = 4  # of the values that there are, one in so many is tried
_ASKED_BESIDE = 2  # the model itself, and the last question


def twin_models(
    rows: int = 2_000,
    twins: int = 600,
    tolerance: float = 0.06,
    *,
    mechanism: str = BY_BOUNDED_NOISE,
    run: Run | None = None,
) -> Experiment:
    """Twins of a model that differ from it where one value occurs: which are the same column?"""
    twins = require.positive_integer("twins", twins)
    values = _PART_TRIED * twins
    population, analyst = universe(values), TwinModels(values, twins)
    terms = terms_on(population, rows, tolerance, twins + _ASKED_BESIDE)
    honest = Protected("analyst", mechanism=mechanism)
    return run_cells(
        "twin models",
        f"{rows:,} rows of {values:,} values; {twins:,} twins of a model, each other on one value, "
        "then the rows whose value was found to occur.",
        [Cell(population, holder, analyst, terms) for holder in (ByContent(honest), honest)],
        run or Run(trials=20),
    )


# Experiments with described questions: what their length pays for, and what they cost the others.
#
# Each compares the rules of a holdout with a twin that pays less, on the same samples.


# With so much doubt a twin that pays less is caught in few trials.
_DOUBTFUL = 0.75
_SHARE = 0.4  # of the failure probability, for what is described beside a ledger
_WIDE = 0.4  # the half-width for which what is rounded leaves enough
_MOST_FEATURES = 22  # of which all parities are counted


def _described_terms(features: int, rows: int) -> Terms:
    """Terms for described questions only."""
    terms = terms_on(Signs(features), rows, None, None, _DOUBTFUL)
    return replace(terms, described="exact", described_share=1.0)


def parities(rows: int = 1_000, features: int = 18, *, run: Run | None = None) -> Experiment:
    """The parity of features that is furthest from its truth, of all of them: the union bound is
    tight for it, so that three quarters of the bits are not enough."""
    features = require.integer_between("features", features, 1, _MOST_FEATURES)
    population, analyst = Signs(features), WorstParity(features)
    terms = _described_terms(features, rows)
    return run_cells(
        "parities",
        f"{rows:,} rows seen; of all 2^{features} parities, each declared beforehand, the one that "
        "fits them least.",
        [
            Cell(population, ByDescription(paid), analyst, terms, reported="broken")
            for paid in (1.0, 0.75)
        ],
        run or Run(trials=80),
    )


def written_votes(rows: int = 1_000, features: int = 100, *, run: Run | None = None) -> Experiment:
    """The majority of the columns that fit the rows: the interval grows with what is written."""
    population, analyst = Signs(features), WrittenMajority(features)
    terms = _described_terms(features, rows)
    return run_cells(
        "written votes",
        f"{rows:,} rows seen; the majority of those of {features:,} columns that fit them, written "
        "out.",
        [Cell(population, ByDescription(paid), analyst, terms) for paid in (1.0, 0.01)],
        run or Run(trials=80),
    )


def beside_description(
    rows: int = 1_000,
    features: int = 100,
    tolerance: float = 0.06,
    *,
    run: Run | None = None,
) -> Experiment:
    """Features by their description, then their vote by the ledger: what was told must be paid."""
    population, analyst = Signs(features), AfterExactAnswers(features)
    plain = terms_on(population, rows, tolerance, 1)
    exact = replace(plain, described="exact", described_share=_SHARE)
    rounded = replace(exact, described="rounded", tolerance=_WIDE)
    return run_cells(
        "beside description",
        f"{rows:,} rows; {features:,} features by their description, then their vote by the "
        "ledger.",
        [
            Cell(population, ByDescription(charging=False), analyst, exact),
            Cell(population, ByDescription(), analyst, exact, note="refused"),
            Cell(population, ByDescription(), analyst, rounded, label="the same, rounded"),
        ],
        run or Run(trials=20),
    )


# The experiment of the papers' own setting: no bounds, dependent rows, typical stability.


# Of a sum of two-sided exponential values with weights of length 1 (see `HeavyTails`).
_SCALE = Scale(math.sqrt(4 * math.log(2)), math.sqrt(2))
_ALGORITHMS = {"typical laplace": "Algorithm 2", "typical gaussian": "Algorithm 3"}


def dependent_tails(
    rows: int = 8_000,
    features: int = 20,
    block: int = 40,
    *,
    run: Run | None = None,
) -> Experiment:
    """Sub-exponential questions on rows of a dependency graph, by Algorithms 2 and 3.

    Every row comes `block` times: each has block - 1 neighbours. The twins are told that rows are
    independent, and no accounting repairs that.
    """
    require.integer_at_least("block", block, 2)
    population = Blocks(HeavyTails(features), block)
    naive = terms_on(population, rows, None, features + 1)
    right = replace(naive, sampling=DependencyGraph(block - 1))
    attack = LinearSignAttack(features)
    cells = [Cell(population, Plain(), attack, naive)]
    for mechanism, algorithm in _ALGORITHMS.items():
        holder = ByScale(_SCALE, mechanism)
        cells += [
            Cell(population, holder, attack, right, label=f"{algorithm} ({mechanism})"),
            Cell(
                population,
                holder,
                attack,
                as_if_independent(right),
                label=f"{algorithm}, told that rows are independent",
                misled=True,
            ),
        ]
    return run_cells(
        "dependent tails",
        f"{features:,} means of two-sided exponential values, then their sum with the signs that "
        f"fit, on {rows:,} rows of which each comes {block:,} times.",
        cells,
        run or Run(),
    )
