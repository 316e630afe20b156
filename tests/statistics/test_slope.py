"""The slope of a line: what follows from a covariance and a variance, and when nothing does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.question import ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.derived import Estimate
from holdfast.statistics.description import DescribedParts, described_answer
from holdfast.statistics.entry import Table
from holdfast.statistics.moments import Slope
from holdfast.theory.base.intervals import Interval
from tests.holdout.tables import opened
from tests.ledger.forging import faults
from tests.statistics.asking import ground_on, symbols_of
from tests.theory.coverage import too_many
from tests.theory.direct.worlds import shrunk

BOUNDS = {"x": (0.0, 10.0), "y": (-10.0, 40.0)}
TYPES = dict.fromkeys(BOUNDS, ColumnType.FLOAT)
TRUTH, TRIALS, LEVEL = 2.0, 40, 0.1


def slope_on(schema: Schema) -> Slope:
    question = bind("slope(y, x)", Table(schema))
    assert isinstance(question, Slope)
    return question


def drawn(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    x = rng.uniform(0.0, 10.0, rows)
    return pl.DataFrame({"x": x, "y": TRUTH * x + rng.uniform(-5.0, 5.0, rows)})


def between(place: float, interval: Interval) -> float:
    return interval.low + place * (interval.high - interval.low)


ENDS = (
    st.tuples(st.floats(-50, 50), st.floats(-50, 50)).map(sorted).map(lambda ends: Interval(*ends))
)
VARIANCES = st.tuples(st.floats(0.01, 25), st.floats(0.01, 25)).map(sorted)


@given(ENDS, VARIANCES.map(lambda ends: Interval(*ends)), st.floats(0, 1), st.floats(0, 1))
def test_every_quotient_of_the_box_is_inside(
    covariance: Interval, variance: Interval, one: float, other: float
) -> None:
    question = slope_on(Schema(TYPES).declare(BOUNDS))
    parts = [Estimate(between(0.5, each), each) for each in (covariance, variance)]
    found = question.join(parts)
    quotient = between(one, covariance) / between(other, variance)
    assert found.interval.low - 1e-9 <= quotient <= found.interval.high + 1e-9
    assert found.value is not None
    assert found.value in found.interval


def test_a_variance_that_may_be_0_says_nothing() -> None:
    question = slope_on(Schema(TYPES).declare(BOUNDS))
    covariance = Estimate(16.0, Interval(13.0, 19.0))
    for low in (0.0, 1e-9):  # of which the slope may be steeper than any that is told
        found = question.join([covariance, Estimate(8.0, Interval(low, 9.0))])
        assert (found.value, found.interval) == (None, Interval(question.low, question.high))


def told(frame: pl.DataFrame, beta: float) -> tuple[float, Interval]:
    sample = PolarsSample(frame)
    ground = ground_on(sample, BOUNDS, beta=beta)
    answer = described_answer(ground.prior.read("slope(y, x)"), ground)
    assert isinstance(answer, DescribedParts)
    estimates = []
    for part in answer.parts:
        found = part.rule.decode(symbols_of(sample, part))
        assert found.value is not None
        width = part.high - part.low
        ends = (part.low + end * width for end in found.interval)
        estimates.append(Estimate(part.low + found.value * width, Interval(*ends)))
    joined = answer.join(estimates)
    assert joined.value is not None
    return joined.value, joined.interval


def test_coverage_and_its_twin() -> None:
    rng = np.random.default_rng(27)
    missed, sabotaged = [], []
    for _ in range(TRIALS):
        value, interval = told(drawn(rng, 400), 0.999)
        missed.append(TRUTH not in interval)
        sabotaged.append(TRUTH not in shrunk(interval, value, 0.02))
    assert not too_many(np.array(missed), LEVEL)
    assert too_many(np.array(sabotaged), LEVEL)


def test_covariance_and_variance_are_paid_for_once(tmp_path: Path) -> None:
    frame = drawn(np.random.default_rng(1), 2000)
    rows = pl.int_range(frame.height)
    frame = frame.with_columns(pl.when(rows % 20 != 3).then("y").alias("y"))
    with opened(tmp_path, frame, schema=BOUNDS, described="exact") as holdout:
        answer = holdout.ask("slope(y, x)")
        assert TRUTH in answer.interval
        assert {look.rows for look in holdout.ledger.looks} == {(1900, 1900)}
        assert answer.interval.low > 1.2
        spent = holdout.budget.nats
        parts = holdout.ask_many(["covariance(x, y)", "variance(x) where y is not null"])
        assert holdout.budget.nats == spent
        assert answer.value == pytest.approx(float(parts[0]) / float(parts[1]))
        flat = holdout.ask("slope(y, x) where x > 9.9")
        assert flat.status == "says nothing"
    assert faults(tmp_path / "t.ledger") == []


def test_rows_are_those_that_have_both_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, 400)
    y = pl.Series([None if place % 9 == 0 else value for place, value in enumerate(x)])
    path = tmp_path / "t.ledger"
    with holdfast.open(pl.DataFrame({"x": x, "y": y}), ledger=path) as ds:
        for text in ("slope(clip(y, 0, 1), clip(x, 0, 1))", "slope(clip(x, 0, 1), clip(y, 0, 1))"):
            answer = ds.ask(text)
            assert (answer.n, answer.missing) == (355, 45)
            assert "355 of 400 rows, 45 missing" in str(answer)
    assert all(finding.fine for finding in audit(path))


def test_a_constant_has_no_slope() -> None:
    with pytest.raises(InvalidQuestion, match="values that differ"):
        bind("slope(y, clip(x, 3, 3))", Table(Schema(TYPES).declare(BOUNDS)))
