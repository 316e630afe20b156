"""The experiment of the papers' own setting: no bounds, dependent rows, typical stability."""

from __future__ import annotations

import math
from dataclasses import replace

from holdfast import require
from holdfast.data.sampling import DependencyGraph
from holdfast.lab.arena.comparison import Cell, Experiment, Run, run_cells
from holdfast.lab.attacks.attacks import LinearSignAttack
from holdfast.lab.world.holders import Plain, as_if_independent
from holdfast.lab.world.populations import Blocks, HeavyTails, terms_on
from holdfast.lab.world.scaled import ByScale
from holdfast.question.scale import Scale

__all__ = ["dependent_tails"]

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
