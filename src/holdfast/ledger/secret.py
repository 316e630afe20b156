"""Secret of a ledger: 32 bytes in a file of its own (mode 0600), and the print keyed with it.

It addresses the noise and seals the newest entry, and is never in the ledger. The fingerprint of a
table of few distinct rows tells the table to whoever tries them all; keyed, it tells nothing
without the secret, and one table has another print in every ledger. It never leaves the process in
any other form.
"""

from __future__ import annotations

from holdfast.errors import LedgerTampered, LedgerUnavailable
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import keyed
from holdfast.ledger.side_files import read_here, unavailable

__all__ = ["SECRET_BYTES", "keyed_print", "known_secret"]

SECRET_BYTES = 32

_PRINT = "holdfast print/1"


def known_secret(ledger: LedgerHome) -> bytes:
    """Secret of a ledger, read from its file."""
    path = ledger.beside("secret")
    try:
        # One that was named may be a link, as those are that a cluster puts in a folder.
        secret = path.read_bytes() if path == ledger.secret else read_here(path)
    except FileNotFoundError:
        raise LedgerUnavailable(
            f"the secret {str(path)!r} of the ledger {str(ledger)!r} is missing; without it no "
            "answer can be finished or added. Restore it beside the ledger, or say where it "
            "is: secret= (holdfast --secret FILE)."
        ) from None
    except LedgerUnavailable:
        raise
    except OSError as error:
        raise unavailable(path, error) from error
    if len(secret) != SECRET_BYTES:
        raise LedgerTampered(
            f"the secret {str(path)!r} has {len(secret)} bytes, not {SECRET_BYTES}; restore it."
        )
    return secret


def keyed_print(secret: bytes, content: str) -> str:
    """Print of a table, as a ledger with this secret writes its fingerprint."""
    return keyed(secret, _PRINT, content)
