"""One meaning for each name, and `__all__` of a module is what others may use of it."""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import holdfast

PACKAGE = Path(holdfast.__file__).parent
# A command has the name of the function that it runs; nothing else is said twice.
COMMANDS = {"audit", "plan", "probe", "retire", "split"}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TREES = {
    _name(path): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}
ROOMS = {_name(path) for path in PACKAGE.rglob("__init__.py")}
# Four load their names late, and test_house.py tests them; nobody imports `__main__`.
LATE = {
    "holdfast",
    "holdfast.guessers",
    "holdfast.statistics.call",
    "holdfast.theory.base.special",
}
MODULES = sorted(set(TREES) - LATE - {"holdfast.__main__"})


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


def taken(code: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Module and name of everything that code takes from other modules, however deep inside."""
    modules: dict[str, str] = {}
    nodes = [node for statement in code for node in ast.walk(statement)]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module in TREES:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                if module in TREES:
                    modules[alias.asname or alias.name] = module
                elif alias.name != "*":
                    yield node.module, alias.name
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
                yield modules[module], name


def exported(module: str) -> list[str]:
    """A module that says nothing has nothing for others: a room with a docstring and no more."""
    return list(getattr(importlib.import_module(module), "__all__", []))


def test_every_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in TREES.items():
        for name in defined(tree):
            homes[name].append(module)
    doubles = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert set(doubles) == COMMANDS, doubles
    for modules in doubles.values():
        assert len([each for each in modules if not each.startswith("holdfast.cli.")]) == 1


@pytest.mark.parametrize("module", MODULES)
def test_all_is_what_is_public(module: str) -> None:
    """Its own names without an underscore; of a room's front also names of the room."""
    own, told = defined(TREES[module]), exported(module)
    assert len(set(told)) == len(told)
    if module in ROOMS:
        front = [node for node in TREES[module].body if isinstance(node, ast.ImportFrom)]
        own |= {name for home, name in taken(front) if home.startswith(f"{module}.")}
    assert set(told) == own


@pytest.mark.parametrize("module", TREES)
def test_modules_take_only_what_is_public(module: str) -> None:
    hidden = [
        f"{home}.{name}"
        for home, name in taken(TREES[module].body)
        if name not in exported(home) and not name.startswith("__")
    ]
    assert not hidden
