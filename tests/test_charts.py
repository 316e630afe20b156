"""Charts are really drawn, in every format, without a network."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import InvalidArgument, MissingExtra

pytest.importorskip("altair")
pytest.importorskip("vl_convert")


@pytest.fixture(scope="module")
def plan() -> holdfast.Plan:
    return holdfast.plan(rows=2_000, questions=10)


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


def test_html_needs_no_other_host(plan: holdfast.Plan, tmp_path: Path) -> None:
    plan.chart(str(tmp_path / "plan.html"))
    text = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "vega" in text
    assert 'src="http' not in text


def test_bad_places_get_one_sentence(plan: holdfast.Plan, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"must end in \.html"):
        plan.chart(str(tmp_path / "plan.gif"))
    with pytest.raises(InvalidArgument, match="create it first"):
        plan.chart(str(tmp_path / "no" / "plan.png"))


def test_without_the_extra_it_says_which(
    plan: holdfast.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"holdfast\[charts\]"):
        plan.chart()
