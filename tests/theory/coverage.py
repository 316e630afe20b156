"""How seeded simulations decide: so many failures, or counts so far from a law, are no accident."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, chi2

# (beta, trials): enough trials for the rarer failure to be seen.
LEVELS = [(0.05, 40_000), (0.001, 400_000)]


def most_failures(trials: int, beta: float) -> int:
    """More failures than this have probability below 1e-9 if each has probability <= beta."""
    return int(binom.isf(1e-9, trials, beta))


def too_many(failed: NDArray[np.bool_] | Any, beta: float) -> bool:
    """Whether the share of failed trials refutes a failure probability of beta."""
    return int(np.count_nonzero(failed)) > most_failures(len(failed), beta)


def counts_refute(counts: Any, expected: Any) -> bool:
    """Whether a chi-square test at level 1e-9 refutes these expected counts of all the cells."""
    found, wanted = np.asarray(counts, float), np.broadcast_to(expected, len(counts))
    return bool(((found - wanted) ** 2 / wanted).sum() > chi2.isf(1e-9, len(found) - 1))
