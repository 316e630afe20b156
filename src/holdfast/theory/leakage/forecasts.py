"""Theorem F: the weight of a claim may be forecast, from anything that is independent of X.

Theorem F. Forecasters i have public weights omega_i > 0 that sum to 1. Before data are touched each
gives u_i(h) in (0, 1) for the claiming symbol: any function of the public history and of things
independent of X (results on other rows, a stated number, coins). Q_i(h) is the product over past
forecast claims of u_i or 1 - u_i, as told, and u(h) = sum omega_i Q_i u_i/sum omega_i Q_i the
mixture. With the level A(h) u(h) and the charge -ln u (claimed) or -ln(1 - u) (silent) Theorem C
holds, and on every path nats <= nats_i + ln(1/omega_i).

Proof. Given the independent things u is a function of h: Theorem C as it stands. Along h the
mixture's weights telescope to sum omega_i Q_i(h) >= omega_i Q_i(h).

The weights are updated by symbols only: never by p-values, margins or anything else computed on X.
A forecaster without an opinion *sleeps* (None): it is given the mixture of those awake, so that its
weight stays.

What follows the theorem is for power alone, and no promise rests on it: how likely a gate is shown,
from counts on development rows, and how likely a check is confirmed, from training rows. The level
depends on the forecast and the forecast on the level, so a closed rule fixes both (`forecast`).

Symbols: A = (beta - s)/K, p the level; b', c' the development rows where the candidate, or the
incumbent, alone is right, n' rows there and n protected ones; o the optimism taken off, in standard
errors; a true gain is 0 with 1 - r, else N(m, s/(1 - s)) in standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base import special
from holdfast.theory.base.safeside import round_up
from holdfast.theory.base.theorem import theorem

_Array: TypeAlias = npt.NDArray[np.float64]
# What each forecaster says of a claim at a level (ln); None sleeps.
Forecasters: TypeAlias = Callable[[float], Sequence[float | None]]

OPTIMISMS = (0.0, 1.5, 3.0)
# Base, then a stated number where they are allowed, then development rows at each optimism. Base
# has a tenth: no path costs more than ln 10 nats more than with it alone.
GATE_PRIOR = (0.1, 0.5, 0.2, 0.2)
STATED_GATE_PRIOR = (0.1, 0.2, 0.4, 0.15, 0.15)
# The same of checks, with training rows at each trust: base has three tenths, ln(10/3) nats.
CHECK_PRIOR = (0.3, 0.7 / 3, 0.7 / 3, 0.7 / 3)
STATED_CHECK_PRIOR = (0.3, 0.2, 0.5 / 3, 0.5 / 3, 0.5 / 3)
SKIP_BELOW = 0.02  # a candidate forecast below is better not tried; advice
FORECAST_TOLERANCE = 2e-6  # between two computations of one forecast

_ROUNDS = 5
_DECIMALS = 6
_LEAST = 1e-6
_MOST = 0.99
_EAGERNESS = 0.7  # the power of a forecast: a promotion missed is worth more than its nats
_LEAST_OPEN = 0.0005
_LEAST_STATED = 0.001
_WIDENED = 1.1  # of what bets need, beside the sign test
_LN2 = math.log(2.0)


@theorem(
    source="Holdfast",
    place="Theorem F",
    statement="The mixture sum omega_i Q_i u_i/sum omega_i Q_i of forecasts, its weights updated "
    "by symbols alone, is a public weight of the claiming symbol: Theorem C holds with it.",
    domain="prior > 0, sums to 1; for each claim a forecast in (0, 1) or None for each member, "
    "not all None; a symbol (True: claimed) for each claim but the last, or for all",
    slack="that of Theorem C",
)
def forecast_weights(
    prior: Sequence[float],
    forecasts: Sequence[Sequence[float | None]],
    symbols: Sequence[bool],
) -> list[float]:
    """The mixture's weight of each claim, given the symbols before it."""
    mixture, weights = Mixture.opened(prior), []
    for place, members in enumerate(forecasts):
        weights.append(mixture.weight(members))
        if place < len(symbols):
            mixture = mixture.after(members, claimed=symbols[place])
    return weights


@theorem(
    source="Holdfast",
    place="Theorem F, on every path",
    statement="Symbols that were forecast cost -ln sum omega_i Q_i nats in all, so at most "
    "ln(1/omega_i) more than with forecaster i alone.",
    domain="as `forecast_weights`, a symbol for each claim",
    slack="none",
)
def forecast_log_charge(
    prior: Sequence[float],
    forecasts: Sequence[Sequence[float | None]],
    symbols: Sequence[bool],
) -> float:
    """Nats of these symbols (True: claimed), rounded up."""
    total = 0.0
    weights = forecast_weights(prior, forecasts, symbols)
    for weight, symbol in zip(weights, symbols, strict=True):
        total += -math.log(weight) if symbol else -math.log1p(-weight)
    return round_up(total, 8 + 8 * len(weights)) if weights else 0.0


@dataclass(frozen=True, slots=True)
class Mixture:
    """Forecasters' weights after the symbols so far: ln omega_i + ln Q_i, the largest 0."""

    log_weights: tuple[float, ...]

    @classmethod
    def opened(cls, prior: Sequence[float]) -> Mixture:
        """Before the first symbol."""
        weights = [require.between("weight", each, 0.0, 1.0, open_low=True) for each in prior]
        if not weights or abs(math.fsum(weights) - 1.0) > 1e-9:
            raise InvalidArgument(
                f"the weights of the forecasters sum to {math.fsum(weights):g}; they must sum to 1."
            )
        return cls(tuple(map(math.log, weights)))._scaled()

    def weight(self, members: Sequence[float | None]) -> float:
        """The mixture of those awake: the public weight of the claiming symbol."""
        awake = [
            (log_weight, require.probability("forecast", each))
            for log_weight, each in zip(self.log_weights, members, strict=True)
            if each is not None
        ]
        if not awake:
            raise InvalidArgument("every forecaster sleeps; one of them must have an opinion.")
        top = max(log_weight for log_weight, _ in awake)
        scaled = [(math.exp(log_weight - top), each) for log_weight, each in awake]
        total = math.fsum(weight * each for weight, each in scaled)
        return total / math.fsum(weight for weight, _ in scaled)

    def log_share(self, place: int) -> float:
        """ln of the weight of one forecaster, of all."""
        return self.log_weights[place] - math.log(math.fsum(map(math.exp, self.log_weights)))

    def after(self, members: Sequence[float | None], *, claimed: bool) -> Mixture:
        """One symbol later; nothing but the symbol is learnt from."""
        mixed = self.weight(members)
        moved = []
        for log_weight, each in zip(self.log_weights, members, strict=True):
            forecast = mixed if each is None else each
            moved.append(log_weight + (math.log(forecast) if claimed else math.log1p(-forecast)))
        return Mixture(tuple(moved))._scaled()

    def _scaled(self) -> Mixture:
        top = max(self.log_weights)
        return Mixture(tuple(each - top for each in self.log_weights))


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is entered before data are touched: the weight, and what each forecaster said.

    `weight` is rounded; the members, by which the mixture is updated, are not.
    """

    weight: float
    members: tuple[float | None, ...]


def forecast(mixture: Mixture, forecasters: Forecasters, log_left: float) -> Forecast:
    """The closed rule: e_0 = 1, e_{j+1} the mixture at level A e_j, and the weight that at A e_5.

    `log_left` is ln A, A = (beta - s)/K. Forecasts rise with the level, so that e_j falls to the
    largest fixed point.
    """
    log_left = require.log_probability("log_left", log_left)
    e = 1.0
    for _ in range(_ROUNDS):
        e = mixture.weight(forecasters(log_left + math.log(e)))
    members = tuple(forecasters(log_left + math.log(e)))
    rounded = round(mixture.weight(members), _DECIMALS)
    return Forecast(min(max(rounded, _LEAST), 1.0 - _LEAST), members)


# Gates: from counts on development rows, which no protected row, unit or window shares.


@dataclass(frozen=True, slots=True)
class DevResult:
    """Counts of a candidate on other rows: it alone right, the incumbent alone right, all rows."""

    better: int
    worse: int
    rows: int

    def __post_init__(self) -> None:
        require.positive_integer("rows", self.rows)
        require.integer_at_least("better", self.better, 0)
        require.integer_at_least("worse", self.worse, 0)
        require.integer_between("better + worse", self.better + self.worse, 0, self.rows)

    @property
    def differing(self) -> float:
        """The share of rows that differ, drawn a little towards 1/20."""
        return (self.better + self.worse + 1) / (self.rows + 20)

    @property
    def z(self) -> float:
        """The gain in standard errors."""
        return (self.better - self.worse) / math.sqrt(self.rows * self.differing)


# Each row a guess at how true gains are spread: (m, s, r).
_GRID = np.array(
    list(product((-1.0, 0.0, 1.5, 3.0, 4.5), (0.2, 0.5, 0.8, 0.95), (1.0, 0.3, 0.1, 0.03)))
)
_MEAN, _SHRUNK, _GAINING = _GRID.T
with np.errstate(divide="ignore"):
    _LOG_GAINING = np.log(_GAINING) + 0.5 * np.log1p(-_SHRUNK)
    _LOG_NULL = np.log1p(-_GAINING)
_OFF = np.array(OPTIMISMS)[:, None]


def _flat() -> _Array:
    return np.zeros((len(OPTIMISMS), len(_GRID)))


@dataclass(frozen=True, slots=True, eq=False)
class DevPosterior:
    """How likely each guess at the spread of true gains is, by all development results so far.

    One result a candidate: the last that was entered before its gate.
    """

    _log_weights: _Array = field(default_factory=_flat)

    @classmethod
    def of(cls, results: Sequence[DevResult]) -> DevPosterior:
        """After these results, one after another."""
        posterior = cls()
        for result in results:
            posterior = posterior.after(result)
        return posterior

    def after(self, result: DevResult) -> DevPosterior:
        """With one more."""
        gaining, null = _log_parts(result)
        return DevPosterior(self._log_weights + np.logaddexp(gaining, null))

    def show_probability(
        self, result: DevResult, n: int, log_p: float, *, by_bets: bool = False
    ) -> _Array:
        """P[shown on n rows at level p] of the candidate with this result, for each optimism.

        The posterior has its result already.
        """
        n = require.positive_integer("n", n)
        gaining, null = _log_parts(result)
        slab = np.exp(gaining - np.logaddexp(gaining, null))
        ratio, M = n / result.rows, n * result.differing
        reach = needed_margin(M, log_p, by_bets=by_bets) / math.sqrt(M)
        centre = _SHRUNK * (result.z - _OFF) + (1.0 - _SHRUNK) * _MEAN
        z = (centre * math.sqrt(ratio) - reach) / np.sqrt(1.0 + _SHRUNK * ratio)
        probability = slab * np.exp(special.log_ndtr(z))
        probability += (1.0 - slab) * np.exp(special.log_ndtr(-reach))
        weights = np.exp(self._log_weights - self._log_weights.max(axis=1, keepdims=True))
        return np.asarray((weights * probability).sum(axis=1) / weights.sum(axis=1))


def _log_parts(result: DevResult) -> tuple[_Array, _Array]:
    """ln of the result's likelihood, gaining and not, for each optimism and guess."""
    z = result.z - _OFF
    gaining = _LOG_GAINING - 0.5 * (z - _MEAN) ** 2 * (1.0 - _SHRUNK)
    return gaining, _LOG_NULL - 0.5 * z**2


def needed_margin(m: float, log_p: float, *, by_bets: bool = False) -> float:
    """About how many more of m differing rows must be better than worse, at level p.

    m x + 1 with kl((1 + x)/2, 1/2) = z_p^2/(2 m); 2 m + 1, more than there are, if there is none.
    """
    m = require.positive("m", m)
    log_p = require.log_probability("log_p", log_p)
    z = max(0.0, -float(special.ndtri_exp(log_p))) * (_WIDENED if by_bets else 1.0)
    divergence = z * z / (2.0 * m)
    return m * _tilt(divergence) + 1.0 if divergence < _LN2 else 2.0 * m + 1.0


def _tilt(divergence: float) -> float:
    """x with kl((1 + x)/2, 1/2) = divergence: Newton's steps from above, the divergence convex."""
    x = min(math.sqrt(2.0 * divergence), 1.0 - 2.0**-53)
    for _ in range(100):
        if x <= 0.0:
            return 0.0
        value = 0.5 * ((1.0 + x) * math.log1p(x) + (1.0 - x) * math.log1p(-x))
        step = (value - divergence) / math.atanh(x)
        if step <= 1e-15 * x:
            break
        x -= step
    return x


# Stopping early, on development rows: they are public, so that looks, stops and skips cost nothing.
# (Section 13.7: stops on protected rows would be symbols, and are dear.) After these shares of the
# development rows a candidate goes on only from this many standard errors on.
DEV_LOOKS = ((0.25, 0.3), (0.5, 1.0))


def dev_rows_wanted(result: DevResult | None, total: int) -> int:
    """On how many of all development rows a candidate is worth running next.

    As many as it was run on: it is stopped, or through. Its counts are entered either way; if it
    was stopped it is not tried.
    """
    total = require.positive_integer("total", total)
    looks = [(math.ceil(share * total), least) for share, least in DEV_LOOKS]
    if result is None:
        return looks[0][0]
    for place, (rows, least) in enumerate(looks):
        if result.rows <= rows:
            further = looks[place + 1][0] if place + 1 < len(looks) else total
            if result.rows < rows:
                return rows
            return further if result.z >= least else result.rows
    return total


def gate_forecasters(
    base: float,
    n: int,
    posterior: DevPosterior,
    result: DevResult | None,
    *,
    candidates: int | None,
    stated: float | None = None,
    states: bool = False,
    by_bets: bool = False,
) -> Forecasters:
    """Base (section 11.4's prior), a stated number where the gate `states`, and development rows.

    `candidates` is their declared number, if any; a candidate without a result, or a number, is
    forecast by the others.
    """
    base = require.probability("base", base)
    least = _LEAST_OPEN if candidates is None else max(_LEAST, 0.05 / (candidates + 1))
    first = _first(base, stated, states=states)

    def members(log_p: float) -> Sequence[float | None]:
        if result is None:
            return (*first, *(None for _ in OPTIMISMS))
        probability = posterior.show_probability(result, n, log_p, by_bets=by_bets) ** _EAGERNESS
        return (*first, *(float(each) for each in np.clip(probability, least, _MOST)))

    return members


def _first(base: float, stated: float | None, *, states: bool) -> tuple[float | None, ...]:
    """Base, and a stated number where the claims `state` some; None where this one has none."""
    if not states and stated is not None:
        raise InvalidArgument(
            f"{stated} is stated and the claims were opened without stated numbers; "
            "open them with such numbers, or leave it out."
        )
    if not states or stated is None:
        return (base, None) if states else (base,)
    return base, min(max(require.between("stated", stated, 0.0, 1.0), _LEAST_STATED), _MOST)


# Checks: from training rows, trusted not at all, by half or wholly.


_TRUST = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class TrainedGuess:
    """A guess to within a tolerance, and what training rows say: mean, variance, how many."""

    guess: float
    tolerance: float
    mean: float
    variance: float
    rows: int

    def confirm_probability(self, n: int, log_p: float, trust: float) -> float:
        """About P[confirmed on n rows at level p], with the training rows trusted so far."""
        z = max(0.0, -float(special.ndtri_exp(log_p)))
        room = self.tolerance - z * math.sqrt(self.variance / n)
        if room <= 0.0:
            return 0.0
        gap = trust * (self.mean - self.guess)
        sd = math.sqrt(self.variance * (1.0 / n + trust**2 / self.rows))
        if sd == 0.0:
            return float(abs(gap) <= room)
        return _normal_cdf((room - gap) / sd) - _normal_cdf((-room - gap) / sd)


def check_forecasters(
    base: float,
    n: int,
    trained: TrainedGuess | None,
    *,
    stated: float | None = None,
    states: bool = False,
) -> Forecasters:
    """Base (section 11.2's prior of *confirmed*), a stated number where the checks `state` some,
    and training rows, trusted in three ways."""
    base = require.probability("base", base)
    n = require.positive_integer("n", n)
    first = _first(base, stated, states=states)

    def members(log_p: float) -> Sequence[float | None]:
        if trained is None:
            return (*first, *(None for _ in _TRUST))
        probabilities = (trained.confirm_probability(n, log_p, trust) for trust in _TRUST)
        return (*first, *(min(max(each, _LEAST_STATED), _MOST) for each in probabilities))

    return members


def _normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
