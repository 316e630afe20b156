"""What joblib hands to a Dask cluster is what it does here: trials, and the fits of a search."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from examples import cluster, search

from holdfast.sklearn import ReusableHoldout
from tests.sklearn.models import table

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="a cluster needs dask[distributed], not installed"
)
SPACE = {"max_depth": [2, 4], "random_state": range(2)}


def test_trials_and_searches_on_a_cluster_are_those_of_one_process(tmp_path: Path) -> None:
    """Workers are threads here: a process takes seconds to start."""
    sets = search.Sets(table(300, 7), table(1_000), table(300, 5))
    with cluster.cluster(processes=False):
        trials = cluster.tried(protected=True, trials=3)
        found = cluster.searched(sets, tmp_path / "cluster.ledger", SPACE)
    assert trials == cluster.tried(protected=True, trials=3, n_jobs=1)
    alone = search.searched(sets, SPACE, tmp_path / "alone.ledger")
    assert found.cv_results_["params"] == alone.cv_results_["params"]
    assert found.cv_results_["status"] == ["answered"] * 4
    assert found.best_interval_ == alone.best_interval_
    with ReusableHoldout(*sets.holdout, ledger=tmp_path / "cluster.ledger") as holdout:
        assert len(holdout.board()) == 4
