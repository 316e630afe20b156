"""Analysts who mean well, insiders, twins, and streams of candidates."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.trial import Game, Move, View
from holdfast.lab.world.linear_questions import (
    Arrays,
    LabQuestion,
    Members,
    Parity,
    Vote,
    WrittenVote,
    average,
)
from holdfast.lab.world.promoters import Pair


def sided(value: float, rng: np.random.Generator, middle: float = 0.5) -> int:
    """+1 above the middle, -1 below, a coin's side on it."""
    if value == middle:
        return 1 if rng.integers(0, 2) else -1
    return 1 if value > middle else -1


@dataclass(frozen=True, slots=True)
class HonestExplorer:
    """Looks at every feature, then at votes of the best ones."""

    name: ClassVar[str] = "honest explorer"
    description: ClassVar[str] = (
        "Looks at every feature once, then at votes of the most promising ones."
    )

    features: int
    best: int = 7

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        replies = []
        for feature in range(self.features):
            answer = yield Move(Vote.of({feature: 1}))
            replies.append(answer.value - 0.5)
        order = sorted(range(self.features), key=lambda feature: -abs(replies[feature]))
        for count in range(3, self.best + 1, 2):
            model = {feature: sided(replies[feature], rng, 0.0) for feature in order[:count]}
            yield Move(Vote.of(model), final=True)


@dataclass(frozen=True, slots=True)
class GreedySearch:
    """Adds features to a model one after another: whichever of some candidates helps most."""

    name: ClassVar[str] = "greedy model search"
    description: ClassVar[str] = (
        "Builds a model feature by feature, each time keeping the best scoring candidate."
    )

    features: int
    rounds: int
    candidates: int

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

    name: ClassVar[str] = "hill climber"
    description: ClassVar[str] = (
        "An agent in a loop: changes a model a little, keeps what scores better."
    )

    features: int
    steps: int
    changes: int

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

    name: ClassVar[str] = "feature selection"
    description: ClassVar[str] = (
        "Keeps the features that training and holdout agree on, and lets them vote."
    )

    features: int
    selected: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        if view.train is None:
            raise InvalidArgument("Feature selection needs a training table.")
        agree = view.train["agree"]
        trained = np.count_nonzero(agree > 0, axis=1) / agree.shape[1] - 0.5
        answers = np.empty(self.features)
        for feature in range(self.features):
            answer = yield Move(Vote.of({feature: 1}), guess=float(trained[feature] + 0.5))
            answers[feature] = answer.value - 0.5
        clear = 0.5 / np.sqrt(min(view.terms.rows, view.train.n))
        selected = (trained * answers > 0) & (np.abs(trained) >= clear) & (np.abs(answers) >= clear)
        order = np.argsort(-np.abs(np.where(selected, trained, 0.0)), kind="stable")[
            : self.selected
        ]
        model = Vote.of((int(f), int(np.sign(trained[f]))) for f in order if selected[f])
        yield Move(model, guess=average(model, view.train), final=True)


# Streams of candidates for the incumbent's place, each chosen after the verdicts on those before.
#
# A candidate changes the incumbent's answers on a fixed share of the items: on b of them it alone
# is right, on c the incumbent alone. What is promoted becomes the incumbent.


# How much less likely an item is changed again after its change was promoted, or was not.
_AFTER_PROMOTION, _AFTER_REFUSAL = 0.25, 0.5


class Challenger(NamedTuple):
    """A candidate: how it compares on the rows, and its true gain over the incumbent."""

    pair: Pair
    gain: float


# Yields candidates and is sent whether each was promoted.
CandidateStream = Generator[Challenger, bool, None]


class Candidates(Protocol):
    """A way to bring candidates, as a frozen value."""

    @property
    def name(self) -> str: ...

    def stream(self, rows: int, changed: int, rng: np.random.Generator) -> CandidateStream:
        """Candidates without end, each of which changes so many of the rows."""
        ...


@dataclass(frozen=True, slots=True)
class NullClimber:
    """Candidates that are no better: the labels are coins, and no change of answers gains anything.

    It climbs as if they were not: items whose change was promoted are right now, and those of a
    change that was refused were perhaps right before, so that both are left alone for a while.
    """

    name: ClassVar[str] = "none is better"

    def stream(self, rows: int, changed: int, rng: np.random.Generator) -> CandidateStream:
        right = rng.random(rows) < 0.5  # whether the incumbent is, on each item
        wanted = np.ones(rows)
        while True:
            # The smallest of exponential clocks: a draw without replacement, weighted.
            clocks = rng.standard_exponential(rows) / wanted
            items = np.argpartition(clocks, changed - 1)[:changed]
            c = int(np.count_nonzero(right[items]))
            promoted = yield Challenger(Pair(changed - c, c), 0.0)
            if promoted:
                right[items] = ~right[items]
            wanted[items] *= _AFTER_PROMOTION if promoted else _AFTER_REFUSAL


@dataclass(frozen=True, slots=True)
class SomeBetter:
    """Candidates of which a share truly gains, and the others nothing; changes are independent."""

    gain: float = 0.03
    share: float = 0.1

    @property
    def name(self) -> str:
        return f"one in {1 / self.share:g} gains {self.gain:g}"

    def stream(self, rows: int, changed: int, rng: np.random.Generator) -> CandidateStream:
        while True:
            gain = self.gain if rng.random() < self.share else 0.0
            b = int(rng.binomial(changed, 0.5 * (1.0 + gain * rows / changed)))
            yield Challenger(Pair(b, changed - b), gain)


# Analysts who have seen the protected rows, or are told them exactly, and ask in words.
#
# A described answer is true for everybody, whatever they know: its interval pays for all that
# could have been asked in as many words.


def _rows_of(view: View) -> Arrays:
    if view.rows is None:
        raise InvalidArgument("An insider needs to see the rows.")
    return view.rows


@dataclass(frozen=True, slots=True)
class WorstParity:
    """Worst parity: of all 2^d of the features the one that is furthest from 1/2 in these rows."""

    name: ClassVar[str] = "worst parity"
    description: ClassVar[str] = (
        "Sees the rows, and asks the parity of features that is furthest from its truth."
    )

    features: int

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

    name: ClassVar[str] = "written majority"
    description: ClassVar[str] = (
        "Sees the rows, and writes down the majority of all columns that fit them."
    )

    features: int

    def of_rows(self, rows: Arrays) -> LabQuestion:
        fitting = np.flatnonzero(rows["agree"][: self.features].mean(axis=1) > 0)
        return WrittenVote(Vote.of((int(feature), 1) for feature in fitting), self.features)

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        yield Move(self.of_rows(_rows_of(view)), final=True)


@dataclass(frozen=True, slots=True)
class AfterExactAnswers:
    """The sign attack whose features are asked by description, and whose vote is not described."""

    name: ClassVar[str] = "sign attack by description"
    description: ClassVar[str] = (
        "Is told each feature exactly, by its description, and asks the vote of the ledger."
    )

    features: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model = {}
        for feature in range(self.features):
            answer = yield Move(WrittenVote(Vote.of({feature: 1}), self.features))
            model[feature] = sided(answer.value, rng)
        yield Move(Vote.of(model), final=True)


# An analyst who learns the rows from which columns are said to be the same.


@dataclass(frozen=True, slots=True)
class TwinModels:
    """A model that says no to every row, and twins that say yes where one value occurs.

    Each is a column computed from the rows. Where the twin is answered as a repeat of the model,
    nothing in the rows tells them apart: the value does not occur. The last question is how many
    rows have a value that occurs, of those tried: in the sample as many as have any of them.
    """

    name: ClassVar[str] = "twin models"
    description: ClassVar[str] = (
        "Attaches twins of a model, one for each value, and sees which are the same column."
    )

    universe: int
    tried: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        yield Move(Members(np.zeros(self.universe, dtype=bool)), guess=0.0)
        occurs = np.zeros(self.universe, dtype=bool)
        for value in range(self.tried):
            answer = yield Move(Members(np.arange(self.universe) == value), guess=0.0)
            occurs[value] = answer.status != "repeated"
        yield Move(Members(occurs), guess=self.tried / self.universe, final=True)
