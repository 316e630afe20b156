"""Every mechanism of the catalogue, planned, built as a ledger gives it back, and played once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent
from holdfast.mechanisms.catalogue import CATALOGUE, Planned
from holdfast.mechanisms.mechanism import Mechanism, Offer, Release, Symbol, Wish
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.columns import Schema
from holdfast.statistics.statistic import Statistic
from tests.holdout.tables import BOUNDS, table
from tests.mechanisms.fake import SECRET, noise_of
from tests.mechanisms.sessions import TOGETHER, questions_of
from tests.statistics.asked import asked

ROWS, QUESTIONS = 20_000, 20
SAMPLE = PolarsSample(table(ROWS))
WANTED = Terms(ROWS, None, 0.95, QUESTIONS, Independent())


@dataclass(frozen=True)
class Batch:
    """Questions answered together, and everything public about them."""

    account: Account
    offers: list[Offer]
    questions: list[Statistic]
    symbols: list[Symbol]
    releases: list[Release]


@dataclass(frozen=True)
class Played:
    terms: Terms
    mechanism: Mechanism
    batches: list[Batch]
    account: Account


@cache
def planned(name: str) -> Planned:
    return CATALOGUE[name].plan(WANTED, {})


def made(name: str) -> tuple[Terms, Mechanism]:
    """The mechanism as a ledger gives it back: its parameters written and read."""
    terms = planned(name).terms(WANTED)
    return terms, CATALOGUE[name].build(terms, json.loads(json.dumps(planned(name).parameters)))


def wishes_for(name: str, questions: Sequence[Statistic], tolerance: float) -> list[Wish]:
    guess = 0.5 if CATALOGUE[name].trained else None
    return [Wish(question, tolerance, guess=guess, narrow=True) for question in questions]


def respond(terms: Terms, mechanism: Mechanism, batch: Batch, secret: bytes) -> list[Symbol]:
    return mechanism.respond(terms, batch.offers, batch.questions, SAMPLE, noise_of(secret))


@cache
def played(name: str) -> Played:
    terms, mechanism = made(name)
    schema = Schema(SAMPLE.types).declare(BOUNDS)
    questions = [asked(question, schema) for question in questions_of(name)]
    sizes = [questions] if name in TOGETHER else [questions[:1], questions[1:2], questions[2:]]
    account, batches = Account(), []
    for together in sizes:
        offers = mechanism.offer(terms, account, wishes_for(name, together, terms.half_width))
        batch = Batch(account, offers, list(together), [], [])
        symbols = respond(terms, mechanism, batch, SECRET)
        releases = mechanism.settle(offers, symbols)
        batches.append(replace(batch, symbols=symbols, releases=releases))
        account = mechanism.advance(account, offers, releases)
    return Played(terms, mechanism, batches, account)
