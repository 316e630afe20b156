"""Where guesses come from: public functions of the transcript and of other rows.

Names are loaded when first used: a holdout without a guesser needs none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.guessers.domain import Cut as Cut
    from holdfast.guessers.guesser import (
        Grounds as Grounds,
        Guesser as Guesser,
        Lesson as Lesson,
        around as around,
    )
    from holdfast.guessers.last_best import LastBest as LastBest
    from holdfast.guessers.median import MedianMechanism as MedianMechanism
    from holdfast.guessers.multiplicative_weights import (
        MultiplicativeWeights as MultiplicativeWeights,
    )
    from holdfast.guessers.training import (
        NoisyTraining as NoisyTraining,
        TrainingMean as TrainingMean,
    )

# Where each public name lives.
_HOMES = {
    "Cut": "domain",
    "Grounds": "guesser",
    "Guesser": "guesser",
    "LastBest": "last_best",
    "Lesson": "guesser",
    "MedianMechanism": "median",
    "MultiplicativeWeights": "multiplicative_weights",
    "NoisyTraining": "training",
    "TrainingMean": "training",
    "around": "guesser",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast.guessers' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"holdfast.guessers.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
