"""A table with everything that may be missing, and every statistic computed plainly from its rows.

The plain computations use Python's own arithmetic on lists: no engine, no grid, no canonical form.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from holdfast.data.design import NO_DESIGN, design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.question import ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Derived, Estimate, is_derived, is_single
from holdfast.statistics.entry import Table
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic, measure
from holdfast.theory.base.intervals import Interval

Row = Mapping[str, Any]

BOUNDS = {"x": (-60.0, 180.0), "z": (-20.0, -3.0), "k": (0.0, 20.0), "p": (0.0, 1.0)}
TYPES = {
    "arm": ColumnType.TEXT,
    "y": ColumnType.BOOLEAN,
    "site": ColumnType.INTEGER,
    "x": ColumnType.FLOAT,
    "z": ColumnType.FLOAT,
    "p": ColumnType.FLOAT,
    "k": ColumnType.INTEGER,
    "new": ColumnType.BOOLEAN,
    "old": ColumnType.BOOLEAN,
}
DTYPES = {
    "arm": pl.String,
    "y": pl.Boolean,
    "site": pl.Int64,
    "x": pl.Float64,
    "z": pl.Float64,
    "p": pl.Float64,
    "k": pl.Int64,
    "new": pl.Boolean,
    "old": pl.Boolean,
}
SCHEMA = Schema(TYPES).declare(BOUNDS)
DESIGN = ["arm", "site", "y"]


def table(rows: int = 400, seed: int = 3) -> pl.DataFrame:
    """Correlated columns, with missing values, NaN and infinities in all of them."""
    rng = np.random.default_rng(seed)

    def holed(values: Sequence[Any]) -> list[Any]:
        return [
            None if hole else value
            for value, hole in zip(values, rng.random(rows) < 0.07, strict=True)
        ]

    arm = rng.choice(["A", "B", "C"], rows)
    y = rng.random(rows) < np.where(arm == "A", 0.4, 0.6)
    p = np.clip(np.where(y, 0.6, 0.4) + rng.normal(0, 0.3, rows), -0.2, 1.2).round(2)
    x = rng.normal(20.0, 60.0, rows)
    x[::50], x[1::50], x[2::50] = math.nan, math.inf, -math.inf
    columns = {
        "arm": holed(arm.tolist()),
        "y": holed(y.tolist()),
        "site": holed(rng.integers(0, 4, rows).tolist()),
        "x": holed(x.tolist()),
        "z": holed((-12 + 0.05 * np.nan_to_num(x, posinf=0, neginf=0)).tolist()),
        "p": holed(p.tolist()),
        "k": holed(rng.poisson(5, rows).tolist()),
        "new": holed((p > 0.5).tolist()),
        "old": holed((rng.random(rows) < 0.5).tolist()),
    }
    return pl.DataFrame(columns, schema=DTYPES)


def public(frame: pl.DataFrame, design: Sequence[str] = DESIGN) -> Table:
    """What is public of a frame: its columns, and the cells of its design."""
    found = design_of(PolarsSample(frame), design, Independent()) if design else NO_DESIGN
    return Table(SCHEMA, found)


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows; NaN is missing."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in frame.to_dicts()
    ]


def number(row: Row, column: str) -> float:
    """What a row counts as: cut to the bounds, and nearest to 0 where the value is missing."""
    low, high = BOUNDS[column]
    value = 0.0 if row[column] is None else row[column]
    return min(high, max(low, value))


def average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def mean_of(column: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: average([number(row, column) for row in rows])


def share(holds: Callable[[Row], Any]) -> Callable[[Sequence[Row]], float]:
    return lambda rows: average([holds(row) is True for row in rows])


def among(
    holds: Callable[[Row], Any], of: Callable[[Sequence[Row]], float]
) -> Callable[[Sequence[Row]], float]:
    return lambda rows: of([row for row in rows if holds(row) is True])


def covariance(first: str, second: str) -> Callable[[Sequence[Row]], float]:
    def plain(rows: Sequence[Row]) -> float:
        a, b = mean_of(first)(rows), mean_of(second)(rows)
        return average([(number(row, first) - a) * (number(row, second) - b) for row in rows])

    return plain


def correlation(first: str, second: str) -> Callable[[Sequence[Row]], float]:
    def plain(rows: Sequence[Row]) -> float:
        spread = covariance(first, first)(rows) * covariance(second, second)(rows)
        return covariance(first, second)(rows) / math.sqrt(spread)

    return plain


def auc(rows: Sequence[Row]) -> float:
    """Every pair, by counting what is below and what ties; a missing score is below all others."""

    def score(row: Row) -> float:
        return -math.inf if row["p"] is None else row["p"]

    good = [score(row) for row in rows if row["y"] is True]
    bad = sorted(score(row) for row in rows if row["y"] is not True)
    return average([(bisect_left(bad, a) + bisect_right(bad, a)) / 2 / len(bad) for a in good])


def log_loss(rows: Sequence[Row]) -> float:
    def loss(row: Row) -> float:
        given = number(row, "p") if row["y"] is True else 1.0 - number(row, "p")
        return -math.log(max(given, 0.01))

    return average([loss(row) for row in rows])


def brier(rows: Sequence[Row]) -> float:
    return average([(number(row, "p") - (row["y"] is True)) ** 2 for row in rows])


def f1(rows: Sequence[Row]) -> float:
    hits = sum(row["new"] is True and row["y"] is True for row in rows)
    return 2 * hits / sum((row["new"] is True) + (row["y"] is True) for row in rows)


def balanced_accuracy(rows: Sequence[Row]) -> float:
    classes = [[row for row in rows if (row["y"] is True) is label] for label in (True, False)]
    shares = [
        average([float((row["new"] is True) is label) for row in own])
        for own, label in zip(classes, (True, False), strict=True)
    ]
    return average(shares)


def right(column: str) -> Callable[[Row], bool]:
    return lambda row: row[column] is not None and row[column] == row["y"]


def in_arm(name: str) -> Callable[[Row], bool]:
    return lambda row: row["arm"] == name


def many(row: Row) -> bool:
    return row["k"] is not None and row["k"] > 4


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its value as anyone would compute it."""

    question: str
    plain: Callable[[Sequence[Row]], float]


def _less(
    one: Callable[[Sequence[Row]], float], other: Callable[[Sequence[Row]], float]
) -> Callable[[Sequence[Row]], float]:
    return lambda rows: one(rows) - other(rows)


def _paired(rows: Sequence[Row]) -> float:
    return average([right("new")(row) - right("old")(row) for row in rows])


CASES = [
    Case("avg(x)", mean_of("x")),
    Case("avg(z)", mean_of("z")),
    Case("avg(new)", share(lambda row: row["new"])),
    Case("avg(z, variance <= 9)", mean_of("z")),
    Case("avg(z) where k > 4", among(many, mean_of("z"))),
    Case("avg(new) where k > 4", among(many, share(lambda row: row["new"]))),
    Case("avg(x) where arm = 'A'", among(in_arm("A"), mean_of("x"))),
    Case("avg(z) where arm = 'A'", among(in_arm("A"), mean_of("z"))),
    Case("avg(new) where arm = 'A'", among(in_arm("A"), share(lambda row: row["new"]))),
    Case("avg(z) where arm is null", among(lambda row: row["arm"] is None, mean_of("z"))),
    Case(
        "avg(z) where not (arm = 'A' and site < 2)",
        # Three-valued: false where arm is another one or site is 2 or more, whatever is missing.
        among(
            lambda row: (
                (row["arm"] is not None and row["arm"] != "A")
                or (row["site"] is not None and row["site"] >= 2)
            ),
            mean_of("z"),
        ),
    ),
    Case("sum(z, 1000)", lambda rows: 1000 * mean_of("z")(rows)),
    Case("sum(x, 70) where arm = 'B'", lambda rows: 70 * among(in_arm("B"), mean_of("x"))(rows)),
    Case("count(new, 900)", lambda rows: 900 * share(lambda row: row["new"])(rows)),
    Case("variance(x)", covariance("x", "x")),
    Case("variance(z) where arm = 'A'", among(in_arm("A"), covariance("z", "z"))),
    Case("std(z)", lambda rows: math.sqrt(covariance("z", "z")(rows))),
    Case("covariance(x, z)", covariance("x", "z")),
    Case("correlation(x, z)", correlation("x", "z")),
    Case("correlation(k, z) where arm = 'A'", among(in_arm("A"), correlation("k", "z"))),
    Case("difference(new = y, old = y)", _paired),
    Case("difference(new = y, old = y) where arm = 'B'", among(in_arm("B"), _paired)),
    Case("difference(x, z)", _less(mean_of("x"), mean_of("z"))),
    Case(
        "difference(avg(z) where arm = 'A', avg(z) where arm = 'B')",
        _less(among(in_arm("A"), mean_of("z")), among(in_arm("B"), mean_of("z"))),
    ),
    Case(
        "difference(avg(z) where k > 4, avg(z) where arm = 'B')",
        _less(among(many, mean_of("z")), among(in_arm("B"), mean_of("z"))),
    ),
    Case(
        "difference(avg(z) where arm = 'B', mean(x) where k > 4)",
        _less(among(in_arm("B"), mean_of("z")), among(many, mean_of("x"))),
    ),
    Case("auc(p, y)", auc),
    Case("accuracy(new, y)", share(right("new"))),
    Case("accuracy(new, y) where arm = 'A'", among(in_arm("A"), share(right("new")))),
    Case("error(new, y)", share(lambda row: not right("new")(row))),
    Case("error(new, y) where k > 4", among(many, share(lambda row: not right("new")(row)))),
    Case("log_loss(p, y)", log_loss),
    Case("brier(p, y)", brier),
    Case("brier(p, y) where arm = 'A'", among(in_arm("A"), brier)),
    Case("f1(new, y)", f1),
    Case("balanced_accuracy(new, y)", balanced_accuracy),
]

QUANTILES = [
    ("quantile(x, 0.9)", "x", 0.9),
    ("median(z)", "z", 0.5),
    ("median(k)", "k", 0.5),
    ("quantile(k, 0.25, 3)", "k", 0.25),
    ("quantile(z, 0.1) where arm = 'A'", "z", 0.1),
]


# Statistics whose values other tests compute plainly; here engines only have to agree.
ALSO = ["catoni(x, 900)", "coordinate(1, 3, z, k)", "coordinate(2, 3, z, k)"]
TEXTS = [*(case.question for case in CASES), *(text for text, *_ in QUANTILES), *ALSO]


def parts_of(question: Statistic | Derived | Quantile) -> list[Statistic]:
    """Everything that is asked for it (of a quantile, the middle threshold)."""
    if isinstance(question, Quantile):
        return [question.threshold(question.place(question.cells // 2))]
    if is_derived(question):
        return [part for stage in question.stages for part in stage]
    assert is_single(question)
    return [question]


def every_part(at: Table) -> list[Statistic]:
    """Everything that is asked for any of the questions, each once."""
    found = [part for question in TEXTS for part in parts_of(bind(question, at))]
    return list({part.text: part for part in found}.values())


def exact_values(statistics: Sequence[Statistic], sample: Sample) -> dict[str, Estimate]:
    """The sample's values in the statistics' own units, as if they were the truth."""
    found = {}
    for each, measured in zip(statistics, measure(sample, statistics), strict=True):
        value = each.low + (each.high - each.low) * measured.value
        found[each.text] = Estimate(value, Interval(value, value))
    return found


def exactly(statistic: Statistic, sample: Sample) -> Estimate:
    """The same for one statistic."""
    (found,) = exact_values([statistic], sample).values()
    return found


def found_exactly(question: str, at: Table, sample: Sample) -> Estimate:
    """The question's value at no noise: the exact values of its parts, joined."""
    bound = bind(question, at)
    if is_derived(bound):
        found = bound.join([exactly(part, sample) for part in parts_of(bound)])
        assert found.value is not None
        return Estimate(found.value, found.interval)
    assert is_single(bound)
    return exactly(bound, sample)


def searched_exactly(quantile: Quantile, sample: Sample) -> tuple[Estimate, int]:
    """A quantile by its search at no noise, and how many thresholds that took."""
    shares: dict[float, Estimate] = {}
    search = quantile.search()
    try:
        v = next(search)
        while True:
            shares[v] = exactly(quantile.threshold(v), sample)
            v = search.send(shares[v].interval)
    except StopIteration:
        return quantile.join(shares), len(shares)


# A population of a few kinds of rows; the truth of every part is its expectation.
KINDS = pl.DataFrame(
    {
        "arm": ["A"] * 6,
        "y": [True, True, False, False, None, True],
        "site": [0] * 6,
        "x": [-60.0, 180.0, 180.0, None, -60.0, 60.0],
        "z": [-20.0, -3.0, -3.0, -20.0, None, -11.0],
        "p": [0.0] * 6,
        "k": [1, 9, 9, 1, 9, None],
        "new": [True, True, True, False, True, None],
        "old": [False] * 6,
    },
    schema=DTYPES,
)
