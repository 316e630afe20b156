"""Kendall's tau by its description: blocks of rows in orders that the key draws."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent, m_dependent
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.errors import InvalidQuestion
from holdfast.question import ColumnType, Schema
from holdfast.statistics.bind import bind
from holdfast.statistics.description import Prior, described
from holdfast.statistics.entry import Table
from holdfast.statistics.rule import UNKNOWN
from holdfast.statistics.whole import Kendall
from holdfast.theory.base.concentration import TwoSampleU
from tests.data.engines import duckdb_connection
from tests.statistics.asking import ground_on, question_on, symbols_of, told
from tests.theory.coverage import too_many
from tests.theory.direct.worlds import shrunk

TEXT = "kendall(x, y)"
TRUTH = 5 / 12  # two rows with y = x: 1; one of them: E(2F - 1)^2 = 1/3; none: 0
TYPES = {"x": ColumnType.FLOAT, "y": ColumnType.FLOAT, "z": ColumnType.FLOAT}


def drawn(rng: np.random.Generator, rows: int) -> pl.DataFrame:
    """Numbers that no range holds: y has the order of x, or that of another number, by a coin."""
    x, other = rng.standard_cauchy((2, rows))
    return pl.DataFrame({"x": x, "y": np.where(rng.random(rows) < 0.5, x, other)})


def test_it_is_the_sample_s_tau_of_the_rows_that_have_both() -> None:
    frame = drawn(np.random.default_rng(1), 3000)
    places = pl.int_range(frame.height)
    frame = frame.with_columns(
        pl.when(places % 10 != 0).then("x").alias("x"), (places % 3 == 0).alias("late")
    )
    ground = ground_on(PolarsSample(frame))
    for text, rows in ((TEXT, frame), (f"{TEXT} where late", frame.filter("late"))):
        known = rows.drop_nulls()
        found = told(frame, text, ground)
        tau = stats.kendalltau(known["x"], known["y"]).statistic
        assert found.value == pytest.approx((1 + tau) / 2, abs=1e-3)
        assert found.rows == (known.height, known.height)
        assert found.missing == (rows.height - known.height,) * 2
        assert found.interval.low < (1 + TRUTH) / 2 < found.interval.high


def test_stored_orders_and_engines_do_not_matter() -> None:
    frame = drawn(np.random.default_rng(2), 700)
    asked = question_on(ground_on(PolarsSample(frame)), TEXT)
    symbols = symbols_of(PolarsSample(frame), asked)
    sorted_rows = PolarsSample(frame.sort("y", descending=True).lazy())
    for sample in (sorted_rows, DuckDBSample(duckdb_connection().from_arrow(frame.to_arrow()))):
        assert symbols_of(sample, asked) == symbols


def test_coverage_and_its_twin() -> None:
    rng = np.random.default_rng(3)
    missed, sabotaged = [], []
    for _ in range(60):
        frame = drawn(rng, 300)
        found = told(frame, TEXT, ground_on(PolarsSample(frame), beta=0.999))
        assert found.value is not None
        truth = (1 + TRUTH) / 2
        missed.append(truth not in found.interval)
        sabotaged.append(truth not in shrunk(found.interval, found.value, 0.1))
    assert not too_many(np.array(missed), 0.1)
    assert too_many(np.array(sabotaged), 0.1)


def test_it_costs_a_log_loss_that_nobody_can_ask_for() -> None:
    prior = Prior(Schema(TYPES))
    both = prior.bits(TEXT)
    assert both == prior.bits("kendall(y, x)")
    # log_loss 10 of 1000, 0 as a number, two of three like columns in any order, of all rows.
    zero, columns = prior.bits("kendall(x, x)").plain, 2 * np.log2(3 / 0.8)
    assert zero == pytest.approx(np.log2(100) + 3.468 + columns - np.log2(0.86), abs=0.01)
    assert both.plain == pytest.approx(zero - 1.0, abs=0.002)
    with pytest.raises(InvalidQuestion, match="floor"):
        prior.read("log_loss(clip(x, 0, 1), y > 0, 0)")


def test_where_it_has_no_theorem_it_is_refused() -> None:
    missing = Schema(TYPES, never_null={"x": False})
    for text, schema in ((f"{TEXT} where z > 0", Schema(TYPES)), (TEXT, missing)):
        question = bind(text, Table(schema))
        assert isinstance(question, Kendall)
        with pytest.raises(InvalidQuestion, match="both numbers"):
            question.concentration(100, Independent())
    whole = bind(TEXT, Table(Schema(TYPES)))
    assert isinstance(whole, Kendall)
    assert whole.concentration(101, Independent()) == TwoSampleU(50, 51)  # two halves of odd rows
    frame = drawn(np.random.default_rng(4), 40)
    dependent = ground_on(PolarsSample(frame), sampling=m_dependent(1))
    assert described(dependent.prior.read(TEXT), dependent) is None
    few = frame[:1]
    assert told(few, TEXT, ground_on(PolarsSample(few))).interval == UNKNOWN
