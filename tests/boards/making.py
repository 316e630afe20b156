"""A board over made-up labels, submissions of known quality, and a child that submits.

Run as a program it submits to a board in a process of its own: see `submit_elsewhere`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from numpy.typing import NDArray

import holdfast
from holdfast.holdout.holdout import Holdout

ITEMS = 2_000

Answers = NDArray[np.bool_]


def labels(items: int = ITEMS, seed: int = 5) -> Answers:
    """Fair coins."""
    return np.random.default_rng(seed).random(items) < 0.5


def table(items: int = ITEMS) -> pl.DataFrame:
    """What a host protects."""
    return pl.DataFrame({"item": range(items), "label": labels(items)})


def answers(right: float, seed: int, items: int = ITEMS) -> Answers:
    """Predictions of which this share is right."""
    truth = labels(items)
    return np.where(np.random.default_rng([seed, items]).random(items) < right, truth, ~truth)


def board(folder: Path, items: int = ITEMS, **said: Any) -> holdfast.Leaderboard:
    """A fresh board, or the one that is there."""
    return holdfast.Leaderboard(table(items), key="item", ledger=folder / "b.ledger", **said)


def submit_elsewhere(folder: Path, team: str, *, killed: bool) -> subprocess.Popen[bytes]:
    """Another process that submits; `killed` where it would have compared."""
    words: Sequence[str] = (str(folder), team, "killed" if killed else "")
    return subprocess.Popen([sys.executable, "-m", "tests.boards.making", *words])


def _killed(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    where, who, how = sys.argv[1:]
    with board(Path(where)) as mine:
        if how:
            with patch.object(Holdout, "gate", _killed):
                mine.submit(answers(0.9, 9), team=who)
        for number in range(3):
            mine.submit(answers(0.9, 9 + number), team=who)
