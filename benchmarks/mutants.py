"""Mutants: one meaning of the source changed at random, and whether a test notices.

`python -m benchmarks.mutants --count 200 --seed 1 --only theory`. The whole suite runs once in a
copy where every mutant has a probe, which finds the tests that reach a state where the mutant
differs; only those can kill it, and are run with it. The first that fails, and holds without the
change, has killed it. What was run is kept in a file of results, and not run again.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/holdfast")
ROOMS = ("theory", "mechanisms", "statistics", "ledger", "data")
RESULTS = ROOT / ".cache" / "mutants.json"
PATIENCE = 90.0  # seconds of one test, after which the mutant is said to hang
HANGS, UNREADABLE = "no test ended", "no test was read"
_WRONG_USE = 4  # how pytest says that it ran nothing, as where a module fails when it is imported
_QUICK, _FEW = 10.0, 60  # seconds, and tests, that are run before all others

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
_UNREAD = (ast.JoinedStr, ast.Raise, ast.Assert, ast.AnnAssign, ast.arg)


@dataclass(frozen=True)
class Mutant:
    """A piece of a file, from one byte to another, and what stands there instead."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    kind: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} [{self.kind}] {self.before} -> {self.after}"

    @property
    def key(self) -> str:
        """What names it as long as its line is the same."""
        return f"{self.path}:{self.line}:{self.start}:{self.after}"

    def applied(self, source: bytes) -> bytes:
        """The whole file with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    source = (ROOT / path).read_bytes()
    starts = _line_starts(source)
    found = []
    for node in _nodes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        for kind, text in _changes(node):
            before = " ".join(source[start:end].decode().split())
            found.append(Mutant(str(path), node.lineno, start, end, before, text, kind))
    return found


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _nodes(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """All that means something when it runs: no decorators, types, messages or default slots."""
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
            if isinstance(each, ast.expr | ast.stmt):
                yield each
            yield from _nodes(each)


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
    """So many mutants, as likely as any other: a larger count begins with a smaller."""
    paths = [path for room in rooms for path in sorted((ROOT / PACKAGE / room).rglob("*.py"))]
    every = [each for path in paths for each in mutants_of(path.relative_to(ROOT))]
    random.Random(seed).shuffle(every)
    return every[:count]


# Which tests can tell -----------------------------------------------------------------------------

_PURE = {"isinstance", "len", "hasattr", "float", "int", "abs", "min", "max", "bool", "sum"}
_PURE |= {"round_up", "round_down", "floor", "ceil", "round", "all", "any", "tuple", "str"}
_PURE |= {"Fraction", "range"}
_OPERATORS = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne"}
_OPERATORS |= {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv"}
_PROBE = "mutant_probe"
_RECORD = "test_released_numbers.py::test_every_number"  # of public constants, too


@dataclass(frozen=True)
class Reach:
    """The tests that reach a state where a mutant differs, their seconds, and their files."""

    tests: dict[str, float]
    files: dict[str, str]
    mutants: dict[str, list[str]]

    def stages(self, mutant: Mutant) -> list[list[str]]:
        """What to run: files written since, then what is quick or near, then all the rest."""
        now = _digests(ROOT)
        written = [file for file, digest in now.items() if self.files.get(file) != digest]
        stem = f"test_{Path(mutant.path).stem}"
        tests = sorted(
            (each for each in self.mutants[mutant.key] if each.partition("::")[0] in now),
            key=lambda each: (
                stem not in each.partition("::")[0],
                each.partition("::")[0],
                self.tests.get(each, 0.0),
            ),
        )
        quick, total = list[str](), 0.0
        for each in sorted(tests, key=lambda each: (stem not in each, self.tests.get(each, 0.0))):
            total += self.tests.get(each, 0.0)
            if total > _QUICK or len(quick) >= _FEW:
                break
            quick.append(each)
        rest = [each for each in tests if each not in set(quick)]
        return [stage for stage in (written, quick, rest) if stage]


def _digests(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((folder / "tests").rglob("test_*.py"))
    }


def reach(mutants: Sequence[Mutant], workers: int, tests_of: Sequence[str]) -> Reach:
    """Tests, once, in a copy that has the probes of all the mutants."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied_tree(Path(temporary, "tree")).folder
        digests = _digests(folder)
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
        command = [sys.executable, "-m", "pytest", "-n", str(workers), "--tb=no", "-q"]
        command += ["-p", f"holdfast.{_PROBE}", *tests_of]
        subprocess.run(command, cwd=folder, env=_environment(folder), check=False)
        tests = [line.split("\t") for line in Path(temporary, "tests").read_text().splitlines()]
        reached: dict[str, set[str]] = {str(number): set() for number in numbers.values()}
        for line in Path(temporary, "reached").read_text().splitlines():
            number, _, test = line.partition("\t")
            reached[number].add(test)
    broken = {test for test, _, outcome in tests if outcome == "failed"}  # by the probes: they may
    for each in mutants:
        if any(not name.startswith("_") for name in constants_at(each)):  # by no probe is it read
            reached[str(numbers[each.key])] |= {test for test, *_ in tests if _RECORD in test}
    return Reach(
        {test: float(seconds) for test, seconds, _ in tests},
        digests,
        {key: sorted((reached[str(n)] | broken) - {""}) for key, n in numbers.items()},
    )


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
    """The names of a module that a mutant changes where it is imported; none in a function."""
    tree = ast.parse((ROOT / mutant.path).read_bytes())
    for node in tree.body:
        if not node.lineno <= mutant.line <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return [each.id for each in targets if isinstance(each, ast.Name)]
        for each in ast.walk(node):
            if (
                isinstance(each, ast.FunctionDef)
                and each.lineno <= mutant.line < each.body[0].lineno
            ):
                return [each.name] if each.name != "__init__" else [getattr(node, "name", "")]
    return []


# What is run -------------------------------------------------------------------------------------


@dataclass
class Tree:
    """A copy of the tree to change, and of its tests those that hold or fail without a change."""

    folder: Path
    holding: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)

    def fate(self, mutant: Mutant, stages: list[list[str]], limit: float) -> dict[str, object]:
        """Whether it is killed, by what, and in how many seconds."""
        began, source = time.monotonic(), (ROOT / mutant.path).read_bytes()
        end, by = "survived", f"{sum(map(len, stages))} tests and files hold"
        while stages and end == "survived":
            left = limit - (time.monotonic() - began)
            killer = self._killer(mutant.path, mutant.applied(source), stages[0], max(left, 1.0))
            if killer is None:
                del stages[0]
            elif self._holds(killer, source, mutant.path, stages[0]):
                end, by = "killed", killer
            if end == "survived" and time.monotonic() - began >= limit:
                end, by = "undecided", "not all tests in time"
                break
        (self.folder / mutant.path).write_bytes(source)
        return {"end": end, "by": by, "seconds": round(time.monotonic() - began, 1)}

    def _killer(self, path: str, content: bytes, tests: Sequence[str], limit: float) -> str | None:
        """The first test that fails with this content of a file; None if none does in time."""
        (self.folder / path).write_bytes(content)
        command = [sys.executable, "-m", "pytest", "-x", "-n0", "--no-header", "--tb=no", "-rfE"]
        command += ["-o", f"faulthandler_timeout={PATIENCE}"]
        command += ["-o", "faulthandler_exit_on_timeout=true"]
        wanted = [each for each in tests if each not in self.failing]
        if not wanted:
            return None
        listed = self.folder.with_suffix(".tests")
        listed.write_text("\n".join(wanted), encoding="utf-8")
        child = subprocess.Popen(
            [*command, f"@{listed}"],
            cwd=self.folder,
            env=_environment(self.folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            lines = child.communicate(timeout=limit)[0].splitlines()
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return None
        if child.returncode in (0, 5):
            return None
        if child.returncode == _WRONG_USE:
            return f"{UNREADABLE}: {' '.join(lines[-1:])}"
        for line in lines:
            if line.startswith(("FAILED ", "ERROR ")):
                return line.split(" ", 1)[1].split(" - ")[0]
        return f"{HANGS}, exit {child.returncode}"

    def _holds(self, killer: str, source: bytes, path: str, tests: Sequence[str]) -> bool:
        """Whether a test holds where nothing is changed; if not, it is not run again."""
        if killer in self.holding:
            return True
        if killer.startswith((HANGS, UNREADABLE)):  # or the machine is busy, or a test is gone
            return self._killer(path, source, tests, 10 * PATIENCE) is None
        again = self._killer(path, source, [killer], 10 * PATIENCE)
        (self.failing if again else self.holding).add(killer)
        return again is None


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
            counts.setdefault(name, Counter())[str(each["end"])] += 1
    lines = ["| room | tried | killed | survived | undecided |", "|---|---:|---:|---:|---:|"]
    for name, ends in sorted(counts.items(), key=lambda each: (each[0] == "all", each[0])):
        cells = (name, ends.total(), *(ends[end] for end in ("killed", "survived", "undecided")))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for each in results:
        if each["end"] != "killed":
            fields = {name: each[name] for name in Mutant.__dataclass_fields__}
            lines.append(f"{each['end']}: {Mutant(**fields)}  ({each['by']})")  # type: ignore[arg-type]
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
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known: dict[str, dict[str, object]] = kept.get("fates", {})
    if not options.report:
        tests = Reach(**kept["reach"]) if "reach" in kept else Reach({}, {}, {})
        if any(each.key not in tests.mutants for each in wanted):
            tests = reach(wanted, options.workers, options.tests)
            _keep(file, tests, known)
        with tempfile.TemporaryDirectory() as folder:
            tree = copied_tree(Path(folder, "tree"))
            for each in wanted:
                end = known.get(each.key, {}).get("end")
                if end == "killed" or (end is not None and not options.again):
                    continue
                fate = tree.fate(each, tests.stages(each), options.limit)
                known[each.key] = asdict(each) | fate
                print(fate["end"], each, fate["by"], f"{fate['seconds']} s", flush=True)
                _keep(file, tests, known)
    print(report([known[each.key] for each in wanted if each.key in known]))


def _keep(file: Path, tests: Reach, fates: dict[str, dict[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        json.dumps({"reach": asdict(tests), "fates": fates}, indent=1), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
