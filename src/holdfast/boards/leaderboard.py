"""`holdfast.Leaderboard`: many submissions for the same items, and standings that stay true.

A submission is compared with the leader, item by item: *shown* to be better, it leads; *not shown*
says nothing and is nearly free, so that nobody climbs on noise, however many submit. What a team
claims its score to be is checked, and costs next to nothing when it is right. The end is a last
look: exact scores of all, and intervals that are true together.

Submitted predictions are known by their content: the same file from any account is one submission.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from holdfast import require
from holdfast.boards.history import BoardHistory, claim_key, gate_key, history_of
from holdfast.boards.metrics import metric_of
from holdfast.boards.standings import Standing, Standings, standings_of
from holdfast.data.attached import Fields
from holdfast.data.keys import named_keys
from holdfast.data.source import open_sample
from holdfast.errors import BudgetExhausted, InvalidArgument, ToleranceTooTight
from holdfast.ledger.attachments import BoardTerms
from holdfast.question.columns import no_column
from holdfast.question.declaring import bounds_pair
from holdfast.wording import plural

if TYPE_CHECKING:
    import polars as pl

    from holdfast.data.attached import ColumnValues
    from holdfast.holdout.ending import LastLookCost
    from holdfast.holdout.holdout import Holdout

_ROOM = 3.0  # standard errors by which a claim may be off, and still be confirmed
_LABEL, _PREDICTION = "label", "prediction"


class Leaderboard:
    """Labels that submissions are scored on, and a ledger that counts every look at them.

    `metric` is accuracy, brier, log_loss, mean_absolute_error, mean_squared_error or
    root_mean_squared_error. Errors have `y_range`, the range of labels and predictions, or `cap`,
    beyond which an error counts as the cap (`holdfast.sklearn.error_caps` takes it from other
    rows); the root has a cap. `label` names the column of labels, if the table has several beside
    the `key`. A `public` board compares submissions as they come; otherwise nothing is looked at
    before `final`. `submissions` is how many there will be at most, if that is known; claims are
    checked until `wrong_claims` of them were refuted.
    """

    def __init__(
        self,
        labels: Any,
        *,
        key: str,
        metric: str = "accuracy",
        ledger: str | Path,
        secret: str | Path | None = None,
        public: bool = True,
        label: str | None = None,
        y_range: tuple[float, float] | None = None,
        cap: float | None = None,
        submissions: int | None = None,
        wrong_claims: int = 3,
        confidence_level: float = 0.95,
        name: str | None = None,
    ) -> None:
        from holdfast.holdout.open import open as open_holdout

        require.text("metric", metric)
        self._texts: dict[str, str] = {}  # questions as the ledger spells them
        bounds = None if y_range is None else bounds_pair(y_range, "y_range")
        sample = open_sample(labels)  # what cannot be scored makes no ledger
        column = _label_column(sample.types, key, label)
        self.metric = metric_of(metric, column, sample.types[column], bounds, cap)
        declared = BoardTerms(
            metric,
            column,
            bounds,
            require.flag("public", public),
            require.integer_at_least("wrong_claims", wrong_claims, 0),
            at="",
            cap=None if cap is None else float(cap),
        )
        self.holdout = open_holdout(
            labels,
            name=name,
            ledger=ledger,
            secret=secret,
            key=key,
            candidates=submissions,
            confidence_level=confidence_level,
            described="off",  # all of the failure probability is for submissions
        )
        try:
            self.terms = self.holdout.boarding.declare(declared)
        except BaseException:
            self.holdout.close()
            raise

    @classmethod
    def over(cls, holdout: Holdout) -> Self:
        """The board of a holdout that is open already, as its ledger declares it."""
        terms = holdout.boarding.record.terms
        if terms is None:
            raise InvalidArgument(
                f"{holdout.name!r} is no leaderboard; make one of its labels: holdfast board init."
            )
        board = cls.__new__(cls)
        board.holdout, board.terms, board._texts = holdout, terms, {}
        kind = holdout.schema.types[terms.label]
        board.metric = metric_of(terms.metric, terms.label, kind, terms.y_range, terms.cap)
        return board

    def submit(
        self,
        predictions: Any,
        *,
        team: str,
        name: str | None = None,
        claim: float | None = None,
        key: str | None = None,
        value: str | None = None,
    ) -> Standing:
        """A prediction for every item: an array in the order of keys, a mapping, table or file.

        `claim` is what the team takes its score to be, from labels of its own. It is checked, and
        an interval about it is released if it is confirmed. `key` and `value` name the columns of a
        table. A file that does not fit is listed, and costs nothing; the same content from anybody
        is the same submission, and is looked at once.
        """
        _require_team(team)
        if name is not None:
            require.text("name", name)
        if claim is not None:
            require.between("claim", claim, *self.metric.bounds)
        self._require_going_on()
        try:
            values = self._submission_of(predictions, Fields(name or _PREDICTION, key, value))
            column = self._attached(values, team, name)
        except InvalidArgument as error:
            why = str(error)
            if isinstance(predictions, str | Path):  # where a file was is nobody's business
                why = why.replace(str(predictions), Path(predictions).name)
            self.holdout.boarding.turn_away(team, name, why)
            raise InvalidArgument(why) from None
        if self.terms.public:
            self._look(column, team, claim)
        return self.standings()[column]

    def standings(self) -> Standings:
        """Everybody's rank, as far as it was shown; free."""
        record, history = self.holdout.boarding.record, self._history()
        together = self.holdout.budget.together
        return standings_of(history, self.metric, record.turned_away, self.holdout.rows, together)

    def final(self, *, why: str = "the end of the challenge") -> Standings:
        """The exact score of every submission, with intervals that are true together.

        It is the last look: nothing is compared or checked after it.
        """
        self.holdout.end.final(self._last_questions(), why=why)
        return self.standings()

    def final_cost(self) -> LastLookCost:
        """Cost of the last look: what it would show, and end. Free; touches no label."""
        return self.holdout.end.final_cost(self._last_questions())

    def _last_questions(self) -> list[str]:
        submissions = self._history().submissions
        if not submissions:
            raise InvalidArgument(
                "nobody has submitted anything, so that there is nothing to look at; submit first."
            )
        return [self.metric.average(name) for name in submissions]

    def claim_half_width(self, claim: float) -> float:
        """How far from a claim the interval ends that is released if it is confirmed.

        Chosen so that a claim within three standard errors is confirmed; a public number.
        """
        metric = self.metric
        if not metric.root:
            return self._half_width(claim)
        square = metric.mean_of(claim)
        return claim - math.sqrt(max(0.0, square - self._half_width(square)))

    def _half_width(self, mean: float) -> float:
        """That of a claim of the mean that is asked."""
        low, high = map(self.metric.mean_of, self.metric.bounds)
        terms, account = self.holdout.opening.terms, self.holdout.budget.account
        level = math.log(2) + account.nats - terms.log_beta
        error = math.sqrt(max(0.0, mean - low) * max(0.0, high - mean) / terms.rows)
        reach = error * (math.sqrt(2 * level) + _ROOM) + (high - low) * (level + 1) / terms.rows
        step = 10.0 ** (math.floor(math.log10(reach)) - 1)
        return math.ceil(reach / step) * step

    def export(self, path: str | Path) -> Path:
        """Write the standings to a page (.html) or a table (.csv)."""
        from holdfast.boards.standings import write_board

        return write_board(self.standings(), self.holdout.name, path)

    def close(self) -> None:
        """Let go of the ledger's files; nothing is lost, and it can be opened again."""
        self.holdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        history, items = self._history(), plural(self.holdout.rows, "item")
        facts = [
            f"Leaderboard {self.holdout.name!r}: {self.metric.name} on {items}",
            self.holdout.budget.together,
            plural(len(history.submissions), "submission"),
            "nobody leads" if history.leader is None else f"{history.leader} leads",
        ]
        return " · ".join(facts)

    def _repr_html_(self) -> str:
        return self.standings()._repr_html_()

    def _history(self) -> BoardHistory:
        holdout = self.holdout
        return history_of(
            holdout.columns,
            holdout.ledger,
            self.metric,
            self._spelled,
            public=self.terms.public,
        )

    def _require_going_on(self) -> None:
        closed = self.holdout.budget.account.closed
        if closed is not None:
            raise BudgetExhausted(
                f"requested a submission; the board was ended at {closed.at}, when {closed.why}. "
                "See its standings, or begin another one with fresh labels."
            )

    def _spelled(self, question: str) -> str:
        """A question about submissions as the ledger spells it, once and for all."""
        if question not in self._texts:
            self._texts[question] = self.holdout.boarding.text_of(question)
        return self._texts[question]

    def _submission_of(self, predictions: Any, fields: Fields) -> ColumnValues:
        column = self.holdout.boarding.read(predictions, fields)
        if column.values.has_nulls():
            without = named_keys(column.order.keys.filter(column.values.is_null()), "has", "have")
            raise InvalidArgument(
                f"{without} no prediction (missing, null or NaN) among {len(column.values):,}; "
                "give one for every item."
            )
        self.metric.require_scorable(column.values, column.type.kind)
        return column

    def _attached(self, values: ColumnValues, team: str, name: str | None) -> str:
        """The submission's name on the board: the first one that this content had."""
        frames = {
            ending: _frame(values, column)
            for ending, column in self.metric.columns(values.values).items()
        }
        if name is not None:
            return self._named(f"{team}/{name}", frames, team)
        number = 0
        while True:
            number += 1
            full = f"{team}/{number}"
            if self._is_taken(full, frames):
                continue
            try:
                return self._named(full, frames, team)
            except InvalidArgument:  # perhaps another process was as quick
                if not self._is_taken(full, frames):
                    raise

    def _named(self, full: str, frames: Mapping[str, pl.DataFrame], team: str) -> str:
        """Attach what a submission is scored by, first what follows from it, under its name."""
        for ending in sorted(frames, reverse=True):  # who is on the board can be scored
            owner, frame = None if ending else team, frames[ending]
            attached = self.holdout.attach(full + ending, frame, value="value", asked_by=owner)
        return attached.column

    def _is_taken(self, full: str, endings: Iterable[str]) -> bool:
        """Whether something is called so; capital letters make no difference."""
        names = {column.name.casefold() for column in self.holdout.columns}
        return not names.isdisjoint((full + ending).casefold() for ending in endings)

    def _look(self, column: str, team: str, claim: float | None) -> None:
        """Check the claim, if there is one; then compare with the leader, until it does not move.

        Who was compared is not compared again, and what cannot be shown at all is not tried.
        """
        history = self._history()
        wrong = len(history.refuted) >= self.terms.wrong_claims
        if claim is not None and column not in history.claimed and not wrong:
            self._check(column, team, claim)
            history = self._history()
        while (leader := history.opponent(column)) is not None:
            try:
                self.holdout.gate(
                    self.metric.gain(column, leader),
                    at_least=0.0,
                    why=f"is {column} better than the leader, {leader}?",
                    asked_by=team,
                    request_key=gate_key(column, leader),
                )
            except ToleranceTooTight:
                return  # too few items differ from the leader's to show anything; nothing was spent
            history = self._history()

    def _check(self, column: str, team: str, claim: float) -> None:
        mean = self.metric.mean_of(claim)
        self.holdout.check(
            self.metric.average(column),
            guess=mean,
            half_width=self._half_width(mean),
            why=f"{team} claims {claim:g}",
            asked_by=team,
            request_key=claim_key(column),
        )


def _label_column(columns: Iterable[str], key: str, label: str | None) -> str:
    """The column of labels: the one that is named, or the only one beside the key."""
    labels = [name for name in columns if name != key]
    if label is None and len(labels) == 1:
        return labels[0]
    wanted = label or _LABEL
    if wanted not in labels:
        raise InvalidArgument(
            f"label names {no_column(wanted, labels)} Say which column has the labels: label=."
        )
    return wanted


def _require_team(team: str) -> str:
    """A team's name, which submissions are called after."""
    require.text("team", team)
    if "/" in team:
        raise InvalidArgument(f"team is {team!r}; a slash ends it on the board, so leave it out.")
    return team


def _frame(values: ColumnValues, column: pl.Series) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([values.order.keys.rename(values.order.name), column.rename("value")])
