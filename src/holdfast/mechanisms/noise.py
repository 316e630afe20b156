"""Noise: a function of (secret, address), so that a crashed entry repeats itself; and its laws.

The stream of an address is HMAC-SHA256(secret, "holdfast noise/1", address, block), block = 0, 1,
...; whole numbers are taken from it by rejection, so that every value is exactly equally likely as
far as the generator is. The secret never enters the ledger. What addresses a question is up to who
asks: in the laboratory its number, in a ledger all that is public about it (`ledger.addresses`).

A law says how whole cells of a public grid are drawn, and what that is charged. The sample's value
q, a fraction of its range, is put on a grid of G cells in the range; a whole number Z of cells is
added: the symbol is floor(q G + 1/2) + Z, and stands for itself over G. While q moves over an
interval of length 2 alpha its cell makes at most H = ceil(2 alpha G) steps. Outside the event that
q is further than alpha from the truth, the symbol's law is at most kappa times one that sees no
sample, kappa = sum over z of the largest probability of z over those steps: what the answer is
charged on the leakage account (Theorem L).
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Protocol

from holdfast import require
from holdfast.theory.base.safeside import float_above, round_up
from holdfast.theory.leakage.release import (
    RESOLUTION,
    discrete_laplace_log_charge,
    discrete_laplace_noise_error,
    rounded_gaussian_log_charge,
    rounded_gaussian_noise_error,
)

_PURPOSE = b"holdfast noise/1"


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise at one address."""

    secret: bytes
    address: str

    def _blocks(self) -> Iterator[bytes]:
        block = 0
        while True:
            address = b"|".join((_PURPOSE, self.address.encode(), str(block).encode()))
            yield hmac.digest(self.secret, address, sha256)
            block += 1

    def uniform(self, least: int, most: int) -> int:
        """The first whole number of the stream, each from `least` to `most` equally likely."""
        return next(self.uniforms(least, most))

    def uniforms(self, least: int, most: int) -> Iterator[int]:
        """Independent whole numbers, as many as are taken: the stream from its beginning."""
        span = most - least + 1
        size = (span.bit_length() + 7) // 8 + 8
        limit = (1 << (8 * size)) // span * span
        pool = b""
        for block in self._blocks():
            pool += block
            while len(pool) >= size:
                number, pool = int.from_bytes(pool[:size], "big"), pool[size:]
                if number < limit:
                    yield least + number % span


_SHARED = 0  # no question has this number: what is drawn there is the same for all of them


def shared_key(noise: Callable[[int], Noise]) -> bytes:
    """Key of the orders and parts that rows are put in: one for all questions of a mechanism."""
    return noise(_SHARED).uniform(0, 2**256 - 1).to_bytes(32, "big")


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells in the range, the scale of the noise in cells, and how far from q the symbol may be.

    The number of cells is whole, or a double that is meant exactly. `reach` is in cells, beside the
    half cell by which q was rounded; None where nothing is sure.
    """

    cells: int | float
    scale: int
    reach: int | None

    def __post_init__(self) -> None:
        require.positive("cells", self.cells)
        require.integer_at_least("scale", self.scale, 0)
        if self.reach is not None:
            require.integer_at_least("reach", self.reach, 0)

    def cell(self, numerator: int, denominator: int) -> int:
        """floor(q G + 1/2) of q = numerator/denominator, in whole numbers."""
        over, under = self.cells.as_integer_ratio()
        whole = denominator * under
        return (2 * numerator * over + whole) // (2 * whole)

    @property
    def last(self) -> int:
        """The cell of the upper end of the range."""
        return self.cell(1, 1)

    def steps(self, radius: float) -> int:
        """H: how many steps the cell can make within the radius, of those in the range."""
        return min(math.ceil(2 * Fraction(radius) * Fraction(self.cells)), self.last)

    def place(self, cell: int) -> Fraction:
        """The fraction of the range that a cell stands for."""
        return cell / Fraction(self.cells)


class Law(Protocol):
    """A law of noise, as a frozen value; what it says of `scale` is in cells."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def resolution(self) -> int:
        """A scale at which the grid costs an answer below 1e-5 nats; 0 where there is no noise."""
        ...

    @property
    def parts(self) -> int:
        """Into how many cells it divides the unit in which a sum of row values is exact."""
        ...

    def draw(self, noise: Noise, scale: int) -> int:
        """The noise of one question."""
        ...

    def reach(self, scale: int) -> int | None:
        """Distance from the sample's value that is surely kept; None: nothing is sure."""
        ...

    def error(self, scale: int, log_beta: float) -> float:
        """Bound that the noise exceeds with a probability of at most e^log_beta."""
        ...

    def log_charge(self, radius: float, grid: Grid) -> float:
        """ln kappa of an answer whose sample's value is within the radius of the truth."""
        ...


def grid_within(law: Law, room: Fraction, log_beta: float) -> Grid:
    """The grid on which noise and rounding keep to `room`, except with probability e^log_beta."""
    scale = law.resolution
    least = (Fraction(law.error(scale, log_beta)) + Fraction(1, 2)) / room
    # Without noise a cell is as wide as the room, and part of one would be charged as a whole.
    return Grid(math.ceil(least) if scale else float_above(least), scale, law.reach(scale))


# Independent uniform words, from which the laws that are not uniform are drawn exactly.


PLACES = 64
WORD = 2**PLACES  # a word is a whole number, uniform on {0, ..., WORD - 1}


def words_of(noise: Noise) -> Iterator[int]:
    """The stream of one question; everything that it draws must come from one such iterator."""
    return noise.uniforms(0, WORD - 1)


def below(words: Iterator[int], span: int) -> int:
    """0, ..., span - 1, each equally likely, by rejection."""
    count = -(-span.bit_length() // PLACES) + 1  # one word more: a rejection is rarer than 2^-64
    limit = (1 << (PLACES * count)) // span * span
    while True:
        number = 0
        for _ in range(count):
            number = number << PLACES | next(words)
        if number < limit:
            return number % span


def tail_part(law: Law) -> float:
    """The part of a question's level that is for the tail of the noise."""
    return 0.5 if law.reach(law.resolution) is None else 0.0


# Uniform noise: every whole number of cells up to the scale, equally likely; or no noise at all.
#
# Without noise the symbol is the sample's value rounded to the grid. An interval of length 2 alpha
# meets at most H + 1 cells: the same charge as that of uniform noise of scale 0. Nothing is said
# here of the lecture's global count, which charges all cells for every answer and is never
# narrower.


@dataclass(frozen=True, slots=True)
class Uniform:
    """Uniform on {-scale, ..., scale}."""

    name: str
    resolution: int
    parts: int = 1

    def draw(self, noise: Noise, scale: int) -> int:
        return noise.uniform(-scale, scale)

    def reach(self, scale: int) -> int:
        return scale

    def error(self, scale: int, log_beta: float) -> float:  # noqa: ARG002 - it is sure
        return scale

    def log_charge(self, radius: float, grid: Grid) -> float:
        """ln(1 + H/(2 scale + 1))."""
        return round_up(math.log1p(grid.steps(radius) / (2 * grid.scale + 1)))


UNIFORM = Uniform("uniform", RESOLUTION)
NO_NOISE = Uniform("rounding", 0)


# The discrete Laplace law of scale T, drawn exactly: z has probability tanh(1/(2T)) e^{-|z|/T}.
#
# It is drawn after Canonne, Kamath and Steinke (2020), Algorithm 2: no floating point, no table;
# e^{-x} is the probability that von Neumann's falling run of uniform numbers is of odd length.


def happens_with_exp(words: Iterator[int], numerator: int, denominator: int) -> bool:
    """An event of probability e^{-numerator/denominator}, for a ratio from 0 to 1."""
    run = 1
    while below(words, denominator * run) < numerator:
        run += 1
    return run % 2 == 1


def discrete_laplace(words: Iterator[int], scale: int) -> int:
    """A whole number z with probability proportional to e^{-|z|/scale}."""
    while True:
        rest = below(words, scale)
        if not happens_with_exp(words, rest, scale):
            continue
        wholes = 0
        while happens_with_exp(words, 1, 1):
            wholes += 1
        size, negative = rest + scale * wholes, below(words, 2) == 1
        if size or not negative:  # 0 has no second sign
            return -size if negative else size


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise."""

    name: str = "laplace"
    resolution: int = RESOLUTION
    parts: int = 1

    def draw(self, noise: Noise, scale: int) -> int:
        return discrete_laplace(words_of(noise), scale)

    def reach(self, scale: int) -> None:
        """Nothing is sure."""

    def error(self, scale: int, log_beta: float) -> float:
        return discrete_laplace_noise_error(scale, log_beta)

    def log_charge(self, radius: float, grid: Grid) -> float:
        return discrete_laplace_log_charge(grid.steps(radius), grid.scale)


LAPLACE = Laplace()


# The normal law, exactly: whole numbers made by comparing uniform digits (Karney 2016).
#
# No number here is rounded: a real number is known to as many binary digits as a decision needs,
# and more digits are drawn when they do not decide. So the law is the normal law itself, with no
# error to account for, as far as the words that come in are independent and uniform.
#
# Half-normal y = k + x: k has probability e^{-k/2}(1 - e^{-1/2}) and is kept with probability
# e^{-k(k-1)/2}; x is uniform on [0, 1) and kept with probability e^{-x(2k+x)/2}. Together that is
# e^{-(k+x)^2/2}. An event of probability e^{-g}, 0 <= g <= 1: count how often in a row a uniform
# number is below g/1, g/2, g/3, ...; an even count has probability 1 - g + g^2/2 - ... = e^{-g}.


# A number that is known to be in [low/whole, high/whole].
_Bounds = tuple[int, int, int]


@dataclass(slots=True)
class _Uniform:
    """A uniform real number in [digits, digits + 1) / 2^places; the rest is not drawn yet."""

    words: Iterator[int]
    digits: int = 0
    places: int = 0

    def more(self) -> None:
        self.digits = (self.digits << PLACES) | next(self.words)
        self.places += PLACES


def rounded_normal(words: Iterator[int], deviation: int) -> int:
    """The whole number nearest to `deviation` times a standard normal number."""
    k, x = _half_normal(words)
    # Nearest to deviation * (k + x): the digits of x decide which it is, sooner or later.
    while True:
        whole = 2 << x.places
        least = 2 * deviation * ((k << x.places) + x.digits) + (1 << x.places)
        nearest = least // whole
        if (least + 2 * deviation) // whole == nearest:
            break
        x.more()
    return -nearest if next(words) % 2 else nearest


def _half_normal(words: Iterator[int]) -> tuple[int, _Uniform]:
    """k and x of the absolute value k + x of a standard normal number."""
    while True:
        k = 0
        while _decays(words, _half, None):
            k += 1
        if not all(_decays(words, _half, None) for _ in range(k * (k - 1))):
            continue
        x = _Uniform(words)
        x.more()
        rate = _rate_of(k, x)
        if all(_decays(words, rate, x) for _ in range(k + 1)):
            return k, x


def _half() -> _Bounds:
    return 1, 1, 2


def _rate_of(k: int, x: _Uniform) -> Callable[[], _Bounds]:
    """x(2k + x)/(2k + 2), below 1: k + 1 of these make up x(2k + x)/2."""

    def bounds() -> _Bounds:
        unit = 1 << x.places
        low, high = x.digits, x.digits + 1
        return (
            low * (2 * k * unit + low),
            high * (2 * k * unit + high),
            (2 * k + 2) * unit * unit,
        )

    return bounds


def _decays(words: Iterator[int], rate: Callable[[], _Bounds], x: _Uniform | None) -> bool:
    """True with probability e^{-rate}; `x` is what the rate depends on."""
    count = 0
    while _below(words, rate, count + 1, x):
        count += 1
    return count % 2 == 0


def _below(
    words: Iterator[int], rate: Callable[[], _Bounds], divisor: int, x: _Uniform | None
) -> bool:
    """Whether a fresh uniform number is below rate/divisor."""
    u = _Uniform(words)
    while True:
        u.more()
        low, high, whole = rate()
        if (u.digits + 1) * whole * divisor <= low << u.places:
            return True
        if u.digits * whole * divisor >= high << u.places:
            return False
        if x is not None:
            x.more()


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal noise, rounded to whole cells; the scale is its standard deviation."""

    name: str = "gaussian"
    resolution: int = RESOLUTION
    parts: int = 1

    def draw(self, noise: Noise, scale: int) -> int:
        return rounded_normal(words_of(noise), scale)

    def reach(self, scale: int) -> None:
        """Nothing is sure."""

    def error(self, scale: int, log_beta: float) -> float:
        return rounded_gaussian_noise_error(scale, log_beta)

    def log_charge(self, radius: float, grid: Grid) -> float:
        return rounded_gaussian_log_charge(grid.steps(radius), grid.scale)


NORMAL = Normal()
