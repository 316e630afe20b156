"""Where guesses come from: public functions of the transcript and of other rows."""

from __future__ import annotations

from holdfast.guessers.domain import Cut
from holdfast.guessers.guesser import Grounds, Guesser, Lesson, around
from holdfast.guessers.last_best import LastBest
from holdfast.guessers.median import MedianMechanism
from holdfast.guessers.multiplicative_weights import MultiplicativeWeights
from holdfast.guessers.training import NoisyTraining, TrainingMean

__all__ = [
    "Cut",
    "Grounds",
    "Guesser",
    "LastBest",
    "Lesson",
    "MedianMechanism",
    "MultiplicativeWeights",
    "NoisyTraining",
    "TrainingMean",
    "around",
]
