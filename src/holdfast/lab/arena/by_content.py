"""The experiment with computed columns: known by what was declared, and by what they hold."""

from __future__ import annotations

from holdfast import require
from holdfast.lab.arena.comparison import Cell, Experiment, Run, run_cells
from holdfast.lab.attacks.twins import TwinModels
from holdfast.lab.world.contents import ByContent
from holdfast.lab.world.populations import terms_on, universe
from holdfast.lab.world.session import BY_BOUNDED_NOISE, Protected

__all__ = ["twin_models"]

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
