"""Who may ask: tokens with a role, for one data set or all, with a cap and an end.

A token `hf_ID_SECRET` is shown once. What is kept is a hash of its secret, keyed with the service's
own, and it is compared in constant time. Every request looks it up again, so that a token that is
revoked is refused by every worker from the next request on. What counts against a cap is written
before a question is asked, and taken back if nothing new was answered: a crash can over-charge.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sqlite3
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.ledger.chain import keyed
from holdfast.ledger.sqlite import plainly

TokenRole: TypeAlias = Literal["custodian", "analyst", "viewer"]
ROLES: tuple[TokenRole, ...] = get_args(TokenRole)
# Whether a call was counted now or before; or not, since that would be over the cap.
Charged: TypeAlias = Literal["now", "before", "over"]

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT "
    "NULL UNIQUE, role TEXT NOT NULL, dataset TEXT, questions INTEGER, share REAL, created TEXT "
    "NOT NULL, expires TEXT, revoked TEXT) STRICT",
    "CREATE TABLE IF NOT EXISTS calls (token TEXT NOT NULL, key TEXT NOT NULL, dataset TEXT NOT "
    "NULL, questions INTEGER NOT NULL, nats REAL NOT NULL, looks INTEGER NOT NULL, PRIMARY KEY "
    "(token, key)) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, asked TEXT NOT NULL, reply TEXT "
    "NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS rotated (id TEXT PRIMARY KEY, hash TEXT NOT NULL, until TEXT NOT "
    "NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, token TEXT NOT NULL, until INTEGER "
    "NOT NULL) STRICT, WITHOUT ROWID",
)
_COLUMNS = "id, name, role, dataset, questions, share, created, expires, revoked"
_SHOWN = f"SELECT hash, {_COLUMNS} FROM tokens WHERE id = ?"
_ROTATED = "SELECT hash, until FROM rotated WHERE id = ?"
_SPENT = "SELECT COALESCE(SUM(questions), 0) FROM calls WHERE token = ?"
_TAKEN = (
    "SELECT COALESCE(SUM(questions), 0), COALESCE(SUM(nats), 0.0), COALESCE(SUM(looks), 0) FROM "
    "calls WHERE token = ? AND dataset = ?"
)
_ID = re.compile(r"[0-9a-f]{16}")
_SHAPE = re.compile(r"hf_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_PURPOSE = "holdfast token/1"
_NOBODY = "0" * 64  # what a secret is compared with if nobody has the ID
_LONGEST_NAME = 100
_MOST_NATS = 1e300  # what is written of a price without end
_EXPIRY = re.compile(r"([1-9][0-9]{0,4})([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept: `dataset` None is for all.

    `questions` caps how many answers it may have anew, `share` which part of every data set's pool
    it may take; None is without that cap.
    """

    id: str
    name: str
    role: TokenRole
    dataset: str | None
    questions: int | None
    share: float | None
    created: str
    expires: str | None
    revoked: str | None

    @property
    def is_capped(self) -> bool:
        """Whether what its calls take is to be written down."""
        return self.questions is not None or self.share is not None

    @property
    def granted(self) -> tuple[str, TokenRole, str | None, int | None, float | None]:
        """What was asked for when it was made."""
        return self.name, self.role, self.dataset, self.questions, self.share

    def allows(self, dataset: str) -> bool:
        """Whether it is for a data set."""
        return self.dataset is None or self.dataset == dataset

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Granted:
    """A new token with the text that is shown once."""

    token: Token
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {**self.token.to_dict(), "token": self.text}


class Price(NamedTuple):
    """What a call takes: answers, nats, and looks of the number that was declared."""

    questions: int
    nats: float
    looks: int

    def with_(self, added: Price) -> Price:
        """Both together."""
        return Price(
            self.questions + added.questions, self.nats + added.nats, self.looks + added.looks
        )


FREE = Price(0, 0.0, 0)


class CountedCall(NamedTuple):
    """What a call is counted by: before it is answered by all that it asks for, then by its key.

    By the key alone, a call that fails would give back what another one under its key has spent.
    """

    dataset: str
    asked: str
    told: str

    @classmethod
    def of(cls, dataset: str, body: object, key: str | None) -> CountedCall:
        """A call to a data set, whose keys are its own; one without a key is like no other."""
        if key is None:
            return cls(dataset, *[secrets.token_hex(16)] * 2)
        return cls(dataset, said_digest((dataset, key, body)), f"{dataset} {key}")


class TokenStore:
    """The file of tokens; threads and processes may share it.

    Who shows a token is looked up by a connection of its own, which waits for no commit.
    """

    def __init__(self, path: Path, secret: bytes) -> None:
        self._path, self._secret = path, secret
        self._guard, self._looking = threading.RLock(), threading.Lock()
        with plainly(path):
            if not path.exists():
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            self._connection = _connected(path)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            for statement in _SCHEMA:
                self._connection.execute(statement)
            self._shown = _connected(path)

    def close(self) -> None:
        with self._guard, self._looking:
            self._connection.close()
            self._shown.close()

    def create(
        self,
        name: str,
        role: TokenRole,
        *,
        dataset: str | None = None,
        questions: int | None = None,
        share: float | None = None,
        expires: str | None = None,
        key: str | None = None,
    ) -> Granted:
        """A new token. With a `key`, the same call made again is told the same."""
        require.text("name", name)
        if len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            raise InvalidArgument(
                f"the name has {len(name):,} characters; it must be printable text of at most "
                f"{_LONGEST_NAME}, without blanks at its ends."
            )
        if _ID.fullmatch(name):
            raise InvalidArgument(
                f"the name {name!r} is as the IDs of tokens are, by which they are revoked, too; "
                "choose another one."
            )
        require.one_of("role", ROLES, role)
        if questions is not None:
            questions = require.positive_integer("questions", questions)
        if share is not None and not 0.0 < (share := require.finite("share", share)) <= 1.0:
            raise InvalidArgument(f"share is {share!r}; it must be above 0 and at most 1.")
        content = secrets.token_bytes(40) if key is None else self._derived_bytes(key)
        token_id, secret = content[:8].hex(), _secret_text(content[8:])
        text = f"hf_{token_id}_{secret}"
        wanted = (name, role, dataset, questions, share)
        with self._guard, plainly(self._path):
            existing = self._token_where("id = ?", token_id)
            if existing is None:
                self._require_new_name(name)
                self._connection.execute(
                    "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                    (token_id, self._hashed(secret), *wanted, _now(), expires),
                )
                existing = self._token_where("id = ?", token_id)
        if existing is None or existing.granted != wanted:
            raise InvalidArgument(
                "the key was used to make another token; use another key for this one."
            )
        return Granted(existing, text)

    def verify(self, text: str) -> Token | None:
        """Who shows this token; None if it is not, or no longer, one of ours."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            return None
        token_id, secret = shape.groups()
        stored, token = self._hash_and_token(token_id)
        hashed = self._hashed(secret)
        if not hmac.compare_digest(hashed, stored) and not self._is_rotated(token_id, hashed):
            return None
        return self._unless_over(token)

    def _is_rotated(self, token_id: str, shown: str) -> bool:
        """Whether it is the secret that a token had before, while both are taken."""
        with self._looking, plainly(self._path):
            row = self._shown.execute(_ROTATED, (token_id,)).fetchone()
        stored, until = row or (_NOBODY, "")
        return hmac.compare_digest(shown, stored) and until > _now()

    def in_force(self, token_id: str) -> Token | None:
        """The token of an ID, unless it is expired or revoked."""
        _, token = self._hash_and_token(token_id)
        return self._unless_over(token)

    def _hash_and_token(self, token_id: str) -> tuple[str, Token | None]:
        """The hash of a token, and the token; a hash that no secret has if there is none."""
        with self._looking, plainly(self._path):
            row = self._shown.execute(_SHOWN, (token_id,)).fetchone()
        return (_NOBODY, None) if row is None else (row[0], Token(*row[1:]))

    def _unless_over(self, token: Token | None) -> Token | None:
        """The token, unless it is expired or revoked.

        One that has expired is revoked when that is noticed: a clock that goes back revives none.
        """
        if token is None or token.revoked is not None:
            return None
        if token.expires is None or token.expires > _now():
            return token
        with self._guard, plainly(self._path):
            self._revoke(token.id)
        return None

    def revoke(self, which: str) -> Token:
        """Revoke a token by its name or ID, for good."""
        with self._transaction():
            token = self._named(which)
            if token.revoked is None:
                self._revoke(token.id)
            return self._token_where("id = ?", token.id) or token

    def rotate(self, which: str, overlap: str | None = None) -> Granted:
        """Give a token another secret: whose it is, its caps and what it spent stay as they are.

        The old secret is taken until the time `overlap`, or no more; its sessions end.
        """
        secret = _secret_text(secrets.token_bytes(32))
        with self._transaction() as connection:
            token = self._named(which)
            if self._unless_over(token) is None:
                raise InvalidArgument(
                    f"the token {token.name!r} is revoked or expired; make one of another name."
                )
            connection.execute("DELETE FROM rotated WHERE id = ?", (token.id,))
            if overlap is not None:
                connection.execute(
                    "INSERT INTO rotated SELECT id, hash, ? FROM tokens WHERE id = ?",
                    (overlap, token.id),
                )
            connection.execute(
                "UPDATE tokens SET hash = ? WHERE id = ?", (self._hashed(secret), token.id)
            )
            connection.execute("DELETE FROM sessions WHERE token = ?", (token.id,))
        return Granted(token, f"hf_{token.id}_{secret}")

    def start_session(self, session: str, token: Token, until: int) -> None:
        """Keep a session of the pages until it ends; those that are over are forgotten."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE until <= ?", (int(time.time()),))
            connection.execute("INSERT INTO sessions VALUES (?, ?, ?)", (session, token.id, until))

    def end_session(self, session: str) -> None:
        """Forget a session: its cookie is worth nothing, wherever there is a copy."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE id = ?", (session,))

    def session_token(self, session: str) -> Token | None:
        """Whose session it is, if it is not over and its token is in force."""
        with self._looking, plainly(self._path):
            row = self._shown.execute(
                "SELECT token FROM sessions WHERE id = ? AND until > ?", (session, int(time.time()))
            ).fetchone()
        return None if row is None else self.in_force(row[0])

    def all(self) -> list[Token]:
        """Every token that was made, in order."""
        with self._guard, plainly(self._path):
            rows = self._connection.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY created, id")
            return [Token(*row) for row in rows.fetchall()]

    def charge(
        self,
        token: Token,
        call: CountedCall,
        price: Price,
        in_share: Callable[[Price], bool] | None = None,
    ) -> Charged:
        """Count a call at its worst before it is asked, unless that is over the token's caps.

        `in_share` says whether all that it took of a data set would be within its share.
        """
        with self._transaction() as connection:
            if connection.execute(
                "SELECT 1 FROM calls WHERE token = ? AND key IN (?, ?)",
                (token.id, call.asked, call.told),
            ).fetchone():
                return "before"
            if token.questions is not None:
                (spent,) = connection.execute(_SPENT, (token.id,)).fetchone()
                if spent + price.questions > token.questions:
                    return "over"
            taken = Price(*connection.execute(_TAKEN, (token.id, call.dataset)).fetchone())
            if in_share is not None and not in_share(taken.with_(price)):
                return "over"
            worst = (price.questions, min(price.nats, _MOST_NATS), price.looks)
            connection.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)",
                (token.id, call.asked, call.dataset, *worst),
            )
            return "now"

    def settle(self, token: Token, call: CountedCall, price: Price) -> None:
        """Say what a call took; nothing answered anew: it is not counted."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM calls WHERE token = ? AND key = ?", (token.id, call.asked)
            )
            if price.questions:
                connection.execute(
                    "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?)",
                    (token.id, call.told, call.dataset, *price),
                )

    def keep(self, call: CountedCall, reply: str) -> str:
        """What a call is told from now on; that of whoever was first."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (call.told, call.asked, reply)
            )
        return self.stored_reply(call) or reply

    def stored_reply(self, call: CountedCall) -> str | None:
        """What a call was told; refused if another one was told something under its key."""
        with self._guard, plainly(self._path):
            row = self._connection.execute(
                "SELECT asked, reply FROM replies WHERE key = ?", (call.told,)
            ).fetchone()
        if row is None:
            return None
        body, reply = row
        if body != call.asked:
            raise InvalidArgument(
                "the key was used to send something else; use another key for this. Nothing was "
                "done."
            )
        return str(reply)

    def spent(self, token: Token) -> int:
        """How many questions count against the token's cap."""
        with self._guard, plainly(self._path):
            row = self._connection.execute(_SPENT, (token.id,)).fetchone()
        return int(row[0])

    def counted_price(self, token: Token, call: CountedCall) -> Price:
        """What a call is counted at, by what it asks for or by its key."""
        with self._guard, plainly(self._path):
            row = self._connection.execute(
                "SELECT questions, nats, looks FROM calls WHERE token = ? AND key IN (?, ?)",
                (token.id, call.asked, call.told),
            ).fetchone()
        return FREE if row is None else Price(*row)

    def spent_on(self, token: Token, dataset: str) -> Price:
        """What a token took of a data set, with what is reserved."""
        with self._guard, plainly(self._path):
            return Price(*self._connection.execute(_TAKEN, (token.id, dataset)).fetchone())

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """What is done inside is done as one."""
        with self._guard, plainly(self._path):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _revoke(self, token_id: str) -> None:
        self._connection.execute(
            "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (_now(), token_id)
        )

    def _token_where(self, condition: str, *values: str) -> Token | None:
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM tokens WHERE {condition}", values
        ).fetchone()
        return None if row is None else Token(*row)

    def _named(self, which: str) -> Token:
        token = self._token_where("id = ? OR name = ?", which, which)
        if token is None:
            raise InvalidArgument(
                f"there is no token {which[:_LONGEST_NAME]!r}; `holdfast token list` names all."
            )
        return token

    def _require_new_name(self, name: str) -> None:
        if self._token_where("name = ?", name) is not None:
            raise InvalidArgument(
                f"there is, or was, a token {name!r}, and the ledger knows who asked by their "
                "names; choose another name."
            )

    def _hashed(self, secret: str) -> str:
        return keyed(self._secret, _PURPOSE, secret)

    def _derived_bytes(self, key: str) -> bytes:
        """As good as random for whoever lacks the secret, and the same for the same key."""
        parts = [keyed(self._secret, f"{_PURPOSE} {place}", key) for place in range(2)]
        return bytes.fromhex("".join(parts))[:40]


def said_digest(body: object) -> str:
    """A short name of what is sent, by all its values."""
    return hashlib.sha256(repr(body).encode()).hexdigest()


def _secret_text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)


def expiry_of(text: str | None) -> str | None:
    """When something ends that lasts from now on: 30d, 12h or 45m."""
    if text is None:
        return None
    match = _EXPIRY.fullmatch(text)
    if match is None:
        raise InvalidArgument(f"expires is {text[:20]!r}; it must be as 30d, 12h or 45m.")
    number, unit = match.groups()
    return _written(datetime.now(UTC) + timedelta(**{_UNITS[unit]: int(number)}))


def _now() -> str:
    return _written(datetime.now(UTC))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
