"""The papers and the field as they stand: typical stability, composition, baselines, guessers.

A leaf: nothing else imports it but by the names that the catalogue lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import lazy_names

if TYPE_CHECKING:
    from holdfast.papers.adaptive_composition import (
        AdaptiveComposition as AdaptiveComposition,
        dp_step as dp_step,
        gaussian_step as gaussian_step,
        laplace_step as laplace_step,
        learner_step as learner_step,
        tv_step as tv_step,
    )
    from holdfast.papers.probing import Probe as Probe, probe as probe
    from holdfast.theory.typical.notion import TypicalStability as TypicalStability

_HOMES = {
    "AdaptiveComposition": "papers.adaptive_composition",
    "Probe": "papers.probing",
    "TypicalStability": "theory.typical.notion",
    "dp_step": "papers.adaptive_composition",
    "gaussian_step": "papers.adaptive_composition",
    "laplace_step": "papers.adaptive_composition",
    "learner_step": "papers.adaptive_composition",
    "probe": "papers.probing",
    "tv_step": "papers.adaptive_composition",
}
__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
