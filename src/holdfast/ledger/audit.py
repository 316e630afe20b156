"""The audit: the chain, every interval derived again from the ledger alone, and the data's print.

It needs no data; with data the fingerprint is compared too. What it re-derives: each offer from the
account before it (level, radius, grid, prior, worst charge), each answer from its symbol, the
account from the answers. A ledger whose offers promise more than the account allowed fails here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, InvalidQuestion, LedgerTampered, Refused
from holdfast.ledger.entries import Asked
from holdfast.ledger.store import Row, Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.guess_and_check import check_fault
from holdfast.mechanisms.mechanism import Mechanism, Wish
from holdfast.mechanisms.one_look import ordinary_fault
from holdfast.mechanisms.profile import profile_of_record
from holdfast.statistics.known import known_variance
from holdfast.statistics.recorded import recorded, tells_conditions
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table

__all__ = ["Finding", "audit"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One point of the audit: what was looked at, whether it is in order, and what was found."""

    what: str
    fine: bool
    detail: str

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "fine": self.fine, "detail": self.detail}


def audit(path: Path, fingerprint: Callable[[], str] | None = None) -> list[Finding]:
    """Every point of the audit; with `fingerprint`, the data's too."""
    transcript = Transcript()
    try:
        with closing(Store.open(path)) as store:
            entries = store.news()
        chain = Finding("chain", True, f"{len(entries):,} entries, unbroken and sealed")
        promises = _follow(transcript, entries)
    except LedgerTampered as error:
        return [Finding("chain", False, str(error))]
    spent = math.exp(transcript.account.leakage.log_beta_spent)
    allowed = 1 - transcript.terms.confidence_level
    findings = [
        chain,
        promises,
        Finding(
            "failure probability",
            spent <= allowed * (1 + 1e-9),
            f"{spent:.6g} of {allowed:.6g} given out, {transcript.account.nats:.6g} nats leaked",
        ),
        _unfinished(transcript),
    ]
    if fingerprint is not None:
        findings.append(_same_data(transcript, fingerprint))
    return findings


def _follow(transcript: Transcript, entries: list[Row]) -> Finding:
    """Fold the entries one by one; the offers of each batch are derived from the account."""
    checked = 0
    for entry in entries:
        transcript.apply([entry])
        pending, (seq, _, _) = transcript.pending, entry
        if pending is None or pending.seq != seq:
            continue
        for place, asked in enumerate(pending.asked, start=1):
            fault = pending.mechanism.fault(
                transcript.terms, transcript.account, asked.offer, place
            ) or _question_fault(transcript, pending.mechanism, asked)
            if fault:
                return Finding("intervals", False, f"entry {seq}, question {place}: {fault}")
            checked += 1
    return Finding("intervals", True, f"{checked:,} derived again from the ledger alone")


def _question_fault(transcript: Transcript, mechanism: Mechanism, asked: Asked) -> str | None:
    """Whether range, concentration and known variance are those of the question's own text."""
    opening, offer = transcript.opening, asked.offer
    table = Table.declared(opening.columns, opening.bounds, opening.design)
    terms, log_p = transcript.terms, min(0.0, offer.log_p)
    try:
        statistic = recorded(offer.question, table)
        least = statistic.concentration(terms.rows, terms.sampling).radius(log_p)
    except HoldfastError:
        return "its question cannot be read, or has no interval here"
    if (asked.low, asked.high) != (statistic.low, statistic.high):
        return "its range is not that of its question"
    profile = profile_of_record(offer.profile, terms)
    if profile.radius(log_p) < least * (1 - 1e-12):
        return "its concentration is not that of its question"
    if offer.variance is not None:
        known = known_variance(statistic, transcript.by_question)
        if known is None or offer.variance.variance < known.variance * (1 - 1e-12):
            return "its variance was not declared and does not follow from earlier answers"
    return _interval_fault(transcript, mechanism, asked, statistic)


def _interval_fault(
    transcript: Transcript, mechanism: Mechanism, asked: Asked, statistic: Statistic
) -> str | None:
    """Whether the mechanism answers such a question, and makes of its value what it may."""
    offer, terms = asked.offer, transcript.terms
    wish = Wish(statistic, offer.tolerance, offer.claim, offer.guess, offer.variance)
    try:
        mechanism.offer(terms, transcript.account, [wish])
    except InvalidQuestion:
        return "its mechanism does not answer such a question"
    except Refused:
        pass  # at which half-width it is answered was looked at before
    if not tells_conditions(statistic):
        return None
    if offer.claim is not None:
        return check_fault(terms, transcript.account, offer, statistic)
    if "by" in (offer.extra or {}):
        return ordinary_fault(terms, offer, statistic)
    return None


def _unfinished(transcript: Transcript) -> Finding:
    if transcript.pending is None:
        return Finding("unfinished", True, "no question is waiting for its answer")
    count = len(transcript.pending.asked)
    return Finding(
        "unfinished", True, f"{count} reserved, to be finished with the next question (charged)"
    )


def _same_data(transcript: Transcript, fingerprint: Callable[[], str]) -> Finding:
    stored = transcript.opening.fingerprint
    try:
        found = fingerprint()
    except HoldfastError as error:
        return Finding("data", False, str(error))
    same = found == stored
    rest = "unchanged" if same else f"and the table's is {found[:12]}...: it has changed"
    return Finding("data", same, f"the ledger's fingerprint is {stored[:12]}..., {rest}")
