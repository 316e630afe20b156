"""The page about statistics: every line runs, every theorem and link exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import holdfast
from holdfast.statistics import call
from holdfast.statistics.averages import MEANS
from holdfast.statistics.bind import TABLES
from holdfast.statistics.registry import STATISTICS
from holdfast.theory.base.theorem import registry

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "statistics.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_every_line_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(block, names)
    holdout = names["holdout"]
    assert isinstance(holdout, holdfast.Holdout)
    assert len(holdout.ledger) > 30
    holdout.close()


def test_every_statistic_is_described() -> None:
    for name in {*STATISTICS, *TABLES}:
        assert f"`{name}(" in PAGE, name


def test_every_statistic_has_one_entry_and_one_name_in_python() -> None:
    several = {*TABLES}  # many answers, which have no entry of their own
    assert {*STATISTICS, *MEANS} - {"avg"} | several == set(call.__all__)
    assert all(callable(getattr(call, name)) for name in call.__all__)
    for name, entry in STATISTICS.items():
        assert entry.name == name
        assert entry.form.startswith(f"{name}(")
        assert entry.arguments[0] <= entry.arguments[1]


def anchors(page: str) -> set[str]:
    """The anchors that headings of a page have."""
    headings = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", PAGE)
    assert len(links) > 20
    for page, anchor in links:
        assert (DOCS / page).exists(), page
        assert not anchor or anchor in anchors(page), f"{page}#{anchor}"


def test_theorems_are_in_the_file_that_the_link_says() -> None:
    linked = re.findall(r"\[((?:`\w+`(?:, )?)+)\]\(theorems\.md#(\w+)py\)", PAGE)
    assert len(linked) > 12
    for names, module in linked:
        for name in re.findall(r"`(\w+)`", names):
            assert registry()[name].module.replace(".", "") == module, name
