"""Mutants: one meaning of the source changed at random, and whether a test notices.

`python -m benchmarks.mutants --count 200 --seed 1 --only theory`. Each mutant is applied in a copy
of the tree. The tests that name its function run first, then those of its module, then all of its
room, then holdouts; the first that fails, and holds without the change, has killed it. What was run
is kept in a file of results, and not run again.
"""

from __future__ import annotations

import argparse
import ast
import copy
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/holdfast")
ROOMS = ("theory", "mechanisms", "statistics", "ledger", "data")
RESULTS = ROOT / ".cache" / "mutants.json"
PATIENCE = 90.0  # seconds of one test, after which the mutant is said to hang
HANGS = "no test ended"
_WRONG_USE = 4  # how pytest says that it ran nothing

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
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _nodes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        for kind, text in _changes(node):
            before = " ".join(source[start:end].decode().split())
            found.append(Mutant(str(path), node.lineno, start, end, before, text, kind))
    return found


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


# What is run -------------------------------------------------------------------------------------


def function_at(path: str, line: int) -> str:
    """What a line is in: the name of its function, or of the class of a private or special one."""
    name = ""
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):  # outer before inner
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and (
            node.lineno <= line <= (node.end_lineno or 0) and not node.name.startswith("_")
        ):
            name = node.name
    return name


def test_files(path: str, line: int) -> list[list[str]]:
    """The tests of a function, of its module, of its folder and room; and those of holdouts."""
    parts = Path(path).with_suffix("").parts[1:]
    module, room, stem = ".".join(parts), parts[1], parts[-1]
    texts = {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
    }
    name = function_at(path, line)
    own = [file for file in texts if Path(file).stem == f"test_{stem}"]
    naming = sorted(
        (file for file, text in texts.items() if name and name in text),
        key=lambda file: (f"/{room}/" not in file, -texts[file].count(name)),
    )
    near = [file for file, text in texts.items() if f"{module} " in text or f"{module}\n" in text]
    folder = f"tests/{'/'.join(parts[1:-1])}/"
    beside = [file for file in texts if file.startswith(folder)]
    around = [file for file in texts if file.startswith(f"tests/{room}/")]
    above = [file for file in texts if file.startswith(("tests/mechanisms/", "tests/holdout/"))]
    stages, seen = [], set[str]()
    for stage in (own, naming[:4], near, beside, around, above):
        new = [file for file in dict.fromkeys(stage) if file not in seen]
        seen.update(new)
        if new:
            stages.append(new)
    return stages


@dataclass
class Tree:
    """A copy of the tree to change, and of its tests those that hold or fail without a change."""

    folder: Path
    holding: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)

    def fate(self, mutant: Mutant, limit: float) -> dict[str, object]:
        """Whether it is killed, by what, and in how many seconds."""
        began, source = time.monotonic(), (ROOT / mutant.path).read_bytes()
        end, by = "survived", ""
        stages = test_files(mutant.path, mutant.line)
        while stages and end == "survived":
            left = limit - (time.monotonic() - began)
            killer = self._killer(mutant.path, mutant.applied(source), stages[0], max(left, 1.0))
            if killer is None:
                del stages[0]
            elif self._holds(killer, source, mutant.path):
                end, by = "killed", killer
            if end == "survived" and time.monotonic() - began >= limit:
                by = "(not all tests in time)"
                break
        (self.folder / mutant.path).write_bytes(source)
        return {"end": end, "by": by, "seconds": round(time.monotonic() - began, 1)}

    def _killer(self, path: str, content: bytes, tests: Sequence[str], limit: float) -> str | None:
        """The first test that fails with this content of a file; None if none does in time."""
        (self.folder / path).write_bytes(content)
        command = [sys.executable, "-m", "pytest", "-x", "-n0", "--no-header", "--tb=no", "-rfE"]
        command += ["-o", f"faulthandler_timeout={PATIENCE}"]
        command += ["-o", "faulthandler_exit_on_timeout=true"]
        command += [f"--deselect={each}" for each in self.failing]
        env = {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        child = subprocess.Popen(
            [*command, *tests],
            cwd=self.folder,
            env=env | {"PYTHONPATH": str(self.folder / "src")},
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
            raise RuntimeError(f"pytest did not understand: {lines[-3:]}")
        for line in lines:
            if line.startswith(("FAILED ", "ERROR ")):
                return line.split(" ", 1)[1].split(" - ")[0]
        return f"{HANGS}, exit {child.returncode}"

    def _holds(self, killer: str, source: bytes, path: str) -> bool:
        """Whether a test holds where nothing is changed; if not, it is not run again."""
        if killer.startswith(HANGS) or killer in self.holding:
            return True
        again = self._killer(path, source, [killer], 10 * PATIENCE)
        (self.failing if again else self.holding).add(killer)
        return again is None


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
    """How many were killed, by room; and every survivor."""
    killed, tried = Counter[str](), Counter[str]()
    for each in results:
        room = str(each["path"]).split("/")[2]
        tried[room] += 1
        killed[room] += each["end"] == "killed"
    lines = [f"| {'room':12} | tried | killed | survived |", "|---|---:|---:|---:|"]
    for room, many in sorted(tried.items()):
        lines.append(f"| {room:12} | {many} | {killed[room]} | {many - killed[room]} |")
    whole, dead = tried.total(), killed.total()
    lines.append(f"| {'all':12} | {whole} | {dead} | {whole - dead} |")
    for each in results:
        if each["end"] != "killed":
            fields = {name: each[name] for name in Mutant.__dataclass_fields__}
            lines.append(f"survived: {Mutant(**fields)}  {each['by']}".rstrip())  # type: ignore[arg-type]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(ROOMS), choices=ROOMS)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each mutant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="run what no test killed once more")
    parser.add_argument("--report", action="store_true", help="run nothing, print what was run")
    options = parser.parse_args()
    wanted = drawn(options.count, options.seed, options.only)
    file: Path = options.results
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if options.again:
        known = {key: each for key, each in known.items() if "::" in str(each["by"])}
    if not options.report:
        _run_all([each for each in wanted if each.key not in known], known, options)
    print(report([known[each.key] for each in wanted if each.key in known]))


def _run_all(
    mutants: Sequence[Mutant], known: dict[str, dict[str, object]], options: argparse.Namespace
) -> None:
    trees: SimpleQueue[Tree] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for place in range(options.jobs):
            trees.put(copied_tree(Path(folder) / str(place)))

        def one(mutant: Mutant) -> None:
            tree = trees.get()
            try:
                known[mutant.key] = asdict(mutant) | tree.fate(mutant, options.limit)
            finally:
                trees.put(tree)
            print(known[mutant.key]["end"], mutant, known[mutant.key]["by"], flush=True)
            options.results.parent.mkdir(parents=True, exist_ok=True)
            options.results.write_text(json.dumps(dict(known), indent=1), encoding="utf-8")

        list(pool.map(one, mutants))


if __name__ == "__main__":
    main()
