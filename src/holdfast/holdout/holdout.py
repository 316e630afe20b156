"""The holdout: protected rows with their ledger, made by `open`; the two verbs, ask and check."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from holdfast import require
from holdfast.data.attached import Fields
from holdfast.did_you_mean import without_attribute
from holdfast.errors import HoldfastError, LedgerUnavailable
from holdfast.holdout.answer import Answer
from holdfast.holdout.ask import Waiting, answered_together
from holdfast.holdout.attach import Bringing, attach_column, differing, promote_column
from holdfast.holdout.budget import Budget
from holdfast.holdout.desk import Desk
from holdfast.holdout.forecast import DevFiles
from holdfast.holdout.options import CorrectionOptions
from holdfast.holdout.request import width_in_units
from holdfast.holdout.verbs import Boarding, Verbs
from holdfast.lazy import load
from holdfast.ledger.attachments import AttachedColumn, Promotion
from holdfast.ledger.opening import Opening
from holdfast.question.columns import Schema
from holdfast.statistics.bind import Question

if TYPE_CHECKING:
    import altair
    import polars as pl

    from holdfast.certificate.certificate import ReuseCertificate
    from holdfast.certificate.signing import SigningKey
    from holdfast.data.attached import ScoreBounds
    from holdfast.holdout.declare import DeclareCost, Learnt
    from holdfast.holdout.ending import Ending
    from holdfast.holdout.search import Declaring, Search, SearchCost
    from holdfast.lab.arena.rehearsal import Rehearsal
    from holdfast.ledger.view import Explanation, LedgerView
    from holdfast.papers.stability import Stability

TIMEOUT = 60.0
_ENDING = ("final_cost", "retire", "reveal", "reveal_cost")


class Holdout(Verbs):
    """Protected rows and their ledger. Made by `holdfast.open`."""

    def __init__(
        self, desk: Desk, frame_kind: str = "polars", source: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(desk, Desk):
            raise TypeError(
                f"a Holdout is not made of {type(desk).__name__}; open one: holdfast.open(data, "
                "name='flights')."
            )
        super().__init__(desk, frame_kind)
        self._reopens_by = source  # what `open` needs to open it again; None for rows in memory
        self._view: tuple[object, LedgerView | None] = (None, None)  # as of which entry

    @property
    def opening(self) -> Opening:
        """What was declared, and what the table was."""
        return self._desk.opening

    @property
    def name(self) -> str:
        """What the holdout is called."""
        return self.opening.name

    @property
    def rows(self) -> int:
        """How many rows are protected."""
        return self.opening.terms.rows

    @property
    def schema(self) -> Schema:
        """The columns, their types and what was declared of them; as text, one on a line."""
        return self._desk.table.schema

    @property
    def train(self) -> pl.DataFrame | None:
        """The training rows, to explore: those put aside (`split=`), or `train=`; None if none."""
        if self._desk.train is None:
            return None
        import polars

        return polars.concat(list(self._desk.train.frames(list(self._desk.train.types))))

    @property
    def learnt(self) -> Learnt:
        """What was learnt from training rows when the ledger was made, as a table."""
        from holdfast.holdout.declare import Learnt

        split = self.opening.split
        aside = None if split is None else split.rows - self.rows
        return Learnt(self.opening.schema, aside)

    @property
    def source(self) -> str | None:
        """Where the data was when it was last opened from files; None if it never was."""
        return self._desk.source

    @property
    def budget(self) -> Budget:
        """What is left, after everything that any process has asked."""
        with self._desk.store.guard:
            self._desk.refresh()
            return self._desk.budget()

    @property
    def ledger(self) -> LedgerView:
        """Everything that was asked and answered so far; its parts are under it."""
        from holdfast.ledger.view import view_of

        with self._desk.store.guard:
            transcript, together = self._desk.refresh(), self._desk.budget().together
            newest, (shown, view) = (transcript.count, transcript.head, together), self._view
            if view is None or shown != newest:
                view = view_of(transcript, together)
                self._view = newest, view
            return view

    @property
    def columns(self) -> list[AttachedColumn]:
        """The columns that were attached, in order; those of the table are in `schema`."""
        with self._desk.store.guard:
            return list(self._desk.refresh().attached)

    @require.takes()
    def attach(
        self,
        name: str,
        values: Any,
        *,
        key: str | None = None,
        value: str | None = None,
        bounds: ScoreBounds | None = None,
        missing: str = "refuse",
        digest: str | None = None,
        scoring: Mapping[str, str] | None = None,
        asked_by: str | None = None,
    ) -> AttachedColumn:
        """Values that arrive later, as a column of questions; a name is written once.

        `values` is a mapping, a Series, a table or a file with keys, or a list in the order of
        keys; `key` and `value` name the columns of a table. Made without protected columns, they
        are known by their content. What is made with them is known by what is declared: a
        `holdfast.computed` function, or values with a `digest` of what made them, and bounds
        (`bool`: they are true or false). `scoring` says how scores were made, as `EvalGate` does:
        the same ones, brought again under the same name, are then the same column.
        """
        how = Bringing(Fields(name, key, value), bounds, missing, digest, scoring)
        return attach_column(self._desk, values, how, asked_by)

    @require.takes()
    def promote(
        self,
        name: str,
        *,
        why: str | None = None,
        asked_by: str | None = None,
        instead_of: str | None = None,
    ) -> Promotion:
        """Name the column that others are compared with from now on; the ledger keeps it.

        It is refused unless `instead_of`, where that is given, is the incumbent until now.
        """
        return promote_column(self._desk, name, why, asked_by, instead_of)

    @property
    def incumbent(self) -> str | None:
        """The column that was promoted last; None if none was."""
        self._desk.refresh()
        last = self._desk.transcript.attached.incumbent
        return None if last is None else last.name

    @property
    def promotions(self) -> list[Promotion]:
        """Who was promoted, in order."""
        with self._desk.store.guard:
            return list(self._desk.refresh().attached.promotions)

    def differing(self, one: str, other: str) -> float:
        """The share of rows in which two submitted columns differ: public and free."""
        return differing(self._desk, one, other)

    @property
    def boarding(self) -> Boarding:
        """What its ledger says of a leaderboard: see `holdfast.Leaderboard`."""
        return Boarding(self._desk)

    @property
    def development(self) -> DevFiles:
        """Scores on development items, beside its ledger: see `holdfast.EvalGate`."""
        return DevFiles(self._desk)

    def declare(self, **declared: Unpack[CorrectionOptions]) -> DeclareCost:
        """Correct what was declared: `schema`, `outcomes`, `segments`, `planned`, as for `open`.

        Before anything is asked ranges and values may be others, too, and texts are as wide as at
        the opening. Later they can be added, at no price; what makes questions shorter takes a
        `share` of what is left of the failure probability, and `declare_cost` says what that is
        worth. `why` and `asked_by` are kept in the ledger.
        """
        from holdfast.holdout.declare import declare_more

        return declare_more(self._desk, **declared)

    def declare_cost(self, **declared: Unpack[CorrectionOptions]) -> DeclareCost:
        """What it would take to declare something now. Free; touches no data."""
        from holdfast.holdout.declare import cost_of_declaring

        return cost_of_declaring(self._desk, **declared)

    def search(self, name: str, space: Any = None, **declared: Unpack[Declaring]) -> Search:
        """A search space: exact scores of its configurations, all true together.

        `space` lists the configurations, or the values of each parameter; or `size` says how many
        there are, and they are known by their numbers. `question` is about a column that has the
        search's name, as in "avg(model = label)", or several of them; a `share` of what is left of
        the failure probability is for all scores together. `bounds` are those of its columns; with
        `computed` one program makes those for all rows alike, so that an AUC has an interval, too;
        `train`, the rows that candidates are made from, and `code` are recorded by their digests.
        A search that was opened is had again by its name.
        """
        from holdfast.holdout.search import opened_search

        return opened_search(partial(getattr, self, "_desk"), name, space, **declared)

    def search_cost(
        self, name: str, space: Any = None, **declared: Unpack[Declaring]
    ) -> SearchCost:
        """What it would take to open a search. Free; touches no data."""
        from holdfast.holdout.search import cost_of_search

        return cost_of_search(self._desk, name, space, **declared)

    @property
    def end(self) -> Ending:
        """The verbs that end the ledger: `final`, `reveal`, `retire`, and what they would end."""
        from holdfast.holdout.ending import Ending

        return Ending(self._desk)

    @require.takes()
    def final(
        self, questions: Iterable[Question], *, why: str | None = None, asked_by: str | None = None
    ) -> list[Answer]:
        """The last look, `holdout.end.final`, by its short name."""
        return self.end.final(questions, why=why, asked_by=asked_by)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            desk, instead = self.__dict__.get("_own_desk"), ""
            if name in _ENDING:
                instead = f"it is holdout.end.{name}."
            elif desk is not None and name in desk.table.schema.types:
                instead = f'it shows no rows: ask of them, as in ask("avg({name})").'
            raise without_attribute("a holdout", self, name, instead)

        def __getitem__(self, name: object) -> None:
            raise TypeError(
                f"a holdout has no [{name!r}]; it shows no rows: ask of them, as in "
                f'ask("avg({name})").'
            )

    def explain(self) -> Explanation:
        """The session from the ledger alone: what was promised, and how each interval came.

        It is text, which consoles and notebooks show line by line.
        """
        from holdfast.ledger.view import explanation

        with self._desk.store.guard:
            return explanation(self._desk.refresh())

    def stability(
        self, level: float | None = None, *, expected_error: float | None = None
    ) -> Stability:
        """How much all answers together depend on the sample: (eta, tau, nu), and what follows.

        `level` is what tau and nu may be (default: a quarter of the failure probability). With an
        `expected_error` it says how much noise in each answer would promise that much (L15).
        """
        stability_of: Callable[..., Stability] = load("papers.stability.stability_of")
        with self._desk.store.guard:
            return stability_of(self._desk.refresh(), level, expected_error)

    def rehearse(self, *, trials: int = 10, seed: int = 2026, n_jobs: int = 1) -> Rehearsal:
        """Attack synthetic rows under this holdout's terms. Touches no row of it; costs nothing."""
        rehearse: Callable[..., Rehearsal] = load("lab.arena.rehearsal.rehearse")
        return rehearse(self.opening, trials=trials, seed=seed, n_jobs=n_jobs)

    def chart(self, path: str | None = None) -> altair.VConcatChart:
        """Everything asked with its interval, in order; saved if a path is given."""
        from holdfast.holdout.charts import ledger_chart

        with self._desk.store.guard:
            return ledger_chart(self._desk.refresh(), path)

    def certificate(
        self, path: str | None = None, *, sign_with: SigningKey | None = None
    ) -> ReuseCertificate:
        """All that was promised and answered, to be shown; saved as .html, .pdf or .json if named.

        Signed with a key of one's own, nobody else can write another one.
        """
        from holdfast.certificate.certificate import certified

        return certified(self._desk.store.news, path, sign_with)

    def answer_together(self, calls: Sequence[Waiting]) -> list[Answer | HoldfastError]:
        """Calls of several people that wait at the same time: one batch, each told their own."""
        return answered_together(self._desk, calls)

    def close(self) -> None:
        """Let go of the ledger's files; nothing is lost, and it can be opened again."""
        self._own_desk.store.close()

    def __repr__(self) -> str:
        """Whose rows, what is promised, and what to type."""
        whose = f"Holdout {self._own_desk.opening.name!r}: {' · '.join(self._facts)}"
        return f"{whose}\n{self.learnt}" if self._shows_learnt else whose

    def _repr_html_(self) -> str:
        name, *facts = map(html.escape, [self._own_desk.opening.name, *self._facts])
        whose = f"<b>Holdout {name}</b><br><small>{' &middot; '.join(facts)}</small>"
        more = self.learnt._repr_html_() if self._shows_learnt else ""
        return f"<div>{whose}{more}</div>"

    @property
    def _shows_learnt(self) -> bool:
        """Whether what was learnt is shown by itself: until something is asked."""
        opening, transcript = self._own_desk.opening, self._own_desk.transcript
        return opening.split is not None and transcript.account.looks == 0

    @property
    def _facts(self) -> list[str]:
        """What is said of it to people, which must not fail."""
        try:
            budget = self.budget
        except LedgerUnavailable as error:
            return [str(error)]
        width = [] if budget.terms.describes else [width_in_units(self.opening)]
        return [f"{self.rows:,} rows", *width, *budget.facts]

    def __deepcopy__(self, memo: object = None) -> Self:
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened again, from where its rows and its ledger are."""
        from holdfast.holdout.open import opened_again, reopening

        return opened_again, (reopening(self._own_desk.opening.name, self._reopens_by),)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
