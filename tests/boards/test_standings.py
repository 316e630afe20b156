"""Standings: laws of ranks, and what is written of them for people and machines."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from holdfast.boards.history import BoardHistory, Score
from holdfast.boards.metrics import metric_of
from holdfast.boards.standings import Standing, Standings, standings_of
from holdfast.errors import InvalidArgument
from holdfast.ledger.attachments import AttachedColumn
from holdfast.question.bounds import Range
from holdfast.question.expression import ColumnType
from holdfast.theory.base.intervals import Interval
from tests.boards.making import answers, board

ACCURACY = metric_of("accuracy", "label", ColumnType.BOOLEAN, None)
ERROR = metric_of("mean_absolute_error", "label", ColumnType.FLOAT, Range(0.0, 1.0))
NAMES = [f"t{place}/1" for place in range(6)]


def column(name: str) -> AttachedColumn:
    team = name.partition("/")[0]
    return AttachedColumn(name, name, "submitted", name, ColumnType.BOOLEAN, None, "now", team)


@st.composite
def histories(draw: st.DrawFn) -> tuple[dict[str, float], BoardHistory]:
    """True scores, and what a ledger might have said that is true of them."""
    truth = {name: draw(st.integers(0, 100)) / 100 for name in NAMES}
    known = {}
    for name, score in truth.items():
        if draw(st.booleans()):
            below, above = (draw(st.integers(0, 30)) / 100 for _ in range(2))
            known[name] = Score(score, Interval(max(0.0, score - below), min(1.0, score + above)))
    pairs = [(one, two) for one in NAMES for two in NAMES if truth[one] > truth[two]]
    better = frozenset(draw(st.lists(st.sampled_from(pairs), max_size=6)) if pairs else [])
    history = BoardHistory(
        {name: [column(name)] for name in NAMES},
        (NAMES[0],),
        frozenset(),
        better,
        known,
        {},
        frozenset(),
        final=False,
    )
    return truth, history


@given(histories())
def test_ranks_say_nothing_false_whatever_is_known(
    made: tuple[dict[str, float], BoardHistory],
) -> None:
    """No rank is worse than the true one among all, and intervals stay true."""
    truth, history = made
    found = standings_of(history, ACCURACY, (), 100, "all answers together 95 % sure")
    for row in found:
        score = truth[row.submission]
        assert (row.low or 0.0) <= score <= (1.0 if row.high is None else row.high)
        if row.rank is not None:
            assert row.rank <= 1 + sum(other > score for other in truth.values())
    ranks = {row.submission: row.rank for row in found}
    for one, two in history.better:
        assert (ranks[one] or 0) < (ranks[two] or 0)


@given(histories())
def test_less_is_better_is_the_mirror(made: tuple[dict[str, float], BoardHistory]) -> None:
    _, history = made
    mirrored = {
        name: Score(
            1 - (each.value or 0.0), Interval(1 - each.interval.high, 1 - each.interval.low)
        )
        for name, each in history.scores.items()
    }
    flipped = BoardHistory(
        history.submissions,
        history.leaders,
        history.compared,
        history.better,
        mirrored,
        {},
        frozenset(),
        final=False,
    )

    def ranks(found: Standings) -> dict[str, int | None]:
        return {row.submission: row.rank for row in found}

    more = standings_of(history, ACCURACY, (), 100, "")
    less = standings_of(flipped, ERROR, (), 100, "")
    assert ranks(more) == ranks(less)


def test_the_page_and_the_table_hold_names_as_text(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    with board(tmp_path) as found:
        found.submit(answers(0.7, 1), team='=cmd|"x"', name=hostile.replace("/", ""), claim=0.7)
        with pytest.raises(InvalidArgument):
            found.submit([1], team="<img src=x onerror=alert(1)>", name=hostile)
        page = found.export(tmp_path / "board.html").read_text(encoding="utf-8")
        shown = found._repr_html_()
        table = found.export(str(tmp_path / "board.csv")).read_text(encoding="utf-8")
        with pytest.raises(InvalidArgument, match=r"must end in \.html or \.csv"):
            found.export(tmp_path / "board.pdf")
        with pytest.raises(InvalidArgument, match="cannot be written"):
            found.export(tmp_path / "none" / "board.csv")
    assert "&lt;script&gt;" in page
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    for told in (page, shown):
        assert "<script" not in told
        assert "<img" not in told
    (row,) = csv.DictReader(table.splitlines())
    assert row["submission"].startswith("'=cmd")
    assert float(row["low"]) < 0.7 < float(row["high"])


def test_standings_are_frames(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        assert found.standings().to_polars().is_empty()
        found.submit(answers(0.7, 1), team="ada", claim=0.7)
        found.submit(answers(0.9, 2), team="bob")
        standings = found.standings()
    frame = standings.to_polars()
    assert frame["submission"].to_list() == [each.submission for each in standings]
    assert frame["rank"].to_list() == [each.rank for each in standings]
    assert frame.schema["claim"].is_float()
    assert standings.to_pandas()["team"].tolist() == frame["team"].to_list()


def test_an_empty_board_says_so(tmp_path: Path) -> None:
    with board(tmp_path) as found:
        assert str(found.standings()).startswith("Nobody has submitted anything yet.")
        assert "Nobody" in found.export(tmp_path / "b.html").read_text(encoding="utf-8")
        with pytest.raises(InvalidArgument, match="nothing to look at"):
            found.final()
        with pytest.raises(KeyError, match="no submission is called"):
            found.standings()["ada/1"]


def test_a_board_says_what_it_holds_for(tmp_path: Path) -> None:
    """Predictions are submitted by key, so that ranks are those of these items alone."""
    with board(tmp_path) as made:
        found = made.standings()
    assert "for these items, not for others like them" in found.promise
    assert found.promise in str(found)
    assert found.to_dict()["holds_for"] == "these items"
    assert Standings.from_dict(found.to_dict()) == found


def test_ends_of_scores_are_written_beside_the_bounds_of_the_metric() -> None:
    """An error of at most 9.996 where 10 is the worst is not written as 10.00."""
    facts = (1, "ada/1", "ada", "final")
    known = Standing(*facts, 9.5, 9.204, 9.996, None, None, "now", bounds=(0.0, 10.0))
    assert (known.interval, known.score) == ("[9.20, 9.9960]", "9.50")
    assert replace(known, high=None).interval == ">= 9.204"
    assert replace(known, low=None, high=0.999999).interval == "<= 0.999999"
    assert replace(known, low=None, high=None).interval == "-"
