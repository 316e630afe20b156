"""Probe of mutants, copied into a tree: which tests reach a state where a mutant differs.

An expression is evaluated as it is, and once more as the mutant has it. Where both are the same in
all of a test, that test cannot kill the mutant. It is a plugin of pytest too, for the seconds of
every test.
"""

from __future__ import annotations

import contextlib
import operator
import os
import sys
from collections.abc import Callable

import numpy as np

FOLDER = ""  # written by benchmarks.mutants: where the copy keeps what was reached
_written: set[tuple[int, str]] = set()
_open, _write, _close = os.open, os.write, os.close  # some tests put others in their place


def _append(name: str, line: str) -> None:
    file = _open(f"{FOLDER}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        _write(file, line.encode())
    finally:
        _close(file)


def hit(number: int) -> None:
    """The mutant is another here, whatever the values."""
    pair = (number, os.environ.get("PYTEST_CURRENT_TEST", ""))
    if pair not in _written:
        _written.add(pair)
        _append("reached", f"{number}\t{pair[1].rpartition(' (')[0]}\n")


def value(number: int, here: Callable[[], object], mutant: Callable[[], object]) -> object:
    """An expression without side effects, and the same of the mutant."""
    try:
        result = here()
    except BaseException:
        hit(number)
        raise
    if (number, os.environ.get("PYTEST_CURRENT_TEST", "")) not in _written:
        with np.errstate(all="ignore"), contextlib.suppress(Exception):
            if _same(result, mutant()):
                return result
        hit(number)
    return result


def operation(number: int, left: object, right: object, here: str, mutant: str) -> object:
    """An operation whose operands may be evaluated but once."""
    return value(
        number,
        lambda: getattr(operator, here)(left, right),
        lambda: getattr(operator, mutant)(left, right),
    )


def _same(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic | float | int):
        x, y = np.asarray(a), np.asarray(b)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


def pytest_runtest_logreport(report: object) -> None:
    """The seconds of a test, by the one process that hears of all."""
    if "PYTEST_XDIST_WORKER" not in os.environ and getattr(report, "when", "") == "call":
        seconds, outcome = getattr(report, "duration", 0.0), getattr(report, "outcome", "")
        _append("tests", f"{getattr(report, 'nodeid', '')}\t{seconds:.3f}\t{outcome}\n")


_files: list[object] = []


def pytest_runtest_setup(item: object) -> None:
    """In another file nothing is known of before: what is kept would hide who reaches a mutant."""
    path = getattr(item, "path", None)
    if _files != [path]:
        _files[:] = [path]
        modules = [each for name, each in sys.modules.items() if name.startswith("holdfast.")]
        classes = [each for m in modules for each in vars(m).values() if isinstance(each, type)]
        for place in (*modules, *classes):
            for each in list(vars(place).values()):
                if hasattr(each, "cache_clear"):
                    each.cache_clear()
