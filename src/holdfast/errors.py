"""What Holdfast raises, in one tree. Every text says what, the numbers, and what to do next.

::

    HoldfastError
    ├── InvalidArgument (also ValueError)   a number or name outside its allowed range
    ├── MissingExtra (also ImportError)     an optional part is not installed
    ├── Refused                             the promise could not be kept; nothing spent
    │   ├── ToleranceTooTight (also ValueError)   no mechanism reaches this half-width here
    │   ├── ToleranceTooLoose (also ValueError)   answers this wide would say nothing
    │   ├── BudgetExhausted                 requested more than remains
    │   └── Retired                         the ledger answers nothing new any more
    ├── SaysNothing (also ValueError)       an answer without a value was used as a number
    ├── InvalidQuestion (also ValueError)   the question cannot be understood or is not allowed
    │   ├── NotBounded                      a column has no declared bounds
    │   └── NotDescribed                    the question has no description in words
    ├── DataChanged                         the table is not the one the ledger belongs to
    ├── LedgerTampered                      an entry does not follow from the ones before it
    ├── LedgerBusy                          another process held the ledger for too long
    ├── LedgerUnavailable (also OSError)    the file or folder cannot be read or written
    ├── NotAllowed (also PermissionError)   the token does not allow this
    └── ServiceUnavailable (also ConnectionError)   the service cannot be reached, or answers oddly

SecondLedger, ImplausibleScale and NothingLeft (UserWarnings) are no failures: a new ledger protects
a table that another one does, training rows contradict a declared sigma, or no question can be
answered at the half-width that was declared.
No text ever contains a value computed from protected data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "BudgetExhausted",
    "DataChanged",
    "HoldfastError",
    "ImplausibleScale",
    "InvalidArgument",
    "InvalidQuestion",
    "LedgerBusy",
    "LedgerTampered",
    "LedgerUnavailable",
    "MissingExtra",
    "NotAllowed",
    "NotBounded",
    "NotDescribed",
    "NothingLeft",
    "Refused",
    "Retired",
    "SaysNothing",
    "SecondLedger",
    "ServiceUnavailable",
    "Shortfall",
    "ToleranceTooLoose",
    "ToleranceTooTight",
]


class HoldfastError(Exception):
    """The root of everything Holdfast raises on purpose."""


class InvalidArgument(HoldfastError, ValueError):
    """An argument is outside its allowed range: the text names it, its value and the range."""


class MissingExtra(HoldfastError, ImportError):
    """A library of an optional part is missing: the text says which extra brings it."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a refusal lacks, in numbers; `of` says what is counted.

    Of a half-width, `remaining` is the smallest that can still be had.
    """

    of: Literal["questions", "half-width", "nats"]
    requested: float
    remaining: float

    @property
    def missing(self) -> float:
        return abs(self.requested - self.remaining)


class Refused(HoldfastError):
    """The request would break the promise, so nothing was computed and nothing was spent.

    `shortfall` has the numbers of the text, for programs; None where it is not about a number.
    """

    def __init__(self, text: str, shortfall: Shortfall | None = None) -> None:
        super().__init__(text)
        self.shortfall = shortfall


class ToleranceTooTight(Refused, ValueError):
    """No mechanism reaches this half-width with these rows and questions."""


class ToleranceTooLoose(Refused, ValueError):
    """Answers of this half-width would leave the whole range: a smaller one is needed."""


class BudgetExhausted(Refused):
    """The question costs more than what remains."""


class Retired(Refused):
    """The ledger was retired: what was answered stays true, and nothing new is answered."""


class SaysNothing(HoldfastError, ValueError):
    """The answer's interval is the whole range, so that there is no number to calculate with."""


class InvalidQuestion(HoldfastError, ValueError):
    """The question cannot be understood, or asks for something that is not allowed."""


class NotBounded(InvalidQuestion):
    """The question uses a value without declared bounds."""


class NotDescribed(InvalidQuestion):
    """The question is no text over the table's own columns, so it has no length in bits."""


class DataChanged(HoldfastError):
    """The table is not the one the ledger was opened with, or its files were changed since."""


class LedgerTampered(HoldfastError):
    """The ledger's chain is broken: an entry was changed, removed, added or reordered."""


class LedgerBusy(HoldfastError):
    """Another process held the ledger for longer than the timeout."""


class LedgerUnavailable(HoldfastError, OSError):
    """The ledger's file, folder or secret cannot be read or written."""


class NotAllowed(HoldfastError, PermissionError):
    """The token is missing, unknown, expired or revoked, or does not allow what was asked for."""


class ServiceUnavailable(HoldfastError, ConnectionError):
    """The service could not be reached, or did not answer as a Holdfast service does."""


class NothingLeft(UserWarning):
    """Not one question can be answered at the half-width that was declared for a new ledger."""


class SecondLedger(UserWarning):
    """Another ledger protects the same table: neither promise covers what is asked of both."""


class ImplausibleScale(UserWarning):
    """Training rows contradict the scale that was declared for a column."""
