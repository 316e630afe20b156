"""What the tools return: plain values with a schema that agents can read, and the same as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, Field

from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.service.data_set import Reply
from holdfast.statistics.registry import STATISTICS

__all__ = [
    "AnswerTold",
    "AnswersTold",
    "BudgetTold",
    "ColumnTold",
    "CostTold",
    "DescriptionTold",
    "HistoryTold",
    "LineTold",
    "PlanTold",
    "answers_told",
    "described_to_agents",
    "history_told",
]

_Part = str | int | float | bool | None


class AnswerTold(BaseModel):
    """One answer, in the statistic's own unit."""

    number: int = Field(description="Its line of the ledger.")
    question: str = Field(description="The question as the ledger knows it.")
    group: list[_Part] | None = Field(description="Of `by` groups: which one it is about.")
    status: str = Field(
        description="answered, confirmed, not confirmed, shown, not shown, repeated, "
        "says nothing, or no promise."
    )
    value: float | None = Field(description="None where nothing is said.")
    low: float | None = Field(description="None where nothing bounds it from below.")
    high: float | None = Field(description="None where nothing bounds it from above.")
    half_width: float | None = Field(description="Half of high - low.")
    bits: float | None = Field(description="How long a described question is; None for others.")
    n: int = Field(description="How many rows it is about, at least.")
    n_most: int = Field(description="How many rows it is about, at most.")
    missing: int = Field(description="How many rows were left out for want of a value, at least.")
    missing_most: int = Field(description="How many were left out, at most.")
    guess: float | None = Field(description="What was guessed, or claimed as a bound.")
    cost: float = Field(description="What it cost, in nats; 0 for a repeat.")
    verdict: str | None = Field(description="Of a difference with `better`: what it says.")
    receipt: str = Field(description="The hash of the ledger's entry: keep it to prove the answer.")


class AnswersTold(BaseModel):
    """The answers to a call, and what is left after it."""

    answers: list[AnswerTold] = Field(description="One, or one for each group.")
    confidence_level: float = Field(description="That all intervals are true together.")
    simultaneous: bool = Field(description="Whether all intervals ever given are true together.")
    assumes: str = Field(description="What the intervals rest on.")
    questions_left: int = Field(description="Without a description or a guess, at the tolerance.")
    surprises_left: int = Field(description="Guesses that may be refuted in a row.")
    text: str = Field(description="The same for people.")


class CostTold(BaseModel):
    """What a question would cost. Free to know, and nothing of the data."""

    question: str = Field(description="The question as the ledger knows it.")
    half_width: float | None = Field(description="None where it follows from answers to come.")
    tolerance: float | None = Field(description="The same as a part of the range.")
    bits: float | None = Field(description="How long a described question is.")
    least: float = Field(description="Nats, if every guess is confirmed.")
    most: float | None = Field(description="Nats at worst; None: all that is left.")
    questions: int = Field(description="How many questions it takes at most.")
    questions_left: int = Field(description="Without a description or a guess, now.")
    questions_left_after: int = Field(description="At worst.")
    repeated: bool = Field(description="Asked before, so that it is free.")
    closes: bool = Field(description="Whether it ends asks and checks for good.")
    text: str = Field(description="The same for people.")


class BudgetTold(BaseModel):
    """What is left, and what is promised."""

    described: int = Field(description="Described questions answered; any number more may be.")
    asked: int = Field(description="Other questions answered.")
    questions_left: int = Field(description="Without a description or a guess, at the tolerance.")
    checks: int = Field(description="Guesses that were checked.")
    surprises: int = Field(description="Guesses that were refuted.")
    surprises_left: int = Field(description="In a row, at the tolerance.")
    candidates_left: int | None = Field(description="Gates, where a number was declared.")
    next_gate: dict[str, Any] | None = Field(description="The gain that it can show, and how.")
    nats: float = Field(description="What has leaked.")
    closed: dict[str, Any] | None = Field(description="When and why it was closed or retired.")
    promise: str = Field(description="What holds, and what it rests on.")
    text: str = Field(description="The same for people.")


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
    width: str = Field(description="How wide answers without a description are.")
    described: str = Field(description="How questions that are text over columns are answered.")
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
    bits: float | None = Field(description="How long a described question is.")
    guess: float | None = Field(description="What was guessed, or claimed as a bound.")
    cost: float = Field(description="What it cost, in nats.")
    mine: bool = Field(description="Whether this caller asked it.")
    why: str | None = Field(description="Of the caller's own lines.")


class HistoryTold(BaseModel):
    """The newest lines of the ledger, oldest of them first."""

    total: int = Field(description="How many lines there are.")
    lines: list[LineTold] = Field(description="The newest of them.")
    text: str = Field(description="The same for people.")


class PlanTold(BaseModel):
    """What could be had of so many rows. Touches no data."""

    plan: dict[str, Any] = Field(description="Every mechanism, or every gate, in numbers.")
    text: str = Field(description="The same for people.")


def answers_told(reply: Reply) -> AnswersTold:
    """The answers of a call."""
    labelled = list(_labelled(reply))
    _, newest = labelled[-1]
    budget = newest.left
    return AnswersTold(
        answers=[_answer(label, answer) for label, answer in labelled],
        confidence_level=budget.terms.confidence_level,
        simultaneous=budget.terms.simultaneous,
        assumes=budget.terms.assumption,
        questions_left=budget.questions_left,
        surprises_left=budget.surprises_left,
        text=f"{reply.question}: {reply}" if isinstance(reply, Answer) else str(reply),
    )


def _labelled(reply: Reply) -> Iterator[tuple[list[_Part] | None, Answer]]:
    if isinstance(reply, Answer):
        yield None, reply
        return
    for label, answer in reply.answers:
        yield list(label) if isinstance(label, tuple) else [label], answer


def _answer(group: list[_Part] | None, answer: Answer) -> AnswerTold:
    facts = answer.to_dict()
    own = {name: facts[name] for name in AnswerTold.model_fields if name in facts}
    return AnswerTold(group=group, **own)


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


def history_told(holdout: Holdout, asked_by: str | None, last: int) -> HistoryTold:
    """The newest lines. What others wrote is not for agents: it may be written to mislead them."""
    view = holdout.ledger
    facts = view.to_dicts()
    lines = [
        _line(each, mine=asked_by is not None and each["asked_by"] == asked_by) for each in facts
    ]
    newest: Sequence[LineTold] = lines[max(0, len(lines) - last) :]
    text = "\n".join(
        f"{line.number}. {line.question}: {line.status}, {recorded.interval_text}"
        for recorded, line in zip(view.lines[len(lines) - len(newest) :], newest, strict=True)
    )
    return HistoryTold(
        total=len(lines), lines=list(newest), text=text or "No question has been asked yet."
    )


def _line(facts: dict[str, Any], *, mine: bool) -> LineTold:
    own = {name: facts[name] for name in LineTold.model_fields if name in facts}
    return LineTold(**{**own, "mine": mine, "why": facts["why"] if mine else None})
