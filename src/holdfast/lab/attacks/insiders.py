"""Analysts who have seen the protected rows, or are told them exactly, and ask in words.

A described answer is true for everybody, whatever they know: its interval pays for all that could
have been asked in as many words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.trial import Game, Move, View
from holdfast.lab.attacks.analysts import sided
from holdfast.lab.world.questions import Arrays, LabQuestion, Vote
from holdfast.lab.world.written import Parity, WrittenVote

__all__ = ["AfterExactAnswers", "WorstParity", "WrittenMajority"]


def _rows_of(view: View) -> Arrays:
    if view.rows is None:
        raise InvalidArgument("An insider needs to see the rows.")
    return view.rows


@dataclass(frozen=True, slots=True)
class WorstParity:
    """Of all 2^d parities of the features the one that is furthest from 1/2 in these rows."""

    features: int

    @property
    def name(self) -> str:
        return "worst parity"

    @property
    def description(self) -> str:
        return "Sees the rows, and asks the parity of features that is furthest from its truth."

    def of_rows(self, rows: Arrays) -> LabQuestion:
        sums = _walsh(rows["agree"][: self.features] < 0)
        sums[0] = 0  # the empty parity is 1 for every row
        return Parity(int(np.argmax(np.abs(sums))), self.features)

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        yield Move(self.of_rows(_rows_of(view)), final=True)


def _walsh(negative: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each set of features the sum over the rows of their product, by Walsh and Hadamard."""
    features = len(negative)
    cells = (1 << np.arange(features)) @ negative
    sums = np.bincount(cells, minlength=1 << features)
    for place in range(features):
        pairs = sums.reshape(-1, 2, 1 << place)
        sums = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
    return sums


@dataclass(frozen=True, slots=True)
class WrittenMajority:
    """The majority of all columns that agree with the label in these rows, written out."""

    features: int

    @property
    def name(self) -> str:
        return "written majority"

    @property
    def description(self) -> str:
        return "Sees the rows, and writes down the majority of all columns that fit them."

    def of_rows(self, rows: Arrays) -> LabQuestion:
        fitting = np.flatnonzero(rows["agree"][: self.features].mean(axis=1) > 0)
        return WrittenVote(Vote.of((int(feature), 1) for feature in fitting), self.features)

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        yield Move(self.of_rows(_rows_of(view)), final=True)


@dataclass(frozen=True, slots=True)
class AfterExactAnswers:
    """The sign attack whose features are asked by description, and whose vote is not described."""

    features: int

    @property
    def name(self) -> str:
        return "sign attack by description"

    @property
    def description(self) -> str:
        return "Is told each feature exactly, by its description, and asks the vote of the ledger."

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model = {}
        for feature in range(self.features):
            answer = yield Move(WrittenVote(Vote.of({feature: 1}), self.features))
            model[feature] = sided(answer.value, rng)
        yield Move(Vote.of(model), final=True)
