"""Roundings made large, one at a time: which way a result moves with each of them.

A rounding of a few units in the last place is too small for a test to see, and one in the wrong
direction looks like the right one. So each place of the source that rounds (`round_up` and its kin,
`math.nextafter`, `math.ulp`) is made to round some billion times as far, alone: the result of the
whole function must then move to its safe side, or not at all; and to the other side, where the
place is turned round.
"""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import currentframe
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import holdfast
from holdfast.errors import HoldfastError
from holdfast.theory.base import safeside

ROOT = Path(holdfast.__file__).parent
HELPERS = ("round_up", "round_down", "log_up", "log_down", "float_above", "float_below")
OF_MATH = ("nextafter", "ulp")
_NAMES = (*HELPERS, *OF_MATH)
LARGE = 2.0**32  # units in the last place
NOISE = 1e-10  # by how much a search may come out otherwise


@dataclass(frozen=True, order=True)
class Site:
    """One call that rounds: its file, line and column, and what is called."""

    path: str
    line: int
    column: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column} {self.name}"


def sites(*folders: str) -> list[Site]:
    """Every call in these rooms of the package that rounds, read from the source."""
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name == "safeside.py":  # has a test of its own
                continue
            where, module = str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))
            constants = {
                id(part)
                for each in module.body
                if isinstance(each, ast.Assign | ast.AnnAssign)
                for part in ast.walk(each)
            }  # computed once, when it is imported
            for node in ast.walk(module):
                if isinstance(node, ast.Call) and id(node) not in constants:
                    called = node.func
                    name = called.attr if isinstance(called, ast.Attribute) else ""
                    name = called.id if isinstance(called, ast.Name) else name
                    if name in _NAMES:
                        found.append(Site(where, node.lineno, node.col_offset, name))
    return sorted(found)


@cache
def modules_of(*rooms: str) -> list[ModuleType]:
    """All modules of these rooms."""
    found = []
    for room in rooms:
        package = importlib.import_module(f"holdfast.{room}")
        for each in pkgutil.walk_packages(package.__path__, f"holdfast.{room}."):
            found.append(importlib.import_module(each.name))
    return found


@cache
def _modules() -> list[ModuleType]:
    rooms = ("theory", "mechanisms", "statistics", "data", "planner", "papers.theorems")
    return [each for each in modules_of(*rooms) if each is not safeside]


@cache
def _site(code: CodeType, instruction: int, name: str) -> Site:
    line, _, column, _ = list(code.co_positions())[instruction // 2]
    return Site(str(Path(code.co_filename).relative_to(ROOT)), line or 0, column or 0, name)


def _calling(name: str) -> Site:
    """The place that calls what is watched, three frames up."""
    frame = currentframe()
    for _ in range(3):
        assert frame is not None
        frame = frame.f_back
    assert frame is not None
    return _site(frame.f_code, frame.f_lasti, name)


@dataclass
class Roundings:
    """What is rounded while it is watched: the places met, and the one that is made large."""

    met: set[Site] = field(default_factory=set)
    large: Site | None = None
    times: float = 0.0  # units in the last place; below 0 the place is turned round

    def further(self, name: str, original: Callable[..., Any], *arguments: Any) -> Any:
        site = _calling(name)
        self.met.add(site)
        exact = original(*arguments)
        if site != self.large or not math.isfinite(exact):
            return exact
        if name == "ulp":
            return exact * self.times
        if name == "nextafter":
            value, towards = arguments
            return value + math.copysign(1.0, towards - value) * self.times * math.ulp(value)
        sign = 1.0 if name in ("round_up", "log_up", "float_above") else -1.0
        least = math.ulp(1.0) if name.startswith("log") else 0.0
        moved = exact + sign * self.times * max(least, math.ulp(exact))
        return min(0.0, moved) if name == "log_up" else moved


@contextmanager
def watched() -> Iterator[Roundings]:
    """Inside, every rounding of the package goes through what is given."""
    roundings = Roundings()

    def through(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: roundings.further(name, original, *arguments)

    replaced: dict[int, Any] = {
        id(original): through(name, original)
        for name in HELPERS
        for original in [getattr(safeside, name)]
    }
    watching = {name: through(name, getattr(math, name)) for name in OF_MATH}
    replaced[id(math)] = SimpleNamespace(**{**vars(math), **watching})
    before = [
        (module, name, value)
        for module in _modules()
        for name, value in vars(module).items()
        if id(value) in replaced
    ]
    for module, name, value in before:
        setattr(module, name, replaced[id(value)])
    try:
        yield roundings
    finally:
        for module, name, value in before:
            setattr(module, name, value)


@cache
def _cached() -> list[Any]:
    """The functions of the package that remember what they returned."""
    values = (value for module in _modules() for value in vars(module).values())
    return [value for value in values if hasattr(value, "cache_clear")]


def forget() -> None:
    """Empties the caches, which would answer for another rounding."""
    for function in _cached():
        function.cache_clear()


@dataclass(frozen=True)
class Case:
    """A call, and for each of its numbers whether it may rise (1) or fall (-1)."""

    label: str
    run: Callable[[], tuple[float, ...]]
    safe: tuple[int, ...]
    times: float = LARGE
    traded: float = 0.1  # how much one number may lose of what another gains

    def wrong(self, roundings: Roundings, site: Site, way: int, base: tuple[float, ...]) -> bool:
        """Whether the result moves to the unsafe side, as far as it moves at all."""
        roundings.large, roundings.times = site, way * self.times
        forget()
        try:
            moved = self.run()
        except (HoldfastError, ArithmeticError, ValueError):
            return False  # nothing is said
        finally:
            roundings.large = None
        gains = [0.0]
        for sign, before, after in zip(self.safe, base, moved, strict=True):
            if after != before:
                gains.append(sign * (after - before) / max(abs(before), 1e-300))
        return -min(gains) > max(NOISE, max(gains) * self.traded)


def examine(
    each: list[Case],
    most: int,
    room: str | tuple[str, ...],
    line: int | None = None,
    *,
    patience: int = 10**9,
) -> tuple[list[str], set[Site]]:
    """What moves to the unsafe side, and the places that would be found out if they did.

    A place is tried in at most so many cases, and where it was not found out, in as many more as
    patience allows; it is in one of these rooms of the package, or in one
    file of it, perhaps on one line.
    """
    faults, found, tried = [], set[Site](), Counter[Site]()
    with watched() as roundings:
        for case in each:
            roundings.met.clear()
            forget()
            base = case.run()
            for site in sorted(roundings.met):
                if not site.path.startswith(room) or line not in (None, site.line):
                    continue
                if tried[site] < (most if site in found else patience):
                    tried[site] += 1
                    if case.wrong(roundings, site, 1, base):
                        faults.append(f"{case.label}: {site}")
                    if site not in found and case.wrong(roundings, site, -1, base):
                        found.add(site)
    return faults, found


def places_met(each: list[Case]) -> Iterator[set[Site]]:
    """The places that each case meets."""
    with watched() as roundings:
        for case in each:
            roundings.met.clear()
            forget()
            case.run()
            yield set(roundings.met)
