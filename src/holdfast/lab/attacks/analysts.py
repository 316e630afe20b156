"""Analysts who mean well: they search, and searching is enough to overfit what answers exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.trial import Game, Move, View
from holdfast.lab.world.questions import Vote, average

__all__ = ["FeatureSelection", "GreedySearch", "HillClimber", "HonestExplorer", "sided"]


def sided(value: float, rng: np.random.Generator, middle: float = 0.5) -> int:
    """+1 above the middle, -1 below, a coin's side on it."""
    if value == middle:
        return 1 if rng.integers(0, 2) else -1
    return 1 if value > middle else -1


@dataclass(frozen=True, slots=True)
class HonestExplorer:
    """Looks at every feature, then at votes of the best ones."""

    features: int
    best: int = 7

    @property
    def name(self) -> str:
        return "honest explorer"

    @property
    def description(self) -> str:
        return "Looks at every feature once, then at votes of the most promising ones."

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        shown = []
        for feature in range(self.features):
            answer = yield Move(Vote.of({feature: 1}))
            shown.append(answer.value - 0.5)
        order = sorted(range(self.features), key=lambda feature: -abs(shown[feature]))
        for count in range(3, self.best + 1, 2):
            model = {feature: sided(shown[feature], rng, 0.0) for feature in order[:count]}
            yield Move(Vote.of(model), final=True)


@dataclass(frozen=True, slots=True)
class GreedySearch:
    """Adds features to a model one after another: whichever of some candidates helps most."""

    features: int
    rounds: int
    candidates: int

    @property
    def name(self) -> str:
        return "greedy model search"

    @property
    def description(self) -> str:
        return "Builds a model feature by feature, each time keeping the best scoring candidate."

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model: dict[int, int] = {}
        for _ in range(self.rounds):
            unused = [feature for feature in range(self.features) if feature not in model]
            tried = rng.permutation(unused)[: self.candidates]
            scores = []
            for feature in map(int, tried):
                side = 1 if rng.integers(0, 2) else -1
                answer = yield Move(Vote.of({**model, feature: side}))
                scores.append((answer.value, feature, side))
            _, feature, side = max(scores)
            model[feature] = side
        yield Move(Vote.of(model), final=True)


@dataclass(frozen=True, slots=True)
class HillClimber:
    """An agent in a loop: change some weights a little, keep the change if the score went up, and
    try the opposite change next if it did not."""

    features: int
    steps: int
    changes: int

    @property
    def name(self) -> str:
        return "hill climber"

    @property
    def description(self) -> str:
        return "An agent in a loop: changes a model a little, keeps what scores better."

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model = np.array([sided(0.0, rng, 0.0) for _ in range(self.features)])
        answer = yield Move(Vote.of(enumerate(model)))
        best, opposite = answer.value, None
        for _ in range(self.steps - 1):
            change = np.zeros_like(model)
            if opposite is None:
                chosen = rng.permutation(self.features)[: self.changes]
                change[chosen] = 2 * rng.integers(0, 2, self.changes) - 1
            else:
                change = opposite
            answer = yield Move(Vote.of(enumerate(model + change)))
            if answer.value > best:
                model, best, opposite = model + change, answer.value, None
            else:
                opposite = -change if opposite is None else None
        yield Move(Vote.of(enumerate(model)), final=True)


@dataclass(frozen=True, slots=True)
class FeatureSelection:
    """The analyst of the reusable holdout experiment (Dwork et al. 2015).

    Every feature's agreement is checked on the holdout; those that agree in sign with training and
    are clear of 1/2 on both (a correlation of 1/sqrt n) are kept, the `selected` best on training
    vote with equal weights, and the vote's accuracy is asked.
    """

    features: int
    selected: int

    @property
    def name(self) -> str:
        return "feature selection"

    @property
    def description(self) -> str:
        return "Keeps the features that training and holdout agree on, and lets them vote."

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        if view.train is None:
            raise InvalidArgument("Feature selection needs a training table.")
        agree = view.train["agree"]
        seen = np.count_nonzero(agree > 0, axis=1) / agree.shape[1] - 0.5
        held = np.empty(self.features)
        for feature in range(self.features):
            answer = yield Move(Vote.of({feature: 1}), guess=float(seen[feature] + 0.5))
            held[feature] = answer.value - 0.5
        clear = 0.5 / np.sqrt(min(view.terms.rows, view.train.n))
        kept = (seen * held > 0) & (np.abs(seen) >= clear) & (np.abs(held) >= clear)
        order = np.argsort(-np.abs(np.where(kept, seen, 0.0)), kind="stable")[: self.selected]
        model = Vote.of((int(f), int(np.sign(seen[f]))) for f in order if kept[f])
        yield Move(model, guess=average(model, view.train), final=True)
