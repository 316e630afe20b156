"""What is wished of statistics: to ask for them, or to check what is guessed of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import averages
from holdfast.holdout.wishes import is_described
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.mechanism import Wish, about
from holdfast.statistics.statistic import Statistic

__all__ = ["wishes_for"]


def wishes_for(
    desk: Desk, statistics: Sequence[Statistic], others: Sample | None, tolerance: float | None
) -> list[Wish]:
    """To ask for these, or to check what other rows or a guesser say of them.

    What is described has an answer of its own, whatever is guessed.
    """
    plain = [one for one in statistics if not is_described(one)]
    guessed = iter(_guessed(desk, plain, others, tolerance) if plain else ())
    return [
        Wish(one, desk.half_width(tolerance, one), narrow=True)
        if is_described(one)
        else replace(next(guessed), narrow=tolerance is None)
        for one in statistics
    ]


def _guessed(
    desk: Desk, statistics: Sequence[Statistic], others: Sample | None, tolerance: float | None
) -> list[Wish]:
    wishes = [Wish(one, desk.half_width(tolerance, one)) for one in statistics]
    if others is not None:
        found = averages(others, statistics, desk.table)
        return [
            about(wish.question, wish.tolerance, guess)
            for wish, guess in zip(wishes, found, strict=True)
        ]
    trained = kind_of(desk.opening.mechanism["name"]).trained
    if not trained and desk.taught() is None:
        return wishes
    desk.refresh()  # what others were answered meanwhile teaches guessers, too
    if trained:
        return _by_training(desk, wishes)
    guessing = desk.taught()
    return wishes if guessing is None else guessing.wishes(wishes)


def _by_training(desk: Desk, wishes: Sequence[Wish]) -> list[Wish]:
    """To ask for these with the training rows' values; what was asked before needs none."""
    if all(wish.question.text in desk.transcript.by_question for wish in wishes):
        return list(wishes)
    if desk.train is None:
        raise InvalidArgument(
            f"this ledger answers by {desk.opening.mechanism['name']}, which needs other rows "
            "to guess from; open it with train=. Nothing was spent."
        )
    found = averages(desk.train, [wish.question for wish in wishes], desk.table)
    return [replace(wish, guess=guess) for wish, guess in zip(wishes, found, strict=True)]
