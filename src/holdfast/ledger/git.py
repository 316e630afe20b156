"""Git backend: a ledger as commits of a branch of its own, for jobs that have no disk.

**A commit is a push.** Every addition is one commit that is pushed before it counts: a push moves
the branch from the very commit that was read to the next one, or is refused. So an offer is
reserved in the remote before data is touched, and an answer is in the remote before anybody sees
it. A job that is killed before a push has shown nothing; one that is killed after it has paid, and
whoever comes next finishes or repeats its answer with the same noise. That rests on the job: what
it prints of the rows by itself, in its log, no ledger counts.

**A lost race starts again.** Where another machine was quicker, nothing was written, and what was
computed is dropped: the call begins again from the newer entries (`lock.retried`). No lock is held
in the remote; processes of one machine wait for each other, which only saves them the race.

**What lies in the branch** is text that grows at its end (`ledger.txt`), and a file for each
attached column. Whoever may read the branch reads the entries, which are public. Columns that were
computed from protected rows are encrypted with the secret, which is in no commit. A branch that is
rewritten is found by the chain and the seal; one that is put back to an older commit only by who
saw a newer entry: forbid it in the remote.

The user's repository is only read: objects, index and worktree of ours are a folder of their own.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast import require
from holdfast.errors import HoldfastError, InvalidArgument, LedgerTampered, LedgerUnavailable
from holdfast.ledger.backend import Addition, LedgerHome
from holdfast.ledger.chain import RESTORE, Row
from holdfast.ledger.checkpoint import SealedPlace
from holdfast.ledger.index import index_path
from holdfast.ledger.lock import LostRace, overtaken, retried
from holdfast.ledger.secret import (
    SECRET_VARIABLE,
    decrypted,
    encrypted,
    known_secret,
    secret_itself,
)
from holdfast.ledger.side_files import require_format, unavailable, was_moved, write_new
from holdfast.ledger.sqlite import file_lock, hold_file_lock
from holdfast.ledger.store import GIT

_FILE, _FOLDER = "ledger.txt", "columns"
_OWN, _NEXT = "refs/heads/ledger", "refs/heads/next"  # of the repository that is ours
_LONGEST = 300.0  # seconds for one command of git
GRACE, _MOMENT = 10.0, 0.5  # seconds that a reservation is left to its machine, and between looks
_NO_BRANCH = "couldn't find remote ref"
# Variables and settings that say how a remote is reached; all others are of the user's repository.
_REACHING = ("GIT_SSH", "GIT_ASKPASS", "GIT_PROXY", "GIT_SSL", "GIT_HTTP", "GIT_EXEC_PATH")
_PLACES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SETTINGS = ("http.", "credential.", "url.", "ssh.", "protocol.", "core.sshcommand", "core.askpass")
_QUIET = {
    "core.bare": "true",
    "core.hooksPath": os.devnull,
    "gc.auto": "0",
    "maintenance.auto": "false",
    "push.followTags": "false",
    "push.gpgSign": "false",
}


# Commands of git, in a bare repository that is ours, with the user's way to the remote.


class _Failed(Exception):
    """A command of git that failed: its last words."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        telling = [line for line in lines if re.match("fatal|error|remote: |!", line)] or lines
        words = telling[0] if telling else "git says nothing"
        super().__init__(re.sub(r"//[^/@\s]*@", "//", words))  # whatever an address holds
        self.whole = text


def _run(words: Iterable[str], environment: Mapping[str, str], content: bytes = b"") -> bytes:
    try:
        finished = subprocess.run(
            ["git", *words],  # as the user has it
            input=content,
            capture_output=True,
            env=environment,
            timeout=_LONGEST,
            check=False,
        )
    except FileNotFoundError:
        raise LedgerUnavailable(
            "the ledger is kept in a branch, and there is no command git here; install git 2.31 or "
            "newer. Nothing was asked or spent."
        ) from None
    except subprocess.TimeoutExpired:
        raise _Failed(f"fatal: git took longer than {_LONGEST:g} s") from None
    if finished.returncode:
        raise _Failed(
            finished.stderr.decode(errors="replace") + finished.stdout.decode(errors="replace")
        )
    return finished.stdout


def _words_of(*words: str) -> str:
    """What git says of the repository of the working folder; nothing if there is none."""
    try:
        return _run(words, os.environ).decode(errors="replace")
    except _Failed:
        return ""


@dataclass(frozen=True)
class _Remote:
    """A remote repository, as the user's repository reaches it from the working folder."""

    name: str
    folder: str  # which an address that is a path is relative to
    settings: tuple[tuple[str, str], ...] = field(repr=False)  # some are credentials

    @classmethod
    def here(cls) -> _Remote:
        """The settings of the repository of the working folder, if that is one."""
        words = _words_of("config", "--null", "--show-scope", "--list").split("\0")
        settings = [
            (setting.partition("\n")[0], setting.partition("\n")[2])
            for scope, setting in zip(words[::2], words[1::2], strict=False)
            if scope in ("local", "worktree", "command")
        ]
        top = _words_of("rev-parse", "--show-cdup").strip()
        return cls("", os.path.abspath(top or "."), tuple(settings))

    @property
    def names(self) -> dict[str, str]:
        """The remotes that the repository has, with their addresses."""
        return {
            key.removeprefix("remote.").removesuffix(".url"): value
            for key, value in self.settings
            if key.startswith("remote.") and key.endswith(".url")
        }

    @property
    def url(self) -> str:
        """The address, without user and password."""
        return re.sub(r"//[^/@]*@", "//", self.names.get(self.name, self.name))

    def environment(self, repository: Path) -> dict[str, str]:
        """The environment of a command, which works in a repository of ours."""
        variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GIT_") or name.startswith(_REACHING) or name in _PLACES
        }
        own = tuple(f"remote.{self.name}.{what}".lower() for what in ("url", "pushurl", "proxy"))
        settings = [
            *((key, value) for key, value in self.settings if key.lower().startswith(_SETTINGS)),
            *((key, value) for key, value in self.settings if key.lower() in own),
            *_QUIET.items(),
        ]
        for place, (key, value) in enumerate(settings):
            variables[f"GIT_CONFIG_KEY_{place}"] = key
            variables[f"GIT_CONFIG_VALUE_{place}"] = value
        variables["GIT_CONFIG_COUNT"] = str(len(settings))
        return variables | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_DIR": str(repository)}


class Repository:
    """A bare repository of ours, for as long as a ledger is open: what was fetched, and is pushed.

    Its folder is removed by who made it, and never by a fork.
    """

    def __init__(self, home: GitHome) -> None:
        self._home, self._ref = home, f"refs/heads/{home.branch}"
        self._is_interrupted = False
        self._make()

    def _make(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="holdfast-git-"))
        self._environment = self._home.remote.environment(self._folder)
        for each in ("objects", "refs"):  # all that git asks of an empty one
            (self._folder / each).mkdir()
        (self._folder / "HEAD").write_text("ref: refs/heads/none\n")

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def newest(self) -> str | None:
        """The commit that the branch is at in the remote; None if there is no such branch."""
        try:
            listed = self._remotely("ls-remote", self._home.remote.name, self._ref).decode()
        except _Failed as failure:
            raise self._home.unreachable(failure) from None
        lines = [line.split("\t") for line in listed.splitlines()]
        return next((commit for commit, name in lines if name == self._ref), None)

    def fetch(self) -> str | None:
        """The newest commit of the branch, with its files; None if there is no such branch."""
        refs = f"+{self._ref}:{_OWN}"
        try:
            words = ["--quiet", "--no-tags", "--depth=1", self._home.remote.name, refs]
            self._remotely("fetch", *words)
        except _Failed as failure:
            if _NO_BRANCH in failure.whole:
                return None
            raise self._home.unreachable(failure) from None
        return (self._folder / _OWN).read_text().strip()

    def files(self, commit: str) -> dict[str, str]:
        """The files of a commit: the name of each, and that of its content."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit).decode(errors="replace")
        words = [line.partition("\t") for line in listed.split("\0") if line]
        return {name: facts.split()[2] for facts, _, name in words}

    def content(self, blob: str) -> bytes:
        """Content of a file, by its name in git."""
        return self._git("cat-file", "blob", blob)

    def commit(self, parent: str | None, message: str, files: Mapping[str, bytes]) -> str:
        """A commit that follows `parent` with these files in it; nobody else knows of it yet.

        No two are the same, so that one that is found in the remote is one's own.
        """
        text = f"{message}\n\nAttempt: {secrets.token_hex(8)}\n".encode()
        stream = [
            f"commit {_NEXT}\nmark :1\ncommitter Holdfast <holdfast@localhost> now\n".encode(),
            b"data %d\n%s\n" % (len(text), text),
            b"" if parent is None else f"from {parent}\n".encode(),
        ]
        for name, content in files.items():
            stream.append(b"M 100644 inline %s\n" % name.encode())
            stream.append(b"data %d\n%s\n" % (len(content), content))
        stream.append(b"get-mark :1\n")
        words = ["fast-import", "--quiet", "--force", "--date-format=now"]
        return self._git(*words, content=b"".join(stream)).decode().strip()

    def push(self, commit: str, parent: str | None) -> None:
        """Move the branch from `parent` to a commit, or leave it: a compare-and-swap.

        A connection that breaks may hide that it was done, so the branch is looked at.
        """
        lease = f"--force-with-lease={self._ref}:{parent or ''}"
        remote = self._home.remote.name
        try:
            self._remotely("push", "--quiet", "--porcelain", lease, remote, f"{commit}:{self._ref}")
        except _Failed as failure:
            newest = self.newest()
            if newest == commit:
                return
            if newest != parent:
                raise LostRace(str(self._home)) from None
            raise self._home.refused(failure) from None

    def _remotely(self, *words: str) -> bytes:
        return self._command(["-C", self._home.remote.folder, *words])

    def _git(self, *words: str, content: bytes = b"") -> bytes:
        try:
            return self._command(words, content)
        except _Failed as failure:
            raise unavailable(self._home, failure) from None

    def _command(self, words: Sequence[str], content: bytes = b"") -> bytes:
        """One command; after one that was interrupted, and may still run, in another folder."""
        if self._is_interrupted:
            self.close()
            self._make()
            self._is_interrupted = False
            self.fetch()
        self._is_interrupted = True
        try:
            finished = _run(words, self._environment, content)
        except (_Failed, HoldfastError):
            self._is_interrupted = False
            raise
        self._is_interrupted = False
        return finished


# The text of a ledger in a branch. It grows at its end, line by line: each entry with its hash, as
# it is, then in JSON what was filed of it, a checkpoint, and the seal of the newest entry.


@dataclass(frozen=True)
class _Text:
    """Content of `ledger.txt` at some commit, and what it says."""

    content: bytes = b""
    rows: list[Row] = field(default_factory=list)
    filed: list[SealedPlace] = field(default_factory=list)
    checkpoint: tuple[str, str] | None = None
    seal: str | None = None
    moved: str | None = None

    @classmethod
    def read(cls, content: bytes, home: object) -> _Text:
        """What the lines say; whether they are in order is for others to find."""
        rows: list[Row] = []
        filed: list[SealedPlace] = []
        facts: dict[str, Any] = {}
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):
            try:
                word, _, value = line.decode().partition(" ")
                match word:
                    case "entry":
                        seq, hashed, text = value.split(" ", 2)
                        rows.append((int(seq), text, hashed))
                    case "filed":
                        question, settled, look, place, leaked, sealed = json.loads(value)
                        numbers = int(settled), int(look), int(place), float(leaked)
                        filed.append((str(question), *numbers, str(sealed)))
                    case "checkpoint":
                        text, sealed = json.loads(value)
                        facts[word] = (str(text), str(sealed))
                    case "seal":
                        facts[word] = str(json.loads(value))
                    case "moved":
                        how = json.loads(value)
                        facts[word] = None if how is None else str(how)
                    case _:
                        raise ValueError(word)
            except (ValueError, TypeError, OverflowError, RecursionError):
                raise LedgerTampered(
                    f"line {number:,} of {_FILE} in the ledger {str(home)!r} is none that was "
                    f"written. {RESTORE}"
                ) from None
        if content and not content.endswith(b"\n"):
            raise LedgerTampered(f"the last line of the ledger {str(home)!r} is cut. {RESTORE}")
        return cls(content, rows, filed, **facts)


def _lines(addition: Addition) -> bytes:
    """The lines that an addition adds."""
    lines = [f"entry {seq} {hashed} {text}" for seq, text, hashed in addition.rows]
    lines += [f"filed {json.dumps(place)}" for place in addition.filed]
    if addition.checkpoint is not None:
        lines.append(f"checkpoint {json.dumps(addition.checkpoint)}")
    lines.append(f"seal {json.dumps(addition.seal)}")
    return "".join(f"{line}\n" for line in lines).encode()


def _moved_line(how: str | None) -> bytes:
    return f"moved {json.dumps(how)}\n".encode()


class GitRecords:
    """Rows of a ledger in a branch, as they were fetched last."""

    def __init__(self, home: GitHome, repository: Repository) -> None:
        self._home, self.repository = home, repository
        self.commit: str | None = None
        self.text = _Text()
        self.blobs: dict[str, str] = {}  # of the files beside it
        self.is_held = False  # who holds the lock has fetched all there is
        self.fetch()
        for _, text, _ in self.entries(1, 1):
            require_format(home, text)

    def fetch(self) -> None:
        """Read the branch as it is now; refused if it does not go on from what was read before."""
        commit = self.repository.fetch()
        if commit is None and self.commit is None:
            raise InvalidArgument(
                f"there is no ledger {str(self._home)!r}; create one with open or init."
            )
        if commit is None:
            raise LedgerTampered(f"the branch of the ledger {str(self._home)!r} is gone. {RESTORE}")
        if commit == self.commit:
            return
        blobs = self.repository.files(commit)
        if _FILE not in blobs:
            raise InvalidArgument(
                f"the branch {self._home.branch!r} of {self._home.remote.url!r} holds no ledger "
                f"(there is no file {_FILE}); name a branch of the ledger's own."
            )
        content = self.repository.content(blobs[_FILE])
        if not content.startswith(self.text.content):
            raise LedgerTampered(
                f"the branch of the ledger {str(self._home)!r} was rewritten: it no longer begins "
                f"with the {len(self.text.rows):,} entries that were read before. {RESTORE}"
            )
        self.know(commit, _Text.read(content, self._home), blobs)

    def know(self, commit: str, text: _Text, blobs: Mapping[str, str]) -> None:
        """Take a commit for the newest."""
        self.commit, self.text, self.blobs = commit, text, dict(blobs)

    def tail(self, after: int) -> tuple[str | None, list[Row]]:
        """The seal, and the entries from number `after` on."""
        if not self.is_held:
            self.fetch()
        return self.text.seal, [row for row in self.text.rows if row[0] >= after]

    def entries(self, first: int, last: int) -> list[Row]:
        """The entries of these numbers, in order."""
        return [row for row in self.text.rows if first <= row[0] <= last]

    def filed(self, question: str) -> list[SealedPlace]:
        """Places filed under the digest of a question, in order."""
        return sorted(place for place in self.text.filed if place[0] == question)

    def all_filed(self) -> list[tuple[SealedPlace, str | None]]:
        """Places filed, each with the hash of its entry."""
        hashes = {seq: hashed for seq, _, hashed in self.text.rows}
        return [(place, hashes.get(place[1])) for place in self.text.filed]

    def checkpoint(self) -> tuple[str, str, Row] | None:
        """The checkpoint's text and seal, and the first entry."""
        if self.text.checkpoint is None or not self.text.rows:
            return None
        return *self.text.checkpoint, self.text.rows[0]

    def file(self, name: str) -> bytes | None:
        """Content stored under this name; what is not public is decrypted."""
        blob = self.blobs.get(f"{_FOLDER}/{name}")
        if blob is None:
            return None
        content = self.repository.content(blob)
        if _is_public(name):
            return content
        return decrypted(known_secret(self._home), name, content, self.file_name(name))

    def file_name(self, name: str) -> str:
        """Path in the branch."""
        return f"{_FOLDER}/{name} in {self._home}"

    def file_names(self) -> list[str]:
        """The names of the files beside the text."""
        folder = f"{_FOLDER}/"
        return sorted(name.removeprefix(folder) for name in self.blobs if name.startswith(folder))


def _is_public(name: str) -> bool:
    """Whether a file holds what was submitted, whose digest is in the entries."""
    return name.startswith("submitted-")


class GitKeeper:
    """A ledger in a branch, to be written push by push."""

    def __init__(self, home: GitHome, lock: sqlite3.Connection, records: GitRecords) -> None:
        self.records = records
        self._home, self._lock = home, lock
        self._newest = 0  # the number of the last entry that was written here

    def hold(self, timeout: float) -> None:
        """Wait for the processes of this machine, and read what all machines wrote.

        What another one has reserved is left to it for a while: whoever is still there writes the
        answer sooner than it could be found here.
        """
        hold_file_lock(self._lock, self._home, timeout)
        self.records.fetch()
        deadline = time.monotonic() + min(timeout, GRACE)
        while self._is_reserved() and time.monotonic() < deadline:
            time.sleep(_MOMENT)
            self.records.fetch()
        self.records.is_held = True

    def _is_reserved(self) -> bool:
        """Whether the newest entry is a reservation of another machine."""
        newest = self.records.text.rows[-1:]
        return any(seq != self._newest and '"kind":"reserve/' in text for seq, text, _ in newest)

    def let_go(self) -> None:
        """Free the lock of this machine."""
        self.records.is_held = False
        with suppress(sqlite3.Error):  # one that is closed holds nothing
            self._lock.rollback()

    def append(self, addition: Addition) -> None:
        """Commit and push it: it is in the remote when this returns, or nowhere."""
        text = self.records.text
        if text.moved is not None and text.moved != addition.moved:
            raise was_moved(self._home, text.moved)
        newest = (text.rows[-1][0], text.rows[-1][2]) if text.rows else None
        if (newest, text.moved) != ((addition.after, addition.head), addition.moved):
            raise overtaken(self._home, addition.after)
        first, last = addition.rows[0][0], addition.rows[-1][0]
        message = f"Entry {first}" if first == last else f"Entries {first} to {last}"
        self._publish(message, _lines(addition))
        self._newest = last

    def keep_file(self, name: str, content: bytes) -> None:
        """Commit and push it, encrypted unless it is public."""
        stored = content if _is_public(name) else encrypted(known_secret(self._home), name, content)

        def publish() -> None:
            if not self.records.is_held:
                self.records.fetch()
            self._publish(f"Keep {name}", b"", {f"{_FOLDER}/{name}": stored})

        # Whose turn it is goes on from the entries that were read; a lost race is told.
        publish() if self.records.is_held else retried(publish)

    def moved(self) -> str | None:
        """Mark of a move; None if the ledger is in use here."""
        return self.records.text.moved

    def mark_moved(self, how: str | None) -> None:
        """Say so in the remote."""
        self._publish("Mark a move", _moved_line(how))

    def close(self) -> None:
        """Let go of the lock and the repository."""
        self._lock.close()
        self.records.repository.close()

    def _publish(self, message: str, added: bytes, files: Mapping[str, bytes] = {}) -> None:
        records, repository = self.records, self.records.repository
        content = records.text.content + added
        commit = repository.commit(records.commit, message, {_FILE: content, **files})
        repository.push(commit, records.commit)
        blobs = repository.files(commit) if files else records.blobs
        records.know(commit, _Text.read(content, self._home), blobs)


@dataclass(frozen=True)
class GitHome:
    """A ledger that is a branch of a remote; its secret is in the environment, or in a file."""

    remote: _Remote
    branch: str
    secret: Path | bytes | None = None

    @classmethod
    def named(cls, ledger: str, secret: str | Path | None = None) -> GitHome:
        """By git:REMOTE/BRANCH, where REMOTE is one of the repository here, a path or a URL.

        Without `secret`, it is what the environment says (HOLDFAST_SECRET): 64 hexadecimal digits,
        or a file.
        """
        here, words = _Remote.here(), ledger.removeprefix(GIT)
        name, _, branch = words.partition("/")
        if name not in here.names:
            whole, dot, rest = words.rpartition(".git/")
            name, branch = (whole + ".git", rest) if dot else words.rpartition("/")[::2]
        if not name or not branch or branch.startswith("-") or name.startswith("-"):
            raise InvalidArgument(
                f"the address is {ledger!r}, which names no branch of a remote; write "
                "git:REMOTE/BRANCH, such as git:origin/holdfast."
            )
        if name not in here.names:
            name = _address(name, here)
        source = secret if secret is not None else os.environ.get(SECRET_VARIABLE) or None
        own: Path | bytes | None = secret_itself(source)
        if own is None and source is not None:
            own = Path(os.path.abspath(require.file("secret", source)))
        return cls(replace(here, name=name), branch, own)

    def __str__(self) -> str:
        return f"{GIT}{self.remote.name}/{self.branch}"

    @property
    def address(self) -> str:
        """The same, from the same repository."""
        return str(self)

    @property
    def stem(self) -> str:
        """The last part of the branch's name."""
        return self.branch.rpartition("/")[2]

    def beside(self, suffix: str) -> Path:
        """A file of this machine: beside the secret if that is a file, else in the user's state."""
        if isinstance(self.secret, Path):
            own = self.secret.name if suffix == "secret" else f"{self.secret.name}-{suffix}"
            return self.secret.with_name(own)
        index = index_path()
        nowhere = Path(tempfile.gettempdir(), f"holdfast-{os.getpid()}")
        identity = sha256(f"{self.remote.url} {self.branch}".encode()).hexdigest()[:32]
        return (nowhere if index is None else index.parent / "git") / f"{identity}-{suffix}"

    def neighbours(self) -> list[LedgerHome]:
        """None: branches of a remote are many, and far away."""
        return []

    def is_there(self) -> bool:
        """Whether there is such a branch, whatever it holds."""
        with closing(Repository(self)) as repository:
            return repository.newest() is not None

    def unreachable(self, failure: Exception) -> LedgerUnavailable:
        """Refusal of a remote that does not answer."""
        return LedgerUnavailable(
            f"the ledger {str(self)!r} cannot be reached ({failure}); nothing was shown. See that "
            "this machine may read and write that remote, and ask again: what was written before "
            "is told again, and paid for once."
        )

    def refused(self, failure: Exception) -> LedgerUnavailable:
        """Refusal of a remote that takes no push."""
        return LedgerUnavailable(
            f"the push to the ledger {str(self)!r} was refused ({failure}); nothing was written or "
            "shown. Let this job push to that branch (in GitHub Actions: permissions: contents: "
            "write), and run it again."
        )

    def create(self, secret: bytes, first: Addition, timeout: float) -> None:  # noqa: ARG002
        """Make the ledger, as the first commit of its branch; one that is there stays."""
        moved = b"" if first.moved is None else _moved_line(first.moved)
        with closing(Repository(self)) as repository:
            if repository.newest() is not None:
                return
            commit = repository.commit(None, "A new ledger", {_FILE: _lines(first) + moved})
            try:
                secret_written = self._keep_secret(secret)
            except OSError as error:
                if isinstance(error, HoldfastError):
                    raise
                raise unavailable(self.beside("secret"), error) from error
            try:
                repository.push(commit, None)
            except BaseException as error:
                if secret_written is not None:
                    secret_written.unlink()  # no answer was ever given with it
                if not isinstance(error, LostRace):
                    raise

    def _keep_secret(self, secret: bytes) -> Path | None:
        """Write the secret to its file, unless it is there; the file, if it is written now."""
        self._require_secret()
        path = self.beside("secret")
        try:
            own_secret = self.secret if isinstance(self.secret, bytes) else path.read_bytes()
        except FileNotFoundError:
            write_new(path, secret)
            return path
        if own_secret != secret:
            raise InvalidArgument(
                f"the secret that is given for {str(self)!r} is of another ledger; restore that "
                "ledger, or give a new secret if no answer was ever given with this one."
            )
        return None

    def _require_secret(self) -> None:
        if self.secret is None:
            raise LedgerUnavailable(
                f"the ledger {str(self)!r} has its secret in the environment, and "
                f"{SECRET_VARIABLE} is not set there; keep 64 hexadecimal digits (openssl rand "
                "-hex 32) among the secrets of your CI, and give them to this job. Nothing was "
                "asked or spent."
            )

    def keeper(self) -> GitKeeper:
        """The ledger, to be read and written."""
        self._require_secret()
        path, repository = self.beside("lock"), Repository(self)
        try:
            records = GitRecords(self, repository)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return GitKeeper(self, file_lock(self), records)
        except BaseException as error:
            repository.close()
            if isinstance(error, OSError) and not isinstance(error, HoldfastError):
                raise unavailable(path, error) from error
            raise

    @contextmanager
    def records(self) -> Iterator[GitRecords]:
        """The ledger, to be looked at."""
        with closing(Repository(self)) as repository:
            yield GitRecords(self, repository)


def _address(name: str, here: _Remote) -> str:
    """A path or URL that is no remote of the repository here."""
    if os.path.isdir(name):
        return os.path.abspath(name)
    if "/" not in name and ":" not in name:
        listed = ", ".join(map(repr, here.names)) or "none"
        raise InvalidArgument(
            f"there is no remote {name!r} in the repository here, which has {listed}; run this in "
            "the repository, or write the remote's address: git:URL/BRANCH."
        )
    if name.startswith("http") and "@" in urlsplit(name).netloc:
        raise InvalidArgument(
            "the address holds a user or password, and others can read what is typed "
            "here; leave it out, and let git know it (a credential helper)."
        )
    return name
