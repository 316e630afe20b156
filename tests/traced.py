"""`python -m tests.traced`: the files that one check enters, as JSON, in a process of its own.

What another test left in a cache would not be entered again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

import holdfast

PACKAGE = Path(holdfast.__file__).resolve().parent


def file_of(frame: FrameType | None) -> str | None:
    """The file below `src/holdfast` that a frame, or the nearest one that called it, is in."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            return path.relative_to(PACKAGE).as_posix()
        frame = frame.f_back
    return None


def traced() -> list[tuple[str, str | None]]:
    """Every file with the file that called into it, in the order of the calls, each pair once."""
    calls: dict[tuple[str, str | None], None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            calls.setdefault((file_of(frame) or "", file_of(frame.f_back)))

    data = pl.DataFrame({"x": [-1.0, 2.0] * 1_000})
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "walk.ledger"
        with holdfast.open(
            data, ledger=ledger, questions=10, tolerance=0.1, described="off"
        ) as holdout:
            sys.setprofile(watch)
            holdout.check("avg(x > 0)", guess=0.5)
            sys.setprofile(None)
    return list(calls)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(traced()))
