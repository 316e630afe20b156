"""Idempotency: a call repeated with its request key returns the stored answers.

That includes what was left then. So the ledger is folded up to that entry, which takes the longer
the longer it is, and is done for retries only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from holdfast.errors import InvalidArgument, LedgerTampered
from holdfast.holdout.answer import Answer
from holdfast.holdout.budget import Budget, budget_of, left_for_more
from holdfast.holdout.desk import Desk
from holdfast.ledger.entries import Request
from holdfast.ledger.transcript import Transcript
from holdfast.statistics.bind import short_name
from holdfast.statistics.entry import Bound


def left_after(desk: Desk, keys: Sequence[str]) -> dict[str | None, Budget]:
    """What was left when the calls with these keys had been told; under None, what is left now."""
    with desk.store.guard:  # threads may share the transcript
        budgets: dict[str | None, Budget] = {None: desk.budget()}
        entries = {key: _entry_of(desk, key) for key in keys}
        # Told together, and nothing since: to be told costs nothing.
        count = desk.transcript.count
        newest = set(range(count - len(entries) + 1, count + 1)) == set(entries.values())
        for key, seq in entries.items():
            budgets[key] = budgets[None] if newest else budget_of(_as_of(desk, seq)[0])
        return budgets


def repeated_answers(
    desk: Desk, key: str, questions: Sequence[Bound], requests: Sequence[Request]
) -> list[Answer]:
    """The stored answers to the call with this key; refused if it asked for something else."""
    then, text = _as_of(desk, _entry_of(desk, key))
    lines = json.loads(text)["lines"]
    before = [Request.read(line["request"]) for line in lines]
    if len(before) != len(requests) or not all(map(Request.is_same, before, requests)):
        raise InvalidArgument(
            f"the key was used to {before[0].verb} {before[0].question}"
            f"{f' and {len(before) - 1} more' if len(before) > 1 else ''}, and this call asks for "
            "something else; use another key for it. Nothing was spent."
        )
    looks, budget = {each.look: each for each in then.answers}, budget_of(then)
    recorded = [then.lines[line["line"] - 1] for line in lines]
    answers = []
    for question, line, body, request in zip(questions, recorded, lines, before, strict=True):
        own = [looks[each] for each in line.parts]
        more = left_for_more(question, own or [line], budget, request.vector, once=desk.once)
        answer = Answer(line, more, repeated=body["repeated"], parts=own)
        name = short_name(line.question, desk.table.schema)
        answers.append(answer.judged(request.better).called(name))
    return answers


def _entry_of(desk: Desk, key: str) -> int:
    entry = desk.transcript.told_for(key)
    if entry is None:
        raise LedgerTampered("the ledger has lost what a call was told; open it again.")
    return entry


def _as_of(desk: Desk, seq: int) -> tuple[Transcript, str]:
    """The ledger as it was after an entry, and what that said."""
    rows, then = desk.store.news()[:seq], Transcript()
    then.apply(rows)
    return then, rows[-1][1]
