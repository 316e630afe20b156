"""How many are left, of whatever is asked: each kind is played until the ledger refuses.

What is said before and with every answer must be kept: while something is left it is answered, and
an AUC ledger does not say two hundred and stop at thirty.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import Refused
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout

ROWS = 2_000
RNG = np.random.default_rng(21)
RARE = np.arange(ROWS) % 4 == 0
TABLE = pl.DataFrame(
    {
        "item": np.arange(ROWS),
        "x": RNG.random(ROWS),
        "y": RNG.random(ROWS),
        "rare": RARE,
        "right": RNG.random(ROWS) < 0.6,
    }
)
SCORES = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def opened(folder: Path, **said: Any) -> Holdout:
    facts = {"schema": SCORES, "tolerance": 0.15, "questions": 60, "described": "off", **said}
    return holdfast.open(TABLE, ledger=folder / "t.ledger", **facts)


def played(
    holdout: Holdout, question: Callable[[int], str], ask: Callable[[Holdout, str], Answer]
) -> int:
    """How many are answered, one after another, what is said being kept at each of them."""
    for place in range(1_000):
        text = question(place)
        try:
            cost = holdout.cost(text)
        except Refused:
            with pytest.raises(Refused):
                ask(holdout, text)
            return place
        answer = ask(holdout, text)
        # Before and after it the same is said, but for what a batch's last digits cost.
        assert cost.left_after[1] <= answer.left.questions_left <= cost.left
        if cost.left > cost.questions > 0:
            assert answer.left.questions_left > 0
    raise AssertionError("it never refuses")


def asked(holdout: Holdout, text: str) -> Answer:
    return holdout.ask(text)


@pytest.mark.parametrize(
    ("question", "design"),
    [
        (lambda place: f"avg(x * {place + 1} / 1000)", []),
        (lambda place: f"avg(x > {place / 1000})", []),
        (lambda place: f"auc(x + y * {place / 1000}, rare)", ["rare"]),
        (lambda place: f"avg(x > {place / 1000}) where rare", ["rare"]),
    ],
    ids=["means", "conditions", "auc", "a group of the design"],
)
def test_as_many_are_answered_as_are_left(
    tmp_path: Path, question: Callable[[int], str], design: list[str]
) -> None:
    with opened(tmp_path, design=design, tolerance=0.15 if design else 0.12) as holdout:
        promised = holdout.cost(question(0)).left
        found = played(holdout, question, asked)
    assert promised <= found <= 60
    if design:
        assert found < 30, "the instance can tell: fewer than of means of all rows"


def test_quantiles_take_no_more_than_they_say(tmp_path: Path) -> None:
    with opened(tmp_path, tolerance=0.12) as holdout:
        promised = holdout.cost("quantile(x, 0.5)")
        found = played(holdout, lambda place: f"quantile(x, {0.1 + place / 100})", asked)
    assert promised.questions > 1
    assert found >= promised.left // promised.questions


def test_candidates_are_gated_until_none_is_left(tmp_path: Path) -> None:
    with opened(tmp_path, candidates=7) as holdout:
        for place in range(7):
            assert holdout.budget.candidates_left == 7 - place
            cost = holdout.cost(f"avg(x > {place / 100})", at_least=0.99, gate=True)
            assert cost.candidates == f"{7 - place} candidate{'s' * (place < 6)} left"
            answer = holdout.gate(f"avg(x > {place / 100})", at_least=0.99)
            assert answer.left.candidates_left == 6 - place
        with pytest.raises(Refused, match="remaining 0 of the 7"):
            holdout.gate("avg(x > 0.9)", at_least=0.99)


def test_described_answers_leave_what_they_say(tmp_path: Path) -> None:
    """Any number of them; of later asks each takes what it said that it would."""
    with opened(tmp_path, described="exact", questions=40, key="item") as holdout:
        holdout.attach("v7", TABLE["right"].to_list())
        left = holdout.budget.questions_left
        assert left > 5
        for place in range(60):
            cost = holdout.cost(f"avg(x > {place / 60:.3f})")
            answer = holdout.ask(f"avg(x > {place / 60:.3f})")
            assert cost.bits is not None
            assert cost.left == left
            left = answer.left.questions_left
            assert left == cost.left_after[1]
            if left == 0:
                break
        assert left == 0
        with pytest.raises(Refused):
            holdout.ask("avg(v7)")
        assert holdout.ask("avg(x > 0.99)").bits is not None


def test_surprises_are_counted_for_what_is_checked(tmp_path: Path) -> None:
    with opened(tmp_path, design=["rare"]) as holdout:
        means = holdout.check("avg(x)", guess=0.5).left
        auc = holdout.check("auc(x, rare)", guess=0.5).left
    assert auc.surprises_left < means.surprises_left
