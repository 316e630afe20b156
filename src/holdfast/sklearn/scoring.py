"""How an estimator is scored: the column that it makes of protected rows, and what is asked of it.

Most scores are averages of the rows' own, in bounds that were declared; more is better. F1 and the
area under the curve are none: their columns hold what was predicted, and the label is read beside
it. A row that an estimator fails on has the lowest score there is: that it failed is not told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.errors import InvalidArgument
from holdfast.question.bounds import Range
from holdfast.question.text import identifier, numeral, string
from holdfast.sklearn.matrix import LABEL, label_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array = NDArray[Any]

__all__ = ["AreaOfRows", "AverageOfRows", "ClassesOfRows", "OverlapOfRows", "Scoring", "Summary"]


class Summary(Protocol):
    """What is asked of a column, and what that is for rows that are not protected."""

    def asked(self, column: str, low: float) -> str:
        """The question for the score of a column whose least value is `low`."""
        ...

    def gain(self, column: str, other: str, low: float) -> str | None:
        """That for how much higher one score is than another; None where no average tells it."""
        ...

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        """The score, where rows are at hand."""
        ...


@dataclass(frozen=True, slots=True)
class Scoring:
    """A score by the labels of rows and what an estimator says of them.

    It is asked by the first of `methods` that it has. `values` makes a column of that: it is given
    labels, what was said, and the estimator's classes. With `public_classes` the number of rows of
    each class is public, and every promise is for classes of those sizes.
    """

    name: str
    methods: tuple[str, ...]
    bounds: Range
    values: Callable[[_Array, _Array, _Array | None], _Array]
    summary: Summary
    public_classes: bool = False

    def method_of(self, estimator: Any) -> str | None:
        """The method that an estimator is asked by; None if it has none of them."""
        return next(
            (each for each in self.methods if callable(getattr(estimator, each, None))), None
        )

    def column(self, estimator: Any, features: Any, labels: _Array) -> NDArray[np.float64]:
        """What an estimator makes of rows; one that says too much or too little fails."""
        import numpy as np

        method = self.method_of(estimator) or self.methods[0]
        said = np.asarray(getattr(estimator, method)(features))
        if said.ndim == 0 or len(said) != len(labels):
            raise InvalidArgument(
                f"{method} gave an array of the shape {said.shape} for {len(labels):,} rows; it "
                "must give one prediction for each row."
            )
        values = self.values(labels, said, getattr(estimator, "classes_", None))
        found = np.asarray(values, dtype=np.float64)
        if found.shape != labels.shape:
            raise InvalidArgument(
                f"the scoring gave an array of the shape {found.shape} for {len(labels):,} rows; "
                "it must give one score for each row."
            )
        return found

    def score(self, estimator: Any, features: Any, labels: _Array) -> float:
        """The score on rows that are not protected."""
        return self.summary.of_all(labels, self.column(estimator, features, labels))

    def asked(self, column: str) -> str:
        """The question for the score, where a column has the estimator's values."""
        return self.summary.asked(column, self.bounds.low)

    def gain(self, column: str, other: str) -> str:
        """The question for how much higher one column's score is than another's."""
        found = self.summary.gain(column, other, self.bounds.low)
        if found is None:  # of whatever columns
            raise InvalidArgument(
                f"scoring is {self.name!r}, and a difference of two such scores is no average of "
                "rows, so that nothing shows it; compare by accuracy, balanced_accuracy or a loss, "
                "or ask for the score of each."
            )
        return found


@dataclass(frozen=True, slots=True)
class AverageOfRows:
    """The average of the rows' own scores.

    One that `is_right` is 1 or 0: its average is a share, which has the narrowest interval.
    """

    is_right: bool = False

    def asked(self, column: str, low: float) -> str:
        return f"avg({self._value(column, low)})"

    def gain(self, column: str, other: str, low: float) -> str | None:
        return f"difference({self._value(column, low)}, {self._value(other, low)})"

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

    def asked(self, column: str, low: float) -> str:
        return AverageOfRows().asked(column, low)

    def gain(self, column: str, other: str, low: float) -> str | None:
        return AverageOfRows().gain(column, other, low)

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        import numpy as np

        # Other rows have classes of other sizes; whatever a row that is right counts, it is not 0.
        return float(np.mean([(column[labels == each] > 0).mean() for each in np.unique(labels)]))


@dataclass(frozen=True, slots=True)
class OverlapOfRows:
    """F1 of a column that is 1 where the `positive` class was predicted."""

    positive: Any

    def asked(self, column: str, low: float) -> str:
        return f"f1(coalesce({identifier(column)}, {numeral(low)}) > 0.5, {_is(self.positive)})"

    def gain(self, column: str, other: str, low: float) -> str | None:  # noqa: ARG002
        return None

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        from sklearn.metrics import f1_score  # type: ignore[import-untyped]

        return float(f1_score(labels == self.positive, column > 0.5, zero_division=0.0))


@dataclass(frozen=True, slots=True)
class AreaOfRows:
    """The area under the ROC curve of a column that has scores of the `positive` class."""

    positive: Any

    def asked(self, column: str, low: float) -> str:  # noqa: ARG002 - nothing is below a missing one
        return f"auc({identifier(column)}, {_is(self.positive)})"

    def gain(self, column: str, other: str, low: float) -> str | None:  # noqa: ARG002
        return None

    def of_all(self, labels: _Array, column: NDArray[np.float64]) -> float:
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(labels == self.positive, column))


def _is(label: Any) -> str:
    """The condition that a row has this label."""
    (text,) = label_texts([label])
    return f"{LABEL} = {string(text)}"
