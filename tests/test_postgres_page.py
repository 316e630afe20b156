"""What the pages on PostgreSQL show runs as it is written, but for the address of the server."""

from __future__ import annotations

import re
import shlex
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from tests.cli.run import holdfast as typed
from tests.data.loading import loaded
from tests.holdout.tables import table
from tests.postgres import server

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "postgresql.md").read_text("utf-8")
MOVING = (DOCS / "how-to" / "move.md").read_text("utf-8")
ADDRESS = "postgresql://ann@db.example.com/lab"


def test_its_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table().rename({"x": "delay"})
    rows.write_parquet(tmp_path / "flights.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    name = loaded(rows)
    with server().database() as database:
        url = server().url()
        written = examples[0].replace(ADDRESS, url).replace("public.flights", name)
        own = server().url(database).replace("?", "?ledger=flights&")
        written += examples[1].replace(f"{ADDRESS}?ledger=flights", own)
        exec(compile(written, "postgresql.md", "exec"), {})
        with closing(server().connected(database)) as connection:
            tables = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'holdfast'"
            ).fetchall()
    for named in ("version", "ledger", "file"):
        assert (named,) in tables
        assert f"`holdfast.{named}`" in PAGE
    assert len(list((tmp_path / "config" / "holdfast").glob("*-secret"))) == 1


def test_a_ledger_and_its_table_move_as_the_guide_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = table().rename({"x": "delay"})
    rows.write_parquet(tmp_path / "flights.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with holdfast.open("flights.parquet", name="flights", questions=50, tolerance=0.2) as before:
        before.ask("avg(delay > 15)")
    (command,) = re.findall(r"^holdfast (ledger move .*postgresql.*)$", MOVING, re.MULTILINE)
    ledger, rows_there, _ = re.findall(r"```python\n(.*?)```", MOVING, re.DOTALL)
    name = loaded(rows)
    with server().database() as database:
        own = server().url(database).replace("?", "?ledger=flights&")
        moved = typed(*shlex.split(command.replace(f"{ADDRESS}?ledger=flights", own)))
        assert moved.returncode == 0, moved.stderr
        written = ledger.replace(f"{ADDRESS}?ledger=flights", own)
        written += rows_there.replace(ADDRESS, server().url()).replace("public.flights", name)
        exec(compile(written, "move.md", "exec"), {})
    repeated, new = capsys.readouterr().out.splitlines()
    assert repeated.startswith("repeated ")
    assert new.endswith(" · all answers together 95 % sure")
