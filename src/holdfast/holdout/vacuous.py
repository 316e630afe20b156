"""Answers that could only be the whole range: told before they are asked, from public numbers.

A statistic of several parts is tried with the answers by which it would say most: those that the
ledger has, the analyst's own claim as if confirmed, and for the rest what a favourable table would
be answered. If even these leave the whole range, nothing is worth its charge.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import HoldfastError, ToleranceTooLoose
from holdfast.holdout.claiming import claimed
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import Guess
from holdfast.holdout.plays import wish_of
from holdfast.ledger.recording import in_unit
from holdfast.mechanisms.mechanism import CONFIRMED, Mechanism, Offer, Wish
from holdfast.statistics.derived import Derived, batches, is_derived, staged
from holdfast.statistics.entry import Bound
from holdfast.statistics.play import Estimate, Subquestion
from holdfast.statistics.playing import is_whole
from holdfast.statistics.statistic import Statistic
from holdfast.theory.base.intervals import Interval

__all__ = ["is_silent", "require_telling"]


def require_telling(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    tolerance: float | None,
    *,
    in_table: bool = False,
) -> None:
    """Refuse questions of which public numbers tell that the answer would say nothing.

    One that stands `in_table` beside others may, if there is an answer to a part of it to go by.
    """
    for place, question in enumerate(questions):
        if not is_silent(desk, question, guess.of(place), guess, tolerance):
            continue
        if in_table and _some_known(desk, question, guess, tolerance):
            continue
        raise ToleranceTooLoose(
            f"requested {question.text} from answers of half-width {desk.half_width(tolerance):g} "
            "of their ranges; even the most favourable of them would leave its whole range "
            f"{Interval(question.low, question.high)}, so it was not asked and nothing was spent. "
            "Ask with a smaller tolerance=, use more rows, or declare the columns of a group with "
            "design=."
        )


def _some_known(desk: Desk, question: Bound, guess: Guess, tolerance: float | None) -> bool:
    """Whether the first part of it has been answered."""
    if not is_derived(question):
        return False
    first = batches(question, numbers=guess.numbers is not None)[0][0]
    return desk.stored(wish_of(desk, first, guess, tolerance)) is not None


def is_silent(
    desk: Desk, question: Bound, number: float | None, guess: Guess, tolerance: float | None
) -> bool:
    """Whether it would say nothing, whatever the answers to come; `number` is guessed of it."""
    if not is_derived(question) or not desk.transcript.terms.promises:
        return False  # baselines promise nothing, and show what they find
    parts = [part for stage in batches(question, numbers=number is not None) for part in stage]
    wishes = [wish_of(desk, part, guess, tolerance) for part in parts]
    looks = [desk.stored(wish) for wish in wishes]
    known = [None if look is None else look.estimate for look in looks]
    claim = None if number is None else _last_claim(question, number, known)
    if claim is not None:
        wishes[-1] = claimed(claim, desk.half_width(tolerance, claim.statistic), tolerance)
        looks[-1] = desk.stored(wishes[-1])
    if None not in looks:
        return False  # a repeat, and free
    try:
        if claim is not None:
            look = looks[-1]
            known[-1] = _confirmed(desk, wishes[-1]) if look is None else look.estimate
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


def _last_claim(
    question: Derived, number: float, known: Sequence[Estimate | None]
) -> Subquestion | None:
    """What a guess claims of the last part; None where that follows from parts not yet known."""
    play, left = staged(question, number), iter(known)
    batch = next(play)
    while batch[0].guess is None:
        own = [found for found in (next(left) for _ in batch) if found is not None]
        if len(own) < len(batch):
            return None
        batch = play.send(own)
    return batch[0]


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
    if offer.claim is None:
        cell = offer.own_grid.cell(*place.as_integer_ratio())
        (release,) = mechanism.settle([offer], [cell])
        return _in_unit(part, *release.interval)
    if offer.tolerance is None:
        raise TypeError(f"a check of {part.text} promises a half-width")
    return _in_unit(part, place - offer.tolerance, place + offer.tolerance)


def _confirmed(desk: Desk, wish: Wish) -> Estimate:
    """What the analyst claims, as if confirmed."""
    mechanism, offer = _offered(desk, wish)
    (release,) = mechanism.settle([offer], [CONFIRMED])
    return _in_unit(wish.question, *release.interval)


def _in_unit(part: Statistic, low: float, high: float) -> Estimate:
    """An interval of fractions in the part's own unit; its middle stands for the value."""
    first, last = (in_unit(end, part.low, part.high) for end in (low, high))
    return Estimate(first + (last - first) / 2, Interval(first, last))
