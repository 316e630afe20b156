"""One ledger, whoever looks: copies, clones, other processes, threads; and forks, which may not."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from holdfast.errors import HoldfastError
from holdfast.sklearn import HoldoutObjective, HoldoutSearchCV, ReusableHoldout
from tests.forks import in_a_fork
from tests.sklearn.models import fitted, table

TRAINING = table(300, 7)


@pytest.fixture
def holdout(tmp_path: Path) -> ReusableHoldout:
    return ReusableHoldout(*table(2_000), ledger=tmp_path / "shared.ledger", tolerance=0.1)


def test_copies_clones_and_pickles_share_the_ledger(holdout: ReusableHoldout) -> None:
    assert clone(holdout) is holdout
    assert copy.deepcopy(holdout) is holdout
    assert copy.copy(holdout) is holdout
    sent = pickle.loads(pickle.dumps(holdout))
    holdout.ask(fitted())
    assert sent.ask(fitted()).status == "repeated"
    assert len(sent.board()) == 1


def test_a_search_that_was_copied_or_sent_is_the_same(holdout: ReusableHoldout) -> None:
    search = HoldoutSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, holdout=holdout, tell="all")
    search.fit(*TRAINING)
    sent = pickle.loads(pickle.dumps(search))
    assert sent.best_interval_ == search.best_interval_
    assert sent.best_answer_.receipt == search.best_answer_.receipt
    assert (sent.predict(TRAINING[0]) == search.predict(TRAINING[0])).all()
    for other in (sent, copy.deepcopy(search), clone(search)):
        assert other.fit(*TRAINING).cv_results_["status"] == ["repeated"] * 2
    assert len(holdout.board()) == 2


def test_another_process_has_the_same_ledger(holdout: ReusableHoldout) -> None:
    """loky starts it anew, so that nothing of Polars is taken along."""
    search = HoldoutSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, holdout=holdout, tell="all")
    workers = get_reusable_executor(max_workers=1)
    try:
        there = workers.submit(_searched, search).result(timeout=120)
    finally:
        workers.shutdown(wait=True, kill_workers=True)
    assert there == (["answered"] * 2, search.fit(*TRAINING).best_interval_)
    assert search.cv_results_["status"] == ["repeated"] * 2


def _searched(search: HoldoutSearchCV) -> tuple[list[str], tuple[float, float]]:
    search.fit(*TRAINING)
    return search.cv_results_["status"], search.best_interval_


def test_threads_share_one_ledger(holdout: ReusableHoldout) -> None:
    objective = HoldoutObjective(
        LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]}, *TRAINING, holdout=holdout, tell="all"
    )
    tried = [{"C": value} for value in (0.01, 0.1, 1.0, 10.0)] * 2
    with ThreadPoolExecutor(4) as threads:
        scores = list(threads.map(objective, tried))
    assert scores[:4] == scores[4:]
    assert scores[2] == pytest.approx(fitted(C=1.0).score(*table(2_000)), abs=1e-9)
    assert sorted(each.status for each in objective.tried) == ["answered"] * 4 + ["repeated"] * 4
    assert len(holdout.board()) == 4
    assert objective.best is not None
    assert objective.best.score == max(scores)


def test_candidates_are_fitted_by_threads_too(holdout: ReusableHoldout) -> None:
    from joblib import parallel_config

    search = HoldoutSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, holdout=holdout, tell="all", n_jobs=2
    )
    with parallel_config(backend="threading"):
        search.fit(*TRAINING)
    assert search.cv_results_["status"] == ["answered"] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_is_refused_and_does_not_hang(holdout: ReusableHoldout, tmp_path: Path) -> None:
    """Polars hangs in a fork, so that nothing of it may be touched there, not even a table."""
    features, labels = table(300, 3)
    frame = pl.DataFrame(features)
    pickled = pickle.dumps(holdout)
    search = HoldoutSearchCV(LogisticRegression(), {"C": [1.0]}, holdout=holdout)
    framed = ReusableHoldout(frame, labels, ledger=tmp_path / "framed", tolerance=0.4)
    uses: list[Any] = [
        lambda: ReusableHoldout(features, labels, ledger=tmp_path / "forked"),
        lambda: pickle.loads(pickled),
        lambda: holdout.ask(fitted()),
        holdout.board,
        lambda: framed.ask(LogisticRegression()),
        lambda: search.fit(frame, labels),
        lambda: HoldoutObjective(LogisticRegression(), {}, frame, labels, holdout=framed),
    ]

    def touched(*_: object, **__: object) -> None:
        raise AssertionError("Polars was touched")

    def every_use() -> str:
        for each in ("__init__", "to_numpy", "__getitem__"):  # of the child's own copy
            setattr(pl.DataFrame, each, touched)
        return "\n".join(_refusal(use) for use in uses)

    said = in_a_fork(every_use).splitlines()
    assert len(said) == len(uses)
    assert all("is a fork" in line for line in said), said
    assert not (tmp_path / "forked").exists()


def _refusal(use: Any) -> str:
    try:
        use()
    except HoldfastError as error:
        return str(error)
    return "done"
