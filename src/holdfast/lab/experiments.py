"""The field's experiments, run again, with the published numbers beside ours.

Each experiment is a function of its sizes; the defaults are the published ones. It compares holders
on the same samples (the trials have the same seeds) and returns a frozen table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from holdfast.lab.analysts import FeatureSelection
from holdfast.lab.attacks import (
    Fingerprinting,
    LeaderboardBoosting,
    LinearSignAttack,
    LogOddsVote,
    SignAttack,
    Snowball,
)
from holdfast.lab.comparison import Cell, Experiment, Run, compare
from holdfast.lab.holders import (
    Ladder,
    ParameterFreeLadder,
    Plain,
    Setting,
    Splitting,
    Thresholdout,
)
from holdfast.lab.populations import (
    AutoRegressive,
    Blocks,
    HeavyTails,
    OnePoint,
    Signs,
    universe,
)
from holdfast.lab.session import NoisyHalf, Protected
from holdfast.theory.concentration import Concentration, SubGaussian
from holdfast.theory.equal_width import bounded_noise_fits, bounded_noise_half_width
from holdfast.theory.safeside import largest_integer

__all__ = [
    "EXPERIMENTS",
    "dependent_data",
    "fingerprinting",
    "heavy_tails",
    "leaderboard",
    "log_odds_vote",
    "reusable_holdout",
    "snowball",
]

# Every setting here promises 95 %.
_LOG_BETA = math.log1p(-0.95)
# The least half-width is a boundary; with this much room every question of a plan is answered.
_ROOM = 1.001


def _planned(profile: Concentration, questions: int) -> float:
    """The half-width of bounded noise for so many questions."""
    return _ROOM * bounded_noise_half_width(profile, questions, _LOG_BETA)


def reusable_holdout(
    rows: int = 10_000,
    features: int = 10_000,
    selected: int = 500,
    *,
    signal: bool = False,
    tolerance: float = 0.07,
    run: Run | None = None,
) -> Experiment:
    """Dwork et al. 2015 (Science): features chosen on training and holdout, then their vote.

    Features are +-1 here and normal there; a shift of .06 is a mean of .06 in both. Thresholdout's
    threshold .04 and noise .01 are on the scale of accuracies.
    """
    population = Signs(features, 20, 0.06) if signal else Signs(features)
    setting = Setting(rows, tolerance, features + 1, population.concentration(rows))
    theirs = (rows, features, selected) == (10_000, 10_000, 500)
    note = "fresh data there: 0.518" if signal else "+-0.004 there"
    cells = [
        Cell(
            population,
            holder,
            FeatureSelection(features, selected),
            setting,
            rows,
            published if theirs else None,
            note if theirs and isinstance(holder, Plain) else "",
        )
        for holder, published in (
            (Plain(), 0.65 if signal else 0.63),
            (Thresholdout(), None if signal else 0.51),
            (Protected("train"), None),
        )
    ]
    return compare(
        "reusable holdout" + (" with signal" if signal else ""),
        f"{rows:,} rows, {features:,} features: choose {selected:,} features that training and "
        "holdout agree on, and ask the accuracy of their vote.",
        cells,
        run or Run(trials=8),
    )


def log_odds_vote(
    rows: int = 5_000, tolerance: float = 0.1, most: int = 1_000, *, run: Run | None = None
) -> Experiment:
    """Rogers et al. 2020: how many questions are answered before the width cannot be kept."""
    population, analyst = Signs(most), LogOddsVote(most)
    profile = population.concentration(rows)
    declared = Setting(rows, tolerance, most, profile)
    planned = largest_integer(
        lambda k: bounded_noise_fits(profile, k, tolerance / _ROOM, _LOG_BETA), most=most
    )
    theirs = (rows, tolerance) == (5_000, 0.1)
    counted = "questions answered, not accuracy"
    return compare(
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
                note=counted,
            ),
            Cell(
                population,
                Splitting(exact=True),
                analyst,
                declared,
                published=22 if theirs else None,
                note=counted,
            ),
            Cell(
                population,
                NoisyHalf(0.01),
                analyst,
                declared,
                published=151 if theirs else None,
                note=counted
                + "; there the best noise of those tried on the same data, here on other seeds",
            ),
            Cell(population, Protected(), analyst, replace(declared, questions=max(1, planned))),
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


def leaderboard(rows: int = 4_000, submissions: int = 400, *, run: Run | None = None) -> Experiment:
    """Blum and Hardt 2015: random submissions, then the majority of those that scored well."""
    population, analyst = Signs(submissions), LeaderboardBoosting(submissions)
    profile = population.concentration(rows)
    setting = Setting(rows, _planned(profile, submissions + 1), submissions + 1, profile)
    theirs = (rows, submissions) == (4_000, 400)
    accuracy = "accuracy: 1 - the loss printed there"
    return compare(
        "leaderboard boosting",
        f"{rows:,} rows, {submissions:,} random submissions, then the majority of those shown "
        "above 1/2.",
        [
            Cell(
                population,
                Plain(5),
                analyst,
                setting,
                published=0.573 if theirs else None,
                note=accuracy,
            ),
            Cell(population, Plain(2), analyst, setting),
            Cell(population, Ladder(), analyst, setting),
            Cell(
                population,
                ParameterFreeLadder(),
                analyst,
                setting,
                published=0.516 if theirs else None,
                note=accuracy,
            ),
            Cell(population, Protected(), analyst, setting),
        ],
        run or Run(),
    )


def fingerprinting(
    rows: int = 1_000,
    population_rows: int = 5_000,
    questions: int = 500,
    held: int = 200,
    *,
    run: Run | None = None,
) -> Experiment:
    """Steinke and Ullman, Nissim et al.: random sets of rows; `held` of them against Holdfast."""
    population = universe(population_rows)
    profile = population.concentration(rows)
    plain = Setting(rows, 0.1, questions + 1, profile)
    protected = Setting(rows, _planned(profile, held + 1), held + 1, profile)
    return compare(
        "fingerprinting",
        f"{rows:,} of {population_rows:,} rows, {questions:,} random sets, then the rows that "
        "pulled the answers.",
        [
            Cell(population, Plain(), Fingerprinting(population_rows, questions), plain),
            Cell(population, Plain(2), Fingerprinting(population_rows, questions), plain),
            Cell(population, Protected(), Fingerprinting(population_rows, held), protected),
        ],
        run or Run(),
    )


def snowball(
    questions: int = 1_000, scales: Sequence[float] = (1.0, 0.9), *, run: Run | None = None
) -> Experiment:
    """Is there slack in bounded noise? Noise and half-width scaled together, and attacked."""
    # The questions' scale: a plan for them needs a half-width of about 0.3 of the range.
    sigma = 0.3 / bounded_noise_half_width(SubGaussian(1.0), questions, _LOG_BETA)
    population = OnePoint(sigma)
    profile = population.concentration(1)
    tolerance = bounded_noise_half_width(profile, questions, _LOG_BETA) * (1 + 1e-6)
    setting = Setting(1, tolerance, questions, profile, independent=False)
    return compare(
        "snowball",
        f"{questions:,} questions that concentrate on what is already known of the sample.",
        [
            Cell(
                population,
                Protected(scale=scale),
                Snowball(questions),
                setting,
                published=0.97 if (scale, questions) == (0.9, 1_000) else None,
                note="share of trials broken" if scale < 1 else "",
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
    run: Run | None = None,
) -> Experiment:
    """Rows that are not independent: repeated rows, and AR(1) in time.

    The naive holders take rows for independent; Holdfast declares the right concentration. The last
    row of each kind is Holdfast with the wrong one: no accounting repairs a false assumption.
    """
    cells = []
    for what, population, rows in (
        (f"blocks of {block}", Blocks(Signs(features), block), block_rows),
        (f"AR(1) {rho:g}", AutoRegressive(features, rho), time_rows),
    ):
        profile = population.concentration(rows)
        right = Setting(rows, _planned(profile, features + 1), features + 1, profile, False)
        naive = right.as_if_independent()
        wrong = replace(naive, tolerance=_planned(naive.concentration, features + 1))
        cells += [
            Cell(population, holder, SignAttack(features), setting, label=f"{what}: {label}")
            for holder, setting, label in (
                (Plain(), naive, "plain holdout"),
                (Splitting(), naive, "sample splitting"),
                (Protected(), right, "Holdfast"),
                (Protected(), wrong, "Holdfast told that rows are independent"),
            )
        ]
    return compare(
        "dependent data",
        f"Sign attack with {features:,} features on {block_rows:,} rows in blocks and "
        f"{time_rows:,} rows in time.",
        cells,
        run or Run(),
    )


def heavy_tails(rows: int = 1_000, features: int = 100, *, run: Run | None = None) -> Experiment:
    """Values without bounds, sub-exponential: shown as fractions of the range they are cut to."""
    population = HeavyTails(features)
    profile = population.concentration(rows)
    setting = Setting(rows, _planned(profile, features + 1), features + 1, profile)
    return compare(
        "heavy tails",
        f"{rows:,} rows, {features:,} two-sided exponential features: their means, then their sum "
        "with the signs that fit.",
        [
            Cell(population, holder, LinearSignAttack(features), setting)
            for holder in (Plain(), Protected())
        ],
        run or Run(),
    )


def _with_signal(run: Run | None = None) -> Experiment:
    return reusable_holdout(signal=True, run=run)


EXPERIMENTS: Mapping[str, Callable[..., Experiment]] = {
    "reusable-holdout": reusable_holdout,
    "reusable-holdout-signal": _with_signal,
    "log-odds-vote": log_odds_vote,
    "leaderboard": leaderboard,
    "fingerprinting": fingerprinting,
    "snowball": snowball,
    "dependent-data": dependent_data,
    "heavy-tails": heavy_tails,
}
