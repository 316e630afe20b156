"""The transcript: the ledger's entries folded into terms, account and answers. No data is needed.

Every answer is derived again from its offer and symbol; a stored answer that differs is tampering.
A transcript that resumes from a checkpoint folds only what came after it: an earlier answer is
looked up when its question is asked again, and all of them are read when all are wanted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from holdfast.errors import LedgerTampered
from holdfast.ledger.alike import alike
from holdfast.ledger.chain import GENESIS, RESTORE, Row, canonical, verify
from holdfast.ledger.entries import Asked, Opening, Recorded, settlement
from holdfast.ledger.filing import Filed, Found, Kept
from holdfast.ledger.recording import Pending, recorded
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.catalogue import built, checking
from holdfast.mechanisms.leakage import charged
from holdfast.mechanisms.mechanism import Checker, Mechanism, Release
from holdfast.mechanisms.terms import Terms

__all__ = ["Transcript", "checkpoint_of"]

_Said = TypeVar("_Said")

_CHECKPOINT = "checkpoint/1"
_CHECKPOINT_EVERY = 128  # entries or answers: reading so many takes no longer than opening the file


class _Past(Protocol):
    """Where the entries are, for what a transcript did not fold itself."""

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """Held while entries are folded: threads may share a transcript."""
        ...

    def kept(self) -> Kept | None:
        """The newest checkpoint."""
        ...

    def found(self, question: str) -> list[Found]:
        """The answers to a question, in order."""
        ...

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after`."""
        ...


class Transcript:
    """The fold. `apply` takes entries in order; everything else is a view of what they said.

    `count` and `head` are the number and the hash of the last entry folded.
    """

    def __init__(self) -> None:
        self.count = 0
        self.head = GENESIS
        self._first = GENESIS  # the hash of the opening entry
        self._past: _Past | None = None  # where the answers are that were folded by a checkpoint
        self._skipped = 0  # how many entries it folded
        self._kept = 0  # how many of the answers here a checkpoint has folded since
        self._opening: Opening | None = None
        self._mechanism: Mechanism | None = None
        self.checker: Checker | None = None  # what checks guesses, if anything does
        self.account = Account()
        self._answers: list[Recorded] = []
        self._abandoned: list[Asked] = []
        self._looks: dict[str, list[Recorded]] = {}  # every answer, by its question
        self.pending: Pending | None = None

    @classmethod
    def resumed(cls, past: _Past) -> Transcript:
        """The ledger as it stands, from its newest checkpoint on."""
        transcript, kept = cls(), past.kept()
        if kept is not None:
            transcript._resume(kept, past)
        transcript.apply(past.news(transcript.count, transcript.head))
        return transcript

    def _resume(self, kept: Kept, past: _Past) -> None:
        body = checkpoint_of(kept)
        if body is None:
            return
        (_, text, hashed) = kept.first
        if verify([kept.first]) != body["first"]:
            raise LedgerTampered(f"entry 1 of the ledger is not that of its checkpoint. {RESTORE}")
        with _read("the checkpoint"):
            self._apply(1, json.loads(text), hashed)
            self.account = Account.from_dict(body["account"])
        self.count, self.head = body["count"], body["head"]
        self._past, self._skipped = past, self.count

    def checkpoint(self) -> str | None:
        """What is to be kept of the fold so far, where one is due: between batches."""
        answers = len(self._answers) - self._kept  # of a few long batches, too, not many are read
        due = self.count % _CHECKPOINT_EVERY == 1 or answers >= _CHECKPOINT_EVERY
        if self.pending is not None or self.count == 1 or not due:
            return None
        return canonical(self.summary())

    def checkpointed(self) -> None:
        """The checkpoint that was due is written."""
        self._kept = len(self._answers)

    def summary(self) -> dict[str, Any]:
        """What a checkpoint says of the fold so far."""
        return {
            "kind": _CHECKPOINT,
            "count": self.count,
            "head": self.head,
            "first": self._first,
            "account": self.account.to_dict(),
        }

    def filing(self, body: Mapping[str, Any]) -> list[Filed]:
        """The answers that the next entry says, if it says any."""
        if body["kind"] != "settle/2" or self.pending is None:
            return []
        return [
            Filed(asked.offer.question, asked.offer.number, self.account.nats)
            for asked in self.pending.asked
        ]

    @property
    def looks(self) -> Mapping[str, Sequence[Recorded]]:
        """Every answer of each question, in order."""
        return _Looks(self)

    @property
    def by_question(self) -> Mapping[str, Recorded]:
        """The narrowest answer of each question."""
        return _ByQuestion(self.looks)

    @property
    def answers(self) -> Sequence[Recorded]:
        """Every answer, in order."""
        self._read_everything()
        return self._answers

    def newest(self, count: int) -> Sequence[Recorded]:
        """The last answers that were folded here, so that no past is read for them."""
        return self._answers[len(self._answers) - count :]

    @property
    def abandoned(self) -> Sequence[Asked]:
        """Every question that was given up."""
        self._read_everything()
        return self._abandoned

    def _read_everything(self) -> None:
        """Fold what a checkpoint spared; it must come to the same."""
        past = self._past
        if past is None:
            return
        with past.guard:
            whole = Transcript()
            whole.apply(past.news()[: self.count])
            if not alike(whole.summary(), self.summary()):
                raise LedgerTampered(
                    f"the ledger's checkpoint is not what its entries say. {RESTORE}"
                )
            self._answers, self._abandoned = whole._answers, whole._abandoned
            self._looks, self._past = whole._looks, None

    def looks_at(self, question: str) -> Sequence[Recorded]:
        """The answers to one question, with those that were folded by a checkpoint."""
        past = self._past
        if past is None:
            return self._looks.get(question, ())
        with past.guard:  # another thread may be reading everything now
            earlier = [] if self._past is None else self._recalled(past, question)
            return (*earlier, *self._looks.get(question, ()))

    def _recalled(self, past: _Past, question: str) -> list[Recorded]:
        """The answers that were folded by the checkpoint."""
        found = [each for each in past.found(question) if each.settled[0] <= self._skipped]
        return [self._recall(each, question) for each in found]

    def _recall(self, found: Found, question: str) -> Recorded:
        (reserve, reserved, _), (seq, text, receipt) = found.reserved, found.settled
        with _read(f"entry {seq}"):
            pending = self._batch(reserve, json.loads(reserved))
            body = json.loads(text)
            releases = _releases(seq, body, pending)
        for asked, release in zip(pending.asked, releases, strict=True):
            if (release.number, asked.offer.question) == (found.filed.number, question):
                return recorded(asked, release, body["at"], receipt, found.filed.leaked, pending)
        raise LedgerTampered(f"entry {seq} of the ledger does not answer {question}. {RESTORE}")

    @property
    def questions(self) -> Iterable[str]:
        """Every question that was answered."""
        self._read_everything()
        return self._looks

    @property
    def committed(self) -> Account:
        """The account with an unfinished batch at its worst: no less than what will be spent."""
        return self.account if self.pending is None else _at_worst(self.account, self.pending)

    @property
    def opening(self) -> Opening:
        return _opened(self._opening)

    @property
    def terms(self) -> Terms:
        return self.opening.terms

    @property
    def mechanism(self) -> Mechanism:
        """The one that answers questions without a guess."""
        return _opened(self._mechanism)

    @property
    def mechanisms(self) -> Mapping[str, Mechanism]:
        """Those that may have written to this ledger, by the names it calls them."""
        return {each.name: each for each in (self.mechanism, self.checker) if each is not None}

    def apply(self, entries: Iterable[tuple[int, str, str]]) -> None:
        """Fold (seq, text, hash) entries that follow those already seen."""
        for seq, text, receipt in entries:
            if seq != self.count + 1:
                raise LedgerTampered(
                    f"entry {seq} of the ledger came after entry {self.count}; open it again."
                )
            with _read(f"entry {seq}"):
                self._apply(seq, json.loads(text), receipt)
            self.count, self.head = seq, receipt

    def _apply(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        match body["kind"]:
            case "open/2":
                self._open(seq, body, receipt)
            case "reserve/2":
                self._reserve(seq, body)
            case "settle/2":
                self._settle(seq, body, receipt)
            case "abandon/1":
                self._abandon(seq, body)
            case kind:
                raise LedgerTampered(
                    f"entry {seq} of the ledger is of an unknown kind {kind!r}; use the version of "
                    "Holdfast that wrote it."
                )

    def _open(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        if self._opening is not None:
            raise LedgerTampered(f"entry {seq} of the ledger opens it a second time.")
        self._first = receipt
        self._opening = opening = Opening.read(body)
        self.checker = checking(opening.mechanism, opening.terms)
        self._mechanism = built(opening.mechanism, opening.terms)

    def _reserve(self, seq: int, body: dict[str, Any]) -> None:
        if self.pending is not None:
            raise LedgerTampered(
                f"entry {seq} of the ledger reserves a batch while entry {self.pending.seq} is not "
                "finished."
            )
        pending = self._batch(seq, body)
        numbers = [each.offer.number for each in pending.asked]
        first = self.account.asked + 1
        if not numbers or numbers != list(range(first, first + len(numbers))):
            raise LedgerTampered(
                f"entry {seq} of the ledger reserves questions {numbers}; the next is {first}."
            )
        self.pending = pending

    def _batch(self, seq: int, body: dict[str, Any]) -> Pending:
        """The batch that an entry reserves."""
        asked = tuple(Asked.read(item) for item in body["items"])
        return Pending(seq, self.mechanisms[body["mechanism"]], body["why"], asked)

    def _settle(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        pending = self._finish(seq, body)
        releases, leaked = _releases(seq, body, pending), self.account.nats
        for asked, release in zip(pending.asked, releases, strict=True):
            answer = recorded(asked, release, body["at"], receipt, leaked, pending)
            self._answers.append(answer)
            self._looks.setdefault(answer.question, []).append(answer)
        offers = [asked.offer for asked in pending.asked]
        self.account = pending.mechanism.advance(self.account, offers, releases)

    def _abandon(self, seq: int, body: dict[str, Any]) -> None:
        pending = self._finish(seq, body)
        self.account = _at_worst(self.account, pending)
        self._abandoned.extend(pending.asked)

    def _finish(self, seq: int, body: dict[str, Any]) -> Pending:
        pending, self.pending = self.pending, None
        if pending is None or pending.seq != body["reserve"]:
            raise LedgerTampered(f"entry {seq} of the ledger finishes a batch that is not open.")
        return pending


@dataclass(frozen=True, slots=True)
class _Looks(Mapping[str, Sequence[Recorded]]):
    """The answers of each question: those folded here, and those looked up in the past."""

    transcript: Transcript

    def __getitem__(self, question: str) -> Sequence[Recorded]:
        found = self.transcript.looks_at(question)
        if not found:
            raise KeyError(question)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.transcript.questions)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class _ByQuestion(Mapping[str, Recorded]):
    """The narrowest answer of each question; of several, the newest."""

    looks: Mapping[str, Sequence[Recorded]]

    def __getitem__(self, question: str) -> Recorded:
        return min(reversed(self.looks[question]), key=lambda look: look.half_width)

    def __iter__(self) -> Iterator[str]:
        return iter(self.looks)

    def __len__(self) -> int:
        return len(self.looks)


def checkpoint_of(kept: Kept) -> dict[str, Any] | None:
    """What a checkpoint says; None if another version wrote it."""
    with _read("the checkpoint"):
        body: dict[str, Any] = json.loads(kept.text)
        if body["kind"] != _CHECKPOINT:
            return None
        return {name: body[name] for name in ("kind", "count", "head", "first", "account")}


@contextmanager
def _read(what: str) -> Iterator[None]:
    """What makes no sense was not written by this software."""
    try:
        yield
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise LedgerTampered(
            f"{what} of the ledger cannot be read ({error!r}); it was not written by "
            "this software, or by a newer version of it."
        ) from error


def _releases(seq: int, body: dict[str, Any], pending: Pending) -> list[Release]:
    """The answers that follow from a batch's symbols; they must be the ones that are stated."""
    releases = [
        pending.mechanism.settle(asked.offer, symbol)
        for asked, symbol in zip(pending.asked, body["symbols"], strict=True)
    ]
    if settlement(body["at"], pending.seq, body["symbols"], releases) != body:
        raise LedgerTampered(
            f"entry {seq} of the ledger states answers that do not follow from its symbols."
        )
    return releases


def _opened(said: _Said | None) -> _Said:
    """What the opening entry says; without one there is no ledger."""
    if said is None:
        raise LedgerTampered(f"the ledger has no opening entry. {RESTORE}")
    return said


def _at_worst(account: Account, pending: Pending) -> Account:
    """The account after a batch that keeps its worst charges."""
    offers = [asked.offer for asked in pending.asked]
    return charged(account, offers, [offer.worst_charge for offer in offers])
