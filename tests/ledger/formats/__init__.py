"""A ledger of every format that was ever landed, as SQL.

`python -m tests.ledger.formats` writes the newest one, after `FORMAT` was raised; those of earlier
formats were written by the software of their time, and are never changed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

import holdfast
from holdfast.ledger.side_files import FORMAT

FOLDER = Path(__file__).parent
ROWS = 400
ASKED = "avg(x > 0.3)"


def table() -> pl.DataFrame:
    """The protected rows of all of them."""
    rows = range(ROWS)
    return pl.DataFrame(
        {
            "id": list(rows),
            "x": [((row * 7919) % ROWS) / ROWS for row in rows],
            "late": [(row * 31) % 4 == 0 for row in rows],
        }
    )


def dumped(ledger: Path) -> str:
    """A ledger as SQL, with its secret in the first line."""
    secret = ledger.with_name(f"{ledger.name}-secret").read_bytes()
    with closing(sqlite3.connect(ledger)) as connection:
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        return "\n".join(
            [f"-- {secret.hex()}", f"PRAGMA user_version = {version};", *connection.iterdump(), ""]
        )


def loaded(name: str, folder: Path) -> Path:
    """A ledger of this format, as it was written."""
    text, ledger = (FOLDER / name).read_text("utf-8"), folder / "t.ledger"
    with closing(sqlite3.connect(ledger)) as connection:
        connection.executescript(text)
    secret = bytes.fromhex(text.partition("\n")[0].removeprefix("-- "))
    ledger.with_name("t.ledger-secret").write_bytes(secret)
    return ledger


def write(folder: Path) -> None:
    """A ledger as this software writes it."""
    with holdfast.open(
        table(),
        ledger=folder / "t.ledger",
        questions=20,
        tolerance=0.3,
        schema={"x": (0.0, 1.0)},
    ) as holdout:
        holdout.ask(ASKED)
        holdout.ask("avg(late)", tolerance=0.3)
        holdout.check("avg(x > 0.5)", guess=0.5)
        holdout.ask("median(x)", request_key="a call")
    (FOLDER / f"{FORMAT}.sql").write_text(dumped(folder / "t.ledger"), "utf-8")
