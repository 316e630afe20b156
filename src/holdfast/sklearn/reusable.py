"""`ReusableHoldout`: rows that estimators are scored on again and again, beside a ledger.

The scores of an estimator are a computed column of the holdout: who it is stands in the ledger
before a row is read, and its scores are never compared with those of another one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from holdfast.data.attached import Computed, computed
from holdfast.did_you_mean import checks_arguments, without_attribute
from holdfast.errors import InvalidArgument
from holdfast.holdout.answer import Answer
from holdfast.sklearn.caps import ErrorCaps
from holdfast.sklearn.fitted import pickled_digest, require_scorable
from holdfast.sklearn.matrix import CONTENT, DEVIATION, LABEL, ROW, RowsByContent, labelled_rows
from holdfast.sklearn.scoring import Scoring, ShareExplained, scoring_of

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from holdfast.holdout.options import BatchOptions

_SHORT_DIGEST = 12
_OF_HOLDOUT = ("budget", "certificate", "chart", "ledger", "schema")


class ReusableHoldout:
    """Protected rows of X and y; every look of an estimator at them is on the ledger.

    `scoring` is accuracy, balanced_accuracy, f1, roc_auc, neg_log_loss, neg_brier_score, an error
    with `caps` (see `error_caps`) or `y_range`, r2 with `caps`, or a function of labels and
    predictions that gives the score of each row, with `bounds`. For balanced_accuracy and roc_auc
    the sizes of the classes become public. `candidates` is how many will be gated at most,
    `questions` how many will be asked, as `holdfast.open` says.
    """

    @checks_arguments("ReusableHoldout")
    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        ledger: str | Path,
        scoring: str | Callable[..., Any] = "accuracy",
        name: str | None = None,
        confidence_level: float = 0.95,
        candidates: int | None = 100,
        questions: int | None = None,
        tolerance: float | None = None,
        y_range: tuple[float, float] | None = None,
        bounds: tuple[float, float] | None = None,
        caps: ErrorCaps | None = None,
        sample_weight: Any = None,
    ) -> None:
        from holdfast.holdout.open import open as open_holdout

        if sample_weight is not None:
            raise InvalidArgument(
                "sample_weight is given, and what is promised is the average over rows that count "
                "alike; leave it out, or put the weights into a scoring of your own."
            )
        opening: dict[str, Any] = {
            "ledger": ledger,
            "name": name,
            "confidence_level": confidence_level,
            "candidates": candidates,
            "questions": questions,
            "tolerance": tolerance,
        }
        self.protected = labelled_rows(X, y)
        self.scoring = scoring_of(scoring, self.protected.labels, y_range, bounds, caps)
        own = {"scoring": scoring, "y_range": y_range, "bounds": bounds, "caps": caps}
        self._again = {**opening, **own}
        table = self.protected.table()
        if caps is not None:
            caps.require_other_rows(table)
        if isinstance(self.scoring.summary, ShareExplained):
            own_deviations = self.scoring.summary.deviations(self.protected.labels)
            table = table.with_columns(**{DEVIATION: own_deviations})
        self._rows = RowsByContent(self.protected, table)
        self.holdout = open_holdout(
            self._rows.table,
            key=ROW,
            design=[LABEL] if self.scoring.public_classes else None,
            described="off",  # all of the failure probability is for estimators
            **opening,
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            below = name in _OF_HOLDOUT
            instead = f"its table and ledger have it: holdout.{name}." if below else ""
            raise without_attribute("a ReusableHoldout", self, name, instead)

    def ask(
        self, estimator: Any, name: str | None = None, **options: Unpack[BatchOptions]
    ) -> Answer:
        """The score of a fitted estimator, with noise; `name` is what it is called."""
        question = self.scoring.question(self.column(estimator, name))
        return self.holdout.ask(question, **self._noted(options))

    @checks_arguments("check")
    def check(
        self, estimator: Any, guess: float, name: str | None = None, **options: Unpack[BatchOptions]
    ) -> Answer:
        """Is the score about `guess`, the one of cross-validation, say?"""
        question = self.scoring.question(self.column(estimator, name))
        return self.holdout.check(question, guess=guess, **self._noted(options))

    @checks_arguments("gate")
    def gate(
        self, candidate: Any, incumbent: Any, min_gain: float = 0.0, *, why: str | None = None
    ) -> Answer:
        """Is the candidate shown to be better than the incumbent, by more than `min_gain`?"""
        compared = self.scoring.gain if min_gain else self.scoring.better
        question = self._between(compared, candidate, incumbent)
        return self.holdout.gate(question, at_least=min_gain, why=self._note(why))

    def gate_closer(self, candidate: Any, incumbent: Any, *, why: str | None = None) -> Answer:
        """Is the candidate shown to be closer to the label on more rows than not?

        A claim of its own, by the sign test: it says nothing of average errors, and a candidate
        that failed at `gate` is not shown by it.
        """
        question = self._between(self.scoring.closer, candidate, incumbent)
        return self.holdout.gate(question, at_least=0.0, why=self._note(why))

    def compare(self, candidate: Any, incumbent: Any, **options: Unpack[BatchOptions]) -> Answer:
        """How much higher the candidate scores than the incumbent, with noise."""
        question = self._between(self.scoring.gain, candidate, incumbent)
        return self.holdout.ask(question, **self._noted(options))

    def board(self) -> pl.DataFrame:
        """What was asked of which estimators, in order, with the intervals that were given."""
        columns = ("number", "verb", "question", "status", "value", "low", "high", "why", "receipt")
        return self.holdout.ledger.to_polars().select(columns)

    def column(self, estimator: Any, name: str | None = None) -> str:
        """The column that an estimator makes of the rows; attached unless it is there.

        One that has a column is also known by its name, so that it need not be kept.
        """
        there = {each.name: each for each in self.holdout.columns}
        if isinstance(estimator, str):
            if estimator not in there:
                raise InvalidArgument(
                    f"no estimator was called {estimator!r} here; give the estimator, fitted."
                )
            return estimator
        require_scorable(estimator, self.scoring, self.protected)
        digest = pickled_digest(estimator, self.scoring.name)
        if digest is None and name is None:
            raise InvalidArgument(
                f"{type(estimator).__name__} cannot be pickled, so that nothing tells it from "
                "another one; say what it is called: name=."
            )
        if digest is None and name in there and there[name].ready:
            raise InvalidArgument(
                f"{name!r} was asked about before, and nothing says that this one, which cannot be "
                "pickled, is the same; name it alone, without the estimator, or choose another "
                "name for another one."
            )
        short = "" if digest is None else digest.removeprefix("sha256:")[:_SHORT_DIGEST]
        called = name or f"{type(estimator).__name__}-{short}"
        return self.holdout.attach(called, self.computed(estimator, digest)).name

    def computed(self, estimator: Any, digest: str | None) -> Computed:
        """What an estimator makes of the rows, to attach: computed behind the door, once."""
        function = partial(_behind_the_door, self._rows, self.scoring, estimator)
        return computed(function, columns=[CONTENT], bounds=self.scoring.bounds, digest=digest)

    def _note(self, why: str | None) -> str | None:
        """What is said with an answer: why it was asked for, and the cap of errors."""
        return "; ".join(filter(None, (self.scoring.note, why))) or None

    def _noted(self, options: BatchOptions) -> BatchOptions:
        noted: BatchOptions = {**options, "why": self._note(options.get("why"))}
        return noted

    def _between(self, compared: Callable[[str, str], str], candidate: Any, incumbent: Any) -> str:
        compared("candidate", "incumbent")  # refused before anything is attached
        own, rival = self.column(candidate), self.column(incumbent)
        columns = {each.name: each.column for each in self.holdout.columns}
        if columns[own] == columns[rival]:
            raise InvalidArgument(
                f"{own!r} and {rival!r} are one estimator; compare it with another one."
            )
        return compared(own, rival)

    def close(self) -> None:
        """Let go of the ledger's files; nothing is lost, and it can be opened again."""
        self.holdout.close()

    def __repr__(self) -> str:
        return f"ReusableHoldout by {self.scoring.name} over {self.holdout!r}"

    def __sklearn_clone__(self) -> Self:
        return self  # there is one ledger, whoever looks

    def __deepcopy__(self, memo: object = None) -> Self:
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened again, over the same ledger."""
        opened_by = partial(type(self), **self._again)
        return opened_by, (self.protected.features, self.protected.labels)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _behind_the_door(
    rows: RowsByContent, scoring: Scoring, estimator: Any, frame: pl.DataFrame
) -> NDArray[np.float64]:
    """What an estimator makes of protected rows, by what they hold and not by their numbers."""
    import numpy as np

    if not len(frame):
        return np.empty(0)
    matching = rows.having(frame[CONTENT])
    return scoring.column(estimator, matching.features, matching.labels)
