"""Whatever is typed, a command ends with an exit code and a sentence, never with a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.run import holdfast
from tests.holdout.tables import table

WORDS = (
    "",
    "\0",
    "x" * 300,
    "9" * 400,
    "/",
    "bytes.ledger",
    "folder.ledger",
    "bytes.toml",
    "deep.toml",
    "\ud800",
    ":memory:",
    "nan",
    "1e400",
    "()",
)
FORMS = (
    "init hold.parquet --name WORD",
    "init hold.parquet --name n --schema WORD",
    "init hold.parquet --name n --design WORD",
    "init hold.parquet --name n --mechanism WORD",
    "init hold.parquet --name n --option WORD",
    "init hold.parquet --name n --sampling WORD",
    "init hold.parquet --name n --tolerance WORD",
    "ask WORD avg(late)",
    "ask t WORD --dry-run",
    "ask t WORD",
    "ask t avg(late) --where WORD",
    "ask t avg(late) --by WORD",
    "ask t avg(x) --bounds 0 WORD",
    "ask t avg(late) --guesser WORD",
    "ask t avg(late) --why WORD",
    "ask t avg(late) --tolerance WORD",
    "check t avg(late) --guess WORD",
    "check t avg(late) --at-most WORD",
    "budget WORD",
    "ledger WORD",
    "ledger t --output WORD",
    "audit WORD",
    "plan --rows WORD --questions 5",
    "plan --rows 100 --questions 5 --chart WORD",
    "mechanisms WORD",
    "probe WORD hold.parquet",
    "probe WORD:f hold.parquet",
    "theorems WORD",
    "theorems gaussian_tv n=10 k=1 WORD",
    "theorems gaussian_tv n=WORD",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("hostile")
    table(4_000).write_parquet(here / "hold.parquet")
    made = holdfast("init", "hold.parquet", "--name", "t", "--tolerance", "0.2", cwd=here)
    assert made.returncode == 0
    noise = bytes(range(256)) * 12
    (here / "bytes.ledger").write_bytes(noise)
    (here / "bytes.toml").write_bytes(noise)
    (here / "folder.ledger").mkdir()
    (here / "deep.toml").write_text("[bounds]\nx = " + "[" * 50_000)
    return here


@pytest.mark.parametrize("form", FORMS)
def test_every_command_ends_with_a_sentence(folder: Path, form: str) -> None:
    for word in WORDS:
        words = [each.replace("WORD", word) for each in form.split()]
        done = holdfast(*words, cwd=folder)
        assert done.returncode in (0, 2, 3, 4), (words, done.stderr)
        assert "Traceback" not in done.stderr
        assert (done.returncode == 0) or (done.stdout + done.stderr).strip(), words
        for made_now in folder.glob("n.ledger*"):
            os.remove(made_now)


def test_what_says_nothing_says_so(folder: Path) -> None:
    question = ("ask", "t", "avg(x) where x > 100 and origin = 'JFK'", "--bounds", "-60", "180")
    told = holdfast(*question, "--tolerance", "0.4", cwd=folder)
    assert "\n  no information: the interval is the whole range [-60, 180] · " in told.stdout
    again = holdfast(*question, "--tolerance", "0.4", "--json", cwd=folder)
    assert again.returncode == 3  # now that it is known, it is refused
    assert "nothing was spent" in again.stdout
