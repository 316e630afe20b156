"""What opening a search takes, told before it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["SearchCost"]


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What opening a search takes, before it is opened. Free to know, and nothing of the data.

    `level` is the failure probability of all its scores together, `left` that of what is left.
    `half_width` is the widest that the score of its first question can be, as a part of the range
    (None where that is not known), `nats` what each score adds for questions asked later.
    `questions_left` is how many those are at the declared half-width, now and after it is opened.
    """

    name: str
    size: int
    level: float
    left: float
    half_width: float | None
    nats: float | None
    questions_left: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "questions_left": list(self.questions_left)}

    def __str__(self) -> str:
        before, after = self.questions_left
        wide = "" if self.half_width is None else f", half-width at most {self.half_width:.4g}"
        nats = "" if self.nats is None else f" and takes {self.nats:.4g} nats of later questions"
        return (
            f"{self.name}: {self.size:,} configurations, any number of scores; takes "
            f"{self.level:.3g} of the {self.left:.3g} that is left of the failure probability; a "
            f"score is exact{wide}{nats}; questions left without a description: {before:,} now, "
            f"{after:,} after it is opened"
        )

    __repr__ = __str__
