"""What was computed here and what was computed elsewhere: equal, but for the last digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["CLOSE", "alike"]

# Numbers that were computed on another machine agree far better than this.
CLOSE = 1e-9


def alike(one: Any, other: Any) -> bool:
    """Equal; numbers, as nearly as machines compute them."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE**2)
    return bool(one == other)
