"""What questions would cost: the walk of a question rehearsed in public, without its data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from holdfast.errors import BudgetExhausted, Refused
from holdfast.holdout.budget import Cost
from holdfast.holdout.desk import Desk, checks_and_asks
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer, Release, Status, Wish, about
from holdfast.statistics.bind import Labelled
from holdfast.statistics.derived import Derived, batches, is_derived
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import largest_integer

__all__ = ["Guessed", "cost_of", "require_covered", "require_groups_covered"]


@dataclass(frozen=True, slots=True)
class Guessed:
    """What the analyst guesses: a `number` of the question itself, or all parts, from `rows`."""

    number: float | None = None
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Price:
    """Nats if all guesses are confirmed, nats at worst, and how many questions are new.

    `tolerance` is the half-width of the last of them, as a part of its range.
    """

    least: float = 0.0
    most: float = 0.0
    questions: int = 0
    tolerance: float = 0.0

    def __add__(self, other: Price) -> Price:
        return Price(
            self.least + other.least,
            self.most + other.most,
            self.questions + other.questions,
            other.tolerance,
        )


@dataclass(frozen=True, slots=True)
class Worst:
    """The account after the dearest way so far: with no surprise counted, and with all of them.

    More leaked makes every later charge higher. How many of the guesses were refuted sets the prior
    of a surprise, and a charge is highest at one of its ends.
    """

    least_surprised: Account
    most_surprised: Account

    def after(self, desk: Desk, wishes: Sequence[Wish]) -> tuple[Worst, float]:
        """One batch later, and what it costs at worst; refused where nothing may be left for it."""
        mechanism, fewer = desk.offers(wishes, self.least_surprised)
        _, more = desk.offers(wishes, self.most_surprised)
        charges = [
            max(one.worst_charge, other.worst_charge)
            for one, other in zip(fewer, more, strict=True)
        ]
        if wishes[0].claim is None:
            later = Worst(
                charged(self.least_surprised, fewer, charges),
                charged(self.most_surprised, more, charges),
            )
        else:
            later = Worst(
                _checked(mechanism, self.least_surprised, fewer, charges, "confirmed"),
                _checked(mechanism, self.most_surprised, more, charges, "surprise"),
            )
        return later, sum(charges)


def _checked(
    mechanism: Mechanism,
    account: Account,
    offers: Sequence[Offer],
    charges: Sequence[float],
    status: Status,
) -> Account:
    """The account after checks that all came out alike, at these charges."""
    releases = [
        Release(offer.number, status, 0.0, Interval(0.0, 1.0), charge)
        for offer, charge in zip(offers, charges, strict=True)
    ]
    return mechanism.advance(account, offers, releases)


@dataclass(frozen=True, slots=True)
class Stage:
    """Parts that are asked together, or checked."""

    parts: tuple[Statistic, ...]
    checked: bool


def cost_of(
    desk: Desk,
    question: Statistic | Derived | Quantile | Labelled,
    guessed: Guessed,
    tolerance: float | None,
) -> Cost:
    """The cost of a question; refused if the budget does not cover it.

    For that, guesses are taken to be confirmed: what surprises would leave is not known before.
    """
    if isinstance(question, Labelled):
        members = [member for _, member in question.members]
        price = _cost_of_all(desk, members, guessed, tolerance)
        text, width = f"{members[0].text} and {len(members) - 1} more", None
    elif isinstance(question, Quantile):
        price, text, width = _of_quantile(desk, question, guessed, tolerance), question.text, None
    else:
        price = _cost_of_all(desk, [question], guessed, tolerance)
        text = question.text
        part = price.tolerance or desk.half_width(tolerance)
        width = None if is_derived(question) else part * (question.high - question.low)
    return Cost(text, width, price.least, price.most, price.questions)


def _cost_of_all(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    guessed: Guessed,
    tolerance: float | None,
) -> Price:
    """The cost of questions chosen together, each stage in one batch."""
    return _walk(desk, _stages(questions, guessed), desk.transcript.committed, tolerance)


def require_covered(
    desk: Desk,
    questions: Sequence[Statistic | Derived] | Quantile,
    guessed: Guessed,
    tolerance: float | None,
) -> None:
    """Refuse, before anything is asked, what takes more stages than the budget covers."""
    if isinstance(questions, Quantile):
        _of_quantile(desk, questions, guessed, tolerance)
    else:
        _cost_of_all(desk, questions, guessed, tolerance)


def require_groups_covered(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    by: str,
    guessed: Guessed,
    tolerance: float | None,
) -> None:
    """Refuse a table of answers that the budget does not cover, with the number that fits."""

    def covered(count: int) -> bool:
        try:
            _cost_of_all(desk, questions[:count], guessed, tolerance)
        except Refused:
            return False
        return True

    if covered(len(questions)):
        return
    most = largest_integer(covered, most=len(questions))
    raise BudgetExhausted(
        f"requested {len(questions):,} groups by {by}; remaining budget for {most:,}; "
        f"missing {len(questions) - most:,}. Ask for fewer groups, one by one with "
        "where=, or with a larger tolerance=."
    )


def _stages(questions: Sequence[Statistic | Derived], guessed: Guessed) -> list[Stage]:
    """Plans end together: what has one stage is asked in the last batch."""
    numbers = guessed.number is not None
    plans = [batches(question, numbers=numbers) for question in questions]
    depth = max(map(len, plans), default=0)
    return [
        Stage(
            tuple(
                part
                for plan in plans
                if level >= depth - len(plan)
                for part in plan[level - depth + len(plan)]
            ),
            guessed.rows or (numbers and level == depth - 1),
        )
        for level in range(depth)
    ]


def _of_quantile(
    desk: Desk, quantile: Quantile, guessed: Guessed, tolerance: float | None
) -> Price:
    """Of a search, by its longest way; of a check, with the search that follows a surprise."""
    account, known = desk.transcript.committed, _known(desk, quantile)
    places = map(quantile.place, range(quantile.cells))
    fresh = (place for place in places if place not in known)
    most = quantile.most_questions(known)
    search = [Stage((quantile.threshold(v),), guessed.rows) for v in islice(fresh, most)]
    if guessed.number is None:
        return _walk(desk, search, account, tolerance)
    reach = desk.half_width(tolerance) * (quantile.high - quantile.low)
    about_it = tuple(quantile.threshold(v) for v in quantile.claims(guessed.number, reach))
    return _walk(desk, [Stage(about_it, True)], account, tolerance, if_surprised=search)


def _known(desk: Desk, quantile: Quantile) -> dict[float, Interval]:
    """The thresholds that have been answered, whatever they were asked for."""
    found = {}
    for recorded in desk.transcript.by_question.values():
        v = quantile.threshold_of(recorded.question)
        if v is not None:
            found[v] = recorded.interval
    return found


def _walk(
    desk: Desk,
    stages: Sequence[Stage],
    account: Account,
    tolerance: float | None,
    if_surprised: Sequence[Stage] = (),
) -> Price:
    """The stages one after another on an account, with guesses as if confirmed; and at worst.

    What is asked only if a guess is refuted costs nothing if it is confirmed, and need not fit.
    """
    seen: set[str] = set()
    plans = _batches(desk, stages, tolerance, seen)
    worst, price = Worst(account, account), Price()
    for wishes in plans:
        try:
            mechanism, offers = desk.offers(wishes, account)
        except Refused as error:
            raise _refusal(error, sum(map(len, plans)), price.questions) from None
        if wishes[0].claim is None:
            charges = [offer.worst_charge for offer in offers]
            account = charged(account, offers, charges)
        else:
            releases = [mechanism.settle(offer, CONFIRMED) for offer in offers]
            charges = [release.charge for release in releases]
            account = mechanism.advance(account, offers, releases)
        price += Price(sum(charges), 0.0, len(offers), offers[-1].tolerance)
    every = [*plans, *_batches(desk, if_surprised, tolerance, seen)]
    return replace(price, most=_at_worst(desk, every, worst), questions=sum(map(len, every)))


def _batches(
    desk: Desk, stages: Sequence[Stage], tolerance: float | None, seen: set[str]
) -> list[list[Wish]]:
    """The wishes of the stages as they are put together; none for what was answered or `seen`."""
    t, answered = desk.half_width(tolerance), desk.transcript.by_question
    found: list[list[Wish]] = []
    for stage in stages:
        parts = {part.text: part for part in stage.parts if part.text not in seen}
        new = [part for text, part in parts.items() if text not in answered]
        seen.update(part.text for part in new)
        wishes = [
            about(part, t, 0.5) if stage.checked or desk.guesses(part) else Wish(part, t)
            for part in new
        ]
        found.extend(checks_and_asks([replace(wish, narrow=tolerance is None) for wish in wishes]))
    return found


def _at_worst(desk: Desk, plans: Sequence[Sequence[Wish]], worst: Worst) -> float:
    """The charges of all batches at most; infinite where surprises may use up what is left."""
    most = 0.0
    for wishes in plans:
        try:
            worst, charge = worst.after(desk, wishes)
        except Refused:
            return math.inf
        most += charge
    return most


def _refusal(error: Refused, wanted: int, covered: int) -> Refused:
    """The refusal of a part, said of the whole."""
    if covered == 0:
        return error
    return BudgetExhausted(
        f"requested up to {wanted:,} new questions, one after another; remaining budget for "
        f"{covered:,}; missing {wanted - covered:,}. Nothing was spent. Ask with a larger "
        "tolerance=, or for less at a time."
    )
