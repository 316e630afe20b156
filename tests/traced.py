"""`python -m tests.traced WALK`: the files that one verb enters, as JSON, in a process of its own.

What another test left in a cache would not be entered again.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

import holdfast

PACKAGE = Path(holdfast.__file__).resolve().parent
TABLE = pl.DataFrame({"item": range(2_000), "x": [-1.0, 2.0] * 1_000})


def file_of(frame: FrameType | None) -> str | None:
    """The file below `src/holdfast` that a frame, or the nearest one that called it, is in."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            return path.relative_to(PACKAGE).as_posix()
        frame = frame.f_back
    return None


class Trace:
    """Every file with the file that called into it, in the order of the calls, each pair once.

    Threads that begin while it is installed are traced with the one that installs it; calls are
    noted only while it is `on`.
    """

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str | None], None] = {}
        self.on = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if not self.on or event != "call":
            return
        if Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            self.calls.setdefault((file_of(frame) or "", file_of(frame.f_back)))

    @contextmanager
    def noting(self) -> Iterator[None]:
        sys.setprofile(self)
        self.on = True
        try:
            yield
        finally:
            self.on = False
            sys.setprofile(None)


@contextmanager
def opened(folder: Path, **declared: Any) -> Iterator[holdfast.Holdout]:
    terms: dict[str, Any] = {"questions": 10, "tolerance": 0.1, **declared}
    with holdfast.open(TABLE, ledger=folder / "walk.ledger", **terms) as holdout:
        yield holdout


def check(trace: Trace, folder: Path) -> None:
    with opened(folder, described="off") as holdout, trace.noting():
        holdout.check("avg(x > 0)", guess=0.5)


def ask(trace: Trace, folder: Path) -> None:
    with opened(folder, described="off") as holdout, trace.noting():
        holdout.ask("avg(x > 0)")


def described(trace: Trace, folder: Path) -> None:
    with opened(folder) as holdout, trace.noting():
        holdout.ask("avg(x > 0)")


def gate(trace: Trace, folder: Path) -> None:
    with opened(folder, described="off") as holdout, trace.noting():
        holdout.gate("avg(x > 0)", at_least=0.3)


def attach(trace: Trace, folder: Path) -> None:
    with opened(folder, key="item") as holdout, trace.noting():
        holdout.attach("right", [True, False] * 1_000, bounds=bool, digest="v1")


def service(trace: Trace, folder: Path) -> None:
    from starlette.testclient import TestClient

    from holdfast.service.app import app_of
    from holdfast.service.data_set import Service
    from holdfast.service.folder import Folder, Settings

    rows, place = folder / "rows.parquet", Folder.create(folder / "served")
    TABLE.write_parquet(rows)
    with holdfast.open(rows, ledger=place.ledger("walk"), questions=10, tolerance=0.1):
        pass
    url = "/api/v1/datasets/walk/ask"
    threading.setprofile(trace)
    held = Service.of(place.path, Settings(release_step=0.0))
    token = held.tokens.create("ada", role="analyst", questions=5)
    with TestClient(app_of(held), headers={"Authorization": f"Bearer {token.text}"}) as client:
        client.post(url, json={"question": "avg(x > 1)"}).raise_for_status()  # it is opened then
        with trace.noting():
            reply = client.post(url, json={"question": "avg(x > 0)"})
    reply.raise_for_status()


WALKS: dict[str, Callable[[Trace, Path], None]] = {
    walk.__name__: walk for walk in (check, ask, described, gate, attach, service)
}


def traced(walk: str) -> list[tuple[str, str | None]]:
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder:
        WALKS[walk](trace, Path(folder))
    return list(trace.calls)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(traced(sys.argv[1])))
