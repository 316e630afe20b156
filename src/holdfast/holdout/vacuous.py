"""Answers that could only be the whole range: told before they are asked, from public numbers.

A statistic of several parts is tried with the answers by which it would say most: those that the
ledger has, the analyst's own claim as if confirmed, and for the rest what a favourable table would
be answered. If even these leave the whole range, nothing is worth its charge.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import HoldfastError, ToleranceTooTight
from holdfast.holdout.desk import Desk
from holdfast.holdout.price import Guessed, claimed, wish_of
from holdfast.ledger.recording import in_unit
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer, Wish
from holdfast.statistics.derived import Derived, Estimate, batches, is_derived
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = ["is_known", "is_whole", "require_telling", "silent_places"]


def is_whole(interval: Interval, question: Statistic | Derived | Quantile) -> bool:
    """Whether an interval is all of the range, so that it says nothing."""
    low, high = question.low, question.high
    return low < high and interval.low <= low and interval.high >= high


def is_known(desk: Desk, part: Statistic, guessed: Guessed, tolerance: float | None) -> bool:
    """Whether a part that is no claim of the analyst's has been answered."""
    return desk.stored(wish_of(desk, part, guessed.rows, tolerance), stated=False) is not None


def require_telling(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    guessed: Guessed,
    tolerance: float | None,
    *,
    in_table: bool = False,
) -> None:
    """Refuse questions of which public numbers tell that the answer would say nothing.

    One that stands `in_table` beside others may, if there is an answer to a part of it to go by.
    """
    for place in sorted(silent_places(desk, questions, guessed, tolerance)):
        question = questions[place]
        first = batches(question, numbers=guessed.numbers is not None)[0][0]
        if in_table and is_known(desk, first, guessed, tolerance):
            continue
        raise ToleranceTooTight(
            f"requested {question.text} from answers of half-width {desk.half_width(tolerance):g} "
            "of their ranges; even the most favourable of them would leave its whole range "
            f"{Interval(question.low, question.high)}, so it was not asked and nothing was spent. "
            "Ask with a smaller tolerance=, use more rows, or declare the columns of a group with "
            "design=."
        )


def silent_places(
    desk: Desk,
    questions: Sequence[Statistic | Derived],
    guessed: Guessed,
    tolerance: float | None,
) -> set[int]:
    """Which of the questions would say nothing, whatever the answers to come."""
    if not desk.transcript.terms.promises:
        return set()  # baselines promise nothing, and show what they find
    numbers = guessed.numbers
    return {
        place
        for place, question in enumerate(questions)
        if is_derived(question)
        and _is_silent(
            desk, question, None if numbers is None else numbers[place], guessed.rows, tolerance
        )
    }


def _is_silent(
    desk: Desk, question: Derived, guess: float | None, rows: bool, tolerance: float | None
) -> bool:
    stages = batches(question, numbers=guess is not None)
    parts = [part for stage in stages for part in stage]
    wishes = [wish_of(desk, part, rows, tolerance) for part in parts]
    looks = [desk.stored(wish, stated=False) for wish in wishes]
    claim = None if guess is None else claimed(desk, question, parts[-1], guess, tolerance)
    if claim is not None:
        looks[-1] = desk.stored(claim[0], stated=True)
    if None not in looks:
        return False  # a repeat, and free
    known = [None if look is None else look.estimate for look in looks]
    try:
        if claim is not None:
            known[-1] = known[-1] or _confirmed(desk, claim[0])
        offers = [
            None if estimate is not None else _offered(desk, wish)
            for wish, estimate in zip(wishes, known, strict=True)
        ]
    except HoldfastError:
        return False  # it will be refused for that
    return all(
        is_whole(question.join(_best(values, parts, known, offers)).interval, question)
        for values in question.favourable(known)
    )


def _offered(desk: Desk, wish: Wish) -> tuple[Mechanism, Offer]:
    mechanism, (offer,) = desk.offers([wish], desk.transcript.committed)
    return mechanism, offer


def _best(
    values: Sequence[float],
    parts: Sequence[Statistic],
    known: Sequence[Estimate | None],
    offers: Sequence[tuple[Mechanism, Offer] | None],
) -> list[Estimate]:
    """The parts as they are known, or as a table with these values would be answered."""
    return [
        estimate or _answered(value, part, offer)
        for value, part, estimate, offer in zip(values, parts, known, offers, strict=True)
    ]


def _answered(value: float, part: Statistic, offered: tuple[Mechanism, Offer] | None) -> Estimate:
    """The answer to a part without noise in its favour or against it."""
    if offered is None:
        raise TypeError(f"{part.text} is neither known nor offered")
    mechanism, offer = offered
    width = part.high - part.low
    place = (value - part.low) / width if width else 0.0
    if offer.claim is None and offer.cells > 1:
        return _in_unit(part, *mechanism.settle(offer, round(place * offer.cells)).interval)
    return _in_unit(part, place - offer.tolerance, place + offer.tolerance)


def _confirmed(desk: Desk, wish: Wish) -> Estimate:
    """What the analyst claims, as if confirmed; a known variance may make the claim narrower."""
    mechanism, offer = _offered(desk, wish)
    return _in_unit(wish.question, *mechanism.settle(offer, CONFIRMED).interval)


def _in_unit(part: Statistic, low: float, high: float) -> Estimate:
    """An interval of fractions in the part's own unit; its middle stands for the value."""
    first, last = (in_unit(end, part.low, part.high) for end in (low, high))
    return Estimate(first + (last - first) / 2, Interval(first, last))
