"""Mutants: one meaning of the source changed at random, and whether a test notices.

`python -m benchmarks.mutants --count 200 --seed 1 --only theory`. The whole suite runs once in a
copy where every mutant has a probe, which finds the tests that reach a state where the mutant
differs; only those can kill it, and are run with it. The first that fails, and holds without the
change, has killed it. What was run is kept in a file of results, and not run again; tests that were
written since are added to what was found.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import importlib
import json
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/holdfast")
ROOMS = ("theory", "mechanisms", "statistics", "ledger", "data")
RESULTS = ROOT / ".cache" / "mutants.json"
PATIENCE, SLOWER = 4.0, 20.0  # processor seconds, and times what a test takes: then it hangs
HANGS = "does not end"
_LOADED = ("numpy", "polars", "scipy.special", "scipy.stats", "hypothesis.strategies", "sqlite3")

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
}
_SIDES = {"round_up": "round_down", "min": "max", "floor": "ceil", "minimum": "maximum"}
_SIDES |= {other: side for side, other in _SIDES.items()}
_LEAST_MARGIN, _UNITS = 1e-6, ("_EPS", "_ULP", "_UNIT")
_UNREAD = (ast.JoinedStr, ast.Raise, ast.Assert, ast.AnnAssign, ast.arg)


@dataclass(frozen=True)
class Mutant:
    """A piece of a file, from one byte to another, and what stands there instead."""

    key: str  # the same wherever its function is moved
    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    kind: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} [{self.kind}] {self.before} -> {self.after}"

    def applied(self, source: bytes) -> bytes:
        """The whole file with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    source = (ROOT / path).read_bytes()
    starts, tree = _line_starts(source), ast.parse(source)
    scopes = _scopes(tree)
    found, alike = [], Counter[str]()
    for node in _nodes(tree):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        for kind, text in _changes(node):
            before = " ".join(source[start:end].decode().split())
            key = f"{path}::{scopes[node]}: {before} -> {text}"
            alike[key] += 1
            key = f"{key} #{alike[key]}"
            found.append(Mutant(key, str(path), node.lineno, start, end, before, text, kind))
    return found


def _scopes(tree: ast.AST, scope: str = "") -> dict[ast.AST, str]:
    """The function or class that every node is in."""
    scopes: dict[ast.AST, str] = {}
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
        scopes |= {node: scope} | _scopes(node, f"{scope}.{name}".strip("."))
    return scopes


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _nodes(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """All that means something when it runs: no decorators, types, messages or default slots, and
    no sizes of margins.
    """
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns", "slice") or isinstance(
            node, ast.ClassDef
        ) & (name in ("bases", "keywords")):
            continue
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, ast.AST) or isinstance(each, _UNREAD):
                continue
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]).startswith("__"):
                continue
            if isinstance(each, ast.expr | ast.stmt) and not _sizes_a_margin(node, each):
                yield each
            yield from _nodes(each)


def _sizes_a_margin(node: ast.AST, part: ast.AST) -> bool:
    """Whether a number only says how large a margin against roundings is: a unit more in the last
    place, or a tiny number twice or half as large, is nearly always the same program.

    In which direction a margin is taken is no matter of size: its sign stays.
    """
    if not isinstance(part, ast.Constant) or isinstance(part.value, bool):
        return False
    match node:
        case ast.Call(func=ast.Name(id="round_up" | "round_down"), args=[_, last]):
            return last is part
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            other = right if left is part else left
            return _is_unit(other) or _is_tiny(part)
        case ast.UnaryOp(op=ast.USub()):
            return isinstance(part.value, int) and part.value >= 20  # 2.0**-40
        case _:
            return _is_tiny(part)


def _is_unit(node: ast.expr) -> bool:
    """Whether it is a unit in the last place."""
    called = node.func if isinstance(node, ast.Call) else node
    return getattr(called, "attr", "") == "ulp" or getattr(called, "id", "") in _UNITS


def _is_tiny(number: ast.Constant) -> bool:
    return isinstance(number.value, float) and 0.0 < number.value < _LEAST_MARGIN


def _changes(node: ast.expr | ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=[compared]) if type(compared) in _COMPARISONS:
            yield (
                "comparison",
                _with(node, lambda new: _put(new, "ops", [_COMPARISONS[type(compared)]()])),
            )
        case ast.BinOp(op=op) if type(op) in _OPERATIONS and not _is_text(node):
            yield "sign", _with(node, lambda new: _put(new, "op", _OPERATIONS[type(op)]()))
        case ast.BoolOp(op=joined):
            other = ast.Or() if isinstance(joined, ast.And) else ast.And()
            yield "condition", _with(node, lambda new: _put(new, "op", other))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=inner):
            yield "negation", f"({ast.unparse(inner)})"
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value)):
            yield "off by one", f"({value + 1})"
        case ast.Constant(value=float(value)):
            yield "constant", f"({2 * value or 1.0!r})"
        case ast.Call(func=ast.Name(id=name)) if name in _SIDES:
            yield "side", _with(node, lambda new: _put(new.func, "id", _SIDES[name]))
        case ast.Call(func=ast.Attribute(attr=name)) if name in _SIDES:
            yield "side", _with(node, lambda new: _put(new.func, "attr", _SIDES[name]))
        case ast.Call(func=ast.Name(id=name)) if name.endswith("_charge"):
            yield "charge left out", "(0.0)"
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "step left out", "pass"


def _with(node: ast.expr, change: Callable[[Any], None]) -> str:
    new = copy.deepcopy(node)
    change(new)
    return f"({ast.unparse(new)})"


def _put(node: ast.AST, name: str, value: object) -> None:
    setattr(node, name, value)


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes))
        for each in ast.walk(node)
    )


def drawn(count: int, seed: int, rooms: Sequence[str]) -> list[Mutant]:
    """So many mutants, as likely as any other, and the same while what they change is there."""
    paths = [path for room in rooms for path in sorted((ROOT / PACKAGE / room).rglob("*.py"))]
    every = [each for path in paths for each in mutants_of(path.relative_to(ROOT))]
    every.sort(key=lambda each: hashlib.sha256(f"{seed} {each.key}".encode()).digest())
    return every[:count]


# Which tests can tell -----------------------------------------------------------------------------

_PURE = {"isinstance", "len", "hasattr", "float", "int", "abs", "min", "max", "bool", "sum"}
_PURE |= {"round_up", "round_down", "floor", "ceil", "round", "all", "any", "tuple", "str"}
_PURE |= {"Fraction", "range"}
_OPERATORS = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne"}
_OPERATORS |= {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv"}
_PROBE = "mutant_probe"
_RECORD = "test_released_numbers.py::test_every_number"  # of public constants, too
_LEFT_OUT = ["--ignore=tests/data/test_spark.py"]  # Java's start takes longer than all others


@dataclass(frozen=True)
class Reach:
    """The seconds of every test, and those that reach a state where a mutant differs."""

    tests: dict[str, float]
    mutants: dict[str, list[str]]

    def of(self, mutant: Mutant) -> list[str]:
        """What can kill it: first what is quick, and of the same name or room."""
        stem, room = f"test_{Path(mutant.path).stem}", f"tests/{Path(mutant.path).parts[2]}/"

        def cost(test: str) -> float:
            far = 1 if stem in test else 3 if room in test or _RECORD in test else 8
            far *= 10 if "postgres" in test and "postgres" not in stem else 1  # a server is started
            return far * (self.tests.get(test, 0.0) + 0.01)

        return sorted(self.mutants[mutant.key], key=cost)

    def joined(self, other: Reach) -> Reach:
        """With other tests of the same mutants, or mutants of the same tests."""
        keys = [*self.mutants, *(key for key in other.mutants if key not in self.mutants)]
        both = {key: {*self.mutants.get(key, ()), *other.mutants.get(key, ())} for key in keys}
        return Reach(self.tests | other.tests, {key: sorted(both[key]) for key in keys})


def reach(mutants: Sequence[Mutant], workers: int, tests_of: Sequence[str]) -> Reach:
    """Tests, once, in a copy that has the probes of all the mutants."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied_tree(Path(temporary, "tree")).folder
        numbers = {each.key: number for number, each in enumerate(mutants)}
        names: dict[str, list[int]] = {}
        for each in mutants:
            for name in constants_at(each):
                names.setdefault(name, []).append(numbers[each.key])
        for path in sorted((folder / PACKAGE).rglob("*.py")):
            name = str(path.relative_to(folder))
            own = [each for each in mutants if each.path == name]
            path.write_text(probed(path.read_bytes(), own, names, numbers), encoding="utf-8")
        probe = (ROOT / "benchmarks/mutant_probe.py").read_text(encoding="utf-8")
        probe = probe.replace('FOLDER = ""', f"FOLDER = {temporary!r}")
        (folder / PACKAGE / f"{_PROBE}.py").write_text(probe, encoding="utf-8")
        listed = Path(temporary, "listed")
        listed.write_text("\n".join(tests_of), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-n", str(workers), "--tb=no", "-q"]
        command += ["-p", f"holdfast.{_PROBE}", *_LEFT_OUT, f"@{listed}"]
        subprocess.run(command, cwd=folder, env=_environment(folder), check=False)
        tests = [line.split("\t") for line in Path(temporary, "tests").read_text().splitlines()]
        reached: dict[str, set[str]] = {str(number): set() for number in numbers.values()}
        for line in Path(temporary, "reached").read_text().splitlines():
            number, _, test = line.partition("\t")
            reached[number].add(test)
    broken = {test for test, _, outcome in tests if outcome == "failed"}  # by the probes: they may
    for each in mutants:  # of public names there are tables, which are made and read once
        if any(not name.startswith("_") for name in constants_at(each)):
            near = (_RECORD, f"tests/{Path(each.path).parts[2]}/")
            reached[str(numbers[each.key])] |= {
                test for test, *_ in tests if any(part in test for part in near)
            }
    return Reach(
        {test: float(seconds) for test, seconds, _ in tests},
        {key: sorted((reached[str(n)] | broken) - {""}) for key, n in numbers.items()},
    )


def collected(folders: Sequence[str]) -> list[str]:
    """The names of all tests of some folders."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n0", *_LEFT_OUT, *folders]
    lines = subprocess.run(
        command, cwd=ROOT, env=_environment(ROOT), check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [line for line in lines if "::" in line]


def probed(
    source: bytes, own: Sequence[Mutant], names: dict[str, list[int]], numbers: dict[str, int]
) -> str:
    """A module with the probes of its mutants, and of the constants of others that it reads."""
    tree = ast.parse(source)
    parents = {below: node for node in ast.walk(tree) for below in ast.iter_child_nodes(node)}
    probes: dict[ast.AST, list[Callable[[Any], Any]]] = {}
    places = {(m.start, m.after): m for m in own}
    starts = _line_starts(source)
    for node in list(_nodes(tree)):
        start = starts[node.lineno - 1] + node.col_offset
        for _, text in _changes(node):
            if (mutant := places.get((start, text))) is not None:
                _put_probe(node, text, numbers[mutant.key], parents, probes)
    for read in ast.walk(tree):
        name = getattr(read, "id", getattr(read, "attr", None))
        if (
            name in names
            and isinstance(getattr(read, "ctx", None), ast.Load)
            and any(isinstance(each, ast.FunctionDef) for each in _above(read, parents))
        ):
            probes.setdefault(read, []).extend(partial(_hit_first, each) for each in names[name])
    rewritten = _Rewriting(probes).visit(tree)
    place = 1 if ast.get_docstring(tree) is not None else 0
    while place < len(tree.body) and getattr(tree.body[place], "module", "") == "__future__":
        place += 1
    if probes:
        rewritten.body.insert(place, ast.parse(f"from holdfast import {_PROBE}").body[0])
    return ast.unparse(ast.fix_missing_locations(rewritten))


def _put_probe(
    node: ast.AST, text: str, number: int, parents: dict[ast.AST, ast.AST], probes: dict[Any, Any]
) -> None:
    """Probe the widest expression without side effects around a mutant, its operation or place."""
    above = _above(node, parents)
    case = next((each for each in above if isinstance(each, ast.pattern)), None)
    if case is not None:
        node = next(each for each in above if isinstance(each, ast.Match))
    if isinstance(node, ast.stmt):
        probes.setdefault(node, []).append(lambda new: [_call("hit", number), new])
        return
    inner = _without(ast.ClassDef, above)
    widest: ast.expr | None = None
    for each in (node, *inner):
        if isinstance(each, ast.stmt | ast.Lambda | ast.FormattedValue):
            break
        if isinstance(each, ast.expr) and not isinstance(each, ast.Starred | ast.Slice):
            if not _is_pure(each):
                break
            widest = each
    if widest is not None and inner:
        mutated = copy.deepcopy(widest, {id(node): ast.parse(text, mode="eval").body})
        parent = parents[widest]
        test = isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is widest
        probes.setdefault(widest, []).append(
            lambda new: _call_of("value", number, _thunk(new, test), _thunk(mutated, test))
        )
    elif isinstance(node, ast.BinOp | ast.Compare):
        was = node.op if isinstance(node, ast.BinOp) else node.ops[0]
        other = ast.parse(text, mode="eval").body
        becomes = other.op if isinstance(other, ast.BinOp) else other.ops[0]  # type: ignore[attr-defined]
        ops = [ast.Constant(_OPERATORS[type(each).__name__]) for each in (was, becomes)]
        probes.setdefault(node, []).append(
            lambda new: (
                _call_of("operation", number, *_operands(new), *ops)
                if isinstance(new, ast.BinOp | ast.Compare)
                else _hit_first(number, new)
            )
        )
    else:
        probes.setdefault(node, []).append(lambda new: _hit_first(number, new))


def _above(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    above = []
    while node in parents:
        node = parents[node]
        above.append(node)
    return above


def _without(kind: type[ast.AST], above: list[ast.AST]) -> list[ast.AST]:
    """What is above in a function; nothing where the nearest scope is a class."""
    scopes = ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.AsyncFunctionDef
    nearest = next((each for each in above if isinstance(each, scopes)), None)
    return [] if isinstance(nearest, kind) else above


def _operands(node: ast.BinOp | ast.Compare) -> list[ast.expr]:
    return [node.left, node.right if isinstance(node, ast.BinOp) else node.comparators[0]]


def _is_pure(node: ast.AST) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Starred):
            return False
        if isinstance(each, ast.Call):
            called = each.func
            whose = called.value if isinstance(called, ast.Attribute) else None
            known = isinstance(called, ast.Name) and called.id in _PURE
            if not known and not (isinstance(whose, ast.Name) and whose.id in ("math", "np")):
                return False
    return True


def _thunk(node: ast.expr, test: bool) -> ast.expr:
    assessed = ast.Call(ast.Name("bool", ast.Load()), [node], []) if test else node
    new = ast.parse("lambda: 0", mode="eval").body
    new.body = assessed  # type: ignore[attr-defined]
    return new


def _call_of(name: str, number: int, *arguments: ast.expr) -> ast.Call:
    called = ast.parse(f"{_PROBE}.{name}({number})", mode="eval").body
    called.args.extend(arguments)  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def _call(name: str, number: int) -> ast.stmt:
    return ast.Expr(_call_of(name, number))


def _hit_first(number: int, node: ast.expr) -> ast.expr:
    both = ast.Tuple([_call_of("hit", number), node], ast.Load())
    return ast.Subscript(both, ast.Constant(1), ast.Load())


class _Rewriting(ast.NodeTransformer):
    def __init__(self, probes: dict[Any, Any]) -> None:
        self.probes = probes

    def visit(self, node: ast.AST) -> Any:
        new = self.generic_visit(node) if not isinstance(node, ast.pattern) else node
        for probe in self.probes.get(node, ()):
            new = probe(new)
        return new


def constants_at(mutant: Mutant) -> list[str]:
    """The names that a mutant changes where modules are imported; none in a function."""
    source = (ROOT / mutant.path).read_bytes()
    starts, tree = _line_starts(source), ast.parse(source)
    own = list(_made_at_import(tree))
    names = {
        name
        for name, nodes in own
        for node in nodes
        if starts[node.lineno - 1] + node.col_offset
        <= mutant.start
        < starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
    }
    made = [(name, _names_in(nodes)) for name, nodes in own]
    others = list(_read_elsewhere(ROOT))
    count = -1
    while count != len(names):  # and what is made of them, of private ones in the module alone
        count = len(names)
        public = {name for name in names if not name.startswith("_")}
        names |= {name for name, read in made if read & names}
        names |= {name for name, read in others if read & public}
    return sorted(names)


@cache
def _read_elsewhere(root: Path) -> list[tuple[str, set[str]]]:
    files = sorted((root / PACKAGE).rglob("*.py"))
    made = (each for file in files for each in _made_at_import(ast.parse(file.read_bytes())))
    return [(name, read) for name, nodes in made if (read := _names_in(nodes))]


def _names_in(nodes: list[ast.expr]) -> set[str]:
    read = (each for node in nodes for each in ast.walk(node))
    return {name for each in read if (name := getattr(each, "id", getattr(each, "attr", "")))}


def _made_at_import(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, list[ast.expr]]]:
    """Names, and the expressions that they are made of where a module is imported."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    yield from ((n.id, [value]) for n in ast.walk(each) if isinstance(n, ast.Name))
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                yield name, [value]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, [value]
            case ast.FunctionDef(name=name, args=arguments):
                whose = getattr(tree, "name", name) if name == "__init__" else name
                defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
                yield whose, [*defaults, *node.decorator_list]
            case ast.ClassDef(name=name):
                yield name, node.decorator_list
                yield from _made_at_import(node)


# What is run -------------------------------------------------------------------------------------


@dataclass
class Tree:
    """A copy of the tree to change, and of its tests those that hold or fail without a change."""

    folder: Path
    holding: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)

    def fate(
        self, mutant: Mutant, tests: Sequence[str], seconds: dict[str, float], limit: float
    ) -> dict[str, object]:
        """Whether it is killed, by what, and in how many seconds."""
        began, source = time.monotonic(), (self.folder / mutant.path).read_bytes()
        outcome, by = "undecided", f"not all of {len(tests)} tests in time"
        stages = _stages([each for each in tests if each not in self.failing], seconds)
        while (left := limit - (time.monotonic() - began)) > 0:
            if not stages:
                outcome, by = "survived", f"{len(tests)} tests hold"
                break
            self._write(mutant.path, mutant.applied(source))
            result, test = self._run(stages[0], seconds, left)
            self._write(mutant.path, source)
            if result == "passed":
                del stages[0]
                continue
            if result == "late":
                break
            if test in self.holding or self._run([test], seconds, 120.0)[0] == "passed":
                self.holding.add(test)
                outcome, by = "killed", f"{test}{'' if result == 'failed' else f' {result}'}"
                break
            self.failing.add(test)
            stages[0] = [each for each in stages[0] if not each.startswith(test)]
            stages = [each for each in stages if each]
        return {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - began, 1)}

    def _write(self, name: str, content: bytes) -> None:
        """A file, without what was compiled of it in the same second."""
        path = self.folder / name
        path.write_bytes(content)
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()

    def _run(
        self, tests: Sequence[str], seconds: dict[str, float], limit: float
    ) -> tuple[str, str]:
        """How a process with these tests ends, and the test that it ended with.

        It is a fork of one that has loaded what tests need, and nothing of the package.
        """
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _run_tests(self.folder, tests, seconds, writer)
        os.close(writer)
        lines, late = bytearray(), time.monotonic() + limit
        while select.select([reader], [], [], max(late - time.monotonic(), 0.0))[0]:
            if not (piece := os.read(reader, 2**16)):
                break
            lines += piece
        os.close(reader)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        *begun, last = ["", *lines.decode().splitlines()]
        if time.monotonic() >= late:
            return "late", ""
        if last.startswith(("passed", "failed")):
            outcome, _, test = last.partition(" ")
            return outcome, test
        return HANGS, last.partition(" ")[2] if begun else tests[0]


def _stages(tests: Sequence[str], seconds: dict[str, float]) -> list[list[str]]:
    """Tests of few files that are quick, of some more, and all the rest: files are read first."""
    left, stages = list(tests), []
    for most, longest in ((2, 4.0), (8, 20.0), (len(tests), math.inf)):
        files = list(dict.fromkeys(each.partition("::")[0] for each in left))[:most]
        total, stage = 0.0, []
        for each in left:
            if each.partition("::")[0] in files and total <= longest:
                total += seconds.get(each, 0.0)
                stage.append(each)
        left = [each for each in left if each not in set(stage)]
        stages.append(stage)
    return [each for each in stages if each]


class _Witness:
    """What a process of tests writes of them: which begins, and the first that fails."""

    def __init__(self, writer: int, seconds: dict[str, float]) -> None:
        self.writer, self.seconds, self.failed = writer, seconds, ""

    def write(self, line: str) -> None:
        os.write(self.writer, f"{line}\n".encode())

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(f"begun {nodeid}")
        patience = PATIENCE + SLOWER * self.seconds.get(nodeid, 0.0)
        signal.setitimer(signal.ITIMER_VIRTUAL, patience)

    def pytest_runtest_logfinish(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    pytest_collectreport = pytest_runtest_logreport


def _run_tests(
    folder: Path, tests: Sequence[str], seconds: dict[str, float], writer: int
) -> NoReturn:
    """Tests in a process of their own, which ends here."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(_environment(folder))
    sys.path[:] = [str(folder), str(folder / "src"), *(p for p in sys.path if p != str(ROOT))]
    for name in [each for each in sys.modules if each.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    sys.dont_write_bytecode = False
    listed = folder.with_suffix(".tests")
    listed.write_text("\n".join(tests), encoding="utf-8")
    witness = _Witness(writer, seconds)
    options = ["-x", "-n0", "--no-header", "--tb=no", "-o", "faulthandler_timeout=0"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    options += [f"--basetemp={folder.with_suffix('.files')}", f"@{listed}"]
    code = pytest.main(options, plugins=[witness])
    if witness.failed or code not in (0, 5):
        witness.write(f"failed {witness.failed or tests[0]}")
    else:
        witness.write("passed")
    os._exit(0)


def _environment(folder: Path) -> dict[str, str]:
    env = {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return env | {"PYTHONPATH": str(folder / "src")}


def copied_tree(folder: Path) -> Tree:
    """What git knows of the tree, in a folder of its own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return Tree(folder)


def report(results: Sequence[dict[str, object]]) -> str:
    """How many were killed, by room; and every other."""
    counts: dict[str, Counter[str]] = {}
    for each in results:
        for name in (str(each["path"]).split("/")[2], "all"):
            counts.setdefault(name, Counter())[str(each["outcome"])] += 1
    lines = ["| room | tried | killed | survived | undecided |", "|---|---:|---:|---:|---:|"]
    for name, ends in sorted(counts.items(), key=lambda each: (each[0] == "all", each[0])):
        cells = (name, ends.total(), *(ends[end] for end in ("killed", "survived", "undecided")))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for each in results:
        if each["outcome"] != "killed":
            fields = {name: each[name] for name in Mutant.__dataclass_fields__}
            lines.append(f"{each['outcome']}: {Mutant(**fields)}  ({each['by']})")  # type: ignore[arg-type]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(ROOMS), choices=ROOMS)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for each mutant")
    parser.add_argument("--workers", type=int, default=2, help="of the run that maps the tests")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="folders that are mapped")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="run what no test killed once more")
    parser.add_argument("--report", action="store_true", help="run nothing, print what was run")
    options = parser.parse_args()
    wanted = drawn(options.count, options.seed, options.only)
    file: Path = options.results
    reached = file.with_suffix(".reach.json")
    fates: dict[str, dict[str, object]] = _kept(file)
    if not options.report:
        tests = Reach(**(_kept(reached) or {"tests": {}, "mutants": {}}))
        now = dict.fromkeys(collected(options.tests))
        new = [each for each in now if each not in tests.tests]
        every = drawn(sys.maxsize, options.seed, ROOMS)
        if new and (mapped := [each for each in every if each.key in tests.mutants]):
            tests = tests.joined(reach(mapped, options.workers, new))
        if unknown := [each for each in wanted if each.key not in tests.mutants]:
            tests = tests.joined(reach(unknown, options.workers, options.tests))
        _keep(reached, asdict(tests))
        for name in _LOADED:
            importlib.import_module(name)
        with tempfile.TemporaryDirectory() as folder:
            tree = copied_tree(Path(folder, "tree"))
            for each in wanted:
                outcome = fates.get(each.key, {}).get("outcome")
                if outcome == "killed" or (outcome is not None and not options.again):
                    continue
                able = [test for test in tests.of(each) if test in now]
                fate = tree.fate(each, able, tests.tests, options.limit)
                fates[each.key] = asdict(each) | fate
                print(fate["outcome"], each, fate["by"], f"{fate['seconds']} s", flush=True)
                _keep(file, fates)
    print(report([fates[each.key] for each in wanted if each.key in fates]))


def _kept(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def _keep(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1), "utf-8")


if __name__ == "__main__":
    main()
