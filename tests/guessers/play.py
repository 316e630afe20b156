"""Guessers against a sample that is a histogram on a few cells, checked by the real mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.sampling import Independent
from holdfast.guessers.guesser import Grounds, Guesser, Lesson
from holdfast.mechanisms.bounded_noise import BOUNDED
from holdfast.mechanisms.claims import CHECKS
from holdfast.mechanisms.mechanism import Refuted, Wish, revealed
from holdfast.mechanisms.terms import Terms
from holdfast.papers.domain import Domain
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.question.row import GRID, RowValue
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean
from holdfast.theory.base.intervals import Interval
from tests.mechanisms.fake import Session, Sums, bins_of

Array = NDArray[np.float64]

TABLE = Table(Schema({"cell": ColumnType.INTEGER}))


def cells(count: int) -> dict[str, list[int]]:
    """The columns of a domain with one column of this many values."""
    return {"cell": list(range(count))}


def grounds(terms: Terms) -> Grounds:
    return Grounds(terms, TABLE, None, b"guessers")


def terms_for(
    rows: int, tolerance: float, questions: int | None = 2_000, confidence_level: float = 0.95
) -> Terms:
    return Terms(rows, tolerance, confidence_level, questions, Independent())


def mean_of(values: Sequence[float]) -> Mean:
    """The average of a number for each cell: a condition where only 0 and 1 occur."""
    if set(values) <= {0.0, 1.0}:
        inside = [str(cell) for cell, value in enumerate(values) if value]
        text = f"cell in ({', '.join(inside or ['-1'])})"
    else:
        branches = " ".join(f"when cell = {c} then {v!r}" for c, v in enumerate(values[:-1]))
        text = f"case {branches} else {values[-1]!r} end"
    found = bind(f"avg({text})", TABLE)
    assert isinstance(found, Mean)
    return found


def histogram(domain: Domain, counts: NDArray[np.int64]) -> Sums:
    """The sample with this many rows in each cell."""

    def times(row: RowValue) -> Counter[int]:
        face = domain.face(row)
        units = np.rint(np.broadcast_to(face.values, face.shape).ravel() * GRID).astype(np.int64)
        found: Counter[int] = Counter()
        for count, unit in zip(counts.tolist(), units.tolist(), strict=True):
            found[unit] += count
        return found

    def total(row: RowValue) -> tuple[int, int]:
        pairs = times(row).items()
        return sum(c * u for u, c in pairs), sum(c * u * u for u, c in pairs)

    return Sums(int(counts.sum()), total, binned=lambda row: bins_of(times(row)))


@dataclass
class Play:
    """One guesser, one sample, one account; the state is the guesser's own, which is public."""

    guesser: Guesser
    sample: Sums
    terms: Terms
    state: Any = None
    session: Session = field(init=False)
    surprises: int = 0
    gaps: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = self.guesser.start(grounds(self.terms))
        self.session = Session(self.terms)

    def guess(self, question: Mean) -> float:
        return self.guesser.guess(self.state, [question])[0]

    def put(self, question: Mean) -> bool:
        """Ask with the guesser's guess, let it learn, and tell whether it was a surprise."""
        t, guess = self.terms.half_width, self.guess(question)
        wish = Wish(question, t, self.guesser.claim(guess, t), guess)
        (offer,) = CHECKS.offer(self.terms, self.session.account, [wish])
        release = self.session.finish(CHECKS, offer, question, self.sample)
        surprising, refuted = release.status == "not confirmed", None
        if surprising and wish.claim is not None:
            refuted = Refuted(offer.number, wish.claim, offer.radius)
            (offer,) = BOUNDED.offer(self.terms, self.session.account, [Wish(question, t)])
            release = self.session.finish(BOUNDED, offer, question, self.sample)
        known = revealed(offer, release, refuted)
        if surprising:
            self.surprises += 1
            self.gaps.append(max(known.low - guess, guess - known.high))
        lesson = Lesson(
            question.text, Interval(question.low, question.high), release.told, t, known
        )
        self.state = self.guesser.learn(self.state, lesson)
        return surprising


def adversary(
    play: Play, choose: Callable[[], Mean | None], *, more_than: int, most: int = 5_000
) -> int:
    """Surprises until no question surprises any more, or there are more than a bound."""
    for _ in range(most):
        question = choose()
        if question is None or play.surprises > more_than:
            break
        play.put(question)
    return play.surprises
