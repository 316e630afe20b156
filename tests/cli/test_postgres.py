"""The command line with a table and a ledger in PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import holdfast as command
from tests.data.loading import loaded
from tests.holdout.tables import table
from tests.postgres import server


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def test_every_command_takes_an_address(settings: Path) -> None:
    ledger, data = server().ledger(), server().url()
    words = ("--table", loaded(table()), "--tolerance", "0.2", "--ledger", ledger, "--json")
    made = command("init", data, *words, cwd=settings)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["ledger"] == ledger
    assert "there is already a ledger" in command("init", data, *words, cwd=settings).stdout
    asked = command("ask", ledger, "avg(late)", cwd=settings)
    assert asked.returncode == 0, asked.stderr
    assert f"Next: holdfast budget '{ledger}'" in asked.stdout
    audited = command("audit", ledger, "--json", cwd=settings)
    assert audited.returncode == 0, audited.stdout
    found = json.loads(audited.stdout)
    assert (found["fine"], found["data_compared"], found["seal_compared"]) == (True, True, True)
    assert "avg(late)" in command("ledger", ledger, cwd=settings).stdout


@pytest.mark.parametrize("words", [("budget",), ("init", "t.parquet", "--ledger"), ("init",)])
def test_passwords_are_not_typed(settings: Path, words: tuple[str, ...]) -> None:
    address = "postgresql://ann:swordfish@127.0.0.1:1/d?ledger=l"
    done = command(*words, address, cwd=settings)
    assert done.returncode == 2
    assert "holds a password" in done.stderr
    assert "~/.pgpass or PGPASSWORD" in done.stderr
    assert "swordfish" not in done.stderr


def test_a_table_of_a_database_needs_a_name(settings: Path) -> None:
    done = command("init", server().url(), "--table", "t", cwd=settings)
    assert (done.returncode, "--name NAME" in done.stderr) == (2, True)
