"""How numbers are written for people, the same everywhere."""

from __future__ import annotations

__all__ = ["percent", "plural"]


def plural(number: int, what: str) -> str:
    """1 question, 1,000 questions."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(level: float) -> str:
    """0.95 as 95 %, 0.999 as 99.9 %."""
    return f"{100 * level:.10g} %"
