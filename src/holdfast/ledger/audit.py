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
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, LedgerTampered
from holdfast.ledger.store import Row, Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.account import Account, Terms
from holdfast.mechanisms.mechanism import Offer
from holdfast.theory.leakage import (
    confirmed_log_charge,
    surprise_log_charge,
)
from holdfast.theory.release import DiscreteUniform

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
            fault = _fault(transcript.terms, transcript.account, asked.offer, place)
            if fault:
                return Finding("intervals", False, f"entry {seq}, question {place}: {fault}")
            checked += 1
    return Finding("intervals", True, f"{checked:,} derived again from the ledger alone")


def _fault(terms: Terms, account: Account, offer: Offer, place: int) -> str | None:
    """What is wrong with an offer, given the account before it; None if nothing is."""
    release = DiscreteUniform(offer.cells, offer.reach)
    charge = release.log_charge(offer.radius)
    if offer.prior is not None:
        charge = max(confirmed_log_charge(offer.prior), surprise_log_charge(offer.prior, charge))
    least_radius = terms.concentration.radius(min(0.0, offer.log_p))
    faults = {
        "its number is out of order": offer.number != account.asked + place,
        "it takes more than its share of the failure probability": (
            offer.log_share > terms.log_share(offer.number) + 1e-9
        ),
        "its prior of a surprise is not the account's": (
            offer.prior is not None and offer.prior != account.surprise_prior
        ),
        "its level ignores leakage": offer.log_p > offer.log_share - account.nats + 1e-9,
        "its radius is too small": offer.radius < least_radius * (1 - 1e-12),
        "noise and radius exceed its tolerance": (
            release.reach + Fraction(offer.radius) > Fraction(offer.tolerance)
        ),
        "its charge is too small": offer.worst_charge < charge * (1 - 1e-12),
    }
    return next((fault for fault, found in faults.items() if found), None)


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
