"""Charts are really drawn, in every format, without a network."""

from __future__ import annotations

import html
import math
import re
import struct
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, MissingExtra
from holdfast.holdout.charts import svg_of
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.planner.table import show
from tests.seam import CHART_COLOURS, shown_in_notebooks


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
    plan.chart(str(tmp_path / "plan.svg"), every=True)
    text = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    for name in ("bounded noise", "sample splitting", "one look", "What 2,000 rows can answer"):
        assert name in text


def drawn_lines(picture: Any) -> dict[str, list[dict[str, Any]]]:
    """The points of each line of a plan's picture."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for point in picture.to_dict()["layer"][0]["data"]["values"]:
        lines.setdefault(point["mechanism"], []).append(point)
    return lines


@pytest.fixture(scope="module")
def usual() -> holdfast.Plan:
    return holdfast.plan(rows=20_000, questions=200)


def test_four_lines_have_their_names_at_their_ends(usual: holdfast.Plan) -> None:
    lines = drawn_lines(usual.chart())
    assert list(lines) == [
        "described, 35 bits",
        "guess and check, 1 % wrong guesses",
        "ask, bounded noise",
        "best published, Rogers et al. 2020",
    ]
    (_, _, _, names, *_) = usual.chart().to_dict()["layer"]
    assert names["mark"]["type"] == "text"
    written = {each["mechanism"]: each for each in names["data"]["values"]}
    assert {name: each["questions"] for name, each in written.items()} == {
        name: points[-1]["questions"] for name, points in lines.items()
    }
    scale = usual.chart().to_dict()["layer"][0]["encoding"]["color"]
    assert scale["legend"] is None
    assert len(set(scale["scale"]["range"])) == 4


def test_each_of_the_four_lines_says_what_the_table_says(usual: holdfast.Plan) -> None:
    """At the plan's own number of questions, by what is recommended; the flat one everywhere."""
    layers = usual.chart().to_dict()["layer"]
    (mark,) = layers[-1]["data"]["values"]
    assert (mark["questions"], mark["half-width"]) == (200, usual.half_width)
    assert mark["said"] == f"±{show(usual.half_width or 0.0)} for 200 questions"
    lines = drawn_lines(usual.chart())
    (flat,) = {point["half-width"] for point in lines["described, 35 bits"]}
    assert flat == usual["described, 35 bits"].half_width
    around = [point["half-width"] for point in lines["ask, bounded noise"]]
    assert around == sorted(around)
    assert around[0] < (usual.half_width or 0.0) < around[-1]


def test_names_at_ends_are_never_over_each_other() -> None:
    """Two lines that end at the same height: one name moves, the line does not."""
    picture = holdfast.plan(rows=2_000, tolerance=0.05, surprises=3).chart()
    ends = {name: points[-1]["half-width"] for name, points in drawn_lines(picture).items()}
    assert 1 < ends["described, 35 bits"] / ends["guess and check, 3 wrong guesses"] < 1.03
    layers = picture.to_dict()["layer"]
    low, high = map(math.log, layers[0]["encoding"]["y"]["scale"]["domain"])
    heights = sorted(
        picture.height * (math.log(name["half-width"]) - low) / (high - low)
        for name in layers[3]["data"]["values"]
    )
    assert min(after - before for before, after in pairwise(heights)) > 14


def test_what_is_too_wide_to_decide_is_shaded(usual: holdfast.Plan) -> None:
    for picture in (usual.chart(), usual.chart(every=True)):
        drawn = picture.to_dict()
        assert drawn["layer"][1]["data"]["values"] == [{"low": 0.1, "high": 0.5}]
        assert drawn["layer"][2]["mark"]["text"] == "too wide to decide"
        assert any("above 0.1 of the range" in line for line in drawn["title"]["subtitle"])


def test_what_is_recommended_is_on_a_line() -> None:
    """Where all of the failure probability is for descriptions, that is the one recommended."""
    plan = holdfast.plan(rows=5_000, questions=100, described_share=1.0)
    lines = drawn_lines(plan.chart())
    assert plan.recommended.name == "described, 50 bits"
    assert list(lines) == ["described, 50 bits", "best published, Rogers et al. 2020"]
    declared = holdfast.plan(rows=20_000, questions=200, surprises=5)
    assert "guess and check, 5 wrong guesses" in drawn_lines(declared.chart())


def test_described_questions_are_flat_lines_of_their_own_pot() -> None:
    drawn = holdfast.plan(rows=2_000, questions=10).chart(every=True).to_dict()
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
    drawn = plan.chart(every=True).to_dict()["layer"][0]["encoding"]["color"]["scale"]
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
    colours = panel["layer"][0]["encoding"]["color"]["scale"]
    assert colours["domain"] == [recorded.status]
    assert len(colours["range"]) == 1


def test_html_needs_no_other_host(plan: holdfast.Plan, tmp_path: Path) -> None:
    plan.chart(str(tmp_path / "plan.html"))
    text = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "vega" in text
    assert 'src="http' not in text


def test_scripts_of_a_page_are_put_together_once(
    plan: holdfast.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, script = tmp_path / "plan.html", 'window.alert("</b>");'
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda: script)
    plan.chart(str(page))
    monkeypatch.setattr("vl_convert.javascript_bundle", None)
    first = page.read_text(encoding="utf-8")
    plan.chart(str(page))
    assert page.read_text(encoding="utf-8") == first
    assert f"<script>{script}</script>" in first
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda: "nothing is kept")
    plan.chart(str(page))
    assert "nothing is kept" in page.read_text(encoding="utf-8")


def test_no_text_of_a_chart_ends_its_script(tmp_path: Path) -> None:
    rows = pl.DataFrame({"</script><b>": [True, False] * 500})
    with holdfast.open(rows, ledger=tmp_path / "t.ledger", questions=5, tolerance=0.2) as holdout:
        holdout.check('avg("</script><b>")', guess=0.5)
        holdout.chart(str(tmp_path / "chart.html"))
    text = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert "<b>" in text
    assert "</script><b>" not in text


def test_bad_places_get_one_sentence_before_anything_is_drawn(
    plan: holdfast.Plan, holdout: holdfast.Holdout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late() -> None:
        raise AssertionError("it was drawn")

    monkeypatch.setattr("holdfast.holdout.charts.canvas.drawing_library", too_late)
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
        assert f">{html.escape(recorded.question, quote=False)}<" in drawing
        told = f"{recorded.shown} {recorded.interval}"
        assert f">{told}" in drawing
    assert median.question in drawing
    assert ">share of rows<" in drawing
    assert ">difference of shares<" in drawing
    assert ">a value between 0 and 9<" in drawing

    groups = [answers[:1], answers[1:2], answers[2:]]
    assert [line.question for line in groups[2]] == [median.question]
    for panel, shown in zip(panels, groups, strict=True):
        *zero, intervals, points, _, _ = panel["layer"]
        assert bool(zero) == (shown is groups[1])
        values = points.get("data", panel.get("data"))["values"]
        assert [(each["value"], each["low"], each["high"]) for each in values] == [
            (each.value, *each.interval) for each in shown
        ]
        low, high = intervals["encoding"]["x"]["scale"]["domain"]
        assert low <= min(each.interval.low for each in shown)
        assert high >= max(each.interval.high for each in shown)
        assert low <= 0 <= high or not zero


def test_answers_are_grouped_by_unit_and_read_on_a_phone(tmp_path: Path) -> None:
    """Questions in full, one group after another, what they decide, and no wider than a phone."""
    rows = pl.DataFrame(
        {
            "minutes": [i % 50 for i in range(6_000)],
            "late": [i % 10 < 3 for i in range(6_000)],
            "airport": ["north", "south", "elsewhere"] * 2_000,
        }
    )
    schema = {"minutes": (0, 60), "airport": ["north", "south", "elsewhere"]}
    with holdfast.open(rows, ledger=tmp_path / "t.ledger", schema=schema) as holdout:
        holdout.ask("avg(minutes)")
        holdout.ask("avg(late)")
        holdout.ask("median(minutes)")
        holdout.ask("avg(minutes > 30)")
        holdout.ask("avg(late) where airport = 'elsewhere' and minutes between 10 and 30")
        holdout.ask("difference(avg(late) where airport = 'north', rest)")
        holdout.ask("difference(avg(minutes > 40) where minutes > 30, rest)")
        holdout.ask("difference(avg(minutes) where late, rest)")
        picture = holdout.chart()
    panels = {
        next(
            layer["encoding"]["x"]["title"]
            for layer in panel["layer"]
            if layer["encoding"]["x"].get("title")
        ): list(lines_of(panel))
        for panel in picture.to_dict()["vconcat"]
    }
    assert {title: len(names) for title, names in panels.items()} == {
        "minutes": 2,
        "share of rows": 3,
        "difference of shares": 2,
        "difference of minutes": 1,
    }
    assert panels["share of rows"][0] == "avg(late)"
    assert panels["share of rows"][1].startswith("avg(late) where ")  # beside what it is a part of
    drawing = svg_of(picture)
    assert ">t: 8 answers<" in drawing
    assert "\u2026" not in drawing  # nothing is cut short
    assert " above 0<" in drawing
    assert " cannot tell<" in drawing
    (width,) = re.findall(r'^<svg [^>]*? width="(\d+)"', drawing)
    assert int(width) <= 412


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The one panel of what was claimed, and the panel of differences, by the names of lines."""
    rows = pl.DataFrame(
        {"late": [i % 10 < 3 for i in range(20_000)], "even": [True, False] * 10_000}
    )
    with holdfast.open(rows, ledger=tmp_path_factory.mktemp("c") / "t.ledger") as holdout:
        holdout.check("avg(late)", at_least=0.2)
        holdout.check("avg(even or late)", at_most=0.8)
        holdout.check("avg(even)", guess=0.1)
        holdout.gate("avg(not late)", at_least=0.6, why="model <7>")
        holdout.gate("avg(not even)", at_least=0.9, why="model 8")
        holdout.gate("avg(not even)", at_least=0.8, why="model 8")
        holdout.ask(holdfast.difference("even", "late", better="higher"))
        holdout.ask(holdfast.difference("even", "not even", better="higher"))
        holdout.ask(holdfast.difference("late", "not late", better="higher"))
        picture = holdout.chart()
    claims, differences = picture.to_dict()["vconcat"]
    return {"claims": claims, "differences": differences, "svg": svg_of(picture)}


def lines_of(panel: dict[str, Any]) -> dict[str, dict[str, Any]]:
    data = panel.get("data") or panel["layer"][1]["data"]
    return {point["name"]: point for point in data["values"]}


def test_verdicts_are_coloured(judged: dict[str, Any]) -> None:
    outcomes = [line["outcome"] for line in lines_of(judged["differences"]).values()]
    assert outcomes == ["better", "cannot tell", "worse"]
    scale = judged["differences"]["layer"][1]["encoding"]["color"]["scale"]
    assert scale == judged["claims"]["layer"][0]["encoding"]["color"]["scale"]  # one legend for all
    colours = dict(zip(scale["domain"], scale["range"], strict=True))
    assert set(colours) == {
        *("better", "worse", "cannot tell", "confirmed", "not confirmed", "shown", "not shown")
    }
    assert colours["better"] == colours["shown"] == colours["confirmed"]
    assert len({colours[name] for name in ("better", "worse", "cannot tell", "not shown")}) == 4


def test_what_is_left_open_is_an_arrow(judged: dict[str, Any]) -> None:
    found = lines_of(judged["claims"])
    assert {name: (line["open low"], line["open high"]) for name, line in found.items()} == {
        "avg(late)": (False, True),
        "avg(even or late)": (True, False),
        "avg(even)": (False, False),
        "model <7>": (False, True),
        "model 8 (line 5)": (True, True),
        "model 8 (line 6)": (True, True),
    }
    low, high = judged["claims"]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    shapes = [
        (layer["mark"]["shape"], layer["encoding"]["x"]["datum"], layer["transform"])
        for layer in judged["claims"]["layer"]
        if "shape" in layer["mark"]
    ]
    assert shapes == [
        ("triangle-left", low, [{"filter": "datum['open low']"}]),
        ("triangle-right", high, [{"filter": "datum['open high']"}]),
    ]
    assert not any("shape" in layer["mark"] for layer in judged["differences"]["layer"])


def test_one_sided_bounds_are_said_as_they_were_claimed(judged: dict[str, Any]) -> None:
    found = lines_of(judged["claims"])
    assert found["avg(late)"]["said"] == "confirmed: >= 0.2"
    assert found["avg(late)"]["low"] == pytest.approx(0.2)
    assert found["avg(even or late)"]["said"] == "confirmed: <= 0.8"
    assert found["model <7>"]["said"] == "shown: > 0.6"
    assert found["model 8 (line 5)"]["said"] == "not shown: > 0.9"
    assert found["model 8 (line 5)"]["claimed"] == 0.9
    assert "model &lt;7&gt;" in judged["svg"]
    assert "model <7>" not in judged["svg"]


def test_what_says_nothing_leaves_the_axis_readable(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": [i % 10 for i in range(5_000)]})
    with holdfast.open(rows, ledger=tmp_path / "t.ledger") as holdout:
        told = holdout.ask("avg(clip(x, 0, 1000))")
        holdout.gate("avg(clip(x + 1, 0, 1000))", at_least=500)
        (panel,) = holdout.chart().to_dict()["vconcat"]
        low, high = panel["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert low <= told.interval.low
        assert 500 < high < 600


def test_what_is_just_above_nothing_leaves_the_axis_readable(tmp_path: Path) -> None:
    """What is shown to be better begins a rounding above 0: no axis is drawn of that."""
    rows = pl.DataFrame({"a": [True] * 500, "b": [i % 2 == 0 for i in range(500)]})
    with holdfast.open(rows, ledger=tmp_path / "t.ledger", described="off") as holdout:
        assert holdout.gate("difference(a, b)", at_least=0).status == "shown"
        (panel,) = holdout.chart().to_dict()["vconcat"]
        assert panel["layer"][1]["encoding"]["x"]["scale"]["domain"] == [-1.0, 1.0]  # after zero's


def test_a_notebook_shows_the_picture_without_another_host(
    plan: holdfast.Plan, judged: dict[str, Any]
) -> None:
    shown = shown_in_notebooks(plan.chart())
    assert list(shown) == ["image/svg+xml"]
    for picture in (shown["image/svg+xml"], judged["svg"]):
        assert picture.startswith("<svg")
        assert "<script" not in picture
        assert "src=" not in picture
        assert 'fill="white"' in picture  # a dark page does not shine through
    again = plan.chart().properties(width=300)
    assert list(shown_in_notebooks(again)) == ["image/svg+xml"]  # as changed by its reader
