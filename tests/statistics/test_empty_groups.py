"""Groups of no row: of nobody nothing is said, whatever is asked and however rows depend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import holdfast
from holdfast.errors import InvalidQuestion
from tests.statistics import zoo

DECLARED = zoo.BOUNDS | {"arm": ["A", "B", "C"], "site": [0, 1, 2, 3]}
KAPPA = ["mae(x, z, kappa = 3)", "rmse(x, z, kappa = 3)"]
WAYS: dict[str, dict[str, Any]] = {
    "independent": {"schema": DECLARED},
    "dependent": {"schema": DECLARED, "sampling": holdfast.m_dependent(2)},
    "no range": {"schema": {}},
}


def of_nobody(text: str) -> str:
    """The question with nobody in its group; with nobody in the first, if it is about two."""
    if " where " not in text:
        return f"{text} where k > 19"
    return text.replace(" where ", " where k > 19 and ")


@pytest.mark.parametrize("way", WAYS)
def test_of_nobody_nothing_is_said(tmp_path: Path, way: str) -> None:
    table = zoo.table(900, complete=way == "no range").with_columns(
        pl.col("k").clip(upper_bound=19)
    )
    texts = [of_nobody(text) for text in [*zoo.TEXTS, *zoo.ALSO, *KAPPA] if ", rest)" not in text]
    answers = []
    with holdfast.open(table, ledger=tmp_path / "t.ledger", questions=2, **WAYS[way]) as holdout:
        for text in texts:
            try:
                answers.append(holdout.ask(text))
            except InvalidQuestion:  # asked of all rows only, or of numbers with a range
                continue
    assert len(answers) >= 35
    assert {answer.question for answer in answers if answer.value is not None} == set()
    # Some follow from parts that are about all rows.
    assert {(answer.n, answer.missing) for answer in answers} - {(900, 0)} == {(0, 0)}
