"""What Holdfast asks an engine for, noted as it is asked, to be asked of the engine again.

So a question is measured beside the very SQL that it sends (of Polars: beside the plan that it
collects), by the engine alone. What an engine is asked about no rows, to see whether it can take a
question, is not noted: it is Holdfast's own trouble.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Hook", "Scan", "Scans", "listening"]

Scan = Callable[[], object]
"""A scan to be done again by the engine alone."""


@dataclass(slots=True)
class Scans:
    """The scans of a question, in order."""

    noted: list[Scan] = field(default_factory=list)
    preparing: int = 0

    def note(self, scan: Scan | None) -> None:
        """Keep a scan, unless it is of no rows."""
        if scan is not None and not self.preparing:
            self.noted.append(scan)

    def taken(self) -> Callable[[], None]:
        """All of them once more; whatever is noted later belongs to another question."""
        noted, self.noted = self.noted, []

        def again() -> None:
            for scan in noted:
                scan()

        return again


@dataclass(frozen=True, slots=True)
class Hook:
    """A method by which Holdfast asks an engine, and what asks the engine for the same.

    `again` takes what the method was called with; None is what need not be done again.
    """

    owner: Any
    method: str
    again: Callable[..., Scan | None]


@contextmanager
def listening(sample: type, *hooks: Hook) -> Iterator[Scans]:
    """Every scan that the engine of such a sample is asked for by one of these methods."""
    scans = Scans()

    def noting(hook: Hook, asked: Callable[..., Any]) -> Callable[..., Any]:
        def method(*args: Any, **said: Any) -> Any:
            scans.note(hook.again(*args, **said))
            return asked(*args, **said)

        return method

    def silently(prepare: Callable[..., None]) -> Callable[..., None]:
        def method(*args: Any) -> None:
            scans.preparing += 1
            try:
                prepare(*args)
            finally:
                scans.preparing -= 1

        return method

    with ExitStack() as stack:
        stack.enter_context(_replaced(sample, "prepare", silently))
        for hook in hooks:

            def made(asked: Callable[..., Any], hook: Hook = hook) -> Callable[..., Any]:
                return noting(hook, asked)

            stack.enter_context(_replaced(hook.owner, hook.method, made))
        yield scans


@contextmanager
def _replaced(
    owner: Any, name: str, made: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, made(original))
    try:
        yield
    finally:
        setattr(owner, name, original)
