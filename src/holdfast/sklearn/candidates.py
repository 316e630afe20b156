"""Candidates of a search: declared configurations, and the objective an optimiser maximises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import Any, get_args

from holdfast import require
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.search import Declaring, Search, Tell
from holdfast.sklearn.fitted import (
    CrossValidation,
    Fitted,
    fitted,
    pickled_digest,
    unscorable,
)
from holdfast.sklearn.matrix import CONTENT, labelled_rows
from holdfast.sklearn.reusable import ReusableHoldout
from holdfast.sklearn.scoring import Scoring


@dataclass(frozen=True, slots=True)
class ParameterPlaces:
    """All combinations of the values that each mapping lists, one mapping after the other.

    They are numbered as scikit-learn's `ParameterGrid` has them: parameters by their names, the
    last one changing first.
    """

    mappings: tuple[Mapping[str, Sequence[Any]], ...]

    @property
    def size(self) -> int:
        """How many configurations there are."""
        return sum(map(_size, self.mappings))

    def params(self, place: int) -> dict[str, Any]:
        """The configuration with this number, from 0."""
        for mapping in self.mappings:
            if place < _size(mapping):
                return _combination(mapping, place)
            place -= _size(mapping)
        raise IndexError("there are not so many configurations")

    def place_of(self, params: Mapping[str, Any]) -> int:
        """The number of a configuration; refused if it was not declared."""
        before = 0
        for mapping in self.mappings:
            place = _place_in(mapping, params)
            if place is not None:
                return before + place
            before += _size(mapping)
        raise InvalidArgument(
            f"params is {dict(params)!r}, which is none of the {self.size:,} configurations that "
            "were declared; take one of them, or declare another space."
        )


def _size(mapping: Mapping[str, Sequence[Any]]) -> int:
    return math.prod(map(len, mapping.values()))


def _combination(mapping: Mapping[str, Sequence[Any]], place: int) -> dict[str, Any]:
    parameters = {}
    for name in sorted(mapping, reverse=True):
        place, own = divmod(place, len(mapping[name]))
        parameters[name] = mapping[name][own]
    return {name: parameters[name] for name in sorted(parameters)}


def _place_in(mapping: Mapping[str, Sequence[Any]], params: Mapping[str, Any]) -> int | None:
    if mapping.keys() != params.keys():
        return None
    place = 0
    for name in sorted(mapping):
        try:
            place = place * len(mapping[name]) + mapping[name].index(params[name])
        except ValueError:
            return None
    return place


def parameter_places(space: Any, points: int) -> ParameterPlaces:
    """All combinations of what is listed; of a distribution, its quantiles at `points` places.

    `space` is a mapping from parameters to lists and distributions of SciPy, or several of them.
    """
    several = [space] if isinstance(space, Mapping) else space
    if not isinstance(several, Sequence) or not all(isinstance(each, Mapping) for each in several):
        raise InvalidArgument(
            f"space is {space!r}; give a mapping from parameters to lists of their values, or a "
            "list of such mappings."
        )
    places = ParameterPlaces(
        tuple({name: _listed(name, each[name], points) for name in each} for each in several)
    )
    if not places.size:
        raise InvalidArgument("space has no configuration; give values for each parameter.")
    return places


def _listed(name: str, values: Any, points: int) -> Sequence[Any]:
    """The values of a parameter; plain numbers, so that equal spaces are the same."""
    if hasattr(values, "ppf"):
        return _quantiles(name, values, points)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidArgument(
            f"{name} is {values!r} in the space; it must list its values, or be a distribution."
        )
    if isinstance(values, range):
        return values
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _quantiles(name: str, distribution: Any, points: int) -> Sequence[Any]:
    import numpy as np

    count = require.positive_integer("points", points)
    quantiles = np.asarray(distribution.ppf((np.arange(count) + 0.5) / count))
    if not np.isfinite(quantiles).all():
        raise InvalidArgument(f"{name} has quantiles that are no numbers; list its values.")
    whole = hasattr(distribution, "pmf")
    return [int(each) if whole else float(each) for each in np.unique(quantiles)]


def configuration_numbers(size: int, n_iter: int | None, random_state: Any) -> list[int]:
    """Which of `size` configurations are tried, by their numbers: all, or some at random."""
    from sklearn.utils.random import (  # type: ignore[import-untyped]
        sample_without_replacement,
    )

    if n_iter is None:
        return list(range(size))
    count = min(size, require.positive_integer("n_iter", n_iter))
    picked = sample_without_replacement(size, count, random_state=random_state)
    return [int(each) for each in picked]


# What an optimiser maximises: cross-validated scores, and then the best is told by the holdout; or
# exact scores of declared candidates, all of them true together.
#
# The configurations are declared as a search on the ledger before the first of them is scored. So
# it does not matter who chooses the next one, nor by what: random draws, halving, a sampler.


_FAILED, CROSS_VALIDATED = "failed", "cross-validated"


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate, and what the holdout said of it; one with an `error` was not scored.

    Where only the winner is told, all others have the score of cross-validation, if any.
    """

    params: Mapping[str, Any]
    estimator: Any
    answer: Answer | None
    error: str | None
    seconds_to_fit: float
    seconds_to_score: float | None
    cv_score: float | None = None

    @property
    def status(self) -> str:
        """That of its answer; or "cross-validated", or "failed"."""
        if self.answer is not None:
            return self.answer.status
        return CROSS_VALIDATED if self.error is None else _FAILED

    @property
    def score(self) -> float | None:
        """The score, of the holdout or else of cross-validation; None where there is none."""
        return self.cv_score if self.answer is None else self.answer.value


def tells_winner(scoring: Scoring, tell: str | None) -> bool:
    """Whether only the winner is told: where that can be, unless somebody says otherwise."""
    if tell is None:
        return scoring.is_share
    if require.one_of("tell", get_args(Tell), tell) == "winner" and not scoring.is_share:
        raise InvalidArgument(
            f"tell is 'winner' and scoring {scoring.name!r}, which is no share of rows that are "
            "alike, and only by such a score the winner is told alone; leave tell out, and all "
            "scores are told."
        )
    return tell == "winner"


class HoldoutObjective:
    """Candidates of a declared space, fitted to X and y; the best of them by the holdout.

    Call it with a configuration of the space to have its score: by `cv`, among X and y. When enough
    are tried, `winner` tells the best of them on the holdout, and nothing of the others. With
    `tell="all"`, and for scores that are no share of rows, each is scored exactly on the holdout
    instead, and `share` of what is left of the failure probability is for all of them.

    `space` and `points` are as for `HoldoutSearchCV`. `tried` has all candidates in order, `best`
    the best that was told, with its estimator and its answer, whose interval is true however it was
    found.
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        X: Any,
        y: Any,
        *,
        holdout: ReusableHoldout,
        tell: str | None = None,
        cv: Any = 5,
        share: float = 0.5,
        points: int = 32,
    ) -> None:
        self.tells_winner = tells_winner(holdout.scoring, tell)
        self.cross_validation = CrossValidation(holdout.scoring, cv) if self.tells_winner else None
        self.estimator = estimator
        self.places = parameter_places(space, points)
        self.training = labelled_rows(X, y)
        self.holdout = holdout
        self.share = share
        self.tried: list[Tried] = []
        self.best: Tried | None = None
        self._entered: dict[int, Tried] = {}  # candidates of the next winner, by their places
        self._search: Search | None = None
        self._digests: dict[str, str | None] = {}  # of candidates that were scored before
        self._turn = Lock()  # of threads that score at the same time

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The score of a configuration; refused if it failed, or is none of the space."""
        attempt = self.attempt(params)
        if attempt.score is None:
            why = attempt.error or self.without_score
            raise InvalidArgument(f"{dict(params)!r} has no score: {why}")
        return attempt.score

    def attempt(self, params: Mapping[str, Any]) -> Tried:
        """Fit a configuration and score it; one that cannot be fitted costs nothing."""
        place, rows = self.places.place_of(params), self.training
        candidate = fitted(
            self.estimator, params, rows.features, rows.labels, self.cross_validation
        )
        return self.scored(place, candidate)

    @property
    def without_score(self) -> str:
        """Why a candidate that was fitted has no score."""
        return "it cannot be cross-validated" if self.tells_winner else "the rows say nothing of it"

    def scored(self, place: int, candidate: Fitted) -> Tried:
        """The candidate of a configuration, with its score."""
        started, estimator = perf_counter(), candidate.estimator
        error = candidate.error or unscorable(
            estimator, self.holdout.scoring, self.holdout.protected
        )
        if self.tells_winner:
            return self._enter(place, candidate, error)
        with self._turn:
            answer = None if error else self._answer(place, estimator)
            tried = Tried(
                self.places.params(place),
                estimator,
                answer,
                error,
                candidate.seconds,
                perf_counter() - started,
            )
            self.tried.append(replace(tried, estimator=None))  # of the others it would be a burden
            score, best = tried.score, None if self.best is None else self.best.score
            if score is not None and (best is None or score > best):
                self.best = tried
        return tried

    def _enter(self, place: int, candidate: Fitted, error: str | None) -> Tried:
        """A candidate that the holdout is not asked about by itself."""
        entered = Tried(
            self.places.params(place),
            candidate.estimator,
            None,
            error,
            candidate.seconds,
            None,
            candidate.cv_score if error is None else None,
        )
        with self._turn:
            if error is None:
                self._entered.setdefault(place, entered)
            self.tried.append(replace(entered, estimator=None))
        return entered

    def winner(self) -> Tried:
        """The best on the holdout of all candidates so far, which is all that is told of them."""
        if not self.tells_winner:
            raise InvalidArgument(
                "all scores are told here, and best is the best of them; say tell='winner' for "
                "the winner alone."
            )
        with self._turn:
            if not self._entered:
                raise InvalidArgument("no candidate could be fitted and scored; try others.")
            places, scoring = sorted(self._entered), self.holdout.scoring.name
            digests = {
                place: pickled_digest(self._entered[place].estimator, scoring) or f"place {place}"
                for place in places
            }
            search = self._declared([(place, digests[place]) for place in places])
            for place in places:
                column = search.column(place)
                digest = f"{digests[place]} {column}"  # who it is includes its place in this search
                search.bring(place, self.holdout.computed(self._entered[place].estimator, digest))
            scores = [(place, self._entered[place].cv_score) for place in places]
            known = any(score is not None for _, score in scores)
            rows = len(self.training)
            answer = search.winner(cv=scores, cv_rows=rows) if known else search.winner()
            best = self._entered[search.place_of(answer)]
            self.best = replace(best, answer=answer)
        return self.best

    def _answer(self, place: int, estimator: Any) -> Answer:
        """The exact score of a candidate; who it is includes its place in this search."""
        if self._search is None:  # declared before the first score, and not for nothing
            self._search = self._declared()
            self._digests = {each.name: each.digest for each in self.holdout.holdout.columns}
        column = self._search.column(place)
        digest = pickled_digest(estimator, self.holdout.scoring.name, column) or column
        if self._digests.get(column, digest) != digest:
            raise InvalidArgument(
                f"{self.places.params(place)!r} was scored before, and is another candidate now: "
                "fitting it twice gives two. Set its random_state, or list seeds in the space."
            )
        return self._search.score(place, self.holdout.computed(estimator, digest))

    def _declared(self, members: Sequence[tuple[int, str]] | None = None) -> Search:
        """The search on the ledger: the same one for the same candidates and the same rows.

        Of `members`, by their places and digests, only the winner is told.
        """
        from sklearn.base import clone  # type: ignore[import-untyped]

        scoring, training = self.holdout.scoring, self.training.table()
        code = pickled_digest((clone(self.estimator), self.places.mappings), scoring.name)
        if code is None:
            raise InvalidArgument(
                "the estimator or the space cannot be pickled, so that nothing says what was "
                "declared; use values that can be."
            )
        rows = pickled_digest((training[CONTENT].to_list(), self.training.kept_as)) or ""
        way = self.share if members is None else list(members)
        name = f"search-{(pickled_digest((code, rows, way)) or '')[7:19]}"
        declared: Declaring = {
            "size": self.places.size,
            "question": scoring.question(name),
            "bounds": scoring.bounds,
            "computed": True,
            "train": training,
            "code": code,
        }
        if members is None:
            declared["share"] = self.share
        else:
            declared["tell"] = "winner"
        return self.holdout.holdout.search(name, **declared)
