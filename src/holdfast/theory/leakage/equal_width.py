"""The half-width of k questions, and how many of one half-width: the recurrence, solved.

Each of k questions gets beta/k and is answered with half-width t. With L_j = ln K_j + ln(k/beta)
its radius is alpha_j = radius(-L_j), and its answer costs c(alpha_j) nats, so L_{j+1} = L_j + c;
the plan works while alpha_j < t. The cost never falls as L grows.

Up to `MOST_EXACT` questions the recurrence itself is run. Beyond, an integral takes its place, on
the safe side: as c is non-decreasing, the integral of dL/c over one step is at most 1, so at least
int dL/c (up to the L with alpha = t) questions are answered; a lower Riemann sum over a fixed
number of panels bounds that from below. The work does not grow with k, and the half-width is less
than 0.1 % above that of the recurrence.

Symbols: k questions, t the half-width, alpha the radius, D = t - alpha the noise, u Renyi's order,
f surprises, eps the public prior of a surprise. Half-widths are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast import require
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import smallest_true
from holdfast.theory.base.theorem import theorem
from holdfast.theory.leakage.claim_levels import declared_surprise_prior
from holdfast.theory.leakage.release import discrete_uniform_overhead

# A cost takes (alpha, t) and never falls with alpha.
_Cost = Callable[[float, float], float]
# A question takes (t) and says whether the plan works at that half-width.
_Fits = Callable[[float], bool]

MOST_EXACT = 2_000
_PANELS, _FEW_PANELS = 2_000, 20
_PRECISION = 1e-7


def affords(
    profile: Concentration, t: float, start: float, steps: int, cost: _Cost, room: float = 0.0
) -> bool:
    """Whether `steps` answers can be charged from L = start, the radius staying below t - room."""
    ceiling = t - room
    alpha = profile.radius(-start)
    if alpha >= ceiling or steps == 0:
        return alpha < ceiling
    if steps <= MOST_EXACT:
        L = start
        for _ in range(int(steps)):
            L += cost(alpha, t)
            alpha = profile.radius(-L)
            if alpha >= ceiling:
                return False
        return True
    return steps_at_least(profile, t, alpha, ceiling, cost) > steps


def steps_at_least(
    profile: Concentration,
    t: float,
    first: float,
    ceiling: float,
    cost: _Cost,
    panels: int = _PANELS,
) -> float:
    """A lower Riemann sum of int dL/c from the radius `first` to the radius `ceiling`."""
    total, last = 0.0, -profile.log_tail(first)
    for panel in range(1, panels):
        alpha = first + (ceiling - first) * panel / panels
        L = -profile.log_tail(alpha)
        if math.isinf(L):  # a deviation that never happens: no number of answers leads there
            return math.inf
        total += (L - last) / cost(alpha, t)
        last = L
    return total


def least_half_width(fits: _Fits, floor: float) -> float:
    """The least half-width that fits, from above; `floor` is the radius of the first question."""
    high = 2.0 * floor
    while not fits(high):
        high *= 2.0
    return smallest_true(fits, high / 2.0, high, relative=_PRECISION)


def uniform_cost(alpha: float, t: float) -> float:
    """Nats of an answer of half-width t, alpha of it the radius, with discrete uniform noise."""
    return -math.log1p(-alpha / t) + _OVERHEAD


_OVERHEAD = discrete_uniform_overhead()


def log_questions_over_beta(k: int, log_beta: float) -> float:
    """ln(k/beta)."""
    k = require.positive_integer("k", k)
    return math.log(k) - require.log_probability("log_beta", log_beta)


def bounded_noise_fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
    """Whether k adaptive questions of half-width t can be answered with bounded noise."""
    return affords(profile, t, log_questions_over_beta(k, log_beta), k - 1, uniform_cost)


@theorem(
    source="Holdfast",
    place="Section 3, ask at tolerance t",
    statement="With discrete uniform noise D_j = t - alpha_j, k adaptive questions with a common "
    "concentration profile are all within t of the truth with probability 1 - beta if alpha_j < t "
    "along ln K_{j+1} = ln K_j - ln(1 - alpha_j/t).",
    domain="k >= 1, log_beta <= 0; any population for which the profile holds",
    monotone={"k": "up", "log_beta": "down"},
    slack="equal shares of beta cost up to 2 %; above MOST_EXACT questions 0.1 % more",
)
def bounded_noise_half_width(profile: Concentration, k: int, log_beta: float) -> float:
    """The least half-width for k questions with bounded (discrete uniform) noise."""
    floor = profile.radius(-log_questions_over_beta(k, log_beta))
    return least_half_width(lambda t: bounded_noise_fits(profile, k, t, log_beta), floor)


def rounding_fits(profile: Concentration, k: int, t: float, log_beta: float) -> bool:
    """Whether k adaptive questions of half-width t can be answered by rounding."""
    return affords(profile, t, log_questions_over_beta(k, log_beta), k - 1, rounding_cost)


def rounding_cost(alpha: float, t: float) -> float:
    """Nats of an answer of half-width t, alpha of it the radius, by rounding."""
    return math.log(math.ceil(alpha / (t - alpha) * (1 + 1e-12)) + 1)


@theorem(
    source="Holdfast",
    place="Section 3, deterministic rounding",
    statement="Answering by rounding to a grid of pitch 2(t - alpha_j), charged ceil(alpha_j/(t - "
    "alpha_j)) + 1, keeps k adaptive questions within t with probability 1 - beta.",
    domain="k >= 1, log_beta <= 0; any population for which the profile holds",
    monotone={"k": "up", "log_beta": "down"},
    slack="about twice the half-width of bounded noise",
)
def rounding_half_width(profile: Concentration, k: int, log_beta: float) -> float:
    """The least half-width for k questions with rounding alone."""
    floor = profile.radius(-log_questions_over_beta(k, log_beta))
    return least_half_width(lambda t: rounding_fits(profile, k, t, log_beta), floor)


def claims_fit(
    profile: Concentration, k: int, surprises: int, t: float, log_beta: float, room: float = 0.0
) -> bool:
    """Whether k claims g -+ t can be tested, and those that are refuted asked, to the end.

    The worst run has all the surprises allowed, and the confirmations first. Each refuted claim is
    charged -ln eps and then asked with a share beta/k; the claims themselves take none, and are
    tested at what the asks leave.
    """
    first, room = log_questions_over_beta(k, log_beta), require.non_negative("room", room)
    eps = declared_surprise_prior(surprises, k)
    refuted, nats = -math.log(eps), (surprises - k) * math.log1p(-eps)
    if surprises > MOST_EXACT:
        start = first + nats + refuted
        return affords(
            profile, t, start, surprises, lambda a, t: uniform_cost(a, t) + refuted, room
        )
    for number in range(1, surprises + 1):
        nats += refuted
        alpha = profile.radius(-first - nats)
        # If all may be refuted, the last may still be confirmed instead: at the same level.
        if alpha + (room if number == k else 0.0) >= t:
            return False
        nats += uniform_cost(alpha, t)
    if surprises == k:
        return True
    log_remaining = log_beta + math.log1p(-surprises / k)
    return profile.radius(min(0.0, log_remaining) - nats) + room < t


@theorem(
    source="Holdfast",
    place="Section 11.2, checks of which some are refuted and asked",
    statement="Of k adaptive claims g -+ t, at most `surprises` of them refuted in any order and "
    "then asked with half-width t, all that is claimed and answered is true together with "
    "probability 1 - beta; a guess within `room` of the sample value is confirmed throughout.",
    domain="k >= 1, 0 <= surprises <= k, log_beta <= 0, room >= 0",
    monotone={"log_beta": "down", "room": "up"},
    slack="worst order of surprises; Hoeffding-type radius where exact tests are narrower",
)
def claims_half_width(
    profile: Concentration, k: int, surprises: int, log_beta: float, room: float = 0.0
) -> float:
    """The least half-width for k claims with at most `surprises` refuted."""
    floor = profile.radius(require.log_probability("log_beta", log_beta)) + room
    return least_half_width(lambda t: claims_fit(profile, k, surprises, t, log_beta, room), floor)


# How many questions of one half-width: the leakage recurrence (`equal_width`), solved for k.
#
# A question may have several parts, in stages: those of a stage are asked together, on one
# account, and charged together after it. It is answered if all of them are.


# A cost takes (alpha, t) and never falls with alpha.
_QuestionCost = Callable[[float, float], float]
# ln of the share of the last part of the k-th of the questions to come; it never rises with k.
_Shares = Callable[[int], float]
# The concentrations of a question's parts, stage by stage.
_Stages = Sequence[Sequence[Concentration]]


def most_asks(stages: _Stages, t: float, log_share: _Shares, nats: float, most: int) -> int:
    """How many more questions of half-width t fit after `nats` of leakage, up to `most`.

    Each part has the share of the last of them.
    """
    return _most(stages, t, log_share, nats, most, uniform_cost)


def most_roundings(stages: _Stages, t: float, log_share: _Shares, nats: float, most: int) -> int:
    """How many more questions of half-width t fit, rounded, after `nats` of leakage."""
    return _most(stages, t, log_share, nats, most, rounding_cost)


def _most(
    stages: _Stages, t: float, log_share: _Shares, nats: float, most: int, cost: _QuestionCost
) -> int:
    """The largest k up to `most` that the share of the k-th affords.

    With the share of a later one fewer fit: what a share affords is a bound for all on its one
    side, and the two bounds meet after a few counts.
    """
    leaked = require.non_negative("nats", nats)
    parts = tuple(map(tuple, stages))

    def afforded(k: int) -> int:
        log_p = require.log_probability("log_share", log_share(k))
        return _number_afforded(parts, t, leaked - log_p, most, cost)

    low, high = 0, afforded(1)
    while low < high:
        fits = afforded(high)
        if fits >= high:
            return high
        low = max(low, fits)  # the share of an earlier one affords no less
        high = min(high - 1, afforded(low + 1))
    return low


@lru_cache(maxsize=64)  # a price says what is left before a question and after it, often the same
def _number_afforded(
    stages: tuple[tuple[Concentration, ...], ...],
    t: float,
    start: float,
    most: int,
    cost: _QuestionCost,
) -> int:
    """The largest k up to `most` that affords all charges before its last part, counted once.

    Few are counted one by one; a sum from below says of how many that would take too long.
    """
    parts = sum(map(len, stages))
    candidates = min(most, MOST_EXACT // parts + 1)
    widest = stages[0][0] if parts == 1 else _Widest([each for stage in stages for each in stage])
    alpha = widest.radius(-start)

    def surely(panels: int) -> int:
        steps = steps_at_least(widest, t, alpha, t, cost, panels) / parts
        return most if math.isinf(steps) else math.ceil(steps) - (parts > 1)

    is_summed = most > candidates and alpha < t
    if not is_summed or surely(_FEW_PANELS) < 2 * candidates:
        afforded = _counted(stages, t, start, candidates, cost)
        if afforded < candidates or not is_summed:
            return afforded
    return min(most, max(candidates, surely(_PANELS)))


def _counted(
    stages: tuple[tuple[Concentration, ...], ...],
    t: float,
    start: float,
    most: int,
    cost: _QuestionCost,
) -> int:
    """The same, charge by charge."""
    L, ((first, *others), *later) = start, stages
    if not others and not later:
        for k in range(most):
            alpha = first.radius(-L)
            if alpha >= t:
                return k
            L += cost(alpha, t)
        return most
    for k in range(most):
        for stage in stages:
            radii = [profile.radius(-L) for profile in stage]
            if max(radii) >= t:
                return k
            L += sum(cost(alpha, t) for alpha in radii)
    return most


@dataclass(frozen=True, slots=True)
class _Widest:
    """At every level the widest of several concentrations."""

    profiles: Sequence[Concentration]

    def log_tail(self, radius: float) -> float:
        return max(profile.log_tail(radius) for profile in self.profiles)

    def radius(self, log_p: float) -> float:
        return max(profile.radius(log_p) for profile in self.profiles)


# Rounds of questions chosen together, and a last look without noise.
#
# Questions of a batch share one leakage: each has its own share, and all are charged afterwards.
# So k questions in d rounds are charged d - 1 times, at the radius that a round starts with; and
# the last round, which nothing comes after, needs no noise: it shows exact values
# (`post_selected_radius`: m questions of a last look are m candidates) and closes the ledger for
# all that is not described.
#
# Symbols: k questions, d rounds, t the half-width, alpha the radius, L = ln K + ln(k/beta).


def rounds_fit(
    profile: Concentration,
    k: int,
    rounds: int,
    t: float,
    log_beta: float,
    last: Concentration | None = None,
) -> bool:
    """Whether k questions of half-width t fit into so many rounds, the last without noise.

    All rounds but the last have ceil(k/d) questions, or none once all are asked. Answers of the
    last have the same profile, or one of their own.
    """
    k = require.positive_integer("k", k)
    rounds = require.integer_between("rounds", rounds, 1, k)
    L = math.log(k) - require.log_probability("log_beta", log_beta)
    each = math.ceil(k / rounds)
    for _ in range(math.ceil(k / each) - 1):
        alpha = profile.radius(-L)
        if alpha >= t:
            return False
        L += each * uniform_cost(alpha, t)
    return (last or profile).radius(-L) <= t


@theorem(
    source="Holdfast",
    place="Section 11.5, rounds",
    statement="k questions in d rounds of ceil(k/d), each round chosen together from the answers "
    "before it, the last shown exactly, are all within t of the truth with probability 1 - beta if "
    "alpha < t along ln K <- ln K - ceil(k/d) ln(1 - alpha/t) from round to round.",
    domain="1 <= rounds <= k, log_beta <= 0; any population for which the profile holds",
    monotone={"log_beta": "down"},
    slack="equal rounds: larger ones at the end, which cost less, are narrower",
)
def rounds_half_width(
    profile: Concentration,
    k: int,
    rounds: int,
    log_beta: float,
    last: Concentration | None = None,
) -> float:
    """The least half-width for k questions in so many rounds, the last without noise.

    Answers of the last round have the same profile, or one of their own (`last`).
    """
    k = require.positive_integer("k", k)
    log_share = require.log_probability("log_beta", log_beta) - math.log(k)
    floor = (last or profile).radius(log_share)
    if rounds_fit(profile, k, rounds, floor, log_beta, last):
        return floor
    return least_half_width(lambda t: rounds_fit(profile, k, rounds, t, log_beta, last), floor)
