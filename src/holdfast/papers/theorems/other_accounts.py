"""Other accounts of leakage: the charges and half-widths of noise that no mechanism adds.

Letters are those of `theory.leakage.nats` and `theory.leakage.equal_width`.
"""

from __future__ import annotations

import math
from fractions import Fraction

from holdfast import require
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_down, round_up
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.claim_levels import declared_surprise_prior
from holdfast.theory.leakage.equal_width import (
    affords,
    least_half_width,
    log_questions_over_beta,
    uniform_cost,
)
from holdfast.theory.leakage.nats import gaussian_noise_error
from holdfast.theory.leakage.release import RESOLUTION

_PANELS = 2_000
# With unbounded noise of T = RESOLUTION cells in a scale: the cells are finer by one part in T e, e
# the noise's error in scales (at least 0.67), and the radius spans up to two more of them, of which
# each costs 1/(2T) at most.
_UNBOUNDED_OVERHEAD = 3 / RESOLUTION


@theorem(
    source="Holdfast",
    place="Section 3, continuum limit",
    statement="For sub-Gaussian questions of scale sigma, k = (t/sigma)^2 int_{z0}^1 z/(-ln(1 - "
    "z)) dz with z0 = sigma sqrt(2 ln(2/beta_j))/t; as t/sigma grows this tends to (t/sigma)^2 "
    "ln 2.",
    domain="sigma > 0, tolerance > 0, log_share <= 0",
    monotone={"sigma": "down", "tolerance": "up", "log_share": "up"},
    slack="below the recurrence's count by a few questions; a guide, not a promise",
)
def continuum_questions(sigma: float, tolerance: float, log_share: float) -> float:
    """How many questions of half-width t, each with share beta_j, in the continuum."""
    ratio = require.positive("tolerance", tolerance) / require.positive("sigma", sigma)
    log_share = require.log_probability("log_share", log_share)
    z0 = math.sqrt(2 * (math.log(2) - log_share)) / ratio
    if z0 >= 1.0:
        return 0.0
    width = (1.0 - z0) / _PANELS
    middles = (z0 + (i + 0.5) * width for i in range(_PANELS))
    return ratio**2 * width * math.fsum(z / -math.log1p(-z) for z in middles)


def laplace_fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
    """Whether k adaptive questions of half-width t can be answered with Laplace noise."""
    start = log_questions_over_beta(k, log_beta) + math.log(2)

    def cost(alpha: float, t: float) -> float:
        return math.log1p(alpha * start / (t - alpha)) + _UNBOUNDED_OVERHEAD

    return affords(profile, t, start, k - 1, cost)


@theorem(
    source="Holdfast",
    place="Section 3, Laplace noise",
    statement="With Laplace noise of scale (t - alpha_j)/ln(2k/beta) and shares beta/(2k) for the "
    "sample and for the noise, k adaptive questions are within t with probability 1 - beta.",
    domain="k >= 1, log_beta <= 0; any population for which the profile holds",
    monotone={"k": "up", "log_beta": "down"},
    slack="a factor ln(2k/beta) in the noise against bounded noise",
)
def laplace_half_width(profile: Concentration, k: int, log_beta: float) -> float:
    """The least half-width for k questions with Laplace noise on the leakage account."""
    floor = profile.radius(-log_questions_over_beta(k, log_beta))
    return least_half_width(lambda t: laplace_fits(profile, k, t, log_beta), floor)


def gaussian_leakage_fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
    """Whether k adaptive questions of half-width t can be answered with Gaussian noise."""
    start = log_questions_over_beta(k, log_beta) + math.log(2)
    peak = gaussian_noise_error(1.0, -start) * math.sqrt(2 / math.pi)

    def cost(alpha: float, t: float) -> float:
        return math.log1p(alpha * peak / (t - alpha)) + _UNBOUNDED_OVERHEAD

    return affords(profile, t, start, k - 1, cost)


@theorem(
    source="Holdfast",
    place="Section 3, Gaussian noise",
    statement="With N(0, s_j^2) noise, s_j = (t - alpha_j)/Phi^{-1}(1 - beta/(4k)), and shares "
    "beta/(2k) for the sample and for the noise, k adaptive questions are within t with "
    "probability 1 - beta.",
    domain="k >= 1, log_beta <= 0; any population for which the profile holds",
    monotone={"k": "up", "log_beta": "down"},
    slack="a factor of about sqrt(ln(2k/beta)) in the noise against bounded noise",
)
def gaussian_leakage_half_width(profile: Concentration, k: int, log_beta: float) -> float:
    """The least half-width for k questions with Gaussian noise on the leakage account."""
    floor = profile.radius(-log_questions_over_beta(k, log_beta))
    return least_half_width(lambda t: gaussian_leakage_fits(profile, k, t, log_beta), floor)


def check_fits(
    profile: Concentration, k: int, surprises: int, t: float, log_beta: float, room: float = 0.0
) -> bool:
    """Whether k checks of half-width t can go on through any `surprises` of them being surprises.

    The worst run has all the surprises allowed (as eps <= 1/2 each costs at least as much as a
    confirmation), and the confirmations first (a surprise costs more the more has leaked).
    """
    eps = declared_surprise_prior(surprises, k)
    charged = min(surprises, k - 1)
    start = log_questions_over_beta(k, log_beta) - (k - 1 - charged) * math.log1p(-eps)
    log_eps = math.log(eps)
    return affords(profile, t, start, charged, lambda a, t: uniform_cost(a, t) - log_eps, room)


@theorem(
    source="Holdfast",
    place="Section 4, check",
    statement="k adaptive checks of half-width t, at most `surprises` of which are refuted in any "
    "order, stay within t of the truth with probability 1 - beta; a guess within `room` of the "
    "sample value is confirmed throughout.",
    domain="k >= 1, 0 <= surprises <= k, log_beta <= 0, room >= 0",
    monotone={"surprises": "up", "log_beta": "down", "room": "up"},
    slack="worst order of surprises; Hoeffding-type radius where exact ones are narrower",
)
def check_half_width(
    profile: Concentration, k: int, surprises: int, log_beta: float, room: float = 0.0
) -> float:
    """The least half-width for k checks with at most `surprises` surprises."""
    floor = profile.radius(-log_questions_over_beta(k, log_beta)) + require.non_negative(
        "room", room
    )
    return least_half_width(lambda t: check_fits(profile, k, surprises, t, log_beta, room), floor)


def renyi_fits(profile: Concentration, k: int, t: float, log_beta: float, u: float) -> bool:
    """Whether k questions of half-width t can be answered by Renyi accounting of order u."""
    u = require.between("u", u, 0.0, 1.0, open_low=True)
    k = require.positive_integer("k", k)
    start = math.log(k) - require.log_probability("log_beta", log_beta) / u

    def cost(alpha: float, t: float) -> float:
        whole, part = divmod(alpha / (t - alpha), 1.0)
        moment = (1 - part) * (whole + 1) ** u + part * (whole + 2) ** u
        return math.log(moment) / u

    return affords(profile, t, start, k - 1, cost)


@theorem(
    source="Holdfast",
    place="Section 3, Renyi refinement",
    statement="For any u in (0, 1], with kappa^(u) = E[N^u], N = floor(r) + 1 + Bernoulli(frac r), "
    "r = alpha/D: P[some bad] <= (sum_j (K_j^(u))^{1/u} p_j)^u for uniform noise.",
    domain="k >= 1, log_beta <= 0, 0 < u <= 1; u fixed beforehand",
    monotone={"k": "up", "log_beta": "down"},
    slack="u = 1 is Theorem L; the best u gains 1 % at k = 1,000 and 3.5 % at 10,000",
)
def renyi_half_width(profile: Concentration, k: int, log_beta: float, u: float) -> float:
    """The least half-width for k questions with uniform noise, by Renyi accounting of order u."""
    u = require.between("u", u, 0.0, 1.0, open_low=True)
    floor = profile.radius(-log_questions_over_beta(k, log_beta / u))
    return least_half_width(lambda t: renyi_fits(profile, k, t, log_beta, u), floor)


@theorem(
    source="Holdfast",
    place="Section 3, charges: uniform noise",
    statement="q + uniform noise on [-D, D] is within D of q surely and is charged kappa = 1 + "
    "alpha/D.",
    domain="radius >= 0, half_range > 0",
    monotone={"radius": "up", "half_range": "down"},
    slack="none: attained by a two-point population",
)
def uniform_log_charge(radius: float, half_range: float) -> float:
    """ln(1 + alpha/D)."""
    alpha, D = require.non_negative("radius", radius), require.positive("half_range", half_range)
    return round_up(math.log1p(alpha / D))


@theorem(
    source="Holdfast",
    place="Section 3, charges: discrete uniform noise",
    statement="g (floor(q/g + 1/2) + U{-m..m}) is within (m + 1/2) g of q surely and is charged "
    "kappa = 1 + ceil(2 alpha/g)/(2m + 1).",
    domain="radius >= 0, g > 0, m >= 0",
    monotone={"radius": "up", "m": "down"},
    slack="at most 1/(2m + 1) above the continuous form",
)
def discrete_uniform_log_charge(radius: float, g: float | Fraction, m: int) -> float:
    """ln(1 + ceil(2 alpha/g)/(2m + 1)), the ceiling in exact arithmetic."""
    alpha = Fraction(require.non_negative("radius", radius))
    require.positive("g", g)
    pitch = Fraction(g)
    m = require.integer_at_least("m", m, 0)
    return round_up(math.log1p(math.ceil(2 * alpha / pitch) / (2 * m + 1)))


@theorem(
    source="Holdfast",
    place="Section 3, charges: Laplace noise",
    statement="q + Laplace(b) noise is charged kappa = 1 + alpha/b.",
    domain="radius >= 0, scale > 0",
    monotone={"radius": "up", "scale": "down"},
    slack="none: the integral of the largest Laplace density over the radius",
)
def laplace_log_charge(radius: float, scale: float) -> float:
    """ln(1 + alpha/b)."""
    alpha, b = require.non_negative("radius", radius), require.positive("scale", scale)
    return round_up(math.log1p(alpha / b))


@theorem(
    source="Holdfast",
    place="Section 3, charges: Gaussian noise",
    statement="q + N(0, s^2) noise is charged kappa = 1 + 2 alpha/(s sqrt(2 pi)).",
    domain="radius >= 0, s > 0",
    monotone={"radius": "up", "s": "down"},
    slack="the stopped-oracle theorem is sharper for many answers",
)
def gaussian_log_charge(radius: float, s: float) -> float:
    """ln(1 + 2 alpha/(s sqrt(2 pi)))."""
    alpha, s = require.non_negative("radius", radius), require.positive("s", s)
    return round_up(math.log1p(2 * alpha / (s * math.sqrt(2 * math.pi))))


@theorem(
    source="Holdfast",
    place="Section 3, charges: a typically stable step",
    statement="A pure (eta, 0, nu) typically stable step is charged e^eta, its nu-event being "
    "part of the question's bad event.",
    domain="eta >= 0",
    monotone={"eta": "up"},
    slack="none for the Laplace mechanism's worst pair",
)
def typical_log_charge(eta: float) -> float:
    """eta."""
    return require.non_negative("eta", eta)


@theorem(
    source="Holdfast",
    place="Section 3, charges: a differentially private step",
    statement="An eps-DP (replace-one) step on n rows is charged e^{n eps}: privacy bounds "
    "neighbours only, and randomised response of n bits already leaks (2/(1 + e^{-eps}))^n. For "
    "independent rows use Theorems T, D and P.",
    domain="n >= 1, eps >= 0",
    monotone={"n": "up", "eps": "up"},
    slack="none in general: randomised response over N symbols a row tends to it as N grows",
)
def dp_log_charge(n: int, eps: float) -> float:
    """n eps."""
    return round_up(require.positive_integer("n", n) * require.non_negative("eps", eps))


@theorem(
    source="Holdfast",
    place="Section 3, capacity",
    statement="A sub-Gaussian question of scale sigma can be answered with half-width t while "
    "ln K <= t^2/(2 sigma^2) - ln(2/beta_j); for independent [0, 1] rows 2 n t^2 - ln(2/beta_j).",
    domain="sigma > 0, tolerance > 0, log_share <= 0",
    monotone={"sigma": "down", "tolerance": "up", "log_share": "up"},
    slack="none",
)
def log_capacity(sigma: float, tolerance: float, log_share: float) -> float:
    """How large ln K may grow, rounded down (negative: not even one question)."""
    ratio = require.positive("tolerance", tolerance) / require.positive("sigma", sigma)
    log_share = require.log_probability("log_share", log_share)
    return round_down(0.5 * ratio**2 - math.log(2.0) + log_share)


@theorem(
    source="L4",
    place="Claim 6",
    statement="Laplace(b) noise exceeds b ln(1/beta') with probability exactly beta'.",
    domain="scale > 0, log_beta <= 0",
    monotone={"scale": "up", "log_beta": "down"},
    slack="none",
)
def laplace_noise_error(scale: float, log_beta: float) -> float:
    """b ln(1/beta'), rounded up."""
    b = require.positive("scale", scale)
    return round_up(-b * require.log_probability("log_beta", log_beta))
