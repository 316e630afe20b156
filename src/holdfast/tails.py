"""Tails of values without a range: how concentrated a column or a statistic is declared to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import lazy_names

if TYPE_CHECKING:
    pass

_HOMES = {
    "polynomial_tail": "data.sampling",
    "sub_exponential": "question.declaring",
    "sub_gaussian": "question.declaring",
    "sub_weibull": "data.sampling",
    "tail_table": "data.sampling",
}
__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
