"""CSV files whose numbers and dates are not written as usual."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.data.source import KnownTable, open_sample, table_form
from holdfast.errors import InvalidArgument
from holdfast.question.expression import ColumnType
from tests.cli.run import holdfast as run

GERMAN: dict[str, Any] = {
    "separator": ";",
    "decimal": ",",
    "thousands": ".",
    "date_format": "%d.%m.%Y",
}
ROWS = ["2.071,68;01.06.2025;A;1.200;true", "-0,5;31.12.2024;B;7;false", ";;;;"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "eu.csv"
    file.write_text("\n".join(["sum;day;kind;count;paid", *ROWS * 40]) + "\n", encoding="utf-8")
    return file


def test_cells_are_read_as_they_are_written(path: Path) -> None:
    sample = open_sample(path, known=KnownTable(table_form(**GERMAN)))
    assert sample.types == {
        "sum": ColumnType.FLOAT,
        "day": ColumnType.DATE,
        "kind": ColumnType.TEXT,
        "count": ColumnType.INTEGER,
        "paid": ColumnType.BOOLEAN,
    }
    (frame,) = sample.frames(list(sample.types))
    assert frame.row(0) == (2071.68, date(2025, 6, 1), "A", 1200, True)
    assert frame.row(1) == (-0.5, date(2024, 12, 31), "B", 7, False)
    assert frame.row(2) == (None,) * 5


def test_a_ledger_keeps_how_they_are_written(path: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "t.ledger"
    schema = {"sum": (-100, 5_000)}
    with holdfast.open(path, ledger=ledger, schema=schema, **GERMAN) as ds:
        assert ds.ask("avg(sum)").value == pytest.approx((2071.68 - 0.5) / 2, abs=3)
    with holdfast.open(path, ledger=ledger) as ds:
        assert ds.ask("avg(sum)").status == "repeated"
        assert ds.ask("avg(day > '2025-01-01')").value == pytest.approx(0.5)
    with pytest.raises(InvalidArgument, match=r"thousands is ' ', .* was opened with '.'"):
        holdfast.open(path, ledger=ledger, separator=";", thousands=" ")


def test_without_saying_so_they_are_texts(path: Path) -> None:
    sample = open_sample(path, known=KnownTable(table_form(separator=";")))
    assert sample.types["sum"] is ColumnType.TEXT


@pytest.mark.parametrize("cell", ["1.23,5", "1,2,3", "12.34.567", "x"])
def test_what_is_no_number_makes_a_column_text(path: Path, cell: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{cell};01.06.2025;A;1;true\n")
    sample = open_sample(path, known=KnownTable(table_form(**GERMAN)))
    assert sample.types["sum"] is ColumnType.TEXT


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"decimal": ";"}, "decimal must be"),
        ({"thousands": "x"}, "thousands one of"),
        ({"thousands": "."}, "read in two ways"),
        ({"date_format": "%d.%m"}, "where day, month and year are"),
    ],
)
def test_forms_that_are_none(form: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        table_form(**form)


def test_the_command_line_reads_them(path: Path) -> None:
    words = ["--separator", ";", "--decimal", ",", "--thousands", ".", "--date-format", "%d.%m.%Y"]
    done = run("init", "eu.csv", *words, cwd=path.parent)
    assert done.returncode == 0, done.stderr
    assert "  sum    float" in done.stdout
    assert "  day    date" in done.stdout
