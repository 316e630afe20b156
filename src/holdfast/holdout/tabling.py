"""Statistics that are asked together, answered in a table."""

from __future__ import annotations

from holdfast.holdout.asking import Said, answers_to, told_before
from holdfast.holdout.desk import Desk
from holdfast.holdout.distribution import Distribution
from holdfast.holdout.groups import Groups
from holdfast.holdout.guess import Guess
from holdfast.holdout.price import require_groups_covered
from holdfast.statistics.labelled import Labelled

__all__ = ["table_of_answers"]


def table_of_answers(
    desk: Desk, found: Labelled, guess: Guess, said: Said, frame_kind: str
) -> Groups | Distribution:
    """The answer to each statistic beside its label; refused if the budget covers not all."""
    questions = [question for _, question in found.members]
    requests = said.requests(desk, questions, [None] * len(questions), guess, found.text)
    answers = told_before(desk, requests)
    if answers is None:
        desk.refresh()
        require_groups_covered(desk, questions, ", ".join(found.by), guess, requests[0].tolerance)
        answers = answers_to(desk, questions, requests, guess, in_table=True)
    labelled = tuple(
        (label, answer) for (label, _), answer in zip(found.members, answers, strict=True)
    )
    if found.kind != "distribution":
        return Groups(found.by, labelled, frame_kind, found.text)
    thresholds = tuple((float(str(label)), answer) for label, answer in labelled)
    return Distribution(found.by[0], thresholds, frame_kind, found.text)
