"""What answers with unbounded noise say of themselves as typically stable steps.

An answer is a cell of the grid 1/G plus noise of scale T cells. Outside an event of probability nu
the sample's value is within the radius at level nu of the truth, so its cell makes at most
ceil(radius G) steps from the truth's: the log-ratio of Laplace answers is at most steps/T (an
(eta, 0, nu)-typically stable step for every nu at once), and Gaussian ones are as far apart as
normal laws at a distance of steps/T standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.mechanisms.account import Account
from holdfast.mechanisms.mechanism import Offer
from holdfast.mechanisms.profile import profile_of_record
from holdfast.mechanisms.terms import Terms
from holdfast.question.row import GRID_ERROR
from holdfast.theory.base.safeside import round_up

__all__ = ["StableSteps", "remembering_steps", "steps_of"]

_MEMORY = "stable steps"

# The concentration of a statistic, None for a mean of all rows; cells in the range; scale in cells.
_Noisy = tuple[tuple[tuple[str, Any], ...] | None, int, int]


@dataclass(frozen=True, slots=True)
class StableSteps:
    """How many answers there were, and the finest noise for each kind of statistic.

    Answers of one batch were chosen together: of how many batches, and of how many the largest was,
    is what composition without adaptivity goes by.
    """

    count: int = 0
    finest: tuple[_Noisy, ...] = ()
    batches: int = 0
    largest: int = 0

    def after(self, offers: Sequence[Offer]) -> StableSteps:
        """With these answers."""
        found = {key: (cells, scale) for key, cells, scale in self.finest}
        for offer in offers:
            key, cells, scale = _key(offer.profile), int(offer.own_grid.cells), offer.own_grid.scale
            before = found.get(key)
            if before is None or Fraction(cells, scale) > Fraction(*before):
                found[key] = (cells, scale)
        return StableSteps(
            self.count + len(offers),
            tuple((key, *noisy) for key, noisy in found.items()),
            self.batches + 1,
            max(self.largest, len(offers)),
        )

    def ratio(self, terms: Terms, log_nu: float) -> float:
        """How far apart, in scales, the laws of an answer on typical samples and of W may be."""
        most = 0.0
        for key, cells, scale in self.finest:
            record = None if key is None else dict(key)
            radius = round_up(profile_of_record(record, terms).radius(log_nu) + GRID_ERROR)
            most = max(most, round_up(math.ceil(Fraction(radius) * cells) / scale))
        return most


def steps_of(account: Account) -> StableSteps:
    """The answers so far as typically stable steps."""
    found: dict[str, Any] | None = account.memory.get(_MEMORY)
    if found is None:
        return StableSteps()
    finest = tuple((_key(profile), cells, scale) for profile, cells, scale in found["finest"])
    return StableSteps(found["count"], finest, found["batches"], found["largest"])


def remembering_steps(account: Account, offers: Sequence[Offer]) -> Account:
    """The account that knows of these answers too; those with bounded noise are not stable."""
    if any(offer.own_grid.reach is not None for offer in offers):
        return account
    after = steps_of(account).after(offers)
    finest = [[None if key is None else dict(key), *noisy] for key, *noisy in after.finest]
    kept = {"count": after.count, "batches": after.batches, "largest": after.largest}
    return account.remembering(_MEMORY, {**kept, "finest": finest})


def _key(profile: dict[str, Any] | None) -> tuple[tuple[str, Any], ...] | None:
    return None if profile is None else tuple(sorted(profile.items()))
