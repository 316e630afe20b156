"""The experiments in small: naive fails, Holdfast holds, published numbers only at their sizes."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.comparison import Experiment, Run
from holdfast.lab.arena.experiments import (
    EXPERIMENTS,
    Sizes,
    attacked,
    dependent_data,
    fingerprinting,
    heavy_tails,
    leaderboard,
    log_odds_vote,
    reusable_holdout,
    snowball,
)
from holdfast.lab.attacks.roster import ATTACKS

FAST = Run(trials=9)


def judged(experiment: Experiment) -> dict[str, bool | None]:
    return {row.holder: row.holds for row in experiment.rows}


@pytest.mark.statistical
def test_reusable_holdout() -> None:
    found = reusable_holdout(1_000, 400, 60, tolerance=0.2, run=FAST)
    assert judged(found) == {
        "plain holdout": False,
        "thresholdout": None,
        "Holdfast check against training": True,
    }
    plain, thresholdout, holdfast = (row.shown or 0.0 for row in found.rows)
    assert plain > thresholdout > 0.5  # its noise and threshold are made for ten times the rows
    assert abs(holdfast - 0.5) < 0.06 < plain - 0.5
    assert {row.answered for row in found.rows} == {401}


@pytest.mark.campaign  # without a signal it stays
@pytest.mark.statistical
def test_reusable_holdout_with_signal() -> None:
    found = reusable_holdout(1_000, 200, 40, signal=True, tolerance=0.2, run=FAST)
    plain, _, holdfast = found.rows
    assert holdfast.holds
    assert plain.truth is not None
    assert holdfast.truth is not None
    assert min(plain.truth, holdfast.truth) > 0.52  # the signal is found
    assert (plain.shown or 0.0) > plain.truth + 0.04


@pytest.mark.statistical
def test_log_odds_vote() -> None:
    found = log_odds_vote(1_500, 0.15, 150, run=FAST)
    answered = {row.holder: row.answered for row in found.rows}
    assert judged(found)["plain holdout"] is False
    assert all(row.holds for row in found.rows if row.promises)
    assert answered["sample splitting"] < answered["sample splitting (binomial)"]
    assert answered["sample splitting (binomial)"] < answered["Holdfast ask"]
    assert answered["Holdfast ask"] < answered["Holdfast check against 0.5"]


@pytest.mark.statistical
def test_leaderboard() -> None:
    found = leaderboard(1_000, 150, run=FAST)
    assert judged(found) == {
        "rounded to 5 digits": False,
        "rounded to 2 digits": False,
        "ladder": None,
        "parameter-free ladder": None,
        "Holdfast ask": True,
    }
    exact, free = found.row("rounded to 5 digits"), found.row("parameter-free ladder")
    assert exact.shown is not None
    assert free.shown is not None
    assert 0.5 < free.shown < exact.shown


@pytest.mark.statistical
def test_fingerprinting() -> None:
    found = fingerprinting(400, 2_000, 300, 60, run=FAST)
    assert list(judged(found).values()) == [False, False, True]


@pytest.mark.statistical
def test_snowball() -> None:
    found = snowball(100, (1.0, 0.8), run=Run(trials=12))
    assert judged(found) == {"Holdfast ask": True, "Holdfast ask, scaled by 0.8": False}


@pytest.mark.statistical
def test_dependent_data() -> None:
    found = dependent_data(40, 3_000, 20, 8_000, run=FAST)
    assert [row.holds for row in found.rows] == [False, False, True, False] * 2


@pytest.mark.statistical
def test_heavy_tails() -> None:
    assert list(judged(heavy_tails(500, 80, run=FAST)).values()) == [False, True]


def test_published_numbers_stand_only_beside_their_own_sizes() -> None:
    one = Run(trials=1)
    small = [
        reusable_holdout(300, 50, 10, tolerance=0.3, run=one),
        log_odds_vote(600, 0.2, 30, run=one),
        leaderboard(500, 20, run=one),
    ]
    assert all(row.published is None for found in small for row in found.rows)
    full = leaderboard(run=one)
    assert [row.published for row in full.rows] == [0.573, None, None, 0.516, None]
    assert all(row.holds is None for row in full.rows)  # one trial tells nothing


def test_a_published_number_is_of_one_mechanism() -> None:
    with patch("holdfast.lab.arena.experiments.run_cells", lambda _, __, cells, ___: cells):
        for mechanism, published in (("bounded noise", [0.0, 0.97]), ("rounding", [None, None])):
            cells: Any = snowball(mechanism=mechanism)
            assert [cell.published for cell in cells] == published


def test_progress_runs_through_all_holders() -> None:
    seen: list[tuple[int, int]] = []
    heavy_tails(50, 5, run=Run(trials=2, progress=lambda done, all_: seen.append((done, all_))))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_every_experiment_and_attack_has_a_name_of_its_own_and_a_line() -> None:
    assert len(EXPERIMENTS) == 16
    assert not EXPERIMENTS.keys() & ATTACKS.keys()
    said = {name: kind.description for name, kind in EXPERIMENTS.items()}
    said |= {name: kind.description for name, kind in ATTACKS.items()}
    for name, description in said.items():
        assert name == name.lower()
        assert " " not in name
        assert description.endswith(".")


def test_sizes_are_passed_on_or_refused() -> None:
    one = Run(trials=1)
    found = attacked("leaderboard", Sizes(rows=300, questions=21, mechanism="median noise"), one)
    assert found.description.startswith("300 rows, 20 random submissions")
    assert found.rows[-1].holder == "Holdfast ask by median noise"
    assert found.rows[-1].answered == 21
    with pytest.raises(InvalidArgument, match="dependent-data has no rows"):
        attacked("dependent-data", Sizes(rows=300), one)
    with pytest.raises(InvalidArgument, match="needs at least 3"):
        attacked("leaderboard", Sizes(questions=2), one)
    with pytest.raises(InvalidArgument, match="did you mean 'sign-attack'"):
        attacked("sign-atack", Sizes(), one)
