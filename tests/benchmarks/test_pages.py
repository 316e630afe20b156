"""The pages of benchmarks have the shape that their commands write; figures are of a machine."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest
from benchmarks.crowd import Crowd, Desk, predicted, simulated
from benchmarks.measure import Row, in_turns, side_by_side
from benchmarks.page import PAGE, QUICK, USUAL, Found, Line, Scale, Section, kept_page, measured
from benchmarks.planned import ROWS, SECTION as WIDTHS, SIZES, half_widths
from benchmarks.run import SECTIONS, WORDS

from benchmarks import capacity, measure, page as pages, run


def tables(text: str) -> dict[str, list[list[list[str]]]]:
    """The cells of each table, head first, by the heading it is under."""
    found: dict[str, list[list[list[str]]]] = {}
    heading, inside = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            if not inside:
                found.setdefault(heading, []).append([])
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if set("".join(cells)) - set("-:"):
                found[heading][-1].append(cells)
        inside = line.startswith("|")
    return found


def test_the_page_has_every_section_as_it_is_written() -> None:
    text = PAGE.read_text(encoding="utf-8")
    titles = [section.title for section in SECTIONS]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == titles
    assert len({section.name for section in SECTIONS}) == len(titles)
    found = tables(text)
    for section in SECTIONS:
        for head, *lines in found.get(section.title, []):
            assert tuple(head) == tuple(cell.strip() for cell in section.head)
            assert all(len(line) == len(head) for line in lines)


def test_the_page_is_what_is_kept_of_its_sections() -> None:
    assert PAGE.read_text(encoding="utf-8") == kept_page(WORDS, SECTIONS)
    names = {section.name for section in SECTIONS}
    assert {path.stem for path in USUAL.kept("any").parent.glob("*.json")} <= names


@pytest.mark.parametrize("row", [0, 1, 3, 7], ids=lambda row: list(ROWS)[row][0])
def test_the_widths_are_the_planners(row: int) -> None:
    (head, *lines) = tables(PAGE.read_text(encoding="utf-8"))[WIDTHS.title][0]
    (name, adaptive), width = list(ROWS.items())[row]
    assert lines[row] == [name, adaptive, *lines[row][2:]]
    assert half_widths(width, SIZES[1:2]) == (lines[row][3],)
    assert len(lines) == len(ROWS)
    assert len(head) == 2 + len(SIZES)


def _lines(scale: Scale) -> Iterator[Line]:
    yield "a", f"{scale.repeats}"
    yield "Nothing else is here."
    yield "b", "2"


SECTION = Section("made", "Made up", "Words.", ("what", "how much"), _lines)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for what is found, in place of that of the repository."""
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


@pytest.mark.usefixtures("results")
def test_what_was_found_is_kept_and_shown() -> None:
    told: list[str] = []
    found = measured(SECTION, USUAL, told.append)
    assert told == ["| a | 5 |", "Nothing else is here.", "| b | 2 |"]
    assert Found.kept(USUAL.kept("made")) == found
    text = kept_page("# Page", [SECTION])
    assert text.startswith(
        "# Page\n\n## Made up\n\nWords.\n\n| what | how much |\n|---|---|\n| a | 5 |\n| b | 2 |\n\n"
        "Nothing else is here.\n\n*Load of the machine "
    )
    assert "*Not measured yet.*" in kept_page("# Page", [SECTION], QUICK)


@pytest.mark.usefixtures("results")
def test_a_section_that_was_broken_off_keeps_its_lines_and_says_so() -> None:
    def broken(scale: Scale) -> Iterator[Line]:
        yield "a", f"{scale.repeats}"
        raise KeyboardInterrupt

    section = replace(SECTION, lines=broken)
    with pytest.raises(KeyboardInterrupt):
        measured(section, QUICK, lambda _: None)
    text = kept_page("# Page", [section], QUICK)
    assert "| a | 1 |" in text
    assert pages.BROKEN_OFF in text


def test_measuring_one_section_keeps_the_others_and_a_failure_is_told(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    value = "1"

    def fails(scale: Scale) -> Iterator[Line]:
        yield "before", f"{scale.repeats}"
        raise OSError(str(results))

    def numbered(_: Scale) -> Iterator[Line]:
        yield "number", value

    sections = (
        replace(SECTION, name="first", title="First", lines=numbered),
        replace(SECTION, name="bad", title="Bad", lines=fails),
        replace(SECTION, name="last", title="Last", lines=numbered),
    )
    place = results.parent / "page.md"
    monkeypatch.setattr(run, "SECTIONS", sections)
    monkeypatch.setattr(run, "PAGE", place)
    run.main([])
    whole = place.read_text(encoding="utf-8")
    assert [table[0][1:] for table in tables(whole).values()] == [
        [["number", "1"]],
        [["before", "5"]],
        [["number", "1"]],
    ]
    assert "**Bad: failed (OSError), and the rest of it was not measured.**" in whole
    assert str(results) not in whole
    assert sorted(path.name for path in results.iterdir()) == [
        "bad.json",
        "first.json",
        "last.json",
    ]
    value = "2"
    run.main(["--only", "last"])
    again = place.read_text(encoding="utf-8")
    assert again.partition("## Last")[0] == whole.partition("## Last")[0]
    assert tables(again)["Last"][0][1:] == [["number", "2"]]
    told = capsys.readouterr()
    assert "| number | 2 |" in told.err
    assert not told.out


def test_a_group_of_lines_that_fails_does_not_take_the_others_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def imported(name: str) -> object:
        if name.endswith("logs"):
            raise ImportError(name)
        row = Row(name, "nothing", 1.0, 1.0, 2.0)
        return SimpleNamespace(rows=lambda: [row])

    monkeypatch.setattr(run, "import_module", imported)
    (rest,) = (section for section in SECTIONS if section.name == "rest")
    found = list(rest.lines(USUAL))
    assert [line for line in found if isinstance(line, str)] == [
        "**logs: failed (ImportError), and the rest of it was not measured.**"
    ]
    assert "benchmarks.starting" in {line[0] for line in found}


def test_pairs_take_turns_after_one_to_warm_up() -> None:
    calls: list[str] = []
    found = side_by_side(lambda: calls.append("ours"), lambda: calls.append("theirs"), 3)
    assert calls == ["ours", "theirs"] * 4
    assert found.ours.clock >= 0.0


def test_a_turn_that_takes_long_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "PATIENCE", 0.0)
    calls: list[str] = []
    took = in_turns([lambda: calls.append("a"), lambda: calls.append("b")], 5)
    assert calls == ["a", "b"]
    assert [len(times) for times in took] == [1, 1]


@pytest.mark.skipif(not measure.PROCESSES.is_dir(), reason="no /proc, which Linux has")
def test_the_work_of_what_a_process_started_is_seen() -> None:
    code = "sum(range(3_000_000)); input()"
    command = [sys.executable, "-c", f"print(flush=True); {code}"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE) as child:
        assert measure.parent_of(child.pid) == os.getpid()
        assert child.stdout is not None
        child.stdout.readline()
        own = time.process_time()
        before = measure.family_seconds(child.pid) - own
        child.communicate(b"\n")
    ended = measure.family_seconds(os.getpid()) - 2 * time.process_time()
    assert before >= 0.0
    assert ended > 0.0  # a child that ended is with the one that waited for it


def test_the_page_of_capacity_has_every_table() -> None:
    found = tables(capacity.PAGE.read_text(encoding="utf-8"))
    heads = [tuple(head) for each in found.values() for head, *_ in each]
    assert heads == [*capacity.HEADS]
    for each in found.values():
        assert all(len(line) == len(table[0]) for table in each for line in table)


def test_costs_are_found_from_what_they_give() -> None:
    costs = capacity.Costs(0.005, 0.003, 9e-9, 2e-9)
    points = [
        capacity.Point(rows, many, costs.seconds(rows, many))
        for rows in (10**5, 10**6, 10**7)
        for many in (1, 200)
    ]
    found = capacity.fitted(points)
    assert found.first_row == pytest.approx(costs.first_row, rel=1e-6)
    assert found.seconds(10**9, 50) == pytest.approx(costs.seconds(10**9, 50), rel=1e-6)
    desk = found.desk(10**9, 64, 0.0005, most=200)
    scan = 1e9 * (9e-9 + 49 * 2e-9) / 64
    assert desk.batch(50) == pytest.approx(0.001 + 0.005 + 50 * 0.003 + scan, rel=1e-6)


@pytest.mark.parametrize(
    ("crowd", "desk"),
    [
        (Crowd(10, 60.0), Desk(2.0, 0.05)),  # hardly a queue
        (Crowd(100, 60.0), Desk(2.0, 0.05)),  # full, one at a time
        (Crowd(100, 60.0), Desk(2.0, 0.05, most=200)),  # batches
        (Crowd(1_000, 60.0), Desk(60.0, 1.0, most=200)),  # full batches
    ],
    ids=["calm", "full", "batches", "full batches"],
)
def test_the_formula_is_what_the_simulation_finds(crowd: Crowd, desk: Desk) -> None:
    formula, events = predicted(crowd, desk), simulated(crowd, desk, questions=6_000)
    assert formula.throughput == pytest.approx(events.throughput, rel=0.05)
    assert formula.wait == pytest.approx(events.wait, rel=0.1)
    assert formula.throughput <= desk.most / desk.batch(desk.most) * (1 + 1e-12)
    # Without the queue the formula would be wrong wherever the desk has something to do.
    alone = crowd.analysts / (crowd.think + desk.batch(1))
    busy = math.isclose(alone, events.throughput, rel_tol=0.05)
    assert busy is (crowd.analysts == 10 or (desk.fixed == 2.0 and desk.most == 200))


def test_nobody_is_counted_before_a_full_desk_has_its_queue() -> None:
    crowd, desk = Crowd(2_000, 600.0), Desk(60.0, 2.0, most=200)
    events = simulated(crowd, desk, questions=3 * crowd.analysts)
    assert events.wait == pytest.approx(crowd.analysts / events.throughput - crowd.think, rel=0.01)
