"""What the rules of described questions rest on, and how long questions are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from holdfast.data.design import NO_DESIGN, Design
from holdfast.data.sampling import Independent, Sampling
from holdfast.question.expression import Expression
from holdfast.statistics.bind import Question
from holdfast.statistics.entry import Bound
from holdfast.theory.direct.symbols import POINTS
from holdfast.theory.length.described import described_log_level
from holdfast.words.parts import Part
from holdfast.words.prior import Bits

__all__ = ["Ground", "Lengths"]

_ROUNDED_POINTS = 64


class Lengths(Protocol):
    """How long questions are: their weights, over all events, sum to at most 1."""

    def read(self, question: Question) -> Bound:
        """The statistic that a question means."""
        ...

    def of(self, question: Bound) -> Bits:
        """The length of a question; refused if it has no description."""
        ...

    def millibits(self, part: Part) -> int:
        """The length of a part, in thousandths of a bit."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """What rules rest on: the rows, how they came about, and the level of all of them together.

    `made_for_keys` are the columns whose values were made for single keys: what is said of those is
    `for_these_items`, and so is everything where other columns are public.
    """

    rows: int
    sampling: Sampling
    prior: Lengths
    log_beta: float
    design: Design = NO_DESIGN
    rounded: bool = False
    for_these_items: bool = False
    made_for_keys: frozenset[str] = frozenset()

    def about(self, columns: Iterable[str]) -> Ground:
        """What rules for a question about these columns rest on."""
        keyless = self.made_for_keys.isdisjoint(columns)
        return self if keyless else replace(self, for_these_items=True)

    @property
    def alike(self) -> bool:
        """Whether the rows are draws from one population."""
        unlike = self.for_these_items or bool(self.design)
        return isinstance(self.sampling, Independent) and not unlike

    def alike_within(self, condition: Expression) -> bool:
        """Whether the rows with it, and those without it, are draws from one population each.

        So they are where all rows are, and where that condition is all that the design tells.
        """
        design = self.design
        if self.alike or not design.covers(condition) or len(design.cells) != 2:
            return self.alike
        known = replace(self, design=NO_DESIGN)
        return known.alike and 0 < design.group(condition).size < self.rows

    @property
    def points(self) -> int:
        return _ROUNDED_POINTS if self.rounded else POINTS

    def log_level(self, part: Part) -> float:
        """ln of the probability with which the rule of a part may fail."""
        return described_log_level(self.log_beta, self.prior.millibits(part))

    def log_share(self, condition: Expression) -> float:
        """The level of a group's size: that of its share."""
        return self.log_level(Part("mean", (condition,)))
