"""A search over declared candidates: exact scores, and a true interval for the winner."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone, is_classifier, is_regressor  # type: ignore[import-untyped]
from sklearn.datasets import load_iris  # type: ignore[import-untyped]
from sklearn.dummy import DummyClassifier  # type: ignore[import-untyped]
from sklearn.exceptions import FitFailedWarning  # type: ignore[import-untyped]
from sklearn.linear_model import (  # type: ignore[import-untyped]
    LogisticRegression,
    SGDClassifier,
)
from sklearn.model_selection import ParameterGrid  # type: ignore[import-untyped]
from sklearn.utils.validation import NotFittedError  # type: ignore[import-untyped]

from holdfast.errors import InvalidArgument, Refused
from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout
from holdfast.sklearn.candidates import parameter_places
from tests.sklearn.models import Copying, table

TRAINING = table(300, 7)


@pytest.fixture
def holdout(tmp_path: Path) -> ReusableHoldout:
    return ReusableHoldout(*table(2_000), ledger=tmp_path / "search.ledger", tolerance=0.1)


def test_every_score_is_exact_and_the_winner_is_the_best(holdout: ReusableHoldout) -> None:
    space = {"C": [1e-4, 0.01, 1.0], "fit_intercept": [True, False]}
    search = HoldoutSearchCV(LogisticRegression(), space, holdout=holdout, tell="all").fit(
        *TRAINING
    )
    results = search.cv_results_
    assert len(results["params"]) == 6
    for params, score, low, high in zip(
        *(results[name] for name in ("params", "mean_test_score", "low", "high")), strict=True
    ):
        truth = LogisticRegression(**params).fit(*TRAINING).score(*table(2_000))
        assert score == pytest.approx(truth, abs=1e-9)
        assert low < truth < high
    assert set(results["status"]) == {"answered"}
    assert len(set(results["receipt"])) == 6
    assert search.best_score_ == max(results["mean_test_score"])
    assert results["rank_test_score"][search.best_index_] == 1
    assert results["param_C"].tolist() == [each["C"] for each in results["params"]]
    assert (results["mean_fit_time"] > 0).all()
    assert search.score(*table(500, 3)) == search.best_estimator_.score(*table(500, 3))
    assert search.best_params_ == results["params"][search.best_index_]
    assert search.best_estimator_.get_params()["C"] == search.best_params_["C"]
    assert search.best_interval_ == search.best_answer_.interval
    assert search.refused_ is None
    features, _ = table(20, 3)
    assert (search.predict(features) == search.best_estimator_.predict(features)).all()
    assert search.predict_proba(features).shape == (20, 2)
    assert list(search.classes_) == [0, 1]
    assert search.n_features_in_ == 4


def test_the_same_search_again_is_free(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, holdout=holdout, tell="all")
    first = search.fit(*TRAINING).best_interval_
    assert search.fit(*TRAINING).cv_results_["status"] == ["repeated"] * 2
    assert search.best_interval_ == first
    assert len(holdout.board()) == 2
    search.fit(*table(300, 8))  # other candidates: another search, on the same ledger
    assert search.cv_results_["status"] == ["answered"] * 2


def test_a_million_configurations_of_which_three_are_tried(tmp_path: Path) -> None:
    """The figure of the page: 1,000 rows and an accuracy of 0.8."""
    labels = np.arange(1_000) % 2
    features = np.where(np.arange(1_000) < 800, labels, 1 - labels)[:, None]
    holdout = ReusableHoldout(features, labels, ledger=tmp_path / "million.ledger")
    search = HoldoutSearchCV(
        Copying(), {"tag": range(1_000_000)}, holdout=holdout, tell="all", n_iter=3, random_state=0
    ).fit([[0], [1]], [0, 1])
    assert len(search.cv_results_["params"]) == 3
    assert search.best_score_ == 0.8
    assert search.best_interval_.low == pytest.approx(0.722, abs=1.5e-3)
    assert search.best_interval_.high == pytest.approx(0.865, abs=1.5e-3)


def test_configurations_are_numbered_as_scikit_learn_has_them() -> None:
    spaces: list[Any] = [
        {"b": [1, 2, 3], "a": ["x", "y"]},
        [{"c": [True, False], "d": range(3)}, {"e": (None, 1.5)}, {}],
    ]
    for space in spaces:
        places, grid = parameter_places(space, 2), list(ParameterGrid(space))
        assert [places.params(place) for place in range(places.size)] == grid
        assert [places.place_of(params) for params in grid] == list(range(places.size))
        with pytest.raises(InvalidArgument, match="which is none of the"):
            places.place_of({"a": "z", "b": 1})


def test_distributions_stand_for_their_quantiles(holdout: ReusableHoldout) -> None:
    space = [{"C": stats.loguniform(0.01, 1)}, {"max_iter": stats.randint(100, 102)}]
    search = HoldoutSearchCV(LogisticRegression(), space, holdout=holdout, points=4)
    tried = search.fit(*TRAINING).cv_results_["params"]
    quantiles = 10.0 ** (-2 + 2 * (np.arange(4) + 0.5) / 4)
    assert [each["C"] for each in tried[:4]] == pytest.approx(quantiles.tolist())
    assert tried[4:] == [{"max_iter": 100}, {"max_iter": 101}]


def test_cross_validation_looks_once(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(
        LogisticRegression(), {"C": [1e-4, 1.0]}, holdout=holdout, strategy="cv", cv=3
    ).fit(*TRAINING)
    assert search.best_params_ == {"C": 1.0}
    assert search.cv_results_["status"] == ["cross-validated", "confirmed"]
    assert np.isnan(search.cv_results_["low"]).tolist() == [True, False]
    assert search.cv_results_["receipt"] == [None, search.best_answer_.receipt]
    assert search.best_answer_.status == "confirmed"
    assert search.best_answer_.guess == pytest.approx(search.best_score_)
    assert len(holdout.board()) == 1
    assert search.predict(TRAINING[0]).shape == (300,)


class _Retiring(Copying):
    """The fourth candidate finds the ledger retired: somebody else did that meanwhile."""

    holdout: ReusableHoldout

    def fit(self, X: Any, y: Any) -> Copying:
        if self.tag == 3:
            self.holdout.holdout.end.retire(why="fresh rows came")
        return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        return (np.asarray(X)[:, 0] > self.tag).astype(int)


def test_a_refusal_in_the_middle_ends_the_search_with_what_it_has(
    holdout: ReusableHoldout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Retiring, "holdout", holdout, raising=False)
    search = HoldoutSearchCV(_Retiring(), {"tag": range(6)}, holdout=holdout, tell="all").fit(
        *TRAINING
    )
    assert len(search.cv_results_["params"]) == 3
    assert search.best_params_ == {"tag": 0}
    assert search.refused_ is not None
    assert "fresh rows came" in search.refused_
    with pytest.raises(Refused):
        HoldoutSearchCV(Copying(), {"tag": [1]}, holdout=holdout, tell="all").fit(*TRAINING)


class _Failing(Copying):
    def fit(self, X: Any, y: Any) -> Copying:
        if self.tag:
            raise ValueError("no such tag")
        return super().fit(X, y)


def test_a_candidate_that_cannot_be_fitted_is_not_scored(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(_Failing(), {"tag": [0, 1]}, holdout=holdout, tell="all")
    with pytest.warns(
        FitFailedWarning, match=r"of 2 candidates 1 could .* ValueError: no such tag"
    ):
        search.fit(*TRAINING)
    assert search.cv_results_["status"] == ["answered", "failed"]
    assert np.isnan(search.cv_results_["mean_test_score"][1])
    assert search.cv_results_["error"] == [None, "ValueError: no such tag"]
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]
    with pytest.raises(InvalidArgument, match="of 2 candidates 2 could not be fitted"):
        HoldoutSearchCV(_Failing(), {"tag": [1, 2]}, holdout=holdout, tell="all").fit(*TRAINING)
    with pytest.raises(InvalidArgument, match="Invalid parameter 'no_such'"):
        HoldoutSearchCV(Copying(), {"no_such": [1]}, holdout=holdout, tell="all").fit(*TRAINING)


def test_a_candidate_that_cannot_be_scored_is_one_less(tmp_path: Path) -> None:
    holdout = ReusableHoldout(
        *table(2_000), ledger=tmp_path / "loss.ledger", tolerance=0.1, scoring="neg_log_loss"
    )
    space = {"loss": ["hinge", "log_loss"], "random_state": [1]}
    search = HoldoutSearchCV(SGDClassifier(), space, holdout=holdout)
    with pytest.warns(FitFailedWarning, match="has no predict_proba, which neg_log_loss needs"):
        search.fit(*TRAINING)
    assert search.best_params_["loss"] == "log_loss"


class _Fickle(Copying):
    """Another candidate each time it is fitted."""

    def fit(self, X: Any, y: Any) -> Copying:
        self.drawn_ = float(np.random.default_rng().random())
        return super().fit(X, y)


def test_a_candidate_is_the_same_each_time_it_is_fitted(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(_Fickle(), {"tag": [0]}, holdout=holdout, tell="all").fit(*TRAINING)
    with pytest.raises(InvalidArgument, match=r"is another candidate now.*list seeds in the space"):
        search.fit(*TRAINING)


def test_what_says_nothing_is_no_winner(tmp_path: Path) -> None:
    holdout = ReusableHoldout(
        *table(4), ledger=tmp_path / "few", tolerance=0.4, scoring="neg_log_loss"
    )
    space = {"C": range(1, 1_000_000)}
    search = HoldoutSearchCV(
        LogisticRegression(), space, holdout=holdout, n_iter=2, random_state=1, share=0.001
    )
    with pytest.raises(InvalidArgument, match="the rows say nothing"):
        search.fit(*TRAINING)


def test_a_search_that_cannot_score_spends_nothing(holdout: ReusableHoldout) -> None:
    before = holdout.holdout.budget
    with pytest.raises(InvalidArgument, match="fitted to 2 features"):
        HoldoutSearchCV(LogisticRegression(), {"C": [1.0]}, holdout=holdout).fit(
            TRAINING[0][:, :2], TRAINING[1]
        )
    assert holdout.holdout.budget == before


def test_the_protected_rows_are_no_training_rows(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(LogisticRegression(), {"C": [1.0]}, holdout=holdout)
    with pytest.raises(InvalidArgument, match="protected table"):
        search.fit(*table(2_000))
    assert len(holdout.board()) == 0


def test_the_conventions_of_scikit_learn(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(LogisticRegression(), {"C": [1.0]}, holdout=holdout, refit=False)
    assert search.get_params()["estimator__C"] == 1.0
    other = clone(search).set_params(estimator__C=3.0, share=0.25)
    assert other.holdout is holdout
    assert (other.estimator.C, search.estimator.C) == (3.0, 1.0)
    with pytest.raises(NotFittedError):
        clone(search).set_params(refit=True).predict(TRAINING[0])
    assert not hasattr(HoldoutSearchCV(Copying(), {}, holdout=holdout), "predict_proba")
    assert not hasattr(search, "predict")
    assert not hasattr(search.fit(*TRAINING), "best_estimator_")
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as caught:
        search.predict(TRAINING[0])
    assert "refit is False" in str(caught.value.__cause__)
    assert is_classifier(search)
    assert not is_regressor(search)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"strategy": "guess"}, "strategy is 'guess'"),
        ({"space": {"strategy": 3}}, "strategy is 3 in the space; it must list"),
        ({"space": {"strategy": "prior"}}, "strategy is 'prior' in the space"),
        ({"space": {"strategy": []}}, "space has no configuration"),
        ({"space": 7}, "space is 7; give a mapping"),
        ({"n_iter": 0}, "n_iter is 0"),
        ({"space": {"constant": stats.norm()}, "points": 0}, "points is 0"),
    ],
)
def test_searches_that_cannot_be_declared(
    holdout: ReusableHoldout, changed: dict[str, Any], words: str
) -> None:
    search = HoldoutSearchCV(
        DummyClassifier(), {"strategy": ["prior", "stratified"]}, holdout=holdout
    )
    with pytest.raises(InvalidArgument, match=words):
        search.set_params(**changed).fit(*TRAINING)
    assert len(holdout.board()) == 0


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "sklearn.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= 2
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in examples:
        if "import optuna" not in example or find_spec("optuna"):
            exec(compile(example, "sklearn.md", "exec"), names)
    low, high = names["search"].best_interval_
    assert low < names["search"].best_score_ < high
    if "study" not in names:
        pytest.skip("Optuna is not installed: all of the page ran but that")


def test_two_flowers_alike_are_no_protected_row(tmp_path: Path) -> None:
    """Two of the 150 irises are the same: one is held out, the other one trains."""
    X, y = load_iris(return_X_y=True)
    holdout = ReusableHoldout(X[::2], y[::2], ledger=tmp_path / "iris.ledger")
    search = HoldoutSearchCV(DummyClassifier(), {"strategy": ["prior"]}, holdout=holdout)
    assert search.fit(X[1::2], y[1::2]).best_interval_ is not None
