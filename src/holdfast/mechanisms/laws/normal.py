"""The normal law, exactly: whole numbers made by comparing uniform digits (Karney 2016).

No number here is rounded: a real number is known to as many binary digits as a decision needs, and
more digits are drawn when they do not decide. So the law is the normal law itself, with no error to
account for, as far as the words that come in are independent and uniform.

Half-normal y = k + x: k has probability e^{-k/2}(1 - e^{-1/2}) and is kept with probability
e^{-k(k-1)/2}; x is uniform on [0, 1) and kept with probability e^{-x(2k+x)/2}. Together that is
e^{-(k+x)^2/2}. An event of probability e^{-g}, 0 <= g <= 1: count how often in a row a uniform
number is below g/1, g/2, g/3, ...; an even count has probability 1 - g + g^2/2 - ... = e^{-g}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.mechanisms.laws.law import PLACES, Grid, words_of
from holdfast.mechanisms.noise import Noise
from holdfast.theory.leakage.release import (
    RESOLUTION,
    rounded_gaussian_log_charge,
    rounded_gaussian_noise_error,
)

__all__ = ["NORMAL", "Normal", "rounded_normal"]

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
