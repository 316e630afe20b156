"""The table of every statistic, protected, and what its rows say."""

from __future__ import annotations

import math
from typing import Any

import holdfast
from tests.statistics.zoo import BOUNDS, DESIGN, number, rows_of, table

HOLD, TRAIN = table(20_000, 5, complete=True), table(20_000, 6, complete=True)
ROWS = rows_of(HOLD)
FACTS: dict[str, Any] = {
    "mechanism": "bounded noise",
    "questions": 400,
    "tolerance": 0.15,
    "schema": BOUNDS,
    "design": DESIGN,
}
SPREAD = holdfast.statistic(
    lambda frame: float(frame["z"].clip(-20, -3).fill_null(-3.0).to_numpy().std()),
    columns=["z"],
    bounds=(0, 9),
    name="spread",
    sigma=0.05,
)


def contains(interval: tuple[float, float], value: float) -> bool:
    slack = 1e-6 * max(1.0, abs(value))  # the grid's
    return interval[0] - slack <= value <= interval[1] + slack


def lower_quantile(column: str, level: float, arm: str | None) -> float:
    values = sorted(number(row, column) for row in ROWS if arm is None or row["arm"] == arm)
    return values[math.ceil(level * len(values)) - 1]
