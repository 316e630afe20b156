"""GuessAndCheck, the lecture's form: counting the nodes of the public tree (Theorem K).

Guesses are checked against the sample; a refuted guess is replaced by a value rounded to one of G
cells. The transcript is a path in a public tree, and every node gets beta/N.

Symbols: k questions, m refuted guesses at most, G cells of the rounding, N nodes, n rows,
c checks so far, f surprises so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdfast import require
from holdfast.theory.base.safeside import golden_minimum, log1mexp, round_up
from holdfast.theory.base.theorem import theorem

__all__ = [
    "batch_surprise_prior",
    "global_rounding_width",
    "guess_and_check_width",
    "kt_surprise_prior",
    "kt_total_cost",
    "log_gamma_error",
    "log_nodes",
    "log_rounding_nodes",
]

Array = NDArray[np.float64]

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
    place="previous lecture, truncation",
    statement="Rounding every one of k answers to G cells has N = (G^k - 1)/(G - 1) questions in "
    "its public tree.",
    domain="k >= 1, G >= 1",
    monotone={"k": "up", "G": "up"},
    slack="none for the count",
)
def log_rounding_nodes(k: int, G: float) -> float:
    """ln((G^k - 1)/(G - 1)), and ln k for G = 1."""
    k = require.positive_integer("k", k)
    log_G = math.log(require.at_least("G", G, 1))
    if log_G * k < 1e-9:
        return math.log(k)
    return log_G * (k - 1) + log1mexp(-k * log_G) - log1mexp(-log_G)


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
    return _best_width(n, log_beta, lambda G: log_nodes(k, m, G))


@theorem(
    source="L4",
    place="truncation (description length)",
    statement="On n independent [0, 1] rows, k adaptive questions answered by rounding to G cells "
    "are within 1/(2G) + sqrt(ln(2N/beta)/(2n)), N = (G^k - 1)/(G - 1), with probability 1 - beta.",
    domain="n >= 1, k >= 1, log_beta <= 0; independent rows",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="about 1.25 times the rounding account of Theorem L",
)
def global_rounding_width(n: int, k: int, log_beta: float) -> float:
    """The half-width with the best whole number of cells."""
    return _best_width(n, log_beta, lambda G: log_rounding_nodes(k, G))


@theorem(
    source="Literature",
    place="Krichevsky & Trofimov 1981",
    statement="After f surprises in c checks the next surprise gets the public prior "
    "eps = (f + 1/2)/(c + 1).",
    domain="0 <= f <= c",
    monotone={"f": "up"},
    slack="(1/2) ln c + O(1) nats above the best fixed prior",
)
def kt_surprise_prior(c: int, f: int) -> float:
    """eps = (f + 1/2)/(c + 1)."""
    c = require.integer_at_least("c", c, 0)
    return (require.between("f", f, 0, c) + 0.5) / (c + 1)


@theorem(
    source="Holdfast",
    place="Section 4: checks chosen together",
    statement="Each of m checks of a batch, after f surprises in c checks, gets the public prior "
    "eps = (f + 1/2)/(c + m); all m confirmed then cost at most m (f + 1/2)/(c + m - f - 1/2) nats "
    "together.",
    domain="0 <= f <= c, m >= 1",
    monotone={"m": "down", "f": "up"},
    slack="m = 1 is Krichevsky and Trofimov's; with several surprises their order would be cheaper",
)
def batch_surprise_prior(c: int, f: int, m: int) -> float:
    """eps = (f + 1/2)/(c + m): any public prior is valid, and this one makes a batch cheap.

    With (f + 1/2)/(c + 1) for each, m checks at the start would cost m ln 2 when all are confirmed.
    """
    c = require.integer_at_least("c", c, 0)
    m = require.positive_integer("m", m)
    return (require.between("f", f, 0, c) + 0.5) / (c + m)


@theorem(
    source="Literature",
    place="Krichevsky & Trofimov 1981, code length",
    statement="The priors (f + 1/2)/(c + 1) charge a run of c checks with f surprises, in any "
    "order, -ln[Gamma(f + 1/2) Gamma(c - f + 1/2)/(pi Gamma(c + 1))] nats in all.",
    domain="0 <= f <= c",
    monotone={"c": "up"},
    slack="exact",
)
def kt_total_cost(c: int, f: int) -> float:
    """Nats for the yes/no symbols of a whole run; the surprises' releases come on top."""
    c = require.integer_at_least("c", c, 0)
    f = require.integer_at_least("f", f, 0)
    require.between("f", f, 0, c)
    log_weight = special.gammaln(f + 0.5) + special.gammaln(c - f + 0.5) - special.gammaln(c + 1)
    return max(0.0, round_up(math.log(math.pi) - float(log_weight) + log_gamma_error(c)))


def log_gamma_error(t: int) -> float:
    """A bound on the error of a short sum of log-gammas of numbers up to t + 2."""
    return 2e-15 * float(special.gammaln(t + 3))


def _log_binomial(k: int, chosen: Array) -> Array:
    return np.asarray(-special.betaln(k - chosen + 1, chosen + 1) - math.log(k + 1))


def _best_width(n: int, log_beta: float, log_count: Callable[[float], float]) -> float:
    """min over whole G of 1/(2G) + sqrt((ln 2 + ln N(G) - ln beta)/(2n)); any G is valid."""
    n = require.positive_integer("n", n)
    log_beta = require.log_probability("log_beta", log_beta)

    def width(log_G: float) -> float:
        G = max(1, round(math.exp(log_G)))
        return 0.5 / G + math.sqrt((math.log(2) + log_count(G) - log_beta) / (2 * n))

    return round_up(golden_minimum(width, 0.0, math.log(_CELLS_AT_MOST))[1])
