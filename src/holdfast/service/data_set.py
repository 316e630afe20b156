"""A data set that is served: its threads, its ledger, and all that a worker holds.

The asker holds the ledger while it looks at the rows, which may take long; what is free to know is
read from the ledger by a holdout without rows, which waits for nobody. Calls that arrive while the
asker is busy wait together, and are put together (`holdfast.holdout.ask`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from holdfast.certificate.signing import SigningKey
from holdfast.data.sample import Sample
from holdfast.errors import (
    DataChanged,
    HoldfastError,
    InvalidArgument,
    InvalidQuestion,
    LedgerBusy,
    Refused,
)
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import CallTerms, Waiting
from holdfast.holdout.forecast import forecast_grounds
from holdfast.holdout.groups import Distribution, Groups
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.open import open as open_holdout
from holdfast.holdout.price import Cost
from holdfast.holdout.request import NamedWidth, guess_of
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.sqlite import FileVersion
from holdfast.service.folder import Folder, Settings
from holdfast.service.logs import log_failure
from holdfast.service.metrics import Metrics
from holdfast.service.pacing import Attempts
from holdfast.service.problems import JsonReply, rejection
from holdfast.service.tokens import Token, TokenStore
from holdfast.statistics.bind import Question, question_of
from holdfast.statistics.entry import Better, TableCall

_T = TypeVar("_T")

# Pools of threads, one for each purpose. Who holds a thread of one purpose never waits for a thread
# of the same: so that however many call, somebody always gets on.
TOKENS = ThreadPoolExecutor(1, "tokens")  # who may ask how much: one file, one writer
REPORTS = ThreadPoolExecutor(2, "reports")  # audits, plans and certificates, which take long
PICTURES = ThreadPoolExecutor(1, "pictures")  # alone, since what draws is loaded when it is needed
BODIES = ThreadPoolExecutor(2, "bodies")  # what is long to read: columns, submissions


class Withdrawn(asyncio.CancelledError):
    """Nobody waits for a call any more, and it was not begun: nothing was asked or spent."""


def run_in(pool: Executor, do: Callable[[], _T]) -> Awaitable[_T]:
    """What is done by a thread of a pool, while the event loop goes on."""
    return asyncio.get_running_loop().run_in_executor(pool, do)


async def _awaited(future: Future[_T]) -> _T:
    """What a thread comes to; withdrawn by who is cancelled before the thread has begun."""
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if future.cancel():
            raise Withdrawn from None
        raise


AskingVerb: TypeAlias = Literal["ask", "check", "gate"]
DatasetKind: TypeAlias = Literal["table", "board", "gate"]
Reply: TypeAlias = Answer | Groups | Distribution
_MOST_TOGETHER = 256
_MOST_WRITTEN = 64  # replies that are kept as they were written
_MOMENT = 0.002  # seconds that a batch waits for others
# What is wrong with a call, and not with the files: the holdout is as good as before.
FAULTS_OF_CALLS = (InvalidArgument, InvalidQuestion, LedgerBusy, Refused)

_log = logging.getLogger("holdfast.service")


@dataclass(frozen=True, slots=True)
class Asking:
    """What somebody asks over the wire: a text with its options, and what is claimed of it.

    With the verb `gate`, what is claimed is to be shown: a "no" says nothing, and is nearly free.
    """

    question: str
    where: str | None = None
    by: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    better: Better | None = None
    guess: float | None = None
    at_most: float | None = None
    at_least: float | None = None
    expect: float | None = None
    dev: tuple[int, ...] | None = None
    grades: bool = False
    tolerance: float | None = None
    half_width: float | None = None
    why: str | None = None
    asked_by: str | None = None
    request_key: str | None = None
    verb: AskingVerb = "ask"

    @classmethod
    def of(cls, verb: AskingVerb, options: Mapping[str, Any]) -> Asking:
        """A verb with its options, as they came over the wire; None says nothing."""
        stated = {name: value for name, value in options.items() if value is not None}
        stated |= {name: tuple(stated[name]) for name in ("by", "bounds", "dev") if name in stated}
        asking = cls(verb=verb, **stated)
        if verb == "check" and len(asking.claim) != 1:
            raise InvalidArgument("a check takes one of guess, at_most and at_least.")
        return asking

    def under(self, request_key: str | None) -> Asking:
        """The same, under the key that its owner's calls have."""
        return replace(self, request_key=request_key)

    @property
    def read(self) -> Question | TableCall:
        """The statistic that is asked for."""
        return question_of(
            self.question,
            where=self.where,
            by=self.by or None,
            bounds=self.bounds,
            better=self.better,
            trusted=False,
        )

    @property
    def is_table(self) -> bool:
        """Whether it has an answer for each of several groups or thresholds."""
        return isinstance(self.read, TableCall)

    @property
    def claim(self) -> dict[str, float]:
        """What is claimed, as the verbs take it."""
        claim = {"guess": self.guess, "at_most": self.at_most, "at_least": self.at_least}
        return {name: value for name, value in claim.items() if value is not None}

    def _options(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names} | self.claim

    def put_to(self, holdout: Holdout) -> Reply:
        """Ask it alone."""
        terms, question = ("why", "asked_by", "request_key"), self.read
        if self.verb == "gate":
            options = self._options(*terms, "expect", "dev", "grades")
            return holdout.gate(question, **options)  # type: ignore[arg-type]
        put: Callable[..., Reply] = holdout.ask if self.verb == "ask" else holdout.check
        expected = () if self.verb == "ask" else ("expect",)
        return put(question, **self._options(*terms, "tolerance", "half_width", *expected))

    def cost_of(self, holdout: Holdout) -> Cost:
        """What it would cost; nothing is asked."""
        options = self._options("tolerance", "half_width", "expect", "dev", "grades")
        return holdout.cost(self.read, gate=self.verb == "gate", **options)

    def waiting(self, question: Question) -> Waiting:
        """The same, to be put with what others ask."""
        guess = guess_of(_no_rows, self.guess, self.at_most, self.at_least)
        if self.expect is not None:
            forecast = forecast_grounds({"expect": self.expect}, guess.verb)
            guess = replace(guess, forecast=forecast)
        width = NamedWidth(self.tolerance, self.half_width)
        terms = CallTerms(self.why, self.asked_by, self.request_key, width)
        return Waiting(question, guess, terms, self._whole)

    @property
    def _whole(self) -> str | None:
        """The text, where it says all that is asked for."""
        options = (self.where, self.bounds, self.better)
        return self.question if not self.by and options == (None, None, None) else None


def _no_rows(_: Any) -> Sample:
    raise InvalidArgument("a guess that is sent is a number.")


@dataclass(slots=True, eq=False)
class _Call:
    """A call on its way, and whoever waits for it."""

    asking: Asking
    told: asyncio.Future[Reply]


class Served:
    """The data set of a name. All its methods but `close` are for the event loop."""

    def __init__(self, name: str, home: LedgerHome, settings: Settings, metrics: Metrics) -> None:
        self.name = name
        self._home, self._metrics = home, metrics
        self._patience, self._most_waiting = settings.patience, settings.most_waiting
        self._asker = ThreadPoolExecutor(1, f"{home.stem} asks")
        self._reader = ThreadPoolExecutor(1, f"{home.stem} reads")
        self._guard = threading.Lock()
        self._arrived = threading.Condition(self._guard)
        self._waiting: list[_Call] = []
        self._has_turn = False  # whether the asker is to answer those who wait
        self._last, self._together = 0, 1  # calls of the last batch, and those to wait for
        self._with_rows: Holdout | None = None  # of the asker alone
        self._rowless: Holdout | None = None  # of the reader alone
        self._kind: DatasetKind | None = None  # once it is known
        self._written: dict[Hashable, tuple[object, object, bytes]] = {}  # by the reader alone
        self._version = FileVersion(home)

    async def answer(self, asking: Asking) -> Reply:
        """Ask a question, with whatever else waits."""
        call = _Call(asking, asyncio.get_running_loop().create_future())
        with self._guard:
            if len(self._waiting) >= self._most_waiting:
                raise LedgerBusy("too many wait for this data set.")
            self._waiting.append(call)
            self._metrics.waiting(self.name, len(self._waiting))
            idle, self._has_turn = not self._has_turn, True
            if len(self._waiting) >= self._together:
                self._arrived.notify()
        if idle:
            self._asker.submit(self._answer_waiting)
        try:
            return await call.told
        except asyncio.CancelledError:
            with self._guard:
                if call not in self._waiting:
                    raise  # it was begun, and is finished
                self._waiting.remove(call)
            raise Withdrawn from None

    async def free_reply(self, use: Callable[[Holdout], _T]) -> _T | None:
        """What takes no look at the rows; None if it takes one."""

        def told(holdout: Holdout) -> _T | None:
            holdout.budget  # noqa: B018  # which reads what others have been told since
            try:
                return use(holdout)
            except (InvalidArgument, LedgerBusy, Refused):  # there are no rows to ask
                return None

        return await self.read(told)

    async def ask(self, use: Callable[[Holdout], _T]) -> _T:
        """Do something with the holdout and its rows, when it is its turn."""
        return await _awaited(self._asker.submit(lambda: self._used(use)))

    async def read(self, use: Callable[[Holdout], _T]) -> _T:
        """Do something with the ledger alone: what is free to know.

        It never waits for its turn to write, which would be as long as the scan of the asker.
        """

        def used() -> _T:
            if self._rowless is None:
                self._rowless = open_holdout(ledger=self._home.address, timeout=0.0)
            try:
                return use(self._rowless)
            except HoldfastError as error:
                if not isinstance(error, FAULTS_OF_CALLS):
                    self._rowless.close()
                    self._rowless = None
                raise

        return await run_in(self._reader, used)

    async def written(
        self,
        key: Hashable,
        view: Callable[[Holdout], _T],
        tell: Callable[[Holdout, _T], dict[str, Any]],
    ) -> bytes:
        """JSON of what is told of a view of the ledger: its budget, or its lines.

        It is written once for each view, which is another object after every new entry. While the
        file is as it was, no thread is asked.
        """
        version = self._version.read()  # before the ledger is
        cached_version, _, text = self._written.get(key, (None, None, b""))
        if version is not None and cached_version == version:
            return text

        def told(holdout: Holdout) -> bytes:
            source = view(holdout)
            _, known, text = self._written.get(key, (None, None, b""))
            if known is not source:
                if known is not None or len(self._written) >= _MOST_WRITTEN:
                    self._written.clear()  # which holds what is out of date
                text = bytes(JsonReply(tell(holdout, source)).body)
            self._written[key] = version, source, text
            return text

        return await self.read(told)

    async def kind(self) -> DatasetKind:
        """What it is for, which it was from the beginning."""
        if self._kind is not None:
            return self._kind
        self._kind = kind = await self.read(dataset_kind)
        return kind

    async def is_board(self) -> bool:
        """Whether it is a leaderboard."""
        return await self.kind() == "board"

    def close(self) -> None:
        """Finish what is being asked, and let go of the files."""
        for thread in (self._asker, self._reader):
            thread.shutdown(wait=True)
        self._version.close()
        for holdout in (self._with_rows, self._rowless):
            if holdout is not None:
                holdout.close()

    # In the asker's thread ------------------------------------------------------------------------

    def _answer_waiting(self) -> None:
        """Answer those who wait, in one batch; who comes meanwhile has the next turn."""
        calls = self._next_calls()
        if calls:  # who waited may have cancelled
            self._answer(calls)
        with self._guard:
            self._has_turn = more = bool(self._waiting)
        if not more:
            return
        try:
            self._asker.submit(self._answer_waiting)  # after whatever else waits for this thread
        except RuntimeError:  # which takes nothing more, at the end
            self._answer_waiting()

    def _answer(self, calls: Sequence[_Call]) -> None:
        try:
            replies = self._used(lambda holdout: _put_together(holdout, calls))
        except Exception as error:
            replies = [error] * len(calls)
        for reply in replies:
            self._let_go_after(reply)
        pairs = list(zip(calls, replies, strict=True))
        for loop in {call.told.get_loop() for call in calls}:  # there is one; woken once
            with suppress(RuntimeError):  # it is closed: nobody waits
                loop.call_soon_threadsafe(_tell, loop, pairs)

    def _next_calls(self) -> list[_Call]:
        """Those that wait, but only the first of each key: the others are told what it is told.

        To answer several costs little more than one, and who was answered lately may come again at
        nearly one time: a batch waits for those of the last two, for a moment.
        """
        with self._guard:
            everybody = self._arrived.wait_for(
                lambda: len(self._waiting) >= self._together, _MOMENT
            )
            batch: list[_Call] = []
            waiting: list[_Call] = []
            keys: set[str] = set()
            for call in self._waiting:
                key = call.asking.request_key
                late = len(batch) >= _MOST_TOGETHER or key in keys
                (waiting if late else batch).append(call)
                keys |= set() if key is None else {key}
            grown = self._last if everybody and len(batch) > 1 else 0
            self._waiting, self._last, self._together = waiting, len(batch), len(batch) + grown
            self._metrics.waiting(self.name, len(waiting))
        return batch

    def _used(self, use: Callable[[Holdout], _T]) -> _T:
        if self._with_rows is None:
            self._with_rows = self._opened()
        try:
            return use(self._with_rows)
        except Exception as error:
            self._let_go_after(error)
            raise

    def _opened(self) -> Holdout:
        """The holdout with its rows, from where they were when it was published."""
        with open_holdout(ledger=self._home.address, timeout=self._patience) as reader:
            source = reader.source
        if source is None:
            raise DataChanged("nobody wrote down where the data is.")
        try:
            return open_holdout(source, ledger=self._home.address, timeout=self._patience)
        except InvalidArgument as error:  # the files are gone, or something else is in their place
            raise DataChanged(str(error)) from None

    def _let_go_after(self, reply: object) -> None:
        """After trouble with files the next one opens them again, and compares the rows."""
        if not isinstance(reply, Exception) or isinstance(reply, FAULTS_OF_CALLS):
            return
        log_failure(_log, self._home.stem, reply)
        if self._with_rows is not None:
            self._with_rows.close()
            self._with_rows = None


def _tell(
    loop: asyncio.AbstractEventLoop, pairs: Sequence[tuple[_Call, Reply | Exception]]
) -> None:
    """Tell each who waits in this event loop what their call came to."""
    for call, reply in pairs:
        if call.told.get_loop() is not loop or call.told.done():
            continue
        if isinstance(reply, Exception):
            call.told.set_exception(reply)
        else:
            call.told.set_result(reply)


def dataset_kind(holdout: Holdout) -> DatasetKind:
    """What a data set is for: submissions, candidates of a declared number, or questions."""
    if holdout.boarding.record.terms is not None:
        return "board"
    return "table" if holdout.opening.terms.candidates is None else "gate"


def _put_together(holdout: Holdout, calls: Sequence[_Call]) -> list[Reply | Exception]:
    """What each call is told; gates and tables are asked by themselves, after the others."""
    replies: dict[int, Reply | Exception] = {}
    waiting: dict[int, Waiting] = {}
    alone: list[int] = []
    for place, call in enumerate(calls):
        try:
            question = call.asking.read
            if isinstance(question, TableCall) or call.asking.verb == "gate":
                alone.append(place)
            else:
                waiting[place] = call.asking.waiting(question)
        except HoldfastError as error:
            replies[place] = error
    replies |= zip(waiting, holdout.answer_together(list(waiting.values())), strict=True)
    for place in alone:
        try:
            replies[place] = calls[place].asking.put_to(holdout)
        except HoldfastError as error:
            replies[place] = error
    return [replies[place] for place in range(len(calls))]


# What a worker of the service holds: the folder, who may ask, and the data sets.


_MOST_FAILURES, _MOST_FROM_ONE_PLACE = 10, 100
_WINDOW = 60.0  # seconds


@dataclass(slots=True)
class Service:
    """One worker. Data sets are found in the folder when they are asked for."""

    folder: Folder
    settings: Settings
    tokens: TokenStore
    key: SigningKey
    metrics: Metrics
    failures: Attempts = field(
        default_factory=lambda: Attempts(_MOST_FAILURES, _WINDOW, time.monotonic)
    )
    strangers: Attempts = field(
        default_factory=lambda: Attempts(_MOST_FROM_ONE_PLACE, _WINDOW, time.monotonic)
    )
    _served: dict[str, Served] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(
        cls, path: Path, settings: Settings | None = None, counts: Path | None = None
    ) -> Service:
        """The service of a folder; its workers count in the folder `counts`."""
        folder = Folder.create(path)
        used = settings or folder.settings()
        store = TokenStore(folder.tokens, folder.secret)
        return cls(folder, used, store, folder.signing_key(used), Metrics(counts))

    def names_for(self, token: Token) -> list[str]:
        """The data sets that a token is for."""
        return [name for name in self.folder.names if token.allows(name)]

    def served(self, name: str, token: Token) -> Served:
        """A data set, for whoever may know of it."""
        if not token.allows(name):
            raise rejection(403, f"the token is for the data set {token.dataset!r} alone.")
        if not self.folder.serves(name):
            raise rejection(404, "there is no data set of this name.")
        with self._guard:  # requests that find nobody serving it yet come in several threads
            if name not in self._served:
                home = self.folder.home(name)
                self._served[name] = Served(name, home, self.settings, self.metrics)
            return self._served[name]

    def require_scope(self, token: Token, dataset: str | None) -> None:
        """Refuse tokens for more data sets than one's own, or for none that there is."""
        if token.dataset not in (None, dataset):
            raise rejection(403, f"the token is for the data set {token.dataset!r} alone.")
        if dataset is not None and not self.folder.serves(dataset):
            raise rejection(404, "there is no data set of this name.")

    def verified(self, text: str, client: str) -> Token:
        """Who shows a token. Failures slow down failures alone, by place and by what is guessed."""
        token = self.tokens.verify(text)
        if token is not None:  # whoever else fails from the same place, or with the same ID
            return token
        guessed = f"{client} {text[:19]}"  # hf_ and the ID
        waits = [self.failures.wait(guessed), self.strangers.wait(client)]
        self.failures.fail(guessed)
        self.strangers.fail(client)
        wait = max((each for each in waits if each is not None), default=None)
        if wait is not None:
            raise rejection(429, "too many tokens were wrong.", int(wait) + 1)
        raise rejection(401, "the token is unknown, expired or revoked.")

    def close(self) -> None:
        """Finish what is being asked, and let go of all files."""
        for served in self._served.values():
            served.close()
        self.tokens.close()
