"""The holdout: protected rows with their ledger, made by `open`; the two verbs, ask and check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from holdfast.data.brought import Fields
from holdfast.errors import HoldfastError, InvalidArgument, LedgerUnavailable
from holdfast.holdout.answer import Answer
from holdfast.holdout.asking import Said, Saying, answers_to, better_of, several, told_before
from holdfast.holdout.attach import attach_submitted, differing
from holdfast.holdout.budget import Budget, Cost
from holdfast.holdout.closing import retire
from holdfast.holdout.desk import Desk
from holdfast.holdout.distribution import Distribution
from holdfast.holdout.grouping import cost_of_discovering, groups_for, knowing
from holdfast.holdout.groups import Groups
from holdfast.holdout.guess import Guess, guess_of, guesses_of, require_one_claim
from holdfast.holdout.price import cost_of
from holdfast.holdout.reading import bound_to, one_answer_of
from holdfast.holdout.tabling import table_of_answers
from holdfast.holdout.together import Waiting, answered_together
from holdfast.holdout.vacuous import require_telling
from holdfast.holdout.widths import NamedWidth, width_in_units
from holdfast.ledger.attachments import AttachedColumn
from holdfast.ledger.entries import Opening
from holdfast.question.columns import Schema
from holdfast.statistics.bind import Question
from holdfast.statistics.labelled import GroupsOf, Labelled
from holdfast.statistics.named import TableCall
from holdfast.wording import plural

if TYPE_CHECKING:
    import altair

    from holdfast.certificate.certificate import ReuseCertificate
    from holdfast.holdout.stability import Stability
    from holdfast.lab.arena.rehearsal import Rehearsal
    from holdfast.ledger.view import LedgerView

__all__ = ["TIMEOUT", "Holdout"]

TIMEOUT = 60.0


class Holdout:
    """Protected rows and their ledger. Made by `holdfast.open`."""

    def __init__(
        self, desk: Desk, frame_kind: str = "polars", source: Mapping[str, Any] | None = None
    ) -> None:
        self._own_desk = desk
        self._frame_kind = frame_kind
        self._reopens_by = source  # what `open` needs to open it again; None for rows in memory

    @property
    def _desk(self) -> Desk:
        """The desk, unless it is closed or another process's: looked at before anything is done."""
        self._own_desk.store.require_usable()
        return self._own_desk

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
    def source(self) -> str | None:
        """Where the data was when it was last opened from files; None if it never was."""
        return self._desk.source

    @property
    def budget(self) -> Budget:
        """What is left, after everything that any process has asked."""
        self._desk.refresh()
        return self._desk.budget()

    @property
    def ledger(self) -> LedgerView:
        """Everything that was asked and answered so far; its parts are under it."""
        from holdfast.ledger.view import view_of

        self._desk.refresh()
        return view_of(self._desk.transcript, self._desk.budget().together)

    @property
    def columns(self) -> list[AttachedColumn]:
        """The columns that were attached, in order; those of the table are in `schema`."""
        self._desk.refresh()
        return list(self._desk.transcript.attached)

    def attach(
        self,
        name: str,
        values: Any,
        *,
        key: str | None = None,
        value: str | None = None,
        bounds: tuple[float, float] | None = None,
        missing: str = "refuse",
        by: str | None = None,
    ) -> AttachedColumn:
        """Values that arrive later, made without protected columns, as a column of questions.

        `values` is a mapping, a Series, a table or a file with keys, or a list in the order of
        keys; `key` and `value` name the columns of a table. A name is written once, and the same
        values under another name are the same column.
        """
        fields = Fields(name, key, value)
        return attach_submitted(self._desk, fields, values, bounds, missing, by)

    def differing(self, one: str, other: str) -> float:
        """The share of rows in which two attached columns differ: public and free."""
        return differing(self._desk, one, other)

    def cost(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        discover: bool = False,
    ) -> Cost:
        """What a question would cost now, at most. Free; touches no data."""
        self._desk.refresh()
        if discover:
            return cost_of_discovering(self._desk, question)
        if at_most is not None or at_least is not None:
            require_one_claim(guess, at_most, at_least)
        read, width = self._guess(guess, at_most, at_least), NamedWidth(tolerance, half_width)
        describe = read.verb == "ask" and not width.is_named
        found = bound_to(self._desk, question, knowing(self._desk, read.rows), describe=describe)
        if isinstance(found, Labelled) and read.side is None:
            part = width.part_of([member for _, member in found.members])
            return cost_of(self._desk, found, read.each(len(found.members)), part)
        one = one_answer_of(found)
        part = width.part_of([one])
        if read.side is None:
            require_telling(self._desk, [one], read, part)
        return cost_of(self._desk, one, read, part)

    def explain(self) -> str:
        """The session from the ledger alone: what was promised, and how each interval came."""
        from holdfast.ledger.view import explanation

        self._desk.refresh()
        return explanation(self._desk.transcript)

    def stability(self, level: float | None = None) -> Stability:
        """How much all answers together depend on the sample: (eta, tau, nu), and what follows.

        `level` is what tau and nu may be (default: a quarter of the failure probability).
        """
        from holdfast.holdout.stability import stability_of

        self._desk.refresh()
        return stability_of(self._desk.transcript, level)

    def rehearse(self, *, trials: int = 10, seed: int = 2026, n_jobs: int = 1) -> Rehearsal:
        """Attack synthetic rows under this holdout's terms. Touches no row of it; costs nothing."""
        from holdfast.lab.arena.rehearsal import rehearse

        return rehearse(self.opening, trials=trials, seed=seed, n_jobs=n_jobs)

    def chart(self, path: str | None = None) -> altair.VConcatChart:
        """Everything asked with its interval, in order; saved if a path is given."""
        from holdfast.holdout.charts import answers_chart

        self._desk.refresh()
        return answers_chart(self._desk.transcript, path)

    def retire(self, *, why: str, successor: str | None = None) -> None:
        """Answer nothing new from here on, for good; `successor` is what to ask instead."""
        retire(self._desk, why, successor)

    def certificate(self, path: str | None = None) -> ReuseCertificate:
        """All that was promised and answered, to be shown; saved as .html or .json if named."""
        from holdfast.certificate.certificate import certified

        return certified(self._desk.store.news, path)

    def close(self) -> None:
        """Let go of the ledger's files; nothing is lost, and it can be opened again."""
        self._own_desk.store.close()

    def __repr__(self) -> str:
        """Whose rows, what is promised, and what to type."""
        try:
            budget = self.budget
        except LedgerUnavailable as error:  # a text for people must not fail
            return f"Holdout {self._own_desk.opening.name!r}: {error}"
        terms, answered = budget.terms, plural(budget.account.looks, "question")
        pots = [f"failure probability {terms.parted}"] if terms.describes else []
        facts = [f"{self.rows:,} rows", width_in_units(self.opening), budget.together, *pots]
        told = " · ".join([*facts, f"{answered} answered", budget.remaining])
        return f"Holdout {self.name!r}: {told}"

    def __deepcopy__(self, memo: object = None) -> Self:
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened again, from where its rows and its ledger are."""
        from holdfast.holdout.open import opened_again

        if self._reopens_by is None:
            raise InvalidArgument(
                f"{self._own_desk.opening.name!r} was opened with a table in memory or a guesser "
                "of one's own, and cannot be opened again elsewhere; open it from files."
            )
        return opened_again, (dict(self._reopens_by),)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @overload
    def ask(
        self,
        question: Question,
        *,
        discover: bool = False,
        top: int | None = None,
        **said: Unpack[Saying],
    ) -> Answer: ...
    @overload
    def ask(
        self,
        question: TableCall,
        *,
        discover: bool = False,
        top: int | None = None,
        **said: Unpack[Saying],
    ) -> Groups: ...
    def ask(
        self,
        question: Question | TableCall,
        *,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
        discover: bool = False,
        top: int | None = None,
    ) -> Answer | Groups | Distribution:
        """The value of a question.

        One that is described by its text is answered exactly, at the level of its length. Any other
        one, and one for which a half-width is named, is answered on the ledger; with a guesser, or
        training rows, its guess is checked first. A half-width is named by `tolerance`, as a part
        of the range, or by `half_width`, in the unit of the answer.

        `why` it is asked and `by` whom is kept in the ledger, with every verb. A call made again
        with the same `key` is told the same, whatever was asked since, and looks at nothing.

        To `discover` the groups of a question, or its `top` largest ones, the protected rows are
        looked at: that ends asks and checks for good, and described questions stay.
        """
        said = Said(why, by, key, NamedWidth(tolerance, half_width))
        groups = groups_for(self._desk, question, said.width, discover=discover, top=top)
        return self._put(question, Guess(), said, groups, describe=True)

    def ask_many(
        self,
        questions: Iterable[Question],
        *,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        said = Said(why, by, key, NamedWidth(tolerance, half_width))
        return self._put_many(several(questions), Guess(), said, describe=True)

    @overload
    def check(
        self,
        question: Question,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        **said: Unpack[Saying],
    ) -> Answer: ...
    @overload
    def check(self, question: TableCall, guess: Any, **said: Unpack[Saying]) -> Groups: ...
    def check(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> Answer | Groups | Distribution:
        """Is it about `guess`? Almost free when confirmed; a surprise is answered as an ask.

        `guess` is a number, or a table to compute it from (such as a training split). `at_most` or
        `at_least` instead of a guess checks one side: "is it at most 0.3?".
        """
        require_one_claim(guess, at_most, at_least)
        claim, width = self._guess(guess, at_most, at_least), NamedWidth(tolerance, half_width)
        groups = knowing(self._desk, claim.rows)
        return self._put(question, claim, Said(why, by, key, width), groups)

    def check_many(
        self,
        questions: Iterable[Question],
        guesses: Any,
        *,
        why: str | None = None,
        tolerance: float | None = None,
        half_width: float | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> list[Answer]:
        """Checks chosen together; `guesses` are as many numbers, or a table to guess from."""
        asked = several(questions)
        guess = guesses_of(self._desk.other_rows, guesses, len(asked))
        return self._put_many(asked, guess, Said(why, by, key, NamedWidth(tolerance, half_width)))

    def answer_together(self, calls: Sequence[Waiting]) -> list[Answer | HoldfastError]:
        """Calls of several people that wait at the same time: one batch, each told their own."""
        return answered_together(self._desk, calls)

    def _put_many(
        self, asked: list[Question], guess: Guess, said: Said, *, describe: bool = False
    ) -> list[Answer]:
        if not asked:
            return []
        describe, groups = describe and not said.width.is_named, knowing(self._desk, None)
        bound = [
            one_answer_of(bound_to(self._desk, question, groups, describe=describe))
            for question in asked
        ]
        requests = said.requests(bound, [better_of(question) for question in asked], guess)
        before = told_before(self._desk, requests)
        return answers_to(self._desk, bound, requests, guess) if before is None else before

    def _put(
        self,
        question: Question | TableCall,
        guess: Guess,
        said: Said,
        groups: GroupsOf,
        *,
        describe: bool = False,
    ) -> Answer | Groups | Distribution:
        describe = describe and not said.width.is_named
        found = bound_to(self._desk, question, groups, describe=describe)
        if isinstance(found, Labelled) and guess.side is None:
            guess = guess.each(len(found.members))
            return table_of_answers(self._desk, found, guess, said, self._frame_kind)
        one = one_answer_of(found)
        requests = said.requests([one], [better_of(question)], guess)
        before = told_before(self._desk, requests)
        (answer,) = answers_to(self._desk, [one], requests, guess) if before is None else before
        return answer

    def _guess(
        self, guess: Any, at_most: float | None = None, at_least: float | None = None
    ) -> Guess:
        return guess_of(self._desk.other_rows, guess, at_most, at_least)
