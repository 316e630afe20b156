"""The house in figures: files and functions that a reader of one verb meets, and names.

`python -m benchmarks.house` prints them, `--json` as JSON: counts, not times, the same on every
run. `--doors ask` lists where that verb changes rooms, and how often.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import polars as pl

import holdfast

PACKAGE = Path(holdfast.__file__).resolve().parent
LEAVES = ("papers", "lab")
# Participles and pronouns that say nothing of what a name holds.
BARE = re.compile(
    "asked|brought|carried|counted|done|drawn|due|found|given|gone|held|kept|known|left|made|meant|"
    "read|said|seen|shown|taken|told|written|it|one|ones|other|others|same|such|that|them|these|"
    "they|this|those|what|which|who|whose"
)


class Walk:
    """Calls into the package while a verb runs: files, functions, and changes of room."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.calls = 0
        self.doors: Counter[tuple[str, str, str]] = Counter()  # from room, into file, function
        self._rooms: list[str] = []

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}

    @property
    def switches(self) -> int:
        return self.doors.total()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(str(PACKAGE)) or code.co_name == "<module>":
            return
        path = Path(code.co_filename).relative_to(PACKAGE)
        room = path.parts[0]
        if event == "call":
            self.calls += 1
            self.functions.add((str(path), code.co_qualname))
            if self._rooms and self._rooms[-1] != room:
                self.doors[self._rooms[-1], str(path), code.co_qualname] += 1
            self._rooms.append(room)
        elif event == "return" and self._rooms:
            self._rooms.pop()


def walked(verb: Callable[[], object]) -> Walk:
    """The walk of one call. Modules are imported before: what is read once is not walked."""
    walk = Walk()
    sys.setprofile(walk)
    try:
        verb()
    finally:
        sys.setprofile(None)
    return walk


def _table(rows: int = 2_000) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {"x": rng.normal(size=rows), "y": rng.normal(size=rows), "g": rng.integers(0, 3, rows)}
    )


def _open(folder: Path, name: str) -> holdfast.Holdout:
    schema = {"x": (-5.0, 5.0), "y": (-5.0, 5.0), "g": (0, 2)}
    return holdfast.open(
        _table(), name=name, questions=50, tolerance=0.1, schema=schema, ledger=folder / name
    )


def walks_of(folder: Path) -> dict[str, Walk]:
    """A check, an ask, its price, and a search, each the second of its kind."""
    walks = {}
    with _open(folder, "verbs") as holdout:
        holdout.check("avg(x > 1)", guess=0.16)
        holdout.ask("avg(x > 0.5)")
        holdout.cost("avg(y > 0.5)")
        walks["check"] = walked(lambda: holdout.check("avg(y > 1)", guess=0.16))
        walks["cost"] = walked(lambda: holdout.cost("avg(y > 0)"))
        walks["ask"] = walked(lambda: holdout.ask("avg(y > 0)"))
    walks["search"] = _search(folder)
    return walks


def _search(folder: Path) -> Walk:
    from sklearn.datasets import load_iris  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    from holdfast.sklearn import HoldoutSearchCV, ReusableHoldout

    X, y = load_iris(return_X_y=True)
    with ReusableHoldout(X[::2], y[::2], ledger=folder / "search") as holdout:
        search = HoldoutSearchCV(
            LogisticRegression(), {"C": [0.1, 1.0]}, holdout=holdout, tell="all"
        )
        return walked(lambda: search.fit(X[1::2], y[1::2]))


def names(tree: ast.AST) -> list[str]:
    """What a module calls things: parameters, variables, functions, attributes it sets."""
    out = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                out.append(name)
            case ast.arg(arg=name):
                out.append(name)
            case ast.Name(id=name, ctx=ast.Store()):
                out.append(name)
    return out


def tree_figures() -> dict[str, object]:
    """Figures of the source: modules, lines, doubled file names, bare names, public definitions."""
    files = sorted(PACKAGE.rglob("*.py"))
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in files}
    shared = {path for path in files if path.relative_to(PACKAGE).parts[0] not in LEAVES}
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    every = [name.strip("_") for tree in trees.values() for name in names(tree)]
    bare = [name for name in every if BARE.fullmatch(name)]
    public = [
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    same = Counter(path.name for path in files)
    return {
        "modules": len(files),
        "lines": sum(lines.values()),
        "lines outside papers and lab": sum(lines[path] for path in shared),
        "file names that occur twice": sum(
            1 for name, many in same.items() if many > 1 and not re.match("__", name)
        ),
        "bare participles and pronouns among names, %": round(100 * len(bare) / len(every), 2),
        "public-looking definitions": len(public),
        "names of the face": len(holdfast.__all__),
    }


def figures() -> dict[str, object]:
    """Every figure by what it counts."""
    with tempfile.TemporaryDirectory() as folder:
        by_verb = walks_of(Path(folder))
    out = tree_figures()
    for verb, walk in by_verb.items():
        out[f"files entered by {verb}"] = len(walk.files)
        out[f"functions entered by {verb}"] = len(walk.functions)
    out["changes of room in an ask"] = by_verb["ask"].switches
    out["calls of cost over calls of the ask it prices"] = round(
        by_verb["cost"].calls / by_verb["ask"].calls, 2
    )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--doors", metavar="VERB", help="list the changes of room of a verb")
    options = parser.parse_args()
    if options.doors:
        with tempfile.TemporaryDirectory() as folder:
            doors = walks_of(Path(folder))[options.doors].doors
        for (room, file, function), many in doors.most_common():
            print(f"{many:4} {room} -> {file} {function}")
        return
    by_name = figures()
    if options.json:
        print(json.dumps(by_name, indent=2))
        return
    for what, figure in by_name.items():
        print(f"{what:50} {figure}")


if __name__ == "__main__":
    main()
