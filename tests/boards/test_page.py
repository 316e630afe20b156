"""The page of leaderboards: its example prints what it says, and its table is whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "leaderboards.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "leaderboards.md", "exec"), {})
    told = capsys.readouterr().out.splitlines()
    promised = re.findall(r"print\(board\.submit.*\)  # (.*)$", example, re.MULTILINE)
    assert told[: len(promised)] == promised
    assert (tmp_path / "board.html").is_file()


def test_the_table_has_every_size() -> None:
    table = PAGE.partition("<!-- Made by `python -m benchmarks.boards` -->\n")[2]
    rows = table.partition("<!-- End")[0].splitlines()
    assert len(rows) == 7
    assert all(row.count("|") == 6 for row in rows)
