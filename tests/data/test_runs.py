"""Scores are sorted on disk where memory is short, and nothing of the result tells."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from holdfast.data import open_sample
from holdfast.data.histogram import summed_by, value_counts
from holdfast.data.ranking import ScoreCounts, merged_scores, ranked_pairs
from holdfast.question import Schema, parse_row
from tests.theory.direct.areas import area_under_curve

scores = st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 1e308, np.inf]) | st.floats(-9, 9)


def counts(values: NDArray[np.float64], labels: NDArray[np.bool_]) -> ScoreCounts:
    return ScoreCounts(values + 0.0, (~labels).astype(np.int64), labels.astype(np.int64))


@given(st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=90), st.integers(1, 20))
def test_merged_runs_are_what_one_sort_gives(rows: list[tuple[float, bool]], size: int) -> None:
    values, labels = np.array([x for x, _ in rows]), np.array([y for _, y in rows])
    batches = (
        counts(values[start : start + size], labels[start : start + size])
        for start in range(0, values.size, size)
    )
    pieces = list(merged_scores(batches, run=12, piece=3))
    found = ScoreCounts(*(np.concatenate(each) for each in zip(*pieces, strict=True)))
    expected, places = np.unique(values + 0.0, return_inverse=True)
    assert found.scores.tolist() == expected.tolist()
    assert found.positives.tolist() == np.bincount(places, labels).tolist()
    assert found.negatives.tolist() == np.bincount(places, ~labels).tolist()


def test_memory_does_not_grow_with_the_scores() -> None:
    def peak(batches: int, run: int = 8_000) -> int:
        def made() -> Iterator[ScoreCounts]:
            rng = np.random.default_rng(3)
            for _ in range(batches):
                yield counts(rng.normal(size=2_000), rng.random(2_000) < 0.5)

        tracemalloc.start()
        try:
            rows = sum(
                int(piece.positives.sum() + piece.negatives.sum())
                for piece in merged_scores(made(), run=run, piece=300)
            )
            assert rows == batches * 2_000
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = peak(10)
    assert peak(40) < 1.5 * few
    assert peak(40, run=10**9) > 3 * few  # where nothing is written to disk


def test_an_auc_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(9)
    frame = pl.DataFrame({"s": rng.normal(size=3_000).round(1), "y": rng.random(3_000) < 0.4})
    sample = open_sample(frame)
    schema = Schema(sample.types)
    found = ranked_pairs(sample, parse_row("s", schema), parse_row("y", schema))
    above, below = (frame.filter(y=label)["s"].to_numpy() for label in (True, False))
    assert (found.positives, found.negatives) == (above.size, below.size)
    area = found.doubled / (2 * above.size * below.size)
    assert area == pytest.approx(area_under_curve(above, below), abs=1e-15)


def test_groups_are_added_up_as_they_come() -> None:
    parts = [pl.DataFrame({"k": np.arange(300_000) % 7, "n": 1}) for _ in range(8)]
    found = summed_by(["k"], parts).sort("k")
    assert found["n"].to_list() == (8 * np.bincount(np.arange(300_000) % 7)).tolist()
    frame = pl.DataFrame({"rows": ["a", None, "a"], "v1": [1, 1, 1]})
    counted = value_counts(open_sample(frame), ["rows", "v1"]).sort("v0")
    assert counted.rows() == [(None, 1, 1), ("a", 1, 2)]
