"""What the tools return: plain values with a schema that agents can read, and the same as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field, create_model

from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.service.data_set import Reply
from holdfast.service.replies import AnswerFields, BudgetReply
from holdfast.statistics.registry import STATISTICS

ROWS_OF_A_PAGE = 50  # of a table that an agent is told at once
_Part = str | int | float | bool | None


def _picked(
    name: str, meaning: str, source: type[BaseModel], names: str, **other: Any
) -> type[BaseModel]:
    """Some fields of a reply of the service, and `other` ones: what an agent has use for."""
    own: dict[str, Any] = {
        each: (source.model_fields[each].annotation, source.model_fields[each])
        for each in names.split()
    }
    return create_model(name, __doc__=meaning, __module__=__name__, **own, **other)


AnswerTold = _picked(
    "AnswerTold",
    "One answer, in the statistic's own unit.",
    AnswerFields,
    "number question status value low high half_width bits n n_most missing missing_most guess "
    "cost verdict receipt",
    group=(list[_Part] | None, Field(description="Of `by` groups: which one it is about.")),
    rounded=(
        bool,
        Field(description="Whether value and ends are rounded to a public grid, to leak less."),
    ),
)


class AnswersTold(BaseModel):
    """The answers to a call, and what is left after it."""

    answers: list[AnswerTold] = Field(  # type: ignore[valid-type]
        description="One; of a table, a page of its rows."
    )
    total: int = Field(description="How many answers there are in all.")
    next: int | None = Field(
        description="Of a table with more rows: ask the same again with this `after`, for free."
    )
    confidence_level: float = Field(description="That all intervals are true together.")
    simultaneous: bool = Field(description="Whether all intervals ever given are true together.")
    assumes: str = Field(description="What the intervals rest on.")
    questions_left: int = Field(description="About later columns or functions, at the tolerance.")
    surprises_left: int = Field(description="Wrong guesses left, in a row.")
    text: str = Field(description="The same for people.")


BudgetTold = _picked(
    "BudgetTold",
    "What is left, and what is promised.",
    BudgetReply,
    "described asked questions_left checks surprises surprises_left candidates_left next_gate nats "
    "closed promise text",
)


class ColumnTold(BaseModel):
    """A column that questions may name."""

    name: str = Field(description="What questions call it.")
    type: str = Field(description="boolean, integer, float, text, date, datetime or other.")
    facts: list[str] = Field(description="Declared bounds and values, in words.")
    attached: bool = Field(description="Whether it arrived later, by the key.")


class DescriptionTold(BaseModel):
    """The protected table as far as it is public, and how to ask it."""

    name: str = Field(description="What the holdout is called.")
    rows: int = Field(description="How many are protected.")
    columns: list[ColumnTold] = Field(description="What questions may name.")
    design: list[str] = Field(description="Columns whose groups are public.")
    width: str = Field(description="How wide answers about later columns or functions are.")
    described: str = Field(
        description="How text over columns is answered: exact, rounded to a public grid, or off: "
        "like everything else."
    )
    promise: str = Field(description="What holds, and what it rests on.")
    statistics: dict[str, str] = Field(description="How each is written, and what it is.")
    text: str = Field(description="The same for people.")


class LineTold(BaseModel):
    """One line of the ledger. Who else asked, and why, is not told."""

    number: int | None = Field(description="Its number; None for a part of something.")
    at: str = Field(description="When, in UTC.")
    question: str = Field(description="The canonical text.")
    verb: str = Field(description="ask, check or gate.")
    status: str = Field(description="What became of it.")
    value: float | None = Field(description="None where nothing is said.")
    low: float | None = Field(description="None where nothing bounds it from below.")
    high: float | None = Field(description="None where nothing bounds it from above.")
    bits: float | None = Field(description="How long a text question is.")
    guess: float | None = Field(description="What was guessed, or claimed as a bound.")
    cost: float = Field(description="What it cost, in nats.")
    mine: bool = Field(description="Whether this caller asked it.")
    why: str | None = Field(description="Of the caller's own lines.")


class HistoryTold(BaseModel):
    """Lines of the ledger, oldest first."""

    total: int = Field(description="How many lines there are.")
    lines: list[LineTold] = Field(description="The newest of them, or those before a number.")
    text: str = Field(description="The same for people.")


class PlanTold(BaseModel):
    """What could be had of so many rows. Touches no data."""

    plan: dict[str, Any] = Field(description="Every mechanism, or every gate, in numbers.")
    text: str = Field(description="The same for people.")


def answers_result(reply: Reply, after: int = 0) -> AnswersTold:
    """The answers of a call; of a table, a page of the rows after so many."""
    labelled = list(_labelled(reply))
    page = labelled[after : after + ROWS_OF_A_PAGE]
    _, newest = labelled[-1]
    budget, more = newest.left, after + len(page) < len(labelled)
    return AnswersTold(
        answers=[_answer(label, answer) for label, answer in page],
        total=len(labelled),
        next=after + len(page) if more else None,
        confidence_level=budget.terms.confidence_level,
        simultaneous=budget.terms.simultaneous,
        assumes=budget.terms.assumption,
        questions_left=budget.questions_left,
        surprises_left=budget.surprises_left,
        text=_text(reply, page, after),
    )


def _text(reply: Reply, page: Sequence[tuple[list[_Part] | None, Answer]], after: int) -> str:
    if isinstance(reply, Answer):
        return f"{reply.name}: {reply}"
    if len(page) == len(reply.answers):
        return str(reply)
    rows = [
        f"{', '.join(map(str, label or ()))}: {answer.recorded.shown} "
        f"{answer.recorded.interval_text}"
        for label, answer in page
    ]
    shown = f"rows {after + 1:,} to {after + len(page):,} of {len(reply.answers):,}"
    return "\n".join([f"{reply.question}, {shown}", *rows])


def _labelled(reply: Reply) -> Iterator[tuple[list[_Part] | None, Answer]]:
    if isinstance(reply, Answer):
        yield None, reply
        return
    for label, answer in reply.answers:
        yield list(label) if isinstance(label, tuple) else [label], answer


def _answer(group: list[_Part] | None, answer: Answer) -> BaseModel:
    facts = answer.to_dict()
    own = {name: facts[name] for name in AnswerTold.model_fields if name in facts}
    rounded = answer.bits is not None and answer.left.terms.described == "rounded"
    return AnswerTold(group=group, rounded=rounded, **own)


def described_to_agents(holdout: Holdout) -> DescriptionTold:
    """What is public of a table."""
    budget = holdout.budget  # which reads what others have attached since
    opening, schema = holdout.opening, holdout.schema
    attached = {column.name for column in holdout.columns}
    columns = [
        ColumnTold(name=name, type=str(kind), facts=schema.facts(name), attached=name in attached)
        for name, kind in schema.types.items()
    ]
    terms = opening.terms
    return DescriptionTold(
        name=opening.name,
        rows=terms.rows,
        columns=columns,
        design=list(terms.design.columns),
        width=terms.width,
        described=terms.described,
        promise=budget.promise,
        statistics={entry.form: entry.meaning for entry in STATISTICS.values()},
        text=f"{opening.name}: {terms.rows:,} protected rows\n{schema}\nPromised: {budget.promise}",
    )


def history_result(
    holdout: Holdout, asked_by: str | None, last: int, before: int | None = None
) -> HistoryTold:
    """The newest lines, or those before a number.

    What others wrote is not for agents: it may be written to mislead them.
    """
    view = holdout.ledger
    if before is None:
        page = replace(view, lines=view.lines[-last:])
    else:
        page = view.page(max(0, before - 1 - last), min(last, before - 1))
    lines = [
        _line(each, mine=asked_by is not None and each["asked_by"] == asked_by)
        for each in page.to_dicts()
    ]
    text = "\n".join(
        f"{line.number}. {line.question}: {line.status}, {recorded.interval_text}"
        for recorded, line in zip(page, lines, strict=True)
    )
    return HistoryTold(total=len(view), lines=lines, text=text or "No question has been asked yet.")


def _line(facts: dict[str, Any], *, mine: bool) -> LineTold:
    own = {name: facts[name] for name in LineTold.model_fields if name in facts}
    return LineTold(**{**own, "mine": mine, "why": facts["why"] if mine else None})
