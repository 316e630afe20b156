"""Metrics of all workers of a service, in the text format of Prometheus.

Every worker counts in a file of its own, which is mapped into memory: to count costs no call to the
system, what a worker that died had counted stays counted, and whichever worker is asked tells the
sum over all. How long something took may tell of the rows, and what was asked is in the ledger: so
neither is counted.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from holdfast.holdout.budget import Budget

_SLOT, _SLOTS = 256, 4_096  # bytes of one series, and how many a worker may have
_NUMBER = struct.Struct("<d")
_HELP = {
    "holdfast_requests_total": ("counter", "Requests by method, route and status."),
    "holdfast_refusals_total": ("counter", "Calls that were refused, by data set and error."),
    "holdfast_waiting": ("gauge", "Calls that wait for the rows of a data set."),
    "holdfast_workers": ("gauge", "Workers that are up."),
    "holdfast_questions_left": ("gauge", "Questions left in the pool, without a description."),
    "holdfast_surprises_left": ("gauge", "Guesses that may be refuted in a row."),
    "holdfast_answered": ("gauge", "Answers in the ledger, by kind."),
    "holdfast_leaked_nats": ("gauge", "Nats that have leaked."),
    "holdfast_up": ("gauge", "Whether the ledger of a data set can be read."),
}
_Series = tuple[str, str]  # a name, and its labels as they are written


class Metrics:
    """What this worker counts, and what all workers that count in `folder` have counted."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self._guard = folder, threading.Lock()
        self._places: dict[_Series, int] = {}
        size = _SLOT * _SLOTS
        if folder is None:
            self._counted = mmap.mmap(-1, size)
            return
        with (folder / f"{os.getpid()}.counts").open("w+b") as file:
            file.truncate(size)
            self._counted = mmap.mmap(file.fileno(), size)

    def request(self, method: str, route: str, status: int) -> None:
        """Count a request, by the pattern of its address, not by the address."""
        self._add("holdfast_requests_total", method=method, route=route, status=status)

    def refusal(self, dataset: str, error: Exception) -> None:
        """Count a call that was refused."""
        self._add("holdfast_refusals_total", dataset=dataset, error=type(error).__name__)

    def waiting(self, dataset: str, calls: int) -> None:
        """Set how many calls wait for the rows of a data set."""
        place = self._place("holdfast_waiting", dataset=dataset)
        if place is not None:
            self._write(place, calls)

    def text(self, budgets: Mapping[str, Budget | None]) -> str:
        """All metrics; of data sets, those of which a budget is given, None where it is unread."""
        families: dict[str, Counter[str]] = {name: Counter() for name in _HELP}
        for (name, labels), value in self._series():
            families[name][labels] += value  # type: ignore[assignment]
        told = [f'dataset="{dataset}"' for dataset in budgets]
        for name in ("holdfast_refusals_total", "holdfast_waiting"):
            series = families[name]
            for labels in [each for each in series if each.partition(",")[0] not in told]:
                del series[labels]
        for dataset, budget in budgets.items():
            of = f'dataset="{dataset}"'
            families["holdfast_up"][of] = int(budget is not None)
            if budget is None:
                continue
            families["holdfast_questions_left"][of] = budget.questions_left
            families["holdfast_surprises_left"][of] = budget.surprises_left
            families["holdfast_leaked_nats"][of] = budget.to_dict()["nats"]
            for kind in ("described", "asked", "checks"):
                series = families["holdfast_answered"]
                series[f'{of},kind="{kind}"'] = budget.to_dict()[kind]
        return "".join(_family(name, families[name]) for name in _HELP)

    def _add(self, name: str, **labels: object) -> None:
        place = self._place(name, **labels)
        if place is not None:
            (value,) = _NUMBER.unpack_from(self._counted, place)
            self._write(place, value + 1)

    def _write(self, place: int, value: float) -> None:
        # In one piece: `pack_into` writes zeros first, and another worker may read them.
        self._counted[place : place + _NUMBER.size] = _NUMBER.pack(value)

    def _place(self, name: str, **labels: object) -> int | None:
        """Where a series is counted; None for one too many."""
        series = (name, ",".join(f'{label}="{value}"' for label, value in labels.items()))
        place = self._places.get(series)
        return self._new_place(series) if place is None else place

    def _new_place(self, series: _Series) -> int | None:
        text = "{".join(series).encode()
        with self._guard:
            if len(self._places) >= _SLOTS or len(text) > _SLOT - _NUMBER.size:
                return None
            place = self._places.setdefault(series, _SLOT * len(self._places))
            first = place + _NUMBER.size
            self._counted[first : first + len(text)] = text
            return place

    def _series(self) -> Iterator[tuple[_Series, float]]:
        """The series of all workers; of those that died, what only grows."""
        if self._folder is None:
            yield from _read(self._counted[:])
            yield ("holdfast_workers", ""), 1
            return
        for path in sorted(self._folder.glob("*.counts")):
            alive = _is_alive(int(path.stem))
            yield ("holdfast_workers", ""), int(alive)
            for series, value in _read(path.read_bytes()):
                if alive or _HELP[series[0]][0] == "counter":
                    yield series, value


def _read(counted: bytes) -> Iterable[tuple[_Series, float]]:
    for place in range(0, len(counted), _SLOT):
        text = counted[place + _NUMBER.size : place + _SLOT].rstrip(b"\0").decode()
        if not text:
            return
        name, _, labels = text.partition("{")
        yield (name, labels), _NUMBER.unpack_from(counted, place)[0]


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


def _family(name: str, series: Mapping[str, float]) -> str:
    if not series:
        return ""
    kind, meaning = _HELP[name]
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    lines += [
        f"{name}{{{labels}}} {value:.17g}" if labels else f"{name} {value:.17g}"
        for labels, value in sorted(series.items())
    ]
    return "\n".join(lines) + "\n"
