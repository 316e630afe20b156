"""How an estimator is scored on one row: a number in bounds that were declared, more is better.

What is asked is the average of these, so that whatever is no average of rows is refused here. A row
that an estimator fails on has the lowest score there is: that it failed is nothing to be told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from types import CodeType
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.declaring import bounds_pair
from holdfast.question.text import identifier, numeral

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array = NDArray[Any]
    _RowScores = Callable[[_Array, _Array, _Array | None], NDArray[np.float64]]

__all__ = ["RowScoring", "row_scoring"]

# A probability below this counts as this in the logarithmic loss, which has no bounds of its own.
_LEAST_PROBABILITY = 0.001
_NO_AVERAGE = ("balanced_accuracy", "f1", "f1_macro", "precision", "recall", "roc_auc", "r2")
_CLASSES = ("accuracy", "neg_brier_score", "neg_log_loss")


@dataclass(frozen=True, slots=True)
class RowScoring:
    """The score of a row by its label and what `method` of an estimator says of it.

    `scores` is given labels, what was said, and the estimator's classes. A score `is_right` if it
    is 1 or 0: its average is a share, which has the narrowest interval.
    """

    name: str
    method: str
    bounds: Range
    scores: _RowScores
    is_right: bool = False

    def of_rows(self, estimator: Any, features: Any, labels: _Array) -> NDArray[np.float64]:
        """The scores of an estimator on rows; an estimator that says too much or little fails."""
        import numpy as np

        said = np.asarray(getattr(estimator, self.method)(features))
        if said.ndim == 0 or len(said) != len(labels):
            raise InvalidArgument(
                f"{self.method} gave an array of the shape {said.shape} for {len(labels):,} rows; "
                "it must give one prediction for each row."
            )
        scores = self.scores(labels, said, getattr(estimator, "classes_", None))
        found = np.asarray(scores, dtype=np.float64)
        if found.shape != labels.shape:
            raise InvalidArgument(
                f"the scoring gave an array of the shape {found.shape} for {len(labels):,} rows; "
                "it must give one score for each row."
            )
        return found

    def averaged(self, column: str) -> str:
        """The question for the average score, where a column has the scores."""
        return f"avg({self._value(column)})"

    def gain(self, column: str, other: str) -> str:
        """The question for how much more one column has on average than another one."""
        return f"difference({self._value(column)}, {self._value(other)})"

    def _value(self, column: str) -> str:
        score = f"coalesce({identifier(column)}, {numeral(self.bounds.low)})"
        return f"{score} > 0.5" if self.is_right else score


def row_scoring(
    scoring: str | Callable[..., Any],
    labels: _Array,
    y_range: tuple[float, float] | None,
    bounds: tuple[float, float] | None,
) -> RowScoring:
    """The scoring as somebody names it; refused where it is no average of rows in bounds."""
    if callable(scoring):
        return _own(scoring, bounds)
    if bounds is not None:
        raise InvalidArgument(
            f"bounds is {bounds} and scoring {scoring!r}, which has bounds; leave them out, or "
            "give a function of labels and predictions."
        )
    if scoring in _CLASSES:
        return _of_classes(scoring, labels)
    if scoring in ("neg_mean_absolute_error", "neg_mean_squared_error"):
        return _of_errors(scoring, labels, y_range)
    if scoring in _NO_AVERAGE:
        raise InvalidArgument(
            f"scoring is {scoring!r}, which is no average of the rows' own scores, so that nothing "
            "is promised for it; choose accuracy, neg_log_loss, neg_brier_score or an error."
        )
    raise InvalidArgument(
        f"scoring is {scoring!r}; choose accuracy, neg_log_loss, neg_brier_score, "
        "neg_mean_absolute_error, neg_mean_squared_error, or give a function of labels and "
        "predictions with bounds=."
    )


def _own(function: Callable[..., Any], bounds: tuple[float, float] | None) -> RowScoring:
    if bounds is None:
        raise InvalidArgument(
            "scoring is a function without bounds; say between which numbers the score of a row "
            "is: bounds=(low, high)."
        )
    low, high = range_ = bounds_pair(bounds)
    name = f"{_identity(function)} in [{numeral(low)}, {numeral(high)}]"
    return RowScoring(name, "predict", range_, lambda labels, said, _: function(labels, said))


def _identity(function: Callable[..., Any]) -> str:
    """What tells a function from others of the same name: what it does, as far as it says so."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise InvalidArgument(
            f"scoring is {type(function).__name__}, and no function, so that nothing tells it from "
            "another one; give a function of labels and predictions."
        )
    held = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    told = [*_parts(code), repr(function.__defaults__), repr(function.__kwdefaults__), repr(held)]
    return f"{function.__name__} {sha256(repr(told).encode()).hexdigest()[:16]}"


def _parts(code: CodeType) -> list[str]:
    """Instructions, names and constants of a function's code and of those inside it."""
    found = [code.co_code.hex(), repr(code.co_names)]
    for each in code.co_consts:
        found += _parts(each) if isinstance(each, CodeType) else [repr(each)]
    return found


def _of_classes(scoring: str, labels: _Array) -> RowScoring:
    import numpy as np

    classes = len(np.unique(labels))
    if classes < 2:
        raise InvalidArgument(
            f"y has one class only, and {scoring} would tell no model from another; protect rows "
            "of at least two classes."
        )
    if scoring == "accuracy":
        return RowScoring(scoring, "predict", Range(0.0, 1.0), _right, is_right=True)
    if scoring == "neg_log_loss":
        low = math.log(_LEAST_PROBABILITY)
        return RowScoring(scoring, "predict_proba", Range(low, 0.0), _log_probability)
    # Of two classes it is the squared error of one of them, as scikit-learn has it.
    part = 0.5 if classes == 2 else 1.0
    return RowScoring(
        scoring,
        "predict_proba",
        Range(-2.0 * part, 0.0),
        lambda labels, said, known: part * _squared_distance(labels, said, known),
    )


def _of_errors(scoring: str, labels: _Array, y_range: tuple[float, float] | None) -> RowScoring:
    if y_range is None:
        raise InvalidArgument(
            f"scoring is {scoring!r} and y_range is not given; say between which numbers labels "
            "and predictions are: y_range=(low, high)."
        )
    if labels.dtype.kind not in "biuf":
        raise InvalidArgument(f"scoring is {scoring!r} and y holds no numbers; give numbers.")
    low, high = bounds_pair(y_range, "y_range")
    power = 1 if scoring == "neg_mean_absolute_error" else 2

    def scores(labels: _Array, said: _Array, _: _Array | None) -> NDArray[np.float64]:
        import numpy as np

        inside = [np.clip(each.astype(np.float64), low, high) for each in (labels, said)]
        return -(np.abs(inside[0] - inside[1]) ** power)

    name = f"{scoring} in [{numeral(low)}, {numeral(high)}]"
    return RowScoring(name, "predict", Range(-((high - low) ** power), 0.0), scores)


def _right(labels: _Array, said: _Array, _: _Array | None) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(said == labels, dtype=np.float64)


def _indicators(labels: _Array, known: _Array | None) -> NDArray[np.float64]:
    """For each row 1 at the place of its class and 0 elsewhere, by the estimator's classes."""
    import numpy as np

    return np.asarray(labels[:, None] == np.asarray(known)[None, :], dtype=np.float64)


def _log_probability(labels: _Array, said: _Array, known: _Array | None) -> NDArray[np.float64]:
    import numpy as np

    given = (said * _indicators(labels, known)).sum(axis=1)
    return np.asarray(np.log(np.clip(given, _LEAST_PROBABILITY, 1.0)))


def _squared_distance(labels: _Array, said: _Array, known: _Array | None) -> NDArray[np.float64]:
    """Minus the squared distance of the probabilities; a class nobody learnt had probability 0."""
    import numpy as np

    truth = _indicators(labels, known)
    unknown = 1.0 - truth.sum(axis=1)
    return np.asarray(-(((said - truth) ** 2).sum(axis=1) + unknown))
