"""A statistic without a rule of its own follows from its described parts, which hold together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.holdout.holdout import Holdout
from holdfast.ledger.composites import whole
from holdfast.theory.base.propagation import difference_interval
from tests.holdout.tables import BOUNDS, Crash, copied, crash, opened, table, untouchable, watch
from tests.ledger.forging import faults
from tests.ledger.reading import folded

ROWS = 4_000
X, Y = "avg(x) where origin = 'JFK'", "avg(x / 2) where late"
APART = f"difference({X}, {Y})"


def ledger(folder: Path, **declared: Any) -> Any:
    usual: dict[str, Any] = {"schema": BOUNDS, "tolerance": 0.1, "described": "exact"}
    return opened(folder, table(ROWS), **(usual | declared))


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    with ledger(tmp_path) as found:
        yield found
    assert faults(tmp_path / "t.ledger", sample=lambda: PolarsSample(table(ROWS))) == []


def truth() -> float:
    rows = table(ROWS).with_columns(pl.col("x").clip(*BOUNDS["x"]))
    one = rows.filter(pl.col("origin") == "JFK")["x"].mean()
    other = rows.filter(pl.col("late"))["x"].mean()
    assert isinstance(one, float)
    assert isinstance(other, float)
    return one - other / 2


def test_it_is_one_line_that_follows_from_its_parts(holdout: Holdout) -> None:
    cost = holdout.cost(APART)
    answer = holdout.ask(APART)
    first, second = answer.parts
    assert [first.bits, second.bits].count(answer.bits) == 1 == cost.questions
    assert answer.bits == max(first.bits or 0.0, second.bits or 0.0) == cost.bits
    assert answer.cost == pytest.approx(first.charge + second.charge) == cost.most
    assert answer.value == pytest.approx(truth(), abs=0.1)
    assert tuple(answer.interval) == pytest.approx(
        difference_interval(*first.interval, *second.interval)
    )
    assert " · 4,000 rows · all answers together 95 % sure · declare" in str(answer)
    assert [line.question for line in holdout.ledger] == [answer.question]
    assert len(holdout.ledger.to_dicts(parts=True)) == 3
    assert len(holdout.ledger.to_dicts()) == 1  # a line, and not what it is made of
    assert "follows from 2 looks" in holdout.explain()
    assert "2 looks asked for it" in holdout.certificate().to_html()


def test_it_is_far_narrower_than_with_noise(tmp_path: Path, holdout: Holdout) -> None:
    (tmp_path / "noisy").mkdir()
    with ledger(tmp_path / "noisy", described="off") as noisy:
        assert 3 * holdout.ask(APART).half_width < noisy.ask(APART).half_width


def test_a_repeat_and_its_parts_are_free(holdout: Holdout) -> None:
    first = holdout.ask(X)
    answer = holdout.ask(APART)
    assert answer.cost == answer.parts[1].charge
    watch(holdout, untouchable)
    again = holdout.ask(APART)
    assert (again.status, again.cost, again.number) == ("repeated", 0.0, answer.number)
    assert holdout.cost(APART).repeated
    part = holdout.ask(Y)
    assert (part.cost, part.interval) == (0.0, answer.parts[1].interval)
    late = table(ROWS)["late"].sum()
    assert (part.n, first.number, answer.number, part.number) == (late, 1, 2, 3)
    turned = holdout.ask(f"difference({Y}, {X})")
    assert turned.cost == 0.0
    assert -turned.interval.low == pytest.approx(answer.interval.high)


def test_together_with_others_each_part_is_asked_once(holdout: Holdout) -> None:
    apart, first, turned = holdout.ask_many([APART, X, f"difference({Y}, {X})"])
    assert len(holdout.ledger.looks) == 2
    assert apart.cost + first.cost + turned.cost == pytest.approx(
        sum(look.charge for look in holdout.ledger.looks)
    )


def test_a_check_that_is_refuted_tells_what_the_parts_say(holdout: Holdout) -> None:
    answer = holdout.check(APART, guess=-100.0)
    assert answer.status == "not confirmed"
    assert answer.value == pytest.approx(truth(), abs=0.1)
    assert sum(part.bits is not None for part in answer.parts) == 2


def test_rounded_parts_are_rounded(tmp_path: Path) -> None:
    with ledger(tmp_path, described="rounded") as holdout:
        answer = holdout.ask(APART)
        assert truth() in answer.interval
        assert all("Rounded" in type(part.rule).__name__ for part in answer.parts)
    assert faults(tmp_path / "t.ledger") == []


def test_rows_that_depend_on_each_other_have_a_spread_by_parts(tmp_path: Path) -> None:
    """No rule of a spread covers them; means of values and of squares have one each."""
    declared: dict[str, Any] = {"sampling": holdfast.m_dependent(1), "tolerance": 0.4}
    with ledger(tmp_path, **declared) as holdout:
        answer = holdout.ask("std(x)")
        assert answer.bits is not None
        assert table(ROWS)["x"].clip(*BOUNDS["x"]).std(ddof=0) in answer.interval
    assert faults(tmp_path / "t.ledger") == []


def test_a_crash_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    with ledger(tmp_path):
        start = tmp_path / "t.ledger"
        path, whole = (copied(start, tmp_path / name) for name in ("crashed", "whole"))
    with opened(whole.parent, table(ROWS)) as holdout:
        told = holdout.ask(APART)
    with opened(path.parent, table(ROWS)) as holdout:
        watch(holdout, crash)
        with pytest.raises(Crash):
            holdout.ask(APART)
    assert folded(path).pending is not None
    with opened(path.parent, table(ROWS)) as holdout:
        again = holdout.ask(APART)
        assert (again.value, again.interval, again.cost) == (told.value, told.interval, told.cost)
    assert faults(path) == []


@pytest.mark.parametrize(
    ("field", "said"), [("interval", "interval"), ("bits", "bits"), ("parts", "status")]
)
def test_an_audit_finds_what_does_not_follow(
    tmp_path: Path, field: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As written by somebody who has the secret: the chain is whole, and the line is false."""

    def false(*facts: Any) -> dict[str, Any]:
        line = whole(*facts)
        changed = {
            "interval": [line["interval"][0], line["value"]],
            "bits": 1.0,
            "parts": line["parts"][::-1],
        }
        return {**line, field: changed[field]}

    monkeypatch.setattr("holdfast.holdout.plays.whole", false)
    with ledger(tmp_path) as holdout:
        holdout.ask(APART)
    (fault,) = faults(tmp_path / "t.ledger")
    assert f"its {said} does not follow from its looks" in fault


def test_rmse_is_as_wide_as_the_root_of_its_mean(holdout: Holdout) -> None:
    squares = holdout.ask("avg(abs(x - x / 2) * abs(x - x / 2))")
    answer = holdout.ask("rmse(x, x / 2)")
    assert answer.cost == 0.0  # one event
    root = [math.sqrt(end) for end in squares.interval]
    assert 2 * answer.half_width <= 1.3 * (root[1] - root[0])
    gaps = table(ROWS)["x"].clip(*BOUNDS["x"]) / 2
    assert answer.value == pytest.approx(gaps.pow(2).to_numpy().mean() ** 0.5, rel=0.02)
    assert holdout.ask(holdfast.stats.rmse("x / 2", "x")).status == "repeated"


def test_rmse_of_groups_is_a_table_of_lines_with_parts(tmp_path: Path) -> None:
    schema = {**BOUNDS, "origin": {"values": ["EWR", "JFK", "LGA"]}}
    with ledger(tmp_path, schema=schema) as holdout:
        groups = holdout.ask(holdfast.stats.rmse("x", "x / 2", by="origin"))
        assert [len(answer.parts) for _, answer in groups] == [1, 1, 1]
        assert all(answer.bits for _, answer in groups)
        assert len(holdout.ledger) == 3
    assert faults(tmp_path / "t.ledger") == []
