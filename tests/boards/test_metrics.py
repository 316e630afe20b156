"""Metrics: exact scores are those of scikit-learn, and what is no average is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.boards.metrics import BOARD_METRICS
from holdfast.errors import InvalidArgument
from holdfast.ledger.audit import audit
from holdfast.statistics.metrics import METRICS, scoring_meant
from sklearn import metrics  # type: ignore[import-untyped]

N = 400
RNG = np.random.default_rng(7)
YES = RNG.random(N) < 0.4
CHANCE = np.clip(0.4 + 0.3 * (YES - 0.5) + 0.25 * RNG.standard_normal(N), 0.0, 1.0)
BETTER = np.clip(CHANCE + 0.6 * (YES - CHANCE), 0.0, 1.0)
HEIGHT = RNG.uniform(-2.0, 3.0, N)
CLIPPED = np.clip(CHANCE, 0.01, 0.99)


def board(folder: Path, truth: Any, metric: str, **said: Any) -> holdfast.Leaderboard:
    table = pl.DataFrame({"id": [f"i{place:03}" for place in range(N)], "y": truth})
    ledger = folder / f"{metric}.ledger"
    return holdfast.Leaderboard(table, key="id", metric=metric, ledger=ledger, **said)


@pytest.mark.parametrize(
    ("metric", "label", "said", "better", "expected"),
    [
        ("accuracy", YES, CHANCE > 0.5, BETTER > 0.5, metrics.accuracy_score(YES, CHANCE > 0.5)),
        ("brier", YES, CHANCE, BETTER, metrics.brier_score_loss(YES, CHANCE)),
        ("brier", YES.astype(int), CHANCE, BETTER, metrics.brier_score_loss(YES, CHANCE)),
        ("log_loss", YES, CHANCE, BETTER, metrics.log_loss(YES, CLIPPED)),
        (
            "mean_absolute_error",
            HEIGHT,
            np.zeros(N),
            HEIGHT / 2,
            metrics.mean_absolute_error(HEIGHT, np.zeros(N)),
        ),
        (
            "mean_squared_error",
            HEIGHT,
            np.zeros(N),
            HEIGHT / 2,
            metrics.mean_squared_error(HEIGHT, np.zeros(N)),
        ),
    ],
)
def test_scores_are_scikit_learns_and_better_is_better(
    metric: str, label: Any, said: Any, better: Any, expected: float, tmp_path: Path
) -> None:
    y_range = (-2.0, 3.0) if metric.endswith("error") else None
    with board(tmp_path, label, metric, y_range=y_range) as found:
        found.submit(said, team="host")
        assert found.submit(better, team="ada").leads
        assert found.submit(said, team="bob").submission == "host/1"
        end = {row.team: row for row in found.final()}
        low, high = end["host"].low or 0.0, end["host"].high or 0.0
        # Shares are exact; other averages are on a public grid, far finer than the interval.
        grid = 0.0 if metric == "accuracy" else 0.02 * (high - low)
        assert end["host"].value == pytest.approx(expected, abs=grid)
        assert low < expected < high
        assert end["ada"].rank == 1
        assert end["host"].rank == 2


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ("mean_absolute_error", lambda errors: errors.mean()),
        ("mean_squared_error", lambda errors: (errors**2).mean()),
        ("root_mean_squared_error", lambda errors: (errors**2).mean() ** 0.5),
    ],
)
def test_errors_are_capped_and_the_words_say_so(metric: str, score: Any, tmp_path: Path) -> None:
    far = HEIGHT / 2
    far[0] = 1e9
    expected = score(np.minimum(np.abs(far - HEIGHT), 2.0))
    with board(tmp_path, HEIGHT, metric, cap=2) as found:
        found.submit(np.full(N, 4.0), team="host")
        half = found.claim_half_width(expected)
        standing = found.submit(far, team="ada", claim=expected)
        assert (standing.leads, standing.confirmed) == (True, True)
        assert standing.claim == pytest.approx(expected)
        assert standing.low == pytest.approx(max(0.0, expected - half))
        assert found.standings().metric == f"{metric} of errors capped at 2"
        row = found.final()["ada/1"]
        low, high = row.low or 0.0, row.high or 0.0
        assert row.value == pytest.approx(expected, abs=0.02 * (high - low))
        assert low < expected < high <= 2.0**2
        assert "errors capped at 2" in str(found.terms)
    with board(tmp_path, HEIGHT, metric, cap=2) as again:
        assert again.standings()["ada/1"] == row
    with pytest.raises(InvalidArgument):
        board(tmp_path, HEIGHT, metric, cap=3)
    assert all(finding.fine for finding in audit(tmp_path / f"{metric}.ledger"))


def test_boards_and_scikit_learn_have_one_registry() -> None:
    assert set(BOARD_METRICS) <= set(METRICS)
    for name in BOARD_METRICS:
        assert METRICS[name].of_rows or METRICS[name].root
        sign = "" if METRICS[name].more_is_better else "neg_"
        assert (METRICS[name].scoring or "").startswith(sign + name)
    scorings = [each.scoring for each in METRICS.values() if each.scoring]
    assert set(scorings) <= set(metrics.get_scorer_names())
    for alias in ("mse", "rmse", "mae", "logloss", "acc", "auc"):
        assert scoring_meant(alias) in scorings


def test_classes_may_be_text(tmp_path: Path) -> None:
    names = np.where(YES, "cat", "dog")
    with board(tmp_path, names, "accuracy") as found:
        found.submit(np.where(CHANCE > 0.5, "cat", "dog"), team="ada")
        (row,) = found.final()
        assert row.value == pytest.approx(metrics.accuracy_score(YES, CHANCE > 0.5))


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1", "roc_auc"])
def test_what_is_no_average_is_refused_in_a_sentence_and_makes_no_ledger(
    metric: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgument, match="no average of scores of single items"):
        board(tmp_path, YES, metric)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("metric", "label", "said", "says"),
    [
        ("wit", YES, {}, "which is not known; choose one of accuracy, brier, log_loss"),
        ("mean_absolute_error", HEIGHT, {}, "is not declared; say y_range"),
        ("accuracy", YES, {"y_range": (0, 1)}, "is declared; leave it out"),
        ("accuracy", YES, {"cap": 1}, "with a cap, and it is no error; leave the cap out"),
        ("mean_squared_error", HEIGHT, {"cap": 1, "y_range": (0, 1)}, "leave the cap out"),
        ("mean_squared_error", HEIGHT, {"cap": 0}, "cap is 0"),
        ("root_mean_squared_error", HEIGHT, {"y_range": (0, 1)}, "not capped; say cap="),
        ("mse", HEIGHT, {"cap": 1}, "which is mean_squared_error here"),
        ("mean_absolute_error", YES, {"y_range": (0, 1)}, "the labels are boolean; give numbers"),
        ("log_loss", np.where(YES, "a", "b"), {}, "the labels are text; give labels that are"),
        ("accuracy", YES, {"label": "z"}, "label names 'z'"),
    ],
)
def test_declarations_that_do_not_fit(
    metric: str, label: Any, said: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgument, match=says):
        board(tmp_path, label, metric, **said)


def test_predictions_outside_the_range_are_invalid(tmp_path: Path) -> None:
    with board(tmp_path, YES, "brier") as found:
        with pytest.raises(InvalidArgument, match=r"2 predictions of 400 lie outside \[0, 1\]"):
            found.submit(np.concatenate([CHANCE[:-2], [-0.1, 1.1]]), team="ada")
        with pytest.raises(InvalidArgument, match="of the kind a condition"):
            found.submit(CHANCE > 0.5, team="ada")
        assert len(found.standings().invalid) == 2
