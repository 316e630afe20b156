"""Searches that tell only their winner (section 13.2, Theorem S).

The candidates, the prior over them and the cells of their scores are public before a row is read.
One scan counts in how many rows each candidate is right; which of them is best, and in which cell
its count lies, is the one symbol that crosses the door. Nothing is told of the others.

The dearest symbol is reserved: the candidate of the lowest prior, at an end of its cells. A tenth
of a candidate's prior is spread evenly over its cells, so that this is never more than ln(10 cells)
above the price of its name; nothing bounds what a ledger may leak, so nothing is refused for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from holdfast import require
from holdfast.data.sample import Sample
from holdfast.data.sampling import Sampling
from holdfast.errors import BudgetExhausted, InvalidArgument, InvalidQuestion
from holdfast.mechanisms.mechanism import (
    Offer,
    Release,
    Symbol,
    Uncounted,
    Wish,
    each_settled,
)
from holdfast.mechanisms.noise import Noise
from holdfast.mechanisms.terms import Account, Terms
from holdfast.question.row import GRID, RowValue
from holdfast.statistics.statistic import Measured, Statistic
from holdfast.theory.base.concentration import Concentration
from holdfast.theory.base.safeside import round_up
from holdfast.theory.leakage.claim_levels import log_left
from holdfast.theory.leakage.winners import (
    Cv,
    WinnerClaim,
    cells_of,
    cv_ranks,
    rank_weight,
    winner_claim,
)

WINNER = "winner/1"


@dataclass(frozen=True, slots=True)
class CvScores:
    """Cross-validated scores of candidates on rows that are not protected, and how many those are.

    A candidate that has none is ranked last, and its cells are equal.
    """

    scores: tuple[float | None, ...]
    rows: int

    def __post_init__(self) -> None:
        require.positive_integer("cv_rows", self.rows)
        for score in self.scores:
            if score is not None:
                require.between("cv", score, 0.0, 1.0)

    def of(self, place: int) -> Cv | None:
        """Score of one candidate, with its rows."""
        score = self.scores[place]
        return None if score is None else Cv(score, self.rows)

    @property
    def ranks(self) -> list[int]:
        """Rank of each candidate, from 1."""
        return cv_ranks([-math.inf if each is None else each for each in self.scores])


@dataclass(frozen=True, slots=True)
class WinnerQuestion:
    """Question which of some candidates is right in most rows, and in how many.

    `members` are the names of their columns in the declared order, `conditions` hold where they are
    right; `columns` are what these read. With one member it is the question for its score.
    """

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    unbounded: ClassVar[bool] = False
    error: ClassVar[float] = 0.0

    text: str
    members: tuple[str, ...]
    conditions: tuple[RowValue, ...] = field(compare=False)
    columns: tuple[str, ...]
    cv: CvScores | None = None

    def __post_init__(self) -> None:
        if self.cv is not None and len(self.cv.scores) != len(self.members):
            raise InvalidArgument(
                f"cv has {len(self.cv.scores):,} scores for {len(self.members):,} candidates; give "
                "one for each."
            )

    @property
    def row(self) -> RowValue | None:
        """Nothing that is averaged by itself."""
        return None

    def unit(self, n: int) -> float:  # noqa: ARG002 - a share has all of its range
        return 1.0

    def rows(self, n: int) -> int:
        return n

    def concentration(self, n: int, sampling: Sampling) -> Concentration:  # noqa: ARG002
        raise InvalidQuestion(f"{self.text} is answered by its search alone.")

    def read(self, sample: Sample) -> Measured:  # noqa: ARG002
        raise InvalidQuestion(f"{self.text} is answered by its search alone.")


@dataclass(frozen=True, slots=True)
class _Standing:
    """Standing of a search: its candidates, and what is left and has leaked before it."""

    rows: int
    members: tuple[str, ...]
    cv: CvScores | None
    log_left: float
    nats: float

    @classmethod
    def read(cls, offer: Offer) -> _Standing:
        extra: Mapping[str, Any] = offer.extra or {}
        scores, rows = extra["cv"], extra["cv_rows"]
        cv = None if scores is None else CvScores(tuple(scores), rows)
        members = tuple(extra["members"])
        return cls(extra["rows"], members, cv, extra["log_left"], extra["nats"])

    def body(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "members": list(self.members),
            "cv": None if self.cv is None else list(self.cv.scores),
            "cv_rows": None if self.cv is None else self.cv.rows,
            "log_left": self.log_left,
            "nats": self.nats,
        }

    @property
    def priors(self) -> list[Fraction]:
        """Public weight of each candidate: by its rank, or equal."""
        many = len(self.members)
        if self.cv is None:
            return [Fraction(1, many)] * many
        return [rank_weight(rank, many) for rank in self.cv.ranks]

    def cv_of(self, place: int) -> Cv | None:
        return None if self.cv is None else self.cv.of(place)

    def claim(self, place: int, count: int, prior: Fraction) -> WinnerClaim:
        """What is told if this candidate is the best, with this count."""
        cv = self.cv_of(place)
        return winner_claim(self.rows, count, prior, cv, self.log_left, self.nats)

    @property
    def dearest(self) -> float:
        """Nats of the dearest symbol; weights fall to both ends of a candidate's cells."""
        charges = [
            self.claim(place, count, prior).nats
            for place, prior in enumerate(self.priors)
            for count in (0, self.rows)
        ]
        return round_up(max(charges), 8)


@dataclass(frozen=True, slots=True)
class Winner(Uncounted):
    """The best of a search's candidates; its name in the ledger has that of the search."""

    name: str

    def offer(self, terms: Terms, account: Account, wishes: Sequence[Wish]) -> list[Offer]:
        (wish,) = wishes
        question = _of_candidates(wish.question)
        if not wish.of_alike_rows(terms):
            raise InvalidArgument(
                f"rows are not alike here ({terms.assumption}), and a search that tells only its "
                "winner is for independent rows that are; open one that tells all scores "
                "(tell='all'). Nothing was spent."
            )
        remaining = log_left(terms.log_beta, account.leakage.log_beta_spent)
        if remaining == -math.inf:
            raise BudgetExhausted(
                f"requested the best of {len(question.members):,} candidates; remaining nothing of "
                "the failure probability, all of which earlier answers have. Use fresh rows in a "
                "new ledger. Nothing was spent."
            )
        standing = _Standing(terms.rows, question.members, question.cv, remaining, account.nats)
        worst = standing.dearest
        return [
            Offer(
                number=account.looks + 1,
                question=question.text,
                tolerance=None,
                grid=None,
                worst_charge=worst,
                prior=math.exp(-worst),
                extra=standing.body(),
            )
        ]

    def respond(
        self,
        terms: Terms,  # noqa: ARG002 - the same door for every mechanism
        offers: Sequence[Offer],
        questions: Sequence[Statistic],
        sample: Sample,
        noise: Callable[[int], Noise],  # noqa: ARG002
    ) -> list[Symbol]:
        (offer,), (question,) = offers, map(_of_candidates, questions)
        counts = [total // GRID for total in sample.sums(list(question.conditions))]
        best = max(range(len(counts)), key=lambda place: (counts[place], -place))
        standing = _Standing.read(offer)
        low, _ = cells_of(standing.rows, standing.cv_of(best)).around(counts[best])
        return [(best, low)]

    def settle(self, offers: Sequence[Offer], symbols: Sequence[Symbol]) -> list[Release]:
        return each_settled(self._release, offers, symbols)

    def _release(self, offer: Offer, symbol: Symbol) -> Release:
        standing = _Standing.read(offer)
        if not isinstance(symbol, list | tuple) or len(symbol) != 2:
            raise TypeError(f"the symbol of a search is a candidate and a cell, not {symbol!r}")
        place, low = symbol
        claim = standing.claim(
            require.integer_between("candidate", place, 0, len(standing.members) - 1),
            low,
            standing.priors[place],
        )
        if claim.low != low:
            raise ValueError(f"no cell of candidate {place} begins with {low}")
        silent = tuple(claim.interval) == (0.0, 1.0)
        return Release(
            offer.number,
            "says nothing" if silent else "answered",
            # The middle of the cell stands for all of its counts.
            None if silent else (claim.low + claim.high) / (2 * standing.rows),
            claim.interval,
            claim.nats,
            (standing.rows, standing.rows),
            member=standing.members[place],
        )


def _of_candidates(question: object) -> WinnerQuestion:
    if isinstance(question, WinnerQuestion):
        return question
    raise TypeError(f"{question!r} is about no candidates")
