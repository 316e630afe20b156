"""`HoldoutSearchCV`: a search over declared candidates, with a true interval for the winner."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from holdfast import require
from holdfast.did_you_mean import checks_arguments, option_written
from holdfast.errors import InvalidArgument, Refused
from holdfast.holdout.answer import Answer
from holdfast.sklearn.candidates import (
    CROSS_VALIDATED,
    HoldoutObjective,
    Tried,
    configuration_numbers,
    parameter_places,
)
from holdfast.sklearn.fitted import Fitted, fitted
from holdfast.sklearn.matrix import labelled_rows
from holdfast.sklearn.reusable import ReusableHoldout

if TYPE_CHECKING:
    from sklearn.utils import Tags  # type: ignore[import-untyped]

# `cv_results_`: what was tried, by the names that scikit-learn gives, with what was promised.


def searched_results(tried: Sequence[Tried], *, cross_validated: bool = False) -> dict[str, Any]:
    """A search's candidates in order: their scores, with the intervals and receipts that were told.

    Scores are exact ones of the holdout; `cross_validated`, those of other rows, and how long the
    holdout took is left out: it would tell something of each.
    """
    import numpy as np

    intervals = [(None, None) if each.answer is None else each.answer.interval for each in tried]
    scores = _numbers([each.cv_score if cross_validated else each.score for each in tried])
    timed = {"mean_score_time": np.array([each.seconds_to_score for each in tried])}
    return {
        "mean_fit_time": np.array([each.seconds_to_fit for each in tried]),
        **({} if cross_validated else timed),
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
    results: Mapping[str, Any], winner: int, answer: Answer
) -> dict[str, Any]:
    """What cross-validation found; the holdout has said something of the winner alone."""
    count = len(results["params"])
    statuses = [CROSS_VALIDATED] * count
    receipts: list[str | None] = [None] * count
    ends: list[list[float | None]] = [[None] * count, [None] * count]
    statuses[winner], receipts[winner] = answer.status, answer.receipt
    for end, value in zip(ends, answer.interval, strict=True):
        end[winner] = value
    low, high = map(_numbers, ends)
    return {**results, "status": statuses, "low": low, "high": high, "receipt": receipts}


def _numbers(values: Sequence[float | None]) -> Any:
    import numpy as np

    return np.array([np.nan if each is None else each for each in values])


def _by_parameter(params: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For each parameter its values, masked where a candidate does not have it."""
    import numpy as np

    names = sorted({name for each in params for name in each})
    columns = {}
    for name in names:
        values: Any = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for place, each in enumerate(params):
            if name in each:
                values[place] = each[name]
        columns[f"param_{name}"] = values
    return columns


def _ranks(scores: Any) -> Any:
    """1 for the best; what has no score is behind all others."""
    import numpy as np

    comparable = np.where(np.isnan(scores), -np.inf, scores)
    return 1 + np.array([(comparable > each).sum() for each in comparable], dtype=np.int32)


with require.installed("searches of estimators", "sklearn"):
    from sklearn.base import (  # type: ignore[import-untyped]
        BaseEstimator,
        MetaEstimatorMixin,
    )
    from sklearn.exceptions import FitFailedWarning  # type: ignore[import-untyped]
    from sklearn.utils import get_tags
    from sklearn.utils.metaestimators import available_if  # type: ignore[import-untyped]
    from sklearn.utils.parallel import Parallel, delayed  # type: ignore[import-untyped]
    from sklearn.utils.validation import (  # type: ignore[import-untyped]
        check_is_fitted,
        column_or_1d,
    )


_STRATEGIES = ("holdout", "cv")


def _winner_has(method: str) -> Any:
    def has(search: HoldoutSearchCV) -> bool:
        if not search.refit:
            raise AttributeError("refit is False, so that no winner was kept; fit with refit=True.")
        estimator = getattr(search, "best_estimator_", search.estimator)
        getattr(estimator, method)  # scikit-learn's own AttributeError says what is missing
        return True

    return available_if(has)


class HoldoutSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The best of declared candidates, fitted to the rows of `fit` and compared on the holdout.

    `strategy="holdout"` cross-validates all candidates by `cv`, and tells which of them is best on
    the holdout, with a true interval of its score, and nothing of the others: the better
    cross-validation foresaw it, the narrower. With `tell="all"`, and for scores that are no share
    of rows (any but accuracy), each candidate is scored exactly on the holdout instead, with
    `share` of what is left of the failure probability for all intervals together.
    `strategy="cv"` cross-validates, and checks the winner's score on the holdout: one look. A
    distribution in the space stands for its quantiles at `points` places; `n_iter` candidates are
    drawn at random (default: all), and fitted by `n_jobs` processes.
    """

    @checks_arguments("HoldoutSearchCV")
    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        holdout: ReusableHoldout,
        strategy: str = "holdout",
        tell: str | None = None,
        n_iter: int | None = None,
        cv: Any = 5,
        random_state: Any = None,
        refit: bool = True,
        share: float = 0.5,
        points: int = 32,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.holdout = holdout
        self.strategy = strategy
        self.tell = tell
        self.n_iter = n_iter
        self.cv = cv
        self.random_state = random_state
        self.refit = refit
        self.share = share
        self.points = points
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit candidates to these rows, which are not the protected ones, and find the best."""
        require.one_of("strategy", _STRATEGIES, self.strategy)
        if not isinstance(self.holdout, ReusableHoldout):
            raise InvalidArgument(
                f"holdout is a {type(self.holdout).__name__}; it must be a ReusableHoldout, as in "
                f"{option_written('holdout')}."
            )
        if y is None:
            raise InvalidArgument(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give a "
                "label for each row."
            )
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        places = parameter_places(self.space, self.points)
        numbers = configuration_numbers(places.size, self.n_iter, self.random_state)
        self.refused_: str | None = None
        if self.strategy == "cv":
            self._cross_validated(X, y, [places.params(each) for each in numbers])
        else:
            self._searched(X, y, numbers)
        return self

    @_winner_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """What the winner predicts."""
        return self._winner().predict(X)

    @_winner_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The winner's probabilities of the classes."""
        return self._winner().predict_proba(X)

    @_winner_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the winner's probabilities of the classes."""
        return self._winner().predict_log_proba(X)

    @_winner_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The winner's decision function."""
        return self._winner().decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """The winner's score on rows that are not protected."""
        rows = labelled_rows(X, y)
        return self.holdout.scoring.score(self._winner(), rows.features, rows.labels)

    @property
    def classes_(self) -> Any:
        """The classes that the winner knows."""
        return self._winner().classes_

    @property
    def n_features_in_(self) -> int:
        """How many features the winner was fitted to."""
        return int(self._winner().n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """The names of the features that the winner was fitted to."""
        return self._winner().feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        """It is what the estimator is: a classifier or a regressor, and what it takes."""
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = own.classifier_tags
        tags.regressor_tags = own.regressor_tags
        tags.target_tags = own.target_tags
        tags.input_tags = own.input_tags
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_params_")

    def _winner(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def _searched(self, X: Any, y: Any, numbers: Sequence[int]) -> None:
        objective = HoldoutObjective(
            self.estimator,
            self.space,
            X,
            y,
            holdout=self.holdout,
            tell=self.tell,
            cv=self.cv,
            share=self.share,
            points=self.points,
        )
        if objective.tells_winner:
            self._won(objective, numbers)
            return
        try:
            for place, candidate in zip(numbers, self._fits(objective, numbers), strict=True):
                objective.scored(place, candidate)
        except Refused as refusal:
            self.refused_ = str(refusal)
            if objective.best is None:
                raise
        best, failures = objective.best, _failures_text(objective.tried)
        if best is None or best.answer is None:
            raise InvalidArgument(
                f"{failures}; of the others the rows say nothing. Fit one by hand, or declare a "
                "smaller space."
            )
        if any(each.error for each in objective.tried):
            warnings.warn(failures, FitFailedWarning, stacklevel=3)
        results = searched_results(objective.tried)
        self._keep(results, best.answer, best.estimator)

    def _won(self, objective: HoldoutObjective, numbers: Sequence[int]) -> None:
        """The winner alone, once all candidates are there."""
        for place, candidate in zip(numbers, self._fits(objective, numbers), strict=True):
            objective.scored(place, candidate)
        tried, failures = objective.tried, _failures_text(objective.tried)
        if all(each.error for each in tried):
            raise InvalidArgument(f"{failures}. Fit one by hand, or declare another space.")
        if any(each.error for each in tried):
            warnings.warn(failures, FitFailedWarning, stacklevel=4)
        best = objective.winner()
        if best.answer is None:
            raise TypeError("a winner is told with its answer")
        index = next(place for place, each in enumerate(tried) if each.params is best.params)
        tried[index] = replace(best, estimator=None)
        results = searched_results(tried, cross_validated=True)
        self._keep(results, best.answer, best.estimator, index)

    def _fits(self, objective: HoldoutObjective, numbers: Sequence[int]) -> Iterator[Fitted]:
        """The candidates in their order, each when it is fitted."""
        rows, params = objective.training, objective.places.params
        calls = (
            delayed(fitted)(
                self.estimator,
                params(each),
                rows.features,
                rows.labels,
                objective.cross_validation,
            )
            for each in numbers
        )
        yield from Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)

    def _cross_validated(self, X: Any, y: Any, candidates: list[dict[str, Any]]) -> None:
        from sklearn.model_selection import (  # type: ignore[import-untyped]
            GridSearchCV,
        )

        listed = [{name: [value] for name, value in each.items()} for each in candidates]
        search = GridSearchCV(
            self.estimator, listed, scoring=self._score_of, cv=self.cv, n_jobs=self.n_jobs
        )
        search.fit(X, y)
        # Cross-validation is of fewer rows than there are protected: no narrower than was declared.
        answer = self.holdout.check(
            search.best_estimator_,
            guess=float(search.best_score_),
            tolerance=self.holdout.holdout.opening.terms.tolerance,
        )
        results = cross_validated_results(search.cv_results_, int(search.best_index_), answer)
        self._keep(results, answer, search.best_estimator_)

    def _score_of(self, estimator: Any, X: Any, y: Any) -> float:
        rows = labelled_rows(X, y)
        return self.holdout.scoring.score(estimator, rows.features, rows.labels)

    def _keep(
        self, results: dict[str, Any], answer: Answer, winner: Any, index: int | None = None
    ) -> None:
        """Keep what was found; with an `index`, the holdout's own winner and not the first rank."""
        self.cv_results_ = results
        self.best_index_ = int(results["rank_test_score"].argmin()) if index is None else index
        self.best_params_ = results["params"][self.best_index_]
        scores = results["mean_test_score"]
        score = scores[self.best_index_] if index is None else answer.value
        self.best_score_ = float("nan") if score is None else float(score)
        self.best_answer_ = answer
        self.best_interval_ = answer.interval
        if self.refit:
            self.best_estimator_ = winner  # it was fitted to all rows of `fit`
        elif hasattr(self, "best_estimator_"):
            del self.best_estimator_  # that of an earlier fit


def _failures_text(tried: Sequence[Tried]) -> str:
    """How many candidates have no score because they failed, and why the first of them did."""
    failed = [each.error for each in tried if each.error]
    first = f", the first of them with {failed[0]}" if failed else ""
    return f"of {len(tried):,} candidates {len(failed):,} could not be fitted or scored{first}"
