"""`make versions`: Pythons and versions of Polars, DuckDB and Spark, which write the same bits.

Every one asks the same questions of a copy of one ledger: what it writes there, but for the time,
must be the same, byte for byte. All of them also go on with one shared ledger in turn, and each
audits what the others wrote. The environments are made in a folder that is named, or a new one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = (  # Python, Polars, DuckDB, Spark
    ("3.11", "2.1.0", "2.0.0", None),
    ("3.12", "2.1.0", "2.0.0", None),
    ("3.13", "2.1.0", "2.0.0", "4.3.0"),
    ("3.13", "2.0.0", "1.5.6", "4.0.5"),
)
OTHERS = ("numpy>=2.2,<3", "scipy>=1.15,<2", "sqlglot>=30,<31", "typer>=0.16,<0.29", "pyarrow")
QUESTIONS = (
    "avg(x > 0.3)",
    "avg(x)",
    "avg(clip(x * y, -2, 2)) where kind = 'b'",
    "median(y)",
    "std(x)",
    "correlation(x, y)",
    "difference(avg(x) where kind = 'a', rest)",
)
SAID: dict[str, Any] = {
    "questions": 200,
    "tolerance": 0.2,
    "schema": {"x": (-3.0, 3.0), "y": (-3.0, 3.0), "kind": {"values": ["a", "b", "c"]}},
}
HEAD = ("Python", "engine", "numpy", "entries of the copy", "audit of the shared ledger")


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        print(json.dumps(one(Path(arguments[1]), arguments[2])))
        return
    with tempfile.TemporaryDirectory() as made:
        environments = Path(arguments[0] if arguments else made)
        lines = list(compared(environments.resolve(), Path(made)))
    print("\n".join(f"| {' | '.join(line)} |" for line in (HEAD, ("---",) * len(HEAD), *lines)))
    if len({line[3] for line in lines}) != 1 or {line[4] for line in lines} != {"in order"}:
        sys.exit("They do not write the same bits.")


def compared(environments: Path, folder: Path) -> list[tuple[str, ...]]:
    """A line for each environment and engine."""
    import polars as pl
    from release.trial import found_pythons

    import holdfast

    data(pl).write_parquet(folder / "rows.parquet")
    with holdfast.open(data(pl), ledger=folder / "base.ledger", name="base", **SAID) as holdout:
        holdout.ask("avg(y > 0.1)")
    copied(folder, "shared")
    pythons, lines = dict(found_pythons()), []
    with_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    for python, polars, duckdb, spark in ENVIRONMENTS:
        own = environments / "-".join(filter(None, (python, polars, duckdb, spark)))
        if not own.exists():
            subprocess.run([pythons[python], "-m", "venv", str(own)], check=True)
            wanted = [f"polars=={polars}", f"duckdb=={duckdb}", *OTHERS]
            wanted += [] if spark is None else [f"pyspark=={spark}", "pandas>=2.2"]
            pip = [str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted]
            subprocess.run(pip, check=True)
        for engine in ("Polars", "DuckDB", *(["Spark"] if spark and with_java else [])):
            lines.append(tried(own / "bin" / "python", folder, engine))
            print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    return lines


def tried(python: Path, folder: Path, engine: str) -> tuple[str, ...]:
    """The line of one environment; what fails stands in it."""
    words = [str(python), "-m", "benchmarks.versions", "--one", str(folder), engine]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        return (python.parent.parent.name, engine, "", "failed", done.stderr.strip()[-300:])
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def one(folder: Path, engine: str) -> list[str]:
    """Ask everything of a copy, and something of the shared ledger, in this environment."""
    import numpy as np
    import polars as pl

    import holdfast
    from holdfast.ledger.audit import audit

    warnings.simplefilter("ignore")  # that there are copies is the point
    with tempfile.TemporaryDirectory(dir=folder) as own:
        rows = held_by(engine, str(folder / "rows.parquet"), Path(own))
        copy = copied(folder, Path(own).name)
        with holdfast.open(rows, ledger=copy) as holdout:
            for question in QUESTIONS:
                holdout.ask(question)
            holdout.check("avg(y > 0.25)", guess=0.4)
        shared = folder / "shared.ledger"
        many = len(texts(shared))
        with holdfast.open(rows, ledger=shared) as holdout:
            holdout.ask("avg(y > 0.1)")
            holdout.check(f"avg(x > 0.{many})", guess=0.4)
        wrong = [str(finding) for finding in audit(shared) if not finding.fine]
    said = hashlib.sha256("\n".join(texts(copy)).encode()).hexdigest()[:16]
    packages = {"Polars": "polars", "DuckDB": "duckdb", "Spark": "pyspark"}
    named = f"{engine} {version(packages[engine])}"
    if engine != "Polars":
        named += f" (Polars {pl.__version__})"
    return [platform.python_version(), named, np.__version__, said, "; ".join(wrong) or "in order"]


def held_by(engine: str, parquet: str, own: Path) -> Any:
    """The rows of a file, as an engine has them."""
    if engine == "DuckDB":
        import duckdb

        with duckdb.connect(str(own / "t.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM read_parquet(?)", [parquet])
        return own / "t.duckdb"
    if engine == "Spark":
        from pyspark.sql import SparkSession

        os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
        here = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
        return here.config("spark.ui.enabled", "false").getOrCreate().read.parquet(parquet)
    import polars as pl

    return pl.read_parquet(parquet)


def copied(folder: Path, name: str) -> Path:
    """Another ledger that begins as the first one."""
    for suffix in ("", "-secret"):
        shutil.copy(folder / f"base.ledger{suffix}", folder / f"{name}.ledger{suffix}")
    return folder / f"{name}.ledger"


def texts(ledger: Path) -> list[str]:
    """The entries without their time."""
    with closing(sqlite3.connect(ledger)) as connection:
        rows = connection.execute("SELECT text FROM entries ORDER BY seq").fetchall()
    bodies = [json.loads(text) for (text,) in rows]
    return [json.dumps({**body, "at": ""}, sort_keys=True) for body in bodies]


def data(pl: Any) -> Any:
    """Rows of doubles whose sums are rounded, a fixed seed."""
    import numpy as np

    rng = np.random.default_rng(1)
    x, rows = rng.normal(size=20_000), 20_000
    return pl.DataFrame(
        {"x": x, "y": 0.3 * x + rng.normal(size=rows), "kind": rng.choice(["a", "b", "c"], rows)}
    )


if __name__ == "__main__":
    main(sys.argv[1:])
