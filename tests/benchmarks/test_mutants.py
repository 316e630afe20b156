"""Mutants: a probe tells the tests that reach a state where a mutant differs from all others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import holdfast
from benchmarks import mutant_probe, mutants

SOURCE = '''
"""A module."""
from __future__ import annotations

MOST = 3

def share(a, b):
    return a / b

def side(values):
    return max(1.0, min(values))

def first(values):
    if values and values[0] > 0:
        return values.pop()
    return len(values) <= MOST

def kind(number):
    match number:
        case 0:
            return "none"
    return "some"
'''


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    numbers: list[int] = []
    monkeypatch.setattr(mutant_probe, "hit", numbers.append)
    monkeypatch.setattr(holdfast, "mutant_probe", mutant_probe, raising=False)
    return numbers


def all_mutants(monkeypatch: pytest.MonkeyPatch, tmp: Path) -> list[mutants.Mutant]:
    (tmp / "module.py").write_text(SOURCE)
    monkeypatch.setattr(mutants, "ROOT", tmp)
    return mutants.mutants_of(tmp / "module.py")


CASES: list[tuple[str, Callable[[ModuleType], object], bool]] = [
    ("(a * b)", lambda m: m.share(3.0, 1.0), False),
    ("(a * b)", lambda m: m.share(3.0, 2.0), True),
    ("(max(values))", lambda m: m.side([0.0, 0.5]), False),  # the larger is 1 all the same
    ("(max(values))", lambda m: m.side([0.0, 2.0]), True),
    ("(values[0] >= 0)", lambda m: m.first([1]), False),
    ("(values[0] >= 0)", lambda m: m.first([0]), True),
    ("(values or values[0] > 0)", lambda m: m.first([]), True),  # it fails there
    ("(values or values[0] > 0)", lambda m: m.first([1]), False),
    ("(4)", lambda m: m.first([]), True),  # a constant of the module, wherever it is read
    ("(4)", lambda m: m.first([1]), False),
    ("(1)", lambda m: m.kind(0), True),
]


@pytest.mark.parametrize(("text", "use", "differs"), CASES)
def test_a_probe_is_hit_where_the_mutant_differs(
    text: str,
    use: Callable[[ModuleType], object],
    differs: bool,
    reached: list[int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    every = all_mutants(monkeypatch, tmp_path)
    (place,) = (
        number
        for number, each in enumerate(every)
        if each.after == text and (text != "(1)" or "case 0" in SOURCE.splitlines()[each.line - 1])
    )
    numbers = {each.key: number for number, each in enumerate(every)}
    names = {"MOST": [numbers[each.key] for each in every if each.after == "(4)"]}
    rewritten = mutants.probed(SOURCE.encode(), every, names, numbers)
    module, plain = ModuleType("module"), ModuleType("plain")
    exec(rewritten, module.__dict__)
    exec(SOURCE, plain.__dict__)
    reached.clear()  # what is run at the import is run by no test
    assert use(module) == use(plain)
    assert (place in reached) == differs
