"""The entries that end a ledger: for asks and checks, or for everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.errors import LedgerTampered
from holdfast.mechanisms.account import Account, Closed
from holdfast.mechanisms.mechanism import Mechanism

__all__ = ["ENDING", "closing", "ended", "last_to_answer", "retirement", "revelation"]

ENDING = ("close/1", "reveal/1", "retire/1")


def closing(at: str, why: str) -> dict[str, str]:
    """The entry that ends asks and checks."""
    return {"kind": "close/1", "at": at, "why": why}


def revelation(at: str, question: str) -> dict[str, str]:
    """The entry that ends them with one exact value, whose reservation is in the same commit."""
    why = "the exact value of a statistic was revealed"
    return {"kind": "reveal/1", "at": at, "why": why, "question": question}


def retirement(at: str, why: str, successor: str | None) -> dict[str, Any]:
    """The entry after which nothing new is answered."""
    return {"kind": "retire/1", "at": at, "why": why, "successor": successor}


def ended(account: Account, body: Mapping[str, Any]) -> Account:
    """The account after such an entry; once closed it can only be retired, and that once."""
    before, retired = account.closed, body["kind"] == "retire/1"
    if before and (before.retired or not retired):
        raise LedgerTampered("the ledger is closed again, after it was closed for good.")
    closed = Closed(body["at"], body["why"], retired, body["successor"] if retired else None)
    after = replace(account, closed=closed)
    if body["kind"] != "reveal/1":
        return after
    from holdfast.mechanisms.reveal import to_be_revealed

    return to_be_revealed(after, body["question"])


def last_to_answer(account: Account, mechanism: Mechanism) -> Mechanism | None:
    """What shows an exact value after such an entry, if anything does; few ledgers load it."""
    if account.closed is None:
        return None
    from holdfast.mechanisms.reveal import revealing

    return revealing(mechanism)
