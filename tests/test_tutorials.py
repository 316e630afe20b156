"""Tutorials are runs of notebooks: each is run again, and its page compared digit for digit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs import tutorials
from docs.tutorials import NOTEBOOKS, Tutorial, cells, run

from holdfast.sklearn.candidates import parameter_places

pytestmark = pytest.mark.long

(SEARCHING,) = (path for path in NOTEBOOKS if path.stem == "choose_a_model")
SMALL = """# read by tools alone
# %% [markdown]
# # A small one
#
# With text.

# %%
import altair
import holdfast
import polars as pl

rows = pl.DataFrame({"x": [i / 1_000 for i in range(1_000)]})
ds = holdfast.open(rows, name="small", schema={"x": (0, 1)}, described="off", ledger="s.ledger")
print("printed " * 20)
print("a table  " * 20)
ds.ask("avg(x)", tolerance=0.2)

# %%
pl.DataFrame({"a|b": [1, None], "width": [0.25, 1234.0]})

# %% What is seen
altair.Chart(altair.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")

# %%
# !holdfast ask s "avg(x)"
"""


@pytest.mark.parametrize(
    "notebook", [path for path in NOTEBOOKS if path != SEARCHING], ids=lambda path: path.stem
)
def test_a_tutorial_is_what_its_notebook_shows(notebook: Path) -> None:
    stale = list(run(notebook).stale())
    assert not stale, f"out of date: {', '.join(stale)}; run `make docs`"


def test_the_searches_of_a_tutorial_find_what_its_page_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the winners alone scored, 2 trees and not 400: all else is as on the page."""
    page = (tutorials.FOLDER / "choose-a-model.md").read_text(encoding="utf-8")
    (declared,) = re.findall(r"^space = (\{.*?^\})$", page, re.MULTILINE | re.DOTALL)
    space = parameter_places(eval(declared), points=1)
    winners = map(eval, re.findall(r"^\{'max_depth.*$", page, re.MULTILINE))
    places = [space.place_of(winner) for winner in winners]
    assert (space.size, len(places)) == (200, 2)
    tried = iter(places)

    def numbers(size: int, n_iter: None, random_state: None) -> list[int]:
        return [next(tried)]

    monkeypatch.setattr("holdfast.sklearn.holdout_search.configuration_numbers", numbers)
    assert list(run(SEARCHING).stale()) == ["tutorials/choose-a-model-1.svg"]  # a dot for each tree


def test_the_step_of_a_workflow_is_that_of_the_example() -> None:
    page = (tutorials.FOLDER / "gate-a-prompt-loop.md").read_text(encoding="utf-8")
    (step,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    example = SEARCHING.parent.parent / "github-actions-gate.yml"
    assert step in example.read_text(encoding="utf-8")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tutorial:
    monkeypatch.setattr(tutorials, "FOLDER", tmp_path)
    monkeypatch.setattr(tutorials, "svg_of", lambda _: "<svg/>")  # drawing takes a second
    notebook = tmp_path / "a_small_one.py"
    notebook.write_text(SMALL)
    return run(notebook)


def test_a_page_has_text_code_and_what_each_cell_shows(small: Tutorial) -> None:
    assert small.name == "a-small-one"
    note, text, code, printed, value, _, frame, _, picture, command, source = small.parts
    assert note.startswith("<!-- Made by")
    assert text == "# A small one\n\nWith text."
    assert code.startswith("```python\nimport altair\n")
    fence, first, second, row, _ = printed.splitlines()
    assert fence == "```text"
    assert max(len(first), len(second)) <= 84
    assert f"{first}{second}".split() == ["printed"] * 20
    assert row == ("a table  " * 20).rstrip()
    assert "all answers together 95 % sure" in value
    assert frame == "| a\\|b | width |\n| --- | --- |\n| 1 | 0.25 |\n|  | 1,234 |"
    assert picture == "![What is seen](a-small-one-1.svg)"
    asked, refused, *_, code = command.splitlines()[1:-1]
    assert asked == '$ holdfast ask s "avg(x)"'
    assert refused.startswith("holdfast: the ledger was opened for a table in memory")
    assert code == "[exit code 2]"
    assert "a_small_one.py" in source


def test_noise_is_the_same_in_every_run(small: Tutorial, tmp_path: Path) -> None:
    assert run(tmp_path / "a_small_one.py").text == small.text


def test_a_changed_digit_and_a_changed_picture_are_found(small: Tutorial, tmp_path: Path) -> None:
    assert list(small.stale()) == ["tutorials/a-small-one-1.svg", "tutorials/a-small-one.md"]
    small.write()
    assert not list(small.stale())
    page = tmp_path / "a-small-one.md"
    page.write_text(page.read_text(encoding="utf-8").replace("0.25", "0.26"))
    assert list(small.stale()) == ["tutorials/a-small-one.md"]
    (tmp_path / "a_small_one.py").write_text(SMALL.replace('{"x": 1}', '{"x": 2}'))
    assert list(run(tmp_path / "a_small_one.py").stale()) == [
        "tutorials/a-small-one-1.svg",
        "tutorials/a-small-one.md",
    ]


def test_cells_begin_at_their_marks_and_nowhere_else() -> None:
    first, second = cells("import this\n# %%\nx = '  # %% no mark'\n# %% [markdown]\n# text")
    assert (first.source, first.is_text) == ("x = '  # %% no mark'", False)
    assert (second.source, second.is_text) == ("# text", True)
