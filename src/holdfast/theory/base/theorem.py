"""Registry of theorems: a decorator by which each knows its source, and notes on the sources.

A function (or a frozen value class) decorated with `theorem` is unchanged by it and gets an entry
in the registry: where the result comes from, what it says and for whom, in which arguments it is
monotone, how loose it is, and where the printed form differs. `holdfast theorems`, the table in the
docs and the page *Notes on the source documents* are views of this registry.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar

Direction = Literal["up", "down"]
NoteKind = Literal["slip", "copy", "loose"]
_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "BF1": "Bassily & Freund, Typicality-Based Stability and Privacy (first version)",
        "BF2": "Bassily & Freund, Typical Stability (second version)",
        "L4": "Stemmer, lecture 4: bounded description length and stability (after Roth & Smith)",
        "L12": "Sorrell, Theory of replicable ML, lecture 12: TV stability (after Roth & Smith)",
        "L15": "Sorrell, Theory of replicable ML, lecture 15: composition (after Roth & Smith)",
        "Holdfast": "Holdfast's own theorem; the proof is in its docstring or in docs/theory.md",
        "Literature": "a published result outside the five source documents; the place names it",
    }
)


# The documents are at hand as transcriptions: a root sign or a subscript may be the copy's doing.
NOTE_KINDS: Mapping[NoteKind, str] = MappingProxyType(
    {
        "slip": "slip of the document",
        "copy": "probably of our copy",
        "loose": "true, but loose",
    }
)


@dataclass(frozen=True, slots=True)
class SourceNote:
    """One place where our copy of a source document reads otherwise than what is used here."""

    kind: NoteKind
    source: str
    place: str
    printed: str
    right: str
    why: str


@dataclass(frozen=True, slots=True)
class Theorem:
    """Theorem: what its function knows about itself."""

    name: str
    source: str
    place: str
    statement: str
    domain: str
    function: Callable[..., Any]
    monotone: Mapping[str, Direction] = field(default_factory=lambda: MappingProxyType({}))
    slack: str = ""
    printed: str | None = None
    notes: tuple[SourceNote, ...] = ()

    @property
    def module(self) -> str:
        """Module of its function, below `holdfast.theory`, or below `holdfast` (of papers)."""
        return self.function.__module__.removeprefix("holdfast.theory.").removeprefix("holdfast.")

    @property
    def signature(self) -> str:
        """How it is called."""
        called = str(inspect.signature(self.function, eval_str=False))
        return f"{self.name}{called.replace(chr(39), '')}"  # types without their quotes

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "module": self.module,
            "signature": self.signature,
            "source": self.source,
            "source_title": SOURCES[self.source],
            "place": self.place,
            "statement": self.statement,
            "domain": self.domain,
            "monotone": dict(self.monotone),
            "slack": self.slack,
            "printed": self.printed,
            "notes": [asdict(note) for note in self.notes],
        }


# Papers are above the theory, and loaded by name.
_HOMES = ("holdfast.theory", "holdfast.papers.theorems")
_REGISTRY: dict[str, Theorem] = {}


def theorem(
    *,
    source: str,
    place: str,
    statement: str,
    domain: str,
    monotone: Mapping[str, Direction] | None = None,
    slack: str = "",
    printed: str | None = None,
    notes: tuple[SourceNote, ...] = (),
) -> Callable[[_Decorated], _Decorated]:
    """Enter a function in the registry; it is returned as it is.

    `monotone` says, for each argument named, whether the result never falls ("up") or never rises
    ("down") as that argument grows; every such claim is tested. `printed` names the function with
    the form of the source where that differs.
    """

    def enter(function: _Decorated) -> _Decorated:
        name = function.__name__
        if name in _REGISTRY:
            raise RuntimeError(f"two theorems are called {name}")
        if source not in SOURCES:
            raise RuntimeError(f"{name}: unknown source {source!r}")
        _REGISTRY[name] = Theorem(
            name=name,
            source=source,
            place=place,
            statement=statement,
            domain=domain,
            function=function,
            monotone=MappingProxyType(dict(monotone or {})),
            slack=slack,
            printed=printed,
            notes=notes,
        )
        return function

    return enter


def registry() -> Mapping[str, Theorem]:
    """Every theorem of the package, by name, sorted; imports all modules that have some."""
    _import_everything()
    return MappingProxyType(dict(sorted(_REGISTRY.items())))


@cache
def _import_everything() -> None:
    for name in _HOMES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)


def find_theorems(word: str) -> list[Theorem]:
    """The theorems whose name, place, source, statement or module contains `word`."""
    needle = word.casefold()
    return [
        entry
        for entry in registry().values()
        if needle
        in " ".join(
            (
                entry.name,
                entry.module,
                entry.source,
                SOURCES[entry.source],
                entry.place,
                entry.statement,
            )
        ).casefold()
    ]
