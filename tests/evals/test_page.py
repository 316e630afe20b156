"""The page of evaluation loops: its example, its story and its figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast import evals
from holdfast.evals.submission import FORMATS
from tests.evals.logs import FILES

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_first_example_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(EXAMPLES[0], "evaluation.md", "exec"), names)
    told = capsys.readouterr().out.splitlines()
    promised = re.findall(
        r"^print\((?:verdict|gate\.incumbent)\)(?:  |\n)# (.*)$", EXAMPLES[0], re.M
    )
    assert told[:2] == promised
    assert "v8 is not worse than main by 0.1 or more" in told[2]
    assert "v7 is better than main where category = 'math'" in told[3]
    assert [line.rsplit(" ", 3)[0] for line in told[4:]] == ["shown"] * 3
    exec(compile(EXAMPLES[1], "evaluation.md", "exec"), names)  # which goes on
    (verdict,) = capsys.readouterr().out.splitlines()
    assert verdict.startswith("promote: v9 is better than v7")
    assert "forecast " in verdict
    exec(compile(EXAMPLES[2], "evaluation.md", "exec"), names)  # errors, which it asserts itself


def test_the_last_example_reads_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "arithmetic.eval").write_bytes((FILES / "inspect.eval").read_bytes())
    names: dict[str, object] = {}
    exec(compile(EXAMPLES[3], "evaluation.md", "exec"), names)
    assert isinstance(names["scores"], evals.ItemScores)
    assert names["scores"].epochs == 1


@pytest.mark.campaign
def test_a_loop_of_300_edits_keeps_no_noise(capsys: pytest.CaptureFixture[str]) -> None:
    """What scores higher is mostly noise, and so is what p < 0.05 keeps; a gate keeps none."""
    from examples import prompts

    higher, significant, gated = prompts.session().values()
    assert higher.false > 10
    assert significant.false > 2
    assert (gated.kept, gated.false) == (3, 0)
    assert higher.believed - higher.truth > 0.03
    told = capsys.readouterr().out.splitlines()
    for rule in ("keep what scores higher", "p < 0.05, each edit", "holdfast.EvalGate"):
        (line,) = [line for line in told if line.startswith(rule)]
        cells = line.removeprefix(rule).split()
        assert f"| {rule} | {' | '.join(cells)} |" in PAGE


def test_the_table_is_the_planners() -> None:
    plan = holdfast.plan(rows=1_000, candidates=100, disagreement=0.05)
    for line in str(plan).splitlines()[4:]:
        cells = re.split(r" {2,}", line.strip())
        assert f"| {' | '.join(cells)} |" in PAGE


@pytest.mark.parametrize(
    ("said", "promoted", "least"),
    [
        ({}, 0, 37),  # 37 won and 13 lost are 0.024 of 1,000 items
        ({}, 3, 45),
        ({"public": ["item"]}, 0, 41),
        ({"public": ["item"]}, 3, 47),
        ({"score": (0, 1)}, 0, 41),
    ],
)
def test_the_smallest_difference_that_is_shown(
    said: dict[str, Any], promoted: int, least: int, tmp_path: Path
) -> None:
    """Of 1,000 items 50 differ: by the sign test where they are alike and right or wrong."""
    items = pl.DataFrame({"item": list(range(1_000))})

    def compared(gate: holdfast.EvalGate, number: int, won: int) -> bool:
        places = np.roll(np.arange(1_000), number)
        gate.submit(f"main{number}", places < 50 - won)
        gate.submit(f"v{number}", (places >= 100) & (places < 100 + won))
        return gate.compare(f"v{number}", f"main{number}").shown

    for won in (least - 1, least):
        gate = holdfast.EvalGate(items, key="item", ledger=tmp_path / f"{won}.ledger", **said)
        assert all(compared(gate, number, 50) for number in range(promoted))
        assert compared(gate, promoted, won) is (won == least)
    aim = 0.027 if not promoted else 0.044
    difference = (2 * least - 50) / 1_000
    assert difference <= aim or said
    assert f"{difference:.3f}" in PAGE


def test_every_format_is_on_the_page() -> None:
    assert all(f"`{name}`" in PAGE for name in FORMATS)
