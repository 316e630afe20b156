"""ln and exp, made of steps that every engine rounds alike: +, -, *, / and a choice of constants.

The logarithms of two libraries differ in the last bit, and a value that is compared with a constant
or rounded to a grid would then differ between engines. So each is one fixed sequence of IEEE
operations, none of which overflows, underflows or meets a NaN, for one engine as for another and
for a Python float. The result is within one part in 2^51 (`PRECISION`) of the true one, and only
the scaling by powers of two, which is exact, depends on what range the argument has.

* ln: x = m 2^k with m between sqrt(1/2) and sqrt(2). With f = m - 1 and s = f / (2 + f),
  ln m = f - (f^2/2 - s (f^2/2 + R)), R = 2 s^2/3 + 2 s^4/5 + ..., which is ln m = 2 artanh(s)
  written so that the rounding of s does not matter; ln x = ln m + k ln 2, ln 2 in two pieces.
* exp: x = k ln 2 + r with |r| at most (ln 2)/2; e^x = 2^k (1 + r + r^2/2! + ... + r^13/13!).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeAlias, TypeVar


class Number(Protocol):
    """What is computed with: a float, or the code of one."""

    def __add__(self, other: Self | float, /) -> Self: ...
    def __sub__(self, other: Self | float, /) -> Self: ...
    def __mul__(self, other: Self | float, /) -> Self: ...
    def __truediv__(self, other: Self | float, /) -> Self: ...


_T = TypeVar("_T", bound=Number)
# Of a value, a limit and two constants: the first constant where the value is at least the limit.
_Choice: TypeAlias = Callable[[_T, float, float, float], _T]


PRECISION = 2.0**-51  # a bound on |computed - true| as a part of the true value
MOST_EXPONENT = 690.0  # exp of more is refused, and of less than minus that it is that of this

_ROOT = 0.7071067811865476  # m is at least this and below twice it
_LN2_HIGH = 0.6931471803691238  # 32 bits: its product with a whole k is exact
_LN2_LOW = 1.9082149292705877e-10
_LOG2_E = 1.4426950408889634
_ROUNDING = 1.5 * 2.0**52  # added and taken away, it leaves the nearest whole number
_TINY = 2.0**-60  # beside 1 it is nothing, and products of what is smaller may underflow
_ARTANH = [2 / (2 * n + 1) for n in range(1, 11)]
_TAYLOR = [1 / math.factorial(n) for n in range(2, 14)]
_POWERS = (512, 512, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)


def ln(x: _T, low: float, high: float, choose: _Choice[_T], named: Callable[[_T], _T]) -> _T:
    """The natural logarithm of x, which is between low > 0 and a finite high.

    `named` is told what is used more than once.
    """
    k = x * 0.0
    for power in _powers(_exponent(high)):
        k = k + choose(x, math.ldexp(_ROOT, power), float(power), 0.0)
        x = named(x * choose(x, math.ldexp(_ROOT, power), 2.0**-power, 1.0))
    for power in _powers(-_exponent(low)):
        k = k + choose(x, math.ldexp(_ROOT, 1 - power), 0.0, -float(power))
        x = named(x * choose(x, math.ldexp(_ROOT, 1 - power), 1.0, 2.0**power))
    f, k = named(x - 1.0), named(k)
    s, half = named(f / (f + 2.0)), named(f * f * 0.5)
    z = named(s * s)
    small = s * (half + z * _series(z, _ARTANH)) + k * _LN2_LOW
    return k * _LN2_HIGH - ((half - small) - f)


def exp(x: _T, low: float, high: float, choose: _Choice[_T], named: Callable[[_T], _T]) -> _T:
    """e to the power of x, which is between low and high, both of at most `MOST_EXPONENT`."""
    k = named((x * _LOG2_E + _ROUNDING) - _ROUNDING)
    r = named((x - k * _LN2_HIGH) - k * _LN2_LOW)
    r = named(r * (choose(r, _TINY, 1.0, 0.0) + choose(r, -_TINY, 0.0, 1.0)))
    first, last = (int((end * _LOG2_E + _ROUNDING) - _ROUNDING) for end in (low, high))
    y = (r + r * r * _series(r, _TAYLOR) + 1.0) * 2.0**first
    rest = k - float(first)
    for power in _powers(last - first):
        rest = named(rest)
        y = y * choose(rest, float(power), 2.0**power, 1.0)
        rest = rest - choose(rest, float(power), float(power), 0.0)
    return y


def ln_of(x: float) -> float:
    """The natural logarithm of a positive number, to the same bit."""
    return ln(x, x, x, _chosen, _itself)


def exp_of(x: float) -> float:
    """e to the power of x, to the same bit."""
    x = max(x, -MOST_EXPONENT)
    return exp(x, x, x, _chosen, _itself)


def _chosen(value: float, least: float, then: float, otherwise: float) -> float:
    return then if value >= least else otherwise


def _itself(value: float) -> float:
    return value


def _exponent(x: float) -> int:
    """The k of x = m 2^k."""
    m, k = math.frexp(x)
    return k if m >= _ROOT else k - 1


def _powers(most: int) -> list[int]:
    """The powers of two to try, one after the other, on exponents from 0 to this."""
    powers = []
    for power in _POWERS:
        if most >= power:
            powers.append(power)
            most = max(most - power, power - 1)
    return powers


def _series(x: _T, coefficients: Sequence[float]) -> _T:
    """The first coefficient, plus x times the second, plus x^2 times the third, ..."""
    *leading, last = coefficients
    value = x * last
    for coefficient in reversed(leading[1:]):
        value = (value + coefficient) * x
    return value + leading[0]
