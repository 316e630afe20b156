"""Analysts who attack: they turn answers into knowledge of the sample, and ask where it is wrong.

Each ends with a question whose error is its score. They see what is shown and what is public,
nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import InvalidArgument, Refused
from holdfast.lab.arena.trial import Game, Move, View
from holdfast.lab.attacks.analysts import sided
from holdfast.lab.world.holders import Shown, as_if_fixed
from holdfast.lab.world.linear_questions import (
    POINT_BITS,
    BothPositive,
    Linear,
    Members,
    Staircase,
    Tails,
    Vote,
)
from holdfast.theory.base.concentration import SubGaussian


@dataclass(frozen=True, slots=True)
class SignAttack:
    """Each feature's agreement first; then all features, turned to their better side, vote."""

    name: ClassVar[str] = "sign attack"
    description: ClassVar[str] = (
        "Asks on which side of 1/2 each feature fell, and lets them all vote accordingly."
    )

    features: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model = {}
        for feature in range(self.features):
            answer = yield Move(Vote.of({feature: 1}))
            model[feature] = sided(answer.value, rng)
        yield Move(Vote.of(model), final=True)


@dataclass(frozen=True, slots=True)
class LinearSignAttack:
    """The sign attack on means of real values: their signs are the weights of a sum of length 1."""

    name: ClassVar[str] = "sign attack on sums"
    description: ClassVar[str] = (
        "Asks on which side of 0 each mean fell, and adds all up with those signs."
    )

    features: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        signs = []
        for feature in range(self.features):
            answer = yield Move(Linear((feature,), (1.0,)))
            signs.append(sided(answer.value, rng))
        weights = tuple(sign / math.sqrt(self.features) for sign in signs)
        yield Move(Linear(tuple(range(self.features)), weights), final=True)


@dataclass(frozen=True, slots=True)
class LogOddsVote:
    """Rogers et al. 2020, quadratic-adaptive: features one by one, and between them the log-odds
    vote of all so far, as every square-numbered question (or, harder, after every feature)."""

    name: ClassVar[str] = "log-odds vote"
    description: ClassVar[str] = (
        "Asks feature after feature, and again and again the log-odds vote of all so far."
    )

    features: int
    schedule: Literal["squares", "every feature"] = "squares"
    unit: float = 1e-4

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model, count = {}, 0
        for feature in range(self.features):
            answer = yield Move(Vote.of({feature: 1}))
            share = min(0.99, max(0.01, answer.value))
            weight = round(math.log(share / (1 - share)) / self.unit)
            model[feature] = weight or sided(0.0, rng, 0.0)
            count += 1
            if self.schedule == "every feature" or math.isqrt(count + 1) ** 2 == count + 1:
                yield Move(Vote.of(model), final=True)
                count += 1


@dataclass(frozen=True, slots=True)
class LeaderboardBoosting:
    """Blum and Hardt 2015: random submissions; the majority of those scoring above 1/2."""

    name: ClassVar[str] = "leaderboard boosting"
    description: ClassVar[str] = (
        "Submits at random, and then the majority of what scored better than chance."
    )

    submissions: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model = {}
        for submission in range(self.submissions):
            answer = yield Move(Vote.of({submission: 1}))
            if answer.value > 0.5:
                model[submission] = 1
        yield Move(Vote.of(model), final=True)


@dataclass(frozen=True, slots=True)
class AlternateAccounts:
    """The sign attack by many accounts that pool their answers."""

    name: ClassVar[str] = "alternate accounts"
    description: ClassVar[str] = (
        "Opens account after account, pools all answers, and asks the sign attack's vote."
    )

    features: int
    per_account: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        model = {}
        for feature in range(self.features):
            account = f"account {feature // self.per_account}"
            answer = yield Move(Vote.of({feature: 1}), identity=account)
            model[feature] = sided(answer.value, rng)
        yield Move(Vote.of(model), identity="one more account", final=True)


@dataclass(frozen=True, slots=True)
class WidthReading:
    """Looks at everything but the values: refusals, statuses, widths, and how long it took.

    How often feature and label are both +1 is 1/4 in truth, where a width computed from the sample
    grows with the sample's value; so the wider ones tell which features agree too often. A scan
    that stops when it has seen enough stops earlier for those. A refused question is asked again
    after the others, in case refusals depend on more than what is public.
    """

    name: ClassVar[str] = "width reading"
    description: ClassVar[str] = (
        "Reads the sample out of widths, statuses, refusals and timing instead of values."
    )

    features: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        replies: dict[int, Shown | None] = {}
        for feature in range(self.features):
            replies[feature] = yield from _if_answered(BothPositive(feature))
        refused = [feature for feature, reply in replies.items() if reply is None]
        for feature in refused[:3]:
            replies[feature] = yield from _if_answered(BothPositive(feature))
        signals = _telling(replies)
        middle = float(np.mean([*signals.values()])) if signals else 0.0
        model = {feature: sided(signal, rng, middle) for feature, signal in signals.items()}
        yield Move(Vote.of(model), final=True)


def _if_answered(question: BothPositive) -> Generator[Move, Shown, Shown | None]:
    try:
        return (yield Move(question))
    except Refused:
        return None


def _telling(replies: Mapping[int, Shown | None]) -> dict[int, float]:
    """What differs between the questions, the first of: refusals, statuses, widths, time saved,
    values. Once nothing more is answered the account is used up, and refusals tell nothing."""
    answers = {feature: reply for feature, reply in replies.items() if reply is not None}
    if answers and any(feature < max(answers) and feature not in answers for feature in replies):
        return {feature: float(reply is None) for feature, reply in replies.items()}
    usual = next((reply.status for reply in answers.values()), "")
    for signal in (
        {feature: float(reply.status != usual) for feature, reply in answers.items()},
        {feature: _widest(reply) for feature, reply in answers.items()},
        {feature: -float(reply.work) for feature, reply in answers.items()},
    ):
        if signal and max(signal.values()) - min(signal.values()) > 1e-9:
            return signal
    return {feature: reply.value for feature, reply in answers.items()}


def _widest(reply: Shown) -> float:
    """The half-width, on the side where the interval was not cut off at 0 or 1."""
    if reply.low is None or reply.high is None:
        return 0.0
    return max(reply.value - reply.low, reply.high - reply.value)


@dataclass(frozen=True, slots=True)
class GuessBisection:
    """Moves a guess about each feature until it is no longer confirmed: where that happens tells
    the sample's value. The boundary drifts slowly for all features alike, so a line is taken off.
    """

    name: ClassVar[str] = "guess bisection"
    description: ClassVar[str] = (
        "Narrows each value down by guesses that are just confirmed or just not."
    )

    features: int
    steps: int = 6

    def play(self, view: View, rng: np.random.Generator) -> Game:
        edges = []
        for feature in range(self.features):
            low, high = 0.5, 0.5 + view.terms.half_width
            for _ in range(self.steps):
                guess = (low + high) / 2
                answer = yield Move(Vote.of({feature: 1}), guess=guess)
                if answer.status == "answered":  # no checks here: the value itself is shown
                    low = high = answer.value
                    break
                low, high = (guess, high) if answer.status == "confirmed" else (low, guess)
            edges.append((low + high) / 2)
        places = np.arange(self.features)
        line = np.polyval(np.polyfit(places, edges, 1), places)
        model = {f: sided(edges[f], rng, float(line[f])) for f in range(self.features)}
        yield Move(Vote.of(model), guess=0.5, final=True)


@dataclass(frozen=True, slots=True)
class Fingerprinting:
    """Steinke and Ullman's attack: random sets, rows scored by how the answers lean towards them.

    Set t holds each row with probability p_t, uniform on [0, 1]; a row in the sample pulls the
    answer towards its own membership. The final question is the set of the rows scored highest.
    """

    name: ClassVar[str] = "fingerprinting"
    description: ClassVar[str] = (
        "Asks about random sets of rows, and accuses the rows that pull the answers."
    )

    universe: int
    questions: int

    def play(self, view: View, rng: np.random.Generator) -> Game:
        scores = np.zeros(self.universe)
        for _ in range(self.questions):
            p = rng.random()
            members = rng.random(self.universe) < p
            answer = yield Move(Members(members))
            scores += (answer.value - p) * (members - p)
        yield Move(Members(_highest(scores, view.terms.rows)), final=True)


def _highest(scores: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    accused = np.zeros(len(scores), dtype=bool)
    accused[np.argsort(-scores, kind="stable")[:count]] = True
    return accused


@dataclass(frozen=True, slots=True)
class Snowball:
    """Questions that concentrate on where the sample is already known to be.

    The sample is one point in a set A of probability e^{-L} (at first everything, L = 0). The next
    question is 1/2 outside A and goes on A as far as its scale allows, which is the further the
    rarer A is: evenly up to that height, and while the noise reaches further than the height, along
    the whole tail. Answers within `reach` of the sample's value leave a part of A: the next A. The
    number of steps is chosen to learn most on average.
    """

    name: ClassVar[str] = "snowball"
    description: ClassVar[str] = (
        "Climbs as high as its scale allows on the part of the world still possible."
    )

    questions: int

    def play(self, view: View, rng: np.random.Generator) -> Game:  # noqa: ARG002
        profile = view.terms.concentration
        if not isinstance(profile, SubGaussian):
            raise InvalidArgument("The snowball attacks questions of a declared scale sigma.")
        reach = expected = view.terms.half_width - as_if_fixed(view.terms)
        half_width = view.terms.half_width
        start, size = 0, 1 << POINT_BITS
        for number in range(1, self.questions + 1):
            L = POINT_BITS * math.log(2) - math.log(size)
            # A little lower each time: no two questions are the same, so that no noise is repeated.
            lower = 1 - 1e-9 * number
            height = lower * min(0.499, profile.sigma * math.sqrt(2 * (math.log(2) + L)))
            # At last, and once it can climb out of the interval, it only climbs, on both sides.
            last = number == self.questions
            query: Staircase | Tails
            if height < expected and not last and size > 2:
                query = Tails(start, size, lower * profile.sigma)
            else:
                steps = 1 + (1 if last or height > half_width else _best_gaps(height / expected))
                steps = max(2, min(steps, size))
                query = Staircase(start, max(1, size // steps), steps, height)
            answer = yield Move(query, final=last)
            if answer.reach is None:
                raise InvalidArgument("The snowball needs a holder that states its noise's reach.")
            half_width = answer.half_width or half_width
            # The noise shrinks from question to question, by about as much as last time.
            reach, expected = answer.reach, max(0.5 * answer.reach, 2 * answer.reach - reach)
            start, size = _remaining(query, answer.value, reach)


def _remaining(query: Staircase | Tails, value: float, reach: float) -> tuple[int, int]:
    """The points that can have given this answer: the first, and how many."""
    if isinstance(query, Tails):
        first, after = (query.below(value + side * reach * (1 + 1e-9)) for side in (-1, 1))
        first = min(first, query.size - 1)
        return query.start + first, max(1, after - first)
    step, last = _possible(query, value, reach)
    return query.start + step * query.width, (last - step + 1) * query.width


def _possible(query: Staircase, value: float, reach: float) -> tuple[int, int]:
    """The first and the last step that can have given this answer; the nearest if none can."""
    spacing, lowest = 2 * query.height / (query.steps - 1), 0.5 - query.height
    first = math.ceil((value - reach - lowest) / spacing - 1e-6)
    last = max(first, math.floor((value + reach - lowest) / spacing + 1e-6))
    return max(0, min(first, query.steps - 1)), min(query.steps - 1, max(last, 0))


def _best_gaps(ratio: float) -> int:
    """How many gaps between steps tell most, `ratio` being the height over the noise's reach."""
    fewer = max(1, math.floor(ratio))
    return max((fewer, math.floor(ratio) + 1), key=lambda gaps: _nats(gaps, ratio))


def _nats(gaps: int, ratio: float) -> float:
    """Expected nats from gaps + 1 steps: ln(gaps + 1), less ln 2 where neighbours are confused."""
    confused = min(1.0, max(0.0, 2 * gaps * (1 - ratio / gaps) / (gaps + 1)))
    return math.log(gaps + 1) - confused * math.log(2)
