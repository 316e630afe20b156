"""What questions would cost: the walk of a question rehearsed in public, without its data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from holdfast.errors import BudgetExhausted, Refused
from holdfast.holdout.budget import Cost
from holdfast.holdout.desk import Desk, checks_and_asks
from holdfast.holdout.guess import guess_about
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer, Release, Status, Wish, about
from holdfast.statistics.bind import Labelled
from holdfast.statistics.derived import Derived, batches, is_derived
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval
from holdfast.theory.base.safeside import largest_integer

__all__ = [
    "Guessed",
    "claimed",
    "cost_of",
    "cost_of_claim",
    "require_covered",
    "require_groups_covered",
    "thresholds_about",
    "wish_of",
]


@dataclass(frozen=True, slots=True)
class Guessed:
    """What the analyst guesses: a number for each question, or all parts, from `rows`."""

    numbers: tuple[float, ...] | None = None
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


def cost_of_claim(desk: Desk, wish: Wish) -> Cost:
    """The cost of checking what the analyst claims of a statistic."""
    known = desk.stored(wish, stated=True) is not None
    price = _walk(desk, [] if known else [[wish]], desk.transcript.committed)
    question = wish.question
    width = (price.tolerance or wish.tolerance) * (question.high - question.low)
    return Cost(question.text, width, price.least, price.most, price.questions)


def _cost_of_all(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    guessed: Guessed,
    tolerance: float | None,
) -> Price:
    """The cost of questions chosen together, each stage in one batch."""
    stages = _stages(desk, questions, guessed, tolerance)
    return _walk(desk, stages, desk.transcript.committed)


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


def _stages(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    guessed: Guessed,
    tolerance: float | None,
) -> list[list[Wish]]:
    """What is to be asked anew, by stage. Plans end together, as they are asked."""
    t, numbers = desk.half_width(tolerance), guessed.numbers
    plans = [batches(question, numbers=numbers is not None) for question in questions]
    depth = max(map(len, plans), default=0)
    seen: set[object] = set()
    stages: list[list[Wish]] = []
    for level in range(depth):
        last, wishes = level == depth - 1, []
        for place, plan in enumerate(plans):
            for part in plan[level - depth + len(plan)] if level >= depth - len(plan) else ():
                if numbers is not None and last:
                    found = claimed(desk, questions[place], part, numbers[place], tolerance)
                    wish, key = found or (about(part, t, 0.5), (place, part.text))
                    known = found is not None and desk.stored(wish, stated=True) is not None
                else:
                    wish, key = wish_of(desk, part, guessed.rows, tolerance), part.text
                    known = desk.stored(wish, stated=False) is not None
                if not known and key not in seen:
                    wishes.append(wish)
                seen.add(key)
        stages.append(wishes)
    return stages


def wish_of(desk: Desk, part: Statistic, checked: bool, tolerance: float | None) -> Wish:
    """As it is put to the desk, but for the guess, which matters to no cost."""
    t = desk.half_width(tolerance)
    wish = about(part, t, 0.5) if checked or desk.guesses(part) else Wish(part, t)
    return replace(wish, narrow=tolerance is None)


def claimed(
    desk: Desk,
    question: Statistic | Derived,
    last: Statistic,
    guess: float,
    tolerance: float | None,
) -> tuple[Wish, object] | None:
    """What a guess claims of the last part; None where that follows from parts not yet known."""
    *earlier, _ = batches(question, numbers=True)
    known = [
        desk.stored(wish_of(desk, part, False, tolerance), stated=False)
        for stage in earlier
        for part in stage
    ]
    values = [each.value for each in known if each is not None and each.value is not None]
    if len(values) < len(known):
        return None
    (wish,) = desk.checks([last], [guess_about(last, question, guess, values)], tolerance)
    return wish, (last.text, wish.claim)


def _of_quantile(
    desk: Desk, quantile: Quantile, guessed: Guessed, tolerance: float | None
) -> Price:
    """Of a search, by its longest way; of a check, with the search that follows a surprise."""
    known = _known(desk, quantile, guessed.rows, tolerance)
    places = map(quantile.place, range(quantile.cells))
    fresh = (place for place in places if place not in known)
    most = quantile.most_questions(known)
    search = [
        [wish_of(desk, quantile.threshold(v), guessed.rows, tolerance)] for v in islice(fresh, most)
    ]
    account = desk.transcript.committed
    if guessed.numbers is None:
        return _walk(desk, search, account)
    t, (guess, *_) = desk.half_width(tolerance), guessed.numbers
    claims = thresholds_about(quantile, guess, t)
    stored = {v: desk.stored(wish, stated=True) for v, wish in claims.items()}
    answers = {v: each.estimate for v, each in stored.items() if each is not None}
    new = [wish for v, wish in claims.items() if v not in answers]
    confirmed = not new and quantile.is_about(guess, quantile.join(answers).interval, t)
    return _walk(desk, [new], account, if_surprised=[] if confirmed else search)


def thresholds_about(quantile: Quantile, guess: float, t: float) -> dict[float, Wish]:
    """Is the quantile within the tolerance of a guess? A one-sided claim at each threshold."""
    return {
        v: Wish(quantile.threshold(v), t, claim, quantile.level)
        for v, claim in quantile.claims(guess, t * (quantile.high - quantile.low)).items()
    }


def _known(
    desk: Desk, quantile: Quantile, checked: bool, tolerance: float | None
) -> dict[float, Interval]:
    """The thresholds that need not be asked, whatever they were asked for before."""
    found = {}
    for text in desk.transcript.by_question:
        v = quantile.threshold_of(text)
        if v is not None:
            wish = wish_of(desk, quantile.threshold(v), checked, tolerance)
            stored = desk.stored(wish, stated=False)
            if stored is not None:
                found[v] = stored.interval
    return found


def _walk(
    desk: Desk,
    stages: Sequence[Sequence[Wish]],
    account: Account,
    if_surprised: Sequence[Sequence[Wish]] = (),
) -> Price:
    """The stages one after another on an account, with guesses as if confirmed; and at worst.

    What is asked only if a guess is refuted costs nothing if it is confirmed, and need not fit.
    """
    plans = [group for wishes in stages for group in checks_and_asks(wishes)]
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
    every = [*plans, *(group for wishes in if_surprised for group in checks_and_asks(wishes))]
    return replace(price, most=_at_worst(desk, every, worst), questions=sum(map(len, every)))


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
