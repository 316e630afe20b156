"""Questions chosen together, put to the desk: refused before anything is asked, or answered."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import Guess
from holdfast.holdout.plays import answered
from holdfast.holdout.price import require_covered
from holdfast.holdout.vacuous import is_silent, require_telling
from holdfast.statistics.derived import is_single
from holdfast.statistics.registry import Bound

__all__ = ["answers_to"]


def answers_to(
    desk: Desk,
    questions: Sequence[Bound],
    guess: Guess,
    why: str | None,
    tolerance: float | None,
    *,
    in_table: bool = False,
) -> list[Answer]:
    """The answers. `in_table`, a question may say nothing beside others that do."""
    if not all(map(is_single, questions)):
        desk.refresh()
        require_telling(desk, questions, guess, tolerance, in_table=in_table)
        require_covered(desk, questions, guess, tolerance)

    def silent(place: int) -> bool:
        return is_silent(desk, questions[place], guess.of(place), guess, tolerance)

    return answered(desk, questions, guess, why, tolerance, silent)
