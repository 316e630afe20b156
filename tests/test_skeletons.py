"""The skeletons work: what CONTRIBUTING.md says is done to a copy of the project, and suites pass.

A step is written "Copy `skeletons/...` to `...`", or "In `file`, under `line`" with the lines to
add, or a command to run.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", PAGE, re.DOTALL | re.MULTILINE))
MOST_FILES = 3
# What is left out of a suite here, for it takes most of the time and finds what the rest finds.
LEFT_OUT = {"An engine": ["-k", "not interpreter and not half_steps"]}


@dataclass(frozen=True)
class Lines:
    """Lines to add to a file, under the only line that reads so."""

    file: str
    under: str
    text: str


def copies(section: str) -> dict[str, str]:
    """Where each skeleton is copied to."""
    return {
        to: skeleton for skeleton, to in re.findall(r"`(skeletons/\S+)`\s+to\s+`(\S+)`", section)
    }


def additions(section: str) -> list[Lines]:
    found, file = [], ""
    step = re.compile(r"(?:In `(\S+)`, )?under `([^`]+)`[^`]*?\n```diff\n(.*?)```", re.DOTALL)
    for named, under, text in step.findall(section):
        file = named or file
        found.append(Lines(file, under, re.sub(r"^\+", "", text, flags=re.MULTILINE)))
    return found


def commands(section: str) -> list[list[str]]:
    """What is run: the pages that it names are written anew, not all, and then its tests."""
    pages = re.findall(r"`docs/([a-z-]+\.md)`", section) if "`make docs`" in section else []
    made = [["docs/generate.py", *pages]] if pages else []
    return made + [shlex.split(each) for each in re.findall(r"`python (-m pytest [^`]+)`", section)]


def add(lines: Lines, root: Path) -> None:
    path = root / lines.file
    there = path.read_text(encoding="utf-8").splitlines(keepends=True)
    places = [place for place, line in enumerate(there, 1) if line.strip() == lines.under]
    assert len(places) == 1, f"{lines.file} has {lines.under!r} {len(places)} times"
    there.insert(places[0], lines.text)
    path.write_text("".join(there), encoding="utf-8")


def run(words: list[str], root: Path) -> None:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=root,
        env={"PYTHONPATH": str(root / "src"), "HOME": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]


@pytest.mark.campaign  # they run suites
@pytest.mark.parametrize("name", SECTIONS)
def test_one_is_added_in_three_files(name: str, tmp_path: Path) -> None:
    section = SECTIONS[name]
    for folder in ("src", "tests", "docs", "benchmarks"):  # with what is compiled: it saves seconds
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tmp_path)
    for to, skeleton in copies(section).items():
        assert not (tmp_path / to).exists()
        shutil.copy(ROOT / skeleton, tmp_path / to)
    for lines in additions(section):
        add(lines, tmp_path)
    touched = {*copies(section), *(lines.file for lines in additions(section))}
    assert 2 <= len(touched) <= MOST_FILES
    *made, tests = commands(section)
    for words in (*made, [*tests, *LEFT_OUT.get(name, [])]):
        run(words, tmp_path)


def test_every_skeleton_is_used() -> None:
    used = {skeleton for section in SECTIONS.values() for skeleton in copies(section).values()}
    there = {f"skeletons/{path.name}" for path in (ROOT / "skeletons").iterdir() if path.is_file()}
    assert used == there
