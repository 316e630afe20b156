"""GuessAndCheck: Theorem K, the nodes of the public tree.

Guesses are checked against the sample; what a refuted guess costs beside its release is the public
prior's (`claim_levels`). The lecture's form counts the nodes of the public tree instead: a refuted
guess is replaced by a value rounded to one of G cells, the transcript is a path in the tree, every
node gets beta/N.

Symbols: k questions, m refuted guesses at most, G cells of the rounding, N nodes, n rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import golden_minimum, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.claim_levels import log_gamma_error

_Array = NDArray[np.float64]

_CELLS_AT_MOST = 1e9


@theorem(
    source="Holdfast",
    place="Theorem K",
    statement="A GuessAndCheck run of k questions with at most m refuted guesses, each answered by "
    "one of G cells, has N = sum_{f=0}^m C(k, f+1) G^f questions in its public tree.",
    domain="k >= 1, 0 <= m <= k, G >= 1",
    monotone={"k": "up", "m": "up", "G": "up"},
    slack="Theorem L counts only the cells that the radius can reach and is tighter",
)
def log_nodes(k: int, m: int, G: float) -> float:
    """ln N; m = 0 gives ln k (Bonferroni), m = k - 1 with G cells everything."""
    k = require.positive_integer("k", k)
    m = require.integer_at_least("m", m, 0)
    require.between("m", m, 0, k)
    log_G = math.log(require.at_least("G", G, 1))
    f = np.arange(min(m, k - 1) + 1, dtype=np.float64)
    terms = _log_binomial(k, f + 1) + f * log_G
    return round_up(float(special.logsumexp(terms)) + log_gamma_error(k))


@theorem(
    source="L4",
    place="GuessAndCheck (previous lecture), exact counting",
    statement="On n independent [0, 1] rows, k adaptive questions with at most m refuted guesses "
    "are all within 1/(2G) + sqrt(ln(2N/beta)/(2n)) of the truth with probability 1 - beta.",
    domain="n >= 1, k >= 1, 0 <= m <= k, log_beta <= 0; independent rows",
    monotone={"n": "down", "k": "up", "m": "up", "log_beta": "down"},
    slack="the account of Theorem L is narrower for the same run",
)
def guess_and_check_width(n: int, k: int, m: int, log_beta: float) -> float:
    """The half-width with the best number of cells."""
    return best_rounding_width(n, log_beta, lambda G: log_nodes(k, m, G))


def _log_binomial(k: int, chosen: _Array) -> _Array:
    return np.asarray(-special.betaln(k - chosen + 1, chosen + 1) - math.log(k + 1))


def best_rounding_width(n: int, log_beta: float, log_count: Callable[[float], float]) -> float:
    """min over whole G of 1/(2G) + sqrt((ln 2 + ln N(G) - ln beta)/(2n)); any G is valid."""
    n = require.positive_integer("n", n)
    log_beta = require.log_probability("log_beta", log_beta)

    def width(log_G: float) -> float:
        G = max(1, round(math.exp(log_G)))
        return 0.5 / G + math.sqrt((math.log(2) + log_count(G) - log_beta) / (2 * n))

    return round_up(golden_minimum(width, 0.0, math.log(_CELLS_AT_MOST))[1])
