"""The candidates of a search: finitely many, declared before any of them is scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast import require
from holdfast.errors import InvalidArgument

__all__ = ["declared_grid", "drawn"]


def declared_grid(space: Any, points: int) -> Any:
    """All combinations of what is listed; of a distribution, its quantiles at `points` places.

    `space` is a mapping from parameters to lists and distributions of SciPy, or several of them.
    """
    from sklearn.model_selection import ParameterGrid  # type: ignore[import-untyped]

    several = [space] if isinstance(space, Mapping) else space
    try:
        grid = ParameterGrid(
            [{name: _listed(name, each[name], points) for name in each} for each in several]
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(
            f"space cannot be listed ({error}); give a mapping from parameters to lists of their "
            "values, or a list of such mappings."
        ) from None
    if not len(grid):
        raise InvalidArgument("space has no configuration; give values for each parameter.")
    return grid


def _listed(name: str, values: Any, points: int) -> Any:
    if not hasattr(values, "ppf"):
        return list(values) if isinstance(values, range) else values
    import numpy as np

    count = require.positive_integer("points", points)
    found = np.asarray(values.ppf((np.arange(count) + 0.5) / count))
    if not np.isfinite(found).all():
        raise InvalidArgument(f"{name} has quantiles that are no numbers; list its values.")
    whole = hasattr(values, "pmf")
    return [int(each) if whole else float(each) for each in np.unique(found)]


def drawn(size: int, n_iter: int | None, random_state: Any) -> list[int]:
    """Which of `size` configurations are tried, by their numbers: all, or some at random."""
    from sklearn.utils.random import (  # type: ignore[import-untyped]
        sample_without_replacement,
    )

    if n_iter is None:
        return list(range(size))
    count = min(size, require.positive_integer("n_iter", n_iter))
    picked = sample_without_replacement(size, count, random_state=random_state)
    return [int(each) for each in picked]
