"""Guessers: public functions of the transcript and of other rows.

Names are loaded when first used: a holdout without a guesser needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import lazy_names

if TYPE_CHECKING:
    from holdfast.guessers.guesser import (
        Grounds as Grounds,
        Guesser as Guesser,
        Lesson as Lesson,
        around as around,
    )
    from holdfast.guessers.training import (
        LastBest as LastBest,
        NoisyTraining as NoisyTraining,
        TrainingMean as TrainingMean,
    )
    from holdfast.papers.domain import Cut as Cut
    from holdfast.papers.median_mechanism import MedianMechanism as MedianMechanism
    from holdfast.papers.multiplicative_weights import (
        MultiplicativeWeights as MultiplicativeWeights,
    )

# Where each public name lives.
_HOMES = {
    "Cut": "papers.domain",
    "Grounds": "guessers.guesser",
    "Guesser": "guessers.guesser",
    "LastBest": "guessers.training",
    "Lesson": "guessers.guesser",
    "MedianMechanism": "papers.median_mechanism",
    "MultiplicativeWeights": "papers.multiplicative_weights",
    "NoisyTraining": "guessers.training",
    "TrainingMean": "guessers.training",
    "around": "guessers.guesser",
}
__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)
