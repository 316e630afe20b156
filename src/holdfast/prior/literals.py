"""Bits of a literal: what a constant costs beside the subject it stands with.

Numbers are read as decimals, as they are written in the canonical text (every double has one
shortest form), so that 0.43 is a multiple of a hundredth. Where a number can be described in
several ways their probabilities are added, as exact fractions, before anything is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from holdfast.question.declaring import Categories
from holdfast.theory.length.levels import option_millibits
from holdfast.theory.length.words import (
    DECIMAL_DIGITS,
    GRID_STEPS,
    PRODUCTIONS,
    ROUND_NUMBERS,
    option,
    share,
)

_FAR_EXPONENTS = 700  # more than the exponents that doubles have beside those of the table
_RARE_CHARACTERS = 29  # printable ASCII that is no letter, no digit and not in the table
_RECENT = range(2000, 2040)
_DAY = 86_400


class Class(StrEnum):
    """What is publicly known of a subject decides what is likely said of it."""

    FLAG = "flag"
    CODE = "code"
    TEXT = "text"
    MOMENT = "moment"
    LEVEL = "level"
    RANGE = "range"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a constant stands: the class of its subject, its range or its declared values."""

    of: Class
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    values: Categories = ()

    @property
    def levels(self) -> Sequence[float]:
        """The numbers that a level has: those declared, or the whole numbers of its range."""
        declared = [each for each in self.values if isinstance(each, float)]
        return declared or range(math.ceil(self.low), math.floor(self.high) + 1)


def exactly(value: float) -> Fraction:
    """The decimal that is written for a double."""
    return Fraction(repr(value))


def count_millibits(k: int) -> int:
    """How many there are: k >= 1 has probability 2^-k."""
    return 1000 * k


def number_millibits(value: float, place: Place) -> int:
    """A number beside a subject."""
    if place.of is Class.LEVEL and place.values:
        return _declared_number(value, tuple(place.levels))
    return _number(exactly(value), place.of, place.low, place.high)


def free_number_millibits(value: float) -> int:
    """A number beside nothing."""
    return _number(exactly(value), Class.NUMBER, Fraction(0), Fraction(0))


@lru_cache(maxsize=16_384)
def _number(value: Fraction, of: Class, low: Fraction, high: Fraction) -> int:
    row = f"constant of a {of}"
    chance = share(row, "decimal") * _decimal(value)
    if of is Class.LEVEL:
        if value.denominator == 1 and low <= value <= high:
            chance += share(row, "range") / _multiples(Fraction(1), low, high)
    elif value in ROUND_NUMBERS:
        chance += share(row, "round") * Fraction(ROUND_NUMBERS[value], 1000)
    if of is Class.RANGE and low <= value <= high:
        chance += share(row, "grid") * _grid(value, low, high)
    return option_millibits(chance.numerator, chance.denominator)


@lru_cache(maxsize=16_384)
def _declared_number(value: float, declared: tuple[float, ...]) -> int:
    """A number beside a column of few: one of them, or any by its digits."""
    row = f"constant of a {Class.LEVEL}"
    chance = share(row, "decimal") * _decimal(exactly(value))
    if value in declared:
        chance += share(row, "range") / len(declared)
    return option_millibits(chance.numerator, chance.denominator)


def _multiples(step: Fraction, low: Fraction, high: Fraction) -> int:
    """How many multiples of the step are in [low, high]."""
    return math.floor(high / step) - math.ceil(low / step) + 1


def _grid(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """The probability of a value of the range by all grids that have it."""
    chance = Fraction(0)
    for step, thousandths in zip(_steps(high - low), GRID_STEPS, strict=True):
        if (value / step).denominator == 1:
            chance += Fraction(thousandths, 1000 * _multiples(step, low, high))
    return chance


@lru_cache(maxsize=1024)
def _steps(width: Fraction) -> tuple[Fraction, ...]:
    """5, 2 and 1 times powers of ten, downwards from the largest that is not above the width."""
    power = Fraction(10) ** math.floor(math.log10(width) + 1)  # above the width, or nearly
    steps: list[Fraction] = []
    while len(steps) < len(GRID_STEPS):
        steps += [step for step in (5 * power, 2 * power, power) if step <= width]
        power /= 10
    return tuple(steps[: len(GRID_STEPS)])


def _decimal(value: Fraction) -> Fraction:
    """The probability of a decimal written by its digits and its power of ten."""
    if value == 0:
        return share("decimal", "zero")
    digits, exponent = _scientific(abs(value))
    return _written("+" if value > 0 else "-", len(digits), exponent)


@lru_cache(maxsize=4096)
def _written(sign: str, count: int, exponent: int) -> Fraction:
    """The probability of each decimal of a sign with so many digits and this power of ten."""
    same_length = 9 if count == 1 else 81 * 10 ** (count - 2)
    chance = share("decimal", "other") * share("sign", sign)
    chance *= Fraction(DECIMAL_DIGITS[count - 1], 1000 * same_length)
    if str(exponent) in PRODUCTIONS["exponent"]:
        return chance * share("exponent", str(exponent))
    return chance * share("exponent", "far") / _FAR_EXPONENTS


def _scientific(value: Fraction) -> tuple[str, int]:
    """The digits, without a 0 at either end, and the power of ten they are multiplied by."""
    number, exponent = value.numerator, 0
    while number % value.denominator:
        number, exponent = number * 10, exponent - 1
    digits = str(number // value.denominator)
    bare = digits.rstrip("0")
    return bare, exponent + len(digits) - len(bare)


def level_millibits(level: float) -> int:
    """The level of a quantile."""
    name = repr(level)
    row = "level of a quantile"
    if name in PRODUCTIONS[row]:
        return option(row, name)
    chance = _decimal(exactly(level))
    return option(row, "other") + option_millibits(chance.numerator, chance.denominator)


def text_millibits(value: str, place: Place) -> int:
    """A text beside a subject: one of its declared values, or spelled."""
    row = "constant of a code"
    if place.of is not Class.CODE:
        return spelled_millibits(value)
    if value in place.values:
        return option(row, "declared") + option_millibits(1, len(place.values))
    return option(row, "spelled") + spelled_millibits(value)


def pattern_millibits(pattern: str) -> int:
    """The pattern of a LIKE."""
    before, after = pattern.startswith("%"), pattern.endswith("%")
    if before and after and len(pattern) > 1:
        form, core = "contains", pattern[1:-1]
    elif after:
        form, core = "starts", pattern[:-1]
    elif before:
        form, core = "ends", pattern[1:]
    if not (before or after) or "%" in core:
        form, core = "other", pattern
    return option("like", form) + spelled_millibits(core)


@lru_cache(maxsize=16_384)
def spelled_millibits(value: str) -> int:
    """A text letter by letter; by bytes, if it has anything but printable ASCII."""
    if not (value.isascii() and value.isprintable()):
        size = len(value.encode("utf-8", "surrogatepass"))
        return option("after start", "bytes") + count_millibits(size) + size * 8 * 1000
    kinds = ["start", *map(_kind, value), "end"]
    steps = sum(option(f"after {before}", after) for before, after in pairwise(kinds))
    return steps + sum(map(_character, value))


def _kind(character: str) -> str:
    if character.islower():
        return "lower"
    if character.isupper():
        return "upper"
    return "digit" if character.isdigit() else "other"


def _character(character: str) -> int:
    match _kind(character):
        case "lower":
            return option("lower letter", character)
        case "upper":
            return option_millibits(1, 26)
        case "digit":
            return option_millibits(1, 10)
    row = "other character"
    if character in PRODUCTIONS[row]:
        return option(row, character)
    return option(row, "rare") + option_millibits(1, _RARE_CHARACTERS)


def moment_millibits(value: datetime) -> int:
    """A date, and perhaps a time of the day."""
    if value.year in _RECENT:
        year = option("year", "2000 to 2039") + option_millibits(1, len(_RECENT))
    else:
        year = option("year", "any") + option_millibits(1, 9999)
    return year + _day(value) + _time(value.time())


def _day(value: datetime) -> int:
    if value.day > 1:
        return option("day", "any") + option_millibits(1, 366)
    if value.month > 1:
        return option("day", "first of a month") + option_millibits(1, 12)
    return option("day", "first of January")


def _time(of: time) -> int:
    if of == time.min:
        return option("time", "midnight")
    if of.microsecond:
        return option("time", "exact") + option_millibits(1, _DAY * 1_000_000)
    if of.second:
        return option("time", "second") + option_millibits(1, _DAY)
    if of.minute:
        return option("time", "minute") + option_millibits(1, _DAY // 60)
    return option("time", "hour") + option_millibits(1, 24)
