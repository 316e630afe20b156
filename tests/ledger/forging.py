"""What only the holder of a secret can do: another history, chained and sealed."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import LedgerTampered
from holdfast.ledger.audit import audit, retrace
from holdfast.ledger.chain import GENESIS, Row, canonical, link, seal
from holdfast.ledger.checkpoint import sealed_places
from holdfast.ledger.entries import settlement
from holdfast.ledger.transcript import Transcript
from tests.ledger.reading import rows_of

Body = dict[str, Any]
Place = tuple[str | int, ...]


def settled(bodies: list[Body]) -> list[Body]:
    """The same entries, with the answers that follow from offers and symbols as they now are."""
    transcript, found = Transcript(), []
    for seq, body in enumerate(bodies, start=1):
        pending = transcript.pending
        if body["kind"] == "settle/2" and pending is not None:
            offers = [asked.offer for asked in pending.asked]
            releases = pending.mechanism.settle(offers, body["symbols"])
            found.append(settlement(body["at"], pending.seq, body["symbols"], releases))
        else:
            found.append(body)
        transcript.apply([(seq, canonical(found[-1]), str(seq))])
    return found


def chained(bodies: list[Body]) -> list[Row]:
    """These entries, each with the hash of all up to it."""
    rows, head = [], GENESIS
    for seq, body in enumerate(bodies, start=1):
        text = canonical(body)
        head = link(head, text)
        rows.append((seq, text, head))
    return rows


@dataclass(frozen=True)
class Told:
    """Entries as an audit has them once it has read them from a file, and found the seal right."""

    rows: list[Row]
    unchecked: None = None

    def checkpoint(self) -> None:
        return None

    def news(self) -> list[Row]:
        return self.rows


def write(path: Path, bodies: list[Body]) -> None:
    """These entries, chained and sealed, in place of those that are there."""
    secret = path.with_name(f"{path.name}-secret").read_bytes()
    path.with_name(f"{path.name}-newest").unlink(missing_ok=True)
    rows, transcript = chained(bodies), Transcript()
    count, _, head = rows[-1]
    with closing(sqlite3.connect(path)) as connection:
        for emptied in ("entries", "answers", "checkpoint"):
            connection.execute(f"DELETE FROM {emptied}")
        for row, body in zip(rows, bodies, strict=True):
            answers = transcript.filing(body)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", row)
            connection.executemany(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)",
                sealed_places(secret, answers, row),
            )
            with suppress(LedgerTampered):  # some are forged so that they cannot be folded
                transcript.apply([row])
        connection.execute("UPDATE head SET seal = ?", (seal(secret, count, head),))
        connection.commit()


def faults(path: Path, **how: Any) -> list[str]:
    """What an audit finds."""
    return [finding.detail for finding in audit(path, **how) if not finding.fine]


def forged(path: Path, change: Callable[[list[Body]], None]) -> list[str]:
    """What an audit finds after this change; a ledger that no longer folds is found out too."""
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    change(bodies)
    try:
        bodies = settled(bodies)
    except (ArithmeticError, LookupError, LedgerTampered, TypeError, ValueError) as error:
        return [str(error)]
    write(path, bodies)
    return faults(path)


def sealed_again(path: Path, seq: int, change: Callable[[str], str]) -> None:
    """Change the text of one entry, and forge all that follows."""
    rows = rows_of(path)
    secret = path.with_name(f"{path.name}-secret").read_bytes()
    path.with_name(f"{path.name}-newest").unlink()
    head = rows[seq - 2][2]
    with closing(sqlite3.connect(path)) as connection:
        for number, text, _ in rows[seq - 1 :]:
            forged = change(text) if number == seq else text
            head = link(head, forged)
            connection.execute(
                "UPDATE entries SET text = ?, hash = ? WHERE seq = ?", (forged, head, number)
            )
        connection.execute("UPDATE head SET seal = ?", (seal(secret, len(rows), head),))
        connection.commit()


# What says nothing about a promise: what people wrote, and what the rows were asked about.
FREE = {"at", "why", "question", "guess", "claim"}
# Declared for the question, so another value is another question. Smaller ones are found below.
WANTED = {"tolerance"}


def numbers(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every number in an entry, with its place there."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in FREE:
                yield from numbers(inner, (*place, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from numbers(inner, (*place, key))
    elif isinstance(value, int | float):
        yield place, value


def others(value: Any, turn: int) -> set[Any]:
    """What might stand in its place: in turn much more and a little less, or the other way."""
    if isinstance(value, int):
        little = 1 + value // 10**6
        return {value * 2 + 1, value - little} if turn % 2 else {value + little}
    return ({value * 2 + 1, value * 0.99} if turn % 2 else {value - 1, value * (1 + 1e-6)}) - {
        value
    }


def changed(body: Body, place: Place, value: Any) -> None:
    inner: Any = body
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value


def numbers_forged(path: Path) -> int:
    """How many numbers of offers were replaced by others, one by one, and each was found.

    Each is found by what was written up to the answer: what came later is left out. The last one
    is written to the file, and found there.
    """
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    assert faults(path) == []
    seen, last = 0, bodies
    for entry, body in enumerate(bodies):
        if body["kind"] != "reserve/2":
            continue
        for turn, (place, value) in enumerate(numbers(body), start=entry):
            if place[-1] in WANTED and value < 0.5:
                continue
            for other in others(value, turn):
                again = copy.deepcopy(bodies[: entry + 2])
                changed(again[entry], place, other)
                try:
                    forgery = settled(again)
                except (ArithmeticError, LookupError, LedgerTampered, TypeError, ValueError):
                    continue  # it does not even fold
                found = retrace(Told(chained(forgery))).findings
                sentence = f"{place} of entry {entry + 1}: {value} became {other}"
                assert not all(finding.fine for finding in found), sentence
                last, seen = forgery, seen + 1
    write(path, last)
    assert faults(path)
    return seen
