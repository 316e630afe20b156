"""Mutants: a probe tells the tests that reach a state where a mutant differs from all others."""

from __future__ import annotations

import os
import subprocess
import sys
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


def test_a_mutant_has_its_name_wherever_its_function_is_moved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = {each.key for each in all_mutants(monkeypatch, tmp_path)}
    assert len(before) == len(mutants.mutants_of(tmp_path / "module.py"))
    (tmp_path / "module.py").write_text(
        SOURCE.replace("MOST = 3", "MOST = 3\n\ndef new(a):\n    return a + 1")
    )
    after = {each.key for each in mutants.mutants_of(tmp_path / "module.py")}
    assert before < after
    assert len(after - before) == 2


def test_what_is_made_of_a_constant_changes_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {
        "one.py": "_A = 3\nB = _A\ndef half(c=_A):\n    return c + B\nclass Kind:\n    most = B\n",
        "two.py": "from one import B\nTABLE = {1: B}\n_A = 5\n_OTHER = _A\n",
    }
    for name, text in files.items():
        (tmp_path / mutants.PACKAGE).mkdir(parents=True, exist_ok=True)
        (tmp_path / mutants.PACKAGE / name).write_text(text)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    first, *_, inside = mutants.mutants_of(mutants.PACKAGE / "one.py")
    assert (first.before, inside.before) == ("3", "c + B")
    assert mutants.constants_at(first) == ["B", "TABLE", "_A", "half", "most"]
    assert mutants.constants_at(inside) == []


TESTS = """
from tiny import share, side

def test_share():
    assert share(6.0, 2.0) == 3.0

def test_it_ends():
    while side([0.5]) != 1.0:
        pass
"""
RUN = """
from pathlib import Path
from benchmarks import mutants
mutants.ROOT, mutants.PATIENCE = Path.cwd() / "root", 0.2
tree = mutants.Tree(Path.cwd() / "tree")
tests = ["test_tiny.py::test_share", "test_tiny.py::test_it_ends"]
for each in mutants.mutants_of(Path("src/tiny.py")):
    if each.after in ("(a * b)", "(min(1.0, min(values)))", "(max(values))"):
        fate = tree.fate(each, tests, {}, 60.0)
        print(each.after, fate["outcome"], fate["by"])
"""


@pytest.mark.campaign  # a suite of its own, in forks
def test_a_fork_says_what_becomes_of_a_mutant(tmp_path: Path) -> None:
    for folder in (tmp_path / "root", tmp_path / "tree"):
        (folder / "src").mkdir(parents=True)
        (folder / "src/tiny.py").write_text(SOURCE)
        (folder / "test_tiny.py").write_text(TESTS)
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:schemathesis\n")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "(a * b) killed test_tiny.py::test_share",
        "(min(1.0, min(values))) killed test_tiny.py::test_it_ends does not end",
        "(max(values)) survived 2 tests hold",
    ]
    assert (tmp_path / "tree/src/tiny.py").read_text() == SOURCE
