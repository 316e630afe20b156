"""Statement of a certificate, and the theorems it rests on, from the entries alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.data.sampling import GIVEN_SIZES
from holdfast.holdout.budget import Budget, budget_of
from holdfast.ledger.entries import Recorded
from holdfast.ledger.rule_claims import whole_of_looks
from holdfast.ledger.transcript import Transcript, is_keyless
from holdfast.ledger.view import view_of
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.claims import by_sign_test, is_by_rule
from holdfast.mechanisms.terms import profile_of
from holdfast.statistics.bind import asked_again, recorded_statistic
from holdfast.statistics.claimed import ClaimedQuestion
from holdfast.theory.base.theorem import SOURCES, registry
from holdfast.wording import percent, plural

# Which theorems a ledger's answers rest on: found from the entries, named as the registry does.


# For people who have only the certificate; the place names the publication.
_SOURCES = {
    "Holdfast": "Holdfast's own theorem, proved in its documentation",
    "Literature": "published",
}
_CLAIMED = ("confirmed", "not confirmed", "shown", "not shown")


@dataclass(frozen=True, slots=True)
class Support:
    """A theorem, in the registry's words, and how many looks and lines rest on it."""

    name: str
    place: str
    statement: str
    source: str
    answers: int

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def supports_of(transcript: Transcript) -> list[Support]:
    """The theorems behind everything that was answered, those that most rest on first."""
    uses = Counter(_named(transcript))
    theorems = registry()
    return [
        Support(
            name,
            theorems[name].place,
            theorems[name].statement,
            _SOURCES.get(theorems[name].source, SOURCES[theorems[name].source]),
            count,
        )
        for name, count in sorted(uses.items(), key=lambda each: (-each[1], each[0]))
        if name in theorems
    ]


def _named(transcript: Transcript) -> Iterator[str]:
    """The names behind each look, and behind each line that follows from looks; with repeats."""
    for look in transcript.answers:
        if look.status != "no promise":
            yield from dict.fromkeys(_of_look(look, transcript))
    for line in transcript.lines:
        if line.look is None:
            yield from _of_whole(line, transcript) if line.parts else ()
            yield from ("intersection_implied",) if line.known and not line.contradict else ()


def _of_look(look: Recorded, transcript: Transcript) -> Iterator[str]:
    if look.rule is not None:
        yield "described_log_level"
        yield from look.rule.theorems
        return
    if look.member is not None:  # of a search that tells only its winner
        yield from ("symbol_log_level", "cell_log_weight", "winner_interval")
        return
    if look.status in _CLAIMED:
        yield "claim_log_level"
        yield from () if look.forecast is None else ("forecast_weights",)
        yield from () if look.adjusted is None else ("grade_log_levels", "running_adjusted_p")
    else:
        promised = kind_of(transcript.opening.mechanism["name"]).theorem
        yield from () if promised is None else (promised,)
    whole = whole_of_looks(transcript, look.request, [look]) if is_by_rule(look.profile) else None
    if isinstance(whole, ClaimedQuestion):
        yield from whole.reads.rule.theorems
        return
    statistic = recorded_statistic(look.question, transcript.table)
    alike = transcript.terms.alike_for(keyless=is_keyless(transcript, statistic.columns))
    if by_sign_test(statistic, look.claim, alike=alike):
        yield "sign_test_log_p"
        return
    yield type(profile_of(statistic, transcript.terms, alike=alike)).__name__
    if look.variance is not None:
        yield "Bernstein"


def _of_whole(line: Recorded, transcript: Transcript) -> tuple[str, ...]:
    """The theorem by which a line follows from its looks."""
    return getattr(asked_again(line.question, transcript.table), "theorems", ())


def statement_of(transcript: Transcript) -> dict[str, Any]:
    """Statement about a ledger, as plain values; an audit comes to the same."""
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
            "surprises": account.refuted,
            "nats": account.nats,
            "failure_probability": spent,
        },
        "closed": None if closed is None else closed._asdict(),
        "attached": [column.to_dict() for column in transcript.attached],
        "answers": view_of(transcript, budget.together).to_dicts(parts=True),
        "given_up": [each.offer.question for each in transcript.abandoned],
        "waiting": 0 if transcript.pending is None else len(transcript.pending.asked),
        "theorems": [support.to_dict() for support in supports_of(transcript)],
        "limits": list(limits_of(transcript)),
    }


def promise_of(budget: Budget) -> str:
    """Promise, in one sentence for people who are no statisticians."""
    terms = budget.terms
    if not terms.simultaneous:
        return (
            "Nothing is promised: the way in which this ledger answers is a baseline for "
            "comparison, and every interval is the whole range."
        )
    some = "" if terms.promises else " of a text question"
    sizes = f", {GIVEN_SIZES}" if terms.given_sizes else ""
    return (
        f"With probability at least {percent(terms.confidence_level)}, every interval{some} on "
        f"this page contains the true value{sizes}, all of them together, although each question "
        "may have been chosen after seeing the answers before it."
    )


def limits_of(transcript: Transcript) -> Iterator[str]:
    """Limits: what is not promised, sentence by sentence."""
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
    submitted = [each for each in transcript.attached if each.origin == "submitted"]
    if submitted:
        yield (
            f"{plural(len(submitted), 'column was', 'columns were')} brought later, and whoever "
            "brought them said that they were made without the protected rows. That is not checked."
        )
    computed = len(list(transcript.attached)) - len(submitted)
    if computed:
        yield (
            f"{plural(computed, 'column was', 'columns were')} made with protected rows: known by "
            "the name or digest that was declared, which nobody compares with what made them."
        )
    if not kind.private or terms.describes:
        yield "Individuals are not hidden: the answers were not made private."
    yield (
        "Who wrote this history is told by a signature alone: whoever has a copy of the entries "
        "can write another one, with hashes that fit. Entries later than the newest one named here "
        "may have been made since. A receipt that somebody kept contradicts a history that lacks "
        "it."
    )
