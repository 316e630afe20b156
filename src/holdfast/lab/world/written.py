"""Questions with a text over the table's own columns, and how long that is in bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from holdfast.lab.world.questions import Arrays, LabQuestion, Vote
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.theory.length.bits import option_millibits
from holdfast.theory.length.words import option
from holdfast.words.prior import Prior

__all__ = ["HasLength", "Parity", "WrittenVote"]


@runtime_checkable
class HasLength(LabQuestion, Protocol):
    """A question with a text over the table's own columns."""

    @property
    def millibits(self) -> int:
        """Its length, in thousandths of a bit."""
        ...


@dataclass(frozen=True, slots=True)
class Parity:
    """How often the product of some features is +1: one of the 2^d texts that were declared.

    All of them are favourites, so each costs d bits and the two of saying so. `chosen` has a bit
    for each feature.
    """

    chosen: int
    features: int

    @property
    def is_condition(self) -> bool:
        return True

    @property
    def text(self) -> str:
        return f"parity {self.chosen} of {self.features} features"

    @property
    def millibits(self) -> int:
        return option("route", "favourites") + option_millibits(1, 2**self.features)

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        places = [place for place in range(self.features) if self.chosen >> place & 1]
        return np.asarray(np.prod(table["agree"][places], axis=0, dtype=np.int8) > 0)


@dataclass(frozen=True, slots=True)
class WrittenVote:
    """The accuracy of a majority of columns, written out over the columns of the table."""

    vote: Vote
    columns: int

    @property
    def is_condition(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """At a tie +1 is predicted, as `Vote` does."""
        names = " + ".join(f"x{feature}" for feature in self.vote.features)
        return f"avg(({names} >= {len(self.vote.features) / 2:g}) = label)"

    @property
    def millibits(self) -> int:
        return _millibits(self.text, self.columns)

    def values(self, table: Arrays) -> NDArray[np.bool_]:
        return self.vote.values(table)


@lru_cache(maxsize=4096)
def _millibits(text: str, columns: int) -> int:
    """Of the dearest part of a question about so many columns and a label."""
    return max(part.millibits for part in _prior(columns).bits(text).parts)


@lru_cache(maxsize=8)
def _prior(columns: int) -> Prior:
    names = ["label", *(f"x{place}" for place in range(columns))]
    return Prior(Schema(dict.fromkeys(names, ColumnType.BOOLEAN)))
