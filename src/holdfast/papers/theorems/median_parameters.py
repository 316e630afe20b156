"""The Median mechanism (lecture 4): parameters, mistake bounds, and widths.

The guess for a question is the weighted median of its value over a version space of small data sets
(histograms of n' points on a domain of N values). A mistake halves the space, and one small data
set that is close to the sample on every question is never removed.

Symbols: eta the accuracy of a guess that is accepted, alpha the accuracy of the best small data
set, rho the rounding error of a correction, theta the removal threshold, n' points, N = |X| values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.papers.theorems.surprise_codes import log_nodes
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import SourceNote, theorem
from holdfast.theory.leakage.claim_levels import log_gamma_error


@dataclass(frozen=True, slots=True)
class MedianParameters:
    """Parameters of a run of the Median mechanism."""

    eta: float
    alpha: float
    rho: float
    theta: float
    points: int
    mistakes: int


@theorem(
    source="L4",
    place="MedianMechanism, auxiliary claim and Claim 1 (repaired)",
    statement="Any alpha, rho, theta with alpha + rho <= theta <= eta - rho keep the best small "
    "data set and halve the version space at each mistake; alpha = eta - 2 rho, theta = eta - "
    "rho and n' > ln(2k)/(2 alpha^2) points suffice.",
    domain="k >= 1, N >= 2, eta > 0, 0 <= rho < eta/2",
    monotone={"k": "up", "N": "up", "eta": "down", "rho": "up"},
    slack="the union over k questions in the existence of the small data set",
    printed="median_parameters_printed",
    notes=(
        SourceNote(
            "copy",
            "L4",
            "MedianMechanism, step 1, size of the subsample",
            "n' = 8 ln(4k)/eta^2 = 8 sqrt(ln(4k)) 2n",
            "8 sqrt(2 n ln(4k))",
            "With eta = (ln(4k)/(2n))^{1/4}, eta^2 = sqrt(ln(4k)/(2n)), and 8 ln(4k)/eta^2 = "
            "8 sqrt(2 n ln(4k)): 2n belongs under the root, which was probably cut short in the "
            "transcription.",
        ),
        SourceNote(
            "loose",
            "L4",
            "MedianMechanism, step 1, number of guesses",
            "number of guesses m = n' log|X|",
            "m = floor(n' log2|X|) mistakes; halt on mistake m + 1",
            "Nothing is wrong: the lecture writes log for base 2, as its last line (each mistake "
            "halves the version space) shows, and its m counts wrong guesses. Read as a natural "
            "logarithm it would halt too early; and n' is rounded up to a whole number first.",
        ),
        SourceNote(
            "loose",
            "L4",
            "MedianMechanism, proof of Theorem 2",
            "alpha = eta/4, rounding error eta/4, removal at eta/2",
            "alpha + rho <= theta <= eta - rho",
            "The fixed quarters waste up to 9 times the points: with rho = eta/8, alpha = 3 eta/4 "
            "works and n' falls as 1/alpha^2.",
        ),
    ),
)
def median_parameters(k: int, N: int, eta: float, rho: float = 0.0) -> MedianParameters:
    """The repaired parameters for k questions on a domain of N values; histogram weights."""
    k, N = require.positive_integer("k", k), require.integer_at_least("N", N, 2)
    eta = require.positive("eta", eta)
    rho = require.non_negative("rho", rho)
    if not 2 * rho < eta:
        raise InvalidArgument(f"rho is {rho!r} and eta is {eta!r}; rho must be below eta/2.")
    theta = round_down(eta - rho, 1)
    alpha = round_down(theta - rho, 1)
    points = math.floor(math.log(2 * k) / (2 * alpha**2)) + 1
    return MedianParameters(eta, alpha, rho, theta, points, histogram_mistakes(points, N))


@theorem(
    source="L4",
    place="MedianMechanism, step 1, printed",
    statement="Printed: eta = (ln(4k)/(2n))^{1/4}, n' = 8 ln(4k)/eta^2, m = n' log2|X|, with "
    "alpha = rho = eta/4 and removal at eta/2 (2n read under the root, log to base 2).",
    domain="n >= 1, k >= 1, N >= 2",
    monotone={"N": "up"},
    slack="about 9 to 16 times the points needed",
)
def median_parameters_printed(n: int, k: int, N: int) -> MedianParameters:
    """The lecture's parameters: n' by its first form, log to base 2."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    N = require.integer_at_least("N", N, 2)
    log_4k = math.log(4 * k)
    eta = (log_4k / (2 * n)) ** 0.25
    points = math.ceil(8 * log_4k / eta**2)
    return MedianParameters(eta, eta / 4, eta / 4, eta / 2, points, sequence_mistakes(points, N))


@theorem(
    source="L4",
    place="Theorem 2, conclusion",
    statement="With weights over sequences X^{n'} there are at most floor(n' log2 N) mistakes.",
    domain="points >= 1, N >= 1",
    monotone={"points": "up", "N": "up"},
    slack="counts the same histogram once per ordering",
)
def sequence_mistakes(points: int, N: int) -> int:
    """floor(n' log2 N)."""
    points, N = require.positive_integer("points", points), require.positive_integer("N", N)
    return math.floor(round_up(points * math.log2(N)))


@theorem(
    source="Holdfast",
    place="Section 4, Median mechanism",
    statement="With uniform weights over histograms of n' points on N values there are at most "
    "log2 C(n' + N - 1, N - 1) mistakes.",
    domain="points >= 1, N >= 1",
    monotone={"points": "up", "N": "up"},
    slack="a histogram space is smaller than the sequence space by up to n'!",
)
def histogram_mistakes(points: int, N: int) -> int:
    """floor(log2 C(n' + N - 1, N - 1))."""
    points, N = require.positive_integer("points", points), require.positive_integer("N", N)
    log_count = -float(special.betaln(points + 1, N)) - math.log(points + N)
    # The count is a whole number's logarithm: the allowance covers the error of betaln.
    return math.floor(log_count / math.log(2) * (1 + 1e-12) + 1e-9)


# The Median mechanism beyond enumeration, and Theorem 2's width in numbers.
#
# Instead of small data sets, the version space may hold all distributions on the N values,
# measured by volume. A mistake still removes what is on one side of the median; and all that is
# within alpha of the sample in total variation stays: (1 - alpha) sample + alpha anything, a part
# alpha^{N-1} of the volume. The space is convex, so it can be sampled, which costs a part of
# every median.
#
# Legend
#     n, k        independent rows with values in [0, 1]; questions
#     N           values of the domain
#     alpha       how far from the sample's answers what is left may be
#     excess      how far from 1/2 the mass on either side of a sampled median may be
#     beta        the failure probability of all intervals, as ln beta; delta that of the medians


# Of the accuracy, what rounding a correction may take: any part below a half is valid.
_PART = 1 / 8
_LEAST, _STEPS = 1e-4, 40


@theorem(
    source="Holdfast",
    place="Section 4, Median mechanism by volume",
    statement="Over all distributions on N values, measured by volume, with removal of what is "
    "further than alpha from a revealed interval, there are at most (N - 1) ln(1/alpha)/"
    "ln(1/(1/2 + excess)) mistakes if each median has at most 1/2 + excess on either side.",
    domain="N >= 1, 0 < alpha <= 1, 0 <= excess < 1/2",
    monotone={"N": "up", "alpha": "down", "excess": "up"},
    slack="the ball in total variation is larger than the part of it that is counted",
)
def volume_mistakes(N: int, alpha: float, excess: float = 0.0) -> int:
    """The greatest number of mistakes."""
    N = require.positive_integer("N", N)
    alpha = require.between("alpha", alpha, 0.0, 1.0, open_low=True)
    excess = require.between("excess", excess, 0.0, 0.5, open_high=True)
    return math.floor(round_up(-(N - 1) * math.log(alpha) / -math.log(0.5 + excess)))


@theorem(
    source="Holdfast",
    place="Section 4, sampled medians (Hoeffding)",
    statement="Of M >= ln(2k/delta)/(2 excess^2) independent draws for each of k medians, all "
    "sample medians have at most 1/2 + excess of the mass on either side, with probability "
    "1 - delta.",
    domain="k >= 1, ln delta <= 0, 0 < excess < 1/2",
    monotone={"k": "up", "log_delta": "down", "excess": "down"},
    slack="the union over medians and sides",
)
def median_samples(k: int, log_delta: float, excess: float) -> int:
    """M."""
    k, log_delta = require.positive_integer("k", k), require.log_probability("log_delta", log_delta)
    excess = require.between("excess", excess, 0.0, 0.5, open_low=True, open_high=True)
    return math.ceil(round_up((math.log(2 * k) - log_delta) / (2 * excess**2)))


def _width(n: int, k: int, mistakes: int, eta: float, cells: int, log_beta: float) -> float:
    """eta, and the radius of every question of the public tree."""
    log_all = math.log(2) + log_public_tree(k, min(mistakes, k), cells) - log_beta
    return round_up(eta + math.sqrt(log_all / (2 * n)))


def log_public_tree(k: int, m: int, cells: int, summed: int = 2**20) -> float:
    """ln of the questions of the public tree; of more mistakes than are `summed` a bound."""
    if m <= summed:
        return log_nodes(k, m, cells)
    if 2 * (m + 1) > k:  # of all mistakes, by the binomial theorem
        return round_up(k * math.log1p(cells))
    log_last = -float(special.betaln(m + 2, k - m)) - math.log(k + 1)  # the largest of m + 1 terms
    return round_up(log_last + m * math.log(cells) + math.log(m + 1) + log_gamma_error(k))


@theorem(
    source="L4",
    place="Theorem 2, with its constants",
    statement="The Median mechanism with GuessAndCheck answers k adaptive questions on n "
    "independent rows of a domain of N values within eta + sqrt(ln(2 N_K/beta)/(2n)) with "
    "probability 1 - beta, N_K the questions of the public tree with m mistakes (histograms or "
    "volume, whichever are fewer); the best eta is taken.",
    domain="n >= 1, k >= 1, N >= 2, ln beta <= 0",
    monotone={"N": "up"},
    slack="eta is looked for on a grid; Theorem L is narrower for the same run",
    printed="median_mechanism_width_printed",
)
def median_mechanism_width(n: int, k: int, N: int, log_beta: float) -> float:
    """The half-width, the same for all k questions."""
    n, k = require.positive_integer("n", n), require.positive_integer("k", k)
    N = require.integer_at_least("N", N, 2)
    log_beta = require.log_probability("log_beta", log_beta)
    best = math.inf
    for step in reversed(range(_STEPS + 1)):
        eta = _LEAST ** (1 - step / _STEPS)
        if eta >= best:
            continue
        cells = math.ceil(1 / (2 * _PART * eta))
        parameters = median_parameters(k, N, eta, 1 / (2 * cells))
        mistakes = min(parameters.mistakes, volume_mistakes(N, parameters.alpha))
        if min(mistakes, k - 1) * math.log(cells) >= 2 * n * best**2:
            break  # the tree has so many questions at least, and more where eta is finer
        best = min(best, _width(n, k, mistakes, eta, cells, log_beta))
    return best


@theorem(
    source="L4",
    place="Theorem 2, with the printed parameters",
    statement="The same with eta = (ln(4k)/(2n))^{1/4}, corrections rounded to eta/4 and m = n' "
    "log2|X| as printed.",
    domain="n >= 1, k >= 1, N >= 2, ln beta <= 0",
    monotone={"N": "up", "log_beta": "down"},
    slack="about 9 to 16 times the points needed, and an eta that is not the best",
)
def median_mechanism_width_printed(n: int, k: int, N: int, log_beta: float) -> float:
    """Theorem 2's order with its constants, for comparison."""
    parameters = median_parameters_printed(n, k, N)
    log_beta = require.log_probability("log_beta", log_beta)
    return _width(
        n, k, parameters.mistakes, parameters.eta, math.ceil(2 / parameters.eta), log_beta
    )
