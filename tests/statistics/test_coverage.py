"""Every statistic's radius covers where it is tight, with rows that depend on each other too.

Each simulation stands beside a twin that forgets one thing (the group's size, the units, the ties
of neighbours, which class is smaller) and must fail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from holdfast.data.design import Group, design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Clustered, Independent, MDependent, Sampling, m_dependent
from holdfast.question import GRID, ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Derived, Estimate, is_derived
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import GroupMean
from holdfast.statistics.quantile import Quantile
from holdfast.statistics.statistic import Statistic, is_single
from holdfast.statistics.whole import Auc, statistic
from holdfast.theory.base.intervals import Interval
from tests.statistics.zoo import COMPLETE, KINDS, parts_of, public
from tests.theory.coverage import LEVELS, too_many

pytestmark = pytest.mark.statistical
levels = pytest.mark.parametrize(("beta", "trials"), LEVELS)
Values = NDArray[np.float64]

TYPES = {"arm": ColumnType.TEXT, "unit": ColumnType.INTEGER, "late": ColumnType.BOOLEAN}


def at(arm: Sequence[str], unit: Sequence[int] | None = None) -> Table:
    """A table whose arms (and units) are these."""
    frame = pl.DataFrame({"arm": arm, "unit": [0] * len(arm) if unit is None else unit})
    design = design_of(
        PolarsSample(frame),
        ["arm"],
        Independent() if unit is None else Clustered("unit", sizes="fixed"),
    )
    return Table(Schema(TYPES), design)


def missed(
    values: Values, truth: float, question: Statistic, rows: int, sampling: Sampling, beta: float
) -> NDArray[np.bool_]:
    radius = question.concentration(rows, sampling).radius(math.log(beta))
    return np.abs(values - truth) > radius


def coins(seed: int, trials: int, count: int) -> Values:
    """How many of `count` fair coins are heads, in each trial."""
    return np.random.default_rng([41, seed]).binomial(count, 0.5, trials).astype(float)


@levels
def test_a_design_group_is_as_wide_as_its_own_rows_allow(beta: float, trials: int) -> None:
    """Fair coins in a group of 60 of 600 rows; the twin believes that all rows are in it."""
    question = bind("avg(late) where arm = 'A'", at(["A"] * 60 + ["B"] * 540))
    assert isinstance(question, GroupMean)
    values = coins(1, trials, 60) / 60
    assert not too_many(missed(values, 0.5, question, 600, Independent(), beta), beta)
    twin = replace(question, group=Group(600, 600))
    assert too_many(missed(values, 0.5, twin, 600, Independent(), beta), beta)


@levels
@pytest.mark.parametrize("straddling", [False, True])
def test_a_design_group_of_clustered_rows(beta: float, trials: int, straddling: bool) -> None:
    """Units of 6 equal rows, inside one arm or in two; the twin takes rows for independent."""
    units = np.repeat(np.arange(40), 6)
    arm = np.where((np.arange(240) % 6 < 3) if straddling else units < 20, "A", "B")
    question = bind("avg(late) where arm = 'A'", at(arm.tolist(), units.tolist()))
    assert isinstance(question, GroupMean)
    assert question.group.size == 120
    own = 40 if straddling else 20
    values = coins(2, trials, own) / own
    sampling = Clustered("unit", sizes="fixed", size=6.0)
    assert not too_many(missed(values, 0.5, question, 240, sampling, beta), beta)
    twin = replace(question, group=Group(120, 120))
    assert too_many(missed(values, 0.5, twin, 240, sampling, beta), beta)


def test_groups_of_units_count_no_less_than_their_squares() -> None:
    """Against brute force: the sum over units of the squared number of their rows in the group."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        arm = rng.choice(["A", "B", "C"], 60)
        unit = rng.integers(0, rng.integers(1, 30), 60)
        table = at(arm.tolist(), unit.tolist())
        for text in ("arm = 'A'", "arm != 'A'", "arm is not null"):
            inside = {"arm = 'A'": arm == "A", "arm != 'A'": arm != "A"}.get(text, arm != "")
            exact = sum(int(np.sum(inside & (unit == each))) ** 2 for each in set(unit.tolist()))
            group = table.design.group(table.condition(text))
            assert group.size == int(inside.sum())
            assert group.squares >= exact
            if text == "arm = 'A'" or not table.design.straddling:
                assert group.squares == exact  # nothing is lost in one cell


@levels
def test_a_design_group_of_rows_in_order(beta: float, trials: int) -> None:
    """Runs of 5 equal rows inside the group; the twin forgets that neighbours depend."""
    arm = np.where(np.arange(400) % 20 < 10, "A", "B")
    question = bind("avg(late) where arm = 'A'", at(arm.tolist()))
    values = coins(3, trials, 40) / 40
    assert is_single(question)
    assert not too_many(missed(values, 0.5, question, 400, m_dependent(4), beta), beta)
    assert too_many(missed(values, 0.5, question, 400, MDependent(0), beta), beta)


@levels
def test_an_auc_is_as_wide_as_the_smaller_class(beta: float, trials: int) -> None:
    """20 positives fall above or below 500 equal negatives; the twin mistakes the classes."""
    frame = pl.DataFrame({"y": [True] * 20 + [False] * 500})
    types = {"y": ColumnType.BOOLEAN, "p": ColumnType.FLOAT}
    table = Table(Schema(types), design_of(PolarsSample(frame), ["y"], Independent()))
    question = bind("auc(p, y)", table)
    assert isinstance(question, Auc)
    assert (question.positives, question.negatives) == (20, 500)
    heads = coins(4, trials, 20)
    for count in (0, 7, 20):  # what the sample says is the share of positives above
        p = [2.0] * count + [0.0] * (20 - count) + [1.0] * 500
        measured = question.read(PolarsSample(frame.with_columns(p=pl.Series(p))))
        assert measured.value == count / 20
    assert not too_many(missed(heads / 20, 0.5, question, 520, Independent(), beta), beta)
    twin = replace(question, positives=500)
    assert too_many(missed(heads / 20, 0.5, twin, 520, Independent(), beta), beta)


def of_table(**declared: Any) -> Statistic:
    return statistic(
        lambda frame: float(frame["x"].sum()),
        columns=["x"],
        bounds=(-5.0, 5.0),
        name="f",
        **declared,
    )


@levels
def test_bounded_differences(beta: float, trials: int) -> None:
    """(Heads - 50)/20 of 100 rows: a row changes it by 1/20; the twin says by a third of that."""
    values = (coins(5, trials, 100) - 50) / 20 / 10 + 0.5  # as a fraction of the range
    question, twin = of_table(change=1 / 20), of_table(change=1 / 60)
    assert not too_many(missed(values, 0.5, question, 100, Independent(), beta), beta)
    assert too_many(missed(values, 0.5, twin, 100, Independent(), beta), beta)


@levels
def test_bounded_differences_of_units(beta: float, trials: int) -> None:
    """Units of 4 equal rows; the twin takes the rows for independent."""
    values = (coins(6, trials, 100) * 4 - 200) / 40 / 10 + 0.5
    question = of_table(change=1 / 40)
    assert not too_many(
        missed(values, 0.5, question, 400, Clustered("unit", sizes="fixed", size=4.0), beta), beta
    )
    assert too_many(missed(values, 0.5, question, 400, Independent(), beta), beta)


@levels
def test_declared_deviations(beta: float, trials: int) -> None:
    """Gaussian with sigma 0.3, whatever the rows; the twin declares half of it."""
    rng = np.random.default_rng(7)
    values = rng.normal(0.0, 0.3, trials) / 10 + 0.5
    for sampling in (Independent(), MDependent(3), Clustered("unit", sizes="fixed", size=4.0)):
        question, twin = of_table(sigma=0.3), of_table(sigma=0.15)
        assert not too_many(missed(values, 0.5, question, 10, sampling, beta), beta)
        assert too_many(missed(values, 0.5, twin, 10, sampling, beta), beta)


@levels
def test_declared_sub_exponential_deviations(beta: float, trials: int) -> None:
    """A centred exponential has sigma^2 = 2, b = 2; the twin knows its variance, 1, and no b."""
    rng = np.random.default_rng(9)
    values = (rng.exponential(1.0, trials) - 1.0) / 10 + 0.5
    question, twin = of_table(sigma=math.sqrt(2.0), b=2.0), of_table(sigma=1.0)
    assert not too_many(missed(values, 0.5, question, 10, Independent(), beta), beta)
    if beta < 0.01:  # it is the far tail that a Gaussian does not have
        assert too_many(missed(values, 0.5, twin, 10, Independent(), beta), beta)


@levels
@pytest.mark.parametrize("level", [0.5, 0.5 + 2.0**-40])
def test_a_quantile_where_the_distribution_reaches_its_level(
    beta: float, trials: int, level: float
) -> None:
    """Values 3 and 7 with equal chances: F(3) is 1/2, so the median is 3, just above it is 7."""
    quantile = bind(
        f"quantile(clip(x, 0, 10), {level!r}, 1)",
        Table(Schema({"x": ColumnType.FLOAT})),
    )
    assert isinstance(quantile, Quantile)
    truth = 3.0 if level == 0.5 else 7.0
    n = 100
    low = coins(10, trials, n) / n

    def share_of_misses(shrunk: float) -> NDArray[np.bool_]:
        share = quantile.threshold(3.0)
        assert is_single(share)
        radius = shrunk * share.concentration(n, Independent()).radius(math.log(beta))
        wrong = {}
        for value in np.unique(low):
            shares = {
                v: Estimate(f, Interval(f - radius, f + radius))
                for v in map(quantile.place, range(quantile.cells))
                for f in [0.0 if v < 3 else float(value) if v < 7 else 1.0]
            }
            found = quantile.join(shares).interval
            wrong[value] = not found.low <= truth <= found.high
        return np.array([wrong[value] for value in low])

    assert not too_many(share_of_misses(1.0), beta)
    assert too_many(share_of_misses(0.3), beta)


# Statistics of several parts ---------------------------------------------------------------------

# A population of a few kinds of rows; the truth of every part is its expectation.
CHANCES = np.array([0.25, 0.2, 0.2, 0.2, 0.05, 0.1])
SEVERAL = [
    "avg(x) where k > 4",
    "avg(y) where x > 100",
    "variance(x)",
    "std(z)",
    "covariance(x, z)",
    "correlation(x, z)",
    "sum(z, 500)",
    "f1(new, y)",
    "balanced_accuracy(new, y)",
    "difference(avg(x) where k > 4, avg(x) where k <= 4)",
    "difference(avg(x), avg(z) where k > 4)",
]


def per_kind(part: Statistic) -> Values:
    """The part's value for each kind of row, as a fraction of its range."""
    assert part.row is not None
    rows = [PolarsSample(KINDS[place]) for place in range(KINDS.height)]
    return np.array([row.sums([part.row])[0] / GRID for row in rows])


def joined(question: Derived, parts: Sequence[Statistic], q: Values, radius: float) -> Interval:
    estimates = []
    for part, value in zip(parts, q.tolist(), strict=True):
        width = part.high - part.low
        ends = (max(0.0, value - radius), min(1.0, value + radius))
        low, high = (part.low + width * end for end in ends)
        estimates.append(Estimate(part.low + width * value, Interval(low, high)))
    return question.join(estimates).interval


@pytest.mark.parametrize("text", SEVERAL)
@pytest.mark.parametrize("unit", [1, 5])
def test_what_follows_from_several_parts(text: str, unit: int) -> None:
    """Rows one by one, and units of five equal rows; the twin shrinks every part's radius."""
    beta, n, trials = 0.05, 400, 600
    question = bind(text, public(KINDS, [], schema=COMPLETE))
    assert is_derived(question)
    parts = parts_of(question)
    values = np.array([per_kind(part) for part in parts])
    truth = joined(question, parts, values @ CHANCES, 0.0)
    rng = np.random.default_rng([12, unit])
    counts = rng.multinomial(n // unit, CHANCES, trials) / (n // unit)
    sampling: Sampling = (
        Independent() if unit == 1 else Clustered("unit", sizes="fixed", size=float(unit))
    )
    radius = parts[0].concentration(n, sampling).radius(math.log(beta / len(parts)))
    for shrunk, fails in ((1.0, False), (0.03, True)):
        found = [joined(question, parts, values @ each, shrunk * radius) for each in counts]
        wrong = np.array(
            [not (each.low <= truth.high and truth.low <= each.high) for each in found]
        )
        assert too_many(wrong, beta) is fails
