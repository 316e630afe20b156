"""One meaning for each name; others use of a module what has no underscore, or its `__all__`."""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

import holdfast

Trees: TypeAlias = dict[str, ast.Module]

PACKAGE = Path(holdfast.__file__).parent
# A command has the name of the function that it runs; nothing else is said twice.
COMMANDS = {"audit", "compare", "plan", "probe", "retire", "split"}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.fixture(scope="module")
def trees() -> Trees:
    """Every module, as it is written."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


ROOMS = {_name(path) for path in PACKAGE.rglob("__init__.py")}
# These load their names late, and test_house.py tests them; nobody imports `__main__`.
LATE = {
    "holdfast",
    "holdfast.evals",
    "holdfast.guessers",
    "holdfast.papers",
    "holdfast.sampling",
    "holdfast.statistics.call",
    "holdfast.stats",
    "holdfast.tails",
    "holdfast.theory.base.special",
}
UNNAMED = {*LATE, "holdfast.__main__"}


def defined(tree: ast.Module) -> set[str]:
    """The public names of a module's own: classes, functions, constants and types."""
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {each.id for target in targets for each in _variables(target)}
            case ast.AnnAssign(target=target):
                names |= {each.id for each in _variables(target)}
    return {name for name in names if not name.startswith("_")}


def _variables(target: ast.expr) -> list[ast.Name]:
    match target:
        case ast.Name():
            return [target]
        case ast.Tuple(elts=parts):
            return [each for part in parts for each in _variables(part)]
        case _:
            return []


def taken(code: Iterable[ast.stmt], known: Container[str]) -> Iterator[tuple[str, str]]:
    """Module and name of everything that code takes from other modules, however deep inside."""
    modules: dict[str, str] = {}
    nodes = [node for statement in code for node in ast.walk(statement)]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module in known:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                if module in known:
                    modules[alias.asname or alias.name] = module
                elif alias.name != "*":
                    yield node.module, alias.name
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
                yield modules[module], name


def exported(module: str, tree: ast.Module) -> list[str]:
    """What others may use: `__all__` of what people import, elsewhere names with no underscore."""
    return list(getattr(importlib.import_module(module), "__all__", defined(tree)))


def test_every_name_has_one_meaning(trees: Trees) -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in trees.items():
        for name in defined(tree):
            homes[name].append(module)
    doubles = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert set(doubles) == COMMANDS, doubles
    for modules in doubles.values():
        assert len([each for each in modules if not each.startswith("holdfast.cli.")]) == 1


def test_all_is_what_is_public(trees: Trees) -> None:
    """Its own names without an underscore; of a room's front also names of the room."""
    wrong = {}
    for module in sorted(trees.keys() - UNNAMED):
        tree = trees[module]
        own, listed = defined(tree), exported(module, tree)
        if module in ROOMS:
            front = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
            own |= {name for home, name in taken(front, trees) if home.startswith(f"{module}.")}
        if sorted(listed) != sorted(own):
            wrong[module] = own.symmetric_difference(listed) or "a name is said twice"
    assert not wrong


def test_modules_take_only_what_is_public(trees: Trees) -> None:
    hidden = [
        f"{module} takes {home}.{name}"
        for module, tree in trees.items()
        for home, name in taken(tree.body, trees)
        if name not in exported(home, trees[home]) and not name.startswith("__")
    ]
    assert not hidden
