"""The pages of benchmarks have the shape that their commands write; figures are of a machine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.crowd import Crowd, Desk, predicted, simulated
from benchmarks.measure import side_by_side
from benchmarks.page import PAGE, QUICK, Found, Line, Scale, Section, measured, page
from benchmarks.planned import ROWS, SECTION as WIDTHS, SIZES, half_widths
from benchmarks.run import SECTIONS

from benchmarks import capacity, page as pages


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
        assert section.words.strip() in text
        for head, *lines in found.get(section.title, []):
            assert tuple(head) == tuple(cell.strip() for cell in section.head)
            assert all(len(line) == len(head) for line in lines)
    assert text.count("*Load of the machine ") == sum(map(len, found.values()))


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


def test_what_was_found_is_kept_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "results")
    told: list[str] = []
    found = measured(SECTION, QUICK, told.append)
    assert told == ["| a | 1 |", "Nothing else is here.", "| b | 2 |"]
    assert Found.kept(QUICK.kept("made")) == found
    text = page("# Page", [SECTION], lambda _, large: None if large else found)
    assert text.startswith(
        "# Page\n\n## Made up\n\nWords.\n\n| what | how much |\n|---|---|\n| a | 1 |\n| b | 2 |\n\n"
        "Nothing else is here.\n\n*Load of the machine "
    )


def test_a_section_that_broke_off_keeps_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(scale: Scale) -> Iterator[Line]:
        yield "a", "1"
        raise KeyboardInterrupt

    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    with pytest.raises(KeyboardInterrupt):
        measured(replace(SECTION, lines=broken), QUICK, lambda _: None)
    kept = Found.kept(QUICK.kept("made"))
    assert kept is not None
    assert kept.rows == [["a", "1"]]
    assert "*Not measured in this run.*" in page("# Page", [SECTION], lambda *_: None)


def test_pairs_take_turns_after_one_to_warm_up() -> None:
    calls: list[str] = []
    found = side_by_side(lambda: calls.append("ours"), lambda: calls.append("theirs"), 3)
    assert calls == ["ours", "theirs"] * 4
    assert found.ours.clock >= 0.0


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
