"""`HoldoutSearchCV`: a search over declared candidates, with a true interval for the winner."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from holdfast import require
from holdfast.errors import InvalidArgument, Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.searching import Search
from holdfast.sklearn.fitted import pickled_digest, require_scorable
from holdfast.sklearn.grid import declared_grid, drawn
from holdfast.sklearn.matrix import labelled_rows
from holdfast.sklearn.reusable import ReusableHoldout

with require.installed("searches of estimators", "sklearn"):
    from sklearn.base import (  # type: ignore[import-untyped]
        BaseEstimator,
        MetaEstimatorMixin,
        clone,
    )
    from sklearn.utils.metaestimators import available_if  # type: ignore[import-untyped]
    from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

__all__ = ["HoldoutSearchCV"]

_STRATEGIES = ("holdout", "cv")
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class _Tried:
    """A candidate, and what the holdout said of it; a candidate that failed was not scored."""

    params: dict[str, Any]
    status: str
    score: float | None = None
    low: float | None = None
    high: float | None = None
    receipt: str | None = None


def _winner_has(method: str) -> Any:
    def has(search: HoldoutSearchCV) -> bool:
        found = getattr(search, "best_estimator_", search.estimator)
        getattr(found, method)  # scikit-learn's own AttributeError says what is missing
        return True

    return available_if(has)


class HoldoutSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The best of declared candidates, fitted to the rows of `fit` and scored on the holdout.

    `strategy="holdout"` declares the space as a search on the ledger, with `share` of what is left
    of its failure probability, and scores each candidate exactly: all intervals are true together,
    `best_interval_` among them. `strategy="cv"` cross-validates, and checks the winner's score on
    the holdout: one look. A distribution in the space stands for its quantiles at `points` places;
    `n_iter` candidates are drawn at random (default: all).
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        holdout: ReusableHoldout,
        strategy: str = "holdout",
        n_iter: int | None = None,
        cv: Any = 5,
        random_state: Any = None,
        refit: bool = True,
        share: float = 0.5,
        points: int = 32,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.holdout = holdout
        self.strategy = strategy
        self.n_iter = n_iter
        self.cv = cv
        self.random_state = random_state
        self.refit = refit
        self.share = share
        self.points = points

    def fit(self, X: Any, y: Any) -> Self:
        """Fit candidates to these rows, which are not the protected ones, and find the best."""
        require.one_of("strategy", _STRATEGIES, self.strategy)
        grid = declared_grid(self.space, self.points)
        places = drawn(len(grid), self.n_iter, self.random_state)
        self.refused_: str | None = None
        if self.strategy == "cv":
            self._cross_validated(X, y, [grid[place] for place in places])
        else:
            self._searched(X, y, grid, places)
        return self

    @_winner_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """What the winner predicts."""
        return self._winner().predict(X)

    @_winner_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The winner's probabilities of the classes."""
        return self._winner().predict_proba(X)

    @_winner_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The winner's decision function."""
        return self._winner().decision_function(X)

    @property
    def classes_(self) -> Any:
        """The classes that the winner knows."""
        return self._winner().classes_

    @property
    def n_features_in_(self) -> int:
        """How many features the winner was fitted to."""
        return int(self._winner().n_features_in_)

    def _winner(self) -> Any:
        check_is_fitted(self, "best_params_")
        if not hasattr(self, "best_estimator_"):
            raise InvalidArgument(
                "refit is False, so that no winner was kept; fit with refit=True."
            )
        return self.best_estimator_

    def _searched(self, X: Any, y: Any, grid: Any, places: list[int]) -> None:
        search: Search | None = None
        tried: list[_Tried] = []
        best: tuple[float, int, Answer, Any] | None = None
        for place in places:
            params = grid[place]
            candidate = self._fitted(params, X, y)
            if candidate is None:
                tried.append(_Tried(params, _FAILED))
                continue
            try:
                if search is None:  # declared before the first score, and not for nothing
                    search = self._declared(X, y, grid)
                answer = self._scored(search, place, candidate)
            except Refused as refusal:
                self.refused_ = str(refusal)
                if best is None:
                    raise
                break
            tried.append(_tried(params, answer))
            if answer.value is not None and (best is None or answer.value > best[0]):
                best = (answer.value, len(tried) - 1, answer, candidate)
        if best is None:
            failed = sum(each.status == _FAILED for each in tried)
            raise InvalidArgument(
                f"of {len(tried):,} candidates {failed:,} could not be fitted, and of the others "
                "the rows say nothing; fit one by hand, or declare a smaller space."
            )
        _, index, answer, winner = best
        self._keep(tried, index, answer, winner)

    def _fitted(self, params: dict[str, Any], X: Any, y: Any) -> Any | None:
        """The candidate, fitted to rows that are not protected; None if it cannot be."""
        try:
            candidate = clone(self.estimator).set_params(**params).fit(X, y)
        except Exception:  # whatever an estimator raises: one candidate less
            return None
        require_scorable(candidate, self.holdout.scoring, self.holdout.protected)
        return candidate

    def _declared(self, X: Any, y: Any, grid: Any) -> Search:
        """The search on the ledger: the same one for the same candidates and the same rows."""
        training = labelled_rows(X, y).table()
        code = pickled_digest((clone(self.estimator), grid.param_grid), self.holdout.scoring.name)
        if code is None:
            raise InvalidArgument(
                "the estimator or the space cannot be pickled, so that nothing says what was "
                "declared; use values that can be."
            )
        rows = pickled_digest(training["content"].to_list()) or ""
        name = f"search-{(pickled_digest((code, rows, self.share)) or '')[7:19]}"
        return self.holdout.holdout.search(
            name,
            size=len(grid),
            question=self.holdout.scoring.averaged(name),
            bounds=self.holdout.scoring.bounds,
            share=self.share,
            train=training,
            code=code,
        )

    def _scored(self, search: Search, place: int, candidate: Any) -> Answer:
        """The exact score of a candidate; who it is includes its place in this search."""
        holdout = self.holdout
        column = search.column(place)
        digest = pickled_digest(candidate, holdout.scoring.name, column) or column
        return search.score(place, holdout.computed(candidate, digest))

    def _cross_validated(self, X: Any, y: Any, candidates: list[dict[str, Any]]) -> None:
        from sklearn.model_selection import (  # type: ignore[import-untyped]
            GridSearchCV,
        )

        listed = [{name: [value] for name, value in each.items()} for each in candidates]
        found = GridSearchCV(self.estimator, listed, scoring=self._average_score, cv=self.cv)
        found.fit(X, y)
        scores = found.cv_results_["mean_test_score"]
        answer = self.holdout.check(found.best_estimator_, guess=float(found.best_score_))
        tried = [
            _Tried(params, "cross-validated", float(score))
            for params, score in zip(candidates, scores, strict=True)
        ]
        self._keep(tried, int(found.best_index_), answer, found.best_estimator_)

    def _average_score(self, estimator: Any, X: Any, y: Any) -> float:
        rows = labelled_rows(X, y)
        return float(self.holdout.scoring.of_rows(estimator, rows.features, rows.labels).mean())

    def _keep(self, tried: list[_Tried], index: int, answer: Answer, winner: Any) -> None:
        told = [asdict(each) for each in tried]
        self.cv_results_ = {name: [each[name] for each in told] for name in _Tried.__slots__}
        self.best_index_ = index
        self.best_params_ = tried[index].params
        self.best_answer_ = answer
        self.best_score_ = tried[index].score
        self.best_interval_ = answer.interval
        if self.refit:
            self.best_estimator_ = winner  # it was fitted to all rows of `fit`
        elif hasattr(self, "best_estimator_"):
            del self.best_estimator_  # that of an earlier fit


def _tried(params: dict[str, Any], answer: Answer) -> _Tried:
    low, high = answer.interval
    return _Tried(params, answer.status, answer.value, low, high, answer.receipt)
