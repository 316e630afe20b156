"""Connect the dots: lattice laws that cover shifted median noise, k-fold.

Legend
------
a           the noise is the median of 2a + 1 uniforms on [-1, 1]: density f_a ~ (1 - x^2)^a
t           how far one row can shift the noise of one answer, in units of its bound
p, r        the densities f_a(. - t) and f_a; L = p/r increases in x, from 0 to infinity
h           the step of the lattice: log-ratios h i for integers i, besides ratios 0 and infinity
S           the sum of k independent log-ratios of the cover under r
F(b)        E_r((e^S - 1)^2 - b)_+, ratio 0 included;  b = rho^2

A *cover* is a pair that dominates (p, r) in every hockey stick E_r(L - c)_+ + p{L = infinity}.
Moving the mass of a cell to the two ratios at its ends, keeping its r-mass and its p-mass, only
spreads L: it raises every hockey stick. So does sending r-mass to ratio 0 and the p-mass that goes
with it to infinity. The ends of the cells may be *any* lattice points, so in the tails they grow
geometrically. Domination composes, also adaptively (condition on the history, exchange, induct).

Everything here is an upper bound on non-negative measures: rounding errors are added as mass, mass
outside a window is bounded by Chernoff and counted as lost to ratio 0 and infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdfast import require
from holdfast.theory.base import special
from holdfast.theory.base.safeside import golden_minimum
from holdfast.theory.base.theorem import theorem

_Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MASS_ROUNDING = 1e-13  # masses are inflated by this: covers the rounding of a cell and of a split
_CHERNOFF_ROUNDING = 1.01  # covers the rounding of k ln M for k up to 10^12
_SUM_ROUNDING = 1e-9  # covers the rounding of a sum over at most 2^23 lattice points
_UNIT = 2.0**-53
_MOST_POINTS = 2**19  # to each side of a window
_NODES, _WEIGHTS = (part / 2.0 for part in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5
_MOST_ORDER = 7  # 8 Gauss-Legendre nodes integrate (1 - x^2)^a exactly up to here
_GROWTH = 0.02  # cells in the tails are this fraction of the log-ratio wide


def _total(values: _Array, mass: _Array) -> float:
    """Pairwise summation: more accurate than a dot product, and no threads wait for each other."""
    return float((values * mass).sum())


@dataclass(frozen=True, slots=True, eq=False)
class LatticePair:
    """A pair (p, r) whose ratio takes the values 0, e^{step * index}, infinity; index increases."""

    step: float
    index: Indices
    mass: _Array  # r-mass at each index
    at_zero: float  # r-mass at ratio 0
    at_infinity: float  # p-mass at ratio infinity

    @property
    def log_ratios(self) -> _Array:
        """The finite log-ratios, increasing."""
        return np.asarray(self.step * self.index, dtype=np.float64)

    def hockey_stick(self, threshold: float) -> float:
        """sup over events of p - threshold * r."""
        above = np.maximum(np.exp(self.log_ratios) - threshold, 0.0)
        return _total(above, self.mass) + self.at_infinity

    def excess(self) -> Callable[[float], float]:
        """ln F(rho^2) as a function of rho in [0, 1), rounded up."""
        past_one = np.expm1(self.log_ratios)

        def log_excess(rho: float) -> float:
            below, above = np.searchsorted(past_one, (-rho, rho))
            low, high = past_one[:below], past_one[above:]
            total = _total((low - rho) * (low + rho), self.mass[:below])
            total += _total((high - rho) * (high + rho), self.mass[above:])
            total += (1.0 - rho) * (1.0 + rho) * self.at_zero
            return math.log(max(total, 1e-300)) + _SUM_ROUNDING

        return log_excess


# --------------------------------------------------------------------------------------------
# One step


def order(a: int) -> int:
    """`a`, checked: the median of 2a + 1 uniforms with finite Fisher information, exact here."""
    a = require.integer_at_least("a", a, 2)
    require.between("a", a, 2, _MOST_ORDER)
    return a


def peak_density(a: int) -> float:
    """f_a(0): 15/16 for a = 2, 35/32 for a = 3."""
    return 1.0 / float(special.beta(0.5, a + 1.0))


def fisher_information(a: int) -> float:
    """Fisher information of the location of f_a: 10 for a = 2, 10.5 for a = 3."""
    return 4.0 * a * a * float(special.beta(1.5, a - 1.0) / special.beta(0.5, a + 1.0))


def _end_distance(log_ratio: _Array, a: int, t: float, side: int) -> _Array:
    """Where L = e^{log_ratio}: 1 - x for side = 1 (ratio >= 1), 1 + x for side = -1.

    With e = expm1(log_ratio/a), x solves e x^2 + 2 t x = e + t^2; written so that nothing cancels.
    """
    e = np.expm1(log_ratio / a)
    root = np.sqrt(t * t + e * (e + t * t))
    return np.asarray((t - side * t * t + t * t * (1.0 + e) / (root + np.abs(e))) / (t + root))


def shift_cells(a: int, t: float, step: float, knots: Indices) -> tuple[_Array, _Array]:
    """The r-mass of each cell between knots: what goes to its lower end, what to its upper end.

    f expm1(l - h i) is a polynomial of degree 2a in x, so the quadrature is exact. The knots
    increase and contain 0, so that each cell is on one side and measured from its own end of f.
    """
    lower, upper = np.empty(knots.size - 1), np.empty(knots.size - 1)
    for side in (1, -1):
        cell = np.flatnonzero(knots[:-1] >= 0 if side == 1 else knots[1:] <= 0)
        points = np.asarray(step * knots, dtype=np.float64)
        low, high = points[cell], points[cell + 1]
        ends = _end_distance(low, a, t, side), _end_distance(high, a, t, side)
        near, far = ends[::-1] if side == 1 else ends
        width = (far - near)[:, None]
        y = near[:, None] + width * _NODES
        density = y * (2.0 - y)
        log_ratio = a * np.log1p(side * t * (2.0 * (1.0 - y) - side * t) / density)
        rise = np.maximum(np.expm1(log_ratio - low[:, None]), 0.0)
        whole = np.expm1(high - low)[:, None]
        weight = peak_density(a) * density**a * width * _WEIGHTS / whole
        upper[cell] = (weight * rise).sum(axis=1)
        lower[cell] = (weight * np.maximum(whole - rise, 0.0)).sum(axis=1)
    return lower, upper


def shift_outside(a: int, t: float, low: float, high: float) -> tuple[float, float, float, float]:
    """Beyond the log-ratios low < 0 < high: r-mass at low, at high, at ratio 0; p-mass at infinity.

    Below, the mass is split between ratio 0 and e^low; above, between e^high and infinity.
    """

    def end_mass(distance: float) -> float:
        return float(special.betainc(a + 1.0, a + 1.0, min(max(distance, 0.0) / 2.0, 1.0)))

    bottom = float(_end_distance(np.asarray(low), a, t, -1))
    top = float(_end_distance(np.asarray(high), a, t, 1))
    r_bottom, p_bottom = end_mass(bottom), end_mass(bottom - t)
    r_top, p_top = end_mass(top), end_mass(top + t)
    at_low = min(p_bottom * math.exp(-low), r_bottom)
    at_zero = r_bottom - at_low + MASS_ROUNDING * r_bottom
    at_infinity = max(p_top - r_top * math.exp(high), 0.0) + MASS_ROUNDING * p_top
    return at_low, r_top, at_zero, at_infinity


def growing(start: int, stop: int) -> list[int]:
    """Lattice points from start >= 0 to stop, one apart and then geometrically."""
    knots = [start]
    while knots[-1] < stop:
        knots.append(min(stop, max(knots[-1] + 1, int(knots[-1] * (1.0 + _GROWTH)))))
    return knots


def mirrored(low: list[int], high: list[int]) -> Indices:
    """-low reversed, then high."""
    return np.array([-i for i in reversed(low)] + high, dtype=np.int64)


@theorem(
    source="Holdfast",
    place="section 5b, Cover",
    statement=(
        "The lattice pair dominates (f_a(. - t), f_a) in every hockey stick: the r-mass of each "
        "cell is split between the ratios at its ends so that its p-mass is kept."
    ),
    domain="2 <= a <= 7, 0 < t < 1/2, step, low, high > 0; the lattice covers [-low, high]",
    slack="second order in the step",
)
def shift_cover(a: int, t: float, step: float, low: float, high: float) -> LatticePair:
    """The cover of one step, on lattice points that grow geometrically away from ratio 1."""
    a = order(a)
    t = require.between("t", t, 0.0, 0.5, open_low=True, open_high=True)
    step = require.positive("step", step)
    low, high = require.positive("low", low), require.positive("high", high)
    first, last = math.ceil(low / step), math.ceil(high / step)
    knots = mirrored(growing(0, first)[1:], growing(0, last))
    lower, upper = shift_cells(a, t, step, knots)
    at_low, at_high, at_zero, at_infinity = shift_outside(a, t, -step * first, step * last)
    mass = np.append(lower, at_high) + np.append(at_low, upper)
    return LatticePair(step, knots, mass * (1.0 + MASS_ROUNDING), at_zero, at_infinity)


# --------------------------------------------------------------------------------------------
# Many steps


def _log_moment(pair: LatticePair, power: float) -> float:
    """ln E_r e^{power * log-ratio}, over the finite ratios."""
    exponent = power * pair.log_ratios
    top = float(exponent.max())
    return top + math.log(_total(np.exp(exponent - top), pair.mass))


@dataclass(frozen=True, slots=True)
class Window:
    """Lattice points first..last, and a bound on the r-mass and on the p-mass outside them."""

    first: int
    last: int
    lost: float


def window(
    pair: LatticePair, k: int, scale: float, log_loss_low: float, log_loss_high: float
) -> Window:
    """Lattice points outside which little of the k-fold law lies, by Chernoff; any power is valid.

    Outside are at most r-mass e^{log_loss_low} below and p-mass e^{log_loss_high} above, more where
    that would take too many points; the p-mass below (ratio < 1) and the r-mass above (ratio > 1)
    are smaller still. `scale` is about the standard deviation of the sum.
    """
    span = math.log(0.03 / scale), math.log(60.0 / scale)

    def end(log_moment: Callable[[float], float], log_loss: float) -> tuple[int, float]:
        _, reach = golden_minimum(
            lambda x: (k * log_moment(math.exp(x)) - log_loss) / math.exp(x), *span, steps=16
        )
        points = math.ceil(max(reach, scale) / pair.step)
        if points <= _MOST_POINTS:
            return points, log_loss
        far = _MOST_POINTS * pair.step
        _, log_loss = golden_minimum(
            lambda x: k * log_moment(math.exp(x)) - math.exp(x) * far, *span, steps=16
        )
        return _MOST_POINTS, min(log_loss, 0.0)

    low, log_low = end(lambda power: _log_moment(pair, -power), log_loss_low)
    high, log_high = end(lambda power: _log_moment(pair, 1.0 + power), log_loss_high)
    return Window(-low, high, _CHERNOFF_ROUNDING * (math.exp(log_low) + math.exp(log_high)))


def convolution_powers(
    index: Indices, mass: _Array, exponents: tuple[int, ...], first: int, last: int
) -> list[_Array]:
    """Upper bounds on the convolution powers of a lattice measure of mass <= 1, on first..last.

    By FFT; mass that wraps around only adds. Rounding, in units of 2^-53: a Fourier coefficient is
    off by at most 8 per level of the transform, its k-th power by k times (that and 32 for the
    logarithm), relative to the (k-1)-th power of its modulus; the inverse transform by 8 per level
    of the mean modulus. The sum of all this is added to every point.
    """
    length = 1 << max(4, (last - first).bit_length())
    spectrum = np.fft.rfft(np.bincount(index % length, weights=mass, minlength=length))
    log_modulus = np.log(np.maximum(np.abs(spectrum), 1e-300))
    places = np.arange(first, last + 1) % length
    laws = []
    for k in exponents:
        large = k * log_modulus > -100.0
        power = np.zeros_like(spectrum)
        power[large] = np.exp(k * np.log(spectrum[large]))
        mean_modulus = float(np.exp(np.maximum((k - 1) * log_modulus, -100.0)).sum()) * 2.0 / length
        error = 1.01 * (k + 1) * _UNIT * (8 * length.bit_length() + 32)
        law = np.maximum(np.fft.irfft(power, length)[places], 0.0)
        laws.append(law + (error * mean_modulus + math.exp(-99.0)))
    return laws


def fold(
    pair: LatticePair, k: int, scale: float, log_loss_low: float, log_loss_high: float
) -> LatticePair:
    """A cover of k independent copies of `pair`; the last three arguments are those of `window`."""
    view = window(pair, k, scale, log_loss_low, log_loss_high)
    (mass,) = convolution_powers(pair.index, pair.mass, (k,), view.first, view.last)
    return LatticePair(
        step=pair.step,
        index=np.arange(view.first, view.last + 1),
        mass=mass,
        at_zero=k * pair.at_zero + view.lost,
        at_infinity=k * pair.at_infinity + view.lost,
    )


def coarser(first: int, mass: _Array, step: float, factor: int) -> tuple[int, _Array]:
    """Cover a lattice measure by one on every `factor`-th point: first coarse index, masses."""
    index = np.arange(first, first + mass.size)
    cell = index // factor
    share = np.expm1(step * (index - cell * factor)) / math.expm1(step * factor)
    place, size = cell - cell[0], int(cell[-1] - cell[0]) + 2
    covered = np.bincount(place, weights=mass * (1.0 - share), minlength=size)
    covered += np.bincount(place + 1, weights=mass * share, minlength=size)
    return int(cell[0]), np.asarray(covered * (1.0 + MASS_ROUNDING), dtype=np.float64)


# The k-fold cover: how the shift that one row can cause adds up over k median-noise answers.
#
# Legend
# ------
# a, t, S     as in `likelihood_cover`;  k: answers
# sigma       t sqrt(I_a), the size of one log-ratio under r (I_a: Fisher information)
# m           sigma sqrt(k), the size of S
# beta        the probability at which the result will be used: it says which tails matter
# body        the log-ratios of one step up to a reach;  jump: a log-ratio beyond it
#
# One piece: the one-step cover, composed k times by FFT. Blocks: that FFT would be as long as the
# far tails are wide in units of one small step, so k1 steps are composed first, covered by a
# lattice about sqrt(k1) times coarser, and composed again. In a block, no jump and one jump are
# kept exactly; the mass of two jumps or more goes to ratios 0 and infinity. Any choice of
# lattice, reach and block is valid; the ones made here lose about 1e-4 of the shift.


MOST_ANSWERS = 10**12
LEAST_LOG_BETA = -25.0  # below it rounding and the noise's tails leave nothing to say
_STEP = 0.03  # lattice step in units of sigma
_BODY = 12.0  # least reach of a block's body, in standard deviations of the block
_MOST_CELLS = 2**18  # to each side of a lattice that is composed; beyond it mass counts as lost
_COARSE_CELLS = 2**14  # a block is as long as it takes for the coarse lattice to be this small
_LEAST_BLOCK = 16


@dataclass(frozen=True, slots=True)
class _Plan:
    """The masses that may be lost (natural logarithms), the reach of the lattice, the blocks."""

    a: int
    t: float
    sigma: float
    m: float
    log_loss_low: float
    log_loss_high: float
    low: float
    high: float
    block: int
    copies: int


def _tail_reach(a: int, t: float, log_mass: float) -> float:
    """The log-ratio beyond which one end of f_a has about this mass: it is near a t/(1 - x)."""
    end = math.log(peak_density(a) * 2.0**a / (a + 1.0))
    return a * t * math.exp(min((end - log_mass) / (a + 1.0), 700.0))


def _blocks(k: int, wanted: int) -> tuple[int, int]:
    """Length and number of blocks, their product k or just above (more steps dominate)."""
    block = min(wanted, k, max(4 * _LEAST_BLOCK, 4 * math.isqrt(k)))
    if block < min(_LEAST_BLOCK, k):
        return 1, k
    lengths = np.arange(block, 2 * block)
    length = int(lengths[np.argmin(-(-k // lengths) * lengths)])
    return length, -(-k // length)


def _plan(a: int, t: float, k: int, log_beta: float) -> _Plan:
    sigma = t * math.sqrt(fisher_information(a))
    m = sigma * math.sqrt(k)
    log_loss_low = math.log(2e-4) + 2.0 * math.log(m) + log_beta
    log_loss_high = math.log(1e-4) + math.log(m) + log_beta
    # Beyond this ratio a p-mass costs less at infinity than its (e^S - 1)^2 costs in F.
    shift = 0.5 * m * math.sqrt(1.0 - 2.0 * log_beta)
    dear = math.log1p(4.0 * shift + 4.0 * math.sqrt(shift * (shift + 0.5)))
    low = min(2.0, _tail_reach(a, t, log_loss_low - math.log(k)))
    high = min(dear, _tail_reach(a, t, log_loss_high - math.log(k)))
    low, high = max(8.0 * sigma, low), max(8.0 * sigma, high)
    cell = _STEP * sigma
    extent = max(low + high, 20.0 * m)
    block, copies = _blocks(k, int((extent / (cell * _COARSE_CELLS)) ** 2))
    if copies > 1 or block > 1:  # one step alone lives on few, growing cells
        limit = _MOST_CELLS * cell * math.isqrt(block)
        low, high = min(low, limit), min(high, limit)
    return _Plan(a, t, sigma, m, log_loss_low, log_loss_high, low, high, block, copies)


def _block_pair(plan: _Plan) -> LatticePair:
    """A cover of `plan.block` steps on the coarser lattice."""
    a, t, block = plan.a, plan.t, plan.block
    step, factor = _STEP * plan.sigma, math.isqrt(block)
    coarse, scale = step * factor, plan.sigma * math.sqrt(block)
    # Two jumps in one block shall cost no more than a fraction of the r-mass that may be lost.
    log_jump = 0.5 * (plan.log_loss_low - math.log(16.0 * plan.copies)) - math.log(block)
    reach = max(_BODY * scale, min(_tail_reach(a, t, log_jump), _MOST_CELLS * step))
    body = math.ceil(reach / coarse)
    ends = [max(body + 1, math.ceil(end / coarse)) for end in (plan.low, plan.high)]
    fine = growing(0, body * factor)
    tails = [[factor * i for i in growing(body, end)[1:]] for end in ends]
    knots = mirrored(fine[1:] + tails[0], fine + tails[1])
    lower, upper = shift_cells(a, t, step, knots)
    at_low, at_high, zero, infinity = shift_outside(a, t, -coarse * ends[0], coarse * ends[1])
    inside = np.abs(knots[:-1] + knots[1:]) < 2 * body * factor
    calm = np.append(lower * inside, 0.0) + np.append(0.0, upper * inside)
    wild = np.append(lower * ~inside, at_high) + np.append(at_low, upper * ~inside)
    within, jump = np.flatnonzero(calm), np.flatnonzero(wild)
    calm, wild = calm[within] * (1.0 + MASS_ROUNDING), wild[jump] * (1.0 + MASS_ROUNDING)

    log_loss = plan.log_loss_low - math.log(20.0 * plan.copies)
    single = LatticePair(step, knots[within], calm, 0.0, 0.0)
    view = window(single, block, scale, log_loss, log_loss)
    laws = convolution_powers(single.index, calm, (block, block - 1), view.first, view.last)
    start, calm_law = coarser(view.first, laws[0], step, factor)
    _, but_one_law = coarser(view.first, laws[1], step, factor)

    places = knots[jump] // factor
    mass = np.zeros(int(places[-1] - places[0]) + calm_law.size)
    mass[-places[0] : calm_law.size - places[0]] = calm_law
    for place, jump_mass in zip(places - places[0], wild, strict=True):
        mass[place : place + calm_law.size] += block * jump_mass * but_one_law
    jump_r, jump_p = float(wild.sum()), float(wild @ np.exp(coarse * places))
    return LatticePair(
        step=coarse,
        index=np.arange(mass.size) + (start + int(places[0])),
        mass=mass * (1.0 + MASS_ROUNDING),
        at_zero=block * zero
        + view.lost * (1.0 + 2.0 * block * jump_r)
        + 0.5 * (block * jump_r) ** 2,
        at_infinity=block * infinity
        + view.lost * (1.0 + 2.0 * block * jump_p)
        + 0.5 * (block * jump_p) ** 2,
    )


@theorem(
    source="Holdfast",
    place="section 5b, k-fold cover",
    statement=(
        "The lattice pair dominates k adaptively chosen steps, each shifting the noise by at most "
        "t, in every hockey stick; S is the log-ratio under its r-law."
    ),
    domain="2 <= a <= 7, 0 < t < 1/2, 1 <= k <= 10^12, -25 <= log_beta <= 0",
    slack="about 1e-4 of the shift at this beta, more beyond k = 10^10",
)
def composed_shift(a: int, t: float, k: int, log_beta: float) -> LatticePair:
    """In one piece or in blocks; where the blocks do not divide k, k is rounded up."""
    a = order(a)
    t = require.between("t", t, 0.0, 0.5, open_low=True, open_high=True)
    k = require.positive_integer("k", k)
    require.between("k", k, 1, MOST_ANSWERS)
    log_beta = require.between("log_beta", log_beta, LEAST_LOG_BETA, 0.0)
    plan = _plan(a, t, k, log_beta)
    if plan.block == 1:
        pair = shift_cover(a, t, _STEP * plan.sigma, plan.low, plan.high)
    else:
        pair = _block_pair(plan)
    if plan.copies == 1:
        return pair
    return fold(pair, plan.copies, plan.m, plan.log_loss_low - 2.0, plan.log_loss_high - 2.0)
