"""The walk of a batch, written once: offer, respond, settle, advance.

A ledger writes between the steps: the offers before data is touched, the answers after; its account
is folded from what it wrote. Without a ledger, as in the laboratory, `walk` takes all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.data.sample import Sample
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.mechanism import Mechanism, Offer, Release, Symbol, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Terms
from holdfast.statistics.statistic import Statistic

__all__ = ["Answered", "Walked", "answer", "walk"]


class Answered(NamedTuple):
    """What came through the door, and the answers it stands for."""

    symbols: list[Symbol]
    releases: list[Release]


class Walked(NamedTuple):
    """A batch that was answered, and the account after it."""

    offers: list[Offer]
    releases: list[Release]
    account: Account


def answer(
    mechanism: Mechanism,
    terms: Terms,
    offers: Sequence[Offer],
    questions: Sequence[Statistic],
    sample: Sample,
    noise: Callable[[int], Noise],
) -> Answered:
    """The answers to offers that were made: the one place where a mechanism meets the sample."""
    symbols = mechanism.respond(terms, offers, questions, sample, noise)
    return Answered(symbols, mechanism.settle(offers, symbols))


def walk(
    mechanism: Mechanism,
    terms: Terms,
    account: Account,
    wishes: Sequence[Wish],
    sample: Sample,
    noise: Callable[[int], Noise],
) -> Walked:
    """Wishes answered on an account, or refused with nothing computed."""
    offers = mechanism.offer(terms, account, wishes)
    questions = [wish.question for wish in wishes]
    _, releases = answer(mechanism, terms, offers, questions, sample, noise)
    return Walked(offers, releases, mechanism.advance(account, offers, releases))
