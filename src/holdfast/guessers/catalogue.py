"""Every guesser a holdout can be opened with, by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache

from holdfast.errors import InvalidArgument
from holdfast.guessers.guesser import Guesser

__all__ = ["ANALYST", "guessers", "guessers_of"]

# No guesser: the analyst's own guesses are checked, and `ask` asks.
ANALYST = "analyst"


@cache
def guessers() -> Mapping[str, Guesser]:
    """All of them, by their names; loaded where one is wanted."""
    from holdfast.guessers.last_best import LastBest
    from holdfast.guessers.median import MedianMechanism
    from holdfast.guessers.multiplicative_weights import MultiplicativeWeights
    from holdfast.guessers.training import NoisyTraining, TrainingMean

    every = TrainingMean(), NoisyTraining(), MultiplicativeWeights(), MedianMechanism(), LastBest()
    return {guesser.name: guesser for guesser in every}


def guessers_of(wanted: str | Guesser | None, *, with_training: bool) -> tuple[Guesser, ...]:
    """Who guesses, in order of preference.

    Training rows guess where nobody else is named, and what the one that is named does not cover.
    """
    training = _training() if with_training else ()
    if wanted is None:
        return training
    if isinstance(wanted, str) and wanted == ANALYST:
        return ()
    chosen = guessers().get(wanted) if isinstance(wanted, str) else wanted
    if not isinstance(chosen, Guesser):
        names = [ANALYST, *guessers()]
        near = difflib.get_close_matches(str(wanted), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
        raise InvalidArgument(f"guesser is {wanted!r}, which is not a guesser; {hint}")
    return (chosen, *(each for each in training if each.name != chosen.name))


def _training() -> tuple[Guesser, ...]:
    from holdfast.guessers.training import TrainingMean

    return (TrainingMean(),)
