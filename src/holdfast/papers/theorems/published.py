"""Half-widths of earlier published methods, with their best free parameters: the rows to beat.

All are for k adaptive means of [0, 1] values of n independent rows, simultaneous at 1 - beta, and
are reference rows: what the papers' formulas give, found numerically, not rounded to the safe side.
Where a bound is vacuous the result is above 1 or infinite. Solve for k or n with
`safeside.largest_integer` and `smallest_integer`.

Legend
    n, k        rows; questions
    log_beta    ln beta, beta the probability that any interval fails
    R           total zCDP parameter of the k Gaussian answers, R = k/(2 n^2 s^2)
    s           standard deviation of the noise of one answer
    delta       the free delta of (epsilon, delta)-DP; log_delta = ln delta
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Protocol, get_args

from holdfast import require
from holdfast.papers.theorems.accuracy import (
    Accuracy,
    AccuracyNoise,
    direct_accuracy,
    literal_accuracy,
)
from holdfast.papers.theorems.median_parameters import median_mechanism_width
from holdfast.theory.base import special
from holdfast.theory.base.concentration import Concentration, SubGaussian
from holdfast.theory.base.safeside import golden_minimum, largest_true, log1mexp, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.planning import (
    Method,
    by_formula,
    on_account,
    profile_log_weight,
    profile_scale,
)

_LOG2 = math.log(2)
_UNIT = SubGaussian(1.0)
_STEPS = 45
_DOMAINS = (16, 256)  # values: four and eight conditions
_LOG_R = (-110.0, 5.0)  # from far below any useful total zCDP to where every bound exceeds 1


def _arguments(n: int, k: int, log_beta: float) -> tuple[int, int, float]:
    return (
        require.positive_integer("n", n),
        require.positive_integer("k", k),
        require.log_probability("log_beta", log_beta),
    )


def _epsilon(R: float, log_delta: float) -> float:
    """zcdp_to_approx_dp_sharp without checks and rounding: it runs thousands of times a width."""
    surplus = min(0.0, math.log(math.pi * R) / 2) - log_delta
    return R + 2 * math.sqrt(R * max(0.0, surplus))


def _exp(value: float, function: Callable[[float], float] = math.exp) -> float:
    return function(value) if value < 700 else math.inf


def _least_transfer(
    log_beta: float, leak: Callable[[float], float], noise: Callable[[float], float]
) -> float:
    """The least of e^epsilon - 1 + leak(ln delta) + noise(ln delta)/sqrt(R) over delta and R."""

    @cache  # every search over R begins in the same places
    def of_noise(log_R: float) -> tuple[float, float, float]:
        R = math.exp(log_R)
        return R, min(0.0, math.log(math.pi * R) / 2), math.exp(-log_R / 2)

    def over_delta(log_delta: float) -> float:
        leaked, scale = leak(log_delta), noise(log_delta)

        def over_noise(log_R: float) -> float:
            R, surplus, per_scale = of_noise(log_R)
            epsilon = R + 2 * math.sqrt(R * max(0.0, surplus - log_delta))  # as `_epsilon`
            grown = math.expm1(epsilon) if epsilon < 700 else math.inf
            return grown + leaked + scale * per_scale

        return golden_minimum(over_noise, *_LOG_R, steps=_STEPS)[1]

    # A delta near beta leaks too much, one below e^-60 beta has long stopped to matter.
    return golden_minimum(over_delta, log_beta - 60, log_beta, steps=_STEPS)[1]


@theorem(
    source="Literature",
    place="Dwork et al. 2015, Theorem 10, as instantiated by Rogers et al. 2020, best split",
    statement="If k Gaussian answers are (t/4, delta)-DP with delta = exp(-4 ln(16/beta)/t) and "
    "t >= sqrt((48/n) ln(8/beta)), the half-width is t + s sqrt(2 ln(4k/beta)); least over t.",
    domain="n >= 1, k >= 1, ln beta <= 0",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="large constants: below one question at half-width .1 for n = 1e5",
)
def dwork_2015_half_width(n: int, k: int, log_beta: float) -> float:
    """Half of beta pays for the transfer, half for the noise; the split of the width is free."""
    n, k, log_beta = _arguments(n, k, log_beta)
    noise = math.sqrt(math.log(4 * k) - log_beta)
    log_least = math.log(48 / n * (math.log(8) - log_beta)) / 2

    def width(log_t: float) -> float:
        t = math.exp(log_t)
        log_delta = -4 * (math.log(16) - log_beta) / t
        log_R = largest_true(
            lambda log_R: _epsilon(math.exp(log_R), log_delta) <= t / 4, *_LOG_R, relative=1e-9
        )
        return t + noise * math.sqrt(k) * math.exp(-log_R / 2) / n

    best = golden_minimum(width, log_least, max(log_least, 0.0) + 5, steps=_STEPS)[1]
    return min(best, width(log_least))


@theorem(
    source="Literature",
    place="Bassily et al. 2016, transfer theorem with its monitor, for Gaussian answers under zCDP",
    statement="With T = floor(1/beta), the half-width is [e^epsilon - 1 + 2 T delta + (1/n) "
    "sqrt((k/R) ln(4k/delta))]/(1 - (1 - beta)^T), epsilon that of R-zCDP at delta; least over "
    "R and delta.",
    domain="n >= 1, k >= 1, ln beta <= 0",
    monotone={"n": "down", "k": "up"},
    slack="the monitor costs a factor of about e/(e - 1)",
)
def bassily_2016_half_width(n: int, k: int, log_beta: float) -> float:
    """T copies of the interaction are watched at once; the monitor picks the worst answer."""
    n, k, log_beta = _arguments(n, k, log_beta)
    log_T, caught = _monitor(log_beta)
    least = _least_transfer(
        log_beta,
        leak=lambda log_delta: 2 * math.exp(log_T + log_delta),
        noise=lambda log_delta: math.sqrt(k * (math.log(4 * k) - log_delta)) / n,
    )
    return least / caught


def _monitor(log_beta: float) -> tuple[float, float]:
    """(ln T, 1 - (1 - beta)^T) for T = floor(1/beta)."""
    if log_beta < -30:  # T beta = 1 in floating point
        return -log_beta, -math.expm1(-1)
    # e^-log_beta may fall a rounding error below a whole number such as 20.
    T = math.floor(math.exp(-log_beta) * (1 + 1e-12))
    return math.log(T), -math.expm1(T * log1mexp(log_beta))


@theorem(
    source="Literature",
    place="Russo & Zou 2016 with zCDP, Rogers et al. 2020, Theorem 2.1, its noise term corrected",
    statement="The half-width is sqrt(V/(2 n beta)) + s sqrt(2 ln(4k/beta)), V the least of "
    "(2I - ln(1 - l))/l over l in (0, 1), I = k/(2 n s^2); least over s.",
    domain="n >= 1, k >= 1, ln beta <= 0",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="a second moment and Chebyshev's inequality: grows as 1/sqrt(beta)",
)
def russo_zou_half_width(n: int, k: int, log_beta: float) -> float:
    """With u = -ln(1 - l) the inner minimum is at e^u - 1 - u = 2I and has the value V = e^u.

    So the search runs over u, and I and s follow from it. The published noise term is half of what
    is needed; here it is the tail of the largest of k Gaussians at beta/2.
    """
    n, k, log_beta = _arguments(n, k, log_beta)
    log_bias = (-_LOG2 - math.log(n) - log_beta) / 2
    noise = math.sqrt(2 * (math.log(4 * k) - log_beta))

    def width(log_u: float) -> float:
        u = math.exp(log_u)
        # e^u - 1 - u, by its series where the difference would cancel.
        twice_I = math.expm1(u) - u if u > 1e-3 else u * u * (1 + u / 3 + u * u / 12) / 2
        s = math.sqrt(k / n / twice_I)
        return _exp(log_bias + u / 2) + noise * s

    return golden_minimum(width, -300.0, 5.0, steps=70)[1]


@theorem(
    source="Literature",
    place="Jung et al. 2020, transfer theorem for (epsilon, delta)-DP, as instantiated there",
    statement="The half-width is e^epsilon - 1 + 6 delta/beta + (1/n) sqrt(k/R) erfcinv(delta/k), "
    "epsilon that of R-zCDP at delta; least over R and delta.",
    domain="n >= 1, k >= 1, ln beta <= 0",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="the free constants of the theorem are set equal, as published",
)
def jung_2020_half_width(n: int, k: int, log_beta: float) -> float:
    """The transfer theorem by posterior resampling, for Gaussian answers."""
    n, k, log_beta = _arguments(n, k, log_beta)
    log_2k = math.log(2 * k)
    return _least_transfer(
        log_beta,
        leak=lambda log_delta: 6 * math.exp(log_delta - log_beta),
        # erfcinv(p) = -z/sqrt 2 where ln Phi(z) = ln(p/2): also for p below the floats.
        noise=lambda log_delta: (
            -float(special.ndtri_exp(log_delta - log_2k)) * math.sqrt(k / 2) / n
        ),
    )


@theorem(
    source="Literature",
    place="Blum & Hardt 2015, Theorem 3.1",
    statement="The Ladder's best score so far is within eta + sqrt(((1/eta + 2) ln(4k/eta) + 1 + "
    "ln(1/beta))/(2n)) of the best population score, eta its step; least over eta.",
    domain="n >= 1, k >= 1, ln beta <= 0; the best score only, not each answer",
    monotone={"n": "down", "k": "up", "log_beta": "down"},
    slack="counts every possible leaderboard of step eta",
)
def ladder_best_score_half_width(n: int, k: int, log_beta: float) -> float:
    """Not comparable question by question: the Ladder answers only 'is this a new best?'."""
    n, k, log_beta = _arguments(n, k, log_beta)
    log_4k = math.log(4 * k)

    def width(log_eta: float) -> float:
        eta = math.exp(log_eta)
        log_count = (1 / eta + 2) * (log_4k - log_eta)
        return eta + math.sqrt((log_count + 1 - log_beta) / (2 * n))

    return golden_minimum(width, -40.0, 0.0, steps=_STEPS)[1]


@theorem(
    source="Literature",
    place="Rogers et al. 2020, Algorithm 1",
    statement="Round i after f failed checks is tested at level beta (6/pi^2)^2/(i^2 (f + 1)^2)/"
    "(C(i - 1, f) prod ceil(1/gamma_t)), the product over the failures, gamma_t their rounding.",
    domain="i >= 1, 0 <= f <= i - 1, log_outcomes = sum of ln ceil(1/gamma_t) >= 0, ln beta <= 0",
    monotone={"log_outcomes": "down", "log_beta": "up"},
    slack="over all transcripts the levels sum to .7 beta; as published it counts one rounded "
    "outcome too few for each failure (0 and 1 are both possible)",
)
def rogers_2020_check_log_level(
    i: int, failures: int, log_outcomes: float, log_beta: float
) -> float:
    """ln of the level; the sum over rounds and transcripts is at most beta."""
    i = require.positive_integer("i", i)
    failures = _failures(failures, i)
    log_outcomes = require.non_negative("log_outcomes", log_outcomes)
    log_beta = require.log_probability("log_beta", log_beta)
    log_positions = -float(special.betaln(failures + 1, i - failures)) - math.log(i)
    spread = 2 * math.log(6 / math.pi**2) - 2 * math.log(i * (failures + 1))
    return log_beta + spread - log_positions - log_outcomes


def _failures(failures: int, i: int) -> int:
    return int(
        require.between("failures", require.integer_at_least("failures", failures, 0), 0, i - 1)
    )


@theorem(
    source="Literature",
    place="Rogers et al. 2020, Algorithm 1, with Hoeffding on half of the rows",
    statement="In round k with the given number of failures before it, each rounded to "
    "`resolution`, a check on floor(n/2) rows that succeeds has half-width at least "
    "sqrt(ln(2/level)/(2 floor(n/2))), level that of rogers_2020_check_log_level.",
    domain="n >= 1, k >= 1, 0 <= failures <= k - 1, 0 < resolution <= 1; the best case "
    "(monotone in failures up to k/2)",
    monotone={"n": "down", "k": "up", "failures": "up", "resolution": "down", "log_beta": "down"},
    slack="best case: the guess must equal the mean on the checked rows; infinite for n = 1",
)
def rogers_2020_guess_and_check_half_width(
    n: int, k: int, log_beta: float, failures: int = 0, resolution: float = 0.01
) -> float:
    """The half-width when the guess is perfect; a guess that is off by d is confirmed at + d."""
    n, k, log_beta = _arguments(n, k, log_beta)
    resolution = require.between("resolution", resolution, 0.0, 1.0, open_low=True)
    log_outcomes = _failures(failures, k) * math.log(math.ceil(1 / resolution))
    log_level = rogers_2020_check_log_level(k, failures, log_outcomes, log_beta)
    m = n // 2
    return math.sqrt((_LOG2 - log_level) / (2 * m)) if m else math.inf


class _Accuracy(Protocol):
    __name__: str

    def __hash__(self) -> int: ...

    def __call__(
        self, k: int, log_beta: float, profile: Concentration, noise: AccuracyNoise
    ) -> Accuracy: ...


def published_methods() -> tuple[Method, ...]:
    """Methods of papers, for reference."""
    formulas = {
        "Rogers et al. 2020": russo_zou_half_width,
        "Jung et al. 2020": jung_2020_half_width,
        "Bassily et al. 2016": bassily_2016_half_width,
        "Dwork et al. 2015": dwork_2015_half_width,
    }
    widths = [
        by_formula(f"{authors} (published)", "reference", width.__name__, width)
        for authors, width in formulas.items()
    ]
    stable = [
        _typically_stable(f"Bassily & Freund, {noise.title()} ({form})", accuracy, noise)
        for form, accuracy in (("published", literal_accuracy), ("repaired", direct_accuracy))
        for noise in get_args(AccuracyNoise)
    ]
    return (*widths, *stable, *map(_median_mechanism, _DOMAINS))


def _median_mechanism(values: int) -> Method:
    """Theorem 2 of the lecture for a domain of so many values: GuessAndCheck that guesses itself.

    A ledger has it as `halting guess and check` with the guesser `median mechanism`.
    """

    def width(n: int, k: int, log_beta: float) -> float:
        return median_mechanism_width(n, k, values, log_beta)

    name = f"Median mechanism, {values:,} values"
    return by_formula(name, "domain", median_mechanism_width.__name__, width)


def _typically_stable(name: str, accuracy: _Accuracy, noise: AccuracyNoise) -> Method:
    """Theorem 6.1 of Bassily and Freund, which needs nothing of the rows but a concentration.

    Its leakage form is what `typical laplace` and `typical gaussian` keep to.
    """

    def width(profile: Concentration, k: int, log_beta: float) -> float:
        scale, log_beta = profile_scale(profile), min(log_beta, -math.log(2.0))
        if scale is None:
            return accuracy(k, log_beta, profile, noise).half_width
        return scale * _in_scales(accuracy, noise, k, log_beta + profile_log_weight(profile))

    def fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
        return width(profile, k, log_beta) <= t

    return on_account(name, accuracy.__name__, width, fits, kind="reference")


@lru_cache(maxsize=4096)  # a plan asks for the same ones again and again
def _in_scales(accuracy: _Accuracy, noise: AccuracyNoise, k: int, log_beta: float) -> float:
    return accuracy(k, log_beta, _UNIT, noise).half_width


@theorem(
    source="Literature",
    place="Maurer & Pontil 2009, Theorem 4, two-sided",
    statement="For n >= 2 iid [0, 1] values with sample variance V (divisor n - 1), the mean is "
    "within sqrt(2 V L/n) + 7 L/(3(n - 1)), L = ln 4 - log_p, of its expectation with probability "
    ">= 1 - e^{log_p}.",
    domain="n >= 2, 0 <= variance <= n/(4(n - 1)), log_p <= 0; iid [0, 1] values",
    monotone={"n": "down", "variance": "up", "log_p": "down"},
    slack="the term 7 L/(3 n) is lost when the variance is known",
)
def empirical_bernstein_radius(n: int, variance: float, log_p: float) -> float:
    """The half-width of the empirical Bernstein interval, rounded up."""
    n = require.integer_at_least("n", n, 2)
    variance = require.non_negative("variance", variance)
    L = math.log(4.0) - require.log_probability("log_p", log_p)
    return round_up(math.sqrt(2 * variance * L / n) + 7 * L / (3 * (n - 1)))
