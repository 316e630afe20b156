"""What docs/postgresql.md shows runs as it is written, but for the address of the server."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.data.loading import loaded
from tests.holdout.tables import table
from tests.postgres import server

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "postgresql.md").read_text("utf-8")
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
