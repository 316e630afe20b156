"""The holdout: protected rows with their ledger, made by `open`; the two verbs, ask and check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, overload

from holdfast import require
from holdfast.data.design import Value
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument, InvalidQuestion, LedgerUnavailable
from holdfast.holdout.answer import Answer
from holdfast.holdout.answering import Guesses, answer_all, answer_quantile
from holdfast.holdout.budget import Budget, Cost
from holdfast.holdout.desk import Desk
from holdfast.holdout.groups import Groups
from holdfast.holdout.guess import claimed_side, guessed_number, values_of
from holdfast.holdout.price import Guessed, cost_of, cost_of_claim, require_groups_covered
from holdfast.holdout.vacuous import require_telling
from holdfast.ledger.entries import Opening
from holdfast.mechanisms.mechanism import Wish
from holdfast.question.columns import Schema
from holdfast.question.expression import Column
from holdfast.statistics.bind import Labelled, Question, bind, labelled, read_question
from holdfast.statistics.call import Better, Call, TableCall
from holdfast.statistics.derived import Derived
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic
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
        return self.opening.rows

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
        found = self._bound(question, guess)
        guessed = self._guessed(guess, len(found.members) if isinstance(found, Labelled) else 1)
        if not isinstance(found, Labelled | Quantile):
            require_telling(self._desk, [found], guessed, tolerance)
        return cost_of(self._desk, found, guessed, tolerance)

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
        from holdfast.holdout.charts import answers_chart, save

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
            f"Holdout {self.name!r}: {self.rows:,} rows · half-width {self.opening.tolerance:g} of "
            f"the range · {budget.together} · {plural(budget.asked, 'question')} answered · "
            f"{budget.remaining}"
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
        return self._put(question, None, why, tolerance)

    def ask_many(
        self,
        questions: Iterable[Question],
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        asked = _several(questions)
        bound = [self._one_batch(question) for question in asked]
        answers = answer_all(self._desk, bound, None, why, tolerance)
        return _judged(asked, answers)

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
            return self._put(question, guess, why, tolerance)
        wish = self._side(question, at_most, at_least, tolerance)
        (answer,) = self._desk.answer([wish], why, stated=True)
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
        bound = [self._one_batch(question) for question in asked]
        if isinstance(guesses, Sequence) and not isinstance(guesses, str):
            if len(guesses) != len(bound):
                raise InvalidArgument(
                    f"there are {plural(len(bound), 'question')} and "
                    f"{plural(len(guesses), 'guess', 'guesses')}; give one for each question."
                )
            found: Guesses = [guessed_number(guess) for guess in guesses]
        else:
            found = self._guesses(guesses, len(bound))
        answers = answer_all(self._desk, bound, found, why, tolerance)
        return _judged(asked, answers)

    def _put(
        self, question: Question | TableCall, guess: Any, why: str | None, tolerance: float | None
    ) -> Answer | Groups:
        found = self._bound(question, guess)
        if isinstance(found, Labelled):
            return self._labelled(found, guess, why, tolerance)
        if isinstance(found, Quantile):
            return answer_quantile(self._desk, found, self._one_guess(guess), why, tolerance)
        guesses = None if guess is None else self._guesses(guess, 1)
        (answer,) = answer_all(self._desk, [found], guesses, why, tolerance)
        return answer.judged(_better(question))

    def _labelled(
        self, found: Labelled, guess: Any, why: str | None, tolerance: float | None
    ) -> Groups:
        questions = [question for _, question in found.members]
        guesses = None if guess is None else self._guesses(guess, len(questions))
        self._desk.refresh()
        guessed = self._guessed(guess, len(questions))
        require_groups_covered(self._desk, questions, found.by, guessed, tolerance)
        answers = answer_all(self._desk, questions, guesses, why, tolerance, in_table=True)
        labels = [label for label, _ in found.members]
        return Groups(found.by, tuple(zip(labels, answers, strict=True)), self._frame_kind)

    def _bound(
        self, question: Question | TableCall, guess: Any
    ) -> Statistic | Derived | Quantile | Labelled:
        """The question as statistics of this table."""
        call = read_question(question) if isinstance(question, str) else question
        if isinstance(call, TableCall):
            return labelled(call, self._desk.table, lambda column: self._members(column, guess))
        found = bind(call, self._desk.table)
        if found.text == question:
            self._desk.was_read(question)
        return found

    def _one_batch(self, question: Question) -> Statistic | Derived:
        found = self._bound(question, None)
        if isinstance(found, Labelled | Quantile):
            raise InvalidQuestion(
                "A quantile, a histogram and by= groups are asked by themselves, not in a list."
            )
        return found

    def _one_guess(self, guess: Any) -> float | Sample | None:
        """A number, other rows to guess from, or nothing."""
        if guess is None:
            return None
        return guessed_number(guess) if isinstance(guess, Real) else self._desk.other_rows(guess)

    def _guesses(self, guess: Any, count: int) -> Guesses:
        """Numbers in the questions' own units, or a sample of other rows."""
        if guess is None:
            raise InvalidArgument("a check needs a guess for every question; `ask` needs none.")
        if isinstance(guess, Real):
            return [guessed_number(guess)] * count
        return self._desk.other_rows(guess)

    def _members(self, column: Column, guess: Any) -> Sequence[Value]:
        """The groups: from the design, or from other rows, never from the protected ones."""
        if column.name in self._desk.table.design.columns:
            return self._desk.table.design.members(column.name)
        table = guess is not None and not isinstance(guess, Real)
        others = self._desk.other_rows(guess) if table else self._desk.train
        if others is None or column.name not in others.types:
            raise InvalidQuestion(
                f"by={column.name!r} needs to know the groups without looking at the protected "
                "rows: attach other rows with train= (--train FILE), declare design= (--design at "
                "init), or ask each group with where=."
            )
        return values_of(others, column.name)

    def _guessed(self, guess: Any, count: int) -> Guessed:
        if isinstance(guess, Real):
            return Guessed((guessed_number(guess),) * count)
        return Guessed(rows=guess is not None)

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
