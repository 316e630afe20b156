"""Forged ledgers of described answers: a length, a level, a rule or a number of symbols is found.

All of them follow from the question's text and from what was declared, so an audit needs no rows.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from holdfast.data.polars import PolarsSample
from holdfast.errors import LedgerTampered
from tests.holdout.tables import BOUNDS, copied, opened, table
from tests.ledger.forging import Body, faults, forged, numbers_forged, settled, write
from tests.ledger.reading import folded, rows_of
from tests.seam import CHECKPOINT_EVERY

TEXTS = (
    "avg(late)",
    "avg(x > 20) where late",
    "avg(x)",
    "avg(x) where late",
    "median(x)",
    "variance(x)",
    "correlation(x, unit)",
    "f1(late, x > 20)",
    "difference(late, x > 20)",
    "difference(avg(x) where origin = 'JFK', avg(x) where origin = 'EWR')",
    "error(late, x > 20)",
)
SCHEMA = {**BOUNDS, "unit": (0, 99)}


@pytest.fixture(scope="module", params=["exact", "rounded"])
def honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of every rule, with an ask that came after them."""
    folder = tmp_path_factory.mktemp(request.param)
    declared: dict[str, Any] = {"schema": SCHEMA, "questions": 20, "described": request.param}
    with opened(folder, table(), tolerance=0.4, **declared) as holdout:
        for text in TEXTS:
            assert holdout.ask(text).recorded.bits is not None
        if request.param == "rounded":
            holdout.ask("avg(late and x > 10)", tolerance=0.49)
    return folder / "t.ledger"


def test_an_honest_ledger_passes_with_its_rows_and_without(honest: Path) -> None:
    assert faults(honest) == []
    assert faults(honest, sample=lambda: PolarsSample(table())) == []


@pytest.mark.parametrize("question", ["std(x)", "balanced_accuracy(x > 20, late)"])
def test_an_ask_by_parts_of_which_one_was_described_passes(question: str, tmp_path: Path) -> None:
    rows = pl.concat([table(seed=seed) for seed in range(20)])
    with opened(tmp_path, rows, schema=SCHEMA, tolerance=0.2, described="exact") as holdout:
        first = [holdout.ask(part).recorded for part in ("avg(x)", "avg(late)")]
        answer = holdout.ask(question, tolerance=0.2).recorded
        assert {each.look for each in first} & {*answer.parts}
        assert answer.bits is None
    assert faults(tmp_path / "t.ledger") == []


def test_no_number_of_a_described_offer_can_be_another(honest: Path, tmp_path: Path) -> None:
    assert numbers_forged(copied(honest, tmp_path / "forged")) >= 30


def reserved(bodies: list[Body], question: str) -> Body:
    """The look that was reserved for a question, by the beginning of its text."""
    for body in bodies:
        for item in body.get("items", ()):
            if item["offer"]["question"].startswith(question):
                found: Body = item["offer"]
                return found
    raise LookupError(question)


def other_rule(bodies: list[Body]) -> None:
    """Quicker means: the share's rule, for a mean of the same rows."""
    share = reserved(bodies, "avg(late)")["extra"]["rule"]
    reserved(bodies, "avg(clip(x")["extra"]["rule"] = copy.deepcopy(share)


def unknown_rule(bodies: list[Body]) -> None:
    reserved(bodies, "avg(late)")["extra"]["rule"]["name"] = "share/0"


def turned_over(bodies: list[Body]) -> None:
    reserved(bodies, "avg(late)")["extra"]["turned"] = True


def another_text(bodies: list[Body]) -> None:
    """A long question under the level of a short one."""
    offer = reserved(bodies, "avg(late)")
    offer["question"] = "avg(late and origin = 'JFK' and x > 12.34567)"


def without_bits(bodies: list[Body]) -> None:
    """A described answer that passes for one of the ledger, whose pot is the larger."""
    reserved(bodies, "avg(late)")["bits"] = None


def other_pot(bodies: list[Body]) -> None:
    bodies[0]["described_share"] = 0.9


def other_way(bodies: list[Body]) -> None:
    bodies[0]["described"] = "exact" if bodies[0]["described"] == "rounded" else "rounded"


def cheaper_text(bodies: list[Body]) -> None:
    """Declared afterwards: a column with few values has cheap questions."""
    bodies[0]["schema"]["values"] = {"origin": ["EWR", "JFK", "LGA"]}


def favourite_text(bodies: list[Body]) -> None:
    """A prior that was made after the questions."""
    bodies[0]["schema"]["favourites"] = ["avg(late)"]


@pytest.mark.parametrize(
    "change",
    [
        other_rule,
        unknown_rule,
        turned_over,
        another_text,
        without_bits,
        other_pot,
        other_way,
        cheaper_text,
        favourite_text,
    ],
    ids=lambda change: change.__name__,
)
def test_what_makes_an_interval_narrower_is_found(
    honest: Path, tmp_path: Path, change: Callable[[list[Body]], None]
) -> None:
    assert forged(copied(honest, tmp_path / "forged"), change)


def test_symbols_outside_the_alphabet_do_not_fold(honest: Path, tmp_path: Path) -> None:
    path = copied(honest, tmp_path / "forged")
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    for entry, body in enumerate(bodies):
        for place, symbol in enumerate(body.get("symbols", ())):
            if not isinstance(symbol, list):
                continue
            for wrong in ([*symbol, 0], symbol[:-1], [10**9] * len(symbol)):
                again = copy.deepcopy(bodies)
                again[entry]["symbols"][place] = wrong
                with pytest.raises((LedgerTampered, ValueError, TypeError)):
                    settled(again)


def test_answers_that_do_not_follow_from_their_symbols_are_found(
    honest: Path, tmp_path: Path
) -> None:
    path = copied(honest, tmp_path / "forged")
    bodies = [json.loads(text) for _, text, _ in rows_of(path)]
    answer = next(body for body in bodies if body["kind"] == "settle/2")["answers"][0]
    answer["low"] += 1e-6
    write(path, bodies)
    with pytest.raises(LedgerTampered, match="do not follow"):
        folded(path)


def test_a_checkpoint_keeps_what_described_answers_leaked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CHECKPOINT_EVERY, 4)
    declared: dict[str, Any] = {"schema": SCHEMA, "described": "exact"}
    with opened(tmp_path, table(), **declared) as holdout:
        first = [holdout.ask(text) for text in TEXTS]
        spent = holdout.budget.nats
    with opened(tmp_path, table()) as holdout:
        assert holdout.budget.nats == spent
        again = [holdout.ask(text) for text in TEXTS]
        assert holdout.budget.nats == spent
    assert [each.interval for each in again] == [each.interval for each in first]
    assert faults(tmp_path / "t.ledger") == []
