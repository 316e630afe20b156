"""What an optimiser maximises: exact scores of declared candidates, all of them true together.

The configurations are declared as a search on the ledger before the first of them is scored. So it
does not matter who chooses the next one, nor by what: random draws, halving, a sampler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import Any

from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.holdout.searching import Search
from holdfast.sklearn.fitted import Fitted, fitted, pickled_digest, unscorable
from holdfast.sklearn.grid import parameter_places
from holdfast.sklearn.matrix import CONTENT, labelled_rows
from holdfast.sklearn.reusable import ReusableHoldout

__all__ = ["HoldoutObjective", "Tried"]

_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate, and what the holdout said of it; one with an `error` was not scored."""

    params: Mapping[str, Any]
    estimator: Any
    answer: Answer | None
    error: str | None
    seconds_to_fit: float
    seconds_to_score: float

    @property
    def status(self) -> str:
        """That of its answer, or "failed"."""
        return _FAILED if self.answer is None else self.answer.status

    @property
    def score(self) -> float | None:
        """The exact score; None where it failed, or where the rows say nothing."""
        return None if self.answer is None else self.answer.value


class HoldoutObjective:
    """Candidates of a declared space: fitted to X and y, and scored exactly on the holdout.

    `space`, `share` and `points` are as for `HoldoutSearchCV`. Call it with a configuration of the
    space to have its score. `tried` has all of them in order, `best` the best so far with its
    estimator and its answer, whose interval is true however it was found.
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        X: Any,
        y: Any,
        *,
        holdout: ReusableHoldout,
        share: float = 0.5,
        points: int = 32,
    ) -> None:
        self.estimator = estimator
        self.places = parameter_places(space, points)
        self.training = labelled_rows(X, y)
        self.holdout = holdout
        self.share = share
        self.tried: list[Tried] = []
        self.best: Tried | None = None
        self._search: Search | None = None
        self._digests: dict[str, str | None] = {}  # of candidates that were scored before
        self._turn = Lock()  # of threads that score at the same time

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The exact score of a configuration; refused if it failed, or is none of the space."""
        found = self.attempt(params)
        if found.score is None:
            why = found.error or "the rows say nothing of it"
            raise InvalidArgument(f"{dict(params)!r} has no score: {why}")
        return found.score

    def attempt(self, params: Mapping[str, Any]) -> Tried:
        """Fit a configuration and score it; one that cannot be fitted costs nothing."""
        place, rows = self.places.place_of(params), self.training
        return self.scored(place, fitted(self.estimator, params, rows.features, rows.labels))

    def scored(self, place: int, candidate: Fitted) -> Tried:
        """The candidate of a configuration, with its score."""
        started, estimator = perf_counter(), candidate.estimator
        error = candidate.error or unscorable(
            estimator, self.holdout.scoring, self.holdout.protected
        )
        with self._turn:
            answer = None if error else self._answer(place, estimator)
            found = Tried(
                self.places.params(place),
                estimator,
                answer,
                error,
                candidate.seconds,
                perf_counter() - started,
            )
            self.tried.append(replace(found, estimator=None))  # of the others it would be a burden
            score, best = found.score, None if self.best is None else self.best.score
            if score is not None and (best is None or score > best):
                self.best = found
        return found

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

    def _declared(self) -> Search:
        """The search on the ledger: the same one for the same candidates and the same rows."""
        from sklearn.base import clone  # type: ignore[import-untyped]

        scoring, training = self.holdout.scoring, self.training.table()
        code = pickled_digest((clone(self.estimator), self.places.mappings), scoring.name)
        if code is None:
            raise InvalidArgument(
                "the estimator or the space cannot be pickled, so that nothing says what was "
                "declared; use values that can be."
            )
        rows = pickled_digest((training[CONTENT].to_list(), self.training.kept_as)) or ""
        name = f"search-{(pickled_digest((code, rows, self.share)) or '')[7:19]}"
        return self.holdout.holdout.search(
            name,
            size=self.places.size,
            question=scoring.asked(name),
            bounds=scoring.bounds,
            computed=True,
            share=self.share,
            train=training,
            code=code,
        )
