"""Parts of a table: disjoint, of equal size, random, and the same in every engine and order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom

from holdfast.data.orders import part_sums
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.question.columns import Schema
from holdfast.question.functions import bind_function, row_function
from holdfast.question.row import GRID, RowValue
from tests.data.engines import duckdb_connection
from tests.holdout.tables import BOUNDS, table
from tests.statistics.asked import asked
from tests.theory.coverage import counts_refute

KEY = bytes(range(32))
TABLE = table(2_003)  # its units come in fours, so that some rows are equal in part
SCHEMA = Schema(PolarsSample(TABLE).types).declare(BOUNDS)
VALUES = [asked(f"avg({what})", SCHEMA).row for what in ("late", "x", "x > 20", "origin = 'JFK'")]


def counted(sample: Sample, parts: int, row: RowValue, key: bytes = KEY) -> list[int]:
    return part_sums(sample, [(row, part) for part in range(1, parts + 1)], parts, key)


@pytest.mark.parametrize("row", VALUES, ids=lambda row: row.text)
def test_one_part_is_the_whole_table(row: RowValue) -> None:
    sample = PolarsSample(TABLE)
    assert counted(sample, 1, row) == sample.sums([row])


@pytest.mark.parametrize("row", VALUES, ids=lambda row: row.text)
def test_parts_are_disjoint_and_leave_over_what_does_not_fit(row: RowValue) -> None:
    sample = PolarsSample(TABLE.head(2_000))
    parts = counted(sample, 8, row)
    # Each part is rounded down by itself.
    assert 0 <= sample.sums([row])[0] - sum(parts) < 8
    assert len(set(parts)) > 4
    every = asked("avg(x * 0 + 1)", SCHEMA).row  # a constant: its grid has no steps
    assert counted(sample, 8, every) == [0] * 8
    rows = row_function(
        lambda frame: np.ones(frame.height), columns=["x"], bounds=(0, 2), name="one", version="1"
    )
    for part in counted(sample, 7, bind_function(rows, SCHEMA)):
        assert abs(part - 285 * GRID // 2) <= 285  # exactly floor(2000/7) rows


def test_engine_order_and_files_do_not_matter(tmp_path: Path) -> None:
    shuffled = TABLE.sample(fraction=1.0, shuffle=True, seed=5)
    path = tmp_path / "t.parquet"
    shuffled.write_parquet(path)
    samples: list[Sample] = [
        PolarsSample(shuffled),
        PolarsSample(pl.scan_parquet(path)),
        DuckDBSample(duckdb_connection().from_parquet(str(path))),
    ]
    for row in VALUES:
        first = counted(PolarsSample(TABLE), 6, row)
        assert [counted(sample, 6, row) for sample in samples] == [first] * 3


def test_another_key_cuts_otherwise() -> None:
    sample = PolarsSample(TABLE)
    assert counted(sample, 6, VALUES[1]) != counted(sample, 6, VALUES[1], bytes(32))


# The law of a part: hypergeometric, also for a table with nothing but equal rows ----------------

ROWS, TRUE, PARTS, KEYS = 40, 16, 4, 1_500


def refuted(counts: list[int]) -> bool:
    """Whether a chi-square test at level 1e-9 refutes the hypergeometric law of a part's count."""
    law = hypergeom(ROWS, TRUE, ROWS // PARTS)
    cells = [range(2), *([count] for count in range(2, 7)), range(7, 11)]
    chances = np.array([sum(law.pmf(count) for count in cell) for cell in cells])
    found = np.array([sum(count in cell for count in counts) for cell in cells])
    return counts_refute(found, len(counts) * chances)


@pytest.mark.statistical
def test_a_part_is_a_random_draw_even_of_equal_rows() -> None:
    sample = PolarsSample(pl.DataFrame({"b": [True] * TRUE + [False] * (ROWS - TRUE)}))
    row = asked("avg(b)", Schema(sample.types)).row
    counts = [
        part_sums(sample, [(row, 1 + key % PARTS)], PARTS, key.to_bytes(4, "big"))[0] // GRID
        for key in range(KEYS)
    ]
    assert not refuted(counts)


@pytest.mark.statistical
def test_a_hash_of_the_content_alone_is_found() -> None:
    """Sabotage: equal rows share their ticket, so that they go to a part together."""
    rng = np.random.default_rng(3)
    counts = []
    for _ in range(KEYS):
        first = bool(rng.integers(2))  # which of the two contents has the smaller ticket
        ranked = [first] * (TRUE if first else ROWS - TRUE)
        ranked += [not first] * (ROWS - len(ranked))
        part = int(rng.integers(PARTS)) * (ROWS // PARTS)
        counts.append(sum(ranked[part : part + ROWS // PARTS]))
    assert refuted(counts)
