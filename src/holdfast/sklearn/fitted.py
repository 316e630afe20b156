"""Fitted estimators: who they are, and whether they can be asked about rows at all.

Who an estimator is must be public before a protected row is read: the digest of its pickle. Two
equal models pickle differently while they share objects; after one round trip they do not.
"""

from __future__ import annotations

import pickle
from hashlib import sha256
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.sklearn.matrix import LabelledRows
from holdfast.sklearn.scoring import RowScoring

__all__ = ["pickled_digest", "require_scorable"]


def pickled_digest(thing: Any, *also: str) -> str | None:
    """The digest of what can be pickled, and of texts beside it; None where it cannot."""
    import numpy as np

    import sklearn  # type: ignore[import-untyped]

    try:
        content = pickle.dumps(pickle.loads(pickle.dumps(thing, 5)), 5)
    except Exception:  # whatever an object raises that does not want to be pickled
        return None
    versions = f"scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    found = sha256(content)
    for text in (versions, *also):
        found.update(b"\0" + text.encode())
    return f"sha256:{found.hexdigest()}"


def require_scorable(estimator: Any, scoring: RowScoring, rows: LabelledRows) -> None:
    """Refuse what cannot be scored, by what is public: no protected row is read."""
    import numpy as np

    who = type(estimator).__name__
    if not callable(getattr(estimator, scoring.method, None)):
        raise InvalidArgument(
            f"{who} has no {scoring.method}, which {scoring.name} needs; choose another estimator "
            "or another scoring."
        )
    if scoring.method == "predict_proba" and not hasattr(estimator, "classes_"):
        raise InvalidArgument(
            f"{who} does not say of which classes its probabilities are; fit it, or give it "
            "classes_."
        )
    width = getattr(estimator, "n_features_in_", rows.width)
    if width != rows.width:
        raise InvalidArgument(
            f"{who} was fitted to {width:,} features, and the protected rows have {rows.width:,}; "
            "fit it to the same features."
        )
    invented = rows.invented()
    if invented is None:
        return  # no values are known that it should know
    try:
        scoring.of_rows(estimator, invented, np.zeros(2, dtype=rows.labels.dtype))
    except InvalidArgument:
        raise
    except Exception as failure:
        raise InvalidArgument(
            f"{who} fails on invented rows with {type(failure).__name__}: {str(failure)[:200]}; "
            "fit it, to rows like the protected ones."
        ) from failure
