"""What a text would get: the same bits, half-widths and nats as a ledger that is asked it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidArgument, InvalidQuestion, NotBounded
from holdfast.mechanisms.terms import Describing

ROWS = 2_000
SCHEMA: dict[str, Any] = {"x": (-60, 180), "month": (1, 12)}
TYPES = {"x": "float", "month": "integer", "late": "boolean", "other": "boolean", "origin": "text"}
FULL = {"types": TYPES, "bounds": SCHEMA}


def _table(tenths: int) -> pl.DataFrame:
    """Every column holds in so many tenths of the rows; half of the rows are of July."""
    late = [i % 10 < tenths for i in range(ROWS)]
    return pl.DataFrame(
        {
            "x": [180.0 if each else -60.0 for each in late],
            "month": [7 if i // 10 % 2 else 1 for i in range(ROWS)],
            "late": late,
            "other": [each is (i // 10 % 20 < 19) for i, each in enumerate(late)],
            "origin": ["JFK"] * ROWS,
        }
    )


def _opened(tmp_path: Path, tenths: int, described: Describing = "exact") -> holdfast.Holdout:
    return holdfast.open(
        _table(tenths),
        ledger=tmp_path / "t.ledger",
        schema=SCHEMA,
        described=described,
        tolerance=0.3,  # the ledger would have nothing narrower
        questions=5,
    )


@pytest.mark.parametrize(("tenths", "rate"), [(5, 0.5), (1, 0.1)])
@pytest.mark.parametrize("text", ["avg(x > 15)", "avg(late)", "error(late, x > 1000)"])
def test_a_condition_is_answered_as_planned(
    text: str, tenths: int, rate: float, tmp_path: Path
) -> None:
    plan = holdfast.plan(rows=ROWS, question=text, schema=FULL)
    with _opened(tmp_path, tenths) as holdout:
        answer = holdout.ask(text)
    assert answer.cost == pytest.approx(plan.nats)
    assert answer.half_width == pytest.approx(plan[f"rate {rate:g}"], rel=1e-9)
    assert plan.bits == holdfast.stats.bits(text, FULL)
    expected = math.log(0.02) - plan.bits.plain * math.log(2)
    assert plan.log_level == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "tenths", "when"),
    [
        ("avg(late) where month = 7", 1, "group of half of the rows, rate 0.1"),
        ("difference(late, other)", 5, "differing in 5 % of the rows"),
    ],
)
def test_groups_and_differences_are_answered_as_planned(
    text: str, tenths: int, when: str, tmp_path: Path
) -> None:
    plan = holdfast.plan(rows=ROWS, question=text, schema=FULL)
    with _opened(tmp_path, tenths) as holdout:
        answer = holdout.ask(text)
    assert answer.cost == pytest.approx(plan.nats)
    assert answer.half_width == pytest.approx(plan[when], rel=1e-9)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("avg(x)", "at most"),
        ("avg(x) where month = 7", "group of half of the rows, at most"),
        (
            "difference(avg(x) where month = 7, avg(x) where month = 1)",
            "two halves of the rows, at most",
        ),
    ],
)
def test_means_are_at_most_as_wide_as_planned(text: str, when: str, tmp_path: Path) -> None:
    """Values at both ends of the range: nothing is wider."""
    plan = holdfast.plan(rows=ROWS, question=text, schema=FULL)
    with _opened(tmp_path, 5) as holdout:
        width = holdout.ask(text).half_width
    assert 0.5 * plan[when] < width <= plan[when]
    if plan.floor is not None:
        assert plan.floor * 240 < width


@pytest.mark.parametrize("text", ["avg(x > 15)", "avg(x)"])
def test_rounded_answers_too(text: str, tmp_path: Path) -> None:
    plan = holdfast.plan(rows=ROWS, question=text, schema=FULL, described="rounded")
    with _opened(tmp_path, 5, "rounded") as holdout:
        assert holdout.ask(text).half_width == pytest.approx(plan["at most"], rel=1e-6)
    assert plan.nats == pytest.approx(math.log(5))


@pytest.mark.parametrize("text", ["median(x)", "std(x)", "f1(late, x > 15)"])
def test_others_have_bits_level_and_cost(text: str) -> None:
    plan = holdfast.plan(rows=ROWS, question=text, schema=FULL)
    assert plan.bits.plain > 0
    assert plan.nats is not None
    assert plan.log_level is not None
    assert json.loads(json.dumps(plan.to_dict()))["question"] == plan.text


def test_without_a_schema_a_table_is_assumed_and_said(tmp_path: Path) -> None:
    text = "avg(delay > 15) where origin = 'JFK' and late and day >= date '2020-01-01'"
    plan = holdfast.plan(rows=ROWS, question=text)
    assert "20 columns" in str(plan)
    for each in ("delay (float)", "origin (text)", "late (boolean)", "day (date)"):
        assert each in str(plan)
    shorter = holdfast.plan(rows=ROWS, question=text, schema={"origin": {"values": ["JFK", "LGA"]}})
    assert shorter.bits.plain < plan.bits.plain
    assert "origin (text)" not in str(shorter)
    file = tmp_path / "schema.toml"
    file.write_text('[values]\norigin = ["JFK", "LGA"]\n', encoding="utf-8")
    assert holdfast.plan(rows=ROWS, question=text, schema=file).bits == shorter.bits
    assert holdfast.plan(rows=ROWS, question="avg(late)", schema=FULL).assumed is None


def test_what_cannot_be_priced_says_why() -> None:
    with pytest.raises(NotBounded, match="schema"):
        holdfast.plan(rows=ROWS, question="avg(delay)")
    for text in ("avg(delay", "avg(origin + 1 > 'x')", "mood(delay)", ""):
        with pytest.raises((InvalidQuestion, InvalidArgument)):
            holdfast.plan(rows=ROWS, question=text)
    with pytest.raises(InvalidArgument, match="described is 'off'"):
        holdfast.plan(rows=ROWS, question="avg(late)", schema=FULL, described="off")
    with pytest.raises(InvalidArgument, match="needs rows and question"):
        holdfast.plan(rows=ROWS, schema=FULL)  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument, match="different plans"):
        holdfast.plan(rows=ROWS, question="avg(late)", tolerance=0.1)  # type: ignore[call-overload]
    with pytest.raises(KeyError, match=r"rate 0\.5"):
        holdfast.plan(rows=ROWS, question="avg(late)", schema=FULL)["rate 0.3"]
