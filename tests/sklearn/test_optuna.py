"""Samplers of Optuna look at exact holdout scores, and the interval of the best is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.naive_bayes import GaussianNB  # type: ignore[import-untyped]

from holdfast.errors import InvalidArgument
from holdfast.sklearn import HoldoutObjective, ReusableHoldout
from tests.sklearn.models import Copying, table

optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
TRAINING = table(300, 7)


@pytest.fixture
def holdout(tmp_path: Path) -> ReusableHoldout:
    return ReusableHoldout(*table(2_000), ledger=tmp_path / "study.ledger", tolerance=0.1)


def studied(candidates: HoldoutObjective, n_trials: int = 6, **options: Any) -> Any:
    from holdfast.optuna import objective

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    settings = {"direction": "maximize", "sampler": optuna.samplers.TPESampler(seed=1), **options}
    study = optuna.create_study(**settings)
    study.optimize(objective(candidates), n_trials=n_trials, n_jobs=1)
    return study


def test_a_sampler_looks_at_exact_scores(holdout: ReusableHoldout) -> None:
    space = {"C": [1e-6, 1e-3, 1.0], "fit_intercept": [True, False], "solver": ["lbfgs"]}
    candidates = HoldoutObjective(
        LogisticRegression(), space, *TRAINING, holdout=holdout, tell="all"
    )
    study = studied(candidates)
    best = candidates.best
    assert best is not None
    assert best.answer is not None
    assert study.best_value == best.score == pytest.approx(best.estimator.score(*table(2_000)))
    told = study.best_trial.user_attrs
    assert told["params"] == dict(best.params)
    assert (told["low"], told["high"]) == tuple(best.answer.interval)
    assert told["low"] < study.best_value < told["high"]
    assert told["receipt"] == best.answer.receipt
    assert {trial.user_attrs["status"] for trial in study.trials} <= {"answered", "repeated"}
    assert set(study.trials[0].params) == {"C (place)", "fit_intercept"}


def test_several_mappings_and_values_that_are_objects(holdout: ReusableHoldout) -> None:
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]

    models = [LogisticRegression(C=0.5), GaussianNB()]
    space = [{"model": models}, {"model__C": range(1, 4), "model__max_iter": [50, 20]}]
    candidates = HoldoutObjective(
        Pipeline([("model", LogisticRegression())]), space, *TRAINING, holdout=holdout
    )
    study = studied(candidates, 8)
    found = [trial.user_attrs["params"] for trial in study.trials]
    assert {each.get("model") for each in found} <= {
        "LogisticRegression(C=0.5)",
        "GaussianNB()",
        None,
    }
    assert all(trial.state.name == "COMPLETE" for trial in study.trials)
    named = {name for trial in study.trials for name in trial.params}
    assert named <= {
        "mapping",
        "0: model (place)",
        "1: model__C (place)",
        "1: model__max_iter (place)",
    }


class _Unwell(Copying):
    """Candidate 1 cannot be fitted; before candidate 3 somebody retires the ledger."""

    holdout: ReusableHoldout

    def fit(self, X: Any, y: Any) -> Copying:
        if self.tag == 1:
            raise ValueError("no such tag")
        if self.tag == 3:
            self.holdout.holdout.end.retire(why="fresh rows came")
        return super().fit(X, y)


def test_failures_are_pruned_and_a_refusal_stops_the_study(
    holdout: ReusableHoldout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Unwell, "holdout", holdout, raising=False)
    candidates = HoldoutObjective(
        _Unwell(), {"tag": range(5)}, *TRAINING, holdout=holdout, tell="all"
    )
    sampler = optuna.samplers.GridSampler({"tag (place)": list(range(5))}, seed=4)
    study = studied(candidates, 5, sampler=sampler)
    states = {
        trial.user_attrs["params"]["tag"]: (trial.state.name, trial.user_attrs.get("refused", ""))
        for trial in study.trials
    }
    assert "fresh rows came" in states[3][1]
    assert study.trials[-1].user_attrs["params"]["tag"] == 3
    assert all(
        state == (("PRUNED", "") if tag == 1 else ("COMPLETE", ""))
        for tag, state in states.items()
        if tag != 3
    )
    assert len(holdout.board()) == sum(state == ("COMPLETE", "") for state in states.values()) > 0


def test_more_is_better(holdout: ReusableHoldout) -> None:
    candidates = HoldoutObjective(Copying(), {"tag": [1, 2]}, *TRAINING, holdout=holdout)
    with pytest.raises(InvalidArgument, match="direction='maximize'"):
        studied(candidates, direction="minimize")
    assert len(holdout.board()) == 0
