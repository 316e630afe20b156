"""A small table and its holdout, for tests of everything above the mechanisms."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.histogram import Histogram
from holdfast.data.sample import Moments, Sample
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.store import Store
from holdfast.mechanisms.noise import Noise
from holdfast.question.expression import Expression
from holdfast.question.row import RowValue
from tests.seam import put_sample, sample_of

ROWS = 400
BOUNDS = {"x": (-60.0, 180.0)}
LATE = "avg(late)"


def table(rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    """Numbers, conditions, text and units of four rows."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "x": rng.normal(20.0, 40.0, rows),
            "late": rng.random(rows) < 0.25,
            "origin": rng.choice(["EWR", "JFK", "LGA"], rows),
            "unit": np.arange(rows) // 4,
        }
    )


def sample_value(question: str) -> float:
    """The value in the sample, by Polars itself."""
    found = {
        LATE: pl.col("late").mean(),
        "avg(x > 20)": (pl.col("x") > 20).mean(),
        "avg(x)": pl.col("x").clip(-60, 180).mean(),
    }
    return float(table().select(found[question]).item())


@contextmanager
def opened(folder: Path, data: Any = None, name: str = "t", **declared: Any) -> Iterator[Holdout]:
    """The holdout of a ledger in `folder`, made or resumed, and closed afterwards.

    A new one answers everything on the ledger, unless `described` says otherwise.
    """
    ledger = folder / f"{name}.ledger"
    usual = {} if ledger.exists() or "described_share" in declared else {"described": "off"}
    with holdfast.open(data, ledger=ledger, **{**usual, **declared}) as holdout:
        yield holdout


def same_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every new ledger gets the same secret, so that noise is the same in every run."""
    monkeypatch.setattr(
        "holdfast.ledger.store.secrets.token_bytes", lambda size: bytes(range(size))
    )


def noise_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Question j has one and the same noise, whatever is asked: so two askings can be compared."""

    def by_number(secret: bytes, *_: object) -> Callable[[int], Noise]:
        return lambda number: Noise(secret, str(number))

    monkeypatch.setattr("holdfast.holdout.desk.noise_of_batch", by_number)


def made(
    folder: Path, data: pl.DataFrame | str | None = None, name: str = "t", **declared: Any
) -> Path:
    """The path of a new ledger with these declarations."""
    facts: dict[str, Any] = {"tolerance": 0.2, "questions": 20, "schema": BOUNDS}
    with opened(folder, table() if data is None else data, name, **(facts | declared)):
        return folder / f"{name}.ledger"


def copied(ledger: Path, folder: Path) -> Path:
    """The ledger with all its files, as they are at this moment, in another folder."""
    folder.mkdir(parents=True)
    for path in ledger.parent.glob(f"{ledger.name}*"):
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        elif not path.name.endswith(("-shm", "-lock")):
            shutil.copy2(path, folder / path.name)
    return folder / ledger.name


class Watched:
    """A sample that lets something happen before it is scanned; it counts the scans."""

    def __init__(self, sample: Sample, before: Callable[[], None] = lambda: None) -> None:
        self.sample, self.before = sample, before
        self.scans: list[int] = []
        self.n, self.types = sample.n, sample.types

    def prepare(self, rows: Sequence[RowValue]) -> None:
        self.sample.prepare(rows)

    def sums(self, rows: Sequence[RowValue]) -> list[int]:
        self._scan(rows)
        return self.sample.sums(rows)

    def moments(self, rows: Sequence[RowValue]) -> list[Moments]:
        self._scan(rows)
        return self.sample.moments(rows)

    def histograms(self, asked: Sequence[tuple[RowValue, Expression | None]]) -> list[Histogram]:
        self._scan(asked)
        return self.sample.histograms(asked)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        self.before()
        return self.sample.frames(columns)

    def joined(self, key: str, frame: pl.DataFrame) -> Watched:
        return Watched(self.sample.joined(key, frame), self.before)

    def _scan(self, asked: Sequence[object]) -> None:
        self.scans.append(len(asked))
        self.before()


def watch(holdout: Holdout, before: Callable[[], None] = lambda: None) -> Watched:
    """Put a watch on the holdout's data."""
    watched = Watched(sample_of(holdout), before)
    put_sample(holdout, watched)
    return watched


def untouchable() -> None:
    raise AssertionError("the data was touched")


class Crash(BaseException):
    """The process dies, as far as the ledger can tell."""


def crash() -> None:
    raise Crash


def died_at_commit(
    ledger: Path, data: pl.DataFrame, commit: int, work: Callable[[Holdout], object]
) -> None:
    """Let a process work with a ledger, which dies before its commit of this number."""
    commits, append = count(), Store.append

    def dying(self: Store, *written: Any) -> Any:
        if next(commits) == commit:
            raise Crash
        return append(self, *written)

    dies = patch.object(Store, "append", dying)
    with dies, pytest.raises(Crash), holdfast.open(data, ledger=ledger) as holdout:
        work(holdout)
