"""The desk, where wishes become answers: ledger, transcript and protected rows in one place.

The walk of a question: asked before? the stored answer, free; an offer on the account (public), or
a refusal that computes nothing; the offer's worst charge reserved, durable; one symbol through the
mechanism's door; the answer settled, durable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from holdfast import require
from holdfast.answer import Answer
from holdfast.budget import Budget
from holdfast.data.sample import Sample
from holdfast.errors import HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.guesses import averages
from holdfast.ledger.entries import Asked, Opening, abandonment, reservation, settlement
from holdfast.ledger.store import Store
from holdfast.ledger.transcript import Transcript
from holdfast.mechanisms.account import Account
from holdfast.mechanisms.catalogue import kind_of
from holdfast.mechanisms.guess_and_check import GuessAndCheck
from holdfast.mechanisms.mechanism import Mechanism, Offer, Wish, about
from holdfast.mechanisms.noise import Noise
from holdfast.statistics.bind import bind
from holdfast.statistics.known import known_variance
from holdfast.statistics.statistic import Statistic
from holdfast.statistics.table import Table

__all__ = ["Desk", "now"]

_NOTHING: Mapping[str, str] = {}


class Desk:
    """One ledger with its protected rows (`sample`) and, perhaps, rows to guess from (`train`)."""

    def __init__(
        self,
        store: Store,
        transcript: Transcript,
        table: Table,
        sample: Sample | None,
        train: Sample | None,
        timeout: float,
    ) -> None:
        self.store = store
        self.transcript = transcript
        self.table = table
        self.train = train
        self._sample = sample
        self._timeout = timeout

    @property
    def opening(self) -> Opening:
        return self.transcript.opening

    @property
    def _refuses_checks(self) -> str | None:
        return kind_of(self.opening.mechanism["name"]).refuses_checks

    def refresh(self) -> None:
        """Read what others have written since."""
        with self.store.guard:
            transcript = self.transcript
            transcript.apply(self.store.news(transcript.count, transcript.head))

    def budget(self) -> Budget:
        """What is left, as of the last reading."""
        transcript = self.transcript
        return Budget(transcript.terms, transcript.committed, transcript.mechanism)

    def half_width(self, tolerance: float | None) -> float:
        """The half-width wanted, as a part of the range."""
        if tolerance is None:
            return self.transcript.terms.tolerance
        return require.between("tolerance", tolerance, 0.0, 0.5, open_low=True, open_high=True)

    def wishes(self, statistics: Sequence[Statistic], tolerance: float | None) -> list[Wish]:
        """To ask for these; with training rows, the wishes to check what those rows say."""
        t = self.half_width(tolerance)
        if self.train is None or self._refuses_checks is not None:
            return [Wish(statistic, t, narrow=tolerance is None) for statistic in statistics]
        return self.checks(statistics, averages(self.train, statistics, self.table), tolerance)

    def checks(
        self, statistics: Sequence[Statistic], guesses: Sequence[float], tolerance: float | None
    ) -> list[Wish]:
        """To check that each is about its guess (a fraction of its range)."""
        t = self.half_width(tolerance)
        return [
            replace(about(statistic, t, guess), narrow=tolerance is None)
            for statistic, guess in zip(statistics, guesses, strict=True)
        ]

    def offers(self, wishes: Sequence[Wish], account: Account) -> tuple[Mechanism, list[Offer]]:
        """The public terms of answering on an account; or a refusal."""
        transcript = self.transcript
        informed = [
            replace(wish, variance=known_variance(wish.question, transcript.by_question))
            for wish in wishes
        ]
        if wishes[0].claim is None:
            mechanism = transcript.mechanism
        elif self._refuses_checks is None:
            mechanism = GuessAndCheck()
        else:
            raise InvalidArgument(
                f"this ledger answers by {self.opening.mechanism['name']} and checks no guesses: "
                f"{self._refuses_checks} Use ask, or another ledger."
            )
        return mechanism, mechanism.offer(transcript.terms, account, informed)

    def answer(
        self, wishes: Sequence[Wish], why: str | None, part_of: Mapping[str, str] = _NOTHING
    ) -> list[Answer]:
        """The answers, one for each wish; what was asked before is not asked again.

        `part_of` tells, for a question's text, the statistic that it is asked for.
        """
        if why is not None and not isinstance(why, str):
            raise InvalidArgument(f"why is {why!r}; it must be text.")
        wanted = {wish.question.text: wish for wish in wishes}
        asked: list[Wish] = []
        if self._unknown(wanted):
            with self.store.exclusive(self._timeout):
                self.refresh()
                if self._unknown(wanted):
                    self._finish_pending(wanted)
                asked = self._unknown(wanted)
                if asked:
                    self._ask_afresh(asked, why, part_of)
        else:
            self.refresh()
        new = {wish.question.text for wish in asked}
        left, answers = self.budget(), []
        for text in (wish.question.text for wish in wishes):
            recorded = self.transcript.by_question[text]
            answers.append(Answer(recorded, left, repeated=text not in new))
            new.discard(text)  # named twice in one batch, it is paid for once
        return answers

    def _unknown(self, wanted: Mapping[str, Wish]) -> list[Wish]:
        """The wishes that no stored answer fulfils."""
        return [wish for text, wish in wanted.items() if text not in self.transcript.by_question]

    def _ask_afresh(
        self, wishes: Sequence[Wish], why: str | None, part_of: Mapping[str, str]
    ) -> None:
        mechanism, offers = self.offers(wishes, self.transcript.account)
        sample = self._needed_sample()
        asked = [
            Asked(offer, wish.question.low, wish.question.high, part_of.get(offer.question))
            for offer, wish in zip(offers, wishes, strict=True)
        ]
        self._write(reservation(now(), mechanism.name, why, asked))
        self._settle(mechanism, offers, [wish.question for wish in wishes], sample)

    def _settle(
        self,
        mechanism: Mechanism,
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
    ) -> None:
        pending = self.transcript.pending
        if pending is None:
            raise InvalidArgument("no batch is reserved.")
        symbols = mechanism.respond(
            self.transcript.terms,
            offers,
            questions,
            sample,
            lambda number: Noise(self.store.secret, number),
        )
        releases = [
            mechanism.settle(offer, symbol) for offer, symbol in zip(offers, symbols, strict=True)
        ]
        self._write(settlement(now(), pending.seq, symbols, releases))

    def _finish_pending(self, wanted: Mapping[str, Wish]) -> None:
        """Complete what a crashed process reserved, with the same noise; or give it up for good."""
        pending = self.transcript.pending
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

    def _again(self, text: str, wanted: Mapping[str, Wish]) -> Statistic:
        """The question that the ledger knows by this text."""
        if text in wanted:
            return wanted[text].question
        try:
            question = bind(text, self.table)
        except HoldfastError as error:
            raise InvalidQuestion("The text in the ledger cannot be read.") from error
        if question.text != text or not hasattr(question, "row"):
            raise InvalidQuestion("The text in the ledger now reads as another question.")
        return question  # type: ignore[return-value]

    def _write(self, body: dict[str, Any]) -> None:
        transcript = self.transcript
        transcript.apply([self.store.append(body, transcript.count, transcript.head)])

    def _needed_sample(self) -> Sample:
        if self._sample is None:
            raise InvalidArgument(
                f"a new question needs the rows of {self.opening.name!r}, and the ledger was "
                "opened without them; open it with its data. Nothing was spent."
            )
        return self._sample


def now() -> str:
    """The time, as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
