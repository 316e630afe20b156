"""GuessAndCheck's public tree: Theorem K, codes of its nodes, and the lecture's roundings.

Guesses are checked against the sample; a refuted guess is replaced by a value rounded to one of G
cells, the transcript is a path in the tree, and every node gets beta/N.

A code shares the failure probability over the nodes of the tree, with no horizon. A node is the
t-th question after f surprises; its weight w is public, the weights of all nodes sum to at most 1
(Kraft), so that it may fail with probability beta w. Each surprise j before it also named one of
G_j cells: `sum_log_cells` = sum_j ln G_j is subtracted. Weights are ln w, rounded down.

Symbols: k questions, m refuted guesses at most, G cells of the rounding, N nodes, n rows,
c checks so far, f surprises so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import golden_minimum, log1mexp, log_add, round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.claim_levels import log_gamma_error


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
    if log_G * k < 1e-9:  # a difference would be rounding alone: k terms, none above the last
        return math.log(k) + log_G * (k - 1)
    return log_G * (k - 1) + log1mexp(-k * log_G) - log1mexp(-log_G)


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
    log_weight = math.lgamma(f + 0.5) + math.lgamma(c - f + 0.5) - math.lgamma(c + 1)
    return max(0.0, round_up(math.log(math.pi) - log_weight + log_gamma_error(c)))


@theorem(
    source="Holdfast",
    place="Theorem K, fixed (k, m, G)",
    statement="Every node of the tree of k questions with at most m surprises of G cells each gets "
    "weight 1/N.",
    domain="k >= 1, 0 <= m <= k, G >= 1",
    monotone={"k": "down", "m": "down", "G": "down"},
    slack="Kraft sum exactly 1",
)
def fixed_log_weight(k: int, m: int, G: float) -> float:
    """-ln N."""
    return round_down(-log_nodes(k, m, G))


@theorem(
    source="Holdfast",
    place="Section 4, anytime codes: enumerative",
    statement="w = 1/(t(t+1)) 1/((f+1)(f+2)) / C(t-1, f) prod_j 1/G_j.",
    domain="t >= 1, 0 <= f < t, sum_log_cells >= 0",
    monotone={"sum_log_cells": "down"},
    slack="Kraft sum at most 1; the weights of f >= t are unused",
)
def enumerative_log_weight(t: int, f: int, sum_log_cells: float = 0.0) -> float:
    """The surprises' places are coded by their number among C(t - 1, f)."""
    t, f = _node(t, f)
    log_choose = -math.log(t) - float(special.betaln(t - f, f + 1))
    log_places = -math.log(f + 1) - math.log(f + 2) - log_choose - log_gamma_error(t)
    return round_down(_horizon(t) + log_places - _cells(sum_log_cells))


@theorem(
    source="Holdfast",
    place="Section 4, anytime codes: Krichevsky-Trofimov",
    statement="w = 1/(t(t+1)) Gamma(f + 1/2) Gamma(t - f - 1/2)/(pi Gamma(t)) prod_j 1/G_j.",
    domain="t >= 1, 0 <= f < t, sum_log_cells >= 0",
    monotone={"sum_log_cells": "down"},
    slack="Kraft sum exactly 1 for G_j = 1",
)
def kt_log_weight(t: int, f: int, sum_log_cells: float = 0.0) -> float:
    """The surprises' places are coded by the Krichevsky-Trofimov estimator."""
    t, f = _node(t, f)
    log_sequence = special.gammaln(f + 0.5) + special.gammaln(t - f - 0.5) - special.gammaln(t)
    log_places = float(log_sequence) - math.log(math.pi) - log_gamma_error(t)
    return round_down(_horizon(t) + log_places - _cells(sum_log_cells))


@theorem(
    source="Holdfast",
    place="Section 4, anytime codes: run-length",
    statement="w = 1/((f+1)(f+2)) prod_i 1/(r_i(r_i+1)) prod_j 1/G_j over the f runs between "
    "surprises and the current run.",
    domain="runs >= 1, as many as surprises so far plus one; sum_log_cells >= 0",
    monotone={"sum_log_cells": "down"},
    slack="Kraft sum exactly 1 for G_j = 1",
)
def run_length_log_weight(runs: Sequence[int], sum_log_cells: float = 0.0) -> float:
    """`runs`: questions up to and including each surprise, then questions since the last one."""
    if not runs:
        raise InvalidArgument("runs is empty; it must end with the length of the current run.")
    f = len(runs) - 1
    total = -math.log(f + 1) - math.log(f + 2) - _cells(sum_log_cells)
    for run in runs:
        total += _horizon(require.positive_integer("run", run))
    return round_down(total, 16)


@theorem(
    source="Holdfast",
    place="Section 4, anytime codes: mixture",
    statement="Half of one code plus half of another is a code: within ln 2 of the better one.",
    domain="two log-weights of the same node, <= 0",
    monotone={"first": "up", "second": "up"},
    slack="ln 2 nats at most",
)
def mixture_log_weight(first: float, second: float) -> float:
    """ln((w1 + w2)/2)."""
    first = require.log_probability("first", first)
    second = require.log_probability("second", second)
    return round_down(log_add(first, second) - math.log(2))


def _horizon(t: int) -> float:
    """-ln(t(t+1)): a share for each t that sums to 1."""
    return -math.log(t) - math.log1p(t)


def _node(t: int, f: int) -> tuple[int, int]:
    t = require.positive_integer("t", t)
    f = require.integer_at_least("f", f, 0)
    require.between("f", f, 0, t - 1)
    return t, f


def _cells(sum_log_cells: float) -> float:
    return require.non_negative("sum_log_cells", sum_log_cells)


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
    return _best_width(n, log_beta, lambda G: log_nodes(k, m, G))


def _log_binomial(k: int, chosen: _Array) -> _Array:
    return np.asarray(-special.betaln(k - chosen + 1, chosen + 1) - math.log(k + 1))


def _best_width(n: int, log_beta: float, log_count: Callable[[float], float]) -> float:
    """min over whole G of 1/(2G) + sqrt((ln 2 + ln N(G) - ln beta)/(2n)); any G is valid."""
    n = require.positive_integer("n", n)
    log_beta = require.log_probability("log_beta", log_beta)

    def width(log_G: float) -> float:
        G = max(1, round(math.exp(log_G)))
        return 0.5 / G + math.sqrt((math.log(2) + log_count(G) - log_beta) / (2 * n))

    return round_up(golden_minimum(width, 0.0, math.log(_CELLS_AT_MOST))[1])
