"""A Dask cluster of this machine: trials of the laboratory, and a search, spread over its workers.

joblib hands out both. Trials are seeded by their number, so that wherever one runs it is the same.
The candidates of a search are fitted by the workers, to rows that anyone may see; the protected
flights stay here, and every candidate is scored on the one ledger, in the order of the list.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]

from examples.search import Sets, drawn
from holdfast.lab.arena.trial import Result, Scenario, run_trials, verdict
from holdfast.lab.attacks.attacks import SignAttack
from holdfast.lab.world.holders import Plain
from holdfast.lab.world.populations import Signs, terms_on
from holdfast.lab.world.session import Protected
from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout

FEATURES, ROWS, TRIALS, WORKERS = 100, 1_000, 20, 2
SPACE: Mapping[str, Sequence[int]] = {"max_depth": [2, 4, 6], "random_state": range(10)}


@contextmanager
def cluster(workers: int = WORKERS, *, processes: bool = True) -> Iterator[None]:
    """Workers on this machine, which nobody else can reach, for all that joblib hands out."""
    from dask.distributed import Client, LocalCluster
    from joblib import parallel_config

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address=None,
        ) as local,
        Client(local),
        parallel_config(backend="dask"),
    ):
        yield


def tried(protected: bool, trials: int, n_jobs: int = -1) -> tuple[Result, ...]:
    """Trials of an attacker who votes with the features that looked good: -1 is every worker."""
    population = Signs(features=FEATURES)
    terms = terms_on(population, rows=ROWS, tolerance=0.35, questions=FEATURES + 1)
    holder = Protected() if protected else Plain()
    scenario = Scenario(population, holder, SignAttack(FEATURES), terms)
    return run_trials(scenario, trials, n_jobs=n_jobs)


def searched(
    sets: Sets, ledger: Path, space: Mapping[str, Sequence[int]] = SPACE
) -> HoldoutSearchCV:
    """Every candidate fitted by a worker, and scored here, on the ledger."""
    with ReusableHoldout(*sets.holdout, ledger=ledger) as holdout:
        search = HoldoutSearchCV(
            DecisionTreeClassifier(), space, holdout=holdout, tell="all", n_jobs=-1
        )
        return search.fit(*sets.train)


def session(trials: int = TRIALS, space: Mapping[str, Sequence[int]] = SPACE) -> None:
    """Both, on one cluster."""
    sets = drawn()
    with cluster(), tempfile.TemporaryDirectory() as folder:
        for name, protected in (("plain answers", False), ("Holdfast", True)):
            print(f"{name:<16} {verdict(tried(protected, trials), beta=0.05)}")
        search = searched(sets, Path(folder) / "search.ledger", space)
    truth = float((search.predict(sets.fresh[0]) == sets.fresh[1]).mean())
    low, high = search.best_interval_
    print(f"{len(search.cv_results_['params'])} trees were fitted by {WORKERS} workers")
    print(f"the best scores {search.best_score_:.3f} [{low:.3f}, {high:.3f}], and is {truth:.3f}")


if __name__ == "__main__":
    session()
