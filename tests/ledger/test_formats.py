"""Ledgers of every format: the present one is opened, audited and asked on, others are refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import LedgerUnavailable
from holdfast.ledger.audit import audit
from holdfast.ledger.side_files import FORMAT
from holdfast.ledger.store import look
from tests.ledger.formats import ASKED, FOLDER, loaded, table
from tests.seam import real

NAMES = sorted(path.name for path in FOLDER.glob("*.sql"))
EARLIER = [name for name in NAMES if int(name.partition("-")[0].removesuffix(".sql")) < FORMAT]


def number_of(name: str) -> int:
    return int(name.removesuffix(".sql").partition("-")[0])


def dump(ledger: Path) -> list[str]:
    with closing(sqlite3.connect(ledger)) as connection:
        return list(connection.iterdump())


def test_there_is_a_ledger_of_every_format() -> None:
    """Who raises the number writes one more: python -m tests.ledger.formats."""
    assert {number_of(name) for name in NAMES} == set(range(1, FORMAT + 1))


def test_the_present_format_is_opened_audited_and_asked_on(tmp_path: Path) -> None:
    """What fails here was written by what stands in the repository: the format is another one."""
    ledger = loaded(f"{FORMAT}.sql", tmp_path)
    with holdfast.open(table(), ledger=ledger) as holdout:
        before = [line.value for line in holdout.ledger]
        assert len(before) == 4
        assert holdout.ask(ASKED).status == "repeated"
        holdout.ask("avg(x > 0.77)")
        assert [line.value for line in holdout.ledger][:4] == before
    assert [str(finding) for finding in audit(ledger) if not finding.fine] == []


@pytest.mark.parametrize("name", EARLIER)
def test_an_earlier_format_is_refused_by_its_number_and_left_as_it_is(
    name: str, tmp_path: Path
) -> None:
    said = rf"t\.ledger' is of format {number_of(name)} .* reads format {FORMAT}; open .* left out"
    require_refused(loaded(name, tmp_path), said, tmp_path)


def test_the_first_form_of_format_3_is_refused_by_name(tmp_path: Path) -> None:
    said = r"t\.ledger' is of the first form of format 3 .* which columns miss no values"
    require_refused(loaded("3-first-form.sql", tmp_path), said, tmp_path)


def require_refused(ledger: Path, said: str, folder: Path) -> None:
    """In these words, whatever is done with it, and left as it is."""
    before = dump(ledger)
    for use in (
        lambda: holdfast.open(table(), ledger=ledger),
        lambda: holdfast.open(ledger=ledger),
        lambda: audit(ledger),
        lambda: look(ledger).__enter__(),
        lambda: real("holdfast.ledger.backup.move")(ledger, folder / "there.ledger"),
    ):
        with pytest.raises(LedgerUnavailable, match=said):
            use()
    assert dump(ledger) == before


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    ledger = loaded(f"{FORMAT}.sql", tmp_path)
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE entries SET text = replace(text, ?, '\"open/99\"') WHERE seq = 1",
            [f'"open/{FORMAT}"'],
        )
    with pytest.raises(LedgerUnavailable, match=r"is of format 99 .*; update Holdfast"):
        holdfast.open(table(), ledger=ledger)
