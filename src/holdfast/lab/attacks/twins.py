"""An analyst who learns the rows from which columns are said to be the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.lab.arena.trial import Game, Move, View
from holdfast.lab.world.questions import Members

__all__ = ["TwinModels"]


@dataclass(frozen=True, slots=True)
class TwinModels:
    """A model that says no to every row, and twins that say yes where one value occurs.

    Each is a column computed from the rows. Where the twin is answered as a repeat of the model,
    nothing in the rows tells them apart: the value does not occur. The last question is how many
    rows have a value that occurs, of those tried: in the sample as many as have any of them.
    """

    universe: int
    tried: int

    @property
    def name(self) -> str:
        return "twin models"

    @property
    def description(self) -> str:
        return "Attaches twins of a model, one for each value, and sees which are the same column."

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        yield Move(Members(np.zeros(self.universe, dtype=bool)), guess=0.0)
        occurs = np.zeros(self.universe, dtype=bool)
        for value in range(self.tried):
            answer = yield Move(Members(np.arange(self.universe) == value), guess=0.0)
            occurs[value] = answer.status != "repeated"
        yield Move(Members(occurs), guess=self.tried / self.universe, final=True)
