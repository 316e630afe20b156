"""A difference on neither side of 0 says so, and about how many rows would tell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast

GAP = "difference(avg(late) where group = 'b', avg(late) where group = 'a')"


def drawn(rows: int, gap: float, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], rows)
    return pl.DataFrame({"group": group, "late": rng.random(rows) < 0.3 + gap * (group == "b")})


def asked(frame: pl.DataFrame, ledger: Path) -> str:
    schema = {"group": {"values": ["a", "b"]}}
    with holdfast.open(frame, ledger=ledger, schema=schema, planned=[GAP]) as holdout:
        return str(holdout.ask(GAP))


def test_as_many_rows_as_it_says_do_tell(tmp_path: Path) -> None:
    line = asked(drawn(1_000, 0.04, seed=3), tmp_path / "small.ledger")
    outlook = re.search(r"cannot tell yet: ([\d,]+) rows or so would", line)
    assert outlook is not None, line
    rows = int(outlook[1].replace(",", ""))
    assert 1_000 < rows < 100_000
    # The difference of these rows is what it looked like: as large in ever more of them.
    frame = drawn(1_000, 0.04, seed=3)
    more = pl.concat([frame] * -(-rows // 1_000))
    assert "above 0" in asked(more, tmp_path / "large.ledger")


def test_what_is_on_one_side_or_no_difference_has_no_outlook(tmp_path: Path) -> None:
    assert "cannot tell" not in asked(drawn(5_000, 0.3, seed=1), tmp_path / "plain.ledger")
    with holdfast.open(drawn(500, 0.0, seed=2), ledger=tmp_path / "mean.ledger") as holdout:
        assert "cannot tell" not in str(holdout.ask("avg(late)"))


def test_of_next_to_no_difference_no_number_is_named(tmp_path: Path) -> None:
    frame = pl.DataFrame({"group": ["a", "a", "b", "b"] * 250, "late": [True, False] * 500})
    assert asked(frame, tmp_path / "none.ledger").endswith("cannot tell yet")


ADVICE = "the training rows could forecast this"


def test_training_rows_could_forecast_an_open_difference_of_the_same_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame, other = (pl.DataFrame({name: rng.random(1_000) for name in "ab"}) for _ in range(2))
    gap = "difference(avg(a > 0.5), avg(b > 0.5))"
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", train=other) as holdout:
        line = str(holdout.ask(gap))
        gated = holdout.gate(gap, at_least=0.0, dev=(250, 240, 1_000))
        checked = holdout.check(gap, guess=0.0, expect="training")
    assert line.endswith(f' · {ADVICE}: gate it (dev=) or check it (expect="training")')
    assert gated.forecast is not None
    assert checked.forecast is not None
    with holdfast.open(frame, ledger=tmp_path / "less.ledger", train=other.drop("b")) as holdout:
        assert ADVICE not in str(holdout.ask(gap))


def test_of_two_groups_the_text_answers_whatever_is_forecast(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"schema": {"group": {"values": ["a", "b"]}}, "planned": [GAP]}
    frame, other = drawn(1_000, 0.04, seed=3), drawn(1_000, 0.04, seed=4)
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", train=other, **facts) as holdout:
        line = str(holdout.ask(GAP))
        assert holdout.gate(GAP, at_least=0.0, dev=(1, 0, 2)).forecast is None
    assert "cannot tell" in line
    assert ADVICE not in line
