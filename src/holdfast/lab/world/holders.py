"""Holders who answer: how people hold out data today, and what careful-looking code does wrong.

None of them is part of the promise; they are what Holdfast is compared with. Intervals are those
that people would attach: they are shown so that a trial can say whether they hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import ClassVar, Protocol

import numpy as np

from holdfast.data.sampling import Independent
from holdfast.errors import BudgetExhausted
from holdfast.lab.world.linear_questions import Arrays, LabQuestion, average
from holdfast.mechanisms.terms import Terms
from holdfast.papers.theorems.baselines import (
    sample_splitting_binomial_half_width,
    sample_splitting_half_width,
)
from holdfast.papers.theorems.published import empirical_bernstein_radius


@dataclass(frozen=True, slots=True)
class Shown:
    """Reply that the analyst sees: a value, an interval or None, and what is public about it.

    `reach` is what the interval allows for noise, where the holder states it. `work` counts
    what was computed on the way: all that the time it took could tell, without a clock.
    """

    value: float
    low: float | None = None
    high: float | None = None
    status: str = "answered"
    reach: float | None = None
    work: int = 0

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def as_if_fixed(terms: Terms) -> float:
    """The half-width that would do if no question depended on an answer."""
    return terms.concentration.radius(terms.log_beta - math.log(terms.questions or 1))


def as_if_independent(terms: Terms) -> Terms:
    """The same terms by someone who takes the rows for independent draws."""
    return replace(terms, sampling=Independent())


class Session(Protocol):
    """One sample with its memory; everyone who asks shares it."""

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:
        """The answer, or `Refused` with nothing computed."""
        ...


class Holder(Protocol):
    """A way to hold out data, as a frozen value."""

    @property
    def name(self) -> str: ...

    @property
    def promises(self) -> bool:
        """Whether it claims that all its intervals hold whatever is asked."""
        ...

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:
        """A session on this sample; `train` is a table that the analyst has too."""
        ...


def _around(value: float, half_width: float) -> Shown:
    return Shown(value, max(0.0, value - half_width), min(1.0, value + half_width))


@dataclass(frozen=True, slots=True)
class Plain:
    """The sample's value, exact or rounded to some digits, with an interval for fixed questions."""

    promises: ClassVar[bool] = False

    digits: int | None = None

    @property
    def name(self) -> str:
        return "plain holdout" if self.digits is None else f"rounded to {self.digits} digits"

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        return _PlainSession(terms, sample, self.digits)


@dataclass(frozen=True, slots=True)
class _PlainSession:
    terms: Terms
    sample: Arrays
    digits: int | None

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        value, rounding = average(question, self.sample), 0.0
        if self.digits is not None:
            value, rounding = round(value, self.digits), 0.5 * 10.0**-self.digits
        return _around(value, as_if_fixed(self.terms) + rounding)


@dataclass(frozen=True, slots=True)
class CapPerAccount:
    """A plain holdout that answers each account a limited number of times."""

    promises: ClassVar[bool] = False

    cap: int

    @property
    def name(self) -> str:
        return f"{self.cap:,} answers for each account"

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:
        capped = replace(terms, questions=self.cap)
        return _CappedSession(self.cap, Plain().open(capped, sample, train, seed))


@dataclass(slots=True)
class _CappedSession:
    cap: int
    inner: Session
    used: dict[str, int] = field(default_factory=dict)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:
        used = self.used.get(identity, 0)
        if used >= self.cap:
            raise BudgetExhausted(f"The account has used its {self.cap:,} answers.")
        self.used[identity] = used + 1
        return self.inner.ask(question, guess, identity)


@dataclass(frozen=True, slots=True)
class Splitting:
    """Each question gets its own rows: as many questions as the tolerance allows.

    `exact` takes the binomial half-width at truth 1/2 in place of Hoeffding's.
    """

    promises: ClassVar[bool] = True

    exact: bool = False

    @property
    def name(self) -> str:
        return "sample splitting" + (" (binomial)" if self.exact else "")

    def half_width(self, terms: Terms, questions: int) -> float:
        width = sample_splitting_binomial_half_width if self.exact else sample_splitting_half_width
        return width(terms.rows, questions, terms.log_beta)

    def parts(self, terms: Terms) -> int:
        """How many questions: those declared, or the most that the tolerance allows."""
        # Below 1/(2 t^2) rows not even one question is answered to +-t.
        most = math.ceil(2 * terms.rows * terms.half_width**2)
        most = min(most, terms.questions or most)
        fitting = (k for k in range(most, 0, -1) if self.half_width(terms, k) <= terms.half_width)
        return next(fitting, 0)

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        parts = self.parts(terms)
        return _SplitSession(sample, parts, self.half_width(terms, max(1, parts)))


@dataclass(slots=True)
class _SplitSession:
    sample: Arrays
    parts: int
    half_width: float
    asked: int = 0

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        if self.asked == self.parts:
            raise BudgetExhausted(f"The rows are enough for {self.parts:,} questions, all asked.")
        size = self.sample.n // self.parts
        part = self.sample.take(slice(self.asked * size, (self.asked + 1) * size))
        self.asked += 1
        return _around(average(question, part), self.half_width)


# Holders that give something away beside the value: what careful-looking code can do wrong.
#
# Their values are noisy, and yet everything is there to be read: in a width, or in the time
# taken.


_BLOCK = 20


@dataclass(frozen=True, slots=True)
class LeakyWidth:
    """Noise on the value, but a width computed on the exact sample: the width tells everything."""

    name: ClassVar[str] = "noisy value, width of the sample"
    promises: ClassVar[bool] = False

    noise: float = 0.05

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        return _LeakySession(self, terms, sample, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True)
class _LeakySession:
    settings: LeakyWidth
    terms: Terms
    sample: Arrays
    rng: np.random.Generator

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        values = np.asarray(question.values(self.sample), dtype=np.float64)
        log_p = self.terms.log_beta - math.log(self.terms.questions or 1)
        radius = empirical_bernstein_radius(len(values), float(values.var(ddof=1)), log_p)
        noise = self.settings.noise
        value = float(values.mean() + self.rng.uniform(-noise, noise))
        return Shown(value, value - noise - radius, value + noise + radius, reach=noise)


@dataclass(frozen=True, slots=True)
class LeakyTime:
    """Noise on the value, and a scan that stops as soon as it has counted a quarter of the rows:
    the number of blocks read, and so the time taken, tells the count."""

    name: ClassVar[str] = "noisy value, scan that stops early"
    promises: ClassVar[bool] = False

    noise: float = 0.05

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:  # noqa: ARG002
        return _TimedSession(self, terms, sample, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True)
class _TimedSession:
    settings: LeakyTime
    terms: Terms
    sample: Arrays
    rng: np.random.Generator

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        values = np.asarray(question.values(self.sample), dtype=np.float64)
        enough = np.flatnonzero(np.cumsum(values) >= len(values) / 4)
        rows = int(enough[0]) + 1 if len(enough) else len(values)
        noise = self.settings.noise
        value = float(values.mean() + self.rng.uniform(-noise, noise))
        reach = noise + as_if_fixed(self.terms)
        blocks = math.ceil(rows / _BLOCK)
        return Shown(value, value - reach, value + reach, reach=noise, work=blocks)


# A holder that knows computed columns by what they hold: what careful-looking code can do wrong.
#
# A question about a column whose values are those of an earlier one is a repeat, free and with
# the same answer. It saves budget, and tells for nothing, exactly, that no row tells the two
# apart.


@dataclass(frozen=True, slots=True)
class ByContent:
    """A holder whose columns are the same if their values in the sample are."""

    promises: ClassVar[bool] = False

    holder: Holder

    @property
    def name(self) -> str:
        return f"{self.holder.name}, columns known by their content"

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:
        return _ContentSession(sample, self.holder.open(terms, sample, train, seed))


@dataclass(slots=True)
class _ContentSession:
    sample: Arrays
    inner: Session
    known: dict[tuple[str, float | None], Shown] = field(default_factory=dict)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:
        values = np.ascontiguousarray(question.values(self.sample))
        key = sha256(values.tobytes()).hexdigest(), guess
        if key in self.known:
            return replace(self.known[key], status="repeated")
        self.known[key] = self.inner.ask(question, guess, identity)
        return self.known[key]
