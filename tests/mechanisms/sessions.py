"""How each mechanism of the catalogue is opened on one table of 20,000 rows, and what it is asked.

What a mechanism needs is what its entry says; only one that takes other questions than the usual
has a row here, in `ASKED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from holdfast.mechanisms.catalogue import CATALOGUE
from tests.holdout.tables import table

# The usual: 20 questions, whatever half-width.
OPENED: Mapping[str, dict[str, Any]] = {
    name: {"train": table(2_000, seed=2)} for name, kind in CATALOGUE.items() if kind.trained
}
TABLE = table(20_000)
VALUES = {
    "avg(late)": pl.col("late").mean(),
    "avg(x)": pl.col("x").clip(-60, 180).mean(),
    "avg(x > 20)": (pl.col("x") > 20).mean(),
    "avg(x < 3)": (pl.col("x") < 3).mean(),
}
QUESTIONS = list(VALUES)
CONDITIONS = ["avg(late)", "avg(x > 20)", "avg(x < 3)", "avg(x < -20)"]
ASKED = {"ladder": CONDITIONS, "parameter-free ladder": CONDITIONS}
TOGETHER = {name for name, kind in CATALOGUE.items() if kind.once}
CHECKED: dict[str, Any] = {"options": {"leakage_nats": 12.0}}
# And with what checks take beside a transfer theorem.
DECLARED: Mapping[str, dict[str, Any]] = {"median noise": CHECKED, "gaussian": CHECKED, **OPENED}


def questions_of(name: str) -> list[str]:
    """What it is asked, four questions."""
    return ASKED.get(name, QUESTIONS)
