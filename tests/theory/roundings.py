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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import currentframe
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import holdfast
from holdfast.theory.base import safeside

ROOT = Path(holdfast.__file__).parent
HELPERS = ("round_up", "round_down", "log_up", "log_down", "float_above", "float_below")
OF_MATH = ("nextafter", "ulp")
_NAMES = (*HELPERS, *OF_MATH)


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
def _modules() -> list[ModuleType]:
    found = []
    for room in ("theory", "mechanisms", "described", "statistics", "data", "planner"):
        package = importlib.import_module(f"holdfast.{room}")
        for each in pkgutil.walk_packages(package.__path__, f"holdfast.{room}."):
            found.append(importlib.import_module(each.name))
    return [each for each in found if each is not safeside]


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


def forget() -> None:
    """Empties the caches, which would answer for another rounding."""
    for module in _modules():
        for value in vars(module).values():
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                clear()
