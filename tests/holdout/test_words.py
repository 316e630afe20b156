"""Words and digits that people read: in answers, ledgers, budgets, plans, pages and refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.theory.base.intervals import Interval

N = 2_000
THIRD = 0.1 / 3  # and other numbers that doubles write long
QUESTIONS = (
    "avg(x)",
    "avg(clip(x, 0.1, 0.7))",
    "median(x)",
    "std(s)",
    "sum(x, 1234567)",
    "difference(avg(x) where o = 'A', avg(x) where o = 'B')",
    "avg(x) by o",
    "histogram(s, 0, 0.3, 0.7, 1)",
)
SCHEMA = {"x": (-60.3, 180.9), "s": (0.1, 0.7), "o": {"values": ["A", "B"]}}
LONG = re.compile(r"\d[.]\d{13,}")  # more digits than a computed number has
# What engines are told, and questions are not.
SQL = re.compile(r"SELECT|CAST\(|CASE WHEN|NULLIF|FILTER|BIGINT|DOUBLE|\bpl\.|col\(")


@pytest.fixture
def table() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "x": rng.normal(5, 30, N),
            "s": rng.random(N),
            "late": rng.random(N) < 0.03,
            "o": rng.choice(["A", "B"], N),
        }
    )


def test_a_guess_inside_the_interval_of_a_surprise_is_not_confirmed(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    """The interval contains the guess, which is therefore not refuted: only not confirmed."""
    with holdfast.open(table, ledger=tmp_path / "t.ledger", tolerance=0.02) as holdout:
        found = holdout.check("avg(x > 5)", guess=0.49)
        assert 0.49 in found.interval
        assert found.half_width > 0.02
        assert str(found).startswith("guess not confirmed: 0.")
        said = f"{found} {found._repr_html_()} {holdout.ledger} {holdout.explain()}"
    assert "not confirmed" in said
    assert not re.search("surprise|refuted|wrong", said)


def test_a_bound_is_written_as_a_bound(table: pl.DataFrame, tmp_path: Path) -> None:
    with holdfast.open(table, ledger=tmp_path / "t.ledger", tolerance=0.1) as holdout:
        at_most = holdout.check("avg(late)", at_most=0.05)
        assert str(at_most).startswith("confirmed <= 0.05 · ")
        assert str(holdout.check("avg(x < 90)", at_least=0.9)).startswith("confirmed >= 0.9 · ")
        assert str(holdout.gate("avg(late)", at_most=0.06)).startswith("shown < 0.06 · ")
        assert " <= 0.05 " in str(holdout.ledger)
        assert "avg(late) <= 0.05\n" in holdout.explain()


def test_a_number_is_in_an_interval(table: pl.DataFrame, tmp_path: Path) -> None:
    with holdfast.open(table, ledger=tmp_path / "t.ledger", tolerance=0.1) as holdout:
        interval = holdout.ask("avg(s < 0.4)").interval
    assert 0.4 in interval
    assert np.float32(0.4) in interval
    assert 0.3 not in interval


def test_an_interval_shows_no_rounding_errors() -> None:
    shown = repr(Interval(-18.800000000000004, 59.75999999999999))
    assert shown == "Interval(low=-18.8, high=59.76)"
    assert repr(Interval(1 / 3, 2 / 3)) == "Interval(low=0.333333333333, high=0.666666666667)"
    assert repr(Interval(-np.inf, 0.0)) == "Interval(low=-inf, high=0.0)"


@pytest.mark.parametrize("questions", [1, None])
def test_a_budget_that_is_used_up_promises_no_more(
    table: pl.DataFrame, tmp_path: Path, questions: int | None
) -> None:
    said = {"tolerance": 0.1, "described": "off", "questions": questions}
    with holdfast.open(table, ledger=tmp_path / "t.ledger", **said) as holdout:  # type: ignore[arg-type]
        assert "confirmed ones cost almost nothing" in str(holdout.budget)
        with suppress(holdfast.BudgetExhausted):
            for threshold in range(500):
                holdout.ask(f"avg(x > {threshold - 250})")
        assert holdout.budget.questions_left == 0
        assert "confirmed ones" not in str(holdout.budget) + holdout.budget._repr_html_()


@pytest.mark.parametrize("described", ["exact", "off"])
def test_nothing_that_is_shown_has_digits_of_doubles_or_sql(
    table: pl.DataFrame, tmp_path: Path, described: Any
) -> None:
    shown = dict(_texts(table, tmp_path, described))
    assert len(shown) >= 50
    for what, text in shown.items():
        assert not LONG.search(text), (what, text)
        assert not SQL.search(text), (what, text)


def _texts(table: pl.DataFrame, folder: Path, described: Any) -> Iterator[tuple[str, str]]:
    """What people read of one holdout, by what they did."""
    said: Any = {"tolerance": 4 * THIRD, "questions": 7, "candidates": 5, "schema": SCHEMA}
    made = partial(holdfast.open, table, ledger=folder / f"{described}.ledger", described=described)
    with made(**said) as holdout:
        yield "holdout", f"{holdout!r}\n{holdout.schema}"
        for question in QUESTIONS:
            for verb, done in _done(holdout, question):
                yield f"{verb} {question}", _said(done)
        yield "budget", f"{holdout.budget}"
        yield "ledger", holdout.ledger.to_text(parts=True)
        yield "explain", holdout.explain()
        holdout.certificate(str(folder / "page.html"))
        page = (folder / "page.html").read_text(encoding="utf-8")
        page = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S)
        yield "certificate", unescape(re.sub("<[^>]*>", " ", page))
    yield "plan", f"{holdfast.plan(rows=N, tolerance=THIRD)}"
    yield "gates", f"{holdfast.plan(rows=N, candidates=7, disagreement=THIRD)}"


def _done(holdout: Any, question: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "cost", lambda: holdout.cost(question, tolerance=5 * THIRD)
    yield "check", lambda: holdout.check(question, guess=0.3)
    yield "ask", lambda: holdout.ask(question)
    yield "narrower", lambda: holdout.ask(question, half_width=0.1 * 0.7)
    yield "at most", lambda: holdout.check(question, at_most=0.3 * 0.1)
    yield "gate", lambda: holdout.gate(question, at_least=0.1 * 0.7)


def _said(done: Callable[[], Any]) -> str:
    """All forms of a result, or the refusal."""
    try:
        found = done()
    except holdfast.HoldfastError as refused:
        return str(refused)
    html = found._repr_html_() if hasattr(found, "_repr_html_") else ""
    return f"{found}\n{found!r}\n{html}\n{getattr(found, 'interval', '')!r}"
