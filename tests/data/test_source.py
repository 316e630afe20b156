"""Opening tables of every kind, and what is said when there is nothing to open."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.data.csv import scan_csv
from holdfast.data.fingerprint import fingerprint
from holdfast.data.learning import require_ranges_fit
from holdfast.data.polars import PolarsSample
from holdfast.data.source import FileSample, TableForm, files_of, open_sample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.errors import HoldfastError, InvalidArgument, MissingExtra
from holdfast.question import GRID, ColumnType, Schema, parse_row, row_value
from tests.data.typed import FRAME, TYPES, as_pandas
from tests.seam import ROWS_OF_TYPES, database_of

QUESTIONS = ["x > 0", "k between 2 and 3", "name = 'it''s'", "not flag", "year(day) > 2000"]
QUESTIONS += ["hour(moment) = 17", "clip(x, -1, 1)"]


class Table:
    """Something that offers its columns as pyarrow's tables do."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def database(path: Path, *names: str) -> Path:
    parquet = path.with_suffix(".parquet")
    FRAME.write_parquet(parquet)
    with duckdb.connect(str(path)) as connection:
        for name in names:
            connection.execute(f"CREATE TABLE \"{name}\" AS SELECT * FROM '{parquet}'")
    return path


def sources(folder: Path) -> dict[str, Any]:
    (folder / "parts").mkdir()
    FRAME.head(3).write_parquet(folder / "parts" / "a.parquet")
    FRAME.tail(1).write_parquet(folder / "parts" / "b.parquet")
    FRAME.write_parquet(folder / "table.parquet")
    FRAME.write_csv(folder / "table.csv")
    FRAME.write_csv(folder / "TABLE.CSV")
    return {
        "polars": FRAME,
        "lazy": FRAME.lazy(),
        "pandas": as_pandas(),
        "arrow": Table(FRAME),
        "parquet": folder / "table.parquet",
        "text path": str(folder / "table.parquet"),
        "glob": str(folder / "parts" / "*.parquet"),
        "csv": folder / "table.csv",
        "capitals": folder / "TABLE.CSV",
        "database": database(folder / "table.duckdb", "flights"),
        "relation": duckdb.connect().sql(f"SELECT * FROM '{folder / 'table.parquet'}'"),
    }


def test_every_kind_of_table_is_the_same_table(tmp_path: Path) -> None:
    prints = {}
    for name, data in sources(tmp_path).items():
        sample = open_sample(data)
        assert sample.n == 4, name
        assert dict(sample.types) == TYPES, name
        rows = [row_value(parse_row(text, Schema(sample.types))) for text in QUESTIONS]
        third, _ = rows[-1].grid.moments(rows[-1].grid.steps(0.0), 0)
        expected = [2 * GRID, 2 * GRID, GRID, GRID, 2 * GRID, GRID, 2 * GRID + third]
        assert sample.sums(rows) == expected, name
        prints[name] = fingerprint(sample)
    assert len(set(prints.values())) == 1, prints


def test_pandas_types() -> None:
    moments = pd.to_datetime(pd.Series(["2013-01-31 17:45", None]))
    frame = pd.DataFrame(
        {
            "int32": pd.Series([1, None], dtype="Int32"),
            "bool": pd.Series([True, None], dtype="boolean"),
            "f32": pd.Series([0.5, None], dtype="Float32"),
            "text": pd.Series(["a", None], dtype=object),
            "cat": pd.Series(["a", None], dtype="category"),
            "s": moments.astype("datetime64[s]"),
            "ns": moments.astype("datetime64[ns]"),
            "zone": moments.dt.tz_localize("Asia/Tokyo"),
            7: [1, 2],
        }
    )
    sample = open_sample(frame)
    schema = Schema(sample.types)
    texts = ["int32 = 1", "bool", "f32 = 0.5", "text = 'a'", "cat = 'a'", "s = '2013-01-31 17:45'"]
    texts += ["ns = s", "hour(zone) = 8", '"7" = 2']
    rows = [row_value(parse_row(text, schema)) for text in texts]
    assert sample.sums(rows) == [GRID] * len(rows)
    missing = [
        row_value(parse_row(f'"{name}" is null', schema)) for name in list(sample.types)[:-1]
    ]
    assert sample.sums(missing) == [GRID] * len(missing)
    assert open_sample(pd.DataFrame({"o": [1, 2.5, None]})).types["o"] is ColumnType.FLOAT
    with pytest.raises(InvalidArgument, match="mixes"):
        open_sample(pd.DataFrame({"o": ["a", 3, object()]}))
    with pytest.raises(InvalidArgument, match="same name"):
        open_sample(pd.DataFrame([[1, 2]], columns=["a", "a"]))


FIRST = ["7", "1.5", "true", "2013-01-01", "2013-01-01 05:00:00", "2013-01-01T05:00:00Z", "a", ""]
LATER = ["8", "-3", "007", "+2", " 2", "2.5", "5.", ".5", "5.e3", "1e5", "1e+5", "nan", "NaN"]
LATER += ["false", "True", "2013-02-31", "2013-1-5", "2013/02/03", "2013-03-04", "12:00:00"]
LATER += ["2013-01-01T05:00:00", "2013-01-01 06:00:00.000000", "2013-01-01 25:00:00"]
LATER += ["999999999999999999", "1000000000000000000", "9223372036854775808", "0x1", "1_000", "-"]
LATER += ["1969-12-31 23:59:59.000001", "0001-01-01T00:00:00.1", "9999-12-31 23:59:59.999999"]
LATER += ["2013-02-31T05:00:00Z", "2013-02-03 05:00:00Z", "2013-02-03T05:00:00.25Z"]
LATER += [
    "2013-02-03T05:00:00+02:00",
    "2013-02-03T25:00:00Z",
    "2012-02-29",
    "2013-01-01 06:60:00",
    "2013-01-01 05:00:00.",
]
LATER += ["inf", "b", "", '"9"', '"x"', '"2013-05-05"']


def test_rows_after_the_first_are_taken_for_what_polars_takes_them_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, scan, looked = str(tmp_path / "rows.csv"), pl.scan_csv, []

    def spy(*given: Any, **options: Any) -> pl.LazyFrame:
        looked.append(options.get("infer_schema_length", 0))
        return scan(*given, **options)

    monkeypatch.setattr(ROWS_OF_TYPES, 2)
    monkeypatch.setattr("holdfast.data.csv.pl.scan_csv", spy)
    usual = []
    for first, later in product(FIRST, LATER):
        Path(path).write_text(f"x,y\n{first},1\n{first},1\n{later},2\n")
        looked.clear()
        found = scan_csv([path], TableForm(), {})
        whole = scan(path, infer_schema_length=None, try_parse_dates=True)
        assert found.collect_schema() == whole.collect_schema(), (first, later)
        if None not in looked:
            usual.append((first, later))
            assert found.collect().equals(whole.collect()), (first, later)
    assert {("7", "8"), ("7", "2.5"), ("1.5", "8"), ("true", "false"), ("a", "-")} <= {*usual}
    assert {("2013-01-01", "2013-03-04"), (FIRST[4], "2013-01-01 06:00:00.000000")} <= {*usual}
    assert (FIRST[5], "2013-02-03T05:00:00.25Z") in usual


def test_types_in_csv_are_found_from_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("k,n\n" + "1,1\n" * 5000 + "surprise,2.5\n")
    sample = open_sample(path)
    assert dict(sample.types) == {"k": ColumnType.TEXT, "n": ColumnType.FLOAT}
    row = row_value(parse_row("k = 'surprise'", Schema(sample.types)))
    assert sample.sums([row]) == [GRID]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "nothing.parquet", "names no file"),
        (lambda folder: str(folder / "*.parquet"), "names no file"),
        (lambda folder: folder, "is a folder without Parquet files"),
        (lambda folder: "ftp://example.org/x.parquet", "on this machine"),
        (lambda folder: "s3://bucket/x.parquet", "extension 'httpfs', and that is not installed"),
        (lambda folder: "az://bucket/x.parquet", "extension 'azure', and that is not installed"),
        (lambda folder: "s3://bucket/x.parquet?s3_secret_access_key=swordfish", "keep them as"),
        (lambda folder: written(folder / "x.xlsx", b"x"), ".xlsx"),
        (lambda folder: written(folder / "noending", b"x"), "none"),
        (lambda folder: written(folder / "x.duckdb", b"not a database, just some text"), "DuckDB"),
        (lambda folder: database(folder / "two.duckdb", "a", "b"), "'a', 'b'"),
        (lambda folder: database(folder / "none.duckdb"), "no tables"),
        (lambda folder: written(folder / "empty.csv", b""), "CSV"),
        (lambda folder: written(folder / "rows.csv", b"a,b\n"), "no rows"),
        (lambda folder: pl.DataFrame({"x": []}), "no rows"),
        (lambda folder: pl.DataFrame(), "no columns"),
        (lambda folder: pd.DataFrame({"x": []}), "no rows"),
        (lambda folder: duckdb.connect().sql("SELECT 1 AS x WHERE false"), "no rows"),
        (lambda folder: ":memory:", "names no file"),
        (lambda folder: "a\0b.csv", "names no file"),
        (lambda folder: "a" * 300, "cannot be the name of a file"),
        (lambda folder: written(folder / "broken.parquet", b"PAR1 and no more"), "as Parquet"),
        (lambda folder: written(folder / "empty.parquet", b""), "as Parquet"),
        (lambda folder: pd.DataFrame({"s": pd.arrays.SparseArray([1.0, 0.0])}), "'s' is of the"),
        (lambda folder: pd.DataFrame({"c": [1j, 2j]}), "'c'"),
        (lambda folder: twice_named(), "different names"),
        (lambda folder: pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)}), "'o'"),
        (lambda folder: (), "data is a tuple"),
        (lambda folder: {"x": [1]}, "data is a dict"),
        (lambda folder: [1, 2], "data is a list"),
        (lambda folder: None, "data is a NoneType"),
        (lambda folder: pl.Series([1]), "data is a Series"),
    ],
)
def test_what_cannot_be_opened_says_why(tmp_path: Path, make: Any, said: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        open_sample(make(tmp_path))
    assert said in str(raised.value)
    assert str(raised.value).endswith(".")


def test_without_duckdb_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = database(tmp_path / "table.duckdb", "flights")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[duckdb\]'"):
        open_sample(path)


def twice_named() -> object:
    import pyarrow as pa

    return pa.table([[1], [2]], names=["x", "x"])


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
from tests.data.typed import as_pandas
from holdfast.data.source import open_sample
print({name: str(kind) for name, kind in open_sample(as_pandas()).types.items()})
"""


def test_pandas_frames_need_no_pyarrow() -> None:
    """In a process of its own: pandas looks for pyarrow when it is imported."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYARROW], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str({name: str(kind) for name, kind in TYPES.items()})


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_tables_of_a_database(tmp_path: Path) -> None:
    path = database(tmp_path / "two.duckdb", "a", "b c")
    assert open_sample(path, table="b c").n == 4
    with pytest.raises(InvalidArgument, match="'zzz'"):
        open_sample(path, table="zzz")
    with pytest.raises(InvalidArgument, match="only for databases"):
        open_sample(FRAME, table="a")
    database(tmp_path / "three.duckdb", "a")
    with pytest.raises(InvalidArgument, match="2 databases"):
        open_sample(tmp_path / "*.duckdb")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "COPY data.flights TO '/tmp/holdfast-should-not-exist.csv'",
        "ATTACH '/tmp/holdfast-should-not-exist.duckdb'",
        "INSTALL httpfs",
        "SET threads = 1",
        "DELETE FROM data.flights",
        "CREATE TABLE data.t (x INT)",
        "SELECT * FROM FRAME",
    ],
)
def test_a_database_is_locked_down(tmp_path: Path, statement: str) -> None:
    sample = open_sample(database(tmp_path / "table.duckdb", "flights"))
    assert isinstance(sample, FileSample)
    assert isinstance(sample.sample, DuckDBSample)
    connection = database_of(sample.sample)
    with pytest.raises(duckdb.Error):
        connection.execute(statement).fetchall()


def test_relations_that_cannot_be_read_say_so() -> None:
    connection = duckdb.connect()
    broken = "SELECT CASE WHEN i = 9000 THEN error('x') ELSE i END AS x FROM range(10000) t(i)"
    closed = connection.cursor()
    relations = [connection.sql(broken), closed.sql("SELECT 1 AS x")]
    closed.close()
    for relation in relations:
        with pytest.raises(HoldfastError, match="could not be read to its end"):
            open_sample(relation)


def test_relations_with_repeated_names_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="same name"):
        open_sample(duckdb.connect().sql("SELECT 1 AS x, 2 AS x"))


def test_polars_is_the_engine_of_files(tmp_path: Path) -> None:
    assert isinstance(open_sample(FRAME), PolarsSample)
    path = tmp_path / "x.parquet"
    FRAME.write_parquet(path)
    sample = open_sample(path)
    assert isinstance(sample, FileSample)
    assert isinstance(sample.sample, PolarsSample)
    assert files_of(FRAME) == []


# Decimals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("given", ["pyarrow", "a file", "a query"])
def test_decimals_that_nobody_reads_are_named(tmp_path: Path, given: str, nested: bool) -> None:
    wide = pa.decimal256(50, 2)
    values = [Decimal("1.50"), None]
    column = (
        pa.array([[each] for each in values], pa.list_(wide)) if nested else pa.array(values, wide)
    )
    table = pa.table({"x": [1.0, 2.0], "price": column})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    data = {"pyarrow": table, "a file": path}.get(given, pl.scan_parquet(path))
    with pytest.raises(InvalidArgument, match=r"'price' has decimals of 50 digits.*cast it to"):
        open_sample(data)
    narrow = table.set_column(1, "price", pa.array(values, pa.decimal128(38, 2)))
    assert open_sample(narrow).n == 2


@pytest.mark.parametrize(("outside", "fits"), [(5, True), (6, False)])
def test_a_range_that_most_training_rows_are_outside_of_is_a_slip(outside: int, fits: bool) -> None:
    training = open_sample(pl.DataFrame({"x": [0.5] * (10 - outside) + [2.0] * outside}))
    refused = pytest.raises(InvalidArgument, match="10 training rows 6 are outside")
    with nullcontext() if fits else refused:
        require_ranges_fit(training, {"x": (0.0, 1.0)})
