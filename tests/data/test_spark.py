"""The Spark engine. A query takes it long, so many examples are checked in one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import holdfast
from holdfast.data import fingerprint, open_sample
from holdfast.data.design import design_of
from holdfast.data.fingerprint import WordSums
from holdfast.data.histogram import value_counts
from holdfast.data.keys import key_order, ordered
from holdfast.data.polars import PolarsSample
from holdfast.data.ranking import ranked_pairs
from holdfast.data.sample import Sample
from holdfast.data.sampling import clustered
from holdfast.data.sql.spark import SparkSample, always_computed
from holdfast.data.sql.spark_watch import MOST_IN_BIGINT, WatchedTable
from holdfast.data.values import distinct_unit_values
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.question import Schema, parse_row, row_function, row_value
from holdfast.question.expression import ColumnType, Expression
from holdfast.question.functions import bind_function
from holdfast.question.row import GRID, RowValue
from holdfast.statistics.statistic import measure
from tests.data.doubles import ARITHMETIC, at_both_ends, elementary, is_right
from tests.data.engines import bounded, equals_column, moments_of, with_references
from tests.data.typed import FRAME, ODD
from tests.holdout.tables import table
from tests.question.interpreter import conditions, evaluate, numbers, tables
from tests.seam import SUMMING, real, settings_of_driver
from tests.spark import (
    NEEDS_CONNECT,
    NEEDS_SPARK,
    connect_session,
    session,
    spark_frame,
    spark_sample,
)
from tests.statistics import zoo

pytestmark = [pytest.mark.long, NEEDS_SPARK]

T = TypeVar("T")


def drawn(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """So many examples, to be looked at together."""
    found: list[T] = []

    @settings(max_examples=count)
    @given(strategy)
    def draw(example: T) -> None:
        found.append(example)

    draw()
    return found


def rows_of(sample: Sample, *texts: str) -> list[RowValue]:
    return [row_value(parse_row(text, Schema(sample.types))) for text in texts]


def counts(sample: Sample, *texts: str) -> list[int]:
    """In how many rows each condition holds."""
    rows = rows_of(sample, *texts)
    sample.prepare(rows)
    return [total // GRID for total in sample.sums(rows)]


@pytest.fixture
def setting() -> Iterator[Callable[[str, str], None]]:
    """Another setting of the session, until the end of the test."""
    before: dict[str, str] = {}

    def put(name: str, value: str) -> None:
        before.setdefault(name, session().conf.get(name) or "")
        session().conf.set(name, value)

    yield put
    for name, value in before.items():
        session().conf.set(name, value)


# Values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ansi", [pytest.param("true", marks=pytest.mark.campaign), "false"])
def test_values_sums_and_moments_are_those_of_the_interpreter_to_the_last_bit(
    setting: Callable[[str, str], None], ansi: str
) -> None:
    setting("spark.sql.ansi.enabled", ansi)
    table = [row for rows in drawn(tables, 30) for row in rows]
    expressions = drawn(numbers(3) | conditions(3), 40)[ansi == "true" :: 2]
    references = [[evaluate(each, row) for row in table] for each in expressions]
    frame = with_references(table, references, expressions)
    sample = spark_sample(frame)
    same = [equals_column(each, f"r{place}") for place, each in enumerate(expressions)]
    assert sample.sums(same) == [len(table) * GRID] * len(same)
    values = [row for row in map(bounded, expressions) if row is not None]
    assert sample.moments(values) == [moments_of(row, _known(row, table)) for row in values]


def _known(row: RowValue, table: Sequence[dict[str, Any]]) -> list[float]:
    assert isinstance(row.source, Expression)
    values = (evaluate(row.source, each) for each in table)
    return [row.missing if value is None else float(value) for value in values]


@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_is_that_of_ieee_at_both_ends_of_the_doubles(op: Any) -> None:
    frame = at_both_ends(op)
    assert spark_sample(frame).sums([is_right(op)]) == [frame.height * GRID]


def test_ln_exp_and_sqrt_are_the_same_to_the_last_bit() -> None:
    frame, rows = elementary()
    assert spark_sample(frame).sums(rows) == [frame.height * GRID] * len(rows)


TYPED = """
    SELECT * FROM VALUES
      (1Y, CAST(0.1 AS FLOAT), double('NaN'), CAST(0.10 AS DECIMAL(9, 2)),
       CAST(1 AS DECIMAL(20, 0)), 'É', DATE '2013-01-31',
       TIMESTAMP_NTZ '1969-12-31 23:59:59.999999',
       TIMESTAMP_LTZ '2013-01-31 22:30:00 America/New_York', TRUE, ARRAY(1), MAP('a', 1), X'00FF',
       'ab' COLLATE UTF8_LCASE, DATE '+10000-01-01'),
      (-5Y, NULL, double('Infinity'), CAST(12345.67 AS DECIMAL(9, 2)), NULL,
       '', DATE '0001-01-01', TIMESTAMP_NTZ '9999-12-31 23:59:59.999999',
       NULL, FALSE, NULL, NULL, NULL, 'AB' COLLATE UTF8_LCASE, DATE '-0001-01-01')
    AS t(i1, f4, f8, money, wide, text, day, moment, instant, flag, list, map, bytes, caseless, far)
"""


def test_every_type_has_one_meaning() -> None:
    sample = SparkSample(session().sql(TYPED))
    others = [name for name, kind in sample.types.items() if kind is ColumnType.OTHER]
    assert others == ["wide", "list", "map", "bytes"]
    asked = {
        "i1 = -5": 1,
        "f4 = 0.10000000149011612": 1,
        "f8 is null": 1,
        "f8 > 1e308": 1,
        "money in (0.1, 12345.67)": 2,
        "length(text) = 1": 1,
        "upper(text) = 'É' and lower(text) = 'É'": 1,
        "weekday(day) = 4": 1,
        "day = '0001-01-01'": 1,
        "year(moment) = 9999 and minute(moment) = 59": 1,
        "instant = '2013-02-01 03:30:00'": 1,  # in UTC, whatever the session's zone
        "flag": 1,
        "caseless = 'ab'": 1,
        "caseless like 'a%'": 1,
        "far is null": 2,
    }
    assert dict(zip(asked, counts(sample, *asked), strict=True)) == asked
    frame = pl.concat(sample.frames(list(sample.types))).sort("i1")
    assert frame["instant"].to_list()[1].isoformat() == "2013-02-01T03:30:00"
    assert frame["bytes"].to_list() == [None, b"\x00\xff"]


def without_holdfast(partition: int) -> Callable[..., Callable[[Iterator[Any]], Iterator[Any]]]:
    """What workers do for a fingerprint, where the one that has this partition lacks Holdfast."""
    on_others = real(SUMMING)

    def made(*said: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
        summing = on_others(*said)

        def summed(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            here = TaskContext.get()
            if here is not None and here.partitionId() == partition:
                raise ModuleNotFoundError("No module named 'holdfast'")
            yield from summing(batches)

        return summed

    return made


@pytest.mark.parametrize("workers", ["the same", "other words", "one without"])
def test_the_fingerprint_is_that_of_every_engine(
    monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    """Only sums leave workers that all make the same words; else all rows, and that is said."""
    frame = pl.concat([ODD] * 3)
    sample, streamed = SparkSample(spark_frame(frame).repartition(3)), list[int]()
    streaming = SparkSample.frames

    def noting(self: SparkSample, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        streamed.append(len(columns))
        return streaming(self, columns)

    monkeypatch.setattr(SparkSample, "frames", noting)
    expected = fingerprint(open_sample(frame))
    if workers == "the same":
        assert fingerprint(sample) == expected
        assert streamed == []
        return
    if workers == "one without":
        monkeypatch.setattr(SUMMING, without_holdfast(1))
    else:
        monkeypatch.setattr("holdfast.data.sql.spark.words_of_frame", lambda *_: WordSums(1))
    with pytest.warns(UserWarning, match="Not every worker of Spark has this version of Holdfast"):
        assert fingerprint(sample) == expected
    assert streamed == [len(ODD.columns)]


def test_a_fingerprint_needs_no_room_where_the_driver_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million rows, and 64 kB of results that the driver takes; for rows it is not enough."""
    frame = session().range(1_000_000, numPartitions=2).selectExpr("id AS k", "id / 8D AS x")
    driver = settings_of_driver(session())
    before = driver.get("spark.driver.maxResultSize", "1g")
    driver.set("spark.driver.maxResultSize", "64k")
    try:
        sample = SparkSample(frame)
        whole = pl.select(k=pl.int_range(1_000_000)).with_columns(x=pl.col("k") / 8)
        assert fingerprint(sample) == fingerprint(open_sample(whole))
        monkeypatch.setattr("holdfast.data.sql.spark.words_of_frame", lambda *_: WordSums(1))
        with pytest.warns(UserWarning, match="all rows"), pytest.raises(HoldfastError):
            fingerprint(sample)
    finally:
        driver.set("spark.driver.maxResultSize", before)


def test_names_are_only_names() -> None:
    names = ["qu`ote", "it's", "a.b", "a", "A", "c0", "own0", "w0", "k0", "select", ";--", "$1"]
    frame = pl.DataFrame({name: [place, place + 1] for place, name in enumerate(names)})
    sample = spark_sample(frame)
    assert fingerprint(sample) == fingerprint(open_sample(frame))
    with pytest.raises(InvalidArgument, match="pattern"):
        spark_sample(pl.DataFrame({"^x$": [1]}))


def test_functions_of_batches_and_more_sums_than_one_query_takes() -> None:
    frame = pl.DataFrame({"x": [place / 7 for place in range(300)]})
    sample, other = spark_sample(frame), open_sample(frame)
    half = row_function(
        lambda rows: rows["x"] / 2, columns=["x"], bounds=(0, 20), name="half", version="1"
    )
    texts = [f"clip(x, 0, {place})" for place in range(1, 53)]
    rows = [*rows_of(sample, *texts), bind_function(half, Schema(sample.types))]
    assert sample.sums(rows) == other.sums(rows)


def test_text_is_compared_as_it_is_whatever_a_backslash_means(
    setting: Callable[[str, str], None],
) -> None:
    setting("spark.sql.parser.escapedStringLiterals", "true")
    sample = spark_sample(pl.DataFrame({"t": ["a\\b", "a\\\\b", "it's", "!#$%&'()*+", "\0", "😀"]}))
    texts = ["t = 'a\\b'", "t like 'a\\%'", "t like '%''s'", "t like '!#$_&''()*+'", "t like '_'"]
    assert counts(sample, *texts) == [1, 2, 1, 1, 2]


@pytest.mark.parametrize("most", [0, MOST_IN_BIGINT])
def test_groups_bins_and_ranks_are_counted_by_spark_as_from_batches(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """With sums in decimals, as those of more rows are, and in 64 bits."""
    monkeypatch.setattr("holdfast.data.sql.spark_watch.MOST_IN_BIGINT", most)
    odd = [None, float("nan"), -0.0, 0.0, 0.5, float("inf"), -float("inf"), 0.25]
    frame = pl.DataFrame(
        {
            "x": odd * 6,
            "k": [place % 5 for place in range(48)],
            "t": ["a", "é", None] * 16,
            "b": [True, False, None, True] * 12,
        }
    )
    sample, other = spark_sample(frame), open_sample(frame)
    x, condition, b = (parse_row(t, Schema(sample.types)) for t in ("x", "t = 'a'", "b"))
    clipped, whole, label = rows_of(sample, "clip(x, -1, 0.3)", "clip(k, 0, 4)", "b")
    asked = [(clipped, None), (clipped, condition), (whole, b), (label, condition)]
    expected = other.histograms(asked)
    counted = value_counts(other, ["t", "k"]).sort("v0", "v1")
    steps = distinct_unit_values(other, [clipped, label], condition)
    pairs = ranked_pairs(other, x, b)
    assert sample.moments([clipped, label]) == other.moments([clipped, label])
    # Counted where the rows are: none of them comes here.
    monkeypatch.setattr(SparkSample, "frames", lambda *_: pytest.fail("rows were fetched"))
    for found, wanted in zip(sample.histograms(asked), expected, strict=True):
        assert found.counts.tolist() == wanted.counts.tolist()
        assert found.total == wanted.total
    assert value_counts(sample, ["t", "k"]).sort("v0", "v1").equals(counted)
    assert ranked_pairs(sample, x, b) == pairs
    values, times = distinct_unit_values(sample, [clipped, label], condition)
    assert [each.tolist() for each in values] == [each.tolist() for each in steps[0]]
    assert times.tolist() == steps[1].tolist()


def test_every_statistic_and_the_design_are_those_of_other_engines() -> None:
    frame = zoo.table()
    sample, other = spark_sample(frame), open_sample(frame)
    parts = zoo.every_part(zoo.public(frame))
    found = measure(sample, parts, squares=True)
    for part, one, wanted in zip(parts, found, measure(other, parts, squares=True), strict=True):
        assert one == wanted, part.text
    units = clustered("k", sizes="fixed")
    assert design_of(sample, ["arm", "y"], units) == design_of(other, ["arm", "y"], units)


# Columns that are joined -------------------------------------------------------------------------


@pytest.mark.parametrize("text", [False, True])
def test_joined_columns_are_as_if_they_had_always_been_there(text: bool) -> None:
    keys: list[Any] = [f"id é{place}" if text else place for place in range(9)]
    table = pl.DataFrame({"id": keys, "y": [place / 3 for place in range(9)]})
    brought = pl.DataFrame(
        {
            "id": keys[::-1],
            "good": [True, None, False] * 3,
            "mark": ["a", "é", None] * 3,
            "score": [0.5, float("nan"), -0.0] * 3,
            "at": pl.Series([0, None, -1] * 3, dtype=pl.Int64).cast(pl.Datetime("us")),
        }
    ).slice(2)
    whole = PolarsSample(table.join(brought, on="id", how="left"))
    sample = spark_sample(table)
    joined = sample.joined("id", brought.select("id", "good", "mark"))
    joined = joined.joined("id", brought.select("id", "score", "at"))
    more = pl.DataFrame({"mark": ["a"], "w": [7]})
    joined, whole = joined.joined("mark", more), whole.joined("mark", more)
    assert set(joined.types.items()) == set(whole.types.items())
    rows = rows_of(
        whole, "good", "mark = 'a'", "clip(score * y, -9, 9)", "year(at) = 1969", "w = 7"
    )
    joined.prepare(rows)
    assert joined.moments(rows) == whole.moments(rows)
    assert fingerprint(joined) == fingerprint(whole)
    assert key_order(joined, "id") == ordered("id", table["id"])
    with pytest.raises(InvalidQuestion):
        sample.prepare(rows[:1])


@NEEDS_CONNECT
def test_spark_connect_is_as_a_session_on_this_machine() -> None:
    sample = SparkSample(connect_session().createDataFrame(FRAME.to_arrow()))
    other = open_sample(FRAME)
    rows = rows_of(sample, "clip(x, -9, 9)", "name = 'é' or flag", "k > 2")
    sample.prepare(rows)
    assert sample.moments(rows) == other.moments(rows)
    assert fingerprint(sample) == fingerprint(other)
    asked = [(rows[0], None)]
    assert sample.histograms(asked)[0].total == other.histograms(asked)[0].total
    votes = pl.DataFrame({"k": [4, 2], "votes": [7, 8]})
    joined, whole = sample.joined("k", votes), other.joined("k", votes)
    (row,) = rows_of(whole, "votes > 7")
    assert joined.sums([row]) == whole.sums([row])
    # Its tables are looked for when they are first used, and that is by us.
    with pytest.raises(InvalidArgument, match="is gone or cannot be read"):
        SparkSample(connect_session().table("nowhere"))


# Tables that change ------------------------------------------------------------------------------


def test_what_changed_gives_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [True, False, True], "z": [1, 2, 3]})
    frame.write_parquet(path)
    spark = session().read.parquet(str(path))
    sample = open_sample(spark)
    for _ in range(2):  # the first time all columns are looked at, then those of the question
        assert counts(sample, "y") == [2]
    # Only a column that the question does not read, then only one that it does; of the same size.
    for changed, text in (
        ({"z": [1, 2, 4]}, "x > 2"),
        ({"y": [False, False, True]}, "y and x > 2"),
    ):
        frame.with_columns(**{k: pl.Series(v) for k, v in changed.items()}).write_parquet(path)
        for _ in range(2):
            with pytest.raises(DataChanged, match="rows were added, removed or changed"):
                counts(sample, text)
    with pytest.raises(DataChanged):
        list(sample.frames(["x", "y"]))
    with pytest.raises(DataChanged):
        fingerprint(sample)
    with pytest.raises(DataChanged):
        value_counts(sample, ["y"])
    with pytest.raises(DataChanged):
        sample.histograms([(rows_of(sample, "y")[0], None)])
    path.unlink()
    with pytest.raises(DataChanged, match="is gone"):
        counts(sample, "y")
    with pytest.raises(InvalidArgument, match="is gone or cannot be read"):
        open_sample(spark)


def test_where_a_null_stands_is_part_of_the_hash() -> None:
    def hashes(a: list[int | None], b: list[int | None]) -> list[int]:
        table = WatchedTable(spark_frame(pl.DataFrame({"a": a, "b": b})))
        found = table.rows.selectExpr(*table.watch(table.types).selected).collect()
        return [row[0] for row in found]

    different = hashes([None, 1, None, 1], [1, None, None, 1])
    assert len(set(different)) == 4
    assert hashes([None, 1], [1, 1]) == [different[0], different[3]]


def test_what_changes_by_itself_is_noticed() -> None:
    drifting = session().sql("SELECT id AS x, unix_micros(current_timestamp()) AS t FROM range(5)")
    sample = SparkSample(drifting)
    with pytest.raises(DataChanged):
        counts(sample, "x > 1")


def test_a_stream_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="a stream of Spark"):
        open_sample(session().readStream.format("rate").load())


# What is told ------------------------------------------------------------------------------------


def test_no_error_quotes_a_row(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = session().sql("SELECT CAST(t AS INT) AS x FROM VALUES ('1'), ('swordfish') AS v(t)")
    with caplog.at_level(logging.INFO), pytest.raises(HoldfastError, match="to its end") as raised:
        open_sample(broken)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__
    assert "swordfish" not in "".join([str(raised.value), caplog.text, *capfd.readouterr()])


def test_a_named_value_is_computed_though_no_row_needs_it() -> None:
    failing = "CAST(raise_error('computed') AS DOUBLE)"
    rows = session().range(3)
    for code, fails in ((failing, False), (always_computed(failing), True)):
        named = rows.selectExpr("id", f"{code} AS s0_0")
        chosen = named.selectExpr("CASE WHEN id < 0 THEN s0_0 ELSE 1 END AS k0")
        if fails:
            with pytest.raises(Exception, match="computed"):
                chosen.selectExpr("sum(k0)").collect()
        else:
            assert chosen.selectExpr("sum(k0)").collect()[0][0] == 3


def examples_of(name: str) -> list[str]:
    """The examples of a page."""
    page = (Path(__file__).resolve().parents[2] / "docs" / name).read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_the_examples_of_its_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = examples_of("spark.md")
    spark_frame(table().rename({"x": "delay"})).createOrReplaceTempView("flights")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "spark.md", "exec"), {"spark": session()})
    with holdfast.open(table().rename({"x": "delay"}), ledger="flights.ledger") as holdout:
        assert holdout.ask("avg(delay > 15)").status == "repeated"
    guide = examples_of("how-to/move.md")[-1]
    exec(compile(guide, "move.md", "exec"), {"spark": session(), "holdfast": holdfast})
