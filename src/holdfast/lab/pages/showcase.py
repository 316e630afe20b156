"""The demonstration: one attack, four ways to answer it. Needs no data, and about ten seconds."""

from __future__ import annotations

from holdfast.lab.arena.comparison import Cell, Experiment, Run, run_cells
from holdfast.lab.attacks.attacks import SignAttack
from holdfast.lab.world.holders import Plain, Splitting
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.lab.world.session import Protected, planned_terms

__all__ = ["FEATURES", "ROWS", "showcase"]

ROWS, FEATURES = 4_000, 500


def showcase(
    rows: int = ROWS, features: int = FEATURES, tolerance: float = 0.11, run: Run | None = None
) -> Experiment:
    """Which of `features` useless features agree with the label? Then all of them vote.

    Labels are fair coins and no feature knows anything of them: every true score is 1/2.
    """
    population, analyst = Signs(features), SignAttack(features)
    terms = terms_on(population, rows, tolerance, features + 1)
    cells = [
        Cell(population, holder, analyst, declared, train, label=label)
        for holder, declared, train, label in (
            (Plain(), terms, 0, "plain holdout"),
            (Plain(2), terms, 0, "scores rounded to 2 digits"),
            (Splitting(), terms, 0, "sample splitting"),
            (Protected("train"), terms, rows, "Holdfast: check guesses"),
            (
                Protected(mechanism="median noise"),
                planned_terms("median noise", terms),
                0,
                "Holdfast: ask",
            ),
        )
    ]
    return run_cells(
        "re-using one holdout",
        f"{features:,} coin-flip features are scored on {rows:,} rows, turned to their better "
        "side, and vote. They know nothing: every true score is 0.5.",
        cells,
        run or Run(trials=9),
    )
