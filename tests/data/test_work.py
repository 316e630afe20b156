"""What is computed does not depend on what the rows hold: no branch is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import duckdb
import polars as pl
import pytest

from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Moments, moments_of_sums
from holdfast.data.source import open_sample
from holdfast.data.sql.duckdb import DUCKDB
from holdfast.data.sql.language import SqlLanguage
from holdfast.data.values import evaluate
from holdfast.question import Schema, parse_row, row_value
from holdfast.question.expression import Op, Operation, subtrees
from holdfast.question.row import GRID, RowValue
from holdfast.question.writing import Writer
from tests.seam import DIVIDED, HELD_VALUES, real

N = 1_000
FRAME = pl.DataFrame(
    {
        "x": [float(row) for row in range(N)],
        "k": list(range(N)),
        "never": [False] * N,
        "known": ["a"] * N,
    }
)
SCHEMA = Schema(PolarsSample(FRAME).types)
# Where an engine could pass over what it does not need for the result.
CHOOSING = {Op.CASE, Op.COALESCE, Op.AND, Op.OR}
# Each holds one quotient, in a place where no row needs it.
UNNEEDED = [
    "case when never then clip(x / k, 0, 9) else 1 end",
    "case when x >= 0 then 1 when x / k > 2 then 2 else 3 end",
    "case when x >= 0 then 1 else clip(x / k, 0, 9) end",
    "clip(coalesce(x, x / k), 0, 9)",
    "never and x / k > 2",
    "x >= 0 or x / k > 2",
    "coalesce(x >= 0, x / k > 2)",
    "case when case when never then x / k > 2 else false end then 1 else 0 end",
]


@pytest.mark.parametrize("written", UNNEEDED)
@pytest.mark.parametrize("lazy", [False, True])
def test_polars_computes_what_no_row_needs(
    monkeypatch: pytest.MonkeyPatch, written: str, lazy: bool
) -> None:
    seen: list[int] = []
    divided: Callable[[Sequence[pl.Series]], pl.Series] = real(DIVIDED)

    def counting(operands: Sequence[pl.Series]) -> pl.Series:
        seen.append(max(len(operand) for operand in operands))
        return divided(operands)

    monkeypatch.setattr(DIVIDED, counting)
    row = row_value(parse_row(written, SCHEMA))
    sample = PolarsSample(FRAME.lazy() if lazy else FRAME)
    sample.sums([row])
    assert sum(seen) == N
    seen.clear()
    sample.histograms([(row, None), (row, parse_row("never", SCHEMA))])
    assert sum(seen) == N  # once for both, whether or not a row is inside
    seen.clear()
    evaluate(FRAME, [parse_row(written, SCHEMA)])
    assert sum(seen) == N


@pytest.mark.parametrize("written", UNNEEDED)
def test_choices_are_made_among_values_that_are_there(written: str) -> None:
    """No engine can leave out a value that has a name, be it of a branch or of a condition."""
    chosen: list[tuple[Op, str]] = []

    class Watching(SqlLanguage):
        def operation(self, op: Op, args: list[str]) -> str:
            if op in (Op.CASE, Op.COALESCE):
                first, *others = args  # the first is computed in any case
                assert "/" not in first
                chosen.extend((op, arg) for arg in others)
            elif op in CHOOSING:
                chosen.extend((op, arg) for arg in args)
            return super().operation(op, args)

    names = {name: f"c{place}" for place, name in enumerate(FRAME.columns)}
    expression = parse_row(written, SCHEMA)
    writer = Writer(Watching(names, DUCKDB))
    writer.write(expression)
    wanted = {each.op for each in subtrees(expression) if isinstance(each, Operation)} & CHOOSING
    assert wanted
    assert wanted <= {op for op, _ in chosen}
    assert sum(code.count("/") for stage in writer.stages for code in stage.values()) == 1
    for op, code in chosen:
        assert "/" not in code
        # A column, a name or a constant; of what is joined also a name that is compared.
        assert op in (Op.AND, Op.OR) or "CASE" not in code


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What DuckDB plans for each relation that is fetched."""
    plans: list[str] = []
    fetched = duckdb.DuckDBPyRelation.fetchall

    def planned(relation: duckdb.DuckDBPyRelation) -> list[Any]:
        plans.append(str(relation.explain()))
        return fetched(relation)

    monkeypatch.setattr(duckdb.DuckDBPyRelation, "fetchall", planned)
    return plans


@pytest.mark.parametrize(
    "condition", ["k > 1e9", "k is null", "x < 0", "known < 'A'", "never is null"]
)
def test_duckdb_does_not_conclude_from_statistics_of_a_column(
    condition: str, tmp_path: Path, plans: list[str]
) -> None:
    """What DuckDB plans for a question is the same, whatever it knows of a column."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("frame", FRAME.to_arrow())
        connection.execute("CREATE TABLE held AS SELECT * FROM frame")
    row = row_value(parse_row(f"{condition} and known like '%q%z%'", SCHEMA))
    text = condition.replace("k is null", "CAST(k AS DOUBLE) IS NULL")

    def plain(connection: duckdb.DuckDBPyConnection) -> str:
        table = connection.table("held").project(f"({text} AND known LIKE '%q%z%') AS holds")
        table.aggregate("count_if(holds)").fetchall()
        return plans[-1]

    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as connection:
        assert "Projections: false" in plain(connection)
    open_sample(tmp_path / "t.duckdb").sums([row])
    assert "count_if" in plans[-1]
    assert "Projections: false" not in plans[-1]


@pytest.mark.parametrize("never", ["x < 0", "x >= 0"])
def test_duckdb_counts_conditions_without_a_filter(never: str, plans: list[str]) -> None:
    """A filter would leave out what no row needs; what is counted is computed for every row."""
    rows = [row_value(parse_row(f"{never} and x / k > 2", SCHEMA))]
    sample = open_sample(duckdb.from_arrow(FRAME.to_arrow()))
    assert sample.sums(rows) == PolarsSample(FRAME).sums(rows)
    assert "count_if" in plans[-1]
    assert "filter" not in plans[-1].lower()


@pytest.mark.parametrize("engine", ["polars", "sql.sql_sample"])
def test_only_numbers_are_squared(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """A condition is its own square: one sum, where a number needs four."""
    summed: list[int] = []

    def counting(rows: Sequence[RowValue], sums: Iterable[int]) -> list[Moments]:
        found = list(sums)
        summed.append(len(found))
        return moments_of_sums(rows, found)

    monkeypatch.setattr(f"holdfast.data.{engine}.moments_of_sums", counting)
    texts = ("never", "clip(x, 0, 10)", "x > 500", "k < 3")
    rows = [row_value(parse_row(text, SCHEMA)) for text in texts]
    arrow = FRAME.to_arrow()
    sample = open_sample(FRAME if engine == "polars" else duckdb.from_arrow(arrow))
    found = sample.moments(rows)
    assert summed == [3 + 4]
    assert [found[place] for place in (0, 2, 3)] == [
        (count * GRID, count * GRID**2) for count in (0, N - 501, 3)
    ]
    assert sample.moments(rows[1:2]) == found[1:2]


def counted_scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The engines that were started, in order."""
    started: list[str] = []
    collect = pl.LazyFrame.collect

    def counting(frame: pl.LazyFrame, **how: Any) -> pl.DataFrame:
        started.append(how["engine"])
        return cast("pl.DataFrame", collect(frame, **how))

    monkeypatch.setattr(pl.LazyFrame, "collect", counting)
    return started


def test_what_polars_took_is_not_tried_with_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    sample, started = PolarsSample(FRAME), counted_scans(monkeypatch)

    def tried(written: str) -> int:
        sample.prepare([row_value(parse_row(written, SCHEMA))])
        return len(started)

    first = tried("x > 3")
    assert tried("x > 4.5") == tried("x > 3") == first
    others = ["k > 3", "x >= 3", "x > 3 and never", "known = 'a'", "known = 'b'", "x > k"]
    times = [tried(each) for each in others]
    assert times == sorted({*times, first})[1:]  # one more for each


def test_small_files_are_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "t.parquet")
    sample, expected = open_sample(tmp_path / "t.parquet"), PolarsSample(FRAME)
    started = counted_scans(monkeypatch)
    rows = [row_value(parse_row(each, SCHEMA)) for each in ("x > 3", "x > 500", "k < 10 and never")]
    for row in rows:
        assert sample.sums([row]) == expected.sums([row])
    # x; then, with x, what the last one needs; sums are counted in memory, as those expected are.
    assert started == ["streaming", *["in-memory"] * 4, "streaming", *["in-memory"] * 2]


def test_files_of_many_values_are_not_held(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(HELD_VALUES, 2 * N)
    sample, expected = open_sample(tmp_path / "t.parquet"), PolarsSample(FRAME)
    written = ["x > 3", "x > k", "never and x > k", "never"]
    rows = [row_value(parse_row(each, SCHEMA)) for each in written]
    started = counted_scans(monkeypatch)
    for row in rows:
        assert sample.moments([row]) == expected.moments([row])
    assert started.count("streaming") == 4  # x; x and k; all three, unheld; the last one alone
    assert sample.sums(rows) == expected.sums(rows)
