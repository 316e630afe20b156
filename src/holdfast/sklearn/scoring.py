"""How an estimator is scored: scorings by name, and the column it makes of rows.

Most scores are averages of the rows' own, in bounds that were declared; more is better. F1 and the
area under the curve are none: their columns hold what was predicted, and the label is read beside
it. A row that an estimator fails on has the lowest score there is: that it failed is not told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.declaring import bounds_pair
from holdfast.question.expression import identifier, numeral, string
from holdfast.sklearn.caps import ErrorCaps
from holdfast.sklearn.matrix import DEVIATION, LABEL, label_texts
from holdfast.statistics.metrics import METRICS, UNIT, loss_text, scoring_meant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array = NDArray[Any]


class Summary(Protocol):
    """What is asked of a column, and what that is for rows that are not protected."""

    def question(self, column: str, low: float) -> str:
        """The question for the score of a column whose least value is `low`."""
        ...

    def gain(self, column: str, incumbent: str, low: float) -> str | None:
        """That for how much higher one score is than another; None where no average tells it."""
        ...

    def better(self, column: str, incumbent: str, low: float) -> str | None:
        """That for what is above 0 if one score is higher than another; None if there is none."""
        ...

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        """The score, where rows are at hand."""
        ...


@dataclass(frozen=True, slots=True)
class Scoring:
    """A score by the labels of rows and what an estimator says of them.

    It is asked by the first of `methods` that it has. `values` makes a column of that: it is given
    labels, what was said, and the estimator's classes. With `public_classes` the number of rows of
    each class is public, and every promise is for classes of those sizes. Of `errors` it is known
    by what they are differences from; they are perhaps capped, by `caps`, which is said of answers.
    """

    name: str
    methods: tuple[str, ...]
    bounds: Range
    values: Callable[[_Array, _Array, _Array | None], _Array]
    summary: Summary
    public_classes: bool = False
    errors: str | None = None
    caps: ErrorCaps | None = None

    @property
    def note(self) -> str | None:
        """What is said with every answer: the cap of errors."""
        return None if self.caps is None else f"errors capped at {numeral(self.caps.cap)}"

    @property
    def is_share(self) -> bool:
        """Whether it is the share of rows, alike, in which an estimator is right."""
        is_right = isinstance(self.summary, AverageOfRows) and self.summary.is_right
        return is_right and not self.public_classes

    def method_of(self, estimator: Any) -> str | None:
        """The method that an estimator is asked by; None if it has none of them."""
        return next(
            (each for each in self.methods if callable(getattr(estimator, each, None))), None
        )

    def column(self, estimator: Any, features: Any, labels: _Array) -> NDArray[np.float64]:
        """What an estimator makes of rows; one that says too much or too little fails."""
        import numpy as np

        method = self.method_of(estimator) or self.methods[0]
        predictions = np.asarray(getattr(estimator, method)(features))
        if predictions.ndim == 0 or len(predictions) != len(labels):
            raise InvalidArgument(
                f"{method} gave an array of the shape {predictions.shape} for {len(labels):,} "
                "rows; it must give one prediction for each row."
            )
        values = self.values(labels, predictions, getattr(estimator, "classes_", None))
        scores = np.asarray(values, dtype=np.float64)
        if scores.shape != labels.shape:
            raise InvalidArgument(
                f"the scoring gave an array of the shape {scores.shape} for {len(labels):,} "
                "rows; it must give one score for each row."
            )
        return scores

    def score(self, estimator: Any, features: Any, labels: _Array) -> float:
        """The score on rows that are not protected."""
        return self.summary.of_all(labels, self.column(estimator, features, labels))

    def question(self, column: str) -> str:
        """The question for the score, where a column has the estimator's values."""
        return self.summary.question(column, self.bounds.low)

    def gain(self, column: str, incumbent: str) -> str:
        """The question for how much higher one column's score is than another's."""
        return self._compared(self.summary.gain(column, incumbent, self.bounds.low))

    def better(self, column: str, incumbent: str) -> str:
        """The question that is above 0 if one column's score is higher than another's."""
        return self._compared(self.summary.better(column, incumbent, self.bounds.low))

    def _compared(self, question: str | None) -> str:
        if question is None:  # of whatever columns
            raise InvalidArgument(
                f"scoring is {self.name!r}, and a difference of two such scores is no average of "
                "rows, so that nothing shows it; compare by accuracy, balanced_accuracy or a loss, "
                "or ask for the score of each."
            )
        return question

    def closer(self, column: str, incumbent: str) -> str:
        """The question on how many more rows one column's error is the smaller one."""
        if self.errors is None:
            raise InvalidArgument(
                f"scoring is {self.name!r}, and who is closer is told by errors; choose one of "
                f"{', '.join(_OF_ERRORS)}."
            )
        return f"closer({identifier(column)}, {identifier(incumbent)}, {self.errors})"


@dataclass(frozen=True, slots=True)
class AverageOfRows:
    """The average of the rows' own scores.

    One that `is_right` is 1 or 0: its average is a share, which has the narrowest interval.
    """

    is_right: bool = False

    def question(self, column: str, low: float) -> str:
        return f"avg({self._value(column, low)})"

    def gain(self, column: str, incumbent: str, low: float) -> str | None:
        return f"difference({self._value(column, low)}, {self._value(incumbent, low)})"

    def better(self, column: str, incumbent: str, low: float) -> str | None:
        return self.gain(column, incumbent, low)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:  # noqa: ARG002
        return float(column.mean())

    def _value(self, column: str, low: float) -> str:
        score = f"coalesce({identifier(column)}, {numeral(low)})"
        return f"{score} > 0.5" if self.is_right else score


@dataclass(frozen=True, slots=True)
class ClassesOfRows:
    """The average of what is right in each class.

    With the sizes of classes public it is an average of rows: a row that is right counts by how
    much rarer its class is than others, so that each class counts alike.
    """

    def question(self, column: str, low: float) -> str:
        return AverageOfRows().question(column, low)

    def gain(self, column: str, incumbent: str, low: float) -> str | None:
        return AverageOfRows().gain(column, incumbent, low)

    def better(self, column: str, incumbent: str, low: float) -> str | None:
        return self.gain(column, incumbent, low)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        import numpy as np

        # Other rows have classes of other sizes; whatever a row that is right counts, it is not 0.
        return float(np.mean([(column[labels == each] > 0).mean() for each in np.unique(labels)]))


@dataclass(frozen=True, slots=True)
class OverlapOfRows:
    """F1 of a column that is 1 where the `positive` class was predicted."""

    positive: Any

    def question(self, column: str, low: float) -> str:
        return f"f1(coalesce({identifier(column)}, {numeral(low)}) > 0.5, {_is(self.positive)})"

    def gain(self, column: str, incumbent: str, low: float) -> str | None:  # noqa: ARG002
        return None

    def better(self, column: str, incumbent: str, low: float) -> str | None:
        return self.gain(column, incumbent, low)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        from sklearn.metrics import f1_score  # type: ignore[import-untyped]

        return float(f1_score(labels == self.positive, column > 0.5, zero_division=0.0))


@dataclass(frozen=True, slots=True)
class AreaOfRows:
    """The area under the ROC curve of a column that has scores of the `positive` class."""

    positive: Any

    def question(self, column: str, low: float) -> str:  # noqa: ARG002 - nothing is below a missing one
        return f"auc({identifier(column)}, {_is(self.positive)})"

    def gain(self, column: str, incumbent: str, low: float) -> str | None:  # noqa: ARG002
        return None

    def better(self, column: str, incumbent: str, low: float) -> str | None:
        return self.gain(column, incumbent, low)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(labels == self.positive, column))


@dataclass(frozen=True, slots=True)
class RootOfRows:
    """Minus the root of the mean square of a column that has capped errors."""

    caps: ErrorCaps

    def question(self, column: str, low: float) -> str:  # noqa: ARG002 - a missing one is the cap
        return f"neg_rmse({identifier(column)}, 0, {numeral(self.caps.cap)})"

    def gain(self, column: str, incumbent: str, low: float) -> str | None:  # noqa: ARG002
        return None

    def better(self, column: str, incumbent: str, low: float) -> str | None:  # noqa: ARG002
        return _smaller_loss(column, incumbent, "0", self.caps.cap)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:  # noqa: ARG002
        return -float((column**2).mean() ** 0.5)


@dataclass(frozen=True, slots=True)
class ShareExplained:
    """R2 of a column that has capped errors, each added to the label's own deviation.

    The deviation is that from the baseline, capped too: a column of the holdout.
    """

    caps: ErrorCaps

    def question(self, column: str, low: float) -> str:  # noqa: ARG002 - a missing one is the cap
        caps = f"{numeral(self.caps.cap)}, {numeral(self.most)}"
        return f"r2({identifier(column)}, {DEVIATION}, 0, {caps})"

    def gain(self, column: str, incumbent: str, low: float) -> str | None:  # noqa: ARG002
        return None

    def better(self, column: str, incumbent: str, low: float) -> str | None:  # noqa: ARG002
        return _smaller_loss(column, incumbent, DEVIATION, self.caps.cap)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        own = self.deviations(labels)
        rest, whole = ((each**2).mean() for each in (column - own, own))
        return max(-1.0, float(1.0 - rest / whole)) if whole else -1.0

    def deviations(self, labels: _Array) -> NDArray[np.float64]:
        """The labels minus the baseline, capped."""
        import numpy as np

        return np.clip(labels.astype(np.float64) - self.caps.baseline, -self.most, self.most)

    @property
    def most(self) -> float:
        """The cap of the baseline's errors."""
        if self.caps.baseline_cap is None:
            raise InvalidArgument(
                "scoring is 'r2' and caps has no baseline_cap, which caps the errors of the "
                "baseline; say it, or take caps from error_caps."
            )
        return self.caps.baseline_cap


def _smaller_loss(column: str, incumbent: str, label: str, cap: float) -> str:
    """How much smaller the mean squared error of one column is than that of another."""
    losses = (loss_text(identifier(each), label, cap) for each in (incumbent, column))
    return f"difference({', '.join(losses)})"


def _is(label: Any) -> str:
    """The condition that a row has this label."""
    (text,) = label_texts([label])
    return f"{LABEL} = {string(text)}"


# The scorings that can be named, as scikit-learn calls them, and functions of one's own.


# A probability below this counts as this in the logarithmic loss, which has no bounds of its own.
_LEAST_PROBABILITY = 0.001
# No decision is further from 0 than the greatest double, whose inverse hyperbolic sine is 710.5.
_MOST_DECIDED = 711.0
_OF_ERRORS = {each.scoring: each for each in METRICS.values() if each.scoring and each.power}
_ERRORS = {name: each.power or 1 for name, each in _OF_ERRORS.items() if each.of_rows}
_WHOLE_ERRORS = tuple(name for name in _OF_ERRORS if name not in _ERRORS)  # they need caps


def scoring_of(
    scoring: str | Callable[..., Any],
    labels: _Array,
    y_range: tuple[float, float] | None,
    bounds: tuple[float, float] | None,
    caps: ErrorCaps | None = None,
) -> Scoring:
    """The scoring as somebody names it; which classes there are in `labels` is public."""
    if caps is not None and (callable(scoring) or scoring not in _OF_ERRORS):
        raise InvalidArgument(
            "caps are given, and the scoring is none of errors; leave them out, or choose one of "
            f"{', '.join(_OF_ERRORS)}."
        )
    if callable(scoring):
        return _own(scoring, bounds)
    if bounds is not None:
        raise InvalidArgument(
            f"bounds is {bounds} and scoring {scoring!r}, which has bounds; leave them out, or "
            "give a function of labels and predictions."
        )
    if caps is not None or scoring in _WHOLE_ERRORS:
        return _of_capped_errors(scoring, labels, y_range, caps)
    if scoring in _ERRORS:
        return _of_errors(scoring, labels, y_range)
    if scoring in _OF_CLASSES:
        return _of_classes(scoring, labels)
    known, named = (*_OF_CLASSES, *_OF_ERRORS), scoring_meant(scoring)
    advice = "choose" if named is None else f"did you mean {named!r}? Choose"
    raise InvalidArgument(
        f"scoring is {scoring!r}; {advice} {', '.join(known)}, or give a function of labels and "
        "predictions that has a score for each row, with bounds=."
    )


def _own(function: Callable[..., Any], bounds: tuple[float, float] | None) -> Scoring:
    if bounds is None:
        raise InvalidArgument(
            "scoring is a function without bounds; say between which numbers the score of a row "
            "is: bounds=(low, high)."
        )
    low, high = range_ = bounds_pair(bounds)
    name = f"{_identity(function)} in [{numeral(low)}, {numeral(high)}]"
    values = partial(_by_function, function)
    return Scoring(name, ("predict",), range_, values, AverageOfRows())


def _by_function(
    function: Callable[..., Any], labels: _Array, predictions: _Array, _: _Array | None
) -> Any:
    return function(labels, predictions)


def _identity(function: Callable[..., Any]) -> str:
    """What tells a function from others of the same name: what it does, as far as it says so."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise InvalidArgument(
            f"scoring is {type(function).__name__}, and no function, so that nothing tells it from "
            "another one; give a function of labels and predictions."
        )
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    facts = [*_parts(code), repr(function.__defaults__), repr(function.__kwdefaults__), repr(cells)]
    return f"{function.__name__} {sha256(repr(facts).encode()).hexdigest()[:16]}"


def _parts(code: CodeType) -> list[str]:
    """Instructions, names and constants of a function's code and of those inside it."""
    facts = [code.co_code.hex(), repr(code.co_names)]
    for each in code.co_consts:
        facts += _parts(each) if isinstance(each, CodeType) else [repr(each)]
    return facts


def _of_errors(scoring: str, labels: _Array, y_range: tuple[float, float] | None) -> Scoring:
    if y_range is None:
        raise InvalidArgument(
            f"scoring is {scoring!r}, and neither caps nor y_range is given; take caps= from "
            "error_caps, or say between which numbers labels and predictions are: "
            "y_range=(low, high)."
        )
    _require_numbers(scoring, labels)
    range_, power = bounds_pair(y_range, "y_range"), _ERRORS[scoring]
    low, high = range_
    name = f"{scoring} in [{numeral(low)}, {numeral(high)}]"
    bounds = Range(-((high - low) ** power), 0.0)
    values = partial(_errors, range_, power)
    return Scoring(name, ("predict",), bounds, values, AverageOfRows(), errors="0")


def _require_numbers(scoring: str, labels: _Array) -> None:
    if labels.dtype.kind not in "biuf":
        raise InvalidArgument(f"scoring is {scoring!r} and y holds no numbers; give numbers.")


def _of_capped_errors(
    scoring: str, labels: _Array, y_range: tuple[float, float] | None, caps: ErrorCaps | None
) -> Scoring:
    """Errors that count as the cap beyond it, whatever the range of labels."""
    if caps is None or y_range is not None:
        raise InvalidArgument(
            f"scoring is {scoring!r}, which has its range by caps; take caps= from error_caps, and "
            "leave y_range out."
        )
    _require_numbers(scoring, labels)
    name, cap = f"{scoring} of {caps}", caps.cap
    power = _ERRORS.get(scoring)
    if power is not None:
        bounds, values = Range(-(cap**power), 0.0), partial(_capped_errors, cap, power)
        return Scoring(name, ("predict",), bounds, values, AverageOfRows(), errors="0", caps=caps)
    if scoring == "r2":
        explained = ShareExplained(caps)
        most = cap + explained.most
        values = partial(_errors_from_deviations, explained)
        return Scoring(
            name, ("predict",), Range(-most, most), values, explained, errors=DEVIATION, caps=caps
        )
    sizes = partial(_sizes_of_errors, cap)
    root = RootOfRows(caps)
    return Scoring(name, ("predict",), Range(0.0, cap), sizes, root, errors="0", caps=caps)


def _sizes_of_errors(
    cap: float, labels: _Array, said: _Array, _: _Array | None
) -> NDArray[np.float64]:
    import numpy as np

    gaps = np.abs(said.astype(np.float64) - labels.astype(np.float64))
    return np.fmin(gaps, cap)  # NaN, where both are infinite, is the cap


def _capped_errors(
    cap: float, power: int, labels: _Array, said: _Array, known: _Array | None
) -> NDArray[np.float64]:
    return -(_sizes_of_errors(cap, labels, said, known) ** power)


def _errors_from_deviations(
    explained: ShareExplained, labels: _Array, said: _Array, known: _Array | None
) -> NDArray[np.float64]:
    sizes = _sizes_of_errors(explained.caps.cap, labels, said, known)
    return explained.deviations(labels) + sizes


def _errors(
    range_: Range, power: int, labels: _Array, predictions: _Array, _: _Array | None
) -> NDArray[np.float64]:
    import numpy as np

    inside = [np.clip(each.astype(np.float64), *range_) for each in (labels, predictions)]
    return -(np.abs(inside[0] - inside[1]) ** power)


def _of_classes(scoring: str, labels: _Array) -> Scoring:
    import numpy as np

    if labels.dtype.kind == "f" and not np.all(labels == np.round(labels)):
        raise InvalidArgument(
            f"scoring is {scoring!r}, of classes, and y has numbers that are not whole; choose an "
            "error, such as scoring='neg_mean_absolute_error' with y_range=(low, high), or make "
            "the classes texts."
        )
    classes, sizes = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise InvalidArgument(
            f"y has one class only, and {scoring} would tell no model from another; protect rows "
            "of at least two classes."
        )
    return _OF_CLASSES[scoring](scoring, classes, sizes)


def _accuracy(name: str, classes: _Array, sizes: _Array) -> Scoring:  # noqa: ARG001
    return Scoring(name, ("predict",), UNIT, _right, AverageOfRows(is_right=True))


def _right(labels: _Array, predictions: _Array, _: _Array | None) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(predictions == labels, dtype=np.float64)


def _balanced_accuracy(name: str, classes: _Array, sizes: _Array) -> Scoring:
    weights = sizes.sum() / (len(classes) * sizes)
    return Scoring(
        name,
        ("predict",),
        Range(0.0, float(weights.max())),
        partial(_right_by_class, classes, weights),
        ClassesOfRows(),
        public_classes=True,
    )


def _right_by_class(
    classes: _Array,
    weights: _Array,
    labels: _Array,
    predictions: _Array,
    learnt: _Array | None,
) -> NDArray[np.float64]:
    import numpy as np

    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.asarray(_right(labels, predictions, learnt) * weights[places])


def _f1(name: str, classes: _Array, sizes: _Array) -> Scoring:  # noqa: ARG001
    _require_two(name, classes)
    # As scikit-learn has it: 1, where that is a label.
    positive = next((each for each in classes.tolist() if each == 1), classes.tolist()[-1])
    values = partial(_is_predicted, positive)
    return Scoring(name, ("predict",), UNIT, values, OverlapOfRows(positive))


def _is_predicted(
    positive: Any, _labels: _Array, predictions: _Array, _: _Array | None
) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(predictions == positive, dtype=np.float64)


def _roc_auc(name: str, classes: _Array, sizes: _Array) -> Scoring:  # noqa: ARG001
    _require_two(name, classes)
    positive = classes.tolist()[-1]
    return Scoring(
        name,
        ("decision_function", "predict_proba"),
        Range(-1.0, 1.0),
        partial(_decided, positive),
        AreaOfRows(positive),
        public_classes=True,
    )


def _require_two(name: str, classes: _Array) -> None:
    if len(classes) > 2:
        raise InvalidArgument(
            f"scoring is {name!r}, which is of two classes, and y has {len(classes):,}; choose "
            "accuracy, balanced_accuracy, neg_log_loss or neg_brier_score."
        )


def _decided(
    positive: Any, labels: _Array, predictions: _Array, learnt: _Array | None
) -> NDArray[np.float64]:
    """How much an estimator is for the positive class: in bounds, and in the same order."""
    import numpy as np

    if predictions.ndim == 2:
        towards = _label_chances(np.full(len(labels), positive), predictions, learnt)
    else:  # it is about the last of the estimator's two classes
        towards = predictions if learnt is not None and learnt[-1] == positive else -predictions
    return np.asarray(np.arcsinh(towards) / _MOST_DECIDED)


def _neg_log_loss(name: str, classes: _Array, sizes: _Array) -> Scoring:  # noqa: ARG001
    bounds = Range(math.log(_LEAST_PROBABILITY), 0.0)
    return Scoring(name, ("predict_proba",), bounds, _log_probability, AverageOfRows())


def _log_probability(
    labels: _Array, predictions: _Array, learnt: _Array | None
) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(
        np.log(np.clip(_label_chances(labels, predictions, learnt), _LEAST_PROBABILITY, 1.0))
    )


def _neg_brier_score(name: str, classes: _Array, sizes: _Array) -> Scoring:  # noqa: ARG001
    # Of two classes it is the squared error of one of them, as scikit-learn has it.
    part = 0.5 if len(classes) == 2 else 1.0
    values = partial(_squared_distance, part)
    return Scoring(name, ("predict_proba",), Range(-2.0 * part, 0.0), values, AverageOfRows())


def _squared_distance(
    part: float, labels: _Array, predictions: _Array, learnt: _Array | None
) -> NDArray[np.float64]:
    """Minus the squared distance of the probabilities; a class nobody learnt had probability 0."""
    import numpy as np

    truth = _indicators(labels, learnt)
    unknown = 1.0 - truth.sum(axis=1)
    return np.asarray(-part * (((predictions - truth) ** 2).sum(axis=1) + unknown))


def _label_chances(
    labels: _Array, predictions: _Array, learnt: _Array | None
) -> NDArray[np.float64]:
    """The probability that was given to each label; 0 to a class that nobody learnt."""
    import numpy as np

    return np.asarray((predictions * _indicators(labels, learnt)).sum(axis=1))


def _indicators(labels: _Array, learnt: _Array | None) -> NDArray[np.float64]:
    """For each row 1 at the place of its class and 0 elsewhere, by the estimator's classes."""
    import numpy as np

    return np.asarray(labels[:, None] == np.asarray(learnt)[None, :], dtype=np.float64)


_OF_CLASSES: dict[str, Callable[[str, _Array, _Array], Scoring]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1": _f1,
    "roc_auc": _roc_auc,
    "neg_log_loss": _neg_log_loss,
    "neg_brier_score": _neg_brier_score,
}
