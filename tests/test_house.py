"""The house rules: imports point down, files stay small, every theorem has source and law."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import holdfast
import holdfast.guessers
from holdfast.cli import COMMANDS, whole_app
from holdfast.holdout.options import DeclareOptions, PromiseOptions, fields_of
from holdfast.mechanisms.terms import Declarations, Terms
from holdfast.theory.base import special
from holdfast.theory.base.theorem import NOTE_KINDS, SOURCES, registry
from tests.theory.tables import DOMAINS, GOLDEN

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"
# A module may import from lower storeys and from its own room, never from above.
STOREYS = [
    {"did_you_mean", "errors", "lazy", "wording"},
    {"require"},
    {"theory", "question"},
    {"data"},
    {"prior"},
    {"statistics"},
    {"mechanisms"},
    {"ledger"},
    {"certificate", "guessers", "holdout", "planner", "sampling", "stats", "tails", ""},
    {"papers"},
    {"boards", "lab", "evals", "trackers"},
    {"service", "sklearn"},
    {"agents", "optuna"},
    {"cli"},
    {"__main__"},
]
# Guesses are part of asking, charts draw plans as well as answers, and a holdout certifies itself.
SAME_STOREY_IS_FINE = STOREYS[8] - {""}
# Leaves: others load them by the names of a catalogue; only commands and tests import them.
LEAVES = {"papers": {"lab", "cli"}, "lab": {"cli"}}
FILES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def storey(name: str) -> int:
    return next(level for level, rooms in enumerate(STOREYS) if name in rooms)


def imported(path: Path) -> list[str]:
    """The holdfast modules that a file imports at run time, wherever in the file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    modules: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "holdfast":
                modules.extend(f"holdfast.{alias.name}" for alias in node.names)
            else:
                modules.append(node.module)
        elif isinstance(node, ast.Import):
            modules.extend(alias.name for alias in node.names)
    return [module for module in modules if module.split(".")[0] == "holdfast"]


def private_names(tree: ast.AST) -> set[str]:
    """The private names of others that code mentions: attributes, imports, and names to patch."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls" | "os")):
                continue
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
                continue
            case ast.Attribute(attr=name):
                found.add(name)
            case ast.ImportFrom(names=names):
                found |= {alias.name for alias in names}
            case ast.Call(func=ast.Attribute(attr="setattr"), args=[*patched, _]):
                texts = [each.value for each in patched if isinstance(each, ast.Constant)]
                found |= {str(text).rpartition(".")[2] for text in texts}
    return {name for name in found if re.match(r"_(?!_|repr_html_$)", name)}


def test_imports_point_down() -> None:
    for path in FILES:
        relative = path.relative_to(PACKAGE).with_suffix("")
        own = "" if relative.parts == ("__init__",) else relative.parts[0]
        for module in imported(path):
            other = room(module)
            if other.startswith("__") or other == own:
                continue
            fine = storey(other) < storey(own) or {own, other} <= SAME_STOREY_IS_FINE
            fine = fine and own in LEAVES.get(other, {own})
            assert fine, f"{relative} imports {module}, which is not below it"


def test_the_picture_has_every_room() -> None:
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    picture = set(re.findall(r"\w+", page.partition("```")[2].partition("```")[0]))
    rooms = {path.stem for path in PACKAGE.iterdir() if not path.name.startswith("__")}
    assert rooms - {"py"} <= picture


def test_files_are_rooms_not_halls() -> None:
    lines = {path.name: path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert {name: many for name, many in lines.items() if many > 700} == {}


def test_what_tests_share_is_in_no_test_file() -> None:
    """A test file can be read, run and deleted alone; helpers are modules of their own."""
    taking = re.compile(r"^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)
    for path in TESTS:
        shared = taking.findall(path.read_text(encoding="utf-8"))
        assert not shared, f"{path.name}: move it into a helper module"


def test_what_is_private_is_known_to_the_seam_alone() -> None:
    for path in TESTS:
        if path != ROOT / "tests" / "seam.py":
            found = sorted(private_names(ast.parse(path.read_text(encoding="utf-8"))))
            assert not found, f"{path.name}: use tests/seam.py, or make it public"


def test_private_names_are_seen() -> None:
    """However they are reached; and not a test's own, nor those that others call so."""
    for known in (
        "holdout._desk.store",
        "from holdfast.ledger.store import _insert",
        "monkeypatch.setattr(Noise, '_blocks', None)",
        "monkeypatch.setattr('holdfast.ledger.store._insert', None)",
    ):
        assert private_names(ast.parse(known)), known
    for fine in ("self._own", "super()._scan(rows)", "answer._repr_html_()", "os._exit(0)"):
        assert not private_names(ast.parse(fine)), fine


def test_the_theory_is_pure() -> None:
    for path in [*(PACKAGE / "theory").rglob("*.py"), *(PACKAGE / "papers/theorems").glob("*.py")]:
        names = {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert not names & {"random", "secrets", "time", "datetime", "os", "polars", "sqlite3"}
        assert "np.random" not in path.read_text(encoding="utf-8")


NAMESPACES = ["errors", "evals", "papers", "sampling", "sklearn", "stats", "tails"]


def test_public_names_are_sorted_and_exist() -> None:
    assert holdfast.__all__ == sorted(holdfast.__all__)
    assert dir(holdfast) == holdfast.__all__
    assert len(holdfast.__all__) - len(NAMESPACES) <= 24
    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None


def test_no_module_hides_a_public_name() -> None:
    """Importing a submodule sets a name of its package: no room may be called as a function is."""
    modules = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert [name for name in holdfast.__all__ if name in modules] == NAMESPACES


def test_no_file_name_twice_in_one_room() -> None:
    for place in [path for path in PACKAGE.iterdir() if path.is_dir()]:
        names = [path.name for path in place.rglob("*.py") if path.name != "__init__.py"]
        assert sorted(set(names)) == sorted(names), place.name


def test_public_names_are_documented() -> None:
    pages = "\n".join(
        page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    )
    missing = [name for name in holdfast.__all__ if name not in pages]
    assert not missing, f"not in README or docs: {missing}"


def test_commands_are_documented() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for command in whole_app().registered_commands:
        assert command.callback is not None
        assert f"holdfast {command.name or command.callback.__name__}" in page
        assert command.epilog, "every command's --help ends with an example"
        assert command.epilog.startswith("Example: holdfast ")


def _laws() -> set[str]:
    """Theorems whose handwritten laws are named in a test file's LAWS tuple."""
    import tests.theory

    named: set[str] = set()
    for module in pkgutil.walk_packages(tests.theory.__path__, "tests.theory."):
        if module.name.rpartition(".")[2].startswith("test_"):
            named |= set(getattr(importlib.import_module(module.name), "LAWS", ()))
    return named


@pytest.mark.parametrize("name", list(registry()))
def test_no_theorem_without_source_golden_value_and_law(name: str) -> None:
    entry = registry()[name]
    assert entry.source in SOURCES
    assert entry.place
    assert entry.statement.endswith(".")
    assert entry.domain
    assert entry.slack, "say how loose it is"
    assert entry.function.__doc__
    assert name in {row.theorem for row in GOLDEN}, "no golden value"
    assert (entry.monotone and name in DOMAINS) or name in _laws(), "no law"
    if entry.printed:
        assert entry.printed in registry()
    assert all(note.source in SOURCES and note.kind in NOTE_KINDS for note in entry.notes)


def test_every_row_belongs_to_a_theorem() -> None:
    assert {row.theorem for row in GOLDEN} | DOMAINS.keys() <= registry().keys()
    assert _laws() <= registry().keys()


def test_what_was_declared_is_in_one_record() -> None:
    """Others hold `Terms`, or leave things open in `Declarations`: nobody repeats their fields."""
    terms = {field.name for field in fields(Terms) if field.init}
    repeating = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in FILES
        if path not in (PACKAGE / "mechanisms" / "terms.py", PACKAGE / "holdout" / "options.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and len(terms & {ast.unparse(n.target) for n in node.body if isinstance(n, ast.AnnAssign)})
        >= 4
    ]
    assert repeating == []
    # How people spell what they declare is one record, too, and has all of it.
    spelled = fields_of(PromiseOptions, DeclareOptions)
    assert {field.name for field in fields(Declarations)} <= spelled.keys()


def test_open_has_few_parameters() -> None:
    assert len(inspect.signature(holdfast.open).parameters) <= 14


def loaded(code: str, heavy: set[str]) -> str:
    """Which of the heavy libraries a fresh process has loaded after some code."""
    told = f"import sys\n{code}\nsys.exit(str(sorted({heavy} & sys.modules.keys()) or ''))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)
    return done.stderr.strip()


def test_import_is_light() -> None:
    heavy = {"numpy", "scipy", "polars", "sqlglot", "altair", "typer", "rich", "duckdb"}
    assert loaded("import holdfast", heavy) == ""


def test_help_loads_nothing_that_answers() -> None:
    heavy = {"numpy", "scipy", "polars", "sqlglot", "rich", "holdfast.question", "holdfast.ledger"}
    for words in (["--help"], ["ask", "--help"], ["token", "create", "--help"], ["--version"]):
        assert loaded(_command(words), heavy) == "", words


def test_a_command_loads_no_other_one() -> None:
    others = {f"holdfast.cli.{name}" for name in ("holdout", "records", "service", "listing")}
    assert loaded(_command(["gate", "nowhere", "avg(x)", "--at-least", "0"]), others) == ""
    assert loaded(_command(["--secret", "list", "plan", "--gate"]), others) == ""


def _command(words: list[str]) -> str:
    """Code that runs the command line and goes on, whatever came out."""
    return (
        f"import contextlib, io; sys.argv = ['holdfast', *{words!r}]\n"
        "from holdfast.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()): main()"
    )


def test_what_is_left_and_a_gate_need_no_special_functions(tmp_path: Path) -> None:
    """Nor is anything loaded of a mechanism, a guesser or an ending that the ledger has not."""
    table, name = tmp_path / "items.csv", str(tmp_path / "items.ledger")
    table.write_text("item,x\n" + "".join(f"{i},{i % 2}\n" for i in range(100)), encoding="utf-8")
    scores = tmp_path / "scores.csv"
    scores.write_text(
        "item,score\n" + "".join(f"{i},{i % 2}\n" for i in range(100)), encoding="utf-8"
    )
    with holdfast.open(table, ledger=name, key="item", candidates=10, questions=10) as holdout:
        holdout.attach("v0", [0] * 50 + [1] * 50, bounds=bool, digest="v0")
        holdout.promote("v0", why="the first")
    unused = {f"holdfast.mechanisms.{each}" for each in ("typical", "one_look", "ladder", "reveal")}
    unused |= {"scipy", "holdfast.guessers.training", "holdfast.theory.typical"}
    assert loaded(_command(["budget", name]), {"polars", "sqlglot", *unused}) == ""
    assert loaded(_command(["gate", name, str(scores), "--as", "v1"]), unused) == ""


def test_special_functions_are_those_of_scipy_without_its_package() -> None:
    called = "from holdfast.theory.base import special\nspecial.betaincinv(2.0, 3.0, 0.1)"
    heavy = {"scipy.special"}
    if tuple(map(int, version("scipy").split(".")[:2])) < (1, 18):
        heavy |= {
            "numpy.testing",
            "numpy.f2py",
        }  # later compiled files load all of numpy themselves
    assert loaded(called, heavy) == ""
    their_own = set(special.__all__) - {"logsumexp"}
    both = f"import scipy.special, scipy.stats\nnames = {sorted(their_own)!r}"
    same = "assert all(getattr(special, n) is getattr(scipy.special, n) for n in names)"
    assert loaded(f"{called}\n{both}\n{same}", {"holdfast.papers"}) == ""


def test_a_plan_needs_no_rules_of_statistics() -> None:
    unused = {f"holdfast.statistics.{each}" for each in ("bind", "mean_rules", "registry")}
    words = ["plan", "--rows", "1000", "--questions", "100"]
    assert loaded(_command(words), {"scipy.special", "polars", "sqlglot", *unused}) == ""


def test_statistics_and_sampling_need_no_namespace() -> None:
    assert holdfast.mean is holdfast.stats.mean
    assert holdfast.clustered is holdfast.sampling.clustered


def test_an_old_spelling_is_told_the_new_one() -> None:
    for old, new in (("probe", "papers"), ("SecondLedger", "errors"), ("sub_gaussian", "tails")):
        with pytest.raises(AttributeError, match=rf"it is holdfast\.{new}\.{old}"):
            getattr(holdfast, old)
    with pytest.raises(AttributeError, match=r"no attribute 'no_such_name'$"):
        holdfast.no_such_name  # noqa: B018


LATE_ROOMS = [
    holdfast.guessers,
    holdfast.evals,
    holdfast.papers,
    holdfast.sampling,
    holdfast.stats,
    holdfast.tails,
    special,
]


@pytest.mark.parametrize("room", LATE_ROOMS)
def test_names_that_are_loaded_late_are_there(room: ModuleType) -> None:
    for name in room.__all__:
        assert getattr(room, name).__name__ == name
    with pytest.raises(AttributeError, match=room.__name__):
        room.no_such_name  # noqa: B018


def test_every_command_is_found_where_it_is() -> None:
    app, homes = whole_app(), {name: f"holdfast.cli.{home}" for name, home in COMMANDS.items()}
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        assert homes.pop(name) == command.callback.__module__
    for group in app.registered_groups:
        assert group.typer_instance is not None
        inside = [each.callback for each in group.typer_instance.registered_commands]
        (home,) = {callback.__module__ for callback in inside if callback is not None}
        assert homes.pop(str(group.name)) == home
    assert homes == {}


def test_a_plan_loads_no_engine() -> None:
    """Engines are loaded where a sample is opened; a plan has none."""
    engines = {"polars", "duckdb", "pandas", "pyarrow", "altair"}
    for words, none_of in (
        (["--questions", "10"], engines | {"sqlglot"}),
        (["--question", "avg(delay > 15)"], engines),  # a text is parsed
        (["--gate", "--candidates", "9", "--disagreement", "0.1"], engines | {"sqlglot"}),
    ):
        plan = ["plan", "--rows", "1000", *words]
        code = f"from holdfast.cli import whole_app\nwhole_app()({plan!r}, standalone_mode=False)"
        assert loaded(code, none_of) == ""
