"""Random orders of rows, drawn by a key, and disjoint parts by them.

Rows are sorted by what they hold, so that the engine and the order in which it delivers them do not
matter; the place of a row in this list has a ticket, the next bytes of a keyed stream (SHAKE-256),
and rows are sorted by their tickets. Tickets know nothing of the rows: as far as the stream is
random, the order is a uniformly random permutation, independent of the rows. Two tickets are equal
with a chance below n^2 2^-65; then the content decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import shake_256
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from holdfast.data.fingerprint import row_words
from holdfast.data.sample import Sample
from holdfast.data.values import steps_of_frame
from holdfast.question.row import RowValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ORDERS = 8  # of one question
_BLOCK = 512  # rows whose tickets are drawn at once


def random_orders(
    first: NDArray[np.uint64], second: NDArray[np.uint64], key: bytes, count: int = 1
) -> NDArray[np.int64]:
    """`count` independent orders of the rows with these contents, of two words each: one a line."""
    by_content = np.lexsort((second, first))
    tickets = row_tickets(range(by_content.size), key, count)
    orders: NDArray[np.int64] = by_content[np.argsort(tickets.T, axis=1, kind="stable")]
    return orders


def row_tickets(places: range, key: bytes, count: int) -> NDArray[np.uint64]:
    """`count` tickets for each of these places in the list of rows: a line a row.

    A stream can be read at a block of it, so that no ticket depends on which are drawn together.
    """
    begun = shake_256(b"tickets of rows" + key)
    first, last = places.start // _BLOCK, -(-places.stop // _BLOCK)
    drawn = []
    for block in range(first, last):
        stream = begun.copy()
        stream.update(block.to_bytes(8, "little"))
        drawn.append(stream.digest(8 * count * _BLOCK))
    tickets = np.frombuffer(b"".join(drawn), dtype="<u8").reshape(-1, count)
    return tickets[places.start - first * _BLOCK :][: len(places)]


# Disjoint random parts of a table, the same whatever engine holds it and in whatever order.
#
# **The rule.** Rows are put into a random order, and part j has those of places (j - 1) m + 1, ...,
# j m, m = floor(n/parts). The few rows left over are never used.
#
# **Why it is right.** Tickets are independent of the rows, and so is the permutation; equal rows
# may exchange their places without changing any part as a multiset, so the parts do not depend on
# the order in which an engine delivers rows. (A hash of the content would not do: it sends all
# equal rows to one part, and then a part is a sample of another population. Row numbers would not
# do either: the same table may come back in another order.) So, for independent rows that are
# alike, each part is m independent draws from the population, independent of all the other parts.
#
# Contents are compared by the 128-bit words of `holdfast.data.fingerprint`.


def part_sums(
    sample: Sample, asked: Sequence[tuple[RowValue, int]], parts: int, key: bytes
) -> list[int]:
    """For each (row value, part), the sum of its grid units over the rows of that part; one scan.

    Parts are numbered 1, ..., `parts`.
    """
    types, rows = dict(sample.types), [row for row, _ in asked]
    lanes: tuple[list[NDArray[np.uint64]], list[NDArray[np.uint64]]] = ([], [])
    steps: list[list[NDArray[np.int64]]] = [[] for _ in asked]
    for frame in sample.frames(list(types)):
        for lane, words in zip(lanes, row_words(frame, types), strict=True):
            lane.append(words)
        for batches, batch in zip(steps, steps_of_frame(frame, rows), strict=True):
            batches.append(batch)
    (order,) = random_orders(np.concatenate(lanes[0]), np.concatenate(lanes[1]), key)
    size = sample.n // parts
    totals = []
    for batches, (row, part) in zip(steps, asked, strict=True):
        chosen = np.concatenate(batches)[order[(part - 1) * size : part * size]]
        total, _ = row.grid.moments(int(chosen.sum()), 0)
        totals.append(total)
    return totals


# Numbers of many rows in random orders, one order after the other: on disk where memory is short.
#
# Rows come with tickets, one for each order, and are wanted by ascending tickets. So many of them
# as fit are sorted and written to files, one for each order: a run. Then the tickets are parted
# into as many ranges as there are runs, and each range is read from all runs, and sorted. Tickets
# are random, so that no range has many more rows than a run.


RUN = 1 << 18  # rows that are sorted in memory
_ROW = np.dtype([("ticket", "<u8"), ("number", "<i8")])


class Ordered:
    """Numbers in one order: any part of them can be read, as of an array."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self.size = file, size

    def __getitem__(self, part: slice) -> NDArray[np.int64]:
        start, end, _ = part.indices(self.size)
        self._file.seek(8 * start)
        return np.frombuffer(self._file.read(8 * max(0, end - start)), np.int64)


class Shuffled:
    """Rows that are handed over in parts, and then given back in each of their orders."""

    def __init__(self, orders: int, run: int = RUN) -> None:
        self._orders, self._most = orders, run
        self._held: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = []
        self._runs: list[int] = []  # how many rows each has
        self._stack = ExitStack()
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def add(self, numbers: NDArray[np.int64], tickets: NDArray[np.uint64]) -> None:
        """Numbers of rows, and the tickets of each: a line a row, a column an order."""
        self._held.append((numbers, tickets))
        if sum(held.size for held, _ in self._held) >= self._most:
            self._write()

    def orders(self) -> Iterator[NDArray[np.int64] | Ordered]:
        """All numbers, by their tickets of the first order, then of the second, and so on."""
        if not self._runs:
            numbers, tickets = self._together()
            for order in range(self._orders):
                yield numbers[np.argsort(tickets[:, order], kind="stable")]
            return
        if self._held:
            self._write()
        for file in self._files:
            with TemporaryFile() as into:
                for part in self._ranges(file):
                    into.write(part["number"][np.argsort(part["ticket"], kind="stable")].tobytes())
                yield Ordered(into, sum(self._runs))

    def _together(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        nothing = np.empty(0, np.int64), np.empty((0, self._orders), np.uint64)
        numbers, tickets = zip(nothing, *self._held, strict=True)
        return np.concatenate(numbers), np.concatenate(tickets)

    def _write(self) -> None:
        """What is held, as a run of each order."""
        while len(self._files) < self._orders:
            new = TemporaryFile()  # noqa: SIM115 - the stack closes it
            self._files.append(self._stack.enter_context(new))
        numbers, tickets = self._together()
        self._held = []
        self._runs.append(numbers.size)
        for file, each in zip(self._files, tickets.T, strict=True):
            order = np.argsort(each, kind="stable")
            rows = np.empty(numbers.size, _ROW)
            rows["ticket"], rows["number"] = each[order], numbers[order]
            file.write(rows.tobytes())

    def _ranges(self, file: IO[bytes]) -> Iterator[NDArray[Any]]:
        """The rows of all runs whose tickets are in the first range, then in the second, ..."""
        starts = np.cumsum([0, *self._runs[:-1]]).tolist()
        bounds = np.array(
            [number * 2**64 // len(self._runs) for number in range(1, len(self._runs))],
            dtype=np.uint64,
        )
        cuts = [
            [0, *np.searchsorted(_read_rows(file, start, size)["ticket"], bounds).tolist(), size]
            for start, size in zip(starts, self._runs, strict=True)
        ]
        for number in range(len(self._runs)):
            yield np.concatenate(
                [
                    _read_rows(file, start + cut[number], cut[number + 1] - cut[number])
                    for start, cut in zip(starts, cuts, strict=True)
                ]
            )


def _read_rows(file: IO[bytes], start: int, size: int) -> NDArray[Any]:
    file.seek(_ROW.itemsize * start)
    return np.frombuffer(file.read(_ROW.itemsize * size), _ROW)
