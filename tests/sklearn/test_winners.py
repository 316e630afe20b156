"""The law of searches: the best of 300 is judged falsely by its own interval, and not by ours."""

from __future__ import annotations

import re

from benchmarks.winners import (
    CANDIDATES,
    END,
    PAGE,
    RUNS,
    START,
    Direction,
    by_its_angle,
    drawn_rows,
    on_fresh_rows,
    winners,
)
from scipy.stats import binom

LEVEL, RUNS_HERE = 0.05, 20


def test_the_winners_interval_is_true_and_the_usual_one_is_not() -> None:
    found = list(winners(RUNS_HERE, by_its_angle))
    most = binom.isf(1e-9, RUNS_HERE, LEVEL)
    assert sum(each.is_missed_by(each.search) for each in found) <= most
    assert sum(each.is_missed_by(each.usual) for each in found) > most  # the twin


def test_the_truth_of_a_direction_is_that_of_fresh_rows() -> None:
    import numpy as np

    for seed in (0, 1):
        winner = Direction(seed).fit(*drawn_rows(4, np.random.default_rng(seed)))
        assert abs(on_fresh_rows(winner, seed) - by_its_angle(winner, seed)) < 0.0035  # 7 sigma


def test_the_page_tells_what_200_runs_found() -> None:
    """The figures of `python -m benchmarks.winners`, within what is promised."""
    table = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    usual, search = re.findall(r"\| (\d+) \| (\d+) \| [.\d]+ \|", table)
    assert usual[0] == search[0] == str(RUNS)
    assert int(usual[1]) > RUNS / 2
    assert int(search[1]) <= binom.isf(0.05, RUNS, LEVEL)
    assert f"for all {CANDIDATES}" in table
