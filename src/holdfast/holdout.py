"""The holdout: protected rows with their ledger. `open` makes or resumes one; ask and check use it.

The walk of a question: parsed and bound to the table's columns (public); asked before? the stored
answer, free; an offer on the account (public), or a refusal that computes nothing; the offer's
worst charge reserved, durable; one symbol through the mechanism's door; the answer settled,
durable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, overload

from holdfast import require
from holdfast.answer import Answer
from holdfast.budget import Budget, Cost
from holdfast.data.sample import Sample
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.groups import Groups, answer_groups, answer_where
from holdfast.guesses import averages, checks_about, fraction, guesses_of
from holdfast.ledger.entries import Asked, Opening, abandonment, reservation, settlement
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.bounded_noise import BoundedNoise
from holdfast.mechanisms.guess_and_check import GuessAndCheck
from holdfast.mechanisms.mechanism import Mechanism, Offer, Wish
from holdfast.mechanisms.noise import Noise
from holdfast.question.columns import Schema
from holdfast.question.statistic import Mean, MeanOf, MeansBy, Question, bind
from holdfast.sampling import sampling_from_dict

if TYPE_CHECKING:
    import altair

    from holdfast.ledger.view import LedgerView

__all__ = ["TIMEOUT", "Holdout", "now"]

TIMEOUT = 60.0


class Holdout:
    """Protected rows and their ledger. Made by `holdfast.open`."""

    def __init__(
        self,
        store: Store,
        transcript: Transcript,
        schema: Schema,
        sample: Sample | None,
        train: Sample | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._store = store
        self._transcript = transcript
        self.schema = schema
        self._sample = sample
        self.train = train
        self._timeout = timeout

    @property
    def opening(self) -> Opening:
        """What was declared, and what the table was."""
        return self._transcript.opening

    @property
    def name(self) -> str:
        return self.opening.name

    @property
    def rows(self) -> int:
        return self._transcript.terms.rows

    @property
    def source(self) -> str | None:
        """Where the data was when the ledger was opened; None for data in memory."""
        return self._transcript.opening.source

    @property
    def budget(self) -> Budget:
        """What is left, after everything that any process has asked."""
        self._refresh()
        return self._budget()

    @property
    def ledger(self) -> LedgerView:
        """Every question and answer so far."""
        from holdfast.ledger.view import LedgerView

        self._refresh()
        return LedgerView(tuple(self._transcript.answers))

    def cost(
        self,
        question: Question,
        guess: Any = None,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        tolerance: float | None = None,
    ) -> Cost:
        """What a question would cost now. Free; touches no data."""
        self._refresh()
        bound = bind(question, self.schema)
        if guess is None and self.train is not None:
            guess = bound.low  # `ask` will guess from the training rows; any guess costs the same
        wish = self._wish(bound, guess, at_most, at_least, tolerance)
        width = (bound.high - bound.low) * wish.tolerance
        if bound.text in self._transcript.by_question:
            return Cost(bound.text, width, 0.0, 0.0, True)
        mechanism = _mechanism([wish])
        (offer,) = mechanism.offer(self._transcript.terms, self._transcript.committed, [wish])
        least = offer.worst_charge
        if wish.claim is not None:
            least = mechanism.settle(offer, "confirmed").charge
        return Cost(bound.text, width, least, offer.worst_charge, False)

    def explain(self) -> str:
        """The session from the ledger alone: what was promised, and how each interval came."""
        from holdfast.ledger.view import explanation

        self._refresh()
        return explanation(self._transcript)

    def chart(self, path: str | None = None) -> altair.VConcatChart:
        """Every answer with its interval, in the order asked; saved if a path is given."""
        from holdfast.charts import answers_chart, save

        self._refresh()
        level = self._transcript.terms.confidence_level
        picture = answers_chart(self.name, self._transcript.answers, level)
        if path is not None:
            save(picture, path)
        return picture

    def close(self) -> None:
        """Let go of the ledger's files; nothing is lost, and it can be opened again."""
        self._store.close()

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
        self, question: MeansBy, *, why: str | None = None, tolerance: float | None = None
    ) -> Groups: ...
    def ask(
        self,
        question: Question | MeansBy,
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> Answer | Groups:
        """The value of a question. With a training split attached it is guessed from that first."""
        if isinstance(question, MeansBy):
            return answer_groups(self, question, None, why, tolerance)
        if isinstance(question, MeanOf) and question.where is not None:
            return answer_where(self, question, None, why, tolerance)
        return self.ask_many([question], why=why, tolerance=tolerance)[0]

    def ask_many(
        self,
        questions: Iterable[Question],
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> list[Answer]:
        """Questions chosen together: one scan, one shared leakage, cheaper than one by one."""
        bound = [bind(question, self.schema) for question in questions]
        t = self._half_width(tolerance)
        if self.train is None:
            return self._answer([Wish(question, t) for question in bound], why)
        return self._answer(checks_about(bound, averages(self.train, bound, self.schema), t), why)

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
        question: MeansBy,
        guess: Any,
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> Groups: ...
    def check(
        self,
        question: Question | MeansBy,
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
        if [guess is None, at_most is None, at_least is None].count(False) != 1:
            raise InvalidArgument("check takes one of guess=, at_most= and at_least=.")
        grouped = isinstance(question, MeansBy) or getattr(question, "where", None) is not None
        if grouped and guess is None:
            raise InvalidArgument("where= and by= are checked with guess=, not with one side.")
        if isinstance(question, MeansBy):
            return answer_groups(self, question, guess, why, tolerance)
        if isinstance(question, MeanOf) and question.where is not None:
            return answer_where(self, question, guess, why, tolerance)
        bound = bind(question, self.schema)
        return self._answer([self._wish(bound, guess, at_most, at_least, tolerance)], why)[0]

    def check_many(
        self,
        questions: Sequence[Question],
        guesses: Any,
        *,
        why: str | None = None,
        tolerance: float | None = None,
    ) -> list[Answer]:
        """Checks chosen together; `guesses` are as many numbers, or a table to guess from."""
        bound = [bind(question, self.schema) for question in questions]
        if isinstance(guesses, Sequence) and not isinstance(guesses, str):
            if len(guesses) != len(bound):
                raise InvalidArgument(
                    f"there are {len(bound)} questions and {len(guesses)} guesses; give one each."
                )
            pairs = zip(guesses, bound, strict=True)
            middles = [
                middle
                for guess, each in pairs
                for middle in guesses_of(guess, [each], self.schema, self.opening)
            ]
        else:
            middles = guesses_of(guesses, bound, self.schema, self.opening)
        return self._answer(checks_about(bound, middles, self._half_width(tolerance)), why)

    def _answer(self, wishes: Sequence[Wish], why: str | None) -> list[Answer]:
        if why is not None and not isinstance(why, str):
            raise InvalidArgument(f"why is {why!r}; it must be text.")
        wanted = {wish.question.text: wish for wish in wishes}
        asked: list[Wish] = []
        if self._unknown(wanted):
            with self._store.exclusive(self._timeout):
                self._refresh()
                if self._unknown(wanted):
                    self._finish_pending(wanted)
                asked = self._unknown(wanted)
                if asked:
                    self._ask_afresh(asked, why)
        else:
            self._refresh()
        new = {wish.question.text for wish in asked}
        left, answers = self._budget(), []
        for text in (wish.question.text for wish in wishes):
            recorded = self._transcript.by_question[text]
            answers.append(Answer(recorded, left, repeated=text not in new))
            new.discard(text)  # named twice in one batch, it is paid for once
        return answers

    def _unknown(self, wanted: Mapping[str, Wish]) -> list[Wish]:
        """The wishes that no stored answer fulfils."""
        return [wish for text, wish in wanted.items() if text not in self._transcript.by_question]

    def _ask_afresh(self, wishes: Sequence[Wish], why: str | None) -> None:
        transcript = self._transcript
        mechanism = _mechanism(wishes)
        offers = mechanism.offer(transcript.terms, transcript.account, wishes)
        sample = self._needed_sample()
        asked = [
            Asked(offer, wish.question.low, wish.question.high)
            for offer, wish in zip(offers, wishes, strict=True)
        ]
        self._write(reservation(now(), mechanism.name, why, asked))
        self._settle(mechanism, offers, [wish.question for wish in wishes], sample)

    def _settle(
        self,
        mechanism: Mechanism,
        offers: Sequence[Offer],
        questions: Sequence[Mean],
        sample: Sample,
    ) -> None:
        pending = self._transcript.pending
        if pending is None:
            raise InvalidArgument("no batch is reserved.")
        symbols = mechanism.respond(
            self._transcript.terms,
            offers,
            questions,
            sample,
            lambda number: Noise(self._store.secret, number),
        )
        releases = [
            mechanism.settle(offer, symbol) for offer, symbol in zip(offers, symbols, strict=True)
        ]
        self._write(settlement(now(), pending.seq, symbols, releases))

    def _finish_pending(self, wanted: Mapping[str, Wish]) -> None:
        """Complete what a crashed process reserved, with the same noise; or give it up for good."""
        pending = self._transcript.pending
        if pending is None:
            return
        sample = self._needed_sample()
        offers = [asked.offer for asked in pending.asked]
        try:
            questions = [self._again(offer.question, wanted) for offer in offers]
        except InvalidQuestion:
            self._write(
                abandonment(now(), pending.seq, "the question is a Python function that is gone")
            )
            return
        self._settle(pending.mechanism, offers, questions, sample)

    def _again(self, text: str, wanted: Mapping[str, Wish]) -> Mean:
        """The question that the ledger knows by this text."""
        if text in wanted:
            return wanted[text].question
        question = bind(text, self.schema)
        if question.text != text:
            raise InvalidQuestion("The text in the ledger now reads as another question.")
        return question

    def _write(self, body: dict[str, Any]) -> None:
        transcript = self._transcript
        transcript.apply([self._store.append(body, transcript.count, transcript.head)])

    def _refresh(self) -> None:
        with self._store.guard:
            transcript = self._transcript
            transcript.apply(self._store.news(transcript.count, transcript.head))

    def _budget(self) -> Budget:
        transcript = self._transcript
        sampling = sampling_from_dict(transcript.opening.sampling)
        return Budget(transcript.terms, transcript.committed, str(sampling))

    def _needed_sample(self) -> Sample:
        if self._sample is None:
            raise InvalidArgument(
                f"a new question needs the rows of {self.name!r}, and the ledger was opened "
                "without them; open it with its data. Nothing was spent."
            )
        return self._sample

    def _wish(
        self,
        question: Mean,
        guess: Any,
        at_most: float | None,
        at_least: float | None,
        tolerance: float | None,
    ) -> Wish:
        t = self._half_width(tolerance)
        if at_most is not None:
            bound = fraction("at_most", at_most, question)
            return Wish(question, t, (0.0, bound), bound)
        if at_least is not None:
            bound = fraction("at_least", at_least, question)
            return Wish(question, t, (bound, 1.0), bound)
        if guess is None:
            return Wish(question, t)
        (wish,) = checks_about(
            [question], guesses_of(guess, [question], self.schema, self.opening), t
        )
        return wish

    def _half_width(self, tolerance: float | None) -> float:
        if tolerance is None:
            return self._transcript.terms.tolerance
        return require.between("tolerance", tolerance, 0.0, 0.5, open_low=True, open_high=True)


def _mechanism(wishes: Sequence[Wish]) -> Mechanism:
    return BoundedNoise() if wishes[0].claim is None else GuessAndCheck()


def now() -> str:
    """The time, as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
