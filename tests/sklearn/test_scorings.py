"""Scores that are no averages of rows as they stand: F1, balanced accuracy and areas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.metrics import get_scorer  # type: ignore[import-untyped]
from sklearn.model_selection import GridSearchCV  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from holdfast.errors import InvalidArgument
from holdfast.ledger.audit import audit
from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout
from tests.sklearn.models import Copying, fitted, rare, table

Open = Callable[..., ReusableHoldout]
WHOLE = ("balanced_accuracy", "f1", "roc_auc")


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def one(scoring: str, rows: Any = None, **options: Any) -> ReusableHoldout:
        features, labels = rare(8_000) if rows is None else rows
        settings = {"ledger": tmp_path / "whole.ledger", "tolerance": 0.1, **options}
        return ReusableHoldout(features, labels, scoring=scoring, **settings)

    return one


@pytest.mark.parametrize("scoring", WHOLE)
def test_asks_and_checks_cover_the_score_that_scikit_learn_has(opened: Open, scoring: str) -> None:
    holdout, model = opened(scoring), LogisticRegression().fit(*rare(400, 7))
    truth = get_scorer(scoring)(model, *rare(8_000))
    answer = holdout.ask(model)
    assert answer.interval.low <= truth <= answer.interval.high
    assert answer.interval.high - answer.interval.low < 0.75
    assert holdout.ask(model).status == "repeated"
    checked = holdout.check(LogisticRegression(C=0.5).fit(*rare(400, 7)), guess=truth)
    assert checked.interval.low <= truth <= checked.interval.high
    assert len(holdout.board()) == 2


@pytest.mark.parametrize("scoring", WHOLE)
@pytest.mark.parametrize("model", [fitted(), LinearSVC().fit(*table(300, 7))])
def test_other_rows_are_scored_as_scikit_learn_does(opened: Open, scoring: str, model: Any) -> None:
    rows = table(500, 3)
    found = opened(scoring).scoring.score(model, *rows)
    assert found == pytest.approx(get_scorer(scoring)(model, *rows), abs=1e-12)


def test_balanced_accuracy_is_an_average_once_the_sizes_of_classes_are_public(
    opened: Open,
) -> None:
    rows = table(6_000, classes=4)
    rows = tuple(part[(rows[1] != 3) | (np.arange(6_000) % 5 == 0)] for part in rows)
    holdout, model = opened("balanced_accuracy", rows), fitted(classes=4)
    column = holdout.scoring.column(model, *rows)
    truth = get_scorer("balanced_accuracy")(model, *rows)
    assert column.mean() == pytest.approx(truth, abs=1e-12)
    assert column.max() <= holdout.scoring.bounds.high
    assert holdout.holdout.opening.terms.design.columns == ("label",)
    answer = holdout.ask(model)
    assert answer.interval.low <= truth <= answer.interval.high
    worse = fitted(classes=4, C=1e-5)
    assert holdout.gate(model, worse).status == "shown"
    assert holdout.gate(worse, model).status == "not shown"
    gain = truth - get_scorer("balanced_accuracy")(worse, *rows)
    compared = holdout.compare(model, worse)
    assert compared.interval.low <= gain <= compared.interval.high


@pytest.mark.parametrize("scoring", ["f1", "roc_auc"])
@pytest.mark.parametrize("verb", ["gate", "compare"])
def test_what_no_average_tells_apart_is_not_compared(opened: Open, scoring: str, verb: str) -> None:
    holdout = opened(scoring)
    with pytest.raises(InvalidArgument, match=r"is no average of rows.*ask for the score of each"):
        getattr(holdout, verb)(fitted(), fitted(C=0.1))
    assert holdout.holdout.columns == []


def test_text_labels_and_the_greater_of_two_classes(opened: Open) -> None:
    features, labels = rare(8_000)
    said = np.where(labels == 1, "yes", "no")
    training = rare(400, 7)
    model = LogisticRegression().fit(training[0], np.where(training[1] == 1, "yes", "no"))
    truth = get_scorer("roc_auc")(model, features, said)
    answer = opened("roc_auc", (features, said)).ask(model)
    assert answer.interval.low <= truth <= answer.interval.high
    mixed = np.where(labels == 1, np.array("yes", object), np.array(0, object))
    with pytest.raises(InvalidArgument, match="labels of the types int, str"):
        opened("accuracy", (features, mixed))


def test_one_is_the_positive_class_of_f1_as_scikit_learn_has_it(opened: Open) -> None:
    features, labels = rare(2_000)
    model = fitted().fit(rare(400, 7)[0], 1 + rare(400, 7)[1])
    scoring = opened("f1", (features, 1 + labels)).scoring
    found = scoring.score(model, features, 1 + labels)
    assert found == pytest.approx(get_scorer("f1")(model, features, 1 + labels))


class _Wavering(Copying):
    """Knows both classes, and decides by a number that is far outside any bounds."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        return np.asarray(np.sinh(np.asarray(X)[:, 0] * 100))


def test_decisions_without_bounds_keep_their_order(opened: Open) -> None:
    features, labels = table(3_000)
    holdout = opened("roc_auc", (features, labels))
    model = _Wavering().fit(features, labels)
    column = holdout.scoring.column(model, features, labels)
    assert (np.argsort(column) == np.argsort(features[:, 0])).all()
    assert len(np.unique(column)) == 3_000
    assert np.abs(column).max() < 1


def test_an_area_needs_scores_and_classes(opened: Open) -> None:
    holdout = opened("roc_auc")
    with pytest.raises(InvalidArgument, match="has no decision_function and no predict_proba"):
        holdout.ask(Copying().fit(*table(20)))
    with pytest.raises(InvalidArgument, match="of which classes its decision_function is"):
        holdout.ask(LinearSVC())
    assert holdout.holdout.columns == []


def test_a_ledger_without_public_sizes_tells_no_area(opened: Open) -> None:
    opened("accuracy").close()
    with pytest.raises(InvalidArgument, match="design is"):
        opened("roc_auc")
    opened("f1").ask(fitted())  # which needs none


@pytest.mark.parametrize("scoring", WHOLE)
def test_a_search_has_exact_scores(opened: Open, scoring: str, tmp_path: Path) -> None:
    holdout = opened(scoring, rare(3_000))
    search = HoldoutSearchCV(LogisticRegression(), {"C": [1e-3, 1.0]}, holdout=holdout)
    results = search.fit(*rare(400, 7)).cv_results_
    for params, score, low, high in zip(
        *(results[name] for name in ("params", "mean_test_score", "low", "high")), strict=True
    ):
        model = LogisticRegression(**params).fit(*rare(400, 7))
        assert score == pytest.approx(get_scorer(scoring)(model, *rare(3_000)), abs=5e-4)
        truth = get_scorer(scoring)(model, *rare(200_000, 99))
        assert low <= truth <= high
        assert high - low < 0.15
    assert "f1_interval" in str(holdout.holdout.certificate().to_dict()) or scoring != "f1"
    holdout.close()
    assert all(finding.fine for finding in audit(tmp_path / "whole.ledger"))


@pytest.mark.parametrize("scoring", WHOLE)
def test_cross_validation_is_by_the_same_score(opened: Open, scoring: str) -> None:
    search = HoldoutSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, holdout=opened(scoring), strategy="cv", cv=3
    ).fit(*rare(600, 7))
    grid = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scoring, cv=3)
    found = grid.fit(*rare(600, 7)).cv_results_["mean_test_score"]
    assert search.cv_results_["mean_test_score"] == pytest.approx(found)
