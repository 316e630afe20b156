"""Axes that remember what was drawn, so that displays are tested without matplotlib."""

from __future__ import annotations

from typing import Any


class Axes:
    """Whatever is called is remembered, by its name."""

    def __init__(self) -> None:
        self.figure = object()
        self.drawn: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *words, **said: self.drawn.append((name, words, said))

    def calls(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of every call of this name."""
        return [words for each, words, _ in self.drawn if each == name]
