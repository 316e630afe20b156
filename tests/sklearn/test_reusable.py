"""Estimators on one holdout: what is asked, who they are, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import get_scorer  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from holdfast.errors import DataChanged, InvalidArgument
from holdfast.sklearn import ReusableHoldout
from holdfast.sklearn.fitted import pickled_digest
from tests.sklearn.models import Copying, fitted, table

Open = Callable[..., ReusableHoldout]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def one(rows: int = 4_000, classes: int = 2, **options: Any) -> ReusableHoldout:
        features, labels = table(rows, classes=classes)
        settings = {"ledger": tmp_path / "models.ledger", "tolerance": 0.1, **options}
        return ReusableHoldout(features, labels, **settings)

    return one


def test_an_ask_covers_the_score_and_an_equal_model_is_the_same(opened: Open) -> None:
    holdout = opened()
    answer = holdout.ask(fitted())
    truth = fitted().score(*table(4_000))
    assert answer.interval.low <= truth <= answer.interval.high
    assert holdout.ask(fitted()).status == "repeated"
    assert holdout.ask(pickle.loads(pickle.dumps(fitted()))).status == "repeated"
    assert holdout.ask(fitted(), name="mine").status == "repeated"
    assert holdout.ask(fitted(C=0.1)).status == "answered"
    assert holdout.ask("mine").status == "repeated"


def test_check_gate_compare_and_the_board(opened: Open) -> None:
    holdout = opened()
    model, constant = fitted(), DummyClassifier().fit(*table(300, 7))
    assert holdout.check(model, guess=model.score(*table(4_000, 9))).status == "confirmed"
    assert holdout.gate(model, constant).status == "shown"
    assert holdout.gate(constant, model, min_gain=0.01).status == "not shown"
    gain = model.score(*table(4_000)) - constant.score(*table(4_000))
    compared = holdout.compare(model, constant)
    assert compared.interval.low <= gain <= compared.interval.high
    board = holdout.board()
    assert board["verb"].to_list() == ["check", "gate", "gate", "ask"]
    assert board["status"].to_list()[1:3] == ["shown", "not shown"]
    with pytest.raises(InvalidArgument, match="are one estimator"):
        holdout.gate(model, fitted())


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_scores_of_rows_average_to_those_of_scikit_learn(
    opened: Open, scoring: str, classes: int
) -> None:
    holdout, (features, labels) = opened(500, classes, scoring=scoring), table(500, classes=classes)
    model = fitted(classes=classes, C=0.1)
    scores = holdout.scoring.column(model, features, labels)
    low, high = holdout.scoring.bounds
    assert scores.min() >= low
    assert scores.max() <= high
    assert scores.mean() == pytest.approx(get_scorer(scoring)(model, features, labels), abs=1e-4)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "neg_mean_squared_error"])
def test_errors_need_the_range_of_what_is_predicted(opened: Open, scoring: str) -> None:
    with pytest.raises(InvalidArgument, match="y_range"):
        opened(scoring=scoring)
    holdout = opened(scoring=scoring, y_range=(0, 2))
    model = DummyRegressor(strategy="constant", constant=0.5).fit(*table(10))
    scores = holdout.scoring.column(model, *table(4_000))
    assert scores.mean() == pytest.approx(get_scorer(scoring)(model, *table(4_000)))
    answer = holdout.ask(model)
    assert answer.interval.low <= scores.mean() <= answer.interval.high


def _half_right(labels: NDArray[Any], said: NDArray[Any]) -> NDArray[Any]:
    return np.where(labels == said, 1.0, 0.5)


def test_a_function_of_rows_is_a_scoring_and_another_function_another(tmp_path: Path) -> None:
    features, labels = table(4_000)
    ledger: dict[str, Any] = {"ledger": tmp_path / "own", "tolerance": 0.1}
    with pytest.raises(InvalidArgument, match="without bounds"):
        ReusableHoldout(features, labels, scoring=_half_right, **ledger)
    first = ReusableHoldout(features, labels, scoring=_half_right, bounds=(0, 1), **ledger)
    first.ask(fitted())
    again = ReusableHoldout(features, labels, scoring=_half_right, bounds=(0, 1), **ledger)
    assert again.ask(fitted()).status == "repeated"

    def _half_right_too(labels: NDArray[Any], said: NDArray[Any]) -> NDArray[Any]:
        return np.where(labels == said, 1.0, 0.25)

    _half_right_too.__name__ = _half_right.__name__
    other = ReusableHoldout(features, labels, scoring=_half_right_too, bounds=(0, 1), **ledger)
    assert other.ask(fitted()).status == "answered"


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "sparse"])
def test_the_same_rows_in_another_container_are_the_same(tmp_path: Path, kind: str) -> None:
    features, labels = table(2_000)
    holders: dict[str, Callable[[Any], Any]] = {
        "list": lambda rows: rows.tolist(),
        "pandas": lambda rows: pd.DataFrame(rows, columns=list("abcd")),
        "polars": lambda rows: pl.DataFrame(rows, schema=list("abcd")),
        "sparse": scipy.sparse.coo_matrix,
    }
    hold, others = holders[kind], table(300, 7)
    model = LogisticRegression().fit(hold(others[0]), others[1])
    settings: dict[str, Any] = {"ledger": tmp_path / "one", "tolerance": 0.1}
    answer = ReusableHoldout(hold(features), labels, **settings).ask(model)
    truth = model.score(hold(features), labels)
    assert answer.interval.low <= truth <= answer.interval.high
    same = hold(features) if kind == "sparse" else features  # its zeros are not written
    assert len(ReusableHoldout(same, labels, **settings).board()) == 1
    with pytest.raises(DataChanged):
        ReusableHoldout(hold(features), 1 - labels, **settings)


def test_text_features_and_text_labels(tmp_path: Path) -> None:
    numbers, labels = table(2_000)
    features = pd.DataFrame({"sign": np.where(numbers[:, 0] > 0, "plus", "minus")})
    said = np.where(labels == 1, "yes", "no")
    holdout = ReusableHoldout(features, said, ledger=tmp_path / "text", tolerance=0.1)

    class BySign(Copying):
        def predict(self, X: Any) -> NDArray[Any]:
            return np.where(X["sign"] == "plus", "yes", "no")

    truth = ((features["sign"] == "plus") == (said == "yes")).mean()
    answer = holdout.ask(BySign(), name="by sign")
    assert answer.interval.low <= truth <= answer.interval.high


def test_what_cannot_be_pickled_has_a_name(opened: Open) -> None:
    holdout = opened()
    model = make_pipeline(FunctionTransformer(lambda rows: rows), fitted()).fit(*table(300, 7))
    with pytest.raises(InvalidArgument, match=r"cannot be pickled.*name="):
        holdout.ask(model)
    assert holdout.ask(model, name="piped").status == "answered"
    with pytest.raises(InvalidArgument, match="nothing says that this one"):
        holdout.ask(model, name="piped")
    assert holdout.ask("piped").status == "repeated"
    with pytest.raises(InvalidArgument, match="no estimator was called 'other'"):
        holdout.ask("other")


def test_who_a_model_is_does_not_depend_on_which_objects_it_shares() -> None:
    text = "".join(["l", "bfgs"])
    one, other = fitted(), fitted(solver=text)
    assert other.solver is not one.solver
    shared, apart = (one, ["lbfgs", one.solver]), (other, ["".join(["lb", "fgs"]), "lbfgs"])
    assert pickled_digest(shared) == pickled_digest(apart)
    assert pickled_digest(one) != pickled_digest(fitted(C=0.5))
    assert pickled_digest(one, "accuracy") != pickled_digest(one, "f1")
    assert pickled_digest(lambda: None) is None
    cyclic: list[Any] = [1]
    cyclic.append(cyclic)
    assert pickled_digest(cyclic) == pickled_digest(pickle.loads(pickle.dumps(cyclic)))


def test_a_name_never_means_another_model(opened: Open) -> None:
    holdout = opened()
    holdout.ask(fitted(), name="main")
    with pytest.raises(InvalidArgument, match="'main' is taken"):
        holdout.ask(fitted(C=0.1), name="main")


class _Short(Copying):
    def predict(self, X: Any) -> NDArray[Any]:
        return np.zeros(1, dtype=int)


class _Raising(Copying):
    """Fails on rows of its own choice: whether there are any must not be told."""

    def predict(self, X: Any) -> NDArray[Any]:
        if (np.asarray(X)[:, 0] < 0).any():
            raise RuntimeError("a row with a secret")
        return np.ones(len(X), dtype=int)


class _Standardising(Copying):
    """Predicts by how far a row is from the mean of those beside it."""

    def predict(self, X: Any) -> NDArray[Any]:
        first = np.asarray(X)[:, 0]
        return np.asarray(first > first.mean(), dtype=int)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (_Standardising(), "two invented rows together than of each alone"),
        (_Short(), "one prediction for each row"),
        (StandardScaler(), "has no predict"),
        (DummyClassifier(), "fails on invented rows with NotFittedError"),
        (LogisticRegression().fit(table(300)[0][:, :2], table(300)[1]), "fitted to 2 features"),
    ],
)
def test_estimators_that_cannot_be_scored_cost_nothing(
    opened: Open, model: Any, words: str
) -> None:
    holdout = opened()
    with pytest.raises(InvalidArgument, match=words):
        holdout.ask(model)
    assert holdout.holdout.columns == []


def test_rows_that_an_estimator_fails_on_are_wrong_and_nobody_is_told(opened: Open) -> None:
    holdout, (features, labels) = opened(1_000), table(1_000)
    answer = holdout.ask(_Raising())
    truth = ((features[:, 0] >= 0) & (labels == 1)).mean()
    assert answer.interval.low <= truth <= answer.interval.high


def test_probabilities_are_needed_where_they_are_scored(opened: Open) -> None:
    with pytest.raises(InvalidArgument, match="has no predict_proba"):
        opened(scoring="neg_log_loss").ask(LinearSVC().fit(*table(300)))
    with pytest.raises(InvalidArgument, match="does not say of which classes"):
        opened(scoring="neg_log_loss").ask(LogisticRegression())


@pytest.mark.parametrize("scoring", ["neg_median_absolute_error", "nonsense", 3])
def test_what_has_no_interval_is_refused(opened: Open, scoring: Any) -> None:
    with pytest.raises(InvalidArgument, match=f"scoring is {scoring!r}; choose accuracy, balanced"):
        opened(scoring=scoring)


@pytest.mark.parametrize("scoring", ["f1", "roc_auc"])
def test_what_is_of_two_classes_has_two(opened: Open, scoring: str) -> None:
    with pytest.raises(InvalidArgument, match="which is of two classes, and y has 3"):
        opened(scoring=scoring, classes=3)


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        (np.zeros(10), {}, "one class only"),
        (np.arange(9) % 2, {}, "10 rows and y 9 labels"),
        (np.array([np.nan, *range(9)]), {}, "missing labels"),
        (np.zeros((10, 2)), {}, "one label for each row"),
        (np.arange(10) % 2, {"sample_weight": np.ones(10)}, "sample_weight is given"),
    ],
)
def test_rows_that_cannot_be_protected(
    tmp_path: Path, labels: Any, options: Any, words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        ReusableHoldout(np.zeros((10, 3)), labels, ledger=tmp_path / "none", **options)
    assert not (tmp_path / "none").exists()


def test_the_package_is_light_and_says_which_extra_it_needs() -> None:
    code = (
        "import sys, holdfast; assert 'sklearn' not in sys.modules; sys.modules['sklearn'] = None\n"
        "try:\n    import holdfast.sklearn\n"
        "except holdfast.errors.MissingExtra as error:\n"
        "    assert 'holdfast[sklearn]' in str(error)\n"
        "else:\n    raise SystemExit(1)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
