"""Splitting a table: disjoint, exhaustive, the same everywhere."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from holdfast.data import cluster_sizes, open_sample, split
from holdfast.data.polars import PolarsSample
from holdfast.data.split import put_aside
from holdfast.errors import InvalidArgument


def numbered(n: int) -> pl.DataFrame:
    return pl.DataFrame({"id": range(n), "who": [f"p{each * 7919 % 13}" for each in range(n)]})


@given(st.integers(2, 60), st.floats(0.01, 0.99), st.integers(0, 2**70))
def test_parts_are_disjoint_exhaustive_and_in_order(n: int, share: float, seed: int) -> None:
    if not 0 < round(share * n) < n:
        with pytest.raises(InvalidArgument, match="both parts"):
            split(numbered(n), share, seed)
        return
    train, hold = split(numbered(n), share, seed)
    assert hold.height == round(share * n)
    assert sorted(train["id"].to_list() + hold["id"].to_list()) == list(range(n))
    assert train["id"].is_sorted()
    assert hold["id"].is_sorted()
    again = split(numbered(n), share, seed)
    assert again[0].equals(train)


def test_the_split_is_what_it_was() -> None:
    _, hold = split(numbered(12), 0.5, 0)
    assert hold["id"].to_list() == [0, 1, 2, 6, 8, 10]


PUT_ASIDE: dict[str | None, tuple[str, int, list[int]]] = {
    None: ("table-5d481e71", 160, [2, 5, 8, 9, 18, 21]),
    "who": ("table-2827190d", 154, [5, 6, 7, 9, 12, 18]),
    "id": ("table-9724d443", 160, [3, 5, 7, 10, 11, 14]),
    "share": ("table-48cabc41", 160, [3, 4, 5, 21, 22, 23]),
}


@pytest.mark.parametrize("by", PUT_ASIDE)
def test_what_is_put_aside_is_what_it_was(by: str | None) -> None:
    """Ledgers keep the share and the column alone: with another part every old table is unknown."""
    frame = numbered(400).with_columns(share=pl.col("id") // 3 / 4, late=pl.col("id") % 3 == 0)
    divided = put_aside(PolarsSample(frame.sample(fraction=1.0, shuffle=True, seed=2)), 0.4, by)
    first = sorted(pl.concat(divided.train.frames(["id"]))["id"].to_list())[:6]
    assert (divided.name, divided.train.n, first) == PUT_ASIDE[by]


def test_every_frame_is_split_alike() -> None:
    frame = numbered(100)
    train, hold = split(frame, 0.3, 5)
    pandas = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    train_pandas, hold_pandas = split(pandas, 0.3, 5)
    assert isinstance(train_pandas, pd.DataFrame)
    assert hold_pandas["id"].tolist() == hold["id"].to_list()
    assert train_pandas.index.tolist() == train["id"].to_list()  # the index stays with its row


def test_clusters_stay_together() -> None:
    frame = numbered(1000).with_columns(
        who=pl.when(pl.col("id") % 50 == 0).then(None).otherwise("who")
    )
    train, hold = split(frame, 0.5, 1, by="who")
    assert not set(train["who"]) & set(hold["who"])
    assert train.height + hold.height == 1000
    assert hold["who"].n_unique() == 7  # of 13 and the missing one


def test_rows_are_chosen_at_random() -> None:
    # Each row is held out in about half of the splits; five standard deviations either way.
    n, trials = 40, 2000
    counts = np.zeros(n)
    together = 0
    for seed in range(trials):
        _, hold = split(numbered(n), 0.5, seed)
        held = hold["id"].to_numpy()
        counts[held] += 1
        together += bool({0, 1} <= set(held.tolist()))
    assert np.all(np.abs(counts - trials / 2) < 5 * np.sqrt(trials) / 2)
    chance = 0.5 * 19 / 39
    assert abs(together - trials * chance) < 5 * np.sqrt(trials * chance * (1 - chance))


@pytest.mark.parametrize(
    "arguments",
    [
        {"test_size": 0.0},
        {"test_size": 1.0},
        {"test_size": "half"},
        {"random_state": -1},
        {"random_state": 1.5},
        {"by": "nobody"},
        {"data": [1, 2]},
        {"data": pl.DataFrame({"id": [1]})},
    ],
)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        split(**{"data": numbered(10), **arguments})


def test_cluster_sizes() -> None:
    frame = pl.DataFrame({"who": ["a", "b", "a", None, None, "a"], "k": [1, 1, 2, 2, 3, None]})
    relation = duckdb.connect().sql("SELECT * FROM (VALUES ('a'), ('b'), ('a'), (NULL)) t(who)")
    assert cluster_sizes(open_sample(frame), "who") == [3, 2, 1]
    assert cluster_sizes(open_sample(frame), "k") == [2, 2, 1, 1]
    assert cluster_sizes(open_sample(relation), "who") == [2, 1, 1]
    odd = pl.DataFrame({"x": [math.nan, None, 1.0, -0.0, 0.0, math.nan]})
    assert cluster_sizes(open_sample(odd), "x") == [3, 2, 1]  # what is missing is one unit
    with pytest.raises(InvalidArgument, match=r"'whom', which .* did you mean 'who'"):
        cluster_sizes(open_sample(frame), "whom")
