"""Errors of regression with caps: scores, gates, who is closer, and searches."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.dummy import DummyRegressor  # type: ignore[import-untyped]
from sklearn.linear_model import LinearRegression, Ridge  # type: ignore[import-untyped]
from sklearn.metrics import get_scorer  # type: ignore[import-untyped]
from sklearn.model_selection import cross_val_predict  # type: ignore[import-untyped]

from holdfast.errors import InvalidArgument
from holdfast.ledger.audit import audit
from holdfast.sklearn import ErrorCaps, HoldoutSearchCV, ReusableHoldout, error_caps

ERRORS = ("neg_mean_squared_error", "neg_mean_absolute_error")
SCORINGS = (*ERRORS, "neg_root_mean_squared_error", "r2")
Open = Callable[..., ReusableHoldout]
Rows = tuple[NDArray[Any], NDArray[Any]]


def table(rows: int, seed: int = 1) -> Rows:
    """Five features; R2 is about 2/3, and errors have heavy tails."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 5))
    return features, features @ [1.0, 1.0, 1.0, 0.3, 0.0] + rng.standard_t(5, rows)


TRAINING, PROTECTED = table(1_000, 2), table(4_000, 3)
CAPS = error_caps(Ridge(), *TRAINING)
MODEL = LinearRegression().fit(*TRAINING)
WORSE = LinearRegression().fit(TRAINING[0] * [1, 1, 0, 1, 1], TRAINING[1])
MEAN = DummyRegressor().fit(*TRAINING)


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def one(scoring: str, rows: Rows = PROTECTED, **options: Any) -> ReusableHoldout:
        settings = {"ledger": tmp_path / "m.ledger", "tolerance": 0.1, "caps": CAPS, **options}
        return ReusableHoldout(*rows, scoring=scoring, **settings)

    return one


def capped(scoring: str, model: Any, rows: Rows = PROTECTED) -> float:
    """The score as anyone would compute it."""
    features, labels = rows
    errors = np.minimum(np.abs(labels - model.predict(features)), CAPS.cap)
    assert CAPS.baseline_cap is not None
    base = np.minimum(np.abs(labels - CAPS.baseline), CAPS.baseline_cap)
    return float(
        {
            "neg_mean_absolute_error": -errors.mean(),
            "neg_mean_squared_error": -(errors**2).mean(),
            "neg_root_mean_squared_error": -math.sqrt((errors**2).mean()),
            "r2": 1 - (errors**2).mean() / (base**2).mean(),
        }[scoring]
    )


def test_caps_are_quantiles_of_errors_on_rows_that_were_not_fitted() -> None:
    features, labels = TRAINING
    errors = np.abs(labels - cross_val_predict(Ridge(), features, labels, cv=5))
    assert CAPS.cap >= np.quantile(errors, 0.99)
    assert CAPS.cap == pytest.approx(np.quantile(errors, 0.99), rel=0.02)
    assert CAPS.baseline == pytest.approx(labels.mean(), rel=0.01)
    development = error_caps(MODEL, *table(2_000, 9), cv="prefit")
    assert development.cap == pytest.approx(CAPS.cap, rel=0.2)


def test_caps_never_come_from_protected_rows(opened: Open) -> None:
    """One row that is like a protected one is a duplicate; a hundred of them are not."""
    features, labels = PROTECTED
    for shared in (100, 4_000):
        some = error_caps(MODEL, features[:shared], labels[:shared], cv="prefit")
        with pytest.raises(InvalidArgument, match=f"{shared:,} are protected here"):
            opened("r2", caps=some)
    again = tuple(
        np.concatenate(pair) for pair in zip(table(999, 8), (features[:1], labels[:1]), strict=True)
    )
    opened("r2", caps=error_caps(MODEL, *again, cv="prefit"))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_all_verbs(opened: Open, scoring: str, tmp_path: Path) -> None:
    holdout = opened(scoring)
    truth = capped(scoring, MODEL)
    assert holdout.scoring.score(MODEL, *PROTECTED) == pytest.approx(truth, abs=1e-12)
    near = get_scorer(scoring)(MODEL, *PROTECTED)  # without a cap
    assert truth == pytest.approx(near, rel=0.1)
    gate = holdout.gate(MODEL, WORSE, why="simpler")
    assert gate.status == "shown"
    assert holdout.gate(WORSE, MODEL).status == "not shown"
    assert holdout.gate_closer(MODEL, WORSE).status == "shown"
    assert holdout.gate_closer(WORSE, MODEL).status == "not shown"
    answer = holdout.ask(MODEL)
    assert truth in answer.interval
    checked = holdout.check(MEAN, guess=capped(scoring, MEAN))
    assert capped(scoring, MEAN) in checked.interval
    board = holdout.board()
    said = f"errors capped at {CAPS.cap}"
    assert board["why"].to_list() == [f"{said}; simpler", *[said] * 5]
    assert board["question"][2].startswith("closer(")
    holdout.close()
    assert all(finding.fine for finding in audit(tmp_path / "m.ledger"))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_search_has_exact_scores(opened: Open, scoring: str) -> None:
    search = HoldoutSearchCV(Ridge(), {"alpha": [1.0, 1e4]}, holdout=opened(scoring))
    search.fit(*TRAINING)
    assert search.best_params_ == {"alpha": 1.0}
    truth = capped(scoring, Ridge().fit(*TRAINING))
    assert search.best_score_ == pytest.approx(truth, abs=2e-3)
    assert truth in search.best_interval_
    low, high = search.best_interval_
    assert high - low < 0.4 * abs(truth)


@pytest.mark.parametrize("scoring", ["neg_root_mean_squared_error", "r2"])
def test_by_how_much_is_told_by_averages_only(opened: Open, scoring: str) -> None:
    holdout = opened(scoring)
    with pytest.raises(InvalidArgument, match="no average of rows"):
        holdout.compare(MODEL, MEAN)
    with pytest.raises(InvalidArgument, match="no average of rows"):
        holdout.gate(MODEL, MEAN, 0.1)


@pytest.mark.parametrize(
    ("scoring", "options", "words"),
    [
        ("r2", {"caps": None}, "which has its range by caps"),
        ("neg_root_mean_squared_error", {"caps": None, "y_range": (0, 1)}, "by caps"),
        ("neg_mean_squared_error", {"caps": None}, "neither caps nor y_range"),
        ("neg_mean_squared_error", {"y_range": (-9, 9)}, "leave y_range out"),
        ("accuracy", {}, "the scoring is none of errors"),
        ("r2", {"caps": ErrorCaps(2.5)}, "has no baseline_cap"),
    ],
)
def test_refusals(opened: Open, scoring: str, options: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        opened(scoring, **options)


def test_no_row_of_a_scoring_of_classes_is_closer(opened: Open) -> None:
    classes = (PROTECTED[0], (PROTECTED[1] > 0).astype(int))
    with pytest.raises(InvalidArgument, match="who is closer is told by errors"):
        opened("accuracy", classes, caps=None).gate_closer("one", "other")


@pytest.mark.statistical
def test_gates_of_equal_models_are_hardly_ever_shown(tmp_path: Path) -> None:
    """Two models that are equally good: each gate may be shown with the level of all, 0.05.

    The twin gates by the sign of the difference, and is found out.
    """
    runs, shown, twin = 60, 0, 0
    one, other = (DummyRegressor(strategy="constant", constant=c) for c in (-0.3, 0.3))
    for each in (one, other):
        each.fit(np.zeros((2, 1)), np.zeros(2))
    for run in range(runs):
        rng = np.random.default_rng(run)
        rows = rng.normal(size=(300, 1)), rng.normal(size=300)
        settings: dict[str, Any] = {"caps": ErrorCaps(2.5), "scoring": ERRORS[0], "candidates": 1}
        with ReusableHoldout(*rows, ledger=tmp_path / f"{run}.ledger", **settings) as holdout:
            shown += holdout.gate(one, other).status == "shown"
            twin += holdout.scoring.score(one, *rows) > holdout.scoring.score(other, *rows)
    most = int(binom.isf(1e-9, runs, 0.05))
    assert shown <= most < twin
