"""The k-fold cover: how the shift that one row can cause adds up over k median-noise answers.

Legend
------
a, t, S     as in `likelihood_cover`;  k: answers
sigma       t sqrt(I_a), the size of one log-ratio under r (I_a: Fisher information)
m           sigma sqrt(k), the size of S
beta        the probability at which the result will be used: it says which tails matter
body        the log-ratios of one step up to a reach;  jump: a log-ratio beyond it

One piece: the one-step cover, composed k times by FFT. Blocks: that FFT would be as long as the far
tails are wide in units of one small step, so k1 steps are composed first, covered by a lattice
about sqrt(k1) times coarser, and composed again. In a block, no jump and one jump are kept exactly;
the mass of two jumps or more goes to ratios 0 and infinity. Any choice of lattice, reach and block
is valid; the ones made here lose about 1e-4 of the shift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast import require
from holdfast.theory.base.theorem import theorem
from holdfast.theory.transfer.likelihood_cover import (
    MASS_ROUNDING,
    LatticePair,
    coarser,
    convolution_powers,
    fisher_information,
    fold,
    growing,
    mirrored,
    order,
    peak_density,
    shift_cells,
    shift_cover,
    shift_outside,
    window,
)

__all__ = ["LEAST_LOG_BETA", "MOST_ANSWERS", "composed_shift"]

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
    one = LatticePair(step, knots[within], calm, 0.0, 0.0)
    seen = window(one, block, scale, log_loss, log_loss)
    laws = convolution_powers(one.index, calm, (block, block - 1), seen.first, seen.last)
    start, calm_law = coarser(seen.first, laws[0], step, factor)
    _, but_one_law = coarser(seen.first, laws[1], step, factor)

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
        + seen.lost * (1.0 + 2.0 * block * jump_r)
        + 0.5 * (block * jump_r) ** 2,
        at_infinity=block * infinity
        + seen.lost * (1.0 + 2.0 * block * jump_p)
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
