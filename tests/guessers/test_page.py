"""The examples of docs/guessers.md run as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import holdfast.guessers
from holdfast.guessers.guesser import ANALYST, guessers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guessers.md").read_text(encoding="utf-8")


def test_its_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    exec("\n".join(blocks), {})
    said = capsys.readouterr().out
    assert said.startswith("confirmed 0.1")
    assert "1 question answered of 400 declared\n  guesses: 29 checked, 0 not confirmed" in said


def test_every_guesser_is_on_the_page() -> None:
    for name in (ANALYST, *guessers()):
        assert f'`"{name}"`' in PAGE
    for name in holdfast.guessers.__all__:
        assert name in PAGE or name in ("Grounds", "around")
