"""Questions chosen together, put to the desk: refused before anything is asked, or answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from holdfast import require
from holdfast.described.wording import sure_half_width
from holdfast.errors import InvalidArgument, Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.describing import ruled
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import Guess
from holdfast.holdout.plays import answered
from holdfast.holdout.price import require_covered
from holdfast.holdout.retelling import retold
from holdfast.holdout.vacuous import is_silent, require_telling
from holdfast.holdout.widths import NamedWidth
from holdfast.ledger.entries import Request
from holdfast.statistics.bind import Question
from holdfast.statistics.derived import is_single
from holdfast.statistics.entry import Bound
from holdfast.statistics.named import Better, Call, TableCall

__all__ = ["Said", "Saying", "answers_to", "better_of", "several", "told_before"]


class Saying(TypedDict, total=False):
    """What may be said with every verb."""

    why: str | None
    tolerance: float | None
    half_width: float | None
    by: str | None
    key: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """What is said with a call beside its questions: why, by whom, its own key, the half-width."""

    why: str | None
    by: str | None
    key: str | None
    width: NamedWidth

    def __post_init__(self) -> None:
        for name in ("why", "by", "key"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InvalidArgument(f"{name} is {value!r}; it must be text.")

    def requests(
        self,
        desk: Desk,
        questions: Sequence[Bound],
        betters: Sequence[Better | None],
        guess: Guess,
        table: str | None = None,
    ) -> list[Request]:
        """What is asked for, as the ledger records it; `table` is what they are asked for."""
        tolerance = self.width.part_of(questions, desk.transcript.terms.rows)
        return [
            Request(
                question.text,
                question.low,
                question.high,
                guess.verb,
                guess.of(place),
                guess.side,
                tolerance,
                better,
                self.why,
                self.by,
                self.key,
                table,
                is_single(question) and question.unbounded,
            )
            for place, (question, better) in enumerate(zip(questions, betters, strict=True))
        ]


def told_before(desk: Desk, requests: Sequence[Request]) -> list[Answer] | None:
    """What a call with the same key was told; None if there was none."""
    key = requests[0].key
    if key is None:
        return None
    desk.refresh()
    return None if desk.transcript.told_for(key) is None else retold(desk, key, requests)


def answers_to(
    desk: Desk,
    questions: Sequence[Bound],
    requests: Sequence[Request],
    guess: Guess,
    *,
    in_table: bool = False,
) -> list[Answer]:
    """The answers. `in_table`, a question may say nothing beside others that do."""
    tolerance = requests[0].tolerance
    if guess.side is None and not all(map(is_single, questions)):
        desk.refresh()
        require_telling(desk, questions, guess, tolerance, in_table=in_table)
        require_covered(desk, questions, guess, tolerance)

    def silent(place: int) -> bool:
        if guess.side is not None:
            return False
        return is_silent(desk, questions[place], guess.of(place), guess, tolerance)

    try:
        return answered(desk, questions, requests, guess, tolerance, silent)
    except Refused as refusal:
        if guess.verb == "check" or tolerance is None or len(questions) > 1:
            raise
        raise _with_alternative(desk, questions[0], refusal) from None


def _with_alternative(desk: Desk, question: Bound, refusal: Refused) -> Refused:
    """The refusal of a half-width, with what is answered without one."""
    found = ruled(desk, question)
    if found is None:
        return refusal
    part = sure_half_width(found.rule)
    most = "" if part is None else f" of at most {part * (found.high - found.low):.4g}"
    return type(refusal)(
        f"{refusal} Without a half-width it is answered by its description, at its own{most}.",
        refusal.shortfall,
    )


def better_of(question: Question | TableCall) -> Better | None:
    """Which sign of a difference is better, where that was said."""
    return question.better if isinstance(question, Call) else None


def several(questions: Iterable[Question]) -> list[Question]:
    """Questions that are given together; one text is not many."""
    if isinstance(questions, str):
        raise InvalidArgument(
            f"questions is the one text {questions!r}; give a list, or use ask or check for one."
        )
    return require.items("questions", questions, "a list of questions")
