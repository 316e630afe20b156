"""Described answers as people read them: bits, rows, levels, and what would make them narrower."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from holdfast.holdout.holdout import Holdout
from holdfast.theory.direct.bounded_mean import outlier_floor_mass
from tests.holdout.tables import BOUNDS, LATE, opened, table

ROWS = 4_000


@pytest.fixture
def exact(tmp_path: Path) -> Iterator[Holdout]:
    with opened(tmp_path, table(ROWS), schema=BOUNDS, tolerance=0.1, described="exact") as holdout:
        yield holdout


@pytest.fixture
def rounded(tmp_path: Path) -> Iterator[Holdout]:
    with opened(
        tmp_path, table(ROWS), schema=BOUNDS, tolerance=0.1, described="rounded"
    ) as holdout:
        yield holdout


@pytest.mark.parametrize("question", ["avg(x) where x > 170", "avg(late) where origin = 'XXX'"])
def test_what_says_nothing_is_told_without_a_value(exact: Holdout, question: str) -> None:
    answer = exact.ask(question)
    assert (answer.status, answer.value) == ("says nothing", None)
    assert str(answer).startswith("no information: the interval is the whole range [")
    assert exact.ask(question).number == answer.number


def in_jfk() -> int:
    return table(ROWS).filter(pl.col("origin") == "JFK").height


def test_a_described_answer_says_its_bits_and_its_rows(exact: Holdout) -> None:
    answer = exact.ask(LATE)
    assert answer.bits is not None
    assert answer.n == ROWS
    assert str(answer) == (
        f"{answer.interval.value_text(answer.value or 0.0)} {answer.interval} · "
        "4,000 rows · all answers together 95 % sure"
    )
    assert "4,000 rows &middot; all answers together 95 % sure" in answer._repr_html_()
    for text in (str(answer), answer._repr_html_()):
        assert not re.search("bits|nats|question 1|left|limit", text)
    assert answer.details.startswith(f"question 1 · length {answer.bits:.1f} bits · cost ")
    assert answer.receipt in answer.details
    facts = json.loads(json.dumps(answer.to_dict()))
    assert (facts["bits"], facts["n"], facts["n_most"]) == (answer.bits, ROWS, ROWS)


def test_a_group_says_how_many_rows_it_has(exact: Holdout) -> None:
    answer = exact.ask("avg(late) where origin = 'JFK'")
    assert answer.n == in_jfk()
    assert f" · {in_jfk():,} of 4,000 rows · " in str(answer)
    assert f"{in_jfk():,} of 4,000 rows" in answer._repr_html_()


def test_a_rounded_group_says_how_many_rows_it_may_have(rounded: Holdout) -> None:
    answer = rounded.ask("avg(late) where origin = 'JFK'")
    assert isinstance(answer.n, tuple)
    least, most = answer.n
    assert least < in_jfk() < most
    assert f" · {least:,} to {most:,} of 4,000 rows · " in str(answer)
    facts = answer.to_dict()
    assert (facts["n"], facts["n_most"]) == (least, most)
    row = rounded.ledger.to_dicts()[0]
    assert (row["n"], row["n_most"]) == (least, most)
    assert f"{least:,} ..." in str(rounded.ledger)


def test_the_ledger_has_columns_for_bits_and_rows(exact: Holdout) -> None:
    described, checked = exact.ask("avg(late) where x > 0"), exact.check("avg(x > 3)", guess=0.6)
    frame = exact.ledger.to_polars()
    assert frame["bits"].to_list() == [described.bits, None]
    assert frame["n"].to_list() == frame["n_most"].to_list() == [described.n, ROWS]
    first, second = str(exact.ledger).splitlines()[1:3]
    assert f" {described.bits:.1f} " in first
    assert f" {described.n:,} " in first
    assert f" {ROWS:,} " in second
    assert checked.bits is None


def test_explain_names_the_theorem_the_levels_and_the_pots(exact: Holdout) -> None:
    exact.ask("avg(x > 20)")
    exact.ask("avg(x)")
    exact.ask("std(x)")
    told = exact.explain()
    assert "Theorem" not in told.splitlines()[1]
    assert "for text questions Theorem O (described_log_level)." in told
    assert "Failure probability: 5 %, of it 2 % for text questions and 3 % for all" in told
    for look, method in zip(
        exact.ledger.looks,
        (
            "Clopper and Pearson's interval",
            "bets on the mean, without and in an order of the rows",
            "bets on squared deviations",
        ),
        strict=True,
    ):
        assert look.rule is not None
        assert f"Theorem O: {look.bits:.1f} bits, so {method} at level " in told
        assert f"{method} at level {math.exp(look.rule.log_p):.2g}" in told
    assert "the band of all thresholds at level" in told


def near_the_bottom(rows: int) -> pl.DataFrame:
    """Values between 1 and 2."""
    return pl.DataFrame({"y": [1.0 + (row % 10) / 10 for row in range(rows)]})


TIGHTER = "declare a narrower range to get a narrower interval"


@pytest.mark.parametrize("question", ["avg(y)", "std(y)"])
def test_a_range_that_is_too_wide_is_said(tmp_path: Path, question: str) -> None:
    data = near_the_bottom(500)
    with (
        opened(tmp_path, data, "wide", schema={"y": (0, 1_000)}, described="exact") as wide,
        opened(tmp_path, data, "tight", schema={"y": (1, 2)}, described="exact") as tight,
    ):
        assert str(wide.ask(question)).endswith(f" · {TIGHTER}")
        assert TIGHTER in wide.ask(question)._repr_html_()
        assert TIGHTER not in str(tight.ask(question))


def test_where_it_is_said_no_method_could_be_much_narrower(tmp_path: Path) -> None:
    """The floor is a theorem: a share of rows at the end of the range cannot be excluded."""
    with opened(
        tmp_path, near_the_bottom(500), schema={"y": (0, 1_000)}, described="exact"
    ) as holdout:
        answer = holdout.ask("avg(y)")
        (look,) = holdout.ledger.looks
        assert look.rule is not None
        floor = outlier_floor_mass(500, look.rule.log_p) * (1_000 - float(answer))
        assert floor > 0.5 * (answer.interval.high - float(answer))


def test_a_correlation_at_its_floor_says_so(tmp_path: Path) -> None:
    data = table(ROWS).with_columns(y=pl.col("x") * 2)
    bounds = BOUNDS | {"unit": (0, 1_000)}
    wide = {"x": (-600, 600), "y": (-1_200, 1_200)}
    with (
        opened(tmp_path, data, "wide", schema=wide, described="exact") as far,
        opened(tmp_path, data, "plain", schema=bounds, described="exact") as near,
    ):
        assert TIGHTER in str(far.ask("correlation(x, y)"))
        assert TIGHTER not in str(near.ask("correlation(x, unit)"))
