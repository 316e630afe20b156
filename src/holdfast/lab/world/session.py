"""Session in memory: Holdfast's own mechanisms in the laboratory, with the one door.

Terms and an account folded by offer, respond, settle and advance, noise addressed by a seed: what a
holdout does, without a ledger. A mechanism is made from its name in the catalogue, as an opening
makes it. Everything of the laboratory that knows a mechanism is in this file; how questions are
answered by their description is in `described`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from holdfast import require
from holdfast.data.histogram import Histogram, histograms
from holdfast.data.sample import Moments, Sample
from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Lesson
from holdfast.guessers.training import LastBest
from holdfast.lab.world.holders import Session, Shown
from holdfast.lab.world.linear_questions import (
    Arrays,
    LabQuestion,
    average,
    grid_moments,
    moments_of,
)
from holdfast.mechanisms.catalogue import Planned, built, claiming, kind_of
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import (
    Checker,
    Mechanism,
    Offer,
    Refuted,
    Release,
    Wish,
    about,
    revealed,
    walk,
)
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.papers.ladder import Ladder
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import GRID, BatchFunction, RowValue
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

if TYPE_CHECKING:
    import polars as pl

GuessedBy = Literal["nobody", "analyst", "train", "last best"]
BY_BOUNDED_NOISE = "bounded noise"
_ROW = "number"
_LADDER = LastBest()


@dataclass(frozen=True, slots=True)
class _OfRows:
    """A laboratory question as a function of a table's rows, which a frame names by number."""

    question: LabQuestion
    table: Arrays

    @property
    def columns(self) -> tuple[str, ...]:
        return (_ROW,)

    @property
    def text(self) -> str:
        return self.question.text

    def values(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        chosen = frame[_ROW].to_numpy()
        return np.asarray(self.question.values(self.table)[chosen], dtype=np.float64)


@dataclass(slots=True)
class LabSample:
    """A table as mechanisms see it: the number of rows, exact sums, and rows by their numbers.

    With a `scale` below 1 every deviation of a sum from the middle of the range is that much larger
    than it is; a mechanism that does not know of it has noise and half-width too small by this
    factor. `work` counts what was computed: all that a clock could tell.
    """

    table: Arrays
    scale: float = 1.0
    work: int = 0
    in_rows: bool = False  # whether rows were read one by one, and so nothing was stretched
    asked: dict[str, RowValue] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.table.n

    @property
    def types(self) -> dict[str, ColumnType]:
        return {_ROW: ColumnType.INTEGER}

    def mean(self, question: LabQuestion) -> Mean:
        """A question in the shape in which mechanisms know statistics: a mean of all rows."""
        source = _OfRows(question, self.table)
        row = RowValue(source, 0.0, 1.0, question.text, question.is_condition)
        mean = Mean(row)
        self.asked[mean.text] = row
        return mean

    def knows(self, question: Statistic) -> bool:
        return question.text in self.asked

    def row(self, text: str, sample: Sample) -> RowValue:  # noqa: ARG002 - it is this one
        return self.asked[text]

    def prepare(self, rows: Sequence[RowValue]) -> None:
        """Nothing: laboratory questions are no row expressions."""

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        self.work += len(rows)
        return [self._moments(row)[0] for row in rows]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        self.work += 2 * len(rows)
        return [self._moments(row) for row in rows]

    def histograms(self, columns: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        return histograms(self, columns)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        import polars as pl

        self.work += 1
        self.in_rows = True
        yield pl.DataFrame({_ROW: np.arange(self.n)}).select(columns)

    def joined(self, key: str, frame: pl.DataFrame) -> Sample:  # noqa: ARG002 - whatever they are
        raise InvalidArgument("The laboratory's tables have no key; attach columns to a holdout.")

    def _moments(self, row: RowValue) -> Moments:
        if not isinstance(row.source, _OfRows):
            (frame,) = self.frames(row.columns)
            values = cast(BatchFunction, row.source).values(frame)
            return moments_of((values - row.low) / (row.high - row.low))
        total, squares = grid_moments(row.source.question, self.table)
        if self.scale == 1.0:
            return total, squares
        most = self.n * GRID
        stretched = round(most / 2 + (total - most / 2) / self.scale)
        return min(most, max(0, stretched)), squares


class _Opened(NamedTuple):
    """Opening: the terms, and who answers and who checks under them."""

    terms: Terms
    mechanism: Mechanism
    checker: Checker | None


@dataclass(frozen=True, slots=True)
class Protected:
    """Holdfast: `ask` by a mechanism of the catalogue, or `check` where there is a guess.

    Guesses come from nobody, from the analyst, from the training table, from the best answer so far
    (one-sided: the Ladder with an interval), or are one number. With the
    `parameters` of a ledger (as JSON) the mechanism is the ledger's, and nothing is planned. Two
    sabotages, for trials that must fail: `scale` shrinks noise and half-width together, and without
    `charging` answers cost nothing.
    """

    guesses: GuessedBy | float = "nobody"
    scale: float = 1.0
    charging: bool = True
    mechanism: str = BY_BOUNDED_NOISE
    parameters: str | None = None

    def __post_init__(self) -> None:
        require.between("scale", self.scale, 0.0, 1.0, open_low=True)
        kind_of(self.mechanism)

    @property
    def name(self) -> str:
        if kind_of(self.mechanism).theorem is None:
            return self.mechanism
        asks = "ask" if self.mechanism == BY_BOUNDED_NOISE else f"ask by {self.mechanism}"
        by = {"nobody": asks, "analyst": "check", "train": "check against training"}
        by["last best"] = "check against the last best"
        label = by.get(str(self.guesses), f"check against {self.guesses}")
        sabotage = f", scaled by {self.scale:g}" * (self.scale < 1) + ", free" * (not self.charging)
        return f"Holdfast {label}{sabotage}"

    @property
    def promises(self) -> bool:
        promised = kind_of(self.mechanism).theorem is not None
        return promised and self.scale == 1.0 and self.charging

    @property
    def needs_training(self) -> bool:
        return self.guesses == "train" or kind_of(self.mechanism).trained

    def checks(self, terms: Terms) -> bool:
        """Whether guesses are checked under these terms."""
        return self._opened(terms).checker is not None

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:
        if self.needs_training and train is None:
            raise InvalidArgument("Guesses from training need a training table.")
        opened = self._opened(terms)
        if self.guesses != "nobody" and opened.checker is None:
            reason = kind_of(self.mechanism).refuses_checks or "nothing is set aside for them."
            raise InvalidArgument(f"{self.mechanism} checks no guesses: {reason}")
        rows = LabSample(sample, self.scale)
        if isinstance(opened.mechanism, Ladder):  # questions here cannot be read from their texts
            opened = opened._replace(mechanism=replace(opened.mechanism, recall=rows))
        return _ProtectedSession(self, opened, rows, train, lab_secret(seed))

    def _opened(self, declared: Terms) -> _Opened:
        kind = kind_of(self.mechanism)
        # The half-width that the analyst goes by is nothing that a baseline promises.
        terms = declared if kind.theorem is not None else replace(declared, tolerance=None)
        if self.parameters is None:
            planned = _planned(self.mechanism, terms)
            terms, parameters = planned.terms(terms), planned.parameters
        else:
            parameters = json.loads(self.parameters)
        recorded = {"name": kind.name, "parameters": parameters}
        return _Opened(terms, built(recorded, terms), claiming(recorded, terms, CHECKS))


def planned_terms(mechanism: str, terms: Terms) -> Terms:
    """The same terms with the half-width that the mechanism decides by itself.

    Where it promises none, that of bounded noise: naive intervals are then as wide for everyone.
    """
    if kind_of(mechanism).theorem is None:
        mechanism = BY_BOUNDED_NOISE
    wanted = replace(terms, tolerance=None)
    return _planned(mechanism, wanted).terms(wanted)


@lru_cache(maxsize=256)
def _planned(name: str, wanted: Terms) -> Planned:
    kind = kind_of(name)
    # Questions of the laboratory are scores, of which analysts want high ones.
    return kind.plan(wanted, {"better": "higher"} if "better" in kind.options else {})


@dataclass(frozen=True, slots=True)
class NoisyPart:
    """Rogers et al. 2020 with Holdfast's accounting: guesses from a share of the rows, with
    Gaussian noise of size `noise`; checks on the others."""

    name: ClassVar[str] = "Holdfast check against a noisy part"
    promises: ClassVar[bool] = True

    noise: float = 0.01
    share: float = 0.5

    def open(self, terms: Terms, sample: Arrays, train: Arrays | None, seed: int) -> Session:
        if not terms.independent:
            raise InvalidArgument("A part of dependent rows is not independent of the others.")
        cut = math.floor(self.share * sample.n)
        rows = sample.n - cut
        terms = replace(terms, rows=rows)
        protected = Protected("analyst").open(terms, sample.take(slice(cut, None)), train, seed)
        rng = np.random.default_rng([seed, 1])
        return _NoisyPartSession(protected, sample.take(slice(cut)), self.noise, rng)


@dataclass(frozen=True, slots=True)
class _NoisyPartSession:
    kept: Session
    shown_part: Arrays
    noise: float
    rng: np.random.Generator

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        noisy = average(question, self.shown_part) + float(self.rng.normal(0.0, self.noise))
        return self.kept.ask(question, min(1.0, max(0.0, noisy)), identity)


@dataclass(slots=True)
class _ProtectedSession:
    """One account for all who ask: `identity` changes nothing."""

    settings: Protected
    opened: _Opened
    sample: LabSample
    train: Arrays | None
    secret: bytes
    account: Account = field(default_factory=Account)
    known: dict[tuple[str, float | None], Shown] = field(default_factory=dict)
    best: Mapping[tuple[float, float], float] = field(default_factory=dict)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        guess = self._guess(question, guess)
        # A ledger repeats what it knows whatever the guess; who spells the question otherwise gets
        # a new check, and so does an attack here.
        asked_before = (question.text, guess)
        if asked_before not in self.known:
            self.known[asked_before] = self._answer(question, guess)
        return self.known[asked_before]

    def _guess(self, question: LabQuestion, guess: float | None) -> float | None:
        match self.settings.guesses:
            case "nobody" | "last best":
                return None
            case "analyst":
                return guess
            case "train" if self.train is not None:
                return average(question, self.train)
            case fixed:
                return float(fixed)

    def _wish(self, question: LabQuestion, guess: float | None) -> Wish:
        mean, t = self.sample.mean(question), self.opened.terms.half_width
        if guess is not None:
            return about(mean, t, _stretched(guess, self.settings.scale))
        if kind_of(self.settings.mechanism).trained and self.train is not None:
            return Wish(
                mean, t, guess=_stretched(average(question, self.train), self.settings.scale)
            )
        if self.settings.guesses == "last best" and _LADDER.covers(self.best, mean):
            (best,) = _LADDER.guess(self.best, [mean])
            return Wish(mean, t, _LADDER.claim(best, t), best)
        return Wish(mean, t)

    def _answer(self, question: LabQuestion, guess: float | None) -> Shown:
        (terms, mechanism, checker), wish = self.opened, self._wish(question, guess)
        if wish.claim is not None and checker is not None:
            mechanism = checker
        before, sample = self.sample.work, cast(Sample, self.sample)
        (offer,), (release,), account = walk(
            mechanism, terms, self.account, [wish], sample, self._noise
        )
        refuted = None
        if release.status == "not confirmed" and wish.claim is not None:
            refuted = Refuted(offer.number, wish.claim, offer.radius)
            plain, asks = [replace(wish, claim=None)], self.opened.mechanism
            (offer,), (release,), account = walk(asks, terms, account, plain, sample, self._noise)
        self.account = account if self.settings.charging else _free(account)
        reveals = revealed(offer, release, refuted)
        whole, t = Interval(0.0, 1.0), offer.tolerance
        self.best = _LADDER.learn(
            self.best, Lesson(offer.question, whole, release.told, t, reveals)
        )
        reply = self._reply(offer, release, self.sample.work - before)
        return replace(reply, status="not confirmed") if refuted else reply

    def _reply(self, offer: Offer, release: Release, work: int) -> Shown:
        """Reply; the stretching of the sample by a scale is undone."""
        scale, middle = self.settings.scale, release.told if self.sample.in_rows else 0.5
        ends = (release.told, *release.interval)
        value, low, high = (_shrunk(each, scale, middle) for each in ends)
        if release.status == "no promise":
            return Shown(value, status=release.status, work=work)
        noise = 0.0 if release.status == "confirmed" else _noise_allowed(offer)
        return Shown(value, low, high, release.status, scale * noise or None, work)

    def _noise(self, number: int) -> Noise:
        return Noise(self.secret, str(number))


def _noise_allowed(offer: Offer) -> float:
    """Noise that an interval allows beside the radius of a statement about the sample."""
    return max(0.0, (offer.tolerance or 0.0) - (offer.radius or 0.0))


def asking(terms: Terms) -> Mechanism:
    """Mechanism that answers by bounded noise under these terms."""
    return Protected()._opened(terms).mechanism


def lab_secret(seed: int) -> bytes:
    """Secret by which the noise of a session is drawn."""
    return blake2b(f"laboratory {seed}".encode(), digest_size=32).digest()


def _free(account: Account) -> Account:
    return replace(account, leakage=replace(account.leakage, nats=0.0))


def _stretched(value: float, scale: float) -> float:
    return min(1.0, max(0.0, 0.5 + (value - 0.5) / scale))


def _shrunk(value: float, scale: float, middle: float) -> float:
    """Back again; the ends of the range stay where they are, as they bind nothing."""
    return value if scale == 1.0 or value in (0.0, 1.0) else middle + scale * (value - middle)
