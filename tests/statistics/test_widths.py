"""The table of widths in the docs is what its command finds, and the aims are met."""

from __future__ import annotations

import math
import re

import pytest
from benchmarks.widths import CASES, END, LOG_P, PAGE, SIZES, START, Case, cell, ratios

FEW = SIZES[0]


def written() -> dict[str, list[str]]:
    """The cells of each row of the page's table, by the statistic's name."""
    block = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    cells = [line.strip("| ").split(" | ") for line in block.splitlines()[2:]]
    return {name: rest for name, *rest in cells}


def test_every_statistic_has_its_row() -> None:
    table = written()
    assert list(table) == [case.name for case in CASES]
    for case in CASES:
        question, *found = table[case.name]
        assert question == f"`{case.question}`"
        for place, _ in enumerate(SIZES):
            before, after = (float(each) for each in re.findall(r"[\d.]+", found[place]))
            assert 2.0 < before <= after


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_thousand_rows_give_what_is_written(case: Case) -> None:
    assert cell(ratios(case, FEW)) == written()[case.name][1]


# Nine rows that change together are a far outlier: no method can exclude a few of them.
NOT_MET = "mean of rows in such units"


@pytest.mark.parametrize("case", [case for case in CASES if case.hoped], ids=lambda case: case.name)
def test_ten_thousand_rows_are_as_narrow_as_hoped(case: Case) -> None:
    met = ratios(case, SIZES[1]).before <= (case.hoped or math.inf)
    assert met is (case.name != NOT_MET)


def test_a_share_is_as_wide_as_a_normal_interval_at_the_same_level() -> None:
    from scipy.stats import norm

    ideal = norm.isf(math.exp(LOG_P) / 2) / norm.isf(0.025)
    assert ratios(CASES[0], 100_000).before == pytest.approx(ideal, rel=0.01)
