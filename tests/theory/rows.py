"""The two kinds of rows that every theorem has in `tests/theory/tables`.

`Golden`: a value from an independent source (a published table, a closed form, mpmath), never from
our own code. `Domain`: where the theorem holds, so that each monotone direction it declares is
tested.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Golden:
    """theorem(**inputs) must be `expected` within `rel`; `origin` says who says so."""

    theorem: str
    inputs: Mapping[str, Any]
    expected: float | tuple[float, ...]
    rel: float
    origin: str
    measure: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Domain:
    """Strategies for the arguments; `where` cuts the box; `measure` makes numbers of values."""

    arguments: Mapping[str, SearchStrategy[Any]]
    where: Callable[..., bool] | None = None
    measure: Callable[[Any], Any] | None = None
    rel: float = 1e-9


def numbers(value: Any) -> tuple[float, ...]:
    """The numbers a theorem returns, flat."""
    if isinstance(value, bool):
        return (float(value),)
    if isinstance(value, int | float):
        return (float(value),)
    if isinstance(value, tuple | list):
        return tuple(number for part in value for number in numbers(part))
    if dataclasses.is_dataclass(value):
        return tuple(
            number for f in dataclasses.fields(value) for number in numbers(getattr(value, f.name))
        )
    raise TypeError(f"no numbers in {value!r}")
