"""Populations that can be drawn from and whose truth is known exactly.

Each says how its rows came about: `independent`, and the concentration of the mean of a [0, 1]
question over n of its rows. Those are what an honest holder declares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.data.sampling import Declared, Independent
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.lab.world.linear_questions import (
    HALF_RANGE,
    POINT_BITS,
    Arrays,
    BothPositive,
    LabQuestion,
    Linear,
    Parity,
    Staircase,
    Tails,
    Vote,
    WrittenVote,
    average,
)
from holdfast.mechanisms.terms import Terms
from holdfast.theory.base.concentration import (
    BoundedMean,
    Concentration,
    SubExponential,
    SubGaussian,
)

# The largest sum of weights for which the law of a vote is computed exactly.
_MOST_WEIGHT = 5_000_000


class Population(Protocol):
    """Population that rows are drawn from."""

    @property
    def independent(self) -> bool:
        """Whether rows are drawn independently of each other."""
        ...

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        """A fresh sample of n rows."""
        ...

    def truth(self, question: LabQuestion) -> float:
        """The exact value of a question in the population."""
        ...

    def concentration(self, n: int) -> Concentration:
        """The concentration of a question fixed in advance, over n rows."""
        ...


def terms_on(
    population: Population,
    rows: int,
    tolerance: float | None,
    questions: int | None,
    confidence_level: float = 0.95,
) -> Terms:
    """Terms that an honest holder of so many of its rows declares."""
    profile = population.concentration(rows)
    plain = population.independent and profile == BoundedMean(rows)
    sampling = Independent() if plain else Declared(profile)
    level = require.confidence_level(confidence_level)
    return Terms(rows, tolerance, level, questions, sampling)


def _unknown(population: Population, question: LabQuestion) -> InvalidQuestion:
    return InvalidQuestion(
        f"{type(population).__name__} does not know the truth of {type(question).__name__}."
    )


@dataclass(frozen=True, slots=True)
class Signs:
    """A fair +-1 label and independent +-1 features: coin flips, or a little signal in a few.

    The first `informative` features have mean `shift` when multiplied by the label: they agree with
    it with probability 1/2 + shift/2. The others are fair coins that know nothing of the label.
    """

    independent: ClassVar[bool] = True

    features: int
    informative: int = 0
    shift: float = 0.0

    def __post_init__(self) -> None:
        require.positive_integer("features", self.features)
        require.integer_between("informative", self.informative, 0, self.features)
        require.between("shift", self.shift, -1.0, 1.0)

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        agree = rng.integers(0, 2, (self.features, n), dtype=np.int8)
        if self.informative:
            agree[: self.informative] = rng.random((self.informative, n)) < 0.5 + self.shift / 2
        return Arrays({"agree": 2 * agree - 1, "label": _coins(n, rng)})

    def agreement(self, feature: int) -> float:
        """The probability that a feature equals the label."""
        return 0.5 + self.shift / 2 if feature < self.informative else 0.5

    def truth(self, question: LabQuestion) -> float:
        match question:
            case Vote() if not self.informative:
                return 0.5  # the prediction knows nothing of a fair label
            case Vote():
                return _vote_accuracy(
                    question.weights, [self.agreement(f) for f in question.features]
                )
            case BothPositive():
                return self.agreement(question.feature) / 2
            case Parity(chosen) if chosen and not self.informative:
                return 0.5
            case WrittenVote(vote):
                return self.truth(vote)
        raise _unknown(self, question)

    def concentration(self, n: int) -> Concentration:
        return BoundedMean(n)


def _coins(n: int, rng: np.random.Generator) -> NDArray[np.int8]:
    return np.asarray(2 * rng.integers(0, 2, n, dtype=np.int8) - 1)


def _vote_accuracy(weights: tuple[int, ...], agreement: list[float]) -> float:
    """P[T > 0] + P[T = 0]/2 for T the weighted sum of agreements: a tie predicts +1, right half of
    the time. The law of T is built feature by feature; its rounding error is below 1e-12."""
    reach = sum(map(abs, weights))
    if reach > _MOST_WEIGHT:
        raise InvalidArgument(
            f"The weights sum to {reach:,}; at most {_MOST_WEIGHT:,} is computed."
        )
    law, middle = np.ones(1), 0
    for weight, p in zip(weights, agreement, strict=True):
        size, chance = abs(weight), p if weight > 0 else 1 - p
        wider = np.zeros(len(law) + 2 * size)
        wider[2 * size :] += chance * law
        wider[: len(law)] += (1 - chance) * law
        law, middle = wider, middle + size
    return float(law[middle + 1 :].sum() + law[middle] / 2)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Rows of another population, each repeated `size` times: a table of n/size different rows."""

    base: Signs | HeavyTails
    size: int

    def __post_init__(self) -> None:
        require.positive_integer("size", self.size)

    @property
    def independent(self) -> bool:
        return self.size == 1

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        units = self.base.draw(self._units(n), rng)
        return units.take(np.repeat(np.arange(units.n), self.size))

    def truth(self, question: LabQuestion) -> float:
        return self.base.truth(question)

    def concentration(self, n: int) -> Concentration:
        return self.base.concentration(self._units(n))

    def _units(self, n: int) -> int:
        if n % self.size:
            raise InvalidArgument(f"{n:,} rows are not a multiple of blocks of {self.size:,}.")
        return n // self.size


@dataclass(frozen=True, slots=True)
class AutoRegressive:
    """Rows in time: each feature's agreement with the label is the sign of its own AR(1) process.

    Labels are independent fair coins, so that the truth of every vote is 1/2. A row is a state of a
    reversible Markov chain whose second eigenvalue is rho, and the mean of a [0, 1] function of it
    obeys Hoeffding's bound with n (1 - rho)/(1 + rho) rows (León and Perron 2004; Fan, Jiang and
    Sun 2021 for general states).
    """

    features: int
    rho: float

    def __post_init__(self) -> None:
        require.positive_integer("features", self.features)
        require.between("rho", self.rho, 0.0, 1.0, open_high=True)

    @property
    def independent(self) -> bool:
        return self.rho == 0.0

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        process = rng.standard_normal((self.features, n))
        process[:, 1:] *= math.sqrt(1 - self.rho**2)
        for row in range(1, n):
            process[:, row] += self.rho * process[:, row - 1]
        agree = np.where(process > 0, 1, -1).astype(np.int8)
        return Arrays({"agree": agree, "label": _coins(n, rng)})

    def truth(self, question: LabQuestion) -> float:
        return Signs(self.features).truth(question)

    def concentration(self, n: int) -> Concentration:
        return SubGaussian(0.5 * math.sqrt((1 + self.rho) / ((1 - self.rho) * n)))


@dataclass(frozen=True, slots=True)
class HeavyTails:
    """Independent features with Laplace's two-sided exponential law of scale 1: no bounds.

    For |s| <= 1/sqrt 2, E exp(s v) = 1/(1 - s^2) <= exp(2 ln 2 s^2); the same for a weighted sum
    with weights of length 1. So the mean of n rows is sub-exponential. Values cut off at
    +-HALF_RANGE are no larger in absolute value, still symmetric, and obey the same bound.
    """

    independent: ClassVar[bool] = True

    features: int

    def __post_init__(self) -> None:
        require.positive_integer("features", self.features)

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        return Arrays({"value": rng.laplace(size=(self.features, n))})

    def truth(self, question: LabQuestion) -> float:
        match question:
            case Linear():
                return 0.5
        raise _unknown(self, question)

    def concentration(self, n: int) -> Concentration:
        unit = 2 * HALF_RANGE
        return SubExponential(math.sqrt(4 * math.log(2) / n) / unit, math.sqrt(2) / n / unit)


@dataclass(frozen=True, slots=True)
class Resampled:
    """A table as a population: rows are drawn from it with replacement, so its averages are truth.

    Any real table can play the population this way. The drawn table has one more column, `row`.
    """

    independent: ClassVar[bool] = True

    table: Arrays

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        rows = rng.integers(0, self.table.n, n)
        return Arrays({**self.table.take(rows).columns, "row": rows})

    def truth(self, question: LabQuestion) -> float:
        numbered = {**self.table.columns, "row": np.arange(self.table.n)}
        return average(question, Arrays(numbered))

    def concentration(self, n: int) -> Concentration:
        return BoundedMean(n)


def universe(size: int) -> Resampled:
    """`size` different rows, all equally likely."""
    size = require.positive_integer("size", size)
    return Resampled(Arrays({"row": np.arange(size)}))


@dataclass(frozen=True, slots=True)
class OnePoint:
    """One point for all rows, uniform on [0, 2^POINT_BITS): the most dependent sample there is.

    Nothing is known but that each question is sub-Gaussian with scale `sigma`: what is not is
    refused. A staircase is 1/2 off a set of probability p and at most `height` from it on the set,
    so P[|q - 1/2| > a] <= 2 exp(-a^2/(2 sigma^2)) if that bound is p at a = height; tails have
    that probability at every distance that they reach.
    """

    independent: ClassVar[bool] = False

    sigma: float

    def __post_init__(self) -> None:
        require.positive("sigma", self.sigma)

    def draw(self, n: int, rng: np.random.Generator) -> Arrays:
        point = int.from_bytes(rng.bytes(POINT_BITS // 8), "big")
        return Arrays({"point": np.array([point] * n, dtype=object)})

    def truth(self, question: LabQuestion) -> float:
        match question:
            case Staircase():
                log_p = math.log(question.steps * question.width) - POINT_BITS * math.log(2)
                if log_p > self.concentration(1).log_tail(question.height) + 1e-9:
                    raise InvalidQuestion("The staircase is higher than its scale allows.")
                return 0.5
            case Tails():
                if question.sigma > self.sigma:
                    raise InvalidQuestion("The tails are heavier than the scale allows.")
                return 0.5
        raise _unknown(self, question)

    def concentration(self, n: int) -> Concentration:  # noqa: ARG002 - one point, however often
        return SubGaussian(self.sigma)
