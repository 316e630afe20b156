"""The mean of the worst part of a law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def worst_mean(values: NDArray[np.float64], weights: NDArray[np.float64], beta: float) -> float:
    """CVaR_beta of a discrete law."""
    order = np.argsort(-values)
    values, weights = values[order], weights[order] / weights.sum()
    above = np.minimum(np.cumsum(weights), beta)
    return float(values @ np.diff(above, prepend=0.0)) / beta
