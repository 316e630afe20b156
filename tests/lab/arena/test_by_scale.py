"""The papers' own setting: sub-exponential questions, dependent rows, Algorithms 2 and 3."""

from __future__ import annotations

from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.studies import dependent_tails


def test_both_algorithms_hold_on_dependent_rows_and_their_twins_fail() -> None:
    found = dependent_tails(5_000, 10, 50, run=Run(trials=8))
    rows = {row.holder: row for row in found.rows}
    for algorithm, mechanism in ((2, "typical laplace"), (3, "typical gaussian")):
        right = rows[f"Algorithm {algorithm} ({mechanism})"]
        told = rows[f"Algorithm {algorithm}, told that rows are independent"]
        assert right.promises
        assert right.verdict.telling
        assert right.verdict.failures == 0
        assert not told.promises
        assert not told.verdict.holds
    assert found.kept
