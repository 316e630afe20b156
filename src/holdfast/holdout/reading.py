"""Questions as they are asked, read: as statistics of the table, with a rule or without."""

from __future__ import annotations

from functools import partial

from holdfast.errors import InvalidQuestion
from holdfast.holdout.describing import described_question
from holdfast.holdout.desk import Desk
from holdfast.question.calls import reads_alike
from holdfast.statistics.bind import Question, bind, read_question
from holdfast.statistics.entry import Bound
from holdfast.statistics.labelled import GroupsOf, Labelled, labelled
from holdfast.statistics.named import TableCall

__all__ = ["as_named", "bound_to", "one_answer_of"]


def as_named(question: Question | TableCall) -> Question | TableCall:
    """The statistic that is named, in Python or by a text; it has not met its table yet."""
    return read_question(question) if isinstance(question, str) else question


def bound_to(
    desk: Desk,
    question: Question | TableCall,
    groups: GroupsOf,
    *,
    describe: bool = False,
    text: str | None = None,
) -> Bound | Labelled:
    """The question as statistics of this table; `groups` tells those of its columns.

    To `describe`, what has a description comes with the rule that answers it. `text` is what the
    question was read from, if it was, and says all of it.
    """
    known, text = desk.table, question if isinstance(question, str) else text
    try:
        return _bound(desk, question, groups, describe, text)
    except InvalidQuestion:
        desk.refresh()
        if desk.table is known:
            raise
    return _bound(desk, question, groups, describe, text)  # someone attached a column meanwhile


def _bound(
    desk: Desk,
    question: Question | TableCall,
    groups: GroupsOf,
    describe: bool,
    text: str | None,
) -> Bound | Labelled:
    call = as_named(question)
    if isinstance(call, TableCall):
        together = call.name == "distribution"
        bound = partial(_one_bound, desk, describe=describe, together=together)
        return labelled(call, desk.table, groups, bound)
    found = _one_bound(desk, call, text, describe=describe)
    if text is not None and reads_alike(text, found.text):
        desk.was_read(found.text)
    return found


def _one_bound(
    desk: Desk, call: Question, text: str | None = None, *, describe: bool, together: bool = False
) -> Bound:
    known = described_question(desk, call, text, together=together) if describe else None
    return bind(call, desk.table) if known is None else known


def one_answer_of(found: Bound | Labelled) -> Bound:
    """A question with one answer; refused where it has many."""
    if isinstance(found, Labelled):
        raise InvalidQuestion(
            "A histogram, a distribution and by= groups are many answers; ask for them by "
            "themselves."
        )
    return found
