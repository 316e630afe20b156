"""Questions as they are asked, read: as statistics of the table, with a rule or without."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.data.design import DesignValue
from holdfast.data.sample import Sample
from holdfast.errors import InvalidQuestion
from holdfast.holdout.describing import described_members, described_question
from holdfast.holdout.desk import Desk
from holdfast.holdout.guess import values_of
from holdfast.question.expression import Column
from holdfast.statistics.bind import Labelled, Question, bind, labelled, read_question
from holdfast.statistics.entry import Bound
from holdfast.statistics.named import TableCall

__all__ = ["bound_to", "one_answer_of"]


def bound_to(
    desk: Desk, question: Question | TableCall, others: Sample | None, *, describe: bool = False
) -> Bound | Labelled:
    """The question as statistics of this table; `others` are rows to take groups from.

    To `describe`, what has a description comes with the rule that answers it.
    """
    call = read_question(question) if isinstance(question, str) else question
    if isinstance(call, TableCall):
        several = labelled(call, desk.table, lambda column: _members(desk, column, others))
        return described_members(desk, several) if describe else several
    known = described_question(desk, call) if describe else None
    if known is not None:
        return known
    found = bind(call, desk.table)
    if found.text == question:
        desk.was_read(question)
    return found


def _members(desk: Desk, column: Column, others: Sample | None) -> Sequence[DesignValue]:
    """The groups: from the design, or from other rows, never from the protected ones."""
    if column.name in desk.table.design.columns:
        return desk.table.design.members(column.name)
    others = desk.train if others is None else others
    if others is None or column.name not in others.types:
        raise InvalidQuestion(
            f"by={column.name!r} needs to know the groups without looking at the protected "
            "rows: attach other rows with train= (--train FILE), declare design= (--design at "
            "init), or ask each group with where=."
        )
    return values_of(others, column.name)


def one_answer_of(found: Bound | Labelled) -> Bound:
    """A question with one answer; refused where it has many."""
    if isinstance(found, Labelled):
        raise InvalidQuestion(
            "A histogram and by= groups are many answers; ask for them by themselves."
        )
    return found
