"""Numbers of many rows in random orders, one order after the other: on disk where memory is short.

Rows come with tickets, one for each order, and are wanted by ascending tickets. So many of them as
fit are sorted and written to files, one for each order: a run. Then the tickets are parted into as
many ranges as there are runs, and each range is read from all runs, and sorted. Tickets are hashes,
so that no range has many more rows than a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RUN", "Ordered", "Shuffled"]

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
            [0, *np.searchsorted(_read(file, start, size)["ticket"], bounds).tolist(), size]
            for start, size in zip(starts, self._runs, strict=True)
        ]
        for number in range(len(self._runs)):
            yield np.concatenate(
                [
                    _read(file, start + cut[number], cut[number + 1] - cut[number])
                    for start, cut in zip(starts, cuts, strict=True)
                ]
            )


def _read(file: IO[bytes], start: int, size: int) -> NDArray[Any]:
    file.seek(_ROW.itemsize * start)
    return np.frombuffer(file.read(_ROW.itemsize * size), _ROW)
