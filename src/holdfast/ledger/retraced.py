"""What an audit follows and what it finds: the entries, wherever they are kept, and its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.ledger.chain import Row, verify
from holdfast.ledger.filing import FiledPlace, Kept
from holdfast.ledger.transcript import Transcript

__all__ = ["Audited", "Copied", "Finding", "Retraced"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One point of the audit: what was looked at, whether it is in order, and what was found."""

    what: str
    fine: bool
    detail: str

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "fine": self.fine, "detail": self.detail}


class Audited(Protocol):
    """Where entries are that are to be audited: a ledger's file, or a certificate."""

    @property
    def unchecked(self) -> str | None:
        """Why the seal of the newest entry could not be compared, if it could not."""
        ...

    def kept(self) -> Kept | None:
        """The newest checkpoint, if there is one to be believed."""
        ...

    def news(self) -> list[Row]:
        """All entries, in order; refused where the chain is broken."""
        ...


@dataclass(frozen=True, slots=True)
class Retraced:
    """Entries that were followed from the first one on, and what was found.

    The `transcript` is None where the chain is broken. `places` are where its answers are to be
    filed, None where the entries could not be followed to their end.
    """

    findings: list[Finding]
    transcript: Transcript | None = None
    places: list[FiledPlace] | None = None


@dataclass(frozen=True, slots=True)
class Copied:
    """Entries that were copied out of a ledger: no secret is with them, and no checkpoint."""

    rows: Sequence[Row]

    @property
    def unchecked(self) -> str:
        """Why the seal could not be compared."""
        return (
            "it stays with the ledger, so that later entries that were left out would not be "
            "noticed; compare the newest hash, or a receipt, with the ledger's."
        )

    def kept(self) -> None:
        """Nothing: everything is folded."""

    def news(self) -> list[Row]:
        """All entries, in order; refused where the chain is broken."""
        verify(self.rows)
        return list(self.rows)
