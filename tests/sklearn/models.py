"""Small tables and models for the tests of `holdfast.sklearn`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

__all__ = ["Copying", "fitted", "rare", "table"]


def table(rows: int, seed: int = 1, classes: int = 2) -> tuple[NDArray[Any], NDArray[Any]]:
    """Four features, of which the first tells the class in most rows."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 4))
    cuts = np.quantile(rng.normal(size=10_001), np.arange(1, classes) / classes)
    return features, np.digitize(features[:, 0] + 0.4 * rng.normal(size=rows), cuts)


def rare(rows: int, seed: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same features; about three rows in ten are of class 1."""
    features, _ = table(rows, seed)
    noise = np.random.default_rng(seed + 1_000).normal(size=rows)
    return features, (features[:, 0] + 0.4 * noise > 0.55).astype(int)


def fitted(seed: int = 7, classes: int = 2, **params: Any) -> LogisticRegression:
    """A model that was fitted to other rows."""
    return LogisticRegression(**params).fit(*table(300, seed, classes))


class Copying(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the first feature: it is as good as that is; `tag` makes it another candidate."""

    def __init__(self, tag: int = 0) -> None:
        self.tag = tag

    def fit(self, X: Any, y: Any) -> Copying:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(X)[:, 0].astype(int)
