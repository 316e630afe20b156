"""How numbers are written for people, the same everywhere."""

from __future__ import annotations

__all__ = ["percent", "plural"]


def plural(number: int, one: str, many: str | None = None) -> str:
    """1 question, 1,000 questions; `many` where it takes more than an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(level: float) -> str:
    """0.95 as 95 %, 0.999 as 99.9 %."""
    return f"{100 * level:.10g} %"
