"""Margins made large, one at a time: which way a result moves with each of them.

A margin against roundings is a tiny number in the source (`1e-12`, `2.0**-47`, a factor `1 + 8
eps`). It is too small for a test to see, and one taken off instead of added looks like the right
one. So each is made many times as large, alone: the result of the whole function must then move to
its safe side, or not at all; and to the other side, where its sign is turned round.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from holdfast.errors import HoldfastError
from tests.theory.roundings import NOISE, ROOT, Case, forget, modules_of

LARGE = 2.0**12, 2.0**30  # how many times as large
_TINY, _LEAST = 1e-6, 1e-40  # below it a number keeps another one from being 0


@dataclass(frozen=True, order=True)
class Margin:
    """A tiny number, or one that is near 1, in a function or of a module."""

    path: str
    scope: str  # a function, or the name of a constant and a function that reads it
    value: float

    def __str__(self) -> str:
        return f"{self.path} {self.scope} {self.value!r}"

    def times(self, factor: float) -> float:
        """The same margin so many times as large; below 0 it is turned round."""
        return self.value * factor if is_tiny(self.value) else 1.0 + (self.value - 1.0) * factor


def is_tiny(value: float) -> bool:
    """Whether a number is one to add, not one to multiply by."""
    return _LEAST < abs(value) <= _TINY


def is_margin(value: object) -> bool:
    """Whether a number can only be there against roundings."""
    return isinstance(value, float) and (is_tiny(value) or _LEAST < abs(value - 1.0) <= _TINY)


@dataclass(frozen=True)
class _Place:
    """Where a margin stands: who reads it, and how another one is put there."""

    reader: CodeType
    put: Callable[[float], None]


def _assigned(path: str) -> set[str]:
    """The names that a module gives to values of its own, and does not import."""
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    assigned = [each for each in body if isinstance(each, ast.Assign | ast.AnnAssign)]
    return {each.id for line in assigned for each in ast.walk(line) if isinstance(each, ast.Name)}


@cache
def places() -> dict[Margin, _Place]:
    """Every margin of the theory."""
    found: dict[Margin, _Place] = {}
    for module in modules_of("theory"):
        path = str(Path(module.__file__ or "").relative_to(ROOT))
        functions, own_names = list(_functions(module)), _assigned(path)
        for function in functions:
            own = function.__code__
            for value in dict.fromkeys(_margins_in(own)):
                margin = Margin(path, function.__qualname__, value)
                found[margin] = _Place(own, partial(_put_code, function, own, value))
        for name, value in vars(module).items():
            if is_margin(value) and name in own_names:
                for function in functions:
                    if name in _names_in(function.__code__):
                        put = partial(_put_constant, module, function, function.__code__, name)
                        margin = Margin(path, f"{name} in {function.__qualname__}", value)
                        found[margin] = _Place(function.__code__, put)
    return found


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Those that are written in a module, methods too."""
    for value in vars(module).values():
        own = [value, *vars(value).values()] if isinstance(value, type) else [value]
        for each in own:
            inner = getattr(each, "fget", None) or getattr(each, "__func__", None) or each
            inner = getattr(inner, "__wrapped__", inner)
            if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                yield inner


def _margins_in(code: CodeType) -> Iterator[float]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _margins_in(each)
        elif is_margin(each):
            yield each


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _put_code(function: FunctionType, code: CodeType, before: float, after: float) -> None:
    function.__code__ = _with(code, before, after)


def _with(code: CodeType, before: float, after: float) -> CodeType:
    def other(each: object) -> object:
        if isinstance(each, CodeType):
            return _with(each, before, after)
        return after if isinstance(each, float) and each == before else each

    return code if before == after else code.replace(co_consts=tuple(map(other, code.co_consts)))


def _put_constant(
    module: ModuleType, function: FunctionType, code: CodeType, name: str, value: float
) -> None:
    """Another value of a constant of the module, for one function that reads it."""
    before = getattr(module, name)
    setattr(module, f"{name}_of_one", value)
    function.__code__ = code if value == before else _reading(code, name, f"{name}_of_one")


def _reading(code: CodeType, before: str, after: str) -> CodeType:
    names = tuple(after if each == before else each for each in code.co_names)
    inner = (
        _reading(each, before, after) if isinstance(each, CodeType) else each
        for each in code.co_consts
    )
    return code.replace(co_names=names, co_consts=tuple(inner))


@contextmanager
def large(margin: Margin, factor: float) -> Iterator[None]:
    """Inside, one margin is so many times as large."""
    place = places()[margin]
    forget()
    place.put(margin.times(factor))
    try:
        yield
    finally:
        place.put(margin.value)


def called(run: Callable[[], Any]) -> tuple[Any, set[CodeType]]:
    """What a call returns, and all the code that it went through."""
    met: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            met.add(frame.f_code)

    forget()
    sys.setprofile(note)
    try:
        return run(), met
    finally:
        sys.setprofile(None)


def loss(case: Case, base: tuple[float, ...], margin: Margin, factor: float) -> float:
    """How far a result moves to its unsafe side, as a part of it; 0 where nothing is said."""
    try:
        with large(margin, factor):
            moved = case.run()
    except (HoldfastError, ArithmeticError, ValueError):
        return 0.0
    gains = [
        sign * (after - before) / max(abs(before), 1e-300)
        for sign, before, after in zip(case.safe, base, moved, strict=True)
        if after != before
    ]
    least, most = min(gains, default=0.0), max(gains, default=0.0)
    return 0.0 if math.isnan(least) or -least <= most * case.traded else -least


# Tiny numbers that are no margins, and margins that no result shows: where, and why.
_START = "where a search begins or ends: what it returns was looked at"
_BRANCH = "from where on another formula is used, which says the same there"
_CHECK = "how far declared numbers may be off"
_COUNT = "a count is rounded to it, and moves by whole rows or not at all"
_LEAST_TAKEN = "the least variance that is taken"
OTHERWISE = {
    ("theory/base/concentration.py", "DeclaredTail.__post_init__", 1e-12): _CHECK,
    ("theory/base/intervals.py", "_NEAR", 1e-9): _START,
    ("theory/base/intervals.py", "_beta_fraction", 1e-15): _START,
    ("theory/base/safeside.py", "_NEAR", 1e-9): _START,
    ("theory/base/unbounded.py", "Windowed.radius", -(2.0**-40)): _BRANCH,
    ("theory/direct/difference.py", "design_difference_lower", 1e-9): _START,
    ("theory/direct/losses.py", "moment_upper", 2.0**-60): _START,
    ("theory/direct/losses.py", "moment_upper", 1.0 - 2.0**-40): _START,
    ("theory/direct/paired.py", "_LARGEST", 1.0 - 2.0**-53): _BRANCH,
    ("theory/direct/paired.py", "_ScoreTest._least_wins", 1.0 + 1e-8): _COUNT,
    ("theory/direct/paired.py", "_ScoreTest.of", 2.0**-52): _COUNT,
    ("theory/direct/paired.py", "_probability", 2.0**-52): _COUNT,
    ("theory/direct/paired.py", "_probability", 2.0**-45): _COUNT,
    ("theory/direct/paired.py", "_sign_region", 2.0**-50): _COUNT,
    ("theory/direct/paired.py", "_sign_region", 1.0 + 1e-9): _COUNT,
    ("theory/direct/spread.py", "_both_ends", 1e-12): _START,
    ("theory/direct/trials.py", "shuffled_effect_lower", 2.0**-40): _START,
    ("theory/direct/unit_sums.py", "unit_difference_lower", 2.0**-40): _START,
    ("theory/leakage/claim_levels.py", "_SOME_MISSING", 2.0**-40): "a weight that is given away",
    ("theory/leakage/claim_levels.py", "_log_cumulative", 1e-9): _CHECK,
    ("theory/leakage/forecasts.py", "Mixture.opened", 1e-9): _CHECK,
    ("theory/leakage/forecasts.py", "_LEAST", 1e-6): "the least forecast",
    ("theory/leakage/claim_levels.py", "_LEAST_ERROR", 2.0**-40): "the least error of a guess",
    ("theory/leakage/forecasts.py", "_tilt", 1e-15): _START,
    ("theory/leakage/forecasts.py", "_tilt", 1.0 - 2.0**-53): _START,
    ("theory/leakage/gates.py", "_PRECISION", 1e-9): _START,
    ("theory/length/levels.py", "_SURE", 1e-6): _BRANCH,
    ("theory/planning.py", "GRID_ALLOWANCE in _LastLook.log_tail", 2.0**-28): _COUNT,
    ("theory/transfer/epochs.py", "_LEAST_VARIANCE", 1e-12): _LEAST_TAKEN,
    ("theory/transfer/gaussian_noise.py", "_MOST_R", 1.0 - 1e-9): _START,
    ("theory/transfer/gaussian_noise.py", "log_max_exceedance", 1e-8): _BRANCH,
    ("theory/transfer/gaussian_noise.py", "log_max_exceedance", 1.0 - 1e-16): _BRANCH,
    (
        "theory/transfer/median_width.py",
        "_LEAST_VARIANCE",
        1e-12,
    ): "the least variance that is taken",
    ("theory/transfer/median_width.py", "median_max_noise", 1e-15): _BRANCH,
    ("theory/typical/calibrated_noise.py", "_near_root", 1e-11): _START,
    ("theory/typical/generalisation.py", "_PRECISION", 1e-6): _START,
}


def otherwise(margin: Margin) -> set[tuple[str, str, float]]:
    """What it may be listed by: a constant by its name, or with the function that reads it."""
    scopes = margin.scope, margin.scope.partition(" in ")[0]
    return {(margin.path, scope, margin.value) for scope in scopes}


def is_otherwise(margin: Margin) -> bool:
    """Whether a tiny number is listed as none that a result shows."""
    return not otherwise(margin).isdisjoint(OTHERWISE)


def examine(each: list[Case]) -> tuple[list[str], set[Margin]]:
    """What moves to the unsafe side with a larger margin, and the margins that would be found out.

    A margin is tried until it was found out.
    """
    faults, found = [], set[Margin]()
    for case in each:
        left = [each for each in places() if each not in found and not is_otherwise(each)]
        base, met = called(case.run)
        for margin in left:
            if places()[margin].reader in met:
                for factor in LARGE:
                    if loss(case, base, margin, factor) > NOISE:
                        faults.append(f"{case.label}: {margin}")
                    elif loss(case, base, margin, -factor) > NOISE:
                        found.add(margin)
                        break
    return faults, found
