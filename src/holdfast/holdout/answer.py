"""An answer: a float with an interval that stays true together with all the others."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.holdout.budget import Budget
    from holdfast.ledger.entries import Recorded
    from holdfast.theory.base.intervals import Interval

__all__ = ["Answer"]


class Answer(float):
    """The released value. Behaves as a float; everything else is an attribute.

    `status` is answered, confirmed, surprise, no promise or repeated; `cost` is in nats (0 for a
    repeat); `left` is the budget after this answer; `receipt` is the hash of the ledger entry that
    settled it.
    """

    __slots__ = ("better", "left", "recorded", "status")
    recorded: Recorded
    left: Budget
    status: str
    better: str | None

    def __new__(cls, recorded: Recorded, left: Budget, *, repeated: bool = False) -> Answer:
        answer = super().__new__(cls, recorded.value)
        answer.recorded = recorded
        answer.left = left
        answer.status = "repeated" if repeated else recorded.status
        answer.better = None
        return answer

    def judged(self, better: str | None) -> Answer:
        """The same answer about a difference, of which `better` says which sign is good."""
        self.better = better
        return self

    @property
    def verdict(self) -> str | None:
        """For a difference with `better=`: better, worse, or cannot tell."""
        if self.better is None:
            return None
        if self.interval.low <= 0 <= self.interval.high:
            return "cannot tell"
        return "better" if (self.interval.low > 0) == (self.better == "higher") else "worse"

    @property
    def value(self) -> float:
        return self.recorded.value

    @property
    def interval(self) -> Interval:
        return self.recorded.interval

    @property
    def half_width(self) -> float:
        return self.recorded.half_width

    @property
    def number(self) -> int:
        return self.recorded.number

    @property
    def question(self) -> str:
        return self.recorded.question

    @property
    def guess(self) -> float | None:
        return self.recorded.guess

    @property
    def why(self) -> str | None:
        return self.recorded.why

    @property
    def receipt(self) -> str:
        return self.recorded.receipt

    @property
    def cost(self) -> float:
        return 0.0 if self.status == "repeated" else self.recorded.charge

    @property
    def assumes(self) -> str:
        return self.left.terms.assumption

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "number": self.number,
            "question": self.question,
            "status": self.status,
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "half_width": self.half_width,
            "confidence_level": self.left.terms.confidence_level,
            "simultaneous": self.left.terms.promises,
            "guess": self.guess,
            "why": self.why,
            "cost": self.cost,
            "receipt": self.receipt,
            "assumes": self.assumes,
            "rows": self.left.terms.rows,
            "verdict": self.verdict,
            "questions_left": self.left.questions_left,
            "surprises_left": self.left.surprises_left,
        }

    def __str__(self) -> str:
        return (
            f"{self._said}{self.status} {_short(self.value)} {self.interval} · "
            f"{self.left.together} · {self.left.terms.rows:,} rows · "
            f"question {self.number:,} · {self.left.remaining}"
        )

    __repr__ = __str__

    @property
    def _said(self) -> str:
        """The verdict of a difference, to stand before its number."""
        return f"{self.verdict}: " if self.verdict else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.recorded, self.left, self.status == "repeated", self.better)

    def _repr_html_(self) -> str:
        return (
            f"<div>{self._said}<b>{_short(self.value)}</b> {self.interval} "
            f"<i>{self.status}</i><br><small>{html.escape(self.question)} &middot; "
            f"{self.left.together} &middot; {self.left.terms.rows:,} rows "
            f"&middot; question {self.number:,} &middot; {self.left.remaining} "
            f"&middot; {html.escape(self.assumes)}</small></div>"
        )


def _again(recorded: Recorded, left: Budget, repeated: bool, better: str | None) -> Answer:
    return Answer(recorded, left, repeated=repeated).judged(better)


def _short(number: float) -> str:
    """Five significant digits."""
    return f"{number:.5g}"
