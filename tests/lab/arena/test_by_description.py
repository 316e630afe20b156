"""Described questions attacked: what their length pays for is needed, and so is what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from holdfast.errors import InvalidArgument
from holdfast.lab.arena.comparison import Run
from holdfast.lab.arena.experiments import Sizes, attacked
from holdfast.lab.arena.studies import beside_description, parities, written_votes
from holdfast.lab.attacks.analysts import WorstParity
from holdfast.lab.world.linear_questions import Parity, Vote, WrittenVote, average
from holdfast.lab.world.populations import Signs
from tests.holdout.tables import opened

ROWS = pl.DataFrame({"late": [place % 5 == 0 for place in range(2_000)]})


def test_three_quarters_of_the_bits_are_not_enough_for_the_worst_parity() -> None:
    honest, twin = parities(run=Run(trials=60)).rows
    assert honest.verdict.word == "holds"
    assert twin.verdict.word == "BROKEN"
    assert (honest.promises, twin.promises) == (True, False)


def test_a_vote_pays_for_every_column_that_is_written() -> None:
    honest, twin = written_votes(run=Run(trials=40)).rows
    assert honest.verdict.word == "holds"
    assert twin.verdict.word == "BROKEN"
    short, long = (written_votes(features=k, run=Run(trials=7)).rows[0] for k in (20, 80))
    assert None not in (short.low, short.high, long.low, long.high)
    assert long.high - long.low > 1.5 * (short.high - short.low)  # type: ignore[operator]


def test_what_was_told_exactly_is_paid_for_by_what_is_asked_later() -> None:
    free, charged, rounded = beside_description(run=Run(trials=12)).rows
    assert free.verdict.word == "BROKEN"
    assert (charged.verdict.word, charged.shown) == ("holds", None)  # the vote is refused
    assert rounded.verdict.word == "holds"
    assert rounded.shown is not None


def test_the_worst_parity_is_the_worst_of_all() -> None:
    rows = Signs(6).draw(101, np.random.default_rng(3))
    values = [abs(average(Parity(chosen, 6), rows) - 0.5) for chosen in range(1, 64)]
    worst = WorstParity(6).of_rows(rows)
    assert abs(average(worst, rows) - 0.5) == max(values)


def test_a_written_vote_is_the_vote_and_as_long_as_its_text() -> None:
    rows = Signs(9).draw(200, np.random.default_rng(5))
    vote = Vote.of({1: 1, 4: 1, 7: 1, 8: 1})
    written = WrittenVote(vote, 9)
    assert written.text == "avg((x1 + x4 + x7 + x8 >= 2) = label)"
    assert average(written, rows) == average(vote, rows)
    assert written.millibits > WrittenVote(Vote.of({1: 1}), 9).millibits > 4_000
    assert Parity(5, 10).millibits == 12_000


@pytest.mark.parametrize(
    ("declared", "names"),
    [
        ({"questions": 60}, ["worst-parity", "sign-attack-by-description"]),
        ({"described_share": 1}, ["worst-parity"]),
        ({"questions": 60, "design": ["late"]}, []),
    ],
)
def test_a_rehearsal_attacks_described_answers_too(
    tmp_path: Path, declared: dict[str, Any], names: list[str]
) -> None:
    with opened(tmp_path, ROWS, described="exact", **declared) as holdout:
        found = holdout.rehearse(trials=7)
    assert found.kept
    assert [
        each.name for each in found.attacks if "parity" in each.name or "by-d" in each.name
    ] == (names)


def test_described_experiments_have_no_mechanism_to_choose() -> None:
    with pytest.raises(InvalidArgument, match="whatever the mechanism"):
        attacked("parities", Sizes(mechanism="median noise"), Run(trials=7))
    with pytest.raises(InvalidArgument, match="features"):
        attacked("parities", Sizes(questions=60), Run(trials=7))
