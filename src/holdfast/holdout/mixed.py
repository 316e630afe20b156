"""Asks, checks and gates given in one list: each is answered, or fails alone.

Those that are alike share a batch: one scan, one leakage. If something in a batch is wrong or
refused, its questions are put one by one. The order of the answers is that of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from holdfast import require
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion, Refused
from holdfast.statistics.bind import Question

if TYPE_CHECKING:
    from holdfast.holdout.answer import Answer
    from holdfast.holdout.verbs import Verbs

__all__ = ["Ask", "Check", "Gate", "Item", "answers_of"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to ask, with the half-width that is wanted, if one is."""

    question: Question
    tolerance: float | None = None
    half_width: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A number that is guessed of a question, to be checked."""

    question: Question
    guess: float
    tolerance: float | None = None
    half_width: float | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """One side of a bound, to be shown."""

    question: Question
    at_least: float | None = None
    at_most: float | None = None
    differing: float | None = None


Item: TypeAlias = Ask | Check | Gate
# What is wrong with one question; trouble with the ledger or the data concerns all of them.
_ITS_OWN = (InvalidArgument, InvalidQuestion, Refused)


def answers_of(
    verbs: Verbs, items: Iterable[Item], why: str | None, by: str | None
) -> list[Answer | HoldfastError]:
    """The answer to each, or the error by which it failed, in their order."""
    wanted = require.items("items", items, "a list of Ask, Check and Gate")
    for each in wanted:
        if not isinstance(each, Ask | Check | Gate):
            raise InvalidArgument(
                f"an item is {each!r}; give holdfast.Ask, holdfast.Check or holdfast.Gate."
            )
    found: list[Answer | HoldfastError] = []
    for _, alike in groupby(wanted, key=_batch):
        batch = list(alike)
        found += _together(verbs, batch, why, by) or [
            _alone(verbs, each, why, by) for each in batch
        ]
    return found


def _batch(item: Item) -> object:
    """What is put together: neighbours with the same of this; gates are put one by one."""
    if isinstance(item, Gate):
        return id(item)
    return type(item), item.tolerance, item.half_width


def _together(
    verbs: Verbs, batch: Sequence[Item], why: str | None, by: str | None
) -> Sequence[Answer | HoldfastError]:
    """The answers to items that are alike; none if something is wrong with one of them."""
    first = batch[0]
    if len(batch) == 1 or isinstance(first, Gate):
        return ()
    questions = [each.question for each in batch]
    width = {"tolerance": first.tolerance, "half_width": first.half_width}
    try:
        if isinstance(first, Ask):
            return verbs.ask_many(questions, why=why, by=by, **width)
        guesses = [each.guess for each in batch if isinstance(each, Check)]
        return verbs.check_many(questions, guesses, why=why, by=by, **width)
    except _ITS_OWN:
        return ()


def _alone(verbs: Verbs, item: Item, why: str | None, by: str | None) -> Answer | HoldfastError:
    try:
        match item:
            case Ask(question, tolerance, half_width):
                return verbs.ask(
                    question, why=why, by=by, tolerance=tolerance, half_width=half_width
                )
            case Check(question, guess, tolerance, half_width):
                return verbs.check(
                    question, guess, why=why, by=by, tolerance=tolerance, half_width=half_width
                )
            case Gate(question, at_least, at_most, differing):
                sides = {"at_least": at_least, "at_most": at_most, "differing": differing}
                return verbs.gate(question, why=why, by=by, **sides)
    except _ITS_OWN as error:
        return error
