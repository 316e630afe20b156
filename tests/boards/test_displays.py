"""Displays: what is drawn of standings and of a gate, and the word where matplotlib is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import MissingExtra
from tests.boards.axes import Axes
from tests.boards.making import answers, board, table


def test_standings_are_drawn_as_intervals_with_open_ends(tmp_path: Path) -> None:
    axes = Axes()
    with board(tmp_path) as found:
        base = found.submit(answers(0.7, 1), team="host", claim=0.7)
        found.submit(answers(0.9, 2), team="ada")
        found.submit(answers(0.9, 3), team="bob")
        display = holdfast.evals.StandingsDisplay.from_board(found, axes)
    assert (display.ax_, display.figure_) == (axes, axes.figure)
    (ticks,) = axes.calls("set_yticks")
    assert ticks[1] == ["1  ada/1", "2  host/1", "–  bob/1"]
    assert axes.calls("hlines") == [(0, base.low, base.high), (1, base.low, base.high)]
    assert [mark for _, _, mark in axes.calls("plot")] == [">", "o"]
    short = holdfast.evals.StandingsDisplay(display.standings).plot(Axes(), most=1)
    assert short.ax_.calls("set_yticks")[0][1] == ["1  ada/1"]


def gate_of(folder: Path) -> holdfast.EvalGate:
    gate = holdfast.EvalGate(
        table(600).select("item"), key="item", ledger=folder / "g.ledger", candidates=5
    )
    for name, right in (("v1", 300), ("v2", 420), ("v3", 425)):
        gate.submit(name, [place < right for place in range(600)])
    gate.promote("v1")
    for name in ("v2", "v3"):
        gate.promote_if_better(name)
    return gate


def test_the_history_of_a_gate_is_drawn_as_steps(tmp_path: Path) -> None:
    axes, gate = Axes(), gate_of(tmp_path)
    display = holdfast.evals.GateDisplay.from_gate(gate, axes)
    assert display.ax_ is axes
    (steps,) = axes.calls("step")
    assert steps == ([0, 1, 2], [0, 1, 1])
    assert [words[0] for words in axes.calls("annotate")] == ["v2 against v1"]
    gate.holdout.close()


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with board(tmp_path) as found, pytest.raises(MissingExtra, match=r"holdfast\[plots\]"):
        holdfast.evals.StandingsDisplay.from_board(found)
    with pytest.raises(MissingExtra, match=r"holdfast\[plots\]"):
        holdfast.evals.GateDisplay([]).plot()


def test_both_draw_on_new_axes_of_matplotlib(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    with board(tmp_path) as found:
        found.submit(answers(0.7, 1), team="host", claim=0.7)
        found.submit(answers(0.9, 2), team="ada")
        standings = holdfast.evals.StandingsDisplay.from_board(found)
    gate = gate_of(tmp_path)
    history = holdfast.evals.GateDisplay.from_gate(gate)
    gate.holdout.close()
    for name, drawn in (("standings", standings), ("gate", history)):
        drawn.figure_.savefig(tmp_path / f"{name}.png", bbox_inches="tight")
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
