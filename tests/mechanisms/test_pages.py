"""The pages about median noise, Gaussian noise and auto: they run, and their figures are true."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import holdfast

PAGES = Path(__file__).resolve().parents[2] / "docs" / "mechanisms"


@pytest.mark.parametrize("page", ["median-noise", "gaussian", "auto"])
def test_the_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text("utf-8"), re.S)
    assert blocks
    known: dict[str, object] = {}
    exec("\n".join(blocks), known)
    holdout = known["holdout"]
    assert isinstance(holdout, holdfast.Holdout)
    assert holdout.opening.mechanism["name"] == {"gaussian": "gaussian"}.get(page, "median noise")
    for opened in known.values():
        if isinstance(opened, holdfast.Holdout):
            opened.close()


@pytest.mark.parametrize("questions", [100, 500, 2_000])
def test_the_half_widths_are_the_planners(questions: int) -> None:
    plan = holdfast.plan(rows=20_000, questions=questions, described="off")
    shown = [
        f"{math.ceil((plan[each].half_width or math.nan) * 1e4) / 1e4:.4f}"
        for each in ("bounded noise", "median noise", "gaussian")
    ]
    row = f"| {questions:,} | {' | '.join(shown)} |"
    assert row in (PAGES / "median-noise.md").read_text("utf-8")
    if questions == 2_000:
        text = f"({shown[1]} against {shown[2]} for 2,000"
        assert text in (PAGES / "gaussian.md").read_text("utf-8")
