"""How wide answers are at the sizes that people have, beside what they would use instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import holdfast
from benchmarks.page import Line, Scale, Section
from holdfast.mechanisms.terms import Describing

__all__ = ["ROWS", "SECTION", "SIZES", "half_widths"]

SIZES = ((500, 50), (1_000, 100), (5_000, 200), (10_000, 500), (50_000, 500))
NORMAL_95, DISAGREEMENT = 1.959963984540054, 0.05

Width = Callable[[int, int], float | None]


def _one_question(rows: int, _: int) -> float:
    """The normal interval of one proportion at its widest."""
    return NORMAL_95 * 0.5 / math.sqrt(rows)


def _planned(name: str, described: Describing | None = None) -> Width:
    def half_width(rows: int, questions: int) -> float | None:
        plan = holdfast.plan(rows=rows, questions=questions, described=described)
        return plan[name].half_width

    return half_width


def _gated(step: str) -> Width:
    def difference(rows: int, candidates: int) -> float | None:
        plan = holdfast.plan(rows=rows, candidates=candidates, disagreement=DISAGREEMENT)
        found = {each["name"]: each["smallest_difference"] for each in plan.to_dict()["steps"]}
        shown: float | None = found[step]
        return shown

    return difference


ROWS: dict[tuple[str, str], Width] = {
    ("one question, the normal interval", "no"): _one_question,
    ("one look: Bonferroni for k questions fixed beforehand", "no"): _planned("one look"),
    ("sample splitting", "yes"): _planned("sample splitting", "off"),
    ("Dwork et al. 2015", "yes"): _planned("Dwork et al. 2015 (published)"),
    ("Bassily et al. 2016", "yes"): _planned("Bassily et al. 2016 (published)"),
    ("Jung et al. 2020", "yes"): _planned("Jung et al. 2020 (published)"),
    ("Rogers et al. 2020", "yes"): _planned("Rogers et al. 2020 (published)"),
    ("**described**, 15 bits, any number", "yes"): _planned("described, 15 bits"),
    ("**described**, 25 bits, any number", "yes"): _planned("described, 25 bits"),
    ("**described**, 35 bits, any number", "yes"): _planned("described, 35 bits"),
    ("**check**, none refuted", "yes"): _planned("guess and check, 0 wrong guesses"),
    ("**search**, one of 1,000 declared", "yes"): _planned("one of 1,000 declared"),
    ("**ask**, nothing described", "yes"): _planned("bounded noise"),
    ("**gate**, the smallest gain shown at first", "yes"): _gated("at first"),
    ("**gate**, the same after 3 promotions", "yes"): _gated("after 3 promotions"),
}


def half_widths(of: Width, sizes: tuple[tuple[int, int], ...] = SIZES) -> tuple[str, ...]:
    """Rounded up; a dash where nothing would be said."""
    found = (of(*size) for size in sizes)
    return tuple("-" if width is None else f"{math.ceil(width * 1e4) / 1e4:.4f}" for width in found)


def lines(scale: Scale) -> Iterator[Line]:  # noqa: ARG001
    for (name, adaptive), width in ROWS.items():
        yield (name, adaptive, *half_widths(width))


SECTION = Section(
    "widths",
    "Widths at real sizes",
    """
Half-widths of means of values in [0, 1] at 95 % for all answers together, n rows and k questions;
of gates the smallest observed gain, of candidates that differ from the incumbent in 5 % of the
rows. *Adaptive* says whether it holds when questions are chosen after seeing earlier answers; what
does not is a floor, not a rival. A dash says nothing: a half-width of 0.5 or more. All of it is
the planner's, so it is the same on every machine; widths of every statistic on real rows are in
[Statistics](statistics.md).
""",
    ("method", "adaptive", *(f"n = {rows:,}, k = {many}" for rows, many in SIZES)),
    lines,
)
