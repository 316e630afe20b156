"""Durable system calls that kill, fail or are cut off by a power failure, under every question.

Run as a program below `shim.c`, it forks its children from one warm parent, as `children` does, and
asks that script of batches: what an uninterrupted run answers is known.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.errors import LedgerUnavailable
from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from tests.holdout.tables import copied
from tests.ledger.children import ask_batch, create, end_of, forked, next_batch, play, resumed

SOURCE = Path(__file__).with_name("shim.c")
KILLS = ("before", "half", "after")
FAILURES = ("EIO", "ENOSPC", "EINTR", "short")
CUTS = ("kept", "dropped", "reordered", "torn")
LIE = "lie"  # of a disk that says that something is written, and forgets it
BATCHES = 5  # of the script, which begins with batch 1


def compiled(folder: Path) -> Path | None:
    """The shim; None where there is no compiler, or no such system."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    library = folder / "shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def shim() -> Any:
    """What stands before the system's own calls in this process."""
    return ctypes.CDLL(None)


def facts(path: Path) -> list[list[Any]]:
    """What was answered: question, value and receipt of each look."""
    with closing(Store.open(path)) as store:
        found = Transcript.resumed(store)
        return [[each.question, each.value, each.receipt] for each in found.answers]


def finished(path: Path, shown: list[list[Any]], expected: list[list[Any]]) -> list[str]:
    """What is wrong with a ledger after it was interrupted, and went on."""
    try:
        found = facts(path)
        with resumed(path) as holdout:
            play(holdout, BATCHES + 2)
        now = facts(path)
        wrong = [str(each) for each in audit(path) if not each.fine]
    except Exception as error:
        return [repr(error)[:300]]
    wrong += [f"lost {each}" for each in shown if each not in found or each not in now]
    if [each[:2] for each in now] != [each[:2] for each in expected]:
        wrong.append("other answers")
    return wrong


# Calls that kill or fail -------------------------------------------------------------------------


def asking(path: Path, log: Path, mode: str, at: int) -> None:
    """Ask all batches, with one call that is struck; a failure is told, and asked again."""
    told = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with resumed(path) as holdout:
        shim().shim_arm(at, mode.encode(), f"{path.parent}/".encode())
        while next_batch(holdout) < BATCHES:
            try:
                answers = ask_batch(holdout, next_batch(holdout))
            except LedgerUnavailable:
                continue  # the call failed once, and the next try must succeed
            for each in answers:
                os.write(
                    told, f"{json.dumps([each.question, each.value, each.receipt])}\n".encode()
                )
    shim().shim_arm(0, b"", b"/nowhere")


def calls_of(path: Path) -> int:
    """How many durable calls all batches take."""
    with resumed(path) as holdout:
        shim().shim_arm(0, b"", f"{path.parent}/".encode())
        play(holdout, BATCHES)
    return int(shim().shim_calls())


def strike_calls(start: Path, folder: Path, trials: int, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    whole = copied(start, folder / "whole")
    calls = calls_of(whole)
    with resumed(whole) as holdout:
        play(holdout, BATCHES + 2)
    expected, outcomes, broken = facts(whole), Counter[str](), []
    for trial in range(trials):
        mode = (*KILLS, *FAILURES)[trial % len((*KILLS, *FAILURES))]
        at = rng.randint(1, calls)
        path = copied(start, folder / str(trial))
        log = folder / f"{trial}.log"
        end = end_of(forked(partial(asking, path, log, mode, at)))
        outcomes[f"{mode}: {end}"] += 1
        shown = [json.loads(line) for line in log.read_text().splitlines()]
        wrong = finished(path, shown, expected)
        if end == "exit 1" or wrong:
            broken.append(f"{mode} at call {at}, {end}: {wrong}")
        shutil.rmtree(path.parent)
    return {"tried": trials, "calls": calls, "outcomes": outcomes, "broken": broken}


# Power cuts --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """A durable call: W(rite), T(runcate), S(ync), R(ename), U(nlink); or a M(ark) of ours."""

    what: str
    path: str
    other: str
    offset: int
    content: bytes


def events_of(log: Path) -> Iterator[Event]:
    with log.open("rb") as lines:
        while line := lines.readline():
            what, rest = line.decode().rstrip("\n").split("\t", 1)
            path, other, offset, length = rest.rsplit("\t", 3)
            yield Event(what, path, other, int(offset), lines.read(int(length)))


def logged(path: Path, log: Path) -> None:
    """Ask all batches, with every durable call and every answer that was shown written down."""
    with resumed(path) as holdout:
        shim().shim_log(str(log).encode(), f"{path.parent}/".encode())
        while next_batch(holdout) < BATCHES:
            for each in ask_batch(holdout, next_batch(holdout)):
                shim().shim_mark(json.dumps([each.question, each.value, each.receipt]).encode())


def replay(events: list[Event], root: str, target: Path, how: str, rng: random.Random) -> None:
    """The files after a power cut: what was synced is there, of all else what `how` says."""
    synced = {each.path: place for place, each in enumerate(events) if each.what == "S"}
    if how == LIE:
        synced, how = {}, "dropped"
    loose: list[Event] = []
    for place, each in enumerate(events):
        if each.what in "MS" or each.path.endswith("-shm"):
            continue
        if each.what in "WT" and synced.get(each.path, -1) < place:
            loose.append(each)
        else:
            apply(each, root, target)
    if how == "dropped":
        return
    if how == "reordered":
        loose = [each for each in rng.sample(loose, len(loose)) if rng.random() < 0.5]
    for each in loose:
        torn = how == "torn" and each.what == "W" and rng.random() < 0.5
        kept = rng.randrange(len(each.content) + 1) if torn else len(each.content)
        apply(replace(each, content=each.content[:kept]), root, target)


def apply(event: Event, root: str, target: Path) -> None:
    path = Path(event.path.replace(root, str(target), 1))
    match event.what:
        case "W":
            path.touch(exist_ok=True)
            with path.open("r+b") as file:
                file.seek(event.offset)
                file.write(event.content)
        case "T" if path.exists():
            os.truncate(path, event.offset)
        case "R" if path.exists():
            path.replace(event.other.replace(root, str(target), 1))
        case "U":
            path.unlink(missing_ok=True)


def cut_power(
    start: Path, folder: Path, trials: int, seed: int, cuts: Sequence[str] = CUTS
) -> dict[str, Any]:
    rng = random.Random(seed)
    path, log = copied(start, folder / "whole"), folder / "log"
    # Whoever closes a ledger writes, too: it is only killed.
    end_of(forked(partial(logged, path, log)))
    with resumed(path) as holdout:
        play(holdout, BATCHES + 2)
    expected, events = facts(path), list(events_of(log))
    outcomes, broken = Counter[str](), []
    for trial in range(trials):
        how, cut = cuts[trial % len(cuts)], rng.randint(1, len(events))
        target = copied(start, folder / str(trial))
        replay(events[:cut], str(path.parent), target.parent, how, rng)
        shown = [json.loads(each.path) for each in events[:cut] if each.what == "M"]
        wrong = finished(target, shown, expected)
        outcomes[how] += 1
        if wrong:
            broken.append(f"{how} at event {cut}: {wrong}")
        shutil.rmtree(target.parent)
    return {"tried": trials, "calls": len(events), "outcomes": outcomes, "broken": broken}


CAMPAIGNS: dict[str, Callable[[Path, Path, int, int], dict[str, Any]]] = {
    "calls": strike_calls,
    "cuts": cut_power,
    "lies": partial(cut_power, cuts=[LIE]),
}


def main(what: str, folder: str, trials: str, seed: str) -> None:
    start = Path(folder) / "start" / "t.ledger"
    start.parent.mkdir()
    create(start, described=True)
    with resumed(start) as holdout:  # what children need is loaded
        play(holdout, 1)
    sys.stdout.write(json.dumps(CAMPAIGNS[what](start, Path(folder), int(trials), int(seed))))


def run(what: str, library: Path, folder: Path, trials: int, seed: int) -> dict[str, Any]:
    """Run this file as a program below the shim."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.ledger.durable_calls",
            what,
            str(folder),
            str(trials),
            str(seed),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": str(library)},
        cwd=Path(__file__).parents[2],
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
