"""GuessAndCheck as the lecture has it: so many mistakes are declared, and one more halts it.

Before the first question k questions, m mistakes and the accuracy eta are declared. Every way that
the answers can go is then a path of a public tree with N = sum_{f=0}^m C(k, f+1) G^f questions
(Theorem K), each of which may fail with probability beta/N: one half-width for all of them, known
beforehand. A guess within eta of the sample's value is confirmed and costs nothing more; a refuted
one, or a question without a guess, is a mistake, and is answered by one of G cells, without noise.
The mistake after the last declared one is not answered, and ends everything.

The account of Theorem L is narrower for the same run, and needs no m: this is here to run what the
lecture describes, and to compare with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.errors import BudgetExhausted, InvalidArgument, Shortfall
from holdfast.mechanisms.catalogue import MechanismKind, Planned, chosen_options, short_half_width
from holdfast.mechanisms.claims import CHECKS, Claims, claimable
from holdfast.mechanisms.exact import ExactValues, alphabet_log_charge
from holdfast.mechanisms.leakage import declared_or_least, too_tight
from holdfast.mechanisms.mechanism import (
    CONFIRMED,
    Offer,
    Release,
    Symbol,
    Wish,
    charged,
    each_settled,
    released,
)
from holdfast.mechanisms.noise import Grid, Noise
from holdfast.mechanisms.terms import (
    WHOLE_RANGE,
    Account,
    PartStages,
    Terms,
    number_of_parts,
    profile_of,
    recorded_profile,
)
from holdfast.papers.theorems.surprise_codes import log_nodes
from holdfast.question.row import GRID_ERROR
from holdfast.statistics.statistic import Statistic, measure
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import largest_integer, round_down, round_up, smallest_integer
from holdfast.theory.leakage.claim_levels import declared_surprise_prior
from holdfast.theory.leakage.nats import confirmed_log_charge, surprise_log_charge
from holdfast.theory.planning import MOST_QUESTIONS, MOST_ROWS, KnownRows, Method

_MEMORY = "guess and check"
_REFUTED: Literal["not confirmed"] = "not confirmed"


@dataclass(frozen=True, slots=True)
class CountedTree:
    """Declaration: k questions, m mistakes, G cells."""

    questions: int
    mistakes: int
    cells: int

    def log_level(self, log_beta: float) -> float:
        """ln of the level of every question."""
        return round_down(log_beta - log_nodes(self.questions, self.mistakes, self.cells))

    @property
    def grid(self) -> Grid:
        """The cells of an answer: its value is rounded to the nearest."""
        return Grid(self.cells - 1, 0, 0)

    def radius(self, terms: Terms, wish: Wish) -> float:
        log_p = min(0.0, self.log_level(terms.log_beta))
        return round_up(_profile(terms, wish).radius(log_p) + wish.question.error)

    def half_width(self, radius: float) -> float:
        """Half-width of a question with this radius, answered by a cell."""
        return round_up(radius + 0.5 / (self.cells - 1))


def _profile(terms: Terms, wish: Wish) -> Concentration:
    return profile_of(wish.question, terms, alike=wish.of_alike_rows(terms))


@dataclass(frozen=True, slots=True)
class _Standing:
    """Counters: questions put, mistakes among them, and which of those wait for a cell."""

    asked: int = 0
    mistakes: int = 0
    waiting: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(cls, account: Account) -> _Standing:
        answered, mistakes, waiting = account.memory.get(_MEMORY, (0, 0, ()))
        return cls(answered, mistakes, tuple((look, text) for look, text in waiting))

    def on(self, account: Account) -> Account:
        plain = [self.asked, self.mistakes, [list(pair) for pair in self.waiting]]
        return account.remembering(_MEMORY, plain)

    def require_room(self, tree: CountedTree, questions: int, mistakes: int) -> None:
        """Refuse what goes beyond what was declared, and everything once it has halted."""
        if self.mistakes > tree.mistakes:
            raise BudgetExhausted(
                f"guess and check has halted: {self.mistakes:,} mistakes were made, and "
                f"{tree.mistakes:,} were declared. Repeating an earlier question is free; new "
                "ones need fresh rows in a new ledger."
            )
        unasked, unmade = tree.questions - self.asked, tree.mistakes - self.mistakes
        for limit, wanted, remaining in (
            ("questions", questions, unasked),
            ("answers to mistakes", mistakes, unmade),
        ):
            if wanted > remaining:
                raise BudgetExhausted(
                    f"requested {wanted:,} more {limit}; remaining {remaining:,}; missing "
                    f"{wanted - remaining:,}. A question without a guess is a mistake: check a "
                    "guess, repeat earlier questions for free, or use fresh rows in a new ledger.",
                    Shortfall("questions", wanted, remaining),
                )


@dataclass(frozen=True, slots=True)
class CountedAnswers(ExactValues):
    """Answers by one of G cells: of refuted guesses, and of questions without one."""

    tree: CountedTree
    name: str = "guess and check answers/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        standing = _Standing.of(account)
        new = sum(not _is_due(standing, wish) for wish in wishes)
        standing.require_room(self.tree, new, new)
        return [
            self._offer(terms, account.looks + position, wish, waiting=_is_due(standing, wish))
            for position, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, number: int, wish: Wish, *, waiting: bool) -> Offer:
        radius = self.tree.radius(terms, wish)
        width = self.tree.half_width(radius)
        if wish.tolerance < width:
            raise too_tight(wish.tolerance, width, wish.question)
        return Offer(
            number=number,
            question=wish.question.text,
            tolerance=width,
            grid=self.tree.grid,
            worst_charge=alphabet_log_charge(self.tree.cells),
            log_share=terms.log_share(1),
            log_p=self.tree.log_level(terms.log_beta),
            radius=radius,
            profile=recorded_profile(_profile(terms, wish), terms, wish.question),
            extra={"due": waiting},
        )

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        return released(offer, symbol, "answered", offer.worst_charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        standing = _Standing.of(account)
        new = sum(not (offer.extra or {})["due"] for offer in offers)
        answered = {offer.question for offer in offers}
        waiting = tuple(pair for pair in standing.waiting if pair[1] not in answered)
        after = _Standing(standing.asked + new, standing.mistakes + new, waiting)
        return after.on(charged(account, offers, [release.charge for release in releases]))

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        standing = _Standing.of(account)
        tree = self.tree
        log_p = min(0.0, tree.log_level(terms.log_beta))
        for part in (part for stage in stages for part in stage):
            if tree.half_width(part.radius(log_p)) > terms.half_width * part.unit:
                return 0
        remaining = max(0, min(tree.questions - standing.asked, tree.mistakes - standing.mistakes))
        return remaining // number_of_parts(stages)


def _is_due(standing: _Standing, wish: Wish) -> bool:
    """Whether a wish asks for what a refuted guess left open: that is counted already."""
    follows = wish.follows
    return follows is not None and (follows.look, wish.question.text) in standing.waiting


@dataclass(frozen=True, slots=True)
class CountedChecks:
    """Checks of guesses on the public tree: confirmed, or a mistake."""

    tree: CountedTree
    name: str = "guess and check/1"

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        standing = _Standing.of(account)
        standing.require_room(self.tree, len(wishes), 0)
        return [
            self._offer(terms, account.looks + position, wish, standing.mistakes)
            for position, wish in enumerate(wishes, start=1)
        ]

    def _offer(self, terms: Terms, number: int, wish: Wish, mistakes: int) -> Offer:
        if not claimable(wish.claim):
            raise InvalidArgument(
                f"the claim is {wish.claim}, which is no interval of the range from 0 to 1; claim "
                "one."
            )
        return Offer(
            number=number,
            question=wish.question.text,
            tolerance=wish.tolerance,
            grid=None,
            worst_charge=surprise_log_charge(self._prior, 0.0),
            log_p=self.tree.log_level(terms.log_beta),
            radius=self.tree.radius(terms, wish),
            claim=wish.claim,
            guess=wish.guess,
            prior=self._prior,
            profile=recorded_profile(_profile(terms, wish), terms, wish.question),
            extra={"mistakes": mistakes},
        )

    @property
    def _prior(self) -> float:
        """Prior by which the leakage account counts a mistake; no level here rests on it."""
        return declared_surprise_prior(self.tree.mistakes, self.tree.questions)

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        mistakes = (offers[0].extra or {})["mistakes"]
        symbols: list[Symbol] = []
        for offer, measured in zip(offers, measure(sample, questions), strict=True):
            # Once it has halted, nothing more is told of the rows.
            halted = mistakes > self.tree.mistakes
            confirmed = not halted and _is_inside(offer, measured.value)
            mistakes += not confirmed
            symbols.append(CONFIRMED if confirmed else _REFUTED)
        return symbols

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        if symbol == _REFUTED:
            return Release(offer.number, _REFUTED, None, Interval(0.0, 1.0), offer.worst_charge)
        if symbol != CONFIRMED or offer.claim is None:
            raise ValueError(f"the symbol of a check is {symbol!r}")
        low, high = offer.claim
        interval = Interval(max(0.0, low), min(1.0, high))
        guess = low if offer.guess is None else offer.guess
        value = min(interval.high, max(interval.low, guess))
        charge = confirmed_log_charge(self._prior)
        return Release(offer.number, CONFIRMED, value, interval, charge)

    def advance(
        self, account: Account, offers: Sequence[Offer], releases: Sequence[Release]
    ) -> Account:
        standing = _Standing.of(account)
        refuted = [
            (offer.number, offer.question)
            for offer, release in zip(offers, releases, strict=True)
            if release.status == _REFUTED
        ]
        after = _Standing(
            standing.asked + len(offers),
            standing.mistakes + len(refuted),
            (*standing.waiting, *refuted),
        )
        paid = charged(account, offers, [release.charge for release in releases])
        settled = replace(
            paid, checks=paid.checks + len(offers), surprises=paid.surprises + len(refuted)
        )
        return after.on(settled)

    def questions_left(self, terms: Terms, account: Account, stages: PartStages = ()) -> int:
        return CountedAnswers(self.tree).questions_left(terms, account, stages)

    def surprises_left(
        self,
        terms: Terms,
        account: Account,
        profile: Concentration,  # noqa: ARG002 - mistakes are counted, whatever they are about
    ) -> int:
        return self.questions_left(terms, account)


def _is_inside(offer: Offer, value: float) -> bool:
    """Whether the interval around the sample's value lies inside the claim."""
    if offer.claim is None:
        raise TypeError(f"the offer of question {offer.number} claims nothing")
    _, radius = offer.statement
    low, high = offer.claim
    from_below = low <= 0.0 or round_down(value - radius) >= low
    return from_below and (high >= 1.0 or round_up(value + radius) <= high)


# How GuessAndCheck with declared mistakes is planned, and its entry of the catalogue.


_FINEST = 1e-6  # accuracy
_LOG_USUAL = math.log(0.3)  # a level at which Hoeffding's radius is two standard errors


def _plan(wanted: Terms, options: Mapping[str, Any]) -> Planned:
    chosen = chosen_options(
        "halting guess and check", options, {"mistakes": None, "accuracy": None}
    )
    k = wanted.questions
    if k is None:
        raise InvalidArgument(
            "halting guess and check counts every way that the answers can go, and needs to know "
            "how many questions there will be: give questions=."
        )
    surprises = wanted.surprises if chosen["mistakes"] is None else chosen["mistakes"]
    m = require.integer_between("mistakes", k if surprises is None else surprises, 0, k)
    tree = CountedTree(k, m, _cells(wanted.concentration, chosen["accuracy"]))
    least = _width(wanted.concentration, tree, wanted.log_beta)
    if wanted.tolerance is None and least < WHOLE_RANGE:
        least = short_half_width(least)
    parameters = {"questions": k, "mistakes": m, "cells": tree.cells}
    return Planned(declared_or_least(wanted, least), parameters)


def _cells(profile: Concentration, accuracy: float | None) -> int:
    """So many that rounding to them errs by the accuracy: two standard errors, if none is named."""
    if accuracy is None:
        accuracy = min(0.25, max(_FINEST, profile.radius(_LOG_USUAL)))
    eta = require.between("accuracy", accuracy, _FINEST, 0.5, open_high=True)
    return math.ceil(1 / (2 * eta)) + 1


def _width(profile: Concentration, tree: CountedTree, log_beta: float) -> float:
    """The half-width of a mean of all rows."""
    radius = profile.radius(min(0.0, tree.log_level(log_beta)))
    return tree.half_width(round_up(radius + GRID_ERROR))


def _planned_width(profile: Concentration, k: int, log_beta: float) -> float:
    """Half-width of k questions that may all be mistakes."""
    return _width(profile, CountedTree(k, k, _cells(profile, None)), log_beta)


def _method() -> Method:
    """Method of planning: for every profile, by search."""

    def half_width(rows: KnownRows, n: int, k: int, log_beta: float) -> float:
        return _planned_width(rows.profile(n), k, log_beta)

    def questions(rows: KnownRows, n: int, t: float, log_beta: float) -> int | None:
        profile = rows.profile(n)
        fits = partial(_fits, profile, log_beta, t)
        return largest_integer(fits, most=MOST_QUESTIONS) or None

    def rows_needed(rows: KnownRows, k: int, t: float, log_beta: float) -> int | None:
        return smallest_integer(lambda n: _fits(rows.profile(n), log_beta, t, k), most=MOST_ROWS)

    return Method(
        "halting guess and check",
        "promise",
        "guess_and_check_width",
        False,
        half_width,
        questions,
        rows_needed,
    )


def _fits(profile: Concentration, log_beta: float, t: float, k: int) -> bool:
    return _planned_width(profile, k, log_beta) <= t


def _tree(parameters: Mapping[str, Any]) -> CountedTree:
    return CountedTree(parameters["questions"], parameters["mistakes"], parameters["cells"])


def _claiming(_: Terms, parameters: Mapping[str, Any], claims: Claims) -> CountedChecks | None:
    return CountedChecks(_tree(parameters)) if claims is CHECKS else None


GUESS_AND_CHECK = MechanismKind(
    name="halting guess and check",
    summary="Guesses that are confirmed, and at most so many declared mistakes, answered by cells "
    "without noise; one more mistake halts it.",
    needs="Declared questions, and guesses: from you, from training rows or a guesser.",
    promises="Theorem K",
    theorem="guess_and_check_width",
    method=_method(),
    plan=_plan,
    build=lambda _terms, parameters: CountedAnswers(_tree(parameters)),
    claiming=_claiming,
    options={
        "mistakes": "m, how many guesses may be refuted, or missing (default: the declared "
        "surprises, or all questions)",
        "accuracy": "eta, how far from the sample's value a confirmed guess may be, and an answer "
        "to a mistake (default: two standard errors of the worst question)",
    },
)
