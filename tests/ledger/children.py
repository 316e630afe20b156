"""Processes that ask, to be killed or to race. Run as a program it forks them from one warm parent.

It uses no engine, so that no thread is running when it forks: the sample is a function of the
question's text. What is asked is a fixed script: batch j of every ledger is the same batch, so that
an uninterrupted run with the same secret says what must come out.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from holdfast.data.sample import Moments
from holdfast.data.sampling import Independent
from holdfast.errors import BudgetExhausted
from holdfast.holdout.answer import Answer
from holdfast.holdout.desk import Desk
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.backend import Addition, LedgerHome
from holdfast.ledger.chain import Row
from holdfast.ledger.checkpoint import Filed
from holdfast.ledger.opening import Opening
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.ledger.witness import Witness
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID, RowValue
from holdfast.statistics.statistic import averaged
from tests.holdout.tables import Crash, crash, watch
from tests.mechanisms.fake import SCHEMA, Sums
from tests.seam import CHECKPOINT_EVERY, WRITE_ENTRIES, put_sample, real, transcript_of
from tests.statistics.asked import asked

Entries = Sequence[tuple[dict[str, Any], Sequence[Filed]]]
ROWS = 1_000_000
POINTS = (
    "before reserve",
    "inside reserve",
    "inside checkpoint",
    "before witness of reserve",
    "after reserve",
    "before data",
    "after data",
    "before settle",
    "inside settle",
    "inside told",
    "before witness of settle",
    "after settle",
)
# A check, two asked together, a described question, and one that is told under a key.
BATCHES = (1, 2, 3, 4)
TOLERANCE = 0.3  # named for what is asked on the ledger: without one a text is described


def total(row: RowValue) -> Moments:
    """A count of true rows that is fixed by the question's text."""
    count = int.from_bytes(blake2b(row.text.encode(), digest_size=4).digest(), "big") % ROWS
    return count * GRID, count * GRID**2


def create(path: Path | LedgerHome, questions: int = 10_000, *, described: bool = False) -> None:
    """A new ledger for the table that is a function."""
    terms = Terms(ROWS, TOLERANCE, 0.95, questions, Independent())
    if described:
        terms = replace(terms, described="exact", described_share=0.4)
    opening = Opening(
        at="2026-01-01T00:00:00+00:00",
        name="killed",
        terms=terms,
        schema=SCHEMA,
        mechanism={"name": "bounded noise", "parameters": {}},
        fingerprint="0" * 64,
    )
    Store.create(path, lambda _: opening.body(), 60.0)


@contextmanager
def resumed(path: Path | LedgerHome, timeout: float = 60.0) -> Iterator[Holdout]:
    store = Store.open(path)
    desk = Desk(store, Transcript.resumed(store), Sums(ROWS, total), None, timeout)
    with Holdout(desk) as holdout:
        yield holdout


def ask_batch(holdout: Holdout, number: int) -> list[Answer]:
    """Batch `number` of the script; two kinds of five need a ledger that describes."""
    question = f"avg(abs(x - {number}) > 0.5)"  # about a value of its own: none follows from others
    match number % (5 if holdout.opening.terms.describes else 3):
        case 0:
            return [holdout.ask(question, tolerance=TOLERANCE)]
        case 1:
            count, _ = total(averaged(asked(question, SCHEMA)))
            return [holdout.check(question, guess=count / GRID / ROWS)]
        case 2:
            return holdout.ask_many([question, f"avg(x < {number})"], tolerance=TOLERANCE)
        case 3:
            return [holdout.ask(question)]
        case _:
            return [holdout.ask(question, request_key=f"call {number}")]


def next_batch(holdout: Holdout) -> int:
    """The first batch that is not in the ledger, counting one that is reserved."""
    kinds = 5 if holdout.opening.terms.describes else 3
    looks, number = transcript_of(holdout).committed.looks, 0
    while looks > 0:
        looks -= 2 if number % kinds == 2 else 1
        number += 1
    return number


def points_of(batch: int) -> tuple[str, ...]:
    """Where a batch can be killed: only a call with a key is told in an entry of its own."""
    return POINTS if batch == 4 else tuple(point for point in POINTS if point != "inside told")


def play(holdout: Holdout, batches: int) -> None:
    """Ask on, from where the ledger is, until so many batches are in it."""
    while next_batch(holdout) < batches:
        ask_batch(holdout, next_batch(holdout))


# Being killed ---------------------------------------------------------------------------------


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kind_of(body: dict[str, Any]) -> str:
    """What an entry does, whichever version of it."""
    kind: str = body["kind"]
    return kind.partition("/")[0]


def arm(holdout: Holdout, point: str) -> None:
    """Die at this point of the next batch."""
    when, _, what = point.partition(" ")
    entry = what.rpartition(" ")[2]
    append, write = Store.append, real(WRITE_ENTRIES)
    current = {"kind": ""}

    def dying_append(self: Store, entries: Entries, *said: Any) -> list[Row]:
        current["kind"] = kind_of(entries[0][0])
        if point == f"before {entry}" and current["kind"] == entry:
            die()
        rows = append(self, entries, *said)
        if when == "after" and current["kind"] == entry:
            die()
        return rows

    def dying_write(connection: Any, addition: Addition) -> None:
        write(connection, addition)
        checkpoint = point == "inside checkpoint" and addition.checkpoint is not None
        kinds = {kind_of(json.loads(text)) for _, text, _ in addition.rows}
        if checkpoint or (when == "inside" and entry in kinds):
            die()

    def dying_note(self: Witness, seq: int, hashed: str) -> None:
        if what.startswith("witness") and current["kind"] == entry:
            die()

    def dying_total(row: RowValue) -> Moments:
        if point == "before data":
            die()
        found = total(row)
        if point == "after data":
            die()
        return found

    patch = pytest.MonkeyPatch()  # never undone: this process ends here
    patch.setattr(Store, "append", dying_append)
    patch.setattr(WRITE_ENTRIES, dying_write)
    patch.setattr(Witness, "note", dying_note)
    put_sample(holdout, Sums(ROWS, dying_total))


def dying(point: str, holdout: Holdout, patch: pytest.MonkeyPatch) -> None:
    """Die at this point of the next answer."""
    when, _, entry = point.partition(" ")
    append, write = Store.append, real(WRITE_ENTRIES)

    def dying_append(self: Store, entries: Entries, *said: Any) -> Sequence[Any]:
        own = kind_of(entries[0][0]) == entry
        if own and when == "before":
            raise Crash
        rows = append(self, entries, *said)
        if own and when == "after":
            raise Crash
        return rows

    def dying_write(connection: Any, addition: Addition) -> None:
        write(connection, addition)
        if when == "inside" and any(f'"{entry}/' in text for _, text, _ in addition.rows):
            raise Crash

    patch.setattr(Store, "append", dying_append)
    patch.setattr(WRITE_ENTRIES, dying_write)
    if point == "in the scan":
        watch(holdout, crash)


def killed_at(path: Path, point: str, batch: int) -> None:
    with resumed(path) as holdout:
        play(holdout, batch)
        arm(holdout, point)
        ask_batch(holdout, batch)


def killed_any_time(path: Path, log: Path, ready: int) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with resumed(path) as holdout:
        os.write(ready, b"!")
        while True:
            for answer in ask_batch(holdout, next_batch(holdout)):
                os.write(handle, f"{answer.number} {answer.receipt}\n".encode())
                os.write(ready, b"!")


def forked(work: Callable[[], None]) -> int:
    """A child that does this and nothing else."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
    return pid


def end_of(pid: int) -> str:
    _, status = os.waitpid(pid, 0)
    return "killed" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def kill_at_every_point(folder: Path) -> dict[str, str]:
    """One ledger for each point and batch, `folder/point/batch/t.ledger`, already there."""
    with resumed(folder / "warm" / "t.ledger") as holdout:
        play(holdout, 6)  # everything that children need is loaded, once for all of them
    ends = {}
    for batch in BATCHES:
        for point in points_of(batch):
            path = folder / point / str(batch) / "t.ledger"
            ends[f"{point}/{batch}"] = end_of(forked(partial(killed_at, path, point, batch)))
    return ends


def seconds_for_a_batch(path: Path) -> float:
    """How fast this machine is; and everything that children need is loaded."""
    with resumed(path) as holdout:
        play(holdout, 3)
        started = time.perf_counter()
        play(holdout, 9)
        return (time.perf_counter() - started) / 6


def delivered_before(kill: int) -> int:
    """How many answers a process has surely delivered when it is killed, however slow it is."""
    return kill % 3


def kill_at_random(folder: Path, ledgers: int, kills: int, seed: int) -> dict[str, str]:
    """Each ledger `folder/number/t.ledger` loses `kills` processes, each at any time after it has
    delivered so many answers that `delivered_before` says."""
    rng, longest = random.Random(seed), 3 * seconds_for_a_batch(folder / "warm" / "t.ledger")
    ends = {}
    for number in range(ledgers):
        path = folder / str(number) / "t.ledger"
        for kill in range(kills):
            reading, writing = os.pipe()
            pid = forked(partial(killed_any_time, path, path.with_name("log"), writing))
            os.close(writing)
            for _ in range(1 + delivered_before(kill)):
                os.read(reading, 1)
            os.close(reading)
            time.sleep(rng.uniform(0.0, longest))
            os.kill(pid, signal.SIGKILL)
            ends[f"{number}/{kill}"] = end_of(pid)
    return ends


# Racing ---------------------------------------------------------------------------------------


def racer(path: Path, who: int, start: int, same: bool) -> None:
    """Ask until there is nothing left; what was granted goes to a file."""
    os.read(start, 1)
    create(path, 40)  # all want to make it, one does
    granted: list[dict[str, Any]] = []
    with resumed(path) as holdout:
        try:
            for place in range(1_000):
                number = place if same else 1_000 * who + place
                granted.append(holdout.ask(f"avg(x > {number})").to_dict())
        except BudgetExhausted:
            path.with_name(f"granted{who}.json").write_text(json.dumps(granted))


def race(path: Path, racers: int, same: bool) -> dict[str, str]:
    warm = path.with_name("warm.ledger")
    create(warm, 40)
    with resumed(warm) as holdout:
        holdout.ask("avg(x > 0)")  # what racers need is loaded: they start at once, and meet
    reading, writing = os.pipe()
    pids = [forked(partial(racer, path, who, reading, same)) for who in range(racers)]
    os.write(writing, b"!" * racers)
    return {str(who): end_of(pid) for who, pid in enumerate(pids)}


def main(what: str, folder: str, *numbers: str) -> None:
    # With every reservation but the first.
    pytest.MonkeyPatch().setattr(CHECKPOINT_EVERY, 2)
    match what:
        case "points":
            ends = kill_at_every_point(Path(folder))
        case "random":
            ledgers, kills, seed = map(int, numbers)
            ends = kill_at_random(Path(folder), ledgers, kills, seed)
        case "race":
            racers, same = map(int, numbers)
            ends = race(Path(folder) / "t.ledger", racers, bool(same))
        case _:
            raise ValueError(what)
    sys.stdout.write(json.dumps(ends))


def run(what: str, folder: Path, *numbers: int) -> dict[str, str]:
    """Run this file as a program, and say how each of the children ended."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ledger.children", what, str(folder), *map(str, numbers)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[2],
    )
    ends: dict[str, str] = json.loads(done.stdout)
    return ends


if __name__ == "__main__":
    main(*sys.argv[1:])
