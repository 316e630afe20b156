"""What direct intervals need from the rows, against the raw engine and against a clock."""

from __future__ import annotations

import tempfile
from dataclasses import astuple
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.asking import LARGE, table
from benchmarks.measure import Row, compare, within
from holdfast.data.polars import PolarsSample
from holdfast.data.ranking import shuffled_classes
from holdfast.data.values import distinct_unit_values
from holdfast.question import RowValue, Schema, parse_row, row_value
from holdfast.theory.base.intervals import quantile_ranks
from holdfast.theory.direct.auc import auc_interval, block_counts, rank_areas
from holdfast.theory.direct.bounded_mean import enclosed_mean_interval
from holdfast.theory.direct.correlation import correlation_by_bets
from holdfast.theory.direct.spread import enclosed_std_by_bets

LOG_P, MILLION = -20.0, 1_000_000


def bins(folder: Path) -> list[Row]:
    """Ten million rows of Parquet: intervals from counts in bins, against Polars itself."""
    path = folder / "large.parquet"
    table(LARGE).write_parquet(path)
    lazy = pl.scan_parquet(path)
    sample = PolarsSample(lazy)
    clipped, condition = _value(sample, "clip(x0, -3, 3)"), _value(sample, "x0 > 1")
    raw = pl.col("x0").clip(-3, 3)

    def mean(row: RowValue) -> None:
        (found,) = sample.histograms([(row, None)])
        enclosed_mean_interval(found.low, found.high, LOG_P, found.counts)

    def median() -> None:
        (found,) = sample.histograms([(clipped, None)])
        low, high = quantile_ranks(found.rows, 0.5, LOG_P)
        found.between(low)
        found.between(high)

    def std() -> None:
        (found,) = sample.histograms([(clipped, None)])
        enclosed_std_by_bets(found.low, found.high, LOG_P, found.counts)

    return [
        compare(
            "histogram of a bounded value, 10M rows",
            lambda: sample.histograms([(clipped, None)]),
            "Polars: its mean",
            lambda: lazy.select(raw.mean()).collect(engine="streaming"),
            at_most=3.0,
        ),
        compare(
            "interval of a condition, 10M rows",
            lambda: mean(condition),
            "Polars: its mean",
            lambda: lazy.select((pl.col("x0") > 1).mean()).collect(engine="streaming"),
            at_most=3.0,
        ),
        compare(
            "interval of a median, 10M rows",
            median,
            "Polars: the median",
            lambda: lazy.select(raw.median()).collect(engine="streaming"),
            at_most=2.0,
        ),
        within("interval of a bounded mean, 10M rows", lambda: mean(clipped), at_most=30.0),
        within("interval of a standard deviation, 10M rows", std, at_most=30.0),
    ]


def rankings() -> list[Row]:
    """A million rows in memory: what needs the rows beside each other."""
    rng = np.random.default_rng(2)
    x, positive = rng.normal(size=MILLION), rng.random(MILLION) < 0.4
    columns = {"x": x, "y": x + rng.normal(size=MILLION), "score": x + positive, "p": positive}
    sample = PolarsSample(pl.DataFrame(columns))
    schema = Schema(sample.types)
    pair = [_value(sample, f"clip({name}, -5, 5)") for name in ("x", "y")]

    def correlation() -> None:
        (first, second), times = distinct_unit_values(sample, pair)
        correlation_by_bets(first, second, LOG_P, times)

    def auc() -> None:
        score, label = (parse_row(name, schema) for name in ("score", "p"))
        with shuffled_classes(sample, score, label, bytes(32)) as found:
            doubled, n1, n0 = astuple(found.pairs)
            counts = block_counts(n1, n0)
            both = zip(found.positives.orders(), found.negatives.orders(), strict=True)
            areas = [[rank_areas(*ranks, blocks) for blocks in counts] for ranks in both]
        few, many = map(np.stack, zip(*areas, strict=True))
        auc_interval(doubled / (2 * n1 * n0), n1, n0, few, many, LOG_P)

    return [
        within("interval of a correlation, 1M rows", correlation, at_most=60.0),
        within("interval of an AUC, 1M rows", auc, at_most=10.0),
    ]


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        return [*bins(Path(name)), *rankings()]


def _value(sample: PolarsSample, written: str) -> RowValue:
    return row_value(parse_row(written, Schema(sample.types)))
