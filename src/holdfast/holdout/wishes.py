"""Wishes put together: which are the same, which are answered alike, and what they found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from holdfast.ledger.entries import Recorded
from holdfast.mechanisms.mechanism import Wish

__all__ = ["Body", "Concluding", "Conclusion", "Found", "Key", "checks_and_asks"]

# What makes wishes of one batch the same: the question, and what the analyst claims of it.
Key: TypeAlias = tuple[str, tuple[float, float] | None]
Body: TypeAlias = dict[str, Any]


class Found(NamedTuple):
    """The look that fulfils a wish, and whether it was taken for it."""

    look: Recorded
    fresh: bool


# Given what was found, before that is written: the entries to write in one commit with it.
Conclusion: TypeAlias = Callable[[Sequence[Found]], Sequence[Body]]
Concluding: TypeAlias = Callable[[Sequence[Recorded]], Sequence[Body]]


def checks_and_asks(wishes: Sequence[Wish]) -> list[list[Wish]]:
    """The wishes that claim something, and those that do not: other mechanisms answer them."""
    checks = [wish for wish in wishes if wish.claim is not None]
    asks = [wish for wish in wishes if wish.claim is None]
    return [group for group in (checks, asks) if group]
