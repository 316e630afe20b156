"""Bets: bounds from capital that cannot grow on average, also against nuisances.

A bet multiplies its capital by a factor for each unit (a row, a cluster, a block). If the factors
are not negative and the truth were theta, the expected capital is at most 1, so capital 1/q has
probability at most q (Markov) and rejects theta at level q. A mixture of bets with public weights
is a bet. Nothing is assumed of the variance; a sample with little spread rejects more.

Symbols: unit i gains A_i >= 0 and loses B_i in [0, M]; o = sum E A_i / sum E B_i is the truth in
odds; l in [0, 1] is a stake; q the one-sided level, L = -ln q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import (
    largest_integer,
    level_share,
    log_add,
    round_down,
    round_up,
)
from holdfast.theory.base.theorem import theorem

Array = NDArray[np.float64]
# Whether two numbers, and all between them, would be told alike.
Settled = Callable[[float, float], bool]

# Rows lie on this grid inside a bet, so that 1 - x is exact; the grid of the engines is coarser.
_GRID = 2.0**48
# Relative error allowed for a factor, for a logarithm and for a sum of logarithms (numpy adds in
# pairs: a depth below 50 for any sample that fits in memory).
_SLACK = 2.0**-47
# Cells [2^k, 2^(k+1)) of odds; the highest is open, and below the lowest nothing is rejected.
_LOWEST, _HIGHEST = -300, 40
# So many factors at a time: small samples need few calls, large ones stay in a cache.
_TOGETHER = 2**16
# Units that are many are merged to so few, to see which bets matter: what is so many nats below the
# best is lost in the roundings of its capital.
_MERGED_FROM, _MERGED, _NEGLIGIBLE = 2**12, 2**8, 80.0
_NEAREST = 2.0**-18  # how far, relatively, one looks first from where a bound on capital rejects
_STEPS = [2.0 ** (0.75 * j) for j in range(9)]
_EQUAL = [1 / len(_STEPS)] * len(_STEPS)


def unit_values(values: ArrayLike, *, up: bool = False) -> Array:
    """Numbers in [0, 1], floored (or ceiled) to the grid on which 1 - x is exact."""
    x = exact_values(values)
    return np.asarray((np.ceil if up else np.floor)(x * _GRID) / _GRID)


def exact_values(values: ArrayLike) -> Array:
    """Numbers in [0, 1] as they are: for statistics that are not monotone in them."""
    x = np.asarray(values, dtype=np.float64).ravel()
    if x.size and not (x.min() >= 0.0 and x.max() <= 1.0):  # false for NaN
        raise InvalidArgument("a value is not in [0, 1]; scale the column by its declared range.")
    return x


def counted(times: ArrayLike | None, *columns: Array) -> tuple[Array, ...]:
    """The columns and how often each of their values occurred (once unless said), zeros left out.

    A value that did not occur must not be seen by a bet: it could ruin it.
    """
    size = columns[0].size
    counts = np.ones(size) if times is None else np.asarray(times, dtype=np.float64).ravel()
    if counts.size != size:
        raise InvalidArgument(
            f"there are {size} values and {counts.size} counts; give one count for each value."
        )
    if not np.all((counts >= 0.0) & (counts == np.rint(counts))):
        raise InvalidArgument("a count is not a whole number, 0 or above; count the rows.")
    occurred = counts > 0.0
    return (*(column[occurred] for column in columns), counts[occurred])


def counted_pairs(
    x: ArrayLike, y: ArrayLike, times: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Two columns of the same rows, as they are, and how often each pair occurred."""
    first, second = exact_values(x), exact_values(y)
    if first.size != second.size:
        raise InvalidArgument(
            f"x has {first.size} values and y has {second.size}; give the same rows of both."
        )
    first, second, counts = counted(times, first, second)
    return first, second, counts


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Tally of what independent units gained and lost: A_i >= 0, 0 <= B_i <= M, each so many times.

    `units` is the *public* number of units (those with A = B = 0 need not be listed); the capital
    is taken to the power 1/root (see `m_dependent_mean_interval` and `auc_block_interval`).
    """

    gains: Array
    losses: Array
    times: Array
    units: int
    largest_loss: float = 1.0
    root: int = 1

    def __post_init__(self) -> None:
        require.positive("largest_loss", self.largest_loss)
        require.positive_integer("root", self.root)
        if not self.gains.size == self.losses.size == self.times.size:
            raise InvalidArgument(
                f"there are {self.gains.size} gains, {self.losses.size} losses and "
                f"{self.times.size} counts; give one of each for a unit."
            )
        if not np.all((self.gains >= 0.0) & (self.losses >= 0.0)):
            raise InvalidArgument("a gain or loss is not a number, 0 or above; correct the values.")
        if not np.all(self.losses <= self.largest_loss):
            raise InvalidArgument(
                f"a loss is above the largest, {self.largest_loss:g}; declare a larger one."
            )
        if self.times.sum() > self.units:
            raise InvalidArgument(
                f"{self.times.sum():,.0f} units are listed and {self.units:,} declared; "
                "declare how many there are."
            )

    @classmethod
    def of_values(cls, x: Array, times: Array, *, root: int = 1) -> Self:
        """A row with value x in [0, 1] gains x and loses 1 - x."""
        return cls(x, 1.0 - x, times, int(times.sum()), root=root)

    def merged(self) -> Tally:
        """Tally in which those that gained alike each gained and lost their average: no bet has
        less capital.

        The logarithm is concave, so this says cheaply how much a bet's capital is at most, up to
        the roundings of averages.
        """
        first = np.arange(0, self.times.size, -(-self.times.size // _MERGED))
        order = np.argsort(self.gains, kind="stable")  # quick where they are in order
        each = self.times[order]
        times = np.add.reduceat(each, first)
        gains, losses = (
            np.add.reduceat(side[order] * each, first) / times for side in (self.gains, self.losses)
        )
        losses = np.minimum(losses, self.largest_loss)
        return replace(self, gains=gains, losses=losses, times=times)


@theorem(
    source="Holdfast",
    place="Section 12.2, order-free bets in cells of odds (with 12.9, 12.11)",
    statement="If independent units gain A_i >= 0 and lose B_i in [0, M], the mixture of nine bets "
    "prod(1 - l B_i/M + l A_i/(M o)), l of o's cell [2^k, 2^(k+1)), has mean <= 1 at o = "
    "sum E A_i / sum E B_i; the least o that it does not reject bounds o from below at one-sided "
    "level e^{log_q}.",
    domain="0 <= B_i <= M, log_q <= 0; `units` and M public; units need not be alike",
    slack="Markov: wider than the normal limit by 21 % at level e^-12 and by 11 % at e^-28",
)
def lower_odds(tally: Tally, log_q: float, settled: Settled | None = None) -> float:
    """A lower bound on sum E A / sum E B; 0 where nothing can be said.

    It is as sharp as floats are, or as `settled` wants it: see `last_rejected`.

    *E-value.* At the truth the mean factors 1 + (l/M)(E A_i/o - E B_i) average to 1, so their
    product is at most 1 (arithmetic and geometric mean); the stakes are constants of the cell.
    *One bound.* Inside a cell capital falls in o. At the tops of two cells k' < k every factor of
    k' is at least that of k: 1 - l B/M, since stakes rise with k, plus A/M times l/2^(k+1), which
    falls with k, stakes growing by at most sqrt 2 from cell to cell. So below a cell whose top is
    rejected all is rejected, and the cell above it holds the bound. (All this is about the floats
    that stakes are; the tops are powers of 2.)
    """
    L = -require.log_probability("log_q", log_q)
    return _least_kept(tally, L, partial(_cell_stakes, tally, L), _EQUAL, settled)


def even_odds_log_p(tally: Tally, log_q: float) -> float:
    """ln of a p-value of "the odds are at most 1", by the bets with which `lower_odds` tests 1.

    One over capital that cannot grow on average (Markov), of the bets for 1 as the top of a cell
    and as the bottom of the next, whichever is less: where it is at most e^{log_q}, and nearly
    nowhere else, the bound is above 1.
    """
    L = -require.log_probability("log_q", log_q)
    least = min(log_bets(tally, _cell_stakes(tally, L, cell), _EQUAL, 1.0) for cell in (-1, 0))
    return min(0.0, -least)


def _cell_stakes(tally: Tally, L: float, cell: int) -> list[float]:
    unit = math.sqrt(2.0 * (L + 2.5) * math.sqrt(2.0) * tally.root / max(tally.units, 1))
    return [min(1.0, unit * math.sqrt(2.0**cell) * step) for step in _STEPS]


def odds_interval(
    below: Tally, above: Tally, log_p: float, told: Callable[[Interval], object] | None = None
) -> Interval:
    """theta = sum E A / (sum E A + sum E B), from the tally and from it with both sides exchanged.

    Half the level each; where values are rounded, down in the first and up in the second. With
    `told`, what will be told of the interval, each end is looked for until that is known of it.
    """
    side = level_share(log_p)
    low_known = settled_by(told, lambda odds: Interval(share_below(odds), 1.0))
    high_known = settled_by(told, lambda odds: Interval(0.0, share_above(odds)))
    low, high = lower_odds(below, side, low_known), lower_odds(above, side, high_known)
    return Interval(share_below(low), share_above(high))


def settled_by(
    told: Callable[[Interval], object] | None, end: Callable[[float], Interval]
) -> Settled | None:
    """Whether the same is told of the intervals that two numbers make an end of, if that is all."""
    return None if told is None else lambda a, b: told(end(a)) == told(end(b))


def fixed_lower_odds(
    tally: Tally, stakes: Sequence[float], weights: Sequence[float], log_q: float
) -> float:
    """As `lower_odds`, with the same public stakes for every o: capital then falls in o."""
    L = -require.log_probability("log_q", log_q)
    return _least_kept(tally, L, lambda _: stakes, weights)


def log_bets(
    tally: Tally,
    stakes: Sequence[float],
    weights: Sequence[float],
    odds: float,
    merged: Tally | None = None,
) -> float:
    """A lower bound on ln of the mixed capital of these bets against the truth `odds`.

    A factor's two parts are sums and products of numbers that are not negative, so its relative
    error is a few 2^-53. A stake that occurs again is computed once. With a tally that was
    `merged`, stakes whose capital is far below that of another one count as 0: the mixture is the
    same to the last bit, and never above it.
    """
    distinct = list(dict.fromkeys(stakes))
    capitals = dict.fromkeys(distinct, -math.inf)
    if merged is not None:
        at_most = dict(zip(distinct, _log_capitals(merged, distinct, odds), strict=True))
        best = max(distinct, key=at_most.__getitem__)
        (capitals[best],) = _log_capitals(tally, [best], odds)
        enough = capitals[best] - _NEGLIGIBLE
        distinct = [each for each in distinct if each != best and at_most[each] >= enough]
    capitals.update(zip(distinct, _log_capitals(tally, distinct, odds), strict=True))
    return log_mixture([capitals[each] for each in stakes], weights)


def _log_capitals(tally: Tally, stakes: Sequence[float], odds: float) -> list[float]:
    """Lower bounds on ln of the capital of each bet."""
    won, lost = tally.gains / tally.largest_loss / odds, tally.losses / tally.largest_loss
    remaining = (tally.largest_loss - tally.losses) / tally.largest_loss
    capitals: list[float] = []
    together = max(1, _TOGETHER // max(1, won.size))
    for start in range(0, len(stakes), together):
        stake = np.array(stakes[start : start + together])[:, np.newaxis]
        factors = lost * (1.0 - stake)
        factors += remaining
        factors += stake * won
        capitals.extend(log_capital(factors, tally.times) / tally.root)
    return capitals


def _least_kept(
    tally: Tally,
    L: float,
    stakes: Callable[[int], Sequence[float]],
    weights: Sequence[float],
    settled: Settled | None = None,
) -> float:
    """The bound is in the cell above the highest one whose top is rejected."""
    gained, lost = ((side * tally.times).sum() for side in (tally.gains, tally.losses))
    if gained == 0.0:
        return 0.0
    # Above the sample's own odds no bet gains: the search starts in their cell.
    first = min(_HIGHEST, math.frexp(gained / lost)[1] - 1) if lost > 0.0 else _HIGHEST
    if first <= _LOWEST:
        return 0.0

    merged = tally.merged() if tally.times.size >= _MERGED_FROM else None

    @cache
    def excess(cell: int, odds: float) -> float:
        return log_bets(tally, stakes(cell), weights, odds, merged) - L

    def accepts(step: int) -> bool:
        return excess(first - step, 2.0 ** (first - step + 1)) < 0.0

    # Tops of cells are kept, then rejected, on the way down.
    cell = first - largest_integer(accepts, most=first - _LOWEST)
    if cell == _LOWEST:
        return 0.0
    bottom = 2.0**cell
    if excess(cell, bottom) < 0.0:
        return bottom
    top = bottom * (2.0 if cell < _HIGHEST else 2.0**20)
    if merged is not None:

        def at_most(odds: float) -> float:
            return log_bets(merged, stakes(cell), weights, odds) - L

        bottom, top = _bracket(partial(excess, cell), at_most, bottom, top)
    return last_rejected(partial(excess, cell), bottom, top, settled=settled)


def _bracket(
    excess: Callable[[float], float],
    at_most: Callable[[float], float],
    rejected: float,
    inside: float,
) -> tuple[float, float]:
    """A narrower bracket of where `excess` falls below 0, just below where a bound on it does."""
    near = last_rejected(at_most, rejected, inside, relative=_NEAREST)
    for below in (0.0, _NEAREST, 2.0**4 * _NEAREST, 2.0**8 * _NEAREST, 2.0**12 * _NEAREST):
        probe = near * (1.0 - below)
        if not rejected < probe < inside:
            continue
        if excess(probe) >= 0.0:
            return probe, inside
        inside = probe
    return rejected, inside


def log_capital(factors: Array, times: Array, size: float | Array = 0.0) -> Array:
    """A lower bound on sum ln z along the last axis, for factors z >= 0.

    They are known to a few units in their own last place or, with a `size`, in the last place of
    that number, such as 1 + lam |g| for 1 + lam g. A factor that is not above 0 (or no number)
    leaves no capital.
    """
    least, most = (end(axis=-1, initial=1.0) for end in (factors.min, factors.max))
    with np.errstate(divide="ignore", invalid="ignore"):
        total = (np.log(factors) * times).sum(axis=-1)
        each = np.maximum(np.maximum(-np.log(least), np.log(most)), np.maximum(1.0, size / least))
        total -= 2.0 * _SLACK * each * times.sum()
    return np.where(least > 0.0, total, -math.inf)


def log_mixture(log_capitals: Sequence[float], weights: Iterable[float]) -> float:
    """A lower bound on ln sum w_j e^{capital_j}, where the weights add up to at most 1."""
    parts = [
        capital + math.log(weight) if capital > -math.inf else capital
        for capital, weight in zip(log_capitals, weights, strict=True)
    ]
    mixed = log_add(-math.inf, *parts)  # without a bet there is no capital
    return mixed - _SLACK * (1.0 + abs(mixed)) if mixed > -math.inf else mixed


def first_kept(
    excess: Callable[[float], float],
    inside: float,
    limit: float,
    step: float,
    *,
    absolute: float | None = None,
) -> float:
    """The end of what is not rejected, on the way from `inside` to `limit`; `limit` if all is kept.

    For an excess that only rises on that way. Looks in steps that double, of the size at which a
    rejection is to be expected, then between the last two; to a millionth of a step unless said.
    """
    remembered = cache(excess)
    while True:
        further = inside + math.copysign(step, limit - inside)
        if abs(limit - inside) <= step:
            further = limit
        if remembered(further) >= 0.0:
            bracket = 2.0**-20 * step if absolute is None else absolute
            return last_rejected(remembered, further, inside, absolute=bracket)
        if further == limit:
            return limit
        inside, step = further, 2.0 * step


def last_rejected(
    excess: Callable[[float], float],
    rejected: float,
    inside: float,
    *,
    relative: float = 1e-11,
    absolute: float = 0.0,
    settled: Settled | None = None,
) -> float:
    """The rejected end of a small bracket: `excess` >= 0 at it, as it was at `rejected`.

    Interpolates (Illinois), with a bisection at every third step and wherever the excess is not
    finite. Ends as well where `settled` holds of both ends of the bracket: nothing that is told
    would differ.
    """
    at_rejected, at_inside = excess(rejected), excess(inside)
    if at_inside >= 0.0:
        return inside
    moved = 0  # which end moved last: the other one's excess is halved if it stays twice
    for step in range(200):
        if abs(inside - rejected) <= max(absolute, relative * max(abs(inside), abs(rejected))):
            break
        if settled is not None and settled(rejected, inside):
            break
        middle = 0.5 * (rejected + inside)
        if step % 3 != 2 and math.isfinite(at_rejected) and math.isfinite(at_inside):
            share = at_rejected / (at_rejected - at_inside)
            middle = rejected + (inside - rejected) * min(max(share, 1e-3), 1 - 1e-3)
        value = excess(middle)
        if value >= 0.0:
            rejected, at_rejected = middle, value
            at_inside *= 0.5 if moved == 1 else 1.0
            moved = 1
        else:
            inside, at_inside = middle, value
            at_rejected *= 0.5 if moved == -1 else 1.0
            moved = -1
    return rejected


def share_below(odds: float) -> float:
    """o/(1 + o), rounded down."""
    return max(0.0, round_down(odds / (1.0 + odds))) if math.isfinite(odds) else 1.0


def share_above(odds: float) -> float:
    """1/(1 + o), rounded up: the upper bound that mirrored odds stand for."""
    return min(1.0, round_up(1.0 / (1.0 + odds)))


# Bets against a truth that needs other unknowns: the capital at the worst of their values.
#
# A variance needs the mean, a difference of two means needs one of them. If the other unknowns
# lie in a box (an event of its own, at its own part of the level) and g is affine in them, the
# logarithm of prod(1 + lam g) is concave in them, so over the box it is least at a vertex: what
# that capital rejects is rejected whatever they are.
#
# Symbols: g_v the deviations of all rows at vertex v, with mean 0 at the truth; lam_k public
# stakes with weights w_k; b a bound on -g over all declared values and the whole box.


# Part one of the sign guard: no stake can lose more than this share of the capital at one row.
_MOST_AT_STAKE = 1.0 - 2.0**-10
# Terms so many nats below the best are not computed and count as 0: the sample may choose them.
_FAR = 8.0
_SMALL = 2**13


@dataclass(frozen=True, slots=True)
class StakeLadder:
    """Public stakes lam_k and their weights, which add up to 1 at most."""

    stakes: tuple[float, ...]
    weights: tuple[float, ...]

    @classmethod
    def weighed(cls, stakes: Sequence[float], weights: Sequence[float]) -> StakeLadder:
        """Weights in these proportions, their sum rounded down to 1."""
        total = math.fsum(weights) * (1 + 2.0**-40)
        return cls(tuple(stakes), tuple(weight / total for weight in weights))


def centred(box: Interval) -> tuple[float, float]:
    """a0 and w with [a0 - w, a0 + w] around the box."""
    centre = 0.5 * (box.low + box.high)
    return centre, round_up(max(centre - box.low, box.high - centre))


def spread_ladder(units: int, log_p: float) -> StakeLadder:
    """The 73 stakes of section 12.6, 2^18 below to 2^18 above 40 sqrt(2 L/n)."""
    middle = 40.0 * math.sqrt(-2.0 * min(log_p, -1.0) / units)
    steps = range(-36, 37)
    return StakeLadder.weighed(
        [middle * 2.0 ** (step / 2) for step in steps], [(3.0 + abs(step)) ** -2 for step in steps]
    )


@theorem(
    source="Holdfast",
    place="Sections 12.4, 12.6 and 12.13, bets with nuisance parameters",
    statement="If g is affine in unknowns whose true values lie in the hull of the vertices, and "
    "the mean of prod(1 + lam g) at the truth is at most 1 for every lam with lam b < 1, then ln "
    "sum_k w_k min_v prod(1 + lam_k g_v) is at most the logarithm of capital that cannot grow on "
    "average.",
    domain="b >= -g for every declared value and vertex; vertices, stakes and weights as declared",
    slack="second order in the size of the box",
)
def log_least_capital(
    ladder: StakeLadder, deviations: Sequence[Array], times: Array, worst: float, size: float
) -> float:
    """A lower bound on ln sum_k w_k min_v prod(1 + lam_k g_v); -inf where no stake is safe.

    Two guards, neither of which replaces the other: a stake counts 0 if lam_k b > 1 - 2^-10 (b is
    `worst`: at the truth the factor of any declared value must be positive), or if any single
    factor at any vertex is not above 0 (the concavity needs it). `size` bounds the sum of the
    absolute values of the terms that g is made of, whose rounding the capital pays for.
    """
    safe = [
        (stake, weight)
        for stake, weight in zip(ladder.stakes, ladder.weights, strict=True)
        if stake * worst <= _MOST_AT_STAKE
    ]
    moments = [((g * times).sum(), (g * g * times).sum()) for g in deviations]
    # To second order a vertex's capital is lam sum g - lam^2 sum g^2 / 2: where the best stake is.
    guessed = [
        min(stake * first - 0.5 * stake * stake * second for first, second in moments)
        for stake, _ in safe
    ]

    # Small samples: all vertices in one call.
    groups = [np.stack(deviations)] if times.size <= _SMALL else deviations

    def capital(place: int) -> float:
        stake = safe[place][0]
        bound = 1.0 + stake * size
        return min(float(log_capital(1.0 + stake * g, times, bound).min()) for g in groups)

    capitals = _near_the_top(capital, int(np.argmax(guessed)), len(safe)) if safe else {}
    return log_mixture(list(capitals.values()), [safe[place][1] for place in capitals])


def _near_the_top(capital: Callable[[int], float], start: int, count: int) -> dict[int, float]:
    """The terms that matter, from `start` outwards: capital is concave in the stake.

    A stake that a row ruins is followed by smaller ones, never by larger ones.
    """
    values = {start: capital(start)}
    for places in (range(start - 1, -1, -1), range(start + 1, count)):
        for place in places:
            values[place] = capital(place)
            ruined = place > start and values[place] == -math.inf
            if ruined or values[place] < max(values.values()) - _FAR:
                break
    return values
