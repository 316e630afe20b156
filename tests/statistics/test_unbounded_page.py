"""The page about questions without a range runs, as it is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.holdout.tables import same_secret

PAGE = Path(__file__).resolve().parents[2] / "docs" / "unbounded.md"


def test_every_line_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    same_secret(monkeypatch)
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 6
    for example in examples:
        exec(compile(example, "unbounded.md", "exec"), names)
