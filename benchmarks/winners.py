"""`python -m benchmarks.winners`: the interval of the best of 300 candidates, into docs/sklearn.md.

Each run has rows of its own, and 300 classifiers by random directions. The one that scores highest
on the holdout is judged on fresh rows: by the interval that is usual for one classifier, and by
that of a search which declared all 300. That interval does not depend on which candidates were
tried, so that here the winner alone is scored on the ledger.

Then three searches in a row on 600 digits, each of which tells only its winner: how wide they are.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]
from sklearn.svm import SVC  # type: ignore[import-untyped]

import holdfast
from holdfast.sklearn import HoldoutObjective, HoldoutSearchCV, ReusableHoldout
from holdfast.theory.base.intervals import clopper_pearson

PAGE = Path(__file__).resolve().parent.parent / "docs" / "sklearn.md"
START = "<!-- Made by `python -m benchmarks.winners` -->\n"
END = "<!-- End of the winners -->\n"
HEAD = "| interval of the winner | runs | false | half-width |\n|---|---:|---:|---:|\n"
RUNS, ROWS, CANDIDATES, FRESH, FEATURES = 200, 1_000, 300, 1_000_000, 16
FLIPPED = 0.45  # of the labels: a direction is right on little more than half of the rows, or less
NORMAL_95 = 1.959963984540054
ROW_START = "<!-- Made by `python -m benchmarks.winners`, too -->\n"
ROW_END = "<!-- End of the searches in a row -->\n"
ROW_HEAD = (
    "| search on 600 digits | candidates | width, as Bonferroni's for all so far is 1 |\n"
    "|---|---:|---:|\n"
)
SPLITS, DIGITS = 8, 600
NEAR = [5e-4, 7e-4, 1.4e-3, 2e-3]
SPACES: list[dict[str, list[float]]] = [
    {"C": [0.1, 1, 10, 100], "gamma": [1e-4, 3e-4, 1e-3, 3e-3]},
    {"C": [3.0], "gamma": NEAR},
    {"C": [30.0], "gamma": NEAR},
]

Table = tuple[NDArray[np.float64], NDArray[np.bool_]]
Truth = Callable[["Direction", int], float]


class Direction(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Says yes on one side of a random plane; it learns nothing."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        self.direction_ = direction(self.seed, X.shape[1])
        return self

    def predict(self, X: Any) -> NDArray[np.bool_]:
        return np.asarray(X @ self.direction_ > 0)


def direction(seed: int, features: int = FEATURES) -> NDArray[np.float64]:
    found = np.random.default_rng([1, seed]).normal(size=features)
    return np.asarray(found / np.linalg.norm(found))


def drawn_rows(rows: int, rng: np.random.Generator) -> Table:
    """Features, and labels that the first of them tells but for those that are flipped."""
    features = rng.normal(size=(rows, FEATURES))
    return features, (features[:, 0] > 0) ^ (rng.random(rows) < FLIPPED)


def on_fresh_rows(winner: Direction, run: int) -> float:
    """The share of a million rows that nobody has seen on which it is right."""
    features, labels = drawn_rows(FRESH, np.random.default_rng([3, run]))
    return float((winner.predict(features) == labels).mean())


def by_its_angle(winner: Direction, run: int) -> float:  # noqa: ARG001 - the same for all runs
    """The probability that it is right: two planes part at an angle, and labels are flipped."""
    agreeing = 1.0 - math.acos(float(winner.direction_[0])) / math.pi
    return FLIPPED + (1.0 - 2.0 * FLIPPED) * agreeing


@dataclass(frozen=True, slots=True)
class Winner:
    """The best of a run: its truth, the usual interval, and that of the search."""

    truth: float
    usual: tuple[float, float]
    search: tuple[float, float]

    def is_missed_by(self, interval: tuple[float, float]) -> bool:
        low, high = interval
        return not low <= self.truth <= high


def won(run: int, truth: Truth, folder: Path) -> Winner:
    """The winner of one run."""
    features, labels = drawn_rows(ROWS, np.random.default_rng([2, run]))
    planes = np.stack([direction(seed) for seed in range(CANDIDATES)])
    right = ((features @ planes.T > 0) == labels[:, None]).mean(axis=0)
    best = int(right.argmax())
    training, _ = drawn_rows(2, np.random.default_rng([4, run]))
    with ReusableHoldout(features, labels, ledger=folder / f"{run}.ledger") as holdout:
        objective = HoldoutObjective(
            Direction(),
            {"seed": range(CANDIDATES)},
            training,
            [False, True],
            holdout=holdout,
            tell="all",
        )
        found = objective.attempt({"seed": best})
    if found.answer is None or found.score is None:
        raise RuntimeError(f"run {run} has no winner: {found.error}")
    wald = NORMAL_95 * math.sqrt(found.score * (1.0 - found.score) / ROWS)
    usual = (found.score - wald, found.score + wald)
    low, high = found.answer.interval
    return Winner(truth(found.estimator, run), usual, (low, high))


def winners(runs: int, truth: Truth) -> Iterator[Winner]:
    """Those of so many runs, each on a ledger of its own."""
    warnings.simplefilter("ignore", holdfast.errors.SecondLedger)
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            yield won(run, truth, Path(folder))


def lines(found: list[Winner]) -> list[str]:
    """The table: how often each interval was false, and how wide it was."""
    told = []
    for name, intervals in (
        ("usual, 95 % for one classifier", [each.usual for each in found]),
        ("of the search, 95 % for all 300", [each.search for each in found]),
    ):
        pairs = zip(found, intervals, strict=True)
        missed = sum(each.is_missed_by(interval) for each, interval in pairs)
        width = sum(high - low for low, high in intervals) / len(intervals) / 2
        told.append(f"| {name} | {len(found)} | {missed} | {width:.3f} |\n")
    return told


def in_a_row(split: int) -> list[float]:
    """How wide the intervals of three winners are, in widths of Bonferroni's for all so far."""
    X, y = load_digits(return_X_y=True)
    X, X_hold, y, y_hold = train_test_split(X, y, test_size=DIGITS, random_state=split)
    ratios, tried = [], 0
    with (
        tempfile.TemporaryDirectory() as folder,
        ReusableHoldout(X_hold, y_hold, ledger=Path(folder) / "digits.ledger") as holdout,
    ):
        for space in SPACES:
            search = HoldoutSearchCV(SVC(), space, holdout=holdout).fit(X, y)
            tried += math.prod(map(len, space.values()))
            right = round(search.best_estimator_.score(X_hold, y_hold) * DIGITS)
            usual = clopper_pearson(DIGITS, right, math.log(0.05 / tried / 2))
            ratios.append(2 * search.best_answer_.half_width / (usual.high - usual.low))
    return ratios


def row_lines(splits: int) -> list[str]:
    """The table of searches in a row, the average over splits."""
    averages = np.mean([in_a_row(split) for split in range(splits)], axis=0)
    sizes = [math.prod(map(len, space.values())) for space in SPACES]
    named = zip(("first", "second", "third"), sizes, averages, strict=True)
    return [f"| {name} | {size} | {ratio:.2f} |\n" for name, size, ratio in named]


def written(start: str, end: str, table: str) -> None:
    """A table in its place on the page."""
    print(table, end="")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{start}{table}{end}{after}", encoding="utf-8")


def main() -> None:
    written(START, END, HEAD + "".join(lines(list(winners(RUNS, on_fresh_rows)))))
    written(ROW_START, ROW_END, ROW_HEAD + "".join(row_lines(SPLITS)))


if __name__ == "__main__":
    main()
