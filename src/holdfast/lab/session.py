"""Holdfast's own mechanisms in the laboratory: a session in memory, with the one door.

Terms and an account folded by offer, respond, settle and advance, noise addressed by a seed: what a
holdout does, without a ledger. Everything of the laboratory that knows a mechanism is in this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal, cast

import numpy as np

from holdfast import require
from holdfast.data.sample import Moments, Sample
from holdfast.errors import InvalidArgument
from holdfast.lab.holders import Session, Setting, Shown
from holdfast.lab.questions import LabQuestion, Table, average, grid_moments
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.bounded_noise import BoundedNoise
from holdfast.mechanisms.guess_and_check import GuessAndCheck
from holdfast.mechanisms.mechanism import Mechanism, Offer, Release, Wish, about
from holdfast.mechanisms.noise import Noise
from holdfast.sampling import Declared, Independent, Sampling
from holdfast.statistics.statistic import Statistic
from holdfast.theory.concentration import BoundedMean, Concentration

__all__ = ["GuessedBy", "LabSample", "NoisyHalf", "Protected"]

GuessedBy = Literal["nobody", "analyst", "train"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A laboratory question in the shape in which mechanisms know statistics: a mean of rows."""

    question: LabQuestion
    low: float = 0.0
    high: float = 1.0

    @property
    def text(self) -> str:
        return self.question.text

    @property
    def row(self) -> _Asked:
        return self

    @property
    def is_condition(self) -> bool:
        return self.question.is_condition

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:
        return sampling.profile(n)


@dataclass(frozen=True, slots=True)
class LabSample:
    """A table as mechanisms see it: the number of rows and exact sums, never rows."""

    table: Table

    @property
    def n(self) -> int:
        return self.table.n

    def sums(self, rows: Sequence[Any]) -> list[int]:
        return [total for total, _ in self.moments(rows)]

    def moments(self, rows: Sequence[Any]) -> list[Moments]:
        return [grid_moments(row.question, self.table) for row in rows]


@dataclass(frozen=True, slots=True)
class Protected:
    """Holdfast: `ask` by a mechanism (bounded noise), or `check` where there is a guess.

    Guesses come from nobody, from the analyst, from the training table, or are one number. Two
    sabotages, for trials that must fail: `scale` shrinks noise and half-width together, and without
    `charging` answers cost nothing.
    """

    guesses: GuessedBy | float = "nobody"
    scale: float = 1.0
    charging: bool = True
    mechanism: Mechanism = field(default_factory=BoundedNoise)

    def __post_init__(self) -> None:
        require.between("scale", self.scale, 0.0, 1.0, open_low=True)

    @property
    def name(self) -> str:
        asks = "ask"
        if self.mechanism != BoundedNoise():
            asks = f"ask by {self.mechanism.name.partition('/')[0]}"
        by = {"nobody": asks, "analyst": "check", "train": "check against training"}
        what = by.get(str(self.guesses), f"check against {self.guesses}")
        sabotage = f", scaled by {self.scale:g}" * (self.scale < 1) + ", free" * (not self.charging)
        return f"Holdfast {what}{sabotage}"

    @property
    def promises(self) -> bool:
        return self.scale == 1.0 and self.charging

    def open(self, setting: Setting, sample: Table, train: Table | None, seed: int) -> Session:
        if self.guesses == "train" and train is None:
            raise InvalidArgument("Guesses from training need a training table.")
        return _ProtectedSession(self, _terms(setting), LabSample(sample), train, _secret(seed))


@dataclass(frozen=True, slots=True)
class NoisyHalf:
    """Rogers et al. 2020 with Holdfast's accounting: guesses from one half of the rows, with
    Gaussian noise of size `noise`; checks on the other half."""

    noise: float = 0.02

    @property
    def name(self) -> str:
        return "Holdfast check against a noisy half"

    @property
    def promises(self) -> bool:
        return True

    def open(self, setting: Setting, sample: Table, train: Table | None, seed: int) -> Session:
        if not setting.independent:
            raise InvalidArgument("Half of dependent rows is not independent of the other half.")
        half = sample.n // 2
        rows = sample.n - half
        setting = replace(setting, rows=rows, concentration=BoundedMean(rows))
        kept = Protected("analyst").open(setting, sample.take(slice(half, None)), train, seed)
        rng = np.random.default_rng([seed, 1])
        return _NoisyHalfSession(kept, sample.take(slice(half)), self.noise, rng)


@dataclass(frozen=True, slots=True)
class _NoisyHalfSession:
    kept: Session
    shown_half: Table
    noise: float
    rng: np.random.Generator

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        noisy = average(question, self.shown_half) + float(self.rng.normal(0.0, self.noise))
        return self.kept.ask(question, min(1.0, max(0.0, noisy)), identity)


@dataclass(slots=True)
class _ProtectedSession:
    """One account for all who ask: `identity` changes nothing."""

    settings: Protected
    terms: Terms
    sample: LabSample
    train: Table | None
    secret: bytes
    account: Account = field(default_factory=Account)
    known: dict[tuple[str, float | None], Shown] = field(default_factory=dict)

    def ask(self, question: LabQuestion, guess: float | None = None, identity: str = "") -> Shown:  # noqa: ARG002
        guess = self._guess(question, guess)
        asked_before = (question.text, guess)
        if asked_before not in self.known:
            self.known[asked_before] = self._answer(question, guess)
        return self.known[asked_before]

    def _guess(self, question: LabQuestion, guess: float | None) -> float | None:
        match self.settings.guesses:
            case "nobody":
                return None
            case "analyst":
                return guess
            case "train" if self.train is not None:
                return average(question, self.train)
            case fixed:
                return float(fixed)

    def _answer(self, question: LabQuestion, guess: float | None) -> Shown:
        asked, t = cast(Statistic, _Asked(question)), self.terms.tolerance
        mechanism, wish = self.settings.mechanism, Wish(asked, t)
        if guess is not None:
            mechanism, wish = GuessAndCheck(), about(asked, t, guess)
        (offer,) = mechanism.offer(self.terms, self.account, [wish])
        offer = self._sabotaged(offer)
        (symbol,) = mechanism.respond(
            self.terms, [offer], [asked], cast(Sample, self.sample), self._noise
        )
        release = mechanism.settle(offer, symbol)
        account = mechanism.advance(self.account, [offer], [release])
        self.account = account if self.settings.charging else _free(account)
        return _shown(offer, release)

    def _sabotaged(self, offer: Offer) -> Offer:
        scale = self.settings.scale
        if scale == 1.0:
            return offer
        return replace(
            offer,
            tolerance=offer.tolerance * scale,
            reach=math.floor(offer.reach * scale),
        )

    def _noise(self, number: int) -> Noise:
        return Noise(self.secret, number)


def _terms(setting: Setting) -> Terms:
    plain = setting.independent and setting.concentration == BoundedMean(setting.rows)
    return Terms(
        setting.rows,
        setting.tolerance,
        setting.confidence_level,
        setting.questions,
        Independent() if plain else Declared(setting.concentration),
    )


def _secret(seed: int) -> bytes:
    return blake2b(f"laboratory {seed}".encode(), digest_size=32).digest()


def _free(account: Account) -> Account:
    return replace(account, leakage=replace(account.leakage, nats=0.0))


def _shown(offer: Offer, release: Release) -> Shown:
    reach = (offer.reach + 0.5) / offer.cells if release.status != "confirmed" else None
    low, high = release.interval.low, release.interval.high
    return Shown(release.value, low, high, release.status, reach)
