"""`python -m benchmarks.claims`: how narrow checks and gates are, written into docs/gates.md.

Through the public interface, on attached columns, with default parts of the failure probability.
The last of k checks, none refuted, whose guess is one standard error off: the smallest half-width
that is confirmed. The first of k candidates, and the fourth after three were shown: the smallest
observed difference that is shown, of scores that one program made and of answers that were
submitted by key. Every try is a ledger of its own.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import holdfast
from holdfast.theory.base.safeside import smallest_integer

PAGE = Path(__file__).resolve().parent.parent / "docs" / "gates.md"
START = "<!-- Made by `python -m benchmarks.claims` -->\n"
END = "<!-- End of the claims -->\n"
HEAD = "| what | n = 1,000, k = 100 | aim | n = 5,000, k = 200 | aim |\n|---|---:|---:|---:|---:|\n"
STEP = 1e-4  # half-widths are found to this
SIZES = ((1_000, 100), (5_000, 200))
DIFFERING = 0.05
_EASY = 0.25  # a half-width, of the range, at which every check is confirmed

Column = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figure:
    """A line: what is claimed, whether it comes out at so much, and how much is tried at most.

    Of the rows that differ, one more for the candidate is one less for the incumbent: an observed
    difference goes `in_pairs`.
    """

    name: str
    aims: tuple[float | None, ...]
    comes_out: Callable[[int, int, float], bool]
    most: float = 0.25
    in_pairs: bool = False

    def step(self, rows: int) -> float:
        """What it is found to."""
        return 2 / rows if self.in_pairs else STEP

    def smallest(self, rows: int, count: int) -> float:
        """The smallest number of whole steps that comes out."""
        step = self.step(rows)
        found = smallest_integer(
            lambda steps: self.comes_out(rows, count, steps * step), most=round(self.most / step)
        )
        if found is None:
            raise RuntimeError(f"{self.name}: nothing comes out with {rows:,} rows")
        return found * step


def opened(folder: str, rows: int, **declared: Any) -> holdfast.Holdout:
    """A fresh ledger of items with a label."""
    place = np.arange(rows)
    items = pl.DataFrame({"item": place, "label": place % 3 == 0})
    return holdfast.open(items, ledger=f"{folder}/claims.ledger", key="item", **declared)


def check_comes_out(
    columns: Mapping[str, Column], question: str, guess: float, count: int, tolerance: float
) -> bool:
    """Whether the last of so many checks is confirmed, after easy ones about v1."""
    share, rows = float(np.mean(columns["v1"])), len(columns["v1"])
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(folder, rows, questions=count, tolerance=_EASY) as holdout,
    ):
        for name, values in columns.items():
            holdout.attach(name, values)
        easy = [f"avg(v1 and item >= -{number})" for number in range(1, count)]
        before = holdout.check_many(easy, [share] * len(easy), tolerance=_EASY)
        if any(answer.status != "confirmed" for answer in before):
            raise RuntimeError("an easy check was not confirmed")
        return holdout.check(question, guess=guess, tolerance=tolerance).status == "confirmed"


def share_confirmed(rate: float) -> Callable[[int, int, float], bool]:
    """A share of the rows, by its half-width."""

    def comes_out(rows: int, count: int, half_width: float) -> bool:
        yes = np.arange(rows) < round(rate * rows)
        guess = rate + math.sqrt(rate * (1 - rate) / rows)
        return check_comes_out({"v1": yes}, "avg(v1)", guess, count, half_width)

    return comes_out


def paired_confirmed(rows: int, count: int, half_width: float) -> bool:
    """A difference of two models that are each right on half of the rows where they differ."""
    columns = compared(rows, round(DIFFERING * rows) // 2)
    guess = math.sqrt(DIFFERING / rows)
    question = "difference(v1 = label, v0 = label)"
    # A tolerance is a part of the range, which is 2 for a difference.
    return check_comes_out(columns, question, guess, count, half_width / 2)


def gate_shown(promotions: int, *, scored: bool) -> Callable[[int, int, float], bool]:
    """A candidate after so many others that were shown, by its observed difference."""

    def comes_out(rows: int, count: int, difference: float) -> bool:
        differing = round(DIFFERING * rows)
        better = (differing + round(difference * rows)) // 2
        with (
            tempfile.TemporaryDirectory() as folder,
            opened(folder, rows, candidates=count) as holdout,
        ):
            for place in range(promotions):
                if not _gated(holdout, place, compared(rows, differing, place), scored):
                    raise RuntimeError(f"candidate {place + 1} of {promotions} was not shown")
            return _gated(holdout, promotions, compared(rows, better, promotions), scored)

    return comes_out


def _gated(
    holdout: holdfast.Holdout, number: int, columns: Mapping[str, Column], scored: bool
) -> bool:
    candidate, incumbent = names = [f"candidate{number}", f"incumbent{number}"]
    label = np.arange(len(columns["v1"])) % 3 == 0
    for name, said in zip(names, (columns["v1"], columns["v0"]), strict=True):
        if scored:
            holdout.attach(name, said == label, bounds=bool, digest=f"scores of {name}")
        else:
            holdout.attach(name, said)
    question = f"difference({candidate} = label, {incumbent} = label)"
    if scored:
        question = f"difference({candidate}, {incumbent})"
    return holdout.gate(question, at_least=0).status == "shown"


def compared(rows: int, better: int, shift: int = 0) -> dict[str, Column]:
    """Answers of an incumbent v0, right on half of the rows, and of v1, better on so many of those
    where they differ; another shift means other rows."""
    place = (np.arange(rows) + shift) % rows
    label = np.arange(rows) % 3 == 0
    right = place >= rows // 2
    worse = round(DIFFERING * rows) - better
    changed = (place < better) | (place >= rows - worse)
    v0 = np.where(right, label, ~label)
    return {"v1": np.where(changed, ~v0, v0), "v0": v0}


CHECKS = (
    Figure("check: a share of .5", (0.053, 0.024), share_confirmed(0.5)),
    Figure("check: a share of .1", (0.034, 0.0145), share_confirmed(0.1)),
    Figure("check: a share of .02", (0.018, 0.0072), share_confirmed(0.02)),
    Figure("check: a difference, 5 % of the rows differ", (0.032, 0.014), paired_confirmed),
)
GATES = tuple(
    Figure(name, (aim, None), gate_shown(promotions, scored=scored), DIFFERING, in_pairs=True)
    for name, aim, promotions, scored in (
        ("gate: the first, 5 % of the rows differ", 0.027, 0, True),
        ("gate: after three that were shown", 0.044, 3, True),
        ("gate of answers submitted by key: the first", None, 0, False),
        ("gate of answers submitted by key: after three", None, 3, False),
    )
)


def lines() -> Iterator[str]:
    """The table, a line for each figure."""
    for figure in (*CHECKS, *GATES):
        cells = [figure.name]
        for (rows, count), aim in zip(SIZES, figure.aims, strict=True):
            cells += [f"{figure.smallest(rows, count):.4f}", "" if aim is None else f"{aim:g}"]
        yield f"| {' | '.join(cells)} |\n"


def main() -> None:
    warnings.simplefilter("ignore", holdfast.errors.SecondLedger)  # one table stands for many here
    page = PAGE.read_text(encoding="utf-8")
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    print(HEAD, end="")
    found = []
    for line in lines():
        print(line, end="", flush=True)
        found.append(line)
    PAGE.write_text(f"{before}{start}{HEAD}{''.join(found)}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
