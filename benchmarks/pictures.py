"""`python -m benchmarks.pictures`: the pictures of docs/concepts, and the table beside the first.

Worthless ideas are tried on the same rows, in many worlds: how often is the interval false that is
put around the best of them, or around their vote? And how wide is an interval that pays for so many
bits, or nats, beside those that pay for nothing or for a list that was fixed beforehand?
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from holdfast.holdout.charts import drawing_library, save
from holdfast.theory.base.intervals import clopper_pearson

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "concepts"
START, END = "<!-- Made by `python -m benchmarks.pictures` -->\n", "<!-- End of the table -->\n"
ROWS, WORLDS, TRIED = 1_000, 400, (1, 2, 5, 10, 20, 50, 100)
SHOWN = 10_000  # rows of the pictures of widths
BETA, DESCRIBED, LEDGER = 0.05, 0.02, 0.03  # what may fail, and its two parts by default
RED, ORANGE, GREY, GREEN, BLUE = "#c0392b", "#d98200", "#7f7f7f", "#0b6e4f", "#1f77b4"


@dataclass(frozen=True, slots=True)
class FalseIntervals:
    """In which part of the worlds an interval was false after so many ideas."""

    best: float
    vote: float
    vote_corrected: float  # with Bonferroni's interval for all ideas and the vote


def false_intervals(worlds: int = WORLDS, seed: int = 0) -> dict[int, FalseIntervals]:
    """Ideas that know nothing of a label, scored one by one on the same rows; the truth is 1/2."""
    rng = np.random.default_rng(seed)
    most = max(TRIED)
    missed = {count: np.zeros(3) for count in TRIED}
    for _ in range(worlds):
        # +1 where an idea is right, -1 where it is wrong; turned to the side that looks better
        right = rng.integers(0, 2, (most, ROWS), dtype=np.int8) * 2 - 1
        scores = (right.mean(axis=1) + 1) / 2
        turned = right * np.where(scores < 0.5, -1, 1)[:, None]
        for count in TRIED:
            best = float(np.abs(scores[:count] - 0.5).max())
            votes = turned[:count].sum(axis=0) + turned[0] * 0.5  # a tie goes to the first idea
            vote = float(np.mean(votes > 0)) - 0.5
            usual, fixed = (normal_half_width(0.5, ROWS, k) for k in (1, count + 1))
            missed[count] += (best > usual, vote > usual, vote > fixed)
    return {count: FalseIntervals(*(times / worlds)) for count, times in missed.items()}


def normal_half_width(share: float, rows: int, looks: int = 1) -> float:
    """The textbook's half-width of a share; for several looks, Bonferroni's."""
    z = NormalDist().inv_cdf(1 - BETA / looks / 2)
    return z * math.sqrt(share * (1 - share) / rows)


def paid_half_width(rows: int, beta: float, bits: float = 0.0, nats: float = 0.0) -> float:
    """Half the exact interval of a share of 1/2 that pays for a length and for a leakage."""
    low, high = clopper_pearson(rows, rows // 2, math.log(beta) - bits * math.log(2) - nats)
    return (high - low) / 2


def table(found: Mapping[int, FalseIntervals]) -> str:
    """How often an interval was false, as Markdown."""
    lines = [
        "| ideas tried | around the best | around their vote | the vote, corrected for all |",
        "|---:|---:|---:|---:|",
    ]
    for count, part in found.items():
        shown = " | ".join(f"{each:.0%}" for each in (part.best, part.vote, part.vote_corrected))
        lines.append(f"| {count} | {shown} |")
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a picture, with its name beside one of its points."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    named_at: int = -1
    align: str = "left"
    lower: int = 0


def drawn(lines: Sequence[Line], x: Any, y: Any) -> Any:
    """Lines with their names on them: no legend to look up."""
    alt = drawing_library()
    shade = alt.Color("name:N", legend=None)
    shade = shade.scale(domain=[line.name for line in lines], range=[line.colour for line in lines])
    layers = []
    for line in lines:
        points = [{"x": x, "y": y, "name": line.name} for x, y in line.points]
        curve = alt.Chart(alt.Data(values=points)).mark_line(strokeWidth=3)
        place = {"align": line.align, "dx": 8 if line.align == "left" else -8, "dy": line.lower}
        label = alt.Chart(alt.Data(values=[points[line.named_at]]))
        label = label.mark_text(fontSize=15, lineBreak="\n", **place).encode(text="name:N")
        layers += [each.encode(x=x, y=y, color=shade) for each in (curve, label)]
    whole = alt.layer(*layers).properties(width=400, height=260)
    return whole.configure_axis(labelFontSize=14, titleFontSize=15, titleFontWeight="normal")


def picture_of_reuse(found: Mapping[int, FalseIntervals]) -> Any:
    """How often intervals are false, by how many ideas were tried."""
    alt = drawing_library()
    x = alt.X("x:Q", title="ideas tried, all of them worthless").scale(type="log")
    y = alt.Y("y:Q", title="false 95 % intervals").axis(format="%", grid=False)
    vote = [(count, part.vote) for count, part in found.items()]
    best = [(count, part.best) for count, part in found.items()]
    corrected = [(count, part.vote_corrected) for count, part in found.items()]
    lines = (
        Line("around their vote", RED, vote, TRIED.index(20), "right"),
        Line("around the best", BLUE, best, TRIED.index(50), "left", 24),
        Line("the vote, corrected", ORANGE, corrected, TRIED.index(20)),
        Line("what 95 % promises", GREY, [(count, BETA) for count in found], -1, "right", -10),
    )
    return drawn(lines, x.axis(values=list(TRIED), grid=False), y)


def picture_of_bits(most: int = 80) -> Any:
    """How wide an interval is that pays for its question's length."""
    places = [
        (bits, paid_half_width(SHOWN, DESCRIBED, bits=bits)) for bits in range(0, most + 1, 4)
    ]
    return _widths(Line("a text of\nso many bits", GREEN, places), most, "bits of the question")


def picture_of_nats(most: int = 60) -> Any:
    """How wide an interval is after so much has leaked."""
    places = [(nats, paid_half_width(SHOWN, LEDGER, nats=nats)) for nats in range(0, most + 1, 3)]
    return _widths(Line("after so\nmany nats", BLUE, places), most, "nats that have leaked")


def _widths(paid: Line, most: int, title: str) -> Any:
    """Half-widths, beside the two that are false when questions follow answers."""
    alt = drawing_library()
    one, fixed = (normal_half_width(0.5, SHOWN, looks) for looks in (1, 100))
    lines = (
        paid,
        Line("100 questions,\nfixed before", ORANGE, [(0, fixed), (most, fixed)]),
        Line("one question,\none look", GREY, [(0, one), (most, one)]),
    )
    y = alt.Y("y:Q", title=f"half-width of a share, {SHOWN:,} rows").axis(grid=False)
    return drawn(lines, alt.X("x:Q", title=title).axis(grid=False), y)


def main() -> None:
    found = false_intervals()
    page = FOLDER / "reuse.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{START}{table(found)}{END}{after}", encoding="utf-8")
    save(picture_of_reuse(found), FOLDER / "reuse.svg")
    save(picture_of_bits(), FOLDER / "bits.svg")
    save(picture_of_nats(), FOLDER / "nats.svg")


if __name__ == "__main__":
    main()
