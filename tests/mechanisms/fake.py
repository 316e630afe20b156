"""A sample made of numbers: all that a mechanism may see of a table, without a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

from holdfast.data.design import Design
from holdfast.data.histogram import Histogram
from holdfast.data.sample import Moments
from holdfast.data.sampling import Independent, declared
from holdfast.errors import InvalidArgument, Refused
from holdfast.ledger.audit import difference_of
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS, GATES, Claims, more_than
from holdfast.mechanisms.mechanism import (
    Mechanism,
    Offer,
    Release,
    Symbol,
    Wish,
    about,
    answer,
    walk,
)
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.row import GRID, GRID_ERROR, RowValue
from holdfast.statistics.mean import Mean
from holdfast.statistics.statistic import Statistic
from holdfast.theory.leakage.nats import LeakageAccount
from tests.statistics.asked import asked

SCHEMA = Schema({"b": ColumnType.BOOLEAN, "x": ColumnType.FLOAT}).declare({"x": (0.0, 1.0)})
CONDITION, NUMBER, CONSTANT = (asked(f"avg({what})", SCHEMA) for what in ("b", "x", "x * 0"))
PAIRED = asked("avg(new - old)", Schema({"new": ColumnType.BOOLEAN, "old": ColumnType.BOOLEAN}))
SECRET = bytes(range(32))
ALL: list[Mechanism] = [BOUNDED, CHECKS, GATES]
every_mechanism = pytest.mark.parametrize("mechanism", ALL, ids=lambda each: each.name)
every_claim = pytest.mark.parametrize("claims", [CHECKS, GATES], ids=lambda each: each.name)
every_question = pytest.mark.parametrize(
    "question", [CONDITION, NUMBER, CONSTANT], ids=lambda question: question.text
)
GUESSES = [0.0, 0.1, 0.5, 1.0]


@dataclass(frozen=True, slots=True)
class Sums:
    """`n` rows of which only the exact sums are known, computed when they are asked for."""

    n: int
    total: Callable[[RowValue], Moments]
    types: Mapping[str, ColumnType] = field(default_factory=lambda: SCHEMA.types)
    binned: Callable[[RowValue], Histogram] | None = None

    def prepare(self, rows: Sequence[RowValue]) -> None:
        pass

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        return [self.total(row)[0] for row in rows]

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        return [self.total(row) for row in rows]

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        assert self.binned is not None, "only sums are known"
        return [self.binned(row) for row, _ in asked]

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        raise AssertionError("a mechanism sees sums, never rows")

    def joined(self, key: str, frame: pl.DataFrame) -> Sums:
        raise AssertionError("a mechanism attaches nothing")


def of_units(units: Sequence[int]) -> Sums:
    """The sample whose rows have these grid units, whatever is asked."""
    moments = (sum(units), sum(unit * unit for unit in units))
    return Sums(len(units), lambda _: moments, binned=lambda _: bins_of(Counter(units)))


def of_count(n: int, count: int) -> Sums:
    """The sample in which `count` of n rows are true, whatever is asked."""
    bins = bins_of({0: n - count, GRID: count})
    return Sums(n, lambda _: (count * GRID, count * GRID**2), binned=lambda _: bins)


def of_pairs(same: int, b: int, c: int) -> Sums:
    """The sample of `PAIRED` in which the new one alone is right b times, the old one c times."""
    totals = {"new - old = 1": b, "new - old = -1": c}
    return Sums(same + b + c, lambda row: (totals[row.text] * GRID, totals[row.text] * GRID**2))


def bins_of(times: Mapping[int, int]) -> Histogram:
    """A bin for each of the units; a row's own value may be off the grid to either side."""
    units = sorted(times)
    places = np.array(units, dtype=np.float64) / GRID
    low, high = np.maximum(0.0, places - GRID_ERROR), np.minimum(1.0, places + GRID_ERROR)
    counts = np.array([times[unit] for unit in units], dtype=np.int64)
    return Histogram(counts, low, high, sum(unit * many for unit, many in times.items()))


ARMS = Design(("arm",), (ColumnType.INTEGER,), ((0,), (1,)), (450, 450), (450, 450), False)


def independent(
    n: int,
    *,
    tolerance: float | None = 0.3,
    questions: int | None = 10,
    confidence_level: float = 0.95,
) -> Terms:
    return Terms(n, tolerance, confidence_level, questions, Independent())


def dependent(
    n: int,
    *,
    sigma: float = 0.05,
    tolerance: float | None = 0.3,
    questions: int | None = 10,
    confidence_level: float = 0.95,
) -> Terms:
    return Terms(n, tolerance, confidence_level, questions, declared(sigma=sigma))


def leaked(nats: float, *, asked: int = 0, checks: int = 0, surprises: int = 0) -> Account:
    return Account(LeakageAccount(asked, nats), checks, surprises, claims=checks)


def claimed(claims: Claims, made: int, unexpected: int, nats: float = 1.0) -> Account:
    """An account after so many claims of one verb, of which so many came unexpectedly."""
    counts: dict[str, Any] = dict(zip(claims.tally, (made, unexpected), strict=True))
    return Account(LeakageAccount(nats=nats), claims=made, **counts)


def wish_for(mechanism: Mechanism, question: Mean, guess: float = 0.5, t: float = 0.3) -> Wish:
    """What this mechanism is wished for: that it is about the guess, or shown to be more."""
    if mechanism == GATES:
        return Wish(question, t, (more_than(min(guess, 0.9)), 2.0), guess, gated=True)
    return Wish(question, t) if mechanism == BOUNDED else about(question, t, guess)


def settled(mechanism: Mechanism, offer: Offer, symbol: Symbol) -> Release:
    """What the symbol of one question by itself stands for."""
    (release,) = mechanism.settle([offer], [symbol])
    return release


def noise_of(secret: bytes) -> Callable[[int], Noise]:
    return lambda number: Noise(secret, str(number))


def said(number: float | None) -> float:
    """A number that an offer must name."""
    assert number is not None
    return number


def reach_of(offer: Offer) -> int:
    """How far, in cells, the noise of an offer can lead; all the range if nothing is sure."""
    return offer.own_grid.last if offer.own_grid.reach is None else offer.own_grid.reach


def audited(
    mechanism: Mechanism,
    terms: Terms,
    account: Account,
    offers: Sequence[Offer],
    questions: Sequence[Statistic],
) -> str | None:
    """What an audit says of a batch on an account, which it makes again."""
    wishes = [
        Wish(
            question,
            offer.tolerance or 0.5,
            offer.claim,
            offer.guess,
            offer.variance,
            moment=(offer.extra or {}).get("moment"),
        )
        for offer, question in zip(offers, questions, strict=True)
    ]
    try:
        again = mechanism.offer(terms, account, wishes)
    except (InvalidArgument, Refused) as error:
        return f"refused: {error}"
    found = (difference_of(offer, each) for offer, each in zip(offers, again, strict=True))
    return next((each for each in found if each is not None), None)


@dataclass(slots=True)
class Session:
    """One analyst, one sample's terms, one account: offer, respond, settle, advance."""

    terms: Terms
    secret: bytes = SECRET
    charging: bool = True
    account: Account = field(default_factory=Account)

    def put(self, mechanism: Mechanism, wish: Wish, sample: Sums) -> Release:
        _, (release,), account = walk(
            mechanism, self.terms, self.account, [wish], sample, noise_of(self.secret)
        )
        return self._after(account, release)

    def finish(
        self, mechanism: Mechanism, offer: Offer, question: Statistic, sample: Sums
    ) -> Release:
        noise = noise_of(self.secret)
        _, (release,) = answer(mechanism, self.terms, [offer], [question], sample, noise)
        return self._after(mechanism.advance(self.account, [offer], [release]), release)

    def _after(self, account: Account, release: Release) -> Release:
        # Sabotage: without charging answers are free.
        free = LeakageAccount(account.asked)
        self.account = account if self.charging else Account(free, claims=account.claims)
        return release

    def respond(
        self, mechanism: Mechanism, offer: Offer, question: Statistic, sample: Sums
    ) -> Symbol:
        noise = noise_of(self.secret)
        (symbol,) = mechanism.respond(self.terms, [offer], [question], sample, noise)
        return symbol
