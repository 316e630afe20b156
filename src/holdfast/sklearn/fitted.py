"""Fitted estimators: who they are, and whether they can be asked about rows at all.

Who an estimator is must be public before a protected row is read: the digest of its pickle, after
one round trip, and without references: which equal texts are one object differs between processes.
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import isnan
from time import perf_counter
from typing import Any

from holdfast.data.source import require_unforked
from holdfast.errors import InvalidArgument
from holdfast.question.functions import are_alike
from holdfast.sklearn.matrix import LabelledRows, labelled_rows
from holdfast.sklearn.scoring import Scoring

_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Fitted:
    """A candidate that was fitted, or why it could not be, and how long that took.

    `cv_score` is its cross-validated score, where that was wanted and could be had.
    """

    estimator: Any
    error: str | None
    seconds: float
    cv_score: float | None = None


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """How candidates are scored on the rows that they are fitted to: folds, and the scoring."""

    scoring: Scoring
    folds: Any

    def score(self, candidate: Any, X: Any, y: Any) -> float | None:
        """The average over folds; None where the rows cannot be parted so, or a fold fails."""
        from sklearn.base import clone  # type: ignore[import-untyped]
        from sklearn.model_selection import (  # type: ignore[import-untyped]
            cross_val_score,
        )

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of folds that fail: the candidate has no score
            try:
                scores = cross_val_score(
                    clone(candidate), X, y, scoring=self._of_fold, cv=self.folds
                )
            except Exception:  # whatever an estimator or a splitter raises
                return None
        average = float(scores.mean())
        return None if isnan(average) else average

    def _of_fold(self, estimator: Any, X: Any, y: Any) -> float:
        rows = labelled_rows(X, y)
        return self.scoring.score(estimator, rows.features, rows.labels)


def fitted(
    template: Any,
    params: Mapping[str, Any],
    X: Any,
    y: Any,
    cross_validation: CrossValidation | None = None,
) -> Fitted:
    """The candidate of a configuration, fitted to rows that are not protected."""
    from sklearn.base import clone

    started = perf_counter()
    try:
        if type(X).__module__.startswith("polars"):
            require_unforked()  # where others would wait for it for ever
        settings = {name: clone(value, safe=False) for name, value in params.items()}
        candidate, error = clone(template).set_params(**settings).fit(X, y), None
    except Exception as failure:  # whatever an estimator raises: one candidate less
        candidate, error = None, _reason(failure)
    seconds, score = perf_counter() - started, None
    if candidate is not None and cross_validation is not None:
        score = cross_validation.score(candidate, X, y)
    return Fitted(candidate, error, seconds, score)


def _reason(failure: Exception) -> str:
    reason = str(failure)
    shown = reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 3]}..."
    return f"{type(failure).__name__}: {shown}"


def pickled_digest(thing: Any, *also: str) -> str | None:
    """The digest of what can be pickled, and of texts beside it; None where it cannot."""
    import numpy as np

    import sklearn  # type: ignore[import-untyped]

    try:
        content = _by_value(pickle.loads(pickle.dumps(thing, 5)))
    except Exception:  # whatever an object raises that does not want to be pickled
        return None
    versions = f"scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    digest = sha256(content)
    for text in (versions, *also):
        digest.update(b"\0" + text.encode())
    return f"sha256:{digest.hexdigest()}"


def _by_value(thing: Any) -> bytes:
    """Its pickle without references to what was written before, where nothing refers to itself."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True
    try:
        pickler.dump(thing)
    except ValueError:
        return pickle.dumps(thing, 5)
    return buffer.getvalue()


def require_scorable(estimator: Any, scoring: Scoring, rows: LabelledRows) -> None:
    """Refuse what cannot be scored, by what is public: no protected row is read."""
    why = unscorable(estimator, scoring, rows)
    if why is not None:
        raise InvalidArgument(why)


def unscorable(estimator: Any, scoring: Scoring, rows: LabelledRows) -> str | None:
    """Why an estimator cannot be scored, by what is public; None if it can."""
    if isinstance(estimator, type):
        return (
            f"{estimator.__name__} is a class; give an estimator that was fitted to other rows: "
            f"{estimator.__name__}().fit(X_train, y_train)."
        )
    name, method = type(estimator).__name__, scoring.method_of(estimator)
    if method is None:
        return (
            f"{name} has no {' and no '.join(scoring.methods)}, which {scoring.name} needs; give "
            "an estimator, fitted to other rows, or choose another scoring."
        )
    if method != "predict" and not hasattr(estimator, "classes_"):
        return f"{name} does not say of which classes its {method} is; fit it, or give it classes_."
    width = getattr(estimator, "n_features_in_", rows.width)
    if width != rows.width:
        return (
            f"{name} was fitted to {width:,} features, and the protected rows have {rows.width:,}; "
            "fit it to the same features."
        )
    return _failure_on_invented(estimator, scoring, rows)


def _failure_on_invented(estimator: Any, scoring: Scoring, rows: LabelledRows) -> str | None:
    """How an estimator fails on rows that are nobody's, where such rows can be made."""
    import numpy as np

    invented = rows.invented()
    if invented is None:
        return None  # no values are known that it should know
    try:
        scoring.column(estimator, invented, np.zeros(2, dtype=rows.labels.dtype))
    except InvalidArgument as failure:
        return str(failure)
    except Exception as failure:
        return (
            f"{type(estimator).__name__} fails on invented rows with {_reason(failure)}; fit it, "
            "to rows like the protected ones."
        )
    return _batch_dependence(estimator, scoring.method_of(estimator), rows, invented)


def _batch_dependence(
    estimator: Any, method: str | None, rows: LabelledRows, invented: Any
) -> str | None:
    """That an estimator predicts invented rows otherwise together than one by one."""
    import numpy as np

    together = np.asarray(getattr(estimator, str(method))(invented))
    both = LabelledRows(invented, np.zeros(2, dtype=rows.labels.dtype))
    try:
        alone = np.concatenate(
            [
                np.asarray(
                    getattr(estimator, str(method))(both.rows_at(np.array([place])).features)
                )
                for place in range(2)
            ]
        )
        if alone.dtype.kind in "biuf" and together.dtype.kind in "biuf":
            alike = are_alike(together, alone)
        else:
            alike = np.array_equal(together, alone)
    except Exception:  # it fails on a row that it predicts among others
        alike = False
    if alike:
        return None
    return (
        f"{method} of {type(estimator).__name__} says something else of two invented rows together "
        "than of each alone; a prediction may depend on its row alone: fit what it needs of other "
        "rows, such as means, before."
    )
