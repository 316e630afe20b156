"""Questions about tables of numbers whose exact value a population can say.

A question gives every row a number in [0, 1]. Its `text` is its identity; `is_condition` says that
only 0 and 1 occur. Columns of the laboratory's tables (the last axis runs over the rows):

======= ============================================================================
label   +1 or -1 for each row
agree   features x rows: +1 where the feature equals the label, -1 where it does not
value   features x rows: real numbers, symmetric about 0
row     which row of the population's own table this is
point   a whole number in [0, 2^POINT_BITS)
======= ============================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.question.row import GRID
from holdfast.statistics.description import Prior
from holdfast.theory.length.levels import option_millibits
from holdfast.theory.length.words import option

# Sums of real values are cut off at +-HALF_RANGE and shown as fractions of that range.
HALF_RANGE = 40.0
POINT_BITS = 4096
# Below 2^24 whole numbers and their sums are exact in single precision, which is twice as fast.
_EXACT_SINGLE = 1 << 24
_BLOCK = 512


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Named columns; the last axis of each runs over the rows."""

    columns: Mapping[str, NDArray[Any]]

    def __post_init__(self) -> None:
        if len({column.shape[-1] for column in self.columns.values()}) != 1:
            raise InvalidArgument("The columns of a table must have the same number of rows.")

    @property
    def n(self) -> int:
        return int(next(iter(self.columns.values())).shape[-1])

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise InvalidQuestion(f"The table has no column {name!r}; it has {[*self.columns]}.")
        return self.columns[name]

    def take(self, rows: NDArray[np.intp] | slice) -> Arrays:
        """The chosen rows, in the order given."""
        return Arrays({name: column[..., rows] for name, column in self.columns.items()})


class LabQuestion(Protocol):
    """A number in [0, 1] for every row of a table."""

    @property
    def text(self) -> str:
        """Its identity: equal texts, the same question."""
        ...

    @property
    def is_condition(self) -> bool:
        """Whether only 0 and 1 occur."""
        ...

    def values(self, table: Arrays) -> NDArray[Any]:
        """One value for each row: booleans for a condition, else numbers in [0, 1]."""
        ...


def average(question: LabQuestion, table: Arrays) -> float:
    """The sample's value."""
    return float(np.mean(question.values(table)))


def grid_moments(question: LabQuestion, table: Arrays) -> tuple[int, int]:
    """The sum of the values' grid units and the sum of their squares, as exact integers."""
    values = question.values(table)
    if question.is_condition:
        count = int(np.count_nonzero(values))
        return count * GRID, count * GRID**2
    return moments_of(values)


def moments_of(values: NDArray[Any]) -> tuple[int, int]:
    """Moments of values in [0, 1]."""
    units = np.floor(np.clip(values, 0.0, 1.0) * GRID).astype(np.int64)
    high, low = units >> 15, units & 0x7FFF
    parts = (int((a * b).sum()) for a, b in ((high, high), (high, low), (low, low)))
    high_high, high_low, low_low = parts
    return int(units.sum()), (high_high << 30) + (high_low << 16) + low_low


@dataclass(frozen=True, slots=True)
class Vote:
    """The accuracy of a weighted vote: +1 is predicted where the weighted sum is 0 or above."""

    is_condition: ClassVar[bool] = True

    features: tuple[int, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.features) != len(self.weights) or len(set(self.features)) != len(self.features):
            raise InvalidArgument("A vote needs distinct features and one weight for each of them.")

    @classmethod
    def of(cls, weights: Mapping[int, int] | Iterable[tuple[int, int]]) -> Vote:
        """From pairs of feature and weight; features with weight 0 do not vote."""
        pairs = weights.items() if isinstance(weights, Mapping) else weights
        terms = [(int(feature), int(weight)) for feature, weight in pairs if weight]
        return cls(tuple(feature for feature, _ in terms), tuple(weight for _, weight in terms))

    @property
    def text(self) -> str:
        pairs = sorted(zip(self.features, self.weights, strict=True))
        if len(pairs) > 6:
            return f"accuracy of a vote of {len(pairs):,} features {_digest(repr(pairs))}"
        text = " ".join(f"{weight:+d}*x{feature}" for feature, weight in pairs)
        return f"accuracy of {text or 'no feature'}"

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        total = _weighted(table["agree"], self.features, self.weights)
        return np.asarray((total > 0) | ((total == 0) & (table["label"] > 0)))


@dataclass(frozen=True, slots=True)
class BothPositive:
    """How often feature and label are both +1."""

    is_condition: ClassVar[bool] = True

    feature: int

    @property
    def text(self) -> str:
        return f"x{self.feature} and label are +1"

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        return np.asarray((table["agree"][self.feature] > 0) & (table["label"] > 0))


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Whether a row of the population's table is in a set."""

    is_condition: ClassVar[bool] = True

    members: NDArray[np.bool_]

    @property
    def text(self) -> str:
        return f"row is in set {_digest(np.packbits(self.members).tobytes())}"

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        return np.asarray(self.members[table["row"]])


@dataclass(frozen=True, slots=True)
class Linear:
    """The mean of a weighted sum of real values, the weights having length 1 (or less)."""

    is_condition: ClassVar[bool] = False

    features: tuple[int, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if math.hypot(*self.weights) > 1 + 1e-9:
            raise InvalidArgument(
                f"The weights have length {math.hypot(*self.weights):g}; it must be at most 1."
            )

    @property
    def text(self) -> str:
        pairs = sorted(zip(self.features, self.weights, strict=True))
        return f"mean of a sum of {len(pairs):,} values {_digest(repr(pairs))}"

    def values(self, table: Arrays) -> NDArray[np.float64]:
        chosen = table["value"][list(self.features)]
        total = np.asarray(self.weights) @ chosen
        return np.asarray(np.clip(total, -HALF_RANGE, HALF_RANGE) / (2 * HALF_RANGE) + 0.5)


@dataclass(frozen=True, slots=True)
class Staircase:
    """1/2 outside [start, start + steps * width) of the points; inside, `steps` equal parts get
    evenly spaced values from 1/2 - height to 1/2 + height."""

    is_condition: ClassVar[bool] = False

    start: int
    width: int
    steps: int
    height: float

    def __post_init__(self) -> None:
        if self.steps < 2 or self.width < 1 or not 0 < self.height <= 0.5:
            raise InvalidArgument("A staircase has 2 steps or more, and a height of at most 1/2.")

    @property
    def text(self) -> str:
        text = f"{self.start:x}|{self.width:x}|{self.steps}|{self.height!r}"
        return f"staircase {_digest(text)}"

    def value_of_step(self, step: int) -> float:
        return 0.5 + self.height * (2 * step / (self.steps - 1) - 1)

    def values(self, table: Arrays) -> NDArray[np.float64]:
        return np.array([self._at(int(point)) for point in table["point"]])

    def _at(self, point: int) -> float:
        step = (point - self.start) // self.width
        return self.value_of_step(step) if 0 <= step < self.steps else 0.5


@dataclass(frozen=True, slots=True)
class Tails:
    """1/2 outside [start, start + size) of the points; inside, as far from 1/2 on both sides as a
    question of scale `sigma` may be: the i-th point from either end has distance a where
    2 exp(-a^2/(2 sigma^2)) is the probability of it and of all that are further out."""

    is_condition: ClassVar[bool] = False

    start: int
    size: int
    sigma: float
    most: float = 0.499

    def __post_init__(self) -> None:
        if self.size < 2 or not 0 < self.most < 0.5 or self.sigma <= 0:
            raise InvalidArgument("A question of tails has 2 points or more, and stays in (0, 1).")

    @property
    def text(self) -> str:
        return f"tails {_digest(f'{self.start:x}|{self.size:x}|{self.sigma!r}|{self.most!r}')}"

    @property
    def log_rarity(self) -> float:
        """L: the points are a set of probability e^{-L}."""
        return POINT_BITS * math.log(2) - math.log(self.size)

    def below(self, value: float) -> int:
        """How many of the points have a smaller value, but for a rounding of a part in 10^9."""
        away = abs(value - 0.5)
        if away > self.most:
            return 0 if value < 0.5 else self.size
        log_part = min(0.0, math.log(2) + self.log_rarity - (away / self.sigma) ** 2 / 2)
        outside = int(Fraction(math.exp(log_part)) * self.size / 2)
        return outside if value < 0.5 else self.size - outside

    def values(self, table: Arrays) -> NDArray[np.float64]:
        return np.array([self._at(int(point)) for point in table["point"]])

    def _at(self, point: int) -> float:
        place = point - self.start
        if not 0 <= place < self.size or 2 * place + 1 == self.size:
            return 0.5
        outside = min(place + 1, self.size - place)
        log_part = math.log(2 * outside) - math.log(self.size)
        away = self.sigma * math.sqrt(2 * (math.log(2) + self.log_rarity - min(0.0, log_part)))
        return 0.5 + min(self.most, away) * (1 if 2 * place + 1 > self.size else -1)


def _weighted(
    agree: NDArray[np.int8], features: tuple[int, ...], weights: tuple[int, ...]
) -> NDArray[Any]:
    """The exact weighted sums of +-1 values, for each row; some features at a time."""
    exact: type[np.floating[Any]] = np.float64
    if sum(map(abs, weights)) < _EXACT_SINGLE:
        exact = np.float32
    total: NDArray[Any] = np.zeros(agree.shape[-1], dtype=exact)
    for start in range(0, len(features), _BLOCK):
        chosen = list(features[start : start + _BLOCK])
        part = np.array(weights[start : start + _BLOCK], dtype=exact)
        total = total + part @ agree[chosen].astype(exact)
    return total


def _digest(content: str | bytes) -> str:
    """A short name for long words."""
    spelled = content.encode() if isinstance(content, str) else content
    return blake2b(spelled, digest_size=12).hexdigest()


# Questions with a text over the table's own columns, and how long that is in bits.


@runtime_checkable
class HasLength(LabQuestion, Protocol):
    """A question with a text over the table's own columns."""

    @property
    def millibits(self) -> int:
        """Its length, in thousandths of a bit."""
        ...


@dataclass(frozen=True, slots=True)
class Parity:
    """How often the product of some features is +1: one of the 2^d texts that were declared.

    All of them are favourites, so each costs d bits and the two of saying so. `chosen` has a bit
    for each feature.
    """

    is_condition: ClassVar[bool] = True

    chosen: int
    features: int

    @property
    def text(self) -> str:
        return f"parity {self.chosen} of {self.features} features"

    @property
    def millibits(self) -> int:
        return option("route", "favourites") + option_millibits(1, 2**self.features)

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        places = [place for place in range(self.features) if self.chosen >> place & 1]
        return np.asarray(np.prod(table["agree"][places], axis=0, dtype=np.int8) > 0)


@dataclass(frozen=True, slots=True)
class WrittenVote:
    """The accuracy of a majority of columns, written out over the columns of the table."""

    is_condition: ClassVar[bool] = True

    vote: Vote
    columns: int

    @property
    def text(self) -> str:
        """At a tie +1 is predicted, as `Vote` does."""
        names = " + ".join(f"x{feature}" for feature in self.vote.features)
        return f"avg(({names} >= {len(self.vote.features) / 2:g}) = label)"

    @property
    def millibits(self) -> int:
        return _millibits(self.text, self.columns)

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        return self.vote.values(table)


@lru_cache(maxsize=4096)
def _millibits(text: str, columns: int) -> int:
    """Of the dearest part of a question about so many columns and a label."""
    return max(part.millibits for part in _prior(columns).bits(text).parts)


@lru_cache(maxsize=8)
def _prior(columns: int) -> Prior:
    names = ["label", *(f"x{place}" for place in range(columns))]
    return Prior(Schema(dict.fromkeys(names, ColumnType.BOOLEAN)))
