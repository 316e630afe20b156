"""A table with everything that may be missing, and every statistic computed plainly from its rows.

The plain computations use Python's own arithmetic on lists: no engine, no grid, no canonical form.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from holdfast.data.design import NO_DESIGN, design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sampling import Independent
from holdfast.question import ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Estimate, is_derived
from holdfast.statistics.entry import Bound, Table
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic, is_single, measure
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
COMPLETE = Schema(TYPES).declare(BOUNDS)  # as if no row missed a value
SCHEMA = replace(COMPLETE, never_null=dict.fromkeys(TYPES, False))
DESIGN = ["arm", "site", "y"]


def table(rows: int = 400, seed: int = 3, *, complete: bool = False) -> pl.DataFrame:
    """Correlated columns, with missing values, NaN and infinities in all of them.

    `complete`: only arms and sites, by which rows are grouped, are missing.
    """
    rng = np.random.default_rng(seed)

    def holed(values: Sequence[Any], *, groups: bool = False) -> list[Any]:
        holes = (rng.random(rows) < 0.07) & (groups or not complete)
        return [None if hole else value for value, hole in zip(values, holes, strict=True)]

    arm = rng.choice(["A", "B", "C"], rows)
    y = rng.random(rows) < np.where(arm == "A", 0.4, 0.6)
    p = np.clip(np.where(y, 0.6, 0.4) + rng.normal(0, 0.3, rows), -0.2, 1.2).round(2)
    x = rng.normal(20.0, 60.0, rows)
    x[::50], x[1::50], x[2::50] = 20.0 if complete else math.nan, math.inf, -math.inf
    columns = {
        "arm": holed(arm.tolist(), groups=True),
        "y": holed(y.tolist()),
        "site": holed(rng.integers(0, 4, rows).tolist(), groups=True),
        "x": holed(x.tolist()),
        "z": holed((-12 + 0.05 * np.nan_to_num(x, posinf=0, neginf=0)).tolist()),
        "p": holed(p.tolist()),
        "k": holed(rng.poisson(5, rows).tolist()),
        "new": holed((p > 0.5).tolist()),
        "old": holed((rng.random(rows) < 0.5).tolist()),
    }
    return pl.DataFrame(columns, schema=DTYPES)


def public(
    frame: pl.DataFrame, design: Sequence[str] = DESIGN, *, schema: Schema = SCHEMA
) -> Table:
    """What is public of a frame: its columns, and the cells of its design."""
    found = design_of(PolarsSample(frame), design, Independent()) if design else NO_DESIGN
    return Table(schema, found)


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
    """What a row counts as: cut to the bounds."""
    low, high = BOUNDS[column]
    return float(min(high, max(low, row[column])))


def known(rows: Sequence[Row], *columns: str) -> list[Row]:
    """The rows that have a value in all of the columns."""
    return [row for row in rows if all(row[column] is not None for column in columns)]


def average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def mean_of(column: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: average([number(row, column) for row in known(rows, column)])


def total_of(column: str) -> Callable[[Sequence[Row]], float]:
    """The mean of what each row adds to a total: nothing where the value is missing."""
    return lambda rows: average(
        [0.0 if row[column] is None else number(row, column) for row in rows]
    )


def share(holds: Callable[[Row], Any]) -> Callable[[Sequence[Row]], float]:
    """The share of rows where it holds, among those where it is known whether it does."""
    return lambda rows: average([found for row in rows if (found := holds(row)) is not None])


def among(
    holds: Callable[[Row], Any], of: Callable[[Sequence[Row]], float]
) -> Callable[[Sequence[Row]], float]:
    return lambda rows: of([row for row in rows if holds(row) is True])


def covariance(first: str, second: str) -> Callable[[Sequence[Row]], float]:
    def plain(every: Sequence[Row]) -> float:
        rows = known(every, first, second)
        a, b = mean_of(first)(rows), mean_of(second)(rows)
        return average([(number(row, first) - a) * (number(row, second) - b) for row in rows])

    return plain


def correlation(first: str, second: str) -> Callable[[Sequence[Row]], float]:
    def plain(every: Sequence[Row]) -> float:
        rows = known(every, first, second)
        spread = covariance(first, first)(rows) * covariance(second, second)(rows)
        return covariance(first, second)(rows) / math.sqrt(spread)

    return plain


def slope(y: str, x: str) -> Callable[[Sequence[Row]], float]:
    def plain(every: Sequence[Row]) -> float:
        rows = known(every, x, y)
        return covariance(x, y)(rows) / covariance(x, x)(rows)

    return plain


def rmse(rows: Sequence[Row]) -> float:
    gaps = [number(row, "x") - number(row, "z") for row in known(rows, "x", "z")]
    return math.sqrt(average([gap * gap for gap in gaps]))


def capped(row: Row, first: str, second: str, cap: float) -> float:
    """The capped difference of two columns as they are; the cap where one is missing."""
    return float(min(cap, abs(row[first] - row[second]))) if known([row], first, second) else cap


def mse(rows: Sequence[Row]) -> float:
    return average([capped(row, "x", "z", 30.0) ** 2 for row in rows])


def r2(rows: Sequence[Row]) -> float:
    gaps = [8.0 if row["z"] is None else min(8.0, abs(row["z"] + 3.0)) for row in rows]
    loss = average([capped(row, "k", "z", 9.0) ** 2 for row in rows])
    return max(-1.0, 1.0 - loss / average([gap**2 for gap in gaps]))


def closer(rows: Sequence[Row]) -> float:
    def far(row: Row, column: str) -> tuple[bool, float]:
        """What is missing is behind all others; infinity minus itself is missing."""
        gap = math.nan if row[column] is None else abs(row[column] - row["z"])
        return (True, 0.0) if math.isnan(gap) else (False, gap)

    def sign(row: Row) -> int:
        if row["z"] is None:
            return 0
        return (far(row, "x") < far(row, "k")) - (far(row, "k") < far(row, "x"))

    return average([sign(row) for row in rows])


def geometric_mean(rows: Sequence[Row]) -> float:
    """By the product of the roots, and no logarithm."""
    values = [number(row, "k") + 1.0 for row in known(rows, "k")]
    root = 1.0 / len(values)
    return float(math.prod(value**root for value in values))


def kendall(rows: Sequence[Row]) -> float:
    """Every pair, by counting on which side the rows of smaller second values are."""
    kept = [(row["x"], row["k"]) for row in known(rows, "x", "k")]
    pairs, signs = len(kept) * (len(kept) - 1) // 2, 0
    below: list[float] = []
    for second in sorted({b for _, b in kept}):
        level = [a for a, b in kept if b == second]
        signs += sum(bisect_left(below, a) + bisect_right(below, a) - len(below) for a in level)
        below = sorted([*below, *level])
    return signs / pairs if pairs else 0.0  # no two rows disagree


def auc(rows: Sequence[Row]) -> float:
    """Every pair, by counting what is below and what ties; a missing score is wrong with all."""

    def score(row: Row, worst: float) -> float:
        return worst if row["p"] is None else row["p"]

    good = [score(row, -math.inf) for row in rows if row["y"] is True]
    bad = sorted(score(row, math.inf) for row in rows if row["y"] is not True)
    return average([(bisect_left(bad, a) + bisect_right(bad, a)) / 2 / len(bad) for a in good])


def log_loss(rows: Sequence[Row]) -> float:
    def loss(row: Row) -> float:
        if not known([row], "p", "y"):
            return -math.log(0.01)
        given = number(row, "p") if row["y"] is True else 1.0 - number(row, "p")
        return -math.log(max(given, 0.01))

    return average([loss(row) for row in rows])


def brier(rows: Sequence[Row]) -> float:
    return average(
        [(number(row, "p") - row["y"]) ** 2 if known([row], "p", "y") else 1.0 for row in rows]
    )


def predicted(row: Row) -> bool:
    """What is predicted; what is not predicted is wrong."""
    return row["y"] is not True if row["new"] is None else row["new"]


def f1(rows: Sequence[Row]) -> float:
    hits = sum(predicted(row) and row["y"] is True for row in rows)
    return 2 * hits / sum(predicted(row) + (row["y"] is True) for row in rows)


def balanced_accuracy(rows: Sequence[Row]) -> float:
    classes = [[row for row in rows if (row["y"] is True) is label] for label in (True, False)]
    shares = [
        average([float(predicted(row) is label) for row in own])
        for own, label in zip(classes, (True, False), strict=True)
    ]
    return average(shares)


def right(column: str) -> Callable[[Row], bool]:
    return lambda row: row[column] is not None and row[column] == row["y"]


def in_arm(name: str) -> Callable[[Row], bool]:
    return lambda row: row["arm"] == name


def in_another_arm(name: str) -> Callable[[Row], bool]:
    """Rows of the rest: a missing arm is in neither group."""
    return lambda row: row["arm"] is not None and row["arm"] != name


def some(row: Row) -> bool:
    return row["k"] is not None and row["k"] > 0


def many(row: Row) -> bool:
    return row["k"] is not None and row["k"] > 4


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its value as anyone would compute it; one may have to be `described`."""

    question: str
    plain: Callable[[Sequence[Row]], float]
    described: bool = False


def _less(
    one: Callable[[Sequence[Row]], float], other: Callable[[Sequence[Row]], float]
) -> Callable[[Sequence[Row]], float]:
    return lambda rows: one(rows) - other(rows)


def _paired(rows: Sequence[Row]) -> float:
    both = known(rows, "new", "old", "y")
    return average([right("new")(row) - right("old")(row) for row in both])


def _differing(rows: Sequence[Row]) -> float:
    return average([number(row, "x") - number(row, "z") for row in known(rows, "x", "z")])


def _at_most(row: Row) -> bool | None:
    return None if row["x"] is None else row["x"] <= 12.5


def _both(row: Row) -> bool | None:
    """k > 4 and new, in three-valued logic."""
    some = [None if row["k"] is None else row["k"] > 4, row["new"]]
    return False if False in some else None if None in some else True


CASES = [
    Case("avg(x)", mean_of("x")),
    Case("avg(z)", mean_of("z")),
    Case("avg(new)", share(lambda row: row["new"])),
    Case("avg(x <= 12.5)", share(_at_most)),
    Case(
        "avg(not (x <= 12.5))", share(lambda row: None if row["x"] is None else not _at_most(row))
    ),
    Case("avg(k > 4 and new)", share(_both)),
    Case("avg(k > 4 and new) where arm = 'A'", among(in_arm("A"), share(_both))),
    Case("avg(case when k > 6 then 1 else 0 end)", share(lambda row: (row["k"] or 0) > 6)),
    Case(
        "avg(coalesce(x, 12))",
        lambda rows: average([12.0 if row["x"] is None else number(row, "x") for row in rows]),
    ),
    Case(
        "avg(coalesce(z, -3), variance <= 90)",
        lambda rows: average([-3.0 if row["z"] is None else number(row, "z") for row in rows]),
    ),
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
    Case("sum(z, 1000)", lambda rows: 1000 * total_of("z")(rows)),
    Case("sum(x, 70) where arm = 'B'", lambda rows: 70 * among(in_arm("B"), total_of("x"))(rows)),
    Case("count(new, 900)", lambda rows: 900 * share(lambda row: row["new"] is True)(rows)),
    Case("variance(x)", covariance("x", "x")),
    Case("variance(z) where arm = 'A'", among(in_arm("A"), covariance("z", "z"))),
    Case("std(z)", lambda rows: math.sqrt(covariance("z", "z")(rows))),
    Case("rmse(x, z)", rmse),
    Case("rmse(x, z) where arm = 'A'", among(in_arm("A"), rmse)),
    Case("mse(x, z, 30)", mse),
    Case("mse(x, z, 30) where arm = 'A'", among(in_arm("A"), mse)),
    Case("mae(x, z, 30)", lambda rows: average([capped(row, "x", "z", 30.0) for row in rows])),
    Case("rmse(x, z, 30)", lambda rows: math.sqrt(mse(rows))),
    Case("rmse(x, z, 30) where k > 4", among(many, lambda rows: math.sqrt(mse(rows)))),
    Case("neg_rmse(x, z, 30)", lambda rows: -math.sqrt(mse(rows))),
    Case("r2(k, z, -3, 9, 8)", r2),
    Case("r2(k, z, -3, 9, 8) where arm = 'A'", among(in_arm("A"), r2)),
    Case("closer(x, k, z)", closer),
    Case("closer(x, k, z) where arm = 'A'", among(in_arm("A"), closer)),
    Case("geometric_mean(k + 1)", geometric_mean),
    Case("geometric_mean(k + 1) where arm = 'A'", among(in_arm("A"), geometric_mean)),
    Case("covariance(x, z)", covariance("x", "z")),
    Case("correlation(x, z)", correlation("x", "z")),
    Case("slope(z, x)", slope("z", "x")),
    Case("correlation(k, z) where arm = 'A'", among(in_arm("A"), correlation("k", "z"))),
    # After the correlation, with which it has all its means in common: here they say nothing of it.
    Case("slope(k, z) where arm = 'A'", among(in_arm("A"), slope("k", "z"))),
    Case("difference(new = y, old = y)", _paired),
    Case("difference(new = y, old = y) where arm = 'B'", among(in_arm("B"), _paired)),
    Case("difference(x, z)", _differing),
    Case("difference(avg(x), avg(z))", _less(mean_of("x"), mean_of("z"))),
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
    Case(
        "difference(avg(z) where arm = 'A', rest)",
        _less(among(in_arm("A"), mean_of("z")), among(in_another_arm("A"), mean_of("z"))),
    ),
    Case(
        "difference(avg(z) where arm = 'A', avg(z) where arm = 'B') where k > 0",
        among(some, _less(among(in_arm("A"), mean_of("z")), among(in_arm("B"), mean_of("z")))),
    ),
    Case(
        "effect(z, arm = 'A') where k > 0",
        among(
            some, _less(among(in_arm("A"), mean_of("z")), among(in_another_arm("A"), mean_of("z")))
        ),
    ),
    Case("auc(p, y)", auc),
    Case("kendall(k, x)", kendall),
    Case("kendall(k, x) where arm = 'A'", among(in_arm("A"), kendall), described=True),
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
ALSO = [
    "catoni(x, 900)",
    "coordinate(1, 3, z, k)",
    "coordinate(2, 3, z, k)",
    "coordinate_l1(1, 3, z, k)",
    "coordinate_l1(2, 3, z, k)",
]
TEXTS = [*(case.question for case in CASES), *(text for text, *_ in QUANTILES)]


def parts_of(question: Bound) -> list[Statistic]:
    """Everything that is asked for it (of a quantile, for the middle threshold)."""
    if isinstance(question, Quantile):
        return parts_of(question.threshold(question.place(question.cells // 2)))
    if is_derived(question):
        return [part for stage in question.stages for part in stage]
    assert is_single(question)
    return [question]


def every_part(at: Table) -> list[Statistic]:
    """Everything that is asked for any of the questions, each once."""
    also = Table(COMPLETE, at.design)
    bound = [*(bind(text, at) for text in TEXTS), *(bind(text, also) for text in ALSO)]
    found = [part for question in bound for part in parts_of(question)]
    return list({part.text: part for part in found}.values())


def exact_values(statistics: Sequence[Statistic], sample: Sample) -> dict[str, Estimate]:
    """The sample's values in the statistics' own units, as if they were the truth."""
    found = {}
    for each, measured in zip(statistics, measure(sample, statistics), strict=True):
        value = each.low + (each.high - each.low) * measured.value
        found[each.text] = Estimate(value, Interval(value, value))
    return found


def exactly(question: Bound, sample: Sample) -> Estimate:
    """A question's value at no noise: the exact values of its parts, joined."""
    if is_derived(question):
        found = question.join([exactly(part, sample) for part in parts_of(question)])
        assert found.value is not None
        return Estimate(found.value, found.interval)
    assert is_single(question)
    (own,) = exact_values([question], sample).values()
    return own


def found_exactly(question: str, at: Table, sample: Sample) -> Estimate:
    """The same of its text."""
    return exactly(bind(question, at), sample)


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
