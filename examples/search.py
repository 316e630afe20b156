"""Three hundred models, and the holdout itself to choose by: is the winner as good as it looks?

Will a flight arrive late at all? Small decision trees are fitted to 600 flights, scored on 1,000
protected ones, and the best of them is taken: whatever fits those 1,000 by luck wins. Flights that
nobody looked at tell how good it is. The usual interval is made for one model and does not know
that there were 300; that of a search was declared for all of them.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]

from examples.flights import parts
from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout

SPACE: Mapping[str, Sequence[int]] = {
    "max_depth": [2, 3, 4, 6, 8],
    "max_features": [1, 2, 3],
    "random_state": range(20),
}
LEARNT, PROTECTED, NORMAL_95 = 600, 1_000, 1.959963984540054
NUMBERS, TEXTS = ("month", "day", "hour", "distance"), ("origin", "carrier", "dest")

Table = tuple[NDArray[np.float64], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Sets:
    """Flights to learn from, to protect, and to judge by."""

    train: Table
    holdout: Table
    fresh: Table


def drawn(seed: int = 0) -> Sets:
    """The three sets; no flight is in two of them."""
    train, hold, judge = parts()
    rng = np.random.default_rng(seed)
    learnt = rng.choice(train.height, LEARNT, replace=False)
    protected = rng.choice(hold.height, PROTECTED, replace=False)
    words = {column: train[column].unique().sort() for column in TEXTS}
    return Sets(
        table(train[learnt.tolist()], words),
        table(hold[protected.tolist()], words),
        table(judge, words),
    )


def table(flights: pl.DataFrame, words: Mapping[str, pl.Series]) -> Table:
    """What is known the day before, as numbers, and whether the flight was late."""
    numbers = [flights[column].to_numpy() for column in NUMBERS]
    texts = [words[column].search_sorted(flights[column]).to_numpy() for column in TEXTS]
    late = (flights["arr_delay"] > 0).to_numpy()
    return np.column_stack([*numbers, *texts]).astype(np.float64), late


def searched(sets: Sets, space: Mapping[str, Any], ledger: Path) -> HoldoutSearchCV:
    """The best of all candidates by their exact scores on the protected flights."""
    with ReusableHoldout(*sets.holdout, ledger=ledger) as holdout:
        return HoldoutSearchCV(DecisionTreeClassifier(), space, holdout=holdout, tell="all").fit(
            *sets.train
        )


def usual_interval(score: float) -> tuple[float, float]:
    """The normal interval of 95 % for one model that was fixed before."""
    half = NORMAL_95 * math.sqrt(score * (1.0 - score) / PROTECTED)
    return score - half, score + half


def session(sets: Sets, space: Mapping[str, Any] = SPACE) -> HoldoutSearchCV:
    """Search, and tell whether the winner's intervals hold on flights that nobody looked at."""
    with tempfile.TemporaryDirectory() as folder:
        search = searched(sets, space, Path(folder) / "search.ledger")
    tried = len(search.cv_results_["params"])
    truth = float((search.predict(sets.fresh[0]) == sets.fresh[1]).mean())
    print(f"{tried} trees, fitted to {LEARNT} flights and scored on {PROTECTED:,} protected ones\n")
    print(f"{'the best of them':<24} {search.best_params_}")
    print(f"{'on the protected':<24} {search.best_score_:.3f}")
    print(f"{f'on {len(sets.fresh[1]):,} others':<24} {truth:.3f}")
    for name, (low, high) in (
        ("usual interval", usual_interval(search.best_score_)),
        ("interval of the search", search.best_interval_),
    ):
        verdict = "true" if low <= truth <= high else "FALSE"
        print(f"{name:<24} [{low:.3f}, {high:.3f}] {verdict}")
    return search


if __name__ == "__main__":
    session(drawn())
