"""Secret of a ledger: 32 bytes in a file of its own (mode 0600), and the print keyed with it.

It addresses the noise and seals the newest entry, and is never in the ledger. The fingerprint of a
table of few distinct rows tells the table to whoever tries them all; keyed, it tells nothing
without the secret, and one table has another print in every ledger. It never leaves the process in
any other form.

A machine without a disk has it in its environment: 64 hexadecimal digits.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256, shake_256

from holdfast.errors import LedgerTampered, LedgerUnavailable
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.chain import RESTORE, keyed
from holdfast.ledger.side_files import read_here, unavailable

SECRET_BYTES = 32
SECRET_VARIABLE = "HOLDFAST_SECRET"  # of the environment: the secret's file, or the secret itself

_PRINT = "holdfast print/1"
_MARK, _STREAM = b"holdfast file mark/1", b"holdfast file stream/1"
_MARK_BYTES = 32


def secret_itself(text: object) -> bytes | None:
    """The secret that a text is, in hexadecimal digits; None if it can only name a file."""
    digits = isinstance(text, str) and re.fullmatch(f"[0-9a-fA-F]{{{2 * SECRET_BYTES}}}", text)
    return bytes.fromhex(text) if digits and isinstance(text, str) else None


def known_secret(ledger: LedgerHome) -> bytes:
    """Secret of a ledger, read from its file unless it was given itself."""
    if isinstance(ledger.secret, bytes):
        return ledger.secret
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


# Files that lie where others can read them. The mark of name and content is also what the stream
# begins from, so that the same file is the same bytes, and others never share a stream. Nothing is
# compressed before: the length would say something of the content.


def encrypted(secret: bytes, name: str, content: bytes) -> bytes:
    """A file that only who has the secret can read."""
    mark = _file_mark(secret, name, content)
    return mark + _streamed(secret, mark, content)


def decrypted(secret: bytes, name: str, file: bytes, where: str) -> bytes:
    """Content of an encrypted file; refused if it is not the one that was kept under its name."""
    mark, rest = file[:_MARK_BYTES], file[_MARK_BYTES:]
    content = _streamed(secret, mark, rest)
    if not hmac.compare_digest(mark, _file_mark(secret, name, content)):
        raise LedgerTampered(f"the file {where!r} is not what was kept there. {RESTORE}")
    return content


def _file_mark(secret: bytes, name: str, content: bytes) -> bytes:
    own = hmac.digest(secret, _MARK, sha256)
    return hmac.digest(own, b"%d %s %s" % (len(name.encode()), name.encode(), content), sha256)


def _streamed(secret: bytes, mark: bytes, content: bytes) -> bytes:
    stream = shake_256(hmac.digest(secret, _STREAM, sha256) + mark).digest(len(content))
    mixed = int.from_bytes(content) ^ int.from_bytes(stream)
    return mixed.to_bytes(len(content))
