"""The fingerprint follows the content and nothing else."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.stats import entropy

from holdfast.data.fingerprint import ColumnDigests, fingerprint
from holdfast.data.source import open_sample

FRAME = pl.DataFrame(
    {
        "x": [1.5, math.nan, 0.0, 4.25, None],
        "k": [1, 2, 3, None, 4],
        "name": ["a", "é", None, "", "a"],
        "flag": [True, False, None, True, True],
        "day": [date(2013, 1, 31), None, date(1969, 7, 20), date(2024, 2, 29), date.min],
        "moment": [
            datetime(2013, 1, 31, 17, 45),
            None,
            datetime.min,
            datetime.max,
            datetime(2024, 1, 1),
        ],
    }
)


def of(data: Any) -> str:
    return fingerprint(open_sample(data))


def test_the_fingerprint_is_what_it_was() -> None:
    # Ledgers hold it: a change here makes every old table unknown.
    assert (
        of(pl.DataFrame({"x": [1.0, 2.0], "name": ["a", None]}))
        == "9064357d1691a8cb54f8894e5a981ae4"
    )


def replaced(name: str, values: list[Any]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda frame: frame.with_columns(pl.Series(name, values, dtype=frame.schema[name]))


SAME: dict[str, Callable[[pl.DataFrame], Any]] = {
    "rows reversed": lambda frame: frame.reverse(),
    "rows shuffled": lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=3),
    "columns reordered": lambda frame: frame.select(sorted(frame.columns)),
    "in chunks": lambda frame: pl.concat([frame.head(2), frame.tail(3)], rechunk=False),
    "lazily": lambda frame: frame.lazy(),
    "minus zero": replaced("x", [1.5, math.nan, -0.0, 4.25, None]),
    "NaN as null": replaced("x", [1.5, None, 0.0, 4.25, None]),
    "small integers": lambda frame: frame.cast({"k": pl.Int8}),
    "unsigned": lambda frame: frame.cast({"k": pl.UInt64}),
    "short floats": lambda frame: frame.cast({"x": pl.Float32}),
    "categories": lambda frame: frame.cast({"name": pl.Categorical}),
    "time zone": lambda frame: frame.with_columns(pl.col("moment").dt.replace_time_zone("UTC")),
}
DIFFERENT: dict[str, Callable[[pl.DataFrame], Any]] = {
    "a number": replaced("x", [1.5000000000000002, math.nan, 0.0, 4.25, None]),
    "an integer": replaced("k", [1, 2, 3, None, 5]),
    "a text": replaced("name", ["a", "é", None, "", "b"]),
    "empty is not null": replaced("name", ["a", "é", "", "", "a"]),
    "another normal form": replaced("name", ["a", "e\u0301", None, "", "a"]),
    "null is not zero": replaced("x", [1.5, math.nan, None, 4.25, None]),
    "null is not false": replaced("flag", [True, False, False, True, True]),
    "a condition": replaced("flag", [True, True, None, True, True]),
    "a day": replaced(
        "day", [date(2013, 2, 1), None, date(1969, 7, 20), date(2024, 2, 29), date.min]
    ),
    "a microsecond": lambda frame: frame.with_columns(pl.col("moment") - timedelta(microseconds=1)),
    "two cells exchanged": replaced("k", [2, 1, 3, None, 4]),
    "two columns exchanged": lambda frame: frame.with_columns(k=pl.col("k") + 1).rename(
        {"x": "k", "k": "x"}
    ),
    "a row more": lambda frame: pl.concat([frame, frame.head(1)]),
    "a row twice, another gone": lambda frame: pl.concat([frame.head(4), frame.head(1)]),
    "a row less": lambda frame: frame.head(4),
    "a column renamed": lambda frame: frame.rename({"x": "y"}),
    "a column more": lambda frame: frame.with_columns(extra=pl.lit(1)),
    "a column less": lambda frame: frame.drop("x"),
    "integer to float": lambda frame: frame.cast({"k": pl.Float64}),
    "integer to text": lambda frame: frame.cast({"k": pl.String}),
    "condition to integer": lambda frame: frame.cast({"flag": pl.Int64}),
    "date to time": lambda frame: frame.with_columns(pl.col("day").cast(pl.Datetime("us"))),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME.keys())
def test_what_no_question_sees_changes_nothing(change: Callable[[pl.DataFrame], Any]) -> None:
    assert of(change(FRAME)) == of(FRAME)


def test_every_change_is_found() -> None:
    prints = {name: of(change(FRAME)) for name, change in DIFFERENT.items()}
    prints["unchanged"] = of(FRAME)
    assert len(set(prints.values())) == len(prints), prints


_rows = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.booleans()), min_size=1, max_size=6
)


@given(_rows, _rows)
def test_fingerprints_are_equal_exactly_for_equal_multisets(left: Any, right: Any) -> None:
    schema = {"a": pl.Int64, "b": pl.String, "c": pl.Boolean}
    prints = [of(pl.DataFrame(rows, schema=schema, orient="row")) for rows in (left, right)]
    assert (prints[0] == prints[1]) == (sorted(left) == sorted(right))


def test_columns_that_questions_cannot_use_count_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "list": [[1, 2], None, []],
            "struct": [{"a": 1}, {"a": 2}, None],
            "bytes": [b"a", b"\x00\xff", None],
            "span": [timedelta(1), None, timedelta(2)],
            "wide": pl.Series(["1", "2", None]).cast(pl.Decimal(38, 2)),
            "nothing": [None, None, None],
        }
    )
    assert of(frame) == of(frame.reverse())
    for name in frame.columns[:-1]:
        assert of(frame.with_columns(pl.col(name).reverse())) != of(frame), name
    relation = duckdb.connect().sql(
        "SELECT * FROM (VALUES ([1], INTERVAL 1 DAY, 1::HUGEINT), ([2], NULL, 2)) t(a, b, c)"
    )
    changed = relation.project("list_value(3) AS a, b, c")
    assert len({of(relation), of(changed), of(relation.project("a, b, c + 1 AS c"))}) == 3
    assert of(relation.order("c DESC")) == of(relation)


def test_a_million_rows_take_seconds() -> None:
    rng = np.random.default_rng(0)
    n = 1_000_000
    numbers = {f"f{place}": rng.normal(size=n) for place in range(6)}
    frame = pl.DataFrame(
        numbers
        | {"k": rng.integers(0, 10**6, n), "flag": rng.random(n) < 0.5}
        | {"code": rng.integers(0, 500, n), "id": rng.integers(0, 10**9, n)}
    ).with_columns(pl.col("code").cast(pl.String))
    started = time.perf_counter()
    before = of(frame)
    assert time.perf_counter() - started < 15  # about 1 s on an idle machine
    cell = frame.with_columns(f3=pl.when(pl.int_range(n) == 777_777).then(0.5).otherwise("f3"))
    assert of(cell) != before


def digests(table: pl.DataFrame) -> ColumnDigests:
    """Of the columns of a table, read as one batch."""
    made = ColumnDigests(open_sample(table).types)
    fingerprint(open_sample(table), made.add)
    return made


@pytest.mark.parametrize("rows", [2, 3, 16, 1024])
def test_a_column_has_a_digest_from_40_bits_of_counts_on(rows: int) -> None:
    """Half the bits of a row for each value but one."""
    least = 1 + math.ceil(2 * 40 / math.log2(rows))
    for values in (least - 1, least):
        uneven = [*range(values), *([0] * (rows - values - 1)), 1][:rows]
        found = digests(pl.DataFrame({"x": uneven})).found()
        assert len(found) == (values == least < rows)


@pytest.mark.parametrize(("names", "rows"), [(80, 160), (100, 200), (64, 320)])
def test_beside_names_a_column_has_one_from_40_bits_a_table_on(names: int, rows: int) -> None:
    def bits(ones: int) -> float:
        return rows * float(entropy([ones, rows - ones], base=2))

    least = next(ones for ones in range(1, rows) if bits(ones) >= 40.0 * rows / names)
    for ones in (least - 1, least):
        late = [row < ones for row in range(rows)]
        name = [row % names for row in range(rows)]
        assert len(digests(pl.DataFrame({"name": name, "late": late})).found()) == (ones == least)


def test_names_are_even_but_for_one_and_have_no_fractions() -> None:
    """Two columns beside names have a digest each; without names the column itself has one."""
    even = [float(row % 80) for row in range(160)]
    halves = [each + 0.5 for each in even]
    for name, found in ((even, 2), (even[:-1], 2), (even[:-2], 1), (halves, 1)):
        late = np.arange(len(name)) < 80
        table = pl.DataFrame({"name": name, "late": late, "new": np.arange(len(name)) % 3 == 0})
        assert len(digests(table).found()) == found


def test_rows_are_known_where_nearly_all_differ() -> None:
    """All but one in a thousand of those that are kept."""
    for rows, equal, known in ((2_000, 2, 1_998), (2_000, 3, 0), (999, 0, 999), (999, 1, 0)):
        x = np.sqrt(np.arange(2.0, rows + 2.0))
        x[:equal] = x[-1]
        assert len(digests(pl.DataFrame({"x": x})).rows()) == known
    assert len(digests(pl.DataFrame({"x": np.sqrt(np.arange(2.0, 5_000.0))})).rows()) == 2_048
    assert not digests(pl.DataFrame({"number": range(3_000)})).rows()
