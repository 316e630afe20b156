"""How rows came about: the one assumption behind every promise, for `open(..., sampling=...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import lazy_names

if TYPE_CHECKING:
    from holdfast.data.sampling import (
        clustered,
        declared,
        dependency_graph,
        m_dependent,
        markov_chain,
    )

__all__ = ["clustered", "declared", "dependency_graph", "m_dependent", "markov_chain"]
__getattr__ = lazy_names(__name__, dict.fromkeys(__all__, "data.sampling"))


def __dir__() -> list[str]:
    return __all__
