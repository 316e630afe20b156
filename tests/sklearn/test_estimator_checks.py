"""The checks that scikit-learn has for estimators, on a search with rows for each check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB  # type: ignore[import-untyped]
from sklearn.utils.estimator_checks import (  # type: ignore[import-untyped]
    parametrize_with_checks,
)

from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout

# What a check expects and a search does not do, with the reason.
EXPECTED_FAILURES = {
    "check_dtype_object": "wants the estimator's own TypeError; a candidate that cannot be fitted "
    "is one less, and that none can be is a ValueError that quotes it",
}


class _Held(HoldoutSearchCV):
    """A search whose protected rows have as many features and the classes of whatever is fitted.

    A holdout has one width and its classes, and each check brings its own.
    """

    held: Callable[[int, tuple[Any, ...]], ReusableHoldout]

    def fit(self, X: Any, y: Any = None) -> _Held:
        self.held_ = _Held.held(_width(X), _classes(y))
        with self._holding():
            return super().fit(X, y)

    def score(self, X: Any, y: Any) -> float:
        with self._holding():
            return super().score(X, y)

    @contextmanager
    def _holding(self) -> Iterator[None]:
        given, self.holdout = self.holdout, self.held_
        try:
            yield
        finally:
            self.holdout = given


def _width(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return int(shape[1]) if len(shape) == 2 and shape[1] else 2


def _classes(y: Any) -> tuple[Any, ...]:
    found = tuple(np.unique(np.asarray(y)).tolist()) if y is not None else ()
    return found if 2 <= len(found) <= 10 else (0, 1)


@pytest.fixture(scope="module")
def _holdouts(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("checks")
    known: dict[tuple[int, tuple[Any, ...]], ReusableHoldout] = {}

    def held(width: int, classes: tuple[Any, ...]) -> ReusableHoldout:
        key = width, classes
        if key not in known:
            rng = np.random.default_rng(len(known))
            known[key] = ReusableHoldout(
                rng.normal(size=(100, width)),
                np.array(classes)[rng.integers(len(classes), size=100)],
                ledger=folder / f"{len(known)}.ledger",
                tolerance=0.45,
            )
        return known[key]

    _Held.held = staticmethod(held)


@pytest.mark.usefixtures("_holdouts")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [_Held(GaussianNB(), {"var_smoothing": [1e-9]}, holdout=None, share=0.01)],  # type: ignore[arg-type]
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
