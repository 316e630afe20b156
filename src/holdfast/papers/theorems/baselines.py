"""Baselines that everything is compared with: fresh rows, fixed questions, one look.

All are half-widths for means of [0, 1] values of n independent rows, for k questions together with
probability 1 - beta. Solve for k or n with `safeside.largest_integer` and `smallest_integer`.

Legend
    n, k        rows; questions
    log_beta    ln beta, beta the probability that any interval fails
    m           floor(n/k), the fresh rows that each question gets
"""

from __future__ import annotations

import math

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import largest_integer, round_up
from holdfast.theory.base.theorem import theorem

_LOG2 = math.log(2)
_SMALLEST_TRUSTED = 1e-250  # the incomplete beta function underflows not far below


def _hoeffding(rows: int, log_p: float) -> float:
    return round_up(math.sqrt((_LOG2 - log_p) / (2 * rows)))


@theorem(
    source="Literature",
    place="Hoeffding 1963, Theorem 2, on k disjoint parts with a union bound",
    statement="If each of k adaptive questions is answered on its own floor(n/k) independent rows, "
    "all means of [0, 1] values are within sqrt(ln(2k/beta)/(2 floor(n/k))) with probability "
    "1 - beta.",
    domain="n >= 1, k >= 1, ln beta <= 0; infinite for k > n",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="Hoeffding's inequality",
)
def sample_splitting_half_width(n: int, k: int, log_beta: float) -> float:
    """Valid for any adaptive analyst; infinite when there is less than one row for a question."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    log_beta = require.log_probability("log_beta", log_beta)
    m = n // k
    return _hoeffding(m, log_beta - math.log(k)) if m else math.inf


@theorem(
    source="Literature",
    place="binomial(1/2) quantiles on k disjoint parts, as in Rogers et al. 2020",
    statement="If each of k adaptive questions is a fair 0/1 value on its own m = floor(n/k) rows, "
    "all means are within |x/m - 1/2| with probability 1 - beta, x the least whole number with "
    "P[Binomial(m, 1/2) > x] <= beta/(2k).",
    domain="n >= 1, k >= 1, ln beta <= 0, population value 1/2; infinite for k > n",
    monotone={"log_beta": "down"},
    slack="exact but for the union bound; not a promise for other population values, where the "
    "lattice can fall worse: it is the most favourable sample splitting, to compare with",
)
def sample_splitting_binomial_half_width(n: int, k: int, log_beta: float) -> float:
    """The least half-width that holds at population value 1/2; uneven in n and k (a lattice)."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    log_p = require.log_probability("log_beta", log_beta) - math.log(2 * k)
    m = n // k
    if not m:
        return math.inf
    middle = m // 2
    too_low = largest_integer(
        lambda count: _log_fair_tail(m, middle + count - 1) > log_p, most=m - middle
    )
    return abs(2 * (middle + too_low) - m) / (2 * m)


def _log_fair_tail(m: int, x: int) -> float:
    """ln P[Binomial(m, 1/2) > x] for floor(m/2) <= x < m; a close upper bound far out."""
    j = x + 1
    tail = float(special.betainc(j, m - x, 0.5))
    if tail > _SMALLEST_TRUSTED:
        return math.log(tail)
    # The probabilities fall at least geometrically beyond j: sum the series that majorises them.
    return _log_fair_mass(m, j) - math.log1p(-(m - j) / (j + 1))


def _log_fair_mass(m: int, j: int) -> float:
    """ln P[Binomial(m, 1/2) = j] for m/2 < j <= m, by Stirling's series: no large terms cancel."""
    if j == m:
        return -m * _LOG2
    deviation = (2 * j - m) / m
    entropy = (
        (1 + deviation) * math.log1p(deviation) + (1 - deviation) * math.log1p(-deviation)
    ) / 2
    return (
        -m * entropy
        + math.log(m / (2 * math.pi * j * (m - j))) / 2
        + _stirling_rest(m)
        - _stirling_rest(j)
        - _stirling_rest(m - j)
    )


def _stirling_rest(m: int) -> float:
    """ln m! - ((m + 1/2) ln m - m + ln(2 pi)/2)."""
    if m < 16:
        return math.lgamma(m + 1) - (m + 0.5) * math.log(m) + m - math.log(2 * math.pi) / 2
    return 1 / (12 * m) - 1 / (360 * m**3) + 1 / (1260 * m**5)


@theorem(
    source="Literature",
    place="Hoeffding 1963, Theorem 2, with a union bound",
    statement="If k questions are fixed before the data is seen, all means of [0, 1] values of n "
    "independent rows are within sqrt(ln(2k/beta)/(2n)) with probability 1 - beta.",
    domain="n >= 1, k >= 1, ln beta <= 0; questions not adaptive",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="Hoeffding's inequality and a union bound; the price of adaptivity is counted from here",
)
def bonferroni_half_width(n: int, k: int, log_beta: float) -> float:
    """The floor: what k questions would cost if none depended on an answer."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    return _hoeffding(n, require.log_probability("log_beta", log_beta) - math.log(k))


@theorem(
    source="Literature",
    place="Hoeffding 1963, Theorem 2",
    statement="One question fixed before the data is seen has a mean of [0, 1] values of n "
    "independent rows within sqrt(ln(2/beta)/(2n)) with probability 1 - beta; for a second "
    "question on the same rows nothing is promised.",
    domain="n >= 1, ln beta <= 0; one question, not adaptive",
    monotone={"n": "down", "log_beta": "down"},
    slack="Hoeffding's inequality; usually printed beside every answer, and not valid there",
)
def one_look_half_width(n: int, log_beta: float) -> float:
    """The interval people attach to every answer. Not valid for more than one fixed question."""
    n = require.positive_integer("n", n)
    return _hoeffding(n, require.log_probability("log_beta", log_beta))


# Multiplicative weights: the efficient guesser, and why it is surprised only so often.
#
# Symbols: X a finite domain, D-hat the guesser's distribution on it, phi the question, g = E_Dhat
# phi its guess, gap the distance of g from what the surprise revealed, lambda = 4 gap the step.


@theorem(
    source="Literature",
    place="Hardt & Rothblum 2010; step lambda = 4 gap",
    statement="If g = E_Dhat phi is at distance >= gap from E_D phi and phi has values in [0, 1], "
    "multiplying D-hat by exp(+-4 gap phi) lowers KL(D || D-hat) by at least 2 gap^2.",
    domain="0 < gap <= 1",
    monotone={"gap": "up"},
    slack="Hoeffding's lemma; the exact I-projection lowers it further",
)
def multiplicative_weights_drop(gap: float) -> float:
    """2 gap^2 nats."""
    return 2 * require.between("gap", gap, 0.0, 1.0, open_low=True) ** 2


@theorem(
    source="Literature",
    place="Hardt & Rothblum 2010; step size",
    statement="lambda = 4 gap maximises the guaranteed drop lambda gap - lambda^2/8 of the "
    "divergence.",
    domain="0 < gap <= 1",
    monotone={"gap": "up"},
    slack="none for the quadratic bound",
)
def multiplicative_weights_step(gap: float) -> float:
    """lambda = 4 gap."""
    return 4 * require.between("gap", gap, 0.0, 1.0, open_low=True)


@theorem(
    source="Literature",
    place="Hardt & Rothblum 2010; mistake bound",
    statement="Starting from the uniform distribution on X the surprises satisfy "
    "sum 2 gap^2 <= ln|X|, so there are at most ln|X|/(2 gap_min^2) of them.",
    domain="domain_size >= 2, 0 < gap <= 1",
    monotone={"domain_size": "up", "gap": "down"},
    slack="a prior close to the data replaces ln|X| by the divergence from it",
)
def multiplicative_weights_surprises(domain_size: int, gap: float) -> int:
    """floor(ln|X|/(2 gap^2))."""
    size = require.integer_at_least("domain_size", domain_size, 2)
    return math.floor(round_up(math.log(size) / multiplicative_weights_drop(gap)))
