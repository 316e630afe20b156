"""The papers' own setting: sub-exponential questions, dependent rows, Algorithms 2 and 3."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from holdfast.data.sampling import DependencyGraph, Independent, Sampling
from holdfast.lab.arena.comparison import Cell, Run, run_cells
from holdfast.lab.arena.studies import dependent_tails
from holdfast.lab.attacks.attacks import LinearSignAttack
from holdfast.lab.world.populations import Blocks, HeavyTails, terms_on
from holdfast.lab.world.text_questions import ByScale
from holdfast.question.declaring import Scale


def test_both_algorithms_hold_on_dependent_rows_and_their_twins_fail() -> None:
    found = dependent_tails(5_000, 10, 50, run=Run(trials=8))
    rows = {row.holder: row for row in found.rows}
    for algorithm, mechanism in ((2, "typical laplace"), (3, "typical gaussian")):
        right = rows[f"Algorithm {algorithm} ({mechanism})"]
        told = rows[f"Algorithm {algorithm}, told that rows are independent"]
        assert right.promises
        assert right.verdict.telling
        assert right.verdict.failures == 0
        assert not told.promises
        assert not told.verdict.holds
    assert found.kept


SCALE = Scale(math.sqrt(4 * math.log(2)), math.sqrt(2))
TWIN = Scale(SCALE.sigma / 8, math.sqrt(2) / 8)


@pytest.mark.parametrize("mechanism", ["typical laplace", "typical gaussian"])
@pytest.mark.parametrize("sampling", [Independent(), DependencyGraph(49)], ids=str)
def test_theorem_6_1_holds_where_nothing_bounds_a_value_and_its_twin_fails(
    mechanism: str, sampling: Sampling
) -> None:
    """Its noise and intervals; a scale that is an eighth of the true one breaks both."""
    rows, features, dependent = 5_000, 10, isinstance(sampling, DependencyGraph)
    population = Blocks(HeavyTails(features), 50) if dependent else HeavyTails(features)
    terms = replace(terms_on(population, rows, 30.0, features + 1), sampling=sampling)
    cells = [
        Cell(population, ByScale(scale, mechanism, "6.1"), LinearSignAttack(features), terms)
        for scale in (SCALE, TWIN)
    ]
    right, twin = run_cells("Theorem 6.1", "", cells, Run(trials=8)).rows
    assert right.verdict.failures == 0
    assert not twin.verdict.holds
