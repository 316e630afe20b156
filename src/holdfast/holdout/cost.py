"""What a question costs, before it is asked."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.wording import plural

__all__ = ["Cost"]

_PLAIN_COSTS = (
    "question",
    "half_width",
    "least",
    "questions",
    "tolerance",
    "bits",
    "closes",
    "candidates",
    "unbounded",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a question would cost, before it is asked. Free to know, and nothing of the data.

    `least` is what it costs when every guess is confirmed, `most` what it costs at worst: infinite
    where surprises may use up all that is left. `questions` counts the new ledger questions it
    takes at most, 0 for a repeat; `half_width` is None where it follows from answers that are not
    known yet, and `tolerance` is the same as a part of the range, or of the unit of what has none.

    A described question has `bits` and takes no budget; its half-width is the one that is sure.
    What it costs are nats to those that come later without a description. `left` is how many such
    questions can be asked now, like the one it is about, `left_after` how many if all guesses are
    confirmed, and at worst. With
    `closes`, asks and checks end with it, for good. A gate costs `least` if nothing is shown, and
    one of the `candidates` that are left, in words.
    """

    question: str
    half_width: float | None
    least: float
    most: float
    questions: int
    tolerance: float | None = None
    bits: float | None = None
    left: int = 0
    left_after: tuple[int, int] = (0, 0)
    closes: bool = False
    candidates: str | None = None
    unbounded: bool = False

    @property
    def repeated(self) -> bool:
        """Whether it has been answered before."""
        return self.questions == 0 and not self.closes

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "question": self.question,
            "half_width": self.half_width,
            "tolerance": self.tolerance,
            "bits": self.bits,
            "least": self.least,
            "most": self.most if math.isfinite(self.most) else None,
            "questions": self.questions,
            "questions_left": self.left,
            "questions_left_if_confirmed": self.left_after[0],
            "questions_left_after": self.left_after[1],
            "repeated": self.repeated,
            "closes": self.closes,
            "candidates": self.candidates,
            "unbounded": self.unbounded,
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Cost:
        """The cost that `to_dict` told."""
        return cls(
            **{name: body[name] for name in _PLAIN_COSTS},
            most=math.inf if body["most"] is None else body["most"],
            left=body["questions_left"],
            left_after=(body["questions_left_if_confirmed"], body["questions_left_after"]),
        )

    def __str__(self) -> str:
        if self.closes:
            return (
                f"{self.question}: looks up the groups in the protected rows, which closes asks "
                "and checks for good; each group is then a described question, and costs nothing"
            )
        if self.repeated:
            return f"{self.question}: asked before, so repeating it is free"
        if self.candidates is not None:
            return (
                f"{self.question}: takes one candidate, with {self.candidates} now; costs "
                f"{self.least:.3g} nats if it is not shown and {self.most:.3g} if it is"
            )
        if self.bits is None:
            return f"{self.question}: {self._width}; costs {self._price}"
        later = f"; of later questions without a description it takes {self._price}"
        return (
            f"{self.question}: {self.bits:.1f} bits; {self._width}; no budget"
            f"{later if self.left else ''}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        question, _, said = str(self).partition(": ")
        return f"<div><b>{html.escape(question)}</b><br><small>{html.escape(said)}</small></div>"

    @property
    def _width(self) -> str:
        if self.half_width is None:
            if self.bits is not None:
                return "the half-width is told with the answer"
            return f"takes up to {plural(self.questions, 'question')}"
        sure = "half-width" if self.bits is None else "half-width at most"
        if self.tolerance in (None, self.half_width):
            return f"{sure} {self.half_width:.4g}"
        whole = "its unit" if self.unbounded else "the range"
        return f"{sure} {self.tolerance:.4g} of {whole} = {self.half_width:.4g}"

    @property
    def _price(self) -> str:
        confirmed, worst = self.left_after
        if self.least == self.most:
            return self._spent(worst, self.most)
        at_worst = self._spent(worst, self.most) if math.isfinite(self.most) else "all that is left"
        return f"{self._spent(confirmed, self.least)} if confirmed, {at_worst} at worst"

    def _spent(self, after: int, nats: float) -> str:
        """How many of the questions that are left it takes; the nats are for those who count."""
        if self.left == 0:
            return f"{nats:.4g} nats"
        used = self.left - after
        return f"about {used:,} of {self.left:,} left ({nats:.4g} nats)"
