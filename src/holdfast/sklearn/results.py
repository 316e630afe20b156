"""`cv_results_`: what was tried, by the names that scikit-learn gives, with what was promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.sklearn.objective import Tried

if TYPE_CHECKING:
    from holdfast.holdout.answer import Answer

__all__ = ["cross_validated_results", "searched_results"]

_CROSS_VALIDATED = "cross-validated"


def searched_results(tried: Sequence[Tried]) -> dict[str, Any]:
    """A search's candidates in order: exact scores, each with its interval and receipt."""
    import numpy as np

    intervals = [(None, None) if each.answer is None else each.answer.interval for each in tried]
    scores = _numbers([each.score for each in tried])
    return {
        "mean_fit_time": np.array([each.seconds_to_fit for each in tried]),
        "mean_score_time": np.array([each.seconds_to_score for each in tried]),
        **_by_parameter([each.params for each in tried]),
        "params": [dict(each.params) for each in tried],
        "mean_test_score": scores,
        "rank_test_score": _ranks(scores),
        "status": [each.status for each in tried],
        "low": _numbers([low for low, _ in intervals]),
        "high": _numbers([high for _, high in intervals]),
        "receipt": [None if each.answer is None else each.answer.receipt for each in tried],
        "error": [each.error for each in tried],
    }


def cross_validated_results(
    found: Mapping[str, Any], winner: int, answer: Answer
) -> dict[str, Any]:
    """What cross-validation found; the holdout has said something of the winner alone."""
    count = len(found["params"])
    statuses = [_CROSS_VALIDATED] * count
    receipts: list[str | None] = [None] * count
    ends: list[list[float | None]] = [[None] * count, [None] * count]
    statuses[winner], receipts[winner] = answer.status, answer.receipt
    for end, value in zip(ends, answer.interval, strict=True):
        end[winner] = value
    low, high = map(_numbers, ends)
    return {**found, "status": statuses, "low": low, "high": high, "receipt": receipts}


def _numbers(values: Sequence[float | None]) -> Any:
    import numpy as np

    return np.array([np.nan if each is None else each for each in values])


def _by_parameter(params: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For each parameter its values, masked where a candidate does not have it."""
    import numpy as np

    names = sorted({name for each in params for name in each})
    found = {}
    for name in names:
        values: Any = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for place, each in enumerate(params):
            if name in each:
                values[place] = each[name]
        found[f"param_{name}"] = values
    return found


def _ranks(scores: Any) -> Any:
    """1 for the best; what has no score is behind all others."""
    import numpy as np

    known = np.where(np.isnan(scores), -np.inf, scores)
    return 1 + np.array([(known > each).sum() for each in known], dtype=np.int32)
