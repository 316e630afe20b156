"""The holdout: protected rows with their ledger, made by `open`; the two verbs, ask and check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, overload

from holdfast import require
from holdfast.data.design import DesignValue
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument, InvalidQuestion, LedgerUnavailable
from holdfast.holdout.answer import Answer
from holdfast.holdout.asking import answers_to
from holdfast.holdout.budget import Budget, Cost
from holdfast.holdout.desk import Desk
from holdfast.holdout.groups import Groups
from holdfast.holdout.guess import Guess, claimed_side, guessed_number, values_of
from holdfast.holdout.price import (
    cost_of,
    cost_of_claim,
    require_groups_covered,
)
from holdfast.holdout.vacuous import require_telling
from holdfast.ledger.entries import Opening
from holdfast.mechanisms.mechanism import Wish
from holdfast.question.columns import Schema
from holdfast.question.expression import Column
from holdfast.statistics.bind import Labelled, Question, bind, labelled, read_question
from holdfast.statistics.named import Better, Call, TableCall
from holdfast.statistics.registry import Bound
from holdfast.wording import plural

if TYPE_CHECKING:
    import altair

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
        """The columns, their types and their declared bounds."""
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
        """Every question and answer so far."""
        from holdfast.ledger.view import LedgerView

        self._desk.refresh()
        answers = tuple(self._desk.transcript.answers)
        return LedgerView(answers, self._desk.budget().together)

    def cost(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        tolerance: float | None = None,
    ) -> Cost:
        """What a question would cost now, at most. Free; touches no data."""
        self._desk.refresh()
        if at_most is not None or at_least is not None:
            _require_one_claim(guess, at_most, at_least)
            return cost_of_claim(self._desk, self._side(question, at_most, at_least, tolerance))
        read = self._guess(guess)
        found = self._bound(question, read.rows)
        if isinstance(found, Labelled):
            return cost_of(self._desk, found, read.each(len(found.members)), tolerance)
        require_telling(self._desk, [found], read, tolerance)
        return cost_of(self._desk, found, read, tolerance)

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
        """Every answer with its interval, in the order asked; saved if a path is given."""
        from holdfast.holdout.charts import answers_chart, require_file, save

        if path is not None:
            require_file(path)  # before it is drawn, not after
        self._desk.refresh()
        transcript = self._desk.transcript
        terms = transcript.terms
        level = terms.confidence_level if terms.promises else None
        picture = answers_chart(self.name, transcript.answers, level)
        if path is not None:
            save(picture, path)
        return picture

    def close(self) -> None:
        """Let go of the ledger's files; nothing is lost, and it can be opened again."""
        self._own_desk.store.close()

    def __repr__(self) -> str:
        """Whose rows, what is promised, and what to type."""
        try:
            budget = self.budget
        except LedgerUnavailable as error:  # a text for people must not fail
            return f"Holdout {self._own_desk.opening.name!r}: {error}"
        return (
            f"Holdout {self.name!r}: {self.rows:,} rows · {budget.terms.width} · "
            f"{budget.together} · {plural(budget.asked, 'question')} answered · {budget.remaining}"
        )

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
        self, question: Question, *, why: str | None = None, tolerance: float | None = None
    ) -> Answer: ...
    @overload
    def ask(
        self, question: TableCall, *, why: str | None = None, tolerance: float | None = None
    ) -> Groups: ...
    def ask(
        self,
        question: Question | TableCall,
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> Answer | Groups:
        """The value of a question. With a guesser, or training rows, its guess is checked first."""
        return self._put(question, Guess(), why, tolerance)

    def ask_many(
        self,
        questions: Iterable[Question],
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        asked = _several(questions)
        bound = [self._single(question) for question in asked]
        return _judged(asked, answers_to(self._desk, bound, Guess(), why, tolerance))

    @overload
    def check(
        self,
        question: Question,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> Answer: ...
    @overload
    def check(
        self,
        question: TableCall,
        guess: Any,
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> Groups: ...
    def check(
        self,
        question: Question | TableCall,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> Answer | Groups:
        """Is it about `guess`? Almost free when confirmed; a surprise is answered as an ask.

        `guess` is a number, or a table to compute it from (such as a training split). `at_most` or
        `at_least` instead of a guess checks one side: "is it at most 0.3?".
        """
        _require_one_claim(guess, at_most, at_least)
        if guess is not None:
            return self._put(question, self._guess(guess), why, tolerance)
        wish = self._side(question, at_most, at_least, tolerance)
        (answer,) = self._desk.answer([wish], why)
        return answer.judged(_better(question))

    def check_many(
        self,
        questions: Iterable[Question],
        guesses: Any,
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> list[Answer]:
        """Checks chosen together; `guesses` are as many numbers, or a table to guess from."""
        asked = _several(questions)
        bound = [self._single(question) for question in asked]
        if isinstance(guesses, Sequence) and not isinstance(guesses, str):
            if len(guesses) != len(bound):
                raise InvalidArgument(
                    f"there are {plural(len(bound), 'question')} and "
                    f"{plural(len(guesses), 'guess', 'guesses')}; give one for each question."
                )
            guess = Guess(tuple(guessed_number(each) for each in guesses))
        elif guesses is None:
            raise InvalidArgument("a check needs a guess for every question; `ask` needs none.")
        else:
            guess = self._guess(guesses).each(len(bound))
        return _judged(asked, answers_to(self._desk, bound, guess, why, tolerance))

    def _put(
        self, question: Question | TableCall, guess: Guess, why: str | None, tolerance: float | None
    ) -> Answer | Groups:
        found = self._bound(question, guess.rows)
        if isinstance(found, Labelled):
            return self._labelled(found, guess.each(len(found.members)), why, tolerance)
        (answer,) = answers_to(self._desk, [found], guess, why, tolerance)
        return answer.judged(_better(question))

    def _labelled(
        self, found: Labelled, guess: Guess, why: str | None, tolerance: float | None
    ) -> Groups:
        questions = [question for _, question in found.members]
        self._desk.refresh()
        require_groups_covered(self._desk, questions, found.by, guess, tolerance)
        answers = answers_to(self._desk, questions, guess, why, tolerance, in_table=True)
        labels = [label for label, _ in found.members]
        return Groups(found.by, tuple(zip(labels, answers, strict=True)), self._frame_kind)

    def _bound(self, question: Question | TableCall, others: Sample | None) -> Bound | Labelled:
        """The question as statistics of this table; `others` are rows to take groups from."""
        call = read_question(question) if isinstance(question, str) else question
        if isinstance(call, TableCall):
            return labelled(call, self._desk.table, lambda column: self._members(column, others))
        found = bind(call, self._desk.table)
        if found.text == question:
            self._desk.was_read(question)
        return found

    def _single(self, question: Question) -> Bound:
        found = self._bound(question, None)
        if isinstance(found, Labelled):
            raise InvalidQuestion(
                "A histogram and by= groups are many answers; ask for them by themselves."
            )
        return found

    def _guess(self, guess: Any) -> Guess:
        """A number, or other rows to guess from; a table is opened here, and nowhere else."""
        if guess is None:
            return Guess()
        if isinstance(guess, Real):
            return Guess((guessed_number(guess),))
        return Guess(rows=self._desk.other_rows(guess))

    def _members(self, column: Column, others: Sample | None) -> Sequence[DesignValue]:
        """The groups: from the design, or from other rows, never from the protected ones."""
        if column.name in self._desk.table.design.columns:
            return self._desk.table.design.members(column.name)
        others = self._desk.train if others is None else others
        if others is None or column.name not in others.types:
            raise InvalidQuestion(
                f"by={column.name!r} needs to know the groups without looking at the protected "
                "rows: attach other rows with train= (--train FILE), declare design= (--design at "
                "init), or ask each group with where=."
            )
        return values_of(others, column.name)

    def _side(
        self,
        question: Question | TableCall,
        at_most: float | None,
        at_least: float | None,
        tolerance: float | None,
    ) -> Wish:
        """What a claim about one side wishes to know."""
        found = self._bound(question, None)
        return claimed_side(found, at_most, at_least, self._desk.half_width(tolerance))


def _require_one_claim(guess: Any, at_most: float | None, at_least: float | None) -> None:
    if [guess is None, at_most is None, at_least is None].count(False) != 1:
        raise InvalidArgument("check takes one of guess=, at_most= and at_least=.")


def _better(question: Question | TableCall) -> Better | None:
    return question.better if isinstance(question, Call) else None


def _judged(questions: Iterable[Question], answers: Iterable[Answer]) -> list[Answer]:
    return [answer.judged(_better(one)) for one, answer in zip(questions, answers, strict=True)]


def _several(questions: Iterable[Question]) -> list[Question]:
    if isinstance(questions, str):
        raise InvalidArgument(
            f"questions is the one text {questions!r}; give a list, or use ask or check for one."
        )
    return require.items("questions", questions, "a list of questions")
