"""Stable steps: answers in other notions, typically stable, and how far one row moves them.

An answer is a cell of the grid 1/G plus noise of scale T cells. Outside an event of probability nu
the sample's value is within the radius at level nu of the truth, so its cell makes at most
ceil(radius G) steps from the truth's: the log-ratio of Laplace answers is at most steps/T (an
(eta, 0, nu)-typically stable step for every nu at once), and Gaussian ones are as far apart as
normal laws at a distance of steps/T standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from holdfast.mechanisms.mechanism import Offer
from holdfast.mechanisms.terms import Account, Terms, profile_of_record
from holdfast.question.row import GRID_ERROR
from holdfast.theory.base.safeside import round_up

_MEMORY = "stable steps"

# The concentration of a statistic, None for a mean of all rows; cells in the range; scale in cells.
_Noisy = tuple[tuple[tuple[str, Any], ...] | None, int, int]


@dataclass(frozen=True, slots=True)
class StableSteps:
    """Steps so far: how many answers, and the finest noise for each kind of statistic.

    Answers of one batch were chosen together: of how many batches, and of how many the largest was,
    is what composition without adaptivity goes by.
    """

    count: int = 0
    finest: tuple[_Noisy, ...] = ()
    batches: int = 0
    largest: int = 0

    def after(self, offers: Sequence[Offer]) -> StableSteps:
        """Steps with these answers added."""
        finest = {key: (cells, scale) for key, cells, scale in self.finest}
        for offer in offers:
            key, cells, scale = _key(offer.profile), int(offer.own_grid.cells), offer.own_grid.scale
            before = finest.get(key)
            if before is None or Fraction(cells, scale) > Fraction(*before):
                finest[key] = (cells, scale)
        return StableSteps(
            self.count + len(offers),
            tuple((key, *noisy) for key, noisy in finest.items()),
            self.batches + 1,
            max(self.largest, len(offers)),
        )

    def ratio(self, terms: Terms, log_nu: float) -> float:
        """Distance, in scales, of the laws of an answer on typical samples and of W, at most."""
        most = 0.0
        for key, cells, scale in self.finest:
            record = None if key is None else dict(key)
            radius = round_up(profile_of_record(record, terms).radius(log_nu) + GRID_ERROR)
            most = max(most, round_up(math.ceil(Fraction(radius) * cells) / scale))
        return most


def steps_of(account: Account) -> StableSteps:
    """The answers so far as typically stable steps."""
    stored: dict[str, Any] | None = account.memory.get(_MEMORY)
    if stored is None:
        return StableSteps()
    finest = tuple((_key(profile), cells, scale) for profile, cells, scale in stored["finest"])
    return StableSteps(stored["count"], finest, stored["batches"], stored["largest"])


def remembering_steps(account: Account, offers: Sequence[Offer]) -> Account:
    """The account that knows of these answers too; those with bounded noise are not stable."""
    if any(offer.own_grid.reach is not None for offer in offers):
        return account
    after = steps_of(account).after(offers)
    finest = [[None if key is None else dict(key), *noisy] for key, *noisy in after.finest]
    stored = {"count": after.count, "batches": after.batches, "largest": after.largest}
    return account.remembering(_MEMORY, {**stored, "finest": finest})


def _key(profile: dict[str, Any] | None) -> tuple[tuple[str, Any], ...] | None:
    return None if profile is None else tuple(sorted(profile.items()))


# How far one row can move the answers so far, in scales of their noise.
#
# A mean of n rows moves by at most 1/n of its range when a row is replaced, its cell by at most
# cells/n + 1, which is cells/(n scale) + 1/scale scales of the noise. The account remembers the
# sum, the sum of squares and the largest of both terms over the answers; how many rows there are,
# and what the noise makes of a shift, is asked of it later (`holdout.neighbours`).


_SHIFT_MEMORY = "row shifts"


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
        """Shifts with these answers added."""
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
        """Scales that a row of so many can move."""
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
    """Memory of the shifts of the answers so far."""
    stored: dict[str, Any] | None = account.memory.get(_SHIFT_MEMORY)
    return RowShifts() if stored is None else RowShifts(**stored)


def remembering_shifts(account: Account, offers: Sequence[Offer]) -> Account:
    """The account that knows of these answers too."""
    return account.remembering(_SHIFT_MEMORY, asdict(shifts_of(account).after(offers)))
