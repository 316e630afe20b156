"""Calls that something strikes in their midst: Ctrl-C, no memory, a server that is lost.

A call is watched, and at one of its moments the trouble is raised, or done. What it left behind is
then tried: by the same handle, by another one that has the ledger open, too, and by an audit. The
error stays alive meanwhile, as it does in a notebook: nothing may hang on its traceback.
"""

from __future__ import annotations

import contextlib
import gc
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl
import psycopg

import holdfast
from holdfast.errors import LedgerUnavailable
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.backend import LedgerHome
from tests.ledger.homes import HOMES
from tests.postgres import server
from tests.seam import backend_of

ROWS = 3_000
PATIENCE = (
    3.0  # seconds that a handle waits for the lock: who meets one that was left waits so long
)
_PACKAGE = str(Path(holdfast.__file__).resolve().parent)
_HELD = (  # files where something is held, begun or folded
    f"{_PACKAGE}/ledger/",
    f"{_PACKAGE}/holdout/desk.py",
    str(Path(psycopg.__file__).parent),
    contextlib.__file__,
)


def _value(answer: Any) -> Any:
    return [each.value for each in answer] if isinstance(answer, list) else answer.value


def _attached(holdout: Holdout, number: int) -> Any:
    values = np.random.default_rng(number).random(ROWS) < 0.5
    holdout.attach(f"c{number}", values)
    return _value(holdout.check(f"avg(c{number} = y)", guess=0.5))


def _searched(holdout: Holdout, number: int) -> Any:
    name, values = f"s{number}", np.random.default_rng(number).random(ROWS) < 0.5
    return _value(holdout.search(name, size=3, question=f"avg({name} = y)").score(0, values))


# What is asked, by its number: the same number is the same question.
VERBS: Mapping[str, Callable[[Holdout, int], Any]] = {
    "ask": lambda holdout, number: _value(holdout.ask(f"avg(x > {number / 1e5})", tolerance=0.45)),
    "text": lambda holdout, number: _value(holdout.ask(f"avg(x > {number / 1e5})")),
    "check": lambda holdout, number: _value(holdout.check(f"avg(x > {number / 1e5})", guess=0.5)),
    "many": lambda holdout, number: _value(
        holdout.ask_many([f"avg(x > {number / 1e5})", f"avg(x < {number / 1e5})"], tolerance=0.45)
    ),
    "gate": lambda holdout, number: str(
        holdout.gate(f"avg(x > {number / 1e5})", at_least=0.5).interval
    ),
    "key": lambda holdout, number: _value(
        holdout.ask(f"difference(x > {number / 1e5}, y)", request_key=f"call {number}")
    ),
    "attach": _attached,
    "budget": lambda holdout, _: str(holdout.budget.account.looks),
}
# What ends a ledger, or most of it: each is tried on a ledger of its own.
ENDS: Mapping[str, Callable[[Holdout, int], Any]] = {
    "final": lambda holdout, _: _value(holdout.final(["avg(x > 0.5)", "avg(y)"])),
    "reveal": lambda holdout, _: _value(holdout.end.reveal("avg(x > 0.5)")),
    "search": _searched,
}


@dataclass
class Strike:
    """Something that happens at the `at`-th moment of a call (0: never).

    Moments are those at which the interpreter itself would raise an interrupt or lack memory: where
    a function is entered, and before and after a call of one that is not written in Python, in the
    files where something is held. By `lines`, they are the lines of the package. Neither are those
    at which a `with` is left, where nothing can happen but by a trace or a profile.
    """

    at: int
    strike: Callable[[], None]
    lines: bool = False
    moments: int = 0
    where: str = "nowhere"

    def during(self, work: Callable[[], Any]) -> Any:
        put: Callable[[Any], None] = sys.settrace if self.lines else sys.setprofile
        before: Any = sys.gettrace() if self.lines else sys.getprofile()
        gc.disable()  # what others left is not what is struck
        put(self._entered if self.lines else self._moment)
        try:
            return work()
        finally:
            put(before)
            gc.enable()

    def _moment(self, frame: FrameType, event: str, called: Any) -> None:
        leaves = event == "c_call" and called.__name__ == "__exit__"
        del called  # no traceback may keep a cursor alive that nobody else does
        if event != "return" and not leaves and frame.f_code.co_filename.startswith(_HELD):
            self._count(frame)

    def _entered(self, frame: FrameType, _: str, __: Any) -> Callable[..., Any] | None:
        file, passed = frame.f_code.co_filename, set[int]()
        if not file.startswith(_PACKAGE):
            return None

        def line(frame: FrameType, event: str, _: Any) -> Any:
            number = frame.f_lineno
            leaves = number in passed and getline(file, number).lstrip().startswith("with ")
            if event == "line" and not leaves:
                passed.add(number)
                self._count(frame)
            return line

        return line

    def _count(self, frame: FrameType) -> None:
        self.moments += 1
        if self.moments == self.at:
            code = frame.f_code
            self.where = f"{Path(code.co_filename).name}:{frame.f_lineno} {code.co_name}"
            self.strike()


@dataclass
class Tally:
    """How many trials were made, and what broke in which of them."""

    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = ", ".join(f"{many} {what}" for what, many in sorted(self.outcomes.items()))
        return (
            f"{self.tried} tried, {self.tried - len(self.broken)} held, "
            f"{len(self.broken)} broken ({told})"
        )


@dataclass(frozen=True)
class Trouble:
    """What strikes, and as which error the call may end by it."""

    strike: Callable[[Holdout], None]
    ends: type[BaseException]


def _raising(error: type[BaseException]) -> Trouble:
    def strike(_: Holdout) -> None:
        raise error("struck")

    return Trouble(strike, error)


def _lose_server(holdout: Holdout) -> None:
    """The connection that the holdout writes by is ended by the server."""
    backend = backend_of(holdout)
    with contextlib.closing(server().connected()) as other:
        other.execute("SELECT pg_terminate_backend(%s, 1000)", [backend])


TROUBLES: Mapping[str, Trouble] = {
    "interrupt": _raising(KeyboardInterrupt),
    "memory": _raising(MemoryError),
    "lost server": Trouble(_lose_server, LedgerUnavailable),
}


def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"id": range(ROWS), "x": rng.random(ROWS), "y": rng.random(ROWS) < 0.5})


def opened(home: Any, timeout: float = PATIENCE) -> Holdout:
    """The ledger, made or resumed."""
    declared: dict[str, Any] = {}
    if not home.is_there():
        declared = {"key": "id", "questions": 10_000, "tolerance": 0.45, "schema": {"x": (0, 1)}}
    return holdfast.open(
        table(), ledger=home.address, secret=home.secret, timeout=timeout, **declared
    )


@contextmanager
def _handles(home: LedgerHome) -> Iterator[tuple[Holdout, Holdout]]:
    with ExitStack() as stack:
        yield stack.enter_context(opened(home)), stack.enter_context(opened(home))


def _struck(
    pair: tuple[Holdout, Holdout],
    act: Callable[[Holdout, int], Any],
    number: int,
    strike: Strike,
    ends: type[BaseException],
    tally: Tally,
) -> None:
    """One call that is struck, and what can be done afterwards, by either handle first."""
    tally.tried += 1
    error: BaseException | None = None
    done = None
    try:
        done = strike.during(lambda: act(pair[0], number))
    except BaseException as raised:  # alive until all was tried
        error = raised
    tally.outcomes["done" if error is None else type(error).__name__] += 1
    broken = [] if error is None or isinstance(error, ends) else [f"{error!r}"]
    found = []
    for name, handle in list(zip(("same", "other"), pair, strict=True))[:: 1 - 2 * (number % 2)]:
        try:
            found.append(act(handle, number))
        except BaseException as refused:
            broken.append(f"{name} handle: {refused!r}")
    if any(each != found[0] for each in found[1:]) or (done is not None and [done] != found[:1]):
        broken.append(f"told {done}, and then {found}")
    if broken:
        tally.broken.append(f"{strike.where}: {'; '.join(broken)}"[:500])


def campaign(kind: str, verb: str, trouble: str, trials: int, folder: Path, seed: int) -> Tally:
    """So many calls of a verb on a ledger of this kind, each struck at some line."""
    rng, tally = random.Random(f"{kind} {verb} {trouble} {seed}"), Tally()
    struck, act = TROUBLES[trouble], {**VERBS, **ENDS}[verb]
    homes = (_new_home(kind, folder / str(place)) for place in range(trials + 3))
    home = next(homes)
    with _handles(home) as pair:
        act(pair[0], 1)  # what is loaded and kept once is there
    moments: list[int] = []
    for lines in (False, True):
        with _handles(next(homes) if verb in ENDS else home) as pair:
            counting = Strike(0, lambda: None, lines)
            counting.during(lambda: act(pair[0], 2 + len(moments)))
            moments.append(counting.moments)
    stack = ExitStack()
    with stack:
        for number in range(10, 10 + trials):
            if verb in ENDS or number == 10:
                stack.close()
                home = next(homes) if verb in ENDS else home
                pair = stack.enter_context(_handles(home))
            lines = number % 4 == 3
            at = rng.randint(1, moments[lines])
            strike = Strike(at, partial(struck.strike, pair[0]), lines)
            _struck(pair, act, number, strike, struck.ends, tally)
            if verb in ENDS or number == 9 + trials:
                tally.broken += [str(each) for each in audit(home) if not each.fine]
    return tally


def _new_home(kind: str, folder: Path) -> LedgerHome:
    folder.mkdir(parents=True)
    return HOMES[kind](folder)
