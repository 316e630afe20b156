"""The explorer's decisions: right ones are counted as right, and Holdfast decides a good part."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest
from benchmarks.decisions import Decision, Rows, Study, Tally, explorer, run

from benchmarks import decisions

ROWS, SESSIONS = 5_000, 2


@pytest.fixture(scope="module")
def study() -> Study:
    """A small population with plain differences between the values of its segments."""
    rng = np.random.default_rng(1)
    place, month = rng.choice(["a", "b", "c"], 20_000), rng.integers(1, 5, 20_000)
    chance = 0.1 + 0.15 * (place == "b") + 0.05 * (month == 2)
    delay = np.where(rng.random(20_000) < chance, 40.0, rng.normal(0.0, 5.0, 20_000))
    frame = pl.DataFrame(
        {
            "place": place,
            "month": month,
            "delay": delay,
            "half": delay / 2 + rng.normal(0.0, 5.0, 20_000),
        }
    )
    return Study(
        "made",
        frame,
        {"delay": (-60, 60), "half": (-30, 30), "month": (1, 4)},
        ("delay > 15", "delay"),
        ("place", "month"),
        thresholds=(("delay > 15", 0.05),),
        extremes=(("place", 0.2),),
        means=("place",),
        correlations=(("delay", "half"),),
        cells=(("place", "month"),),
        sizes=(ROWS,),
    )


def test_decisions_are_counted_by_the_truth_of_the_population() -> None:
    tally = Tally()
    wanted = [Decision("mean", "x")] * 4
    tally.add(wanted, [1, -1, 0, 1], [1, 1, 1, -1])
    assert (tally.right, tally.open, tally.false, tally.sessions_with_false) == (1, 1, 2, 1)


def test_an_explorer_asks_what_a_ledger_understands(study: Study) -> None:
    texts = [each.text for each in explorer(study, Rows(study, study.population))]
    assert "difference(avg(delay > 15) where place = 'b', rest)" in texts
    assert "difference(avg(delay > 15) where place = 'b', rest) where month = 2" in texts
    assert "correlation(delay, half)" in texts
    assert len(texts) == 11


def test_holdfast_decides_most_of_what_is_plain_and_nothing_falsely(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(decisions.STUDIES, "made", study)
    tallies = run(study, ROWS, SESSIONS, seed=3)
    ours, by_hand = tallies["Holdfast"], tallies["Bonferroni"]
    assert ours.false == 0
    assert ours.right >= 0.6 * by_hand.right >= 0.6 * 8 * SESSIONS


def test_sabotage_a_rule_that_guesses_signs_is_false(study: Study) -> None:
    def flipped(*facts: object) -> list[int]:
        right = partial(decisions.RULES["naive, 95 % each"], *facts)()  # type: ignore[arg-type]
        return [-sign for sign in right]

    assert run(study, ROWS, 1, seed=3, rules={"flipped": flipped})["flipped"].false >= 8


def test_planned_effects_are_nearly_as_narrow_as_by_hand() -> None:
    frame = decisions.users(6_000, seed=5)
    by_hand, ours = decisions.effects_by_bonferroni(frame), decisions.effects_by_holdfast(frame)
    assert len(ours.widths) == len(by_hand.widths) == 51
    assert np.median(np.array(ours.widths) / np.array(by_hand.widths)) <= 1.3
