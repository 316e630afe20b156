"""Charts are really drawn, in every format, without a network."""

from __future__ import annotations

import html
import struct
import sys
from pathlib import Path

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, MissingExtra
from holdfast.mechanisms.catalogue import CATALOGUE
from tests.seam import CHART_COLOURS


@pytest.fixture(scope="module")
def plan() -> holdfast.Plan:
    return holdfast.plan(rows=2_000, questions=10, described="off")


def test_png(plan: holdfast.Plan, tmp_path: Path) -> None:
    plan.chart(str(tmp_path / "plan.png"))
    picture = (tmp_path / "plan.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 800
    assert height > 500


def test_svg_names_every_line(plan: holdfast.Plan, tmp_path: Path) -> None:
    plan.chart(str(tmp_path / "plan.svg"))
    text = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    for name in ("bounded noise", "sample splitting", "one look", "What 2,000 rows can answer"):
        assert name in text


def test_described_questions_are_flat_lines_of_their_own_pot() -> None:
    drawn = holdfast.plan(rows=2_000, questions=10).chart().to_dict()
    points = drawn["layer"][0]["data"]["values"]
    for name, many in (("described, 25 bits", False), ("bounded noise", True)):
        widths = {point["half-width"] for point in points if point["mechanism"] == name}
        assert (len(widths) > 1) is many
    (flat,) = {p["half-width"] for p in points if p["mechanism"] == "described, 50 bits"}
    assert flat == holdfast.plan(rows=2_000, questions=10)["described, 50 bits"].half_width
    assert not any(point["mechanism"] == "median noise" for point in points)


def test_more_lines_than_colours_are_drawn_too(
    plan: holdfast.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mechanism that nobody has chosen a colour for gets one: no line is a reason to fail."""
    monkeypatch.setattr(CHART_COLOURS, {})
    drawn = plan.chart().to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert len(drawn["domain"]) == len(drawn["range"]) > 8
    assert set(CATALOGUE) & set(drawn["domain"])


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_answers_of_every_mechanism_are_drawn(name: str, tmp_path: Path) -> None:
    rows = pl.DataFrame({"even": [True, False] * 10_000})
    kind = CATALOGUE[name]
    with holdfast.open(
        rows,
        ledger=tmp_path / "t.ledger",
        mechanism=name,
        questions=5,
        options={"better": "higher"} if "better" in kind.options else None,
        train=pl.DataFrame({"even": [True, False] * 50}) if kind.trained else None,
    ) as holdout:
        holdout.ask_many(["avg(even)"])
        (panel,) = holdout.chart().to_dict()["vconcat"]
        (recorded,) = holdout.ledger
    colours = panel["layer"][-1]["encoding"]["color"]["scale"]
    assert recorded.status in colours["domain"]
    assert len(colours["domain"]) == len(colours["range"])


def test_html_needs_no_other_host(plan: holdfast.Plan, tmp_path: Path) -> None:
    plan.chart(str(tmp_path / "plan.html"))
    text = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "vega" in text
    assert 'src="http' not in text


def test_bad_places_get_one_sentence_before_anything_is_drawn(
    plan: holdfast.Plan, holdout: holdfast.Holdout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late() -> None:
        raise AssertionError("it was drawn")

    monkeypatch.setattr("holdfast.holdout.charts.drawing_library", too_late)
    for chart in (plan.chart, holdout.chart):
        with pytest.raises(InvalidArgument, match=r"must end in \.html"):
            chart(str(tmp_path / "plan.gif"))
        with pytest.raises(InvalidArgument, match="create it first"):
            chart(str(tmp_path / "no" / "plan.png"))


def test_without_the_extra_it_says_which(
    plan: holdfast.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"holdfast\[charts\]"):
        plan.chart()


def test_what_was_asked_is_drawn_by_range(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": [i % 10 for i in range(5_000)], "even": [True, False] * 2_500})
    with holdfast.open(
        rows, ledger=tmp_path / "t.ledger", tolerance=0.1, described="off"
    ) as holdout:
        with pytest.raises(InvalidArgument, match="nothing to draw"):
            holdout.chart()
        holdout.ask("avg(even)")
        holdout.ask("difference(clip(x, 0, 1), even)")
        median = holdout.ask(holdfast.median("x", bounds=(0, 9)))
        panels = holdout.chart(str(tmp_path / "t.svg")).to_dict()["vconcat"]
        answers = list(holdout.ledger)
    drawing = (tmp_path / "t.svg").read_text(encoding="utf-8")
    for recorded in answers:
        assert html.escape(f"{recorded.number}. {recorded.question}", quote=False) in drawing
    assert median.question in drawing
    assert ">value with its interval, range 0 to 9<" in drawing
    assert ">value with its interval, range 0 to 1<" in drawing
    assert ">value with its interval, range -1 to 1<" in drawing

    groups = [answers[:1], answers[1:2], answers[2:]]
    assert [line.question for line in groups[2]] == [median.question]
    for panel, shown in zip(panels, groups, strict=True):
        *zero, intervals, points = panel["layer"]
        assert bool(zero) == (shown is groups[1])
        values = points.get("data", panel.get("data"))["values"]
        assert [(each["value"], each["low"], each["high"]) for each in values] == [
            (each.value, *each.interval) for each in shown
        ]
        low, high = intervals["encoding"]["x"]["scale"]["domain"]
        assert low <= min(each.interval.low for each in shown)
        assert high >= max(each.interval.high for each in shown)
        assert low <= 0 <= high or not zero
