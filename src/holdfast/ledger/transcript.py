"""Transcript: entries folded into terms, account and answers. No data is needed.

Every answer is derived again from its offer and symbol; a stored answer that differs is tampering.
A transcript that resumes from a checkpoint folds only what came after it: an earlier answer is
looked up when its question is asked again, and all of them are read when all are wanted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count as counting
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from holdfast.errors import LedgerTampered
from holdfast.ledger.attachments import ATTACHING, AttachedColumn, Attachments, schema_beside
from holdfast.ledger.chain import GENESIS, RESTORE, Row, canonical, verify
from holdfast.ledger.checkpoint import (
    EVENT,
    KEY,
    SUBJECT,
    Filed,
    FiledAnswer,
    StoredCheckpoint,
    lines_filing,
)
from holdfast.ledger.composites import read_whole
from holdfast.ledger.dictionaries import Dictionaries, Dictionary
from holdfast.ledger.entries import (
    ENDING,
    Asked,
    Pending,
    Recorded,
    at_worst,
    ended,
    last_to_answer,
    reading_entry,
    recorded,
    releases_of,
    require_numbered,
    require_settled,
)
from holdfast.ledger.opening import REOPEN, Opening
from holdfast.mechanisms.catalogue import built, claiming
from holdfast.mechanisms.claims import CHECKS, GATES
from holdfast.mechanisms.described import DESCRIBED
from holdfast.mechanisms.forecast_checks import FORECAST_CHECKS
from holdfast.mechanisms.forecast_gates import FORECAST_GATES, UNTRIED, Untried
from holdfast.mechanisms.graded_gates import GRADED_GATES
from holdfast.mechanisms.mechanism import (
    Answered,
    Checker,
    Mechanism,
    Release,
    Symbol,
    Wish,
    alike,
)
from holdfast.mechanisms.terms import Account, Terms
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import known_variance
from holdfast.theory.leakage.nats import LeakageAccount

# The looks at the data by their questions, wherever a transcript finds them.


class _Remembering(Protocol):
    """Memory of looks: those folded here, and those looked up in the past."""

    @property
    def questions(self) -> Iterable[str]:
        """Every question that was answered."""
        ...

    def looks_at(self, question: str) -> Sequence[Recorded]:
        """The answers to one question."""
        ...


@dataclass(frozen=True, slots=True)
class Looks(Mapping[str, Sequence[Recorded]]):
    """Every look of each question, in order."""

    memory: _Remembering

    def __getitem__(self, question: str) -> Sequence[Recorded]:
        looks = self.memory.looks_at(question)
        if not looks:
            raise KeyError(question)
        return looks

    def __iter__(self) -> Iterator[str]:
        return iter(self.memory.questions)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class Narrowest(Mapping[str, Recorded]):
    """The narrowest look of each question; of several, the newest."""

    looks: Mapping[str, Sequence[Recorded]]

    def __getitem__(self, question: str) -> Recorded:
        return min(reversed(self.looks[question]), key=lambda look: look.half_width)

    def __iter__(self) -> Iterator[str]:
        return iter(self.looks)

    def __len__(self) -> int:
        return len(self.looks)


# What a transcript did not fold itself: where the entries are, and a checkpoint of their fold.


CHECKPOINT = "checkpoint/2"  # 1 knew columns that were submitted, and no others


class Past(Protocol):
    """Past entries, for what a transcript did not fold itself."""

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """Held while entries are folded: threads may share a transcript."""
        ...

    def checkpoint(self) -> StoredCheckpoint | None:
        """The newest checkpoint."""
        ...

    def look_up(self, question: str, newest: int | None = None) -> list[FiledAnswer]:
        """The answers to a question, in order; all of them, or the newest."""
        ...

    def news(self, after: int = 0, head: str = GENESIS) -> list[Row]:
        """The entries that follow entry `after`."""
        ...


def checkpoint_of(stored: StoredCheckpoint) -> dict[str, Any] | None:
    """Content of a checkpoint; None if another version wrote it."""
    with reading_entry("the checkpoint"):
        body: dict[str, Any] = json.loads(stored.text)
        if body["kind"] != CHECKPOINT:
            return None
        names = ("kind", "count", "head", "first", "lines", "account", "attached", "dictionaries")
        return {**{name: body[name] for name in names}, "opening": body.get("opening")}


def look_at(
    batch: Callable[[int, dict[str, Any]], Pending], answer: FiledAnswer
) -> Recorded | None:
    """The look that is filed; None for anything else. `batch` reads what an entry reserves."""
    if not answer.filed.look:
        return None
    (reserve, reserved, _), (seq, text, receipt) = answer.before, answer.settled
    filed = answer.filed
    with reading_entry(f"entry {seq}"):
        pending = batch(reserve, json.loads(reserved))
        body = json.loads(text)
        releases = releases_of(seq, body, pending)
    how = (body["at"], receipt, filed.leaked, pending.mechanism, filed.line or None)
    for each, release, symbol in zip(pending.asked, releases, body["symbols"], strict=True):
        if release.number == filed.look and filed.question in _filed_under(each):
            return recorded(each, release, symbol, *how)
    raise _unanswered(seq, filed.question)


def _filed_under(reserved: Asked) -> list[str]:
    """The texts by which a look is found: question, what its symbols are about, subjects."""
    event = (reserved.offer.extra or {}).get("event")
    events = [] if event is None else [EVENT + event]
    return [reserved.offer.question, *events, *(SUBJECT + each for each in reserved.subjects)]


def told_line(answer: FiledAnswer) -> Recorded | None:
    """The line that is filed and follows from looks; None for anything else that is filed."""
    if not answer.filed.line or answer.filed.look:
        return None
    seq, text, receipt = answer.settled
    with reading_entry(f"entry {seq}"):
        body = json.loads(text)
        for line in body["lines"]:
            if line["line"] == answer.filed.line and "parts" in line:
                return read_whole(line, body["at"], receipt)
    raise _unanswered(seq, answer.filed.question)


def _unanswered(seq: int, question: str) -> LedgerTampered:
    """Refusal of an entry that does not say what was filed under it."""
    return LedgerTampered(f"entry {seq} of the ledger does not answer {question}. {RESTORE}")


_T = TypeVar("_T")

_RELATED = 64  # looks of one subject: so many are read for a question, however many there are
_CHECKPOINT_EVERY = 128  # entries or answers: reading so many takes no longer than opening the file


class _Settled(NamedTuple):
    """A batch that was settled, by its receipt, with its answers and the looks that tell them."""

    receipt: str
    releases: Sequence[Release]
    looks: list[Recorded]


class Transcript:
    """The fold. `apply` takes entries in order; everything else is a view of what they said.

    `count` and `head` are the number and the hash of the last entry folded. If it is `torn`, an
    entry was being folded when that was interrupted: what it says is no use until `fold_again`.
    """

    # The opening entry sets these.
    opening: Opening
    _opened: Opening  # as the first entry has it; it may be declared anew
    terms: Terms
    mechanism: Mechanism  # the one that answers questions without a guess

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Refusal where the opening entry is missing: without one there is no ledger."""
            if name in Transcript.__annotations__:
                raise LedgerTampered(f"the ledger has no opening entry. {RESTORE}")
            raise AttributeError(f"a transcript has no attribute {name!r}")

    def __init__(self) -> None:
        self.count, self.head, self.torn = 0, GENESIS, False
        self._first = GENESIS  # the hash of the opening entry
        self._past: Past | None = None  # where the answers are that were folded by a checkpoint
        self._skipped = 0  # how many entries it folded
        self._kept = (1, 0)  # entries, and answers here, that a checkpoint has folded
        self.checker: Checker | None = None  # what checks guesses, if anything does
        self.gate: Checker | None = None  # what gates, likewise
        self.forecast_checker: Checker | None = None  # what checks with a forecast
        self.forecast_gate: Checker | None = None  # what gates with a forecast
        self.graded_gate: Checker | None = None  # what gates with grades
        self.describing: Mechanism | None = None  # what answers described questions, if anything
        self.attached = Attachments()
        self.dictionaries = Dictionaries()
        self.account = Account()
        self._numbered = 0  # the last line's number
        self._answers: list[Recorded] = []
        self._lines: list[Recorded] = []
        self._abandoned: list[Asked] = []
        self._looks: dict[str, list[Recorded]] = {}  # every look, by its question
        self._events: dict[str, list[Recorded]] = {}  # every described look, by its event
        self._subjects: dict[str, list[Recorded]] = {}  # every look, by each of its subjects
        self._related: dict[str, Sequence[Recorded]] = {}  # those in the past, looked up once
        self._told: dict[str, list[Recorded]] = {}  # what follows from looks, by its question
        self._keys: dict[str, int] = {}  # the entry that says what the call was told
        self._settled = _Settled(GENESIS, [], [])  # the last batch
        self.pending: Pending | None = None

    @classmethod
    def resumed(cls, past: Past) -> Transcript:
        """The ledger as it stands, from its newest checkpoint on."""
        transcript, checkpoint = cls(), past.checkpoint()
        if checkpoint is not None:
            transcript._resume(checkpoint, past)
        transcript.apply(past.news(transcript.count, transcript.head))
        return transcript

    def _resume(self, checkpoint: StoredCheckpoint, past: Past) -> None:
        body = checkpoint_of(checkpoint)
        if body is None:
            return
        (_, text, hashed) = checkpoint.first
        if verify([checkpoint.first]) != body["first"]:
            raise LedgerTampered(f"entry 1 of the ledger is not that of its checkpoint. {RESTORE}")
        with reading_entry("the checkpoint"):
            self._apply(1, json.loads(text), hashed)
            if body["opening"] is not None:
                self._declare(Opening.read(body["opening"]))
            self.account = Account.from_dict(body["account"])
            self.attached = Attachments.read(body["attached"], self.opening.schema.types)
            self.dictionaries = Dictionaries.read(body["dictionaries"])
        self.count, self.head, self._numbered = body["count"], body["head"], body["lines"]
        self._past, self._skipped, self._kept = past, self.count, (self.count, 0)

    def checkpoint(self) -> str | None:
        """Checkpoint of the fold so far, where one is due: between batches."""
        entries, answers = self._kept  # of a few long batches, too, not many are read
        new = max(self.count - entries, len(self._answers) - answers)
        if self.pending is not None or new < _CHECKPOINT_EVERY:
            return None
        return canonical(self.summary())

    def checkpointed(self) -> None:
        """The checkpoint that was due is written."""
        self._kept = (self.count, len(self._answers))

    def summary(self) -> dict[str, Any]:
        """Content of a checkpoint of the fold so far."""
        return {
            "kind": CHECKPOINT,
            "count": self.count,
            "head": self.head,
            "first": self._first,
            "lines": self._numbered,
            "account": self.account.to_dict(),
            "attached": self.attached.bodies(),
            "dictionaries": self.dictionaries.bodies(),
            "opening": None if self._opened is self.opening else self.opening.body(),
        }

    def filing(self, body: Mapping[str, Any]) -> list[Filed]:
        """Index entries of the next entry: its answers, and by its key what was told."""
        if body["kind"] == "told/1":
            return lines_filing(body)
        if body["kind"] != "settle/2" or self.pending is None:
            return []
        leaked = self.account.nats
        return [
            Filed(text, each.offer.number, number or 0, leaked)
            for each, number in self._numbering(self.pending, body["symbols"])
            for text in _filed_under(each)
        ]

    def _numbering(
        self, pending: Pending, symbols: Iterable[Symbol]
    ) -> list[tuple[Asked, int | None]]:
        """The looks of a batch with their lines: a part has none, what it is a part of does."""
        lines, looks = counting(self._numbered + 1), zip(pending.asked, symbols, strict=True)
        return [(each, next(lines) if each.is_line(symbol) else None) for each, symbol in looks]

    @property
    def looks(self) -> Mapping[str, Sequence[Recorded]]:
        """Every look of each question, in order."""
        return Looks(self)

    @property
    def by_question(self) -> Mapping[str, Recorded]:
        """The narrowest look of each question."""
        return Narrowest(self.looks)

    @property
    def answers(self) -> Sequence[Recorded]:
        """Every look that was answered, in order."""
        self._read_everything()
        return self._answers

    @property
    def lines(self) -> Sequence[Recorded]:
        """Lines: what was asked, in the order in which it was answered; parts are under it."""
        self._read_everything()
        return self._lines

    def newest(self, many: int) -> Sequence[Recorded]:
        """The last looks that were folded here."""
        return self._answers[len(self._answers) - many :]

    @property
    def next_line(self) -> int:
        """The number of the next line."""
        return self._numbered + 1

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
            self._lines, self._told, self._keys = whole._lines, whole._told, whole._keys
            self._looks, self._events, self._past = whole._looks, whole._events, None
            self._subjects = whole._subjects

    def looks_at(self, question: str) -> Sequence[Recorded]:
        """The looks at one question, with those that were folded by a checkpoint."""
        if self._past is None:  # a question asks for them many times
            return self._looks.get(question, ())
        return self._filed(
            question, partial(look_at, self._batch), lambda: self._looks.get(question, ())
        )

    def looks_at_event(self, event: str) -> Sequence[Recorded]:
        """The looks whose symbols are about an event, whatever was asked of it."""
        return self._filed(
            EVENT + event, partial(look_at, self._batch), lambda: self._events.get(event, ())
        )

    def looks_about(self, subject: str) -> Sequence[Recorded]:
        """The newest looks with a subject: only answers of text questions name one."""
        if not self.describes:
            return ()
        here = self._subjects.get(subject, [])
        if self._past is not None and len(here) < _RELATED:
            if subject not in self._related:
                recall = partial(look_at, self._batch)
                self._related[subject] = self._filed(SUBJECT + subject, recall, tuple, _RELATED)
            return (*self._related[subject], *here)[-_RELATED:]
        return here[-_RELATED:]

    @property
    def describes(self) -> bool:
        """Whether there is a look at any event."""
        return self.account.described > 0

    def told_of(self, question: str) -> Sequence[Recorded]:
        """Composite lines of a question, with those that a checkpoint folded."""
        return self._filed(question, told_line, lambda: self._told.get(question, ()))

    def told_for(self, key: str) -> int | None:
        """The entry that says what the call with this key was told."""

        def here() -> Sequence[int]:
            return [self._keys[key]] if key in self._keys else []

        return next(iter(self._filed(KEY + key, lambda answer: answer.settled[0], here)), None)

    def _filed(
        self,
        text: str,
        recall: Callable[[FiledAnswer], _T | None],
        here: Callable[[], Sequence[_T]],
        newest: int | None = None,
    ) -> Sequence[_T]:
        """Answers filed under a text: those folded by the checkpoint, and those `here`."""
        past = self._past
        if past is None:
            return here()
        with past.guard:  # another thread may be reading everything now
            places = [] if self._past is None else past.look_up(text, newest)
            recalled = [recall(each) for each in places if each.settled[0] <= self._skipped]
            return (*(each for each in recalled if each is not None), *here())

    @property
    def questions(self) -> Iterable[str]:
        """Every question that was answered."""
        self._read_everything()
        return self._looks

    @property
    def committed(self) -> Account:
        """The account with an unfinished batch at its worst: no less than what will be spent."""
        return self.account if self.pending is None else at_worst(self.account, self.pending)

    @property
    def first(self) -> str:
        """The hash of the first entry, by which copies of a ledger are known."""
        return self._first

    @property
    def table(self) -> Table:
        """Public facts of the table, with what was declared and attached since."""
        table = self.opening.table
        schema = self.dictionaries.declared(table.schema)
        return Table(schema_beside(schema, self.attached.columns.values()), table.design)

    def attached_among(self, columns: Iterable[str]) -> list[AttachedColumn]:
        """Attached columns among these, in the order of their names."""
        attached = self.attached.columns
        return [attached[name] for name in sorted(set(columns)) if name in attached]

    @property
    def mechanisms(self) -> Mapping[str, Mechanism]:
        """Mechanisms that may have written to this ledger, by the names it calls them."""
        forecast = (self.forecast_checker, self.forecast_gate)
        claims = (self.checker, self.gate, *forecast, self.graded_gate)
        mechanisms = (self.mechanism, *claims, self.describing)
        last = last_to_answer(self.account, self.mechanism)
        every = (*mechanisms, *self.dictionaries.mechanisms, last)
        return {each.name: each for each in every if each is not None}

    def apply(self, entries: Iterable[Row], reserved: Pending | None = None) -> None:
        """Fold (seq, text, hash) entries that follow those already seen.

        `reserved` is what one of them reserves, where it was made of that here.
        """
        for seq, text, receipt in entries:
            if seq != self.count + 1:
                raise LedgerTampered(
                    f"entry {seq} of the ledger came after entry {self.count}; open it again."
                )
            self.torn = True
            with reading_entry(f"entry {seq}"):
                if reserved is not None and seq == reserved.seq:
                    self._reserve(reserved)
                else:
                    self._apply(seq, json.loads(text), receipt)
            self.count, self.head, self.torn = seq, receipt, False

    def fold_again(self, past: Past) -> None:
        """Fold everything anew, as a transcript that resumes now."""
        vars(self).update(vars(Transcript.resumed(past)))

    def _apply(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        match body["kind"]:
            case "open/3":
                self._open(seq, body, receipt)
            case kind if kind == REOPEN:
                self._reopen(seq, Opening.read(body))
            case "reserve/2":
                self._reserve(self._batch(seq, body))
            case "settle/2":
                self._settle(seq, body, receipt)
            case "told/1":
                self._tell(seq, body, receipt)
            case "abandon/1":
                self._abandon(seq, body)
            case kind if kind in ENDING:
                require_settled(self.pending, seq, "is ended")
                self.account = ended(self.account, body)
            case kind if kind in ATTACHING:
                self._attach(seq, body)
            case kind if kind == UNTRIED:
                require_settled(self.pending, seq, "lists a gate that was not tried")
                self.account = Untried.read(body).entered(self.account)
            case "search/1" | "final/1" | "search/2" | "final/2" | "winner/1" | "declared/1":
                self._open_late(seq, body)
            case kind:
                raise LedgerTampered(
                    f"entry {seq} of the ledger is of an unknown kind {kind!r}; use the version of "
                    "Holdfast that wrote it."
                )

    def _open(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        if "opening" in vars(self):
            raise LedgerTampered(f"entry {seq} of the ledger opens it a second time.")
        self._first = receipt
        self._opened = opening = Opening.read(body)
        self._declare(opening)

    @property
    def is_unasked(self) -> bool:
        """Whether nothing was asked, attached, searched or ended so far; declared it may be."""
        account = replace(self.account, log_kept=0.0, leakage=LeakageAccount())
        others = len(self.dictionaries.named) - len(self.dictionaries.declarations)
        touched = (self.pending, self.attached.columns, others, self._numbered, self.account.nats)
        return account == Account() and not any(touched)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was declared, either."""
        return self.is_unasked and not self.dictionaries.named

    def _reopen(self, seq: int, opening: Opening) -> None:
        if not self.is_untouched or not self.opening.may_become(opening):
            raise LedgerTampered(f"entry {seq} of the ledger plans anew what was in use.")
        self._declare(opening)

    def _declare(self, opening: Opening) -> None:
        self.opening = opening
        self.terms = opening.terms
        self.checker = claiming(opening.mechanism, opening.terms, CHECKS)
        self.gate = claiming(opening.mechanism, opening.terms, GATES)
        self.forecast_checker = claiming(opening.mechanism, opening.terms, FORECAST_CHECKS)
        self.forecast_gate = claiming(opening.mechanism, opening.terms, FORECAST_GATES)
        self.graded_gate = claiming(opening.mechanism, opening.terms, GRADED_GATES)
        self.mechanism = built(opening.mechanism, opening.terms)
        self.describing = DESCRIBED if opening.terms.describes else None

    def _reserve(self, pending: Pending) -> None:
        require_settled(self.pending, pending.seq, "reserves a batch")
        require_numbered(pending, self.account.looks + 1)
        self.pending = pending

    def _batch(self, seq: int, body: dict[str, Any]) -> Pending:
        """The batch that an entry reserves."""
        return Pending(seq, self.mechanisms[body["mechanism"]], Asked.read_all(body))

    def _settle(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        pending = self._finish(seq, body)
        if self._settled.receipt != receipt:  # else the entry was made of these answers here
            answered = Answered(body["symbols"], releases_of(seq, body, pending))
            self.answered(pending, answered, body["at"], receipt)
        _, releases, looks = self._settled
        for answer in looks:
            self._answers.append(answer)
            self._looks.setdefault(answer.question, []).append(answer)
            if answer.event is not None:
                self._events.setdefault(answer.event, []).append(answer)
            for subject in answer.subjects:
                self._subjects.setdefault(subject, []).append(answer)
            if answer.number is not None:
                self._number(answer)
        offers = [each.offer for each in pending.asked]
        self.account = pending.mechanism.advance(self.account, offers, releases)

    def answered(
        self, pending: Pending, outcome: Answered, at: str, receipt: str
    ) -> list[Recorded]:
        """The looks of a batch as they are told once it is settled.

        Its receipt, the hash of all entries up to this one, says what they are: whoever settles a
        batch looks at them before they are folded.
        """
        leaked, mechanism = self.account.nats, pending.mechanism
        numbered = self._numbering(pending, outcome.symbols)
        looks = [
            recorded(each, release, symbol, at, receipt, leaked, mechanism, number)
            for (each, number), release, symbol in zip(
                numbered, outcome.releases, outcome.symbols, strict=True
            )
        ]
        self._settled = _Settled(receipt, outcome.releases, looks)
        return looks

    def _tell(self, seq: int, body: dict[str, Any], receipt: str) -> None:
        """What follows from looks; an audit comes to it again from them."""
        require_settled(self.pending, seq, "tells what follows")
        for line in body["lines"]:
            if "parts" in line:
                answer = read_whole(line, body["at"], receipt)
                self._told.setdefault(answer.question, []).append(answer)
                self.account = self.account.after_implied(line.get("implied", 0))
                self._number(answer)
            elif not 1 <= line["line"] <= self._numbered:
                raise LedgerTampered(f"entry {seq} of the ledger names a line that is not there.")
        key = body["key"]
        if key is not None:
            if key in self._keys:
                raise LedgerTampered(f"entry {seq} of the ledger uses a key a second time.")
            self._keys[key] = seq

    def _attach(self, seq: int, body: dict[str, Any]) -> None:
        require_settled(self.pending, seq, "attaches a column")
        if self.dictionaries.clash(body.get("name", "")) is not None:
            raise LedgerTampered(f"entry {seq} of the ledger calls a column as a search is called.")
        self.attached = self.attached.after(body, self.opening.schema.types)

    def _open_late(self, seq: int, body: dict[str, Any]) -> None:
        require_settled(self.pending, seq, "opens a dictionary")
        new = Dictionary.read(body)
        later = self.dictionaries.after(new, self.terms, self.account, self.attached)
        self.dictionaries, self.account = later

    def _number(self, line: Recorded) -> None:
        self._numbered += 1
        if line.number != self._numbered:
            raise LedgerTampered(
                f"the ledger numbers a line {line.number}; the next is {self._numbered}."
            )
        self._lines.append(line)

    def _abandon(self, seq: int, body: dict[str, Any]) -> None:
        pending = self._finish(seq, body)
        self.account = at_worst(self.account, pending)
        self._abandoned.extend(pending.asked)

    def _finish(self, seq: int, body: dict[str, Any]) -> Pending:
        pending, self.pending = self.pending, None
        if pending is None or pending.seq != body["reserve"]:
            raise LedgerTampered(f"entry {seq} of the ledger finishes a batch that is not open.")
        return pending


# What the ledger adds to a wish before an offer is made, or made again by an audit.


def informed(transcript: Transcript, wish: Wish) -> Wish:
    """The wish with what is public of its question: a known variance, and what it reads."""
    return replace(
        wish,
        variance=known_variance(wish.question, transcript.by_question),
        keyless=is_keyless(transcript, wish.question.columns),
    )


def is_keyless(transcript: Transcript, columns: Collection[str]) -> bool:
    """Whether none of the columns has values that were made for single keys, nor is the key.

    This is what decides, for every question and verb, whether rows that are alike stay so.
    """
    made_for_keys = transcript.attached.made_for_keys
    return transcript.terms.key not in columns and made_for_keys.isdisjoint(columns)
