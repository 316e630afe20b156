"""Many analysts at one ledger: what a formula says, and what a simulation finds.

An analyst thinks for a while, puts a question, waits for the answer, and thinks again. A ledger
answers one batch at a time: all that wait, up to a most, in `fixed` seconds and `each` more for
every question of the batch.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

__all__ = ["Crowd", "Desk", "Flow", "predicted", "simulated"]


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many analysts, who think for so many seconds on average before each question."""

    analysts: int
    think: float


@dataclass(frozen=True, slots=True)
class Desk:
    """How long a batch takes: seconds whatever is in it, and for every question; and the most."""

    fixed: float
    each: float
    most: int = 1

    def batch(self, questions: float) -> float:
        """Seconds of a batch of so many questions."""
        return self.fixed + self.each * questions


@dataclass(frozen=True, slots=True)
class Flow:
    """Questions answered a second, and how long one waits for its answer."""

    throughput: float
    wait: float


def predicted(crowd: Crowd, desk: Desk) -> Flow:
    """The flow X at which the crowd's own cycle closes: X = N/(Z + W).

    W is a batch, and, as far as the desk is busy, what is left of the one before it: half of it
    on average. A batch is what arrived during the last one, at most `most`. If that many are never
    enough, the desk is full: X = most/batch(most), and whoever is left over waits.
    """
    full = desk.most / desk.batch(desk.most)
    low, high = 0.0, min(full, crowd.analysts / crowd.think)
    for _ in range(100):
        flow = 0.5 * (low + high)
        if crowd.analysts / (crowd.think + _wait(flow, desk)) > flow:
            low = flow
        else:
            high = flow
    # The formula of a desk that is not full has no queue; what does not fit waits its turn.
    return Flow(low, crowd.analysts / low - crowd.think)


def _wait(flow: float, desk: Desk) -> float:
    """Seconds until an answer at so many questions a second."""
    if desk.most == 1:  # a queue before one desk, whose work always takes the same
        busy = min(flow * desk.batch(1), 1 - 1e-9)
        return desk.batch(1) * (1 + busy / (2 * (1 - busy)))
    questions = max(1.0, flow * desk.fixed / (1.0 - min(flow * desk.each, 1 - 1e-9)))
    questions = min(questions, desk.most)
    busy = min(1.0, flow * desk.batch(questions) / questions)
    return desk.batch(questions) * (1 + busy / 2)


def simulated(crowd: Crowd, desk: Desk, *, questions: int, seed: int = 0) -> Flow:
    """So many questions, one event after the other; the first third is not counted.

    All begin by thinking: with a full desk everybody must have waited once before the queue is as
    long as it stays.
    """
    rng = np.random.default_rng(seed)
    coming = list(rng.exponential(crowd.think, crowd.analysts))  # when each puts a question
    heapq.heapify(coming)
    waiting: list[float] = []
    now, answered, waited, start = 0.0, 0, 0.0, 0.0
    unseen = questions // 3
    counted = 0
    while answered < questions:
        if not waiting:
            now = max(now, coming[0])
        while coming and coming[0] <= now:
            waiting.append(heapq.heappop(coming))
        batch, waiting = waiting[: desk.most], waiting[desk.most :]
        now += desk.batch(len(batch))
        answered += len(batch)
        if answered >= unseen and start == 0.0:
            start = now
        elif start > 0.0:
            counted += len(batch)
            waited += sum(now - put for put in batch)
        for pause in rng.exponential(crowd.think, len(batch)):
            heapq.heappush(coming, now + pause)
    return Flow(counted / (now - start), waited / counted)
