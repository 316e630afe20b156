"""How far one row can move the answers so far, in scales of their noise.

A mean of n rows moves by at most 1/n of its range when a row is replaced, its cell by at most
cells/n + 1, which is cells/(n scale) + 1/scale scales of the noise. The account remembers the sum,
the sum of squares and the largest of both terms over the answers; how many rows there are, and what
the noise makes of a shift, is asked of it later (`holdout.neighbours`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from holdfast.mechanisms.account import Account
from holdfast.mechanisms.mechanism import Offer
from holdfast.theory.base.safeside import round_up

__all__ = ["RowShifts", "ShiftedScales", "remembering_shifts", "shifts_of"]

_MEMORY = "row shifts"


class ShiftedScales(NamedTuple):
    """By how many scales one row moves the answers: in all, as a root of squares, one at most."""

    total: float
    root: float
    largest: float


@dataclass(frozen=True, slots=True)
class RowShifts:
    """Answers with noise that are means of all rows; `others` are those of which nobody knows."""

    answers: int = 0
    others: int = 0
    cells: float = 0.0
    cell_squares: float = 0.0
    most_cells: float = 0.0
    steps: float = 0.0
    step_squares: float = 0.0
    most_steps: float = 0.0

    def after(self, offers: Sequence[Offer]) -> RowShifts:
        """With these answers."""
        shifts = self
        for offer in offers:
            shifts = shifts._with(offer)
        return shifts

    def _with(self, offer: Offer) -> RowShifts:
        grid = offer.own_grid
        if not _is_mean(offer) or grid.scale == 0:
            return RowShifts(**{**asdict(self), "others": self.others + 1})
        cells, step = round_up(grid.cells / grid.scale), 1.0 / grid.scale
        return RowShifts(
            self.answers + 1,
            self.others,
            round_up(self.cells + cells),
            round_up(self.cell_squares + cells * cells),
            max(self.most_cells, cells),
            round_up(self.steps + step),
            round_up(self.step_squares + step * step),
            max(self.most_steps, step),
        )

    def scales(self, rows: int) -> ShiftedScales:
        """What a row of so many can do."""
        if self.answers == 0:
            return ShiftedScales(0.0, 0.0, 0.0)
        root = math.sqrt(self.cell_squares) / rows + math.sqrt(self.step_squares)
        return ShiftedScales(
            round_up(self.cells / rows + self.steps),
            round_up(root, 8),
            round_up(self.most_cells / rows + self.most_steps),
        )


def _is_mean(offer: Offer) -> bool:
    """Whether it is about a mean of all rows: by its text, and by its concentration."""
    profile = offer.profile
    return offer.question.startswith("avg(") and (profile is None or "binomial" in profile)


def shifts_of(account: Account) -> RowShifts:
    """What is remembered of the answers so far."""
    found: dict[str, Any] | None = account.memory.get(_MEMORY)
    return RowShifts() if found is None else RowShifts(**found)


def remembering_shifts(account: Account, offers: Sequence[Offer]) -> Account:
    """The account that knows of these answers too."""
    return account.remembering(_MEMORY, asdict(shifts_of(account).after(offers)))
