"""What a certificate says: everything is derived from the ledger's entries, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from holdfast.certificate.resting import supports_of
from holdfast.holdout.budget import Budget, budget_of
from holdfast.ledger.transcript import Transcript
from holdfast.ledger.view import view_of
from holdfast.mechanisms.catalogue import kind_of
from holdfast.wording import percent, plural

__all__ = ["limits_of", "promise_of", "statement_of"]


def statement_of(transcript: Transcript) -> dict[str, Any]:
    """All that is said of a ledger, as plain values; an audit comes to the same."""
    opening, terms, account = transcript.opening, transcript.terms, transcript.committed
    budget, kind = budget_of(transcript), kind_of(opening.mechanism["name"])
    spent = math.exp(account.leakage.log_beta_spent)
    closed = account.closed
    return {
        "name": opening.name,
        "opened": opening.at,
        "count": transcript.count,
        "head": transcript.head,
        "rows": terms.rows,
        "columns": str(opening.schema).splitlines(),
        "promise": promise_of(budget),
        "assumes": terms.assumption,
        "simultaneous": terms.simultaneous,
        "confidence_level": terms.confidence_level,
        "questions": terms.questions,
        "tolerance": terms.tolerance,
        "described": terms.described,
        "described_share": terms.described_share,
        "mechanism": {"name": kind.name, "summary": kind.summary},
        "spent": {
            "described": account.described,
            "asked": account.asked,
            "checks": account.checks,
            "surprises": account.surprises,
            "nats": account.nats,
            "failure_probability": spent,
        },
        "closed": None if closed is None else closed._asdict(),
        "attached": [column.to_dict() for column in transcript.attached],
        "answers": view_of(transcript, budget.together).to_dicts(parts=True),
        "given_up": [asked.offer.question for asked in transcript.abandoned],
        "waiting": 0 if transcript.pending is None else len(transcript.pending.asked),
        "theorems": [support.to_dict() for support in supports_of(transcript)],
        "limits": list(limits_of(transcript)),
    }


def promise_of(budget: Budget) -> str:
    """What is promised, in one sentence for people who are no statisticians."""
    terms = budget.terms
    if not terms.simultaneous:
        return (
            "Nothing is promised: the way in which this ledger answers is a baseline for "
            "comparison, and every interval is the whole range."
        )
    some = "" if terms.promises else " of a described question"
    return (
        f"With probability at least {percent(terms.confidence_level)}, every interval{some} on "
        "this page contains the true value, all of them together, although each question may have "
        "been chosen after seeing the answers before it."
    )


def limits_of(transcript: Transcript) -> Iterator[str]:
    """What is not promised, sentence by sentence."""
    terms, kind = transcript.terms, kind_of(transcript.opening.mechanism["name"])
    if terms.simultaneous:
        yield (
            f"With a probability of up to {percent(1.0 - terms.confidence_level)} at least one of "
            "the intervals is false, and nobody can tell which."
        )
    if any(line.status == "no promise" for line in transcript.lines):
        yield "A line whose status is 'no promise' has a value that nothing is promised about."
    yield (
        "The true value is that of the population from which the rows came as assumed above. A "
        "biased selection of rows, a population that has changed since, and rows that depend on "
        "each other in ways that were not declared are not repaired."
    )
    yield (
        "Only what was asked through this ledger is counted. Whoever has seen the rows in another "
        "way, or asked a copy of the ledger or a second ledger of the same rows, knows more than "
        "is counted here."
    )
    brought = [each for each in transcript.attached if each.origin == "submitted"]
    if brought:
        yield (
            f"{plural(len(brought), 'column was', 'columns were')} brought later, and whoever "
            "brought them said that they were made without the protected rows. That is not checked."
        )
    computed = len(list(transcript.attached)) - len(brought)
    if computed:
        yield (
            f"{plural(computed, 'column was', 'columns were')} made with protected rows: known by "
            "the name or digest that was declared, which nobody compares with what made them."
        )
    if not kind.private or terms.describes:
        yield "Individuals are not hidden: the answers were not made private."
    yield (
        "Changes are evident, not impossible: whoever holds the ledger's secret could write "
        "another history, and entries later than the newest one named here may have been made "
        "since. A receipt that somebody kept contradicts a history that lacks it."
    )
