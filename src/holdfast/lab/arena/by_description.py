"""Experiments with described questions: what their length pays for, and what they cost the others.

Each compares the rules of a holdout with a twin that pays less, on the same samples.
"""

from __future__ import annotations

from dataclasses import replace

from holdfast import require
from holdfast.lab.arena.comparison import Cell, Experiment, Run, run_cells
from holdfast.lab.attacks.insiders import AfterExactAnswers, WorstParity, WrittenMajority
from holdfast.lab.world.described import ByDescription
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.mechanisms.terms import Terms

__all__ = ["beside_description", "parities", "written_votes"]

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
