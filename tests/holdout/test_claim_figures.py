"""Checks and gates of attached columns are as narrow as the page says, and as the aims want."""

from __future__ import annotations

import math

import pytest
from benchmarks.claims import CHECKS, END, GATES, PAGE, SIZES, START, Figure

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.SecondLedger")
ROWS, COUNT = SIZES[0]


def written() -> dict[str, list[str]]:
    """The cells of each row of the page's table, by what is claimed."""
    block = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    cells = [line.strip("|\n").split("|") for line in block.splitlines()[2:]]
    return {name.strip(): [each.strip() for each in rest] for name, *rest in cells}


def named(figure: Figure) -> str:
    return figure.name


@pytest.mark.parametrize("figure", [*CHECKS, *GATES], ids=named)
def test_a_thousand_rows_come_out_at_what_is_written_and_not_below(figure: Figure) -> None:
    found = float(written()[figure.name][0])
    assert figure.comes_out(ROWS, COUNT, found)
    assert not figure.comes_out(ROWS, COUNT, found - figure.step(ROWS))


def test_the_aims_are_met() -> None:
    table = written()
    assert list(table) == [figure.name for figure in (*CHECKS, *GATES)]
    for figure in (*CHECKS, *GATES):
        cells = table[figure.name]
        for found, said, aim in zip(cells[::2], cells[1::2], figure.aims, strict=True):
            assert said == ("" if aim is None else f"{aim:g}")
            assert float(found) <= (math.inf if aim is None else aim)


def test_no_bet_could_show_what_the_first_gate_shows() -> None:
    """Of fifty rows that differ, 38 for the candidate are too few for bets, and 39 are 0.028."""
    level = math.log(0.03 / (COUNT + 1))

    def most_won(b: int, c: int) -> float:  # by the one bet that fits these counts best
        return b * math.log(2 * b / (b + c)) + c * math.log(2 * c / (b + c))

    assert most_won(38, 12) < -level < most_won(39, 11)
