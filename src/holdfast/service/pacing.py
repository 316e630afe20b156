"""When answers are released, and how often a token may be guessed.

How long a computation takes may depend on the rows. So what came through the door is released at
steps of time after the request: one step, two, four, eight, ... of a length that is public.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable


def step_after(elapsed: float, step: float) -> float:
    """The first of step, 2 step, 4 step, ... that is not before `elapsed`."""
    if elapsed <= step:
        return step
    return step * 2.0 ** math.ceil(math.log2(elapsed / step))


class OnTheStep:
    """Whatever is done inside is over at a step of time after it began; 0 is no step.

    `failed` is told of what went wrong inside.
    """

    def __init__(self, step: float, failed: Callable[[BaseException], None] | None = None) -> None:
        self._step, self._began, self._failed = step, 0.0, failed

    async def __aenter__(self) -> None:
        self._began = asyncio.get_running_loop().time()

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and self._failed is not None:
            self._failed(error)
        if self._step:
            elapsed = asyncio.get_running_loop().time() - self._began
            await asyncio.sleep(step_after(elapsed, self._step) - elapsed)


class Attempts:
    """How often somebody failed lately; `most` in `window` seconds are let pass."""

    def __init__(
        self, most: int, window: float, clock: Callable[[], float], remembered: int = 10_000
    ) -> None:
        self._most, self._window, self._clock, self._remembered = most, window, clock, remembered
        self._failed: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def wait(self, address: str) -> float | None:
        """How many seconds to wait; None if one more attempt is let pass."""
        since, failed = self._failed.get(address, (0.0, 0))
        seconds = since + self._window - self._clock()
        return seconds if failed >= self._most and seconds > 0 else None

    def fail(self, address: str) -> None:
        """Remember a failure; the oldest are forgotten where there are very many."""
        now = self._clock()
        since, failed = self._failed.pop(address, (now, 0))
        if now - since >= self._window:
            since, failed = now, 0
        self._failed[address] = (since, failed + 1)
        while len(self._failed) > self._remembered:
            self._failed.popitem(last=False)
