"""The desk, where requests become answers: ledger, transcript and protected rows in one place.

The walk of a question: asked before? the stored answer, free; an offer on the account (public), or
a refusal that computes nothing; the offer's worst charge reserved, durable; one symbol through the
mechanism's door; the answer settled, durable.

Attached columns are put beside the protected rows on demand; a reservation that these can never
answer is given up.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from holdfast import require
from holdfast.data.attached import ColumnValues
from holdfast.data.fingerprint import RowContents
from holdfast.data.keys import KeyOrder, key_order
from holdfast.data.sample import Sample, is_readable, require_unchanged
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.guessers.guesser import Grounds, Guesser, Guessing, lesson_of
from holdfast.holdout.batch import (
    Body,
    Concluding,
    Conclusion,
    Key,
    LookFound,
    as_answered,
    by_mechanism,
    fulfilling,
    is_by_name,
    is_described,
    looks_found,
    never_told,
    offered,
    one_of_each_event,
    order_of,
    rows_of,
    same_claim,
    wanted_part,
    width_begun,
    with_their_events,
)
from holdfast.holdout.budget import Budget, LastBudget
from holdfast.holdout.guess import other_rows
from holdfast.ledger.attachments import AttachedColumn, Attachments, ValuesKept, nonce_of
from holdfast.ledger.chain import chained, now
from holdfast.ledger.column_files import ColumnStore, submitted_file
from holdfast.ledger.dictionaries import Dictionaries, offered_again
from holdfast.ledger.entries import (
    Asked,
    Pending,
    Recorded,
    Request,
    abandonment,
    closing,
    noise_of_batch,
    reservation,
    retirement,
    settlement,
)
from holdfast.ledger.implied import Implications, Implied
from holdfast.ledger.index import recall
from holdfast.ledger.lock import LostRace, retried
from holdfast.ledger.opening import Opening
from holdfast.ledger.rule_claims import claimed_again
from holdfast.ledger.store import Store
from holdfast.ledger.subjects import subjects_of
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.described import ground_of
from holdfast.mechanisms.mechanism import Answered, Mechanism, Offer, Wish, answer, charged
from holdfast.mechanisms.terms import Account
from holdfast.statistics.bind import read_again, require_written
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.statistic import Statistic

_MOST_BESIDE = 64  # attached columns that are held beside the rows


class ProtectedRows:
    """The rows, if the holdout was opened with them; attached columns are put beside on demand."""

    def __init__(self, sample: Sample | None, opening: Opening, columns: ColumnStore) -> None:
        self._opening = opening
        self._columns = columns
        self._order: KeyOrder | None = None
        self._held: dict[tuple[str, str], ColumnValues] = {}  # what was read, or brought, here
        self.put(sample)

    def put(self, sample: Sample | None) -> None:
        """These rows from now on, as they were opened."""
        self.sample = sample
        self.contents = None if sample is None else RowContents(sample, self._opening.terms.key)
        self._joined = sample

    def needed(self, attached: Sequence[AttachedColumn] = ()) -> Sample:
        """The rows, as they were, with these columns; looked at before anything is reserved."""
        if self.sample is None or self._joined is None:
            raise InvalidArgument(
                f"a new question needs the rows of {self._opening.name!r}, and the ledger was "
                "opened without them; open it with its data. Nothing was spent."
            )
        require_unchanged(self.sample)
        beside = self._joined is not self.sample
        if beside and len(self._joined.types) - len(self.sample.types) >= _MOST_BESIDE:
            self._joined = self.sample  # a search brings more than anybody looks at again
        for column in attached:
            if column.name not in self._joined.types:
                frame = self.values(column).frame(column.name)
                self._joined = self._joined.joined(self.key, frame)
        return self._joined if attached else self.sample

    @property
    def key(self) -> str:
        """The column by which values are attached; refused where none was declared."""
        key = self._opening.terms.key
        if key is None:
            raise InvalidArgument(
                f"{self._opening.name!r} was opened without a key, so that nothing can be attached "
                "to its rows; open a ledger with key= (--key), a column that names each row."
            )
        return key

    @property
    def order(self) -> KeyOrder:
        """The keys of the rows, read once."""
        if self._order is None:
            key = self.key
            self._order = key_order(self.needed(), key)
        return self._order

    def values(self, column: AttachedColumn) -> ColumnValues:
        """What was attached, from beside the ledger; refused if that was changed."""
        if column.identity not in self._held:
            self._held[column.identity] = self._columns.values(column, self.key)
        return self._held[column.identity]

    def keep(self, digest: str, values: ColumnValues) -> None:
        """Write what is to be submitted, durably when this returns."""
        self._columns.write(submitted_file(digest), values)
        self._held["submitted", digest] = values

    def keep_computed(self, column: str, values: ColumnValues) -> ValuesKept:
        """Write the values of a computed column, durably when this returns what marks them."""
        return self._columns.keep_computed(column, values)


# Reserved questions that cannot be answered: for now, or for good.


def passes(error: Exception) -> bool:
    """Whether an error is of the machine or the files, so that another try may succeed.

    An argument that is refused inside the door is not: a rule has met rows that it was not made
    for, and would meet them again.
    """
    if isinstance(error, HoldfastError):
        of_question = isinstance(error, InvalidQuestion | InvalidArgument)
        return type(error) is not HoldfastError and not of_question
    return isinstance(error, OSError | MemoryError)


def given_up(pending: Pending) -> InvalidQuestion:
    """What is said of a batch that was given up."""
    texts = ", ".join(reserved.offer.question for reserved in pending.asked)
    return InvalidQuestion(
        f"{texts} could not be evaluated, though the table can be read; it keeps its worst charge "
        "and will not be tried again. Ask it in another form."
    )


# The desk.


_T = TypeVar("_T")

_TRIES = 2
_GIVEN_UP = "the question cannot be read again, or the engine cannot evaluate it"


class Desk:
    """One ledger with its protected rows (`sample`) and, perhaps, other rows (`train`).

    With `guessers`, in order of preference, what is asked is guessed and checked.
    """

    def __init__(
        self,
        store: Store,
        transcript: Transcript,
        sample: Sample | None,
        train: Sample | None,
        timeout: float,
        guessers: Sequence[Guesser] = (),
    ) -> None:
        self.store, self.transcript, self.train = store, transcript, train
        self._sample, self._guessers = sample, guessers
        self._timeout, self._left = timeout, LastBudget()
        self._read_opening()

    def _read_opening(self) -> None:
        """All that follows from what was declared at the opening."""
        store, transcript = self.store, self.transcript
        self._opened = transcript.opening
        # Whether one batch is answered, and no more.
        self.once = kind_of(transcript.opening.mechanism["name"]).once
        columns = ColumnStore(store, store.secret)
        self.protected = ProtectedRows(self._sample, transcript.opening, columns)
        self._written: set[str] = set()  # what was seen to be readable again
        # Guessers may have noise of their own, and never learn the noise of answers.
        secret = hmac.digest(store.secret, b"holdfast guessers/1", sha256)
        # Described, or guessed from a domain, is what is in the table itself.
        opened = transcript.opening.table
        self.ground = ground_of(transcript.terms, opened)
        grounds = Grounds(transcript.terms, opened, self.train, secret)
        self._table: tuple[Attachments, Dictionaries, Table] | None = None
        self._guessing = Guessing(self._guessers, grounds) if self._guessers else None
        self._implications = Implications.within(transcript, self.ground)
        # Cache of what is implied of a question by so many entries.
        self._implied: tuple[int, dict[str, Implied | None]] = 0, {}

    def plan_anew(self, opening: Opening) -> None:
        """Let an opening with another plan take the place of this one, before anything is asked."""

        def entry() -> list[Body]:
            if not self.transcript.is_untouched:
                raise InvalidArgument(
                    "something was asked, attached or declared since, and the plan stays as it "
                    "is; open the ledger without another one. Nothing was changed."
                )
            return [opening.reopening()]

        self.tell(entry)
        self._read_opening()

    @property
    def opening(self) -> Opening:
        return self.transcript.opening

    @property
    def table(self) -> Table:
        """What is public of the table, with what was declared and attached so far."""
        attached, dictionaries = self.transcript.attached, self.transcript.dictionaries
        cached = self._table
        if cached is None or cached[0] is not attached or cached[1] is not dictionaries:
            cached = self._table = attached, dictionaries, self.transcript.table
        return cached[2]

    @property
    def source(self) -> str | None:
        """Where the data was when it was last opened from files."""
        remembered = recall(self.store.home, self.store.secret)
        return None if remembered is None else remembered.source

    def other_rows(self, data: Any, *, compared: bool = True) -> Sample:
        """A table to guess from; refused if it holds protected rows.

        It is only `compared` with them where a guess may be answered: a price touches no data.
        """
        closed = self.transcript.account.closed is not None
        contents = self.protected.contents if compared and not closed else None
        return other_rows(data, self.opening, self.store.secret, contents)

    def refresh(self) -> Transcript:
        """All that was written so far. It stays as it is as long as the store's guard is held.

        Nobody's scan is waited for; who asks meanwhile waits to write.
        """
        with self.store.guard:
            transcript = self.transcript
            if transcript.torn:
                transcript.fold_again(self.store)
            else:
                news = self.store.news(transcript.count, transcript.head)
                if news:
                    transcript.apply(news)
            # What was read by the opening before has other levels now.
            if transcript.opening is not self._opened and transcript.opening != self._opened:
                raise InvalidArgument(
                    f"the ledger {str(self.store.home)!r} was planned anew since it was opened "
                    "here; open it again. Nothing was spent."
                )
            return transcript

    def budget(self) -> Budget:
        """What is left, as of the last reading."""
        with self.store.guard:  # between two entries, not in the middle of one
            return self._left.of(self.transcript)

    def half_width(self, tolerance: float | None, of: Statistic | None = None) -> float:
        """The half-width wanted, as a part of the range of a statistic."""
        return wanted_part(self.transcript.terms, tolerance, of)

    def guesses(self, statistic: Statistic) -> bool:
        """Whether asking for it would check a guess."""
        guessing = self.taught()
        return guessing is not None and guessing.covers(statistic)

    def taught(self) -> Guessing | None:
        """The guessers after every answer read so far; None where nothing is guessed."""
        if self._guessing is None or self.transcript.checker is None:
            return None
        with self.store.guard:
            for answer in self.transcript.answers[self._guessing.lessons :]:
                self._guessing.learn(lesson_of(answer))
        return self._guessing

    def offers(self, wishes: Sequence[Wish], account: Account) -> tuple[Mechanism, list[Offer]]:
        """The public terms of answering on an account; or a refusal."""
        return offered(self.transcript, wishes, account, self._require_written)

    def was_read(self, text: str) -> None:
        """A text whose words were asked, one by one, can be read again."""
        self._written.add(text)

    def _require_written(self, statistic: Statistic) -> None:
        if statistic.text not in self._written:
            require_written(statistic, self.table)
            self._written.add(statistic.text)

    def answer(
        self, wishes: Sequence[Wish], requests: Mapping[str, Request], conclude: Conclusion
    ) -> list[LookFound]:
        """The looks that fulfil the wishes; what stored ones fulfil is not asked again.

        `requests` tells, by its text, what each is asked for. If something is asked afresh,
        `conclude` says what is written in one commit with the last answers.
        """
        # Named twice in one batch, a question is asked once, by its description if it is described;
        # another claim is another question.
        keys = [(wish.question.text, wish.claim if wish.stated else None) for wish in wishes]
        pairs = zip(keys, wishes, strict=True)
        wanted = dict(sorted(pairs, key=lambda pair: is_described(pair[1].question)))
        unknown = partial(self._unknown, wanted)

        def fulfilled(fresh: Mapping[Key, Recorded]) -> list[LookFound]:
            return looks_found(keys, wishes, fresh, self.stored)

        if not unknown():
            self.refresh()
            return fulfilled({})

        def ask() -> list[LookFound]:
            self.refresh()
            new = unknown()
            if new and self.transcript.pending is not None:
                self._finish_pending({wish.question.text: wish for wish in wishes})
                new = unknown()
            self._require_widths(new, requests)
            return fulfilled(
                self._ask_afresh(new, requests, lambda fresh: conclude(fulfilled(fresh)))
            )

        return self.store.exclusively(self._timeout, ask)

    def tell(self, compose: Callable[[], Sequence[Body]]) -> None:
        """Write what follows from looks that were taken before."""

        def write() -> None:
            bodies = compose()
            if bodies:
                self._write(*bodies)

        self.alone(write)

    def alone(self, work: Callable[[], _T], wanted: Mapping[str, Wish] = {}) -> _T:
        """What some work returns during which nobody else writes.

        What others wrote is read before, and finished.
        """

        def finish_and_work() -> _T:
            self.refresh()
            self._finish_pending(wanted)
            return work()

        return self.retried(lambda: self.store.exclusively(self._timeout, finish_and_work))

    def retried(self, work: Callable[[], _T]) -> _T:
        """What some work returns, begun again whenever another machine wrote first."""
        try:
            return work()
        except LostRace:
            return retried(work, self._timeout)

    def stored(self, wish: Wish) -> Recorded | None:
        """The answer that fulfils a wish, as of the last reading; None if it is to be asked."""
        transcript, question = self.transcript, wish.question
        looks = transcript.looks_at(question.text)
        look = never_told(looks, wish, transcript.told_of) or fulfilling(looks, wish)
        if look is not None or not is_described(question) or question.event is None:
            return look
        return as_answered(transcript.looks_at_event(question.event), question)

    def is_reserved(self, wish: Wish) -> bool:
        """Whether its claim is paid for, and not answered yet, as of the last reading."""
        pending = self.transcript.pending
        return pending is not None and any(
            each.offer.question == wish.question.text and same_claim(each.offer.claim, wish)
            for each in pending.asked
        )

    def implied(self, question: Bound) -> Implied | None:
        """What earlier answers imply of a question, as of the last reading."""
        transcript, key = self.transcript, question.text
        # What is reserved says nothing of the rows before it is answered.
        entries = transcript.count - (transcript.pending is not None)
        if self._implied[0] != entries:
            self._implied = entries, {}
        cached = self._implied[1]
        if key not in cached:
            chained = transcript.account.shown > 0  # else no difference follows from others
            cached[key] = self._implications.of(question, transcript, chained=chained)
        return cached[key]

    def _unknown(self, wanted: Mapping[Key, Wish]) -> dict[Key, Wish]:
        """The wishes that no stored answer fulfils."""
        return {key: wish for key, wish in wanted.items() if self.stored(wish) is None}

    def _require_widths(self, wishes: Iterable[Key], requests: Mapping[str, Request]) -> None:
        """Begin again where the same check was made since its half-width was chosen: at another.

        It is one claim, whatever was spent since, and is paid for once.
        """
        for text, _ in wishes:
            request = requests[text]
            if request.likely is None:
                continue
            begun = width_begun(self.transcript.looks_at(text), request.guess)
            if begun not in (None, request.likely):
                raise LostRace(self.store.home)

    def _ask_afresh(
        self,
        wishes: Mapping[Key, Wish],
        requests: Mapping[str, Request],
        conclude: Callable[[Mapping[Key, Recorded]], Sequence[Body]],
    ) -> dict[Key, Recorded]:
        own = one_of_each_event(wishes)
        groups = by_mechanism(list(own.values()))
        if len(groups) > 1:
            self._require_all(groups)
        in_order = sorted(own, key=lambda key: order_of(own[key]))  # as the groups are
        looks: list[Recorded] = []

        def answered(lines: Sequence[Recorded]) -> dict[Key, Recorded]:
            return with_their_events(wishes, dict(zip(in_order, lines, strict=True)))

        def concluding(last: Sequence[Recorded]) -> Sequence[Body]:
            return conclude(answered((*looks, *last)))

        for place, group in enumerate(groups, start=1):
            looks += self._ask_group(group, requests, concluding if place == len(groups) else None)
        return answered(looks)

    def _require_all(self, groups: Iterable[Sequence[Wish]]) -> None:
        """Refuse everything unless the last group is covered whatever the first ones cost."""
        account = self.transcript.account
        for group in groups:
            _, offers = self.offers(group, account)
            account = charged(account, offers, [offer.worst_charge for offer in offers])

    def _ask_group(
        self,
        wishes: Sequence[Wish],
        requests: Mapping[str, Request],
        conclude: Concluding | None,
    ) -> Sequence[Recorded]:
        mechanism, offers = self.offers(wishes, self.transcript.account)
        self._require_answers(wishes, offers)
        own = [each.question for each in wishes if _is_own(each, requests[each.question.text])]
        intersected = {each.text for each in own if self.implied(each) is not None}
        sided = [each for each in own if requests[each.text].side is not None]
        folded = {each.text for each in sided if is_described(each)}
        return self.take(
            mechanism, offers, wishes, requests, conclude, intersected=intersected, folded=folded
        )

    def take(
        self,
        mechanism: Mechanism,
        offers: Sequence[Offer],
        wishes: Sequence[Wish],
        requests: Mapping[str, Request],
        conclude: Concluding | None = None,
        before: Sequence[Body] = (),
        intersected: Collection[str] = (),
        folded: Collection[str] = (),
    ) -> Sequence[Recorded]:
        """One batch of looks; `before` is written in one commit with what is reserved for it.

        Those that are `intersected` with earlier answers are no lines by themselves, nor those that
        are `folded` under the claim that they settle.
        """
        questions = [wish.question for wish in wishes]
        rows = [row for question in questions for row in rows_of(question)]
        # What the engine cannot take is not paid for.
        self.protected.needed(self.attached_of(questions)).prepare(rows)
        reserved = [
            Asked(
                offer,
                wish.question.low,
                wish.question.high,
                requests[offer.question],
                self._nonce(wish.question),
                wish.follows,
                wish.question.unbounded,
                offer.question in intersected,
                offer.question in folded,
                () if offer.bits is None else subjects_of(wish.question),
            )
            for offer, wish in zip(offers, wishes, strict=True)
        ]
        bodies = [*before, reservation(now(), mechanism.name, reserved)]
        pending = Pending(self.transcript.count + len(bodies), mechanism, tuple(reserved))
        self._write(*bodies, reserved=pending)
        if not self._settle(pending, lambda: questions, conclude):
            raise given_up(pending)
        return self.transcript.newest(len(questions))

    def _require_answers(self, wishes: Sequence[Wish], offers: Sequence[Offer]) -> None:
        """Refuse claims that must be answered if they are refuted, where that would be refused."""
        asks = [replace(wish, claim=None) for wish in wishes if wish.claim and not wish.stated]
        if asks:
            worst = [offer.worst_charge for offer in offers]
            self.offers(asks, charged(self.transcript.account, offers, worst))

    def _settle(
        self,
        pending: Pending,
        questions: Callable[[], Sequence[Statistic]],
        conclude: Concluding | None = None,
    ) -> bool:
        """Answer the reserved batch, from what its entry says, as whoever finishes it would.

        False if it can never be answered: then it is given up, and keeps its worst charge. Trouble
        that passes leaves it reserved.
        """
        for _ in range(_TRIES):
            try:
                answered = self._answered(pending, questions)
            except Exception as error:
                if passes(error) or not is_readable(self.protected.needed()):
                    raise
            else:
                self._write_settled(pending, answered, conclude)
                return True
        # The rows can be read, so it is the question. Expressions are total: that it cannot be
        # evaluated is a property of its text and the engine, and tells nothing of the rows.
        self._write(abandonment(now(), pending.seq, _GIVEN_UP))
        return False

    def _answered(self, pending: Pending, questions: Callable[[], Sequence[Statistic]]) -> Answered:
        """What comes through the door for a reserved batch."""
        mechanism, reserved = pending.mechanism, pending.asked
        offers = [each.offer for each in reserved]
        noise = noise_of_batch(
            self.store.secret, self.opening.fingerprint, mechanism.name, reserved
        )
        statistics = questions()
        sample = self.protected.needed(self.attached_of(statistics))
        return answer(mechanism, self.transcript.terms, offers, statistics, sample, noise)

    def attached_of(self, questions: Iterable[Statistic]) -> list[AttachedColumn]:
        """The attached columns that some questions are about."""
        return self.transcript.attached_among([name for each in questions for name in each.columns])

    def _nonce(self, question: Statistic) -> str | None:
        """What the text does not say of a question, and its noise must depend on."""
        if is_by_name(question):
            return secrets.token_hex(16)
        attached = self.attached_of([question])
        return nonce_of(attached) if attached else None

    def _write_settled(
        self, pending: Pending, answered: Answered, conclude: Concluding | None
    ) -> None:
        """The entry that answers a reserved batch, with those that follow from it."""
        transcript, at = self.transcript, now()
        entry = settlement(at, pending.seq, answered.symbols, answered.releases)
        if conclude is None:
            self._write(entry)
            return
        ((_, _, receipt),) = chained([entry], transcript.count, transcript.head)
        looks = transcript.answered(pending, answered, at, receipt)
        self._write(entry, *conclude(looks))

    def _finish_pending(self, wanted: Mapping[str, Wish]) -> None:
        """Complete what a crashed process reserved, with the same noise; or give it up for good."""
        pending = self.transcript.pending
        if pending is None:
            return
        offers = [reserved.offer for reserved in pending.asked]
        again = partial(self._again, pending.mechanism, wanted)
        settled = self._settle(pending, lambda: [again(offer) for offer in offers])
        if not settled and any(offer.question in wanted for offer in offers):
            raise given_up(pending)  # to try again is for the analyst to decide

    def _again(self, by: Mechanism, wanted: Mapping[str, Wish], offer: Offer) -> Statistic:
        """The question that the ledger knows by an offer."""
        if offer.bits is not None or self.transcript.dictionaries.of(by.name) is not None:
            return offered_again(self.transcript, self.ground, by, offer)
        by_rule = claimed_again(self.transcript, offer)
        if by_rule is not None:
            return by_rule
        # A function of Python is known to those who bring it; a text may be wanted in another form.
        wish = wanted.get(offer.question)
        if wish is not None and is_by_name(wish.question):
            return wish.question
        return read_again(offer.question, self.table)

    def _write(self, *bodies: Body, reserved: Pending | None = None) -> None:
        """Entries in one commit; one of them may reserve a batch."""
        transcript = self.transcript
        with self.store.guard:  # who reads finds them written and folded, or neither
            checkpoint = transcript.checkpoint()
            entries = [(body, transcript.filing(body)) for body in bodies]
            rows = self.store.append(entries, transcript.count, transcript.head, checkpoint)
            if checkpoint is not None:
                transcript.checkpointed()
            transcript.apply(rows, reserved)


def _is_own(wish: Wish, request: Request) -> bool:
    """Whether a wish is what was asked, and its answer may be narrower by earlier ones."""
    return request.question == wish.question.text and not wish.gated


# The end of asks and checks, after which the rows may be looked at in other ways; or of all.
#
# Answers on the ledger are true for questions that were chosen from answers. Where something else
# of the rows is shown, what is asked next is chosen from that, too. So the ledger says that it is
# closed before anything is read, durably, and stays closed; described questions do not depend on
# it.


def require_late(desk: Desk, what: str) -> None:
    """Refuse where the levels of the ledger's answers do not count what others leak."""
    kind = kind_of(desk.opening.mechanism["name"])
    if not kind.beside_described:
        raise InvalidArgument(
            f"this ledger answers by {kind.name}, which must know all that will leak beforehand, "
            f"and has no {what}; open one by bounded noise. Nothing was spent."
        )


def close(desk: Desk, why: str) -> Sample:
    """Refuse asks and checks from here on, for good; then the protected rows are given out."""
    rows = desk.protected.needed()  # refused before anything is closed

    def entry() -> list[dict[str, str]]:
        return [] if desk.transcript.account.closed else [closing(now(), why)]

    desk.tell(entry)
    return rows


def retire(desk: Desk, why: str, successor: str | None) -> None:
    """Answer nothing new any more; what was answered stays, and is told again for free."""
    require.text("why", why)
    if successor is not None:
        require.text("successor", successor)

    def entry() -> list[Body]:
        closed = desk.transcript.account.closed
        if closed is not None and closed.retired:
            raise InvalidArgument(
                f"the ledger was retired at {closed.at} already: {closed.why}. That is for good."
            )
        return [retirement(now(), why, successor)]

    desk.tell(entry)
