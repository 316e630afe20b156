"""The looks at the data by their questions, wherever a transcript finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.ledger.entries import Recorded

__all__ = ["Looks", "Narrowest"]


class _Remembering(Protocol):
    """What knows the looks: those folded here, and those looked up in the past."""

    @property
    def questions(self) -> Iterable[str]:
        """Every question that was answered."""
        ...

    def looks_at(self, question: str) -> Sequence[Recorded]:
        """The answers to one question."""
        ...


@dataclass(frozen=True, slots=True)
class Looks(Mapping[str, Sequence[Recorded]]):
    """Every look of each question, in order."""

    memory: _Remembering

    def __getitem__(self, question: str) -> Sequence[Recorded]:
        found = self.memory.looks_at(question)
        if not found:
            raise KeyError(question)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.memory.questions)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class Narrowest(Mapping[str, Recorded]):
    """The narrowest look of each question; of several, the newest."""

    looks: Mapping[str, Sequence[Recorded]]

    def __getitem__(self, question: str) -> Recorded:
        return min(reversed(self.looks[question]), key=lambda look: look.half_width)

    def __iter__(self) -> Iterator[str]:
        return iter(self.looks)

    def __len__(self) -> int:
        return len(self.looks)
