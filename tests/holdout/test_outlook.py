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


def test_training_rows_could_forecast_what_is_open(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"schema": {"group": {"values": ["a", "b"]}}, "planned": [GAP]}
    frame, other = drawn(1_000, 0.04, seed=3), drawn(1_000, 0.04, seed=4)
    with holdfast.open(frame, ledger=tmp_path / "t.ledger", train=other, **facts) as holdout:
        line = str(holdout.ask(GAP))
    assert line.endswith(" · the training rows could forecast this: gate it (expect=)")
