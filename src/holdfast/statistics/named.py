"""Statistics by name that have not met their table yet: what `call` makes and texts are read as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Better", "Bounds", "Call", "TableCall"]

Bounds: TypeAlias = tuple[float, float] | None
Better: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A statistic by name: one number, answered with one interval."""

    name: str
    arguments: tuple[Any, ...]
    where: str | None = None
    bounds: Bounds = None
    variance: float | None = None
    better: Better | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TableCall:
    """Several numbers at once: a statistic for each value of a column, or a histogram."""

    name: str
    arguments: tuple[Any, ...]
    where: str | None = None
    bounds: Bounds = None
    by: str | None = None
