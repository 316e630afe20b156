"""Plans are played: every row is opened at the half-width it says, and keeps it to the end.

For means of numbers, at their most spread out, and for conditions that hold for half of the rows.
What was published by others has nobody to play it; a description says how wide conditions are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.mechanisms.catalogue import CATALOGUE
from holdfast.planner.table import Option, Plan

What = Literal["numbers", "conditions"]
SIZES = [*product((300, 1_000, 4_000, 20_000), (2, 5, 9, 14, 20))]
PRIVATE = ("private laplace", "private gaussian")
ROUNDED = 1 + 1e-9
LEDGERS = count()


@cache
def table(rows: int, many: int = 40) -> pl.DataFrame:
    """Columns of 0 and 1, half of each: as numbers, and as conditions."""
    rng = np.random.default_rng(rows)
    columns = {
        f"x{place}": rng.permutation(np.arange(rows) % 2).astype(float) for place in range(many)
    }
    return pl.DataFrame({"item": np.arange(rows), **columns})


def schema(many: int = 40) -> dict[str, Any]:
    return {f"x{place}": (0.0, 1.0) for place in range(many)}


def question(what: What, place: int) -> str:
    return f"avg(x{place})" if what == "numbers" else f"avg(x{place} > 0.5)"


def opened(folder: Path, rows: int, **said: Any) -> Holdout:
    ledger = folder / f"{next(LEDGERS)}.ledger"
    return holdfast.open(table(rows), ledger=ledger, schema=schema(), **said)


def widest(answers: Sequence[Answer]) -> float:
    return max(answer.half_width for answer in answers)


def asked(folder: Path, _: Plan, option: Option, what: What) -> float:
    """All questions one by one by a mechanism."""
    rows, k, name = option.rows or 0, option.questions or 0, option.name
    said = {"private": True} if name in PRIVATE else {"described": "off"}
    facts = {"mechanism": name, "questions": k, "tolerance": option.half_width, **said}
    with opened(folder, rows, **facts) as holdout:
        texts = [question(what, place) for place in range(k)]
        if CATALOGUE[name].once:
            return widest(holdout.ask_many(texts))
        return widest([holdout.ask(text) for text in texts])


def in_rounds(folder: Path, plan: Plan, option: Option, what: What) -> float:
    """Questions chosen together, round by round, the last as a last look."""
    rows, k, t = option.rows or 0, option.questions or 0, option.half_width
    each = -(-k // min(int(option.name.split()[0]), k))
    facts = {"questions": k, "tolerance": t, "described": plan.request.described}
    with opened(folder, rows, **facts) as holdout:
        texts = [question(what, place) for place in range(k)]
        parts = [texts[first : first + each] for first in range(0, k, each)]
        widths = [widest(holdout.ask_many(part, tolerance=t)) for part in parts[:-1]]
        return max(*widths, 0.0, widest(holdout.final(parts[-1])))


def checked(folder: Path, plan: Plan, option: Option, what: What) -> float:
    """Guesses one by one, the refuted ones first, the others almost a standard error off."""
    surprises = int(option.name.split()[3])
    rows, k, t = option.rows or 0, option.questions or 0, option.half_width or 0.0
    off = 0.99 * 0.5 / rows**0.5
    share = plan.request.pots.described_share  # of the failure probability; nothing is described
    level = 1 - (1 - plan.request.declared.level) * (1 - share)
    facts = {"questions": k, "tolerance": t, "surprises": surprises, "confidence_level": level}
    with opened(folder, rows, **facts, described="off") as holdout:
        found = []
        for place in range(k):
            wrong = place < surprises
            guess = 0.999 if wrong else 0.5 + off * (1 if place % 2 else -1)
            answer = holdout.check(question(what, place), guess=guess)
            assert answer.status == ("not confirmed" if wrong else "confirmed")
            assert answer.value is not None, "what is true instead is answered"
            found.append(answer)
        return widest(found)


def scored(folder: Path, _: Plan, option: Option, what: What) -> float:
    """Some configurations of a search, scored by the values that they give to the rows."""
    size = int(option.name.split()[2].replace(",", ""))
    with opened(folder, option.rows or 0, key="item", described="exact") as holdout:
        asks = "avg(model)" if what == "numbers" else "avg(model > 0.5)"
        search = holdout.search("model", size=size, question=asks, bounds=(0.0, 1.0))
        values = table(option.rows or 0)
        return widest([search.score(place, values[f"x{place}"].to_list()) for place in range(2)])


def player(option: Option) -> Callable[[Path, Plan, Option, What], float] | None:
    """How a row is played; None where it is nobody's."""
    if option.name in CATALOGUE:
        return asked
    if option.name.startswith("guess and check, "):
        return checked
    if option.name.endswith("rounds, the last exact"):
        return in_rounds
    if option.name.endswith(" declared"):
        return scored
    # Of a domain: its theorem runs as printed in tests/guessers/test_volume.py.
    assert option.kind in ("described", "domain", "reference"), f"{option.name} is played"
    return None


def plans(rows: int, questions: int) -> list[Plan]:
    """With descriptions and without."""
    return [
        holdfast.plan(rows=rows, questions=questions),
        holdfast.plan(rows=rows, questions=questions, described="off"),
    ]


def rows_of(rows: int, questions: int) -> list[tuple[Plan, Option]]:
    return [
        (plan, option)
        for plan in plans(rows, questions)
        for option in plan.options
        if option.possible and player(option) is not None
    ]


def kept(folder: Path, plan: Plan, option: Option, what: What) -> None:
    play = player(option)
    assert play is not None
    assert option.half_width is not None
    found = play(folder, plan, option, what)
    assert found <= option.half_width * ROUNDED, f"{option.name} for {what}: {found}"


@pytest.mark.parametrize("place", range(len(SIZES)))
def test_planned_half_widths_are_kept(tmp_path: Path, place: int) -> None:
    """One of the rows that end with exact answers, and one other, for each of the sizes."""
    found = rows_of(*SIZES[place])
    exact = [each for each in found if each[1].kind == "together"]
    others = [each for each in found if each[1].kind != "together"]
    for plan, option in (exact[place % len(exact)], others[place % len(others)]):
        for what in ("numbers", "conditions"):
            kept(tmp_path, plan, option, what)


@pytest.mark.campaign
@pytest.mark.parametrize(("rows", "questions"), SIZES)
@pytest.mark.parametrize("what", ["numbers", "conditions"])
def test_every_row_of_a_plan_is_kept(tmp_path: Path, rows: int, questions: int, what: What) -> None:
    for plan, option in rows_of(rows, questions):
        kept(tmp_path, plan, option, what)
