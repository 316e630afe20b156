"""The generated pages are up to date, and their figures are the planner's and the demo's."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docs import held

import holdfast
from benchmarks import pictures
from holdfast.lab.pages.report import showcase
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.theory.base.theorem import NOTE_KINDS, registry

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", held.names())
def test_the_examples_of_a_page_print_what_it_shows(name: str) -> None:
    assert held.held(name) == (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_every_guide_has_examples_that_run() -> None:
    for folder in ("concepts", "how-to"):
        for page in (ROOT / "docs" / folder).glob("*.md"):
            assert "```python\n" in page.read_text(encoding="utf-8"), page.name
            assert page.relative_to(ROOT / "docs").as_posix() in (*held.names(), *held.ELSEWHERE)


def test_a_page_holds_what_its_examples_print() -> None:
    """Wrong digits are put right, whatever else is on the page stays, and failures are raised."""
    page = (
        "# A page\n\n```python\nx = 2\n# a remark\nx + 1\n# {}\nprint('a')\nfor y in 'b':\n"
        "    print(y)\n# {}\n```\n\n```console\n$ holdfast mechanisms {}\n[exit code 2]\n```\n\n"
        "```\nnot run\n```\n"
    )
    refusal = (
        "nothing\nholdfast: mechanism is 'nothing', which is not in the catalogue; "
        "see: holdfast\n  mechanisms"
    )
    assert held.ran(page.format("4", "c", "nothing")) == page.format("3", "a\n# b", refusal)
    with pytest.raises(ZeroDivisionError):
        held.ran("```python\n1 / 0\n```")


def test_the_table_of_false_intervals_is_what_re_use_comes_to() -> None:
    page = (ROOT / "docs" / "concepts" / "reuse.md").read_text(encoding="utf-8")
    found = pictures.false_intervals()
    assert pictures.table(found) in page
    assert found[1].best < 0.1  # one idea is one look
    assert found[100].vote_corrected == 1.0


def test_the_notes_on_the_source_documents_are_all_on_their_page() -> None:
    page = (ROOT / "docs" / "source-notes.md").read_text(encoding="utf-8")
    notes = {note for entry in registry().values() for note in entry.notes}
    assert len(notes) >= 37
    for note in notes:
        assert f"**{note.place}**: {NOTE_KINDS[note.kind]}" in page
        assert note.right in page


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_every_mechanism_has_a_page_with_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "mechanisms" / f"{name.replace(' ', '-')}.md").read_text("utf-8")
    assert page.lower().startswith(f"# {name}\n")
    promised = CATALOGUE[name].theorem is not None
    assert ("**No promise.**" in page) is not promised
    for option in CATALOGUE[name].options:
        assert f"`{option}" in page
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert examples
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}  # an example may go on where the one before it ended
    for example in examples:
        exec(compile(example, f"{name}.md", "exec"), names)


@pytest.mark.parametrize(
    ("described", "rows"),
    [
        (
            None,
            [
                tuple(f"described, {bits} bits" for bits in (15, 25, 35, 50)),
                tuple(f"guess and check, {refuted} wrong guesses" for refuted in (0, 5, 50)),
                ("Rogers et al. 2020 (published)", "Jung et al. 2020 (published)"),
                ("one look",),
            ],
        ),
        ("off", [("median noise",), ("gaussian", "bounded noise"), ("sample splitting",)]),
    ],
)
def test_the_half_widths_of_the_page_are_the_planners(
    described: Any, rows: list[tuple[str, ...]]
) -> None:
    page = (ROOT / "docs" / "planner.md").read_text(encoding="utf-8")
    plan = holdfast.plan(rows=163_673, questions=500, described=described)
    for row in rows:
        widths = [plan[name].half_width or math.nan for name in row]
        assert " / ".join(f"{math.ceil(width * 1e4) / 1e4:.4f}" for width in widths) in page
    if described is None:
        assert plan.recommended.name == "bounded noise"
        assert f"**{math.ceil((plan.half_width or 0) * 1e4) / 1e4:.4f}**" in page


def test_the_picture_of_re_use_is_the_demos() -> None:
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    picture = (ROOT / "docs" / "reuse.svg").read_text(encoding="utf-8")
    table = page.partition("| who answers |")[2].partition("\n\n")[0].splitlines()[2:]
    for row, line in zip(showcase().rows, table, strict=True):
        found = row.verdict
        assert f"{found.failures} of {found.trials}" in line
        assert f"{row.answered:,.0f}" in line
        assert row.holder in picture
        if row.shown is not None and row.low is not None and row.high is not None:
            assert f"| {row.shown:.3f} | [{row.low:.3f}, {row.high:.3f}] |" in line


def test_how_it_works_names_files_that_are_there() -> None:
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", page)
    assert len(named) > 15
    for path in named:
        assert (ROOT / "src" / "holdfast" / path).is_file() or (ROOT / path).is_file(), path
