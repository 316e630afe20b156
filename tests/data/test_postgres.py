"""The PostgreSQL engine: its types, names and faults; the suite of all engines is elsewhere."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import psycopg
import pytest

import holdfast
from holdfast.data import fingerprint, open_sample
from holdfast.data.sql import postgres
from holdfast.data.sql.postgres import PostgresSample, open_database_table
from holdfast.data.sql.postgres_watch import TableSession
from holdfast.data.values import cluster_sizes
from holdfast.errors import DataChanged, HoldfastError, InvalidArgument, InvalidQuestion
from holdfast.question import Schema, build, parse_row, row_value
from holdfast.question.expression import Column, ColumnType, Op
from holdfast.question.row import GRID
from tests.data.doubles import ARITHMETIC, FLOATS, at_both_ends, is_right
from tests.data.engines import same_value
from tests.data.loading import loaded
from tests.data.typed import ODD
from tests.holdout.tables import BOUNDS, table
from tests.ledger.proxy import proxy_to
from tests.postgres import server

SAID: dict[str, Any] = {"tolerance": 0.3, "questions": 20, "schema": BOUNDS, "described": "off"}


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database of one's own."""
    with server().database() as name:
        yield server().url(name)


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection[Any]]:
    with closing(psycopg.connect(database, autocommit=True)) as found:
        yield found


def counts(sample: Any, *texts: str) -> list[int]:
    """In how many rows each condition holds."""
    rows = [row_value(parse_row(text, Schema(sample.types))) for text in texts]
    sample.prepare(rows)
    return [total // GRID for total in sample.sums(rows)]


# Values ------------------------------------------------------------------------------------------


NO_QUESTION_SEES = """
    SELECT moment, day, wide::DECIMAL(20, 2) AS wide, clock FROM (VALUES
      (TIMESTAMP '10000-01-01', DATE 'infinity', 0.10, TIME '00:00:00'),
      (TIMESTAMP 'infinity', DATE '10000-01-01', NULL, TIME '01:02:03.5'),
      (NULL, NULL, -12345678901234567.25, NULL),
      (TIMESTAMP '2000-01-01', DATE '2000-01-01', 7, TIME '23:59:59.999999')
    ) AS t(moment, day, wide, clock)
"""


def test_what_no_question_sees_is_the_same_on_every_engine(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    """Moments outside the calendar are missing; decimals and times of day are as they are."""
    connection.execute(f"CREATE TABLE t AS {NO_QUESTION_SEES}")
    numbers = ["0.10", None, "-12345678901234567.25", "7"]
    frame = pl.DataFrame(
        {
            "moment": [None, None, None, datetime(2000, 1, 1)],
            "day": [None, None, None, date(2000, 1, 1)],
            "wide": pl.Series(numbers).cast(pl.Decimal(20, 2)),
            "clock": [time(0), time(1, 2, 3, 500_000), None, time(23, 59, 59, 999_999)],
        }
    )
    far = pl.Series([2_932_897, -719_163, None, 10_957], dtype=pl.Int32).cast(pl.Date)
    beyond = frame.with_columns(day=far, moment=far.cast(pl.Datetime("us")))
    relation = duckdb.connect().sql(NO_QUESTION_SEES)
    samples = [open_sample(each) for each in (frame, beyond, beyond.lazy(), relation)]
    samples.append(open_database_table(database, "t"))
    assert len({fingerprint(sample) for sample in samples}) == 1
    for sample in samples:
        assert cluster_sizes(sample, "moment") == cluster_sizes(sample, "day") == [3, 1]


def test_every_type_has_one_meaning(database: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute("SET timezone = 'America/New_York'")
    connection.execute("CREATE TYPE mood AS ENUM ('b', 'a')")
    connection.execute("CREATE DOMAIN whole AS integer")
    connection.execute(
        """
        CREATE TABLE typed (i2 smallint, f4 real, f8 float8, money numeric(9, 2), free numeric,
          padded char(4), mood mood, day date, moment timestamp, zoned timestamptz, flag boolean,
          whole whole, list int[], text varchar, far_day date, far_moment timestamp,
          far_zoned timestamptz)
        """
    )
    connection.execute(
        """
        INSERT INTO typed VALUES
          (1, 0.1, 'NaN', 0.10, 1.5, 'ab ', 'a', '2013-01-31', '1969-12-31 23:59:59.999999',
           '2013-01-31 22:30:00-05', TRUE, 1, ARRAY[1], 'É', 'infinity', 'infinity', '-infinity'),
          (-5, NULL, 'Infinity', 12345.67, 2, 'ab', 'b', '0001-01-01', '9999-12-31 23:59:59.999999',
           NULL, FALSE, 2, NULL, '', '0001-01-01 BC', '10000-01-01', '10000-01-01')
        """
    )
    sample = open_database_table(database, "public.typed")
    others = [name for name, kind in sample.types.items() if kind is ColumnType.OTHER]
    assert others == ["free", "whole", "list"]
    asked = {
        "i2 = -5": 1,
        "f4 = 0.10000000149011612": 1,
        "f8 is null": 1,
        "f8 > 1e308": 1,
        "money in (0.1, 12345.67)": 2,
        "padded = 'ab'": 2,
        "mood < 'b'": 1,  # by its text, not by the order of the enum
        "weekday(day) = 4": 1,
        "day = '0001-01-01'": 1,
        "year(moment) = 9999 and minute(moment) = 59": 1,
        "zoned = '2013-02-01 03:30:00'": 1,  # in UTC
        "flag": 1,
        "length(text) = 1": 1,
        "upper(text) = 'É' and lower(text) = 'É'": 1,
        "far_day is null": 2,
        "far_moment is null": 2,
        "far_zoned is null": 2,
    }
    assert dict(zip(asked, counts(sample, *asked), strict=True)) == asked
    (frame,) = sample.frames(list(sample.types))
    assert frame["padded"].to_list() == ["ab", "ab"]
    assert frame["zoned"].to_list()[0].isoformat() == "2013-02-01T03:30:00"
    assert frame["list"].to_list() == ["{1}", None]


@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_is_that_of_ieee_at_both_ends_of_the_doubles(op: Op) -> None:
    """Where PostgreSQL by itself raises an error, and where its guard must say which side it is."""
    frame = at_both_ends(op)
    sample = open_database_table(server().url(), loaded(frame))
    assert sample.sums([is_right(op)]) == [frame.height * GRID]


@pytest.mark.parametrize("op", ARITHMETIC)
def test_constants_at_both_ends_of_the_doubles_are_no_error_of_the_planner(op: Op) -> None:
    """What has no column in it is computed before any row, in branches that no row enters, too."""
    values = np.array(FLOATS)
    constants = [each for each in FLOATS if np.isfinite(each) and each != 0]
    column, rows, frame = Column("x", ColumnType.FLOAT), [], {"x": values}
    for place, constant in enumerate(constants):
        with np.errstate(all="ignore"):
            results = ARITHMETIC[op](constant, values), ARITHMETIC[op](values, constant)
        zero = (op is Op.DIVIDE) & (values == 0)
        frame |= {f"l{place}": np.where(zero, np.nan, results[0]), f"r{place}": results[1]}
        written = build.constant(constant)
        left, right = (Column(f"{side}{place}", ColumnType.FLOAT) for side in "lr")
        rows.append(same_value(build.arithmetic(op, written, column), left))
        rows.append(same_value(build.arithmetic(op, column, written), right))
    made = pl.DataFrame(frame)
    relation = duckdb.connect().from_arrow(made.to_arrow())
    for sample in (
        open_database_table(server().url(), loaded(made)),
        open_sample(relation),
        open_sample(made),
    ):
        for first in range(0, len(rows), 20):
            found = sample.sums(rows[first : first + 20])
            assert found == [len(values) * GRID] * len(found)


STAGED = [
    "case when x < 0 then clip(x / k, 0, 9) else 1 end",
    "x > 0 or x / k > 2",
    "clip(coalesce(x, x / k), 0, 9) where x * k > 1",
]


@pytest.mark.parametrize("text", STAGED)
def test_what_has_a_name_is_computed_once_and_by_workers_of_the_server(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Nothing that is sent keeps a server from sharing the rows among its processes."""
    frame = pl.DataFrame({"x": [0.5, None, -2.0] * 500, "k": [1, 2, 0] * 500})
    sample = open_database_table(server().url(), loaded(frame))
    value, _, inside = text.partition(" where ")
    schema, sent = Schema(sample.types), list[str]()
    row, where = row_value(parse_row(value, schema)), inside and parse_row(inside, schema)
    execute = psycopg.Connection.execute

    def noting(connection: Any, statement: str, *given: Any, **how: Any) -> Any:
        sent.append(statement)
        return execute(connection, statement, *given, **how)

    monkeypatch.setattr(psycopg.Connection, "execute", noting)
    sample.sums([row])
    sample.moments([row])
    sample.histograms([(row, where or None)])
    monkeypatch.undo()
    scans = [statement for statement in sent if "own.xmin" in statement]
    assert len(scans) == 3
    with closing(server().connected()) as connection:
        for costs in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            connection.execute(f"SET {costs} = 0")
        for scan in scans:
            explained = connection.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {scan}").fetchall()
            plan = [line for (line,) in explained]
            assert "Finalize" in plan[0]  # of what every worker aggregated
            assert sum(" / " in line for line in plan) == 1


@pytest.mark.parametrize(
    "text", ["x", "x where k > 0", "x where k > 9", "k = 1", "k = 1 where x < 0"]
)
def test_bins_that_a_large_tables_server_counts_are_those_counted_here(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    values = [-4.0, 4.0, 0.1, None, *np.random.default_rng(1).uniform(-4, 4, 3_000)]
    frame = pl.DataFrame({"x": values, "k": [place % 3 for place in range(len(values))]})
    sample = open_database_table(server().url(), loaded(frame))
    schema = Schema(sample.types).declare({"x": (-4, 4), "k": (0, 2)})
    value, _, inside = text.partition(" where ")
    row, where = row_value(parse_row(value, schema)), inside and parse_row(inside, schema)
    (here,) = sample.histograms([(row, where or None)])
    monkeypatch.setattr(postgres, "MOST_SENT", 0)
    (there,) = sample.histograms([(row, where or None)])
    (expected,) = open_sample(frame).histograms([(row, where or None)])
    for found in (here, there):
        assert found.total == expected.total
        np.testing.assert_array_equal(found.counts, expected.counts)


def test_the_fingerprint_is_that_of_every_engine(tmp_path: Path) -> None:
    frame = ODD
    sample = open_database_table(server().url(), loaded(frame))
    assert fingerprint(sample) == fingerprint(open_sample(frame))
    frame.write_parquet(tmp_path / "t.parquet")
    assert fingerprint(sample) == fingerprint(open_sample(tmp_path / "t.parquet"))
    assert fingerprint(open_database_table(server().url(), loaded(frame[::-1]))) == fingerprint(
        sample
    )


# Names -------------------------------------------------------------------------------------------


def test_names_are_only_names(database: str, connection: psycopg.Connection[Any]) -> None:
    name = """T'; DROP TABLE "x"; -- %s a.b"""
    connection.execute('CREATE SCHEMA "Own"')
    quoted = '"' + name.replace('"', '""') + '"'
    columns = ['qu"ote', "it's", "%s", "c0", "s0_0", "own", "unchanged", "select", "é; --"]
    written = ", ".join('"' + each.replace('"', '""') + '" float8' for each in columns)
    connection.execute(f'CREATE TABLE "Own".{quoted} ({written})')
    values = ", ".join(map(str, range(len(columns))))
    connection.execute(f'INSERT INTO "Own".{quoted} VALUES ({values})')
    sample = open_database_table(database, f"Own.{name}")
    for place, column in enumerate(columns):
        same = build.comparison(
            Op.EQUAL, Column(column, ColumnType.FLOAT), build.constant(float(place))
        )
        assert sample.sums([row_value(same)]) == [GRID]
    assert fingerprint(sample) == fingerprint(
        open_sample(pl.DataFrame({each: [float(place)] for place, each in enumerate(columns)}))
    )


def test_the_only_table_needs_no_name_and_others_are_listed(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    with pytest.raises(InvalidArgument, match="holds no tables"):
        open_database_table(database, None)
    connection.execute("CREATE TABLE one AS SELECT 1 AS x")
    assert open_database_table(database, None).n == 1
    connection.execute("CREATE TABLE two AS SELECT 1 AS x, 2 AS y")
    for name in (None, "three", "public.One", "one; DROP TABLE one"):
        with pytest.raises(InvalidArgument, match=r"holds 'public\.one', 'public\.two'"):
            open_database_table(database, name)
    assert open_database_table(database, "two").types.keys() == {"x", "y"}


def test_what_may_change_by_itself_is_refused(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("CREATE VIEW drawn AS SELECT random() AS x")
    with pytest.raises(InvalidArgument, match=r"public\.drawn is a view: what it gives may differ"):
        open_database_table(database, "drawn")
    connection.execute("CREATE MATERIALIZED VIEW kept AS SELECT random() AS x")
    assert counts(open_database_table(database, "kept"), "x < 1") == [1]


def test_rows_that_a_policy_hides_are_an_error_and_not_left_out(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("CREATE TABLE guarded AS SELECT generate_series(1, 9) AS x")
    connection.execute("ALTER TABLE guarded ENABLE ROW LEVEL SECURITY")
    connection.execute("CREATE POLICY few ON guarded USING (x < 3)")
    guest = f"guest_{uuid.uuid4().hex}"
    connection.execute(f"CREATE ROLE {guest} LOGIN")
    connection.execute(f"GRANT SELECT ON guarded TO {guest}")
    with pytest.raises(InvalidArgument, match="row-level security"):
        open_database_table(database.replace("postgres@", f"{guest}@"), "guarded")
    connection.execute(f"DROP OWNED BY {guest}")
    connection.execute(f"DROP ROLE {guest}")


# Tables that change ------------------------------------------------------------------------------

CHANGES = {
    "a row added": ("INSERT INTO t SELECT * FROM t LIMIT 1", "rows were added"),
    "a row removed": ("DELETE FROM t WHERE ctid = '(0,1)'", "rows were added, removed or changed"),
    "a row changed": ("UPDATE t SET x = x + 1 WHERE ctid = '(0,1)'", "rows were added"),
    "a row replaced": (
        "WITH gone AS (DELETE FROM t WHERE ctid = '(0,1)' RETURNING *) INSERT INTO t TABLE gone",
        "rows were added",
    ),
    "all rows removed": ("TRUNCATE t", "rows were added"),
    "a column dropped": ("ALTER TABLE t DROP COLUMN unit", "a column was added, removed"),
    "a column added": ("ALTER TABLE t ADD COLUMN z int", "a column was added, removed"),
    "another type": ("ALTER TABLE t ALTER x TYPE real", "given another type"),
    "another name": ("ALTER TABLE t RENAME late TO tardy", "renamed"),
    "it is gone": ("DROP TABLE t", "it is gone"),
    "another in its place": ("ALTER TABLE t RENAME TO o; CREATE TABLE t AS TABLE o", "it is gone"),
}


@pytest.fixture
def holdout(
    database: str, connection: psycopg.Connection[Any], tmp_path: Path
) -> Iterator[holdfast.Holdout]:
    """A holdout of table t of the database."""
    name = loaded(table())
    with closing(psycopg.connect(server().url())) as source:
        rows = source.execute(f"SELECT * FROM {name}").fetchall()
    connection.execute("CREATE TABLE t (x float8, late boolean, origin text, unit bigint)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", rows)
    address = database.replace("postgres@", "postgres:swordfish@")
    with holdfast.open(address, table="public.t", ledger=tmp_path / "t.ledger", **SAID) as opened:
        yield opened


@pytest.mark.parametrize("what", CHANGES)
def test_a_table_that_changed_gives_no_answer(
    holdout: holdfast.Holdout, connection: psycopg.Connection[Any], what: str
) -> None:
    change, words = CHANGES[what]
    holdout.ask("avg(late)")
    connection.execute(change)
    with pytest.raises(DataChanged, match=f'"public"."t" of .* is not as it was opened: .*{words}'):
        holdout.ask("avg(x > 20)")
    assert holdout.ask("avg(late)").status == "repeated"


@pytest.mark.parametrize(
    "change",
    ["ALTER TYPE mood RENAME VALUE 'a' TO 'c'", "ALTER TABLE t ALTER v SET EXPRESSION AS (x * 9)"],
)
def test_what_rows_mean_may_not_change_either(
    database: str, connection: psycopg.Connection[Any], change: str
) -> None:
    """No row is written anew by that."""
    connection.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
    connection.execute(
        "CREATE TABLE t (x float8, m mood, v float8 GENERATED ALWAYS AS (x * 2) VIRTUAL)"
    )
    connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    sample = open_database_table(database, "t")
    sample.require_unchanged()
    connection.execute(change)
    with pytest.raises(DataChanged, match="another type or meaning"):
        sample.require_unchanged()


@pytest.mark.parametrize("change", ["INSERT INTO t VALUES (9)", "DELETE FROM t WHERE x = 1"])
def test_rows_that_are_streamed_are_those_of_the_opening(
    database: str, connection: psycopg.Connection[Any], change: str
) -> None:
    connection.execute("CREATE TABLE t AS SELECT x::float8 FROM generate_series(1, 3) AS x")
    sample = open_database_table(database, "t")
    assert sorted(next(sample.frames(["x"]))["x"]) == [1, 2, 3]
    connection.execute(change)
    with pytest.raises(DataChanged, match="rows were added, removed or changed"):
        list(sample.frames(["x"]))


def test_an_error_that_looks_like_another_row_is_not_told_as_one(
    database: str, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of a scan is an alarm: what is told is what is found by counting."""
    connection.execute("CREATE TABLE t AS SELECT x::float8 FROM generate_series(1, 3) AS x")
    sample = open_database_table(database, "t")
    monkeypatch.setattr(TableSession, "is_known", "('row of ' || own.xmin)::int IS NULL")
    with pytest.raises(HoldfastError, match="could not be read to its end"):
        counts(sample, "x > 1")


def test_what_is_asked_of_a_database_is_what_is_asked_of_its_rows(
    holdout: holdfast.Holdout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    secret = (tmp_path / "t.ledger-secret").read_bytes()
    monkeypatch.setattr("holdfast.ledger.store.secrets.token_bytes", lambda _: secret)
    with holdfast.open(table(), ledger=tmp_path / "other" / "t.ledger", **SAID) as other:
        for question in ("avg(late)", "avg(x)", "avg(x > 20 and origin = 'JFK')"):
            mine, theirs = holdout.ask(question), other.ask(question)
            assert (mine.value, mine.interval) == (theirs.value, theirs.interval)
    for path in tmp_path.glob("t.ledger*"):
        assert b"swordfish" not in path.read_bytes()


def test_it_is_found_again_without_being_named(holdout: holdfast.Holdout, tmp_path: Path) -> None:
    answer = holdout.ask("avg(late)")
    source = holdout.source
    assert source is not None
    assert source.startswith("postgresql://postgres@/")
    with holdfast.open(source, ledger=tmp_path / "t.ledger") as again:
        assert again.ask("avg(late)").receipt == answer.receipt
        assert again.ask("avg(x > 7)").number == 2


# Servers that cannot be reached ------------------------------------------------------------------


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(InvalidArgument, match=r"cannot be read \(.*\); check that its server"):
        open_sample("postgresql://ann:swordfish@127.0.0.1:1/d", table="t")
    with pytest.raises(InvalidArgument, match="does not exist") as raised:
        open_sample(server().url("nowhere").replace("postgres@", "postgres:swordfish@"), table="t")
    assert "swordfish" not in str(raised.value)


def test_a_password_with_an_at_is_not_taken_for_a_server() -> None:
    """What libpq takes for the server's name would be told, and be the end of the password."""
    with pytest.raises(InvalidArgument, match=r"is no address of a database.*%40") as raised:
        open_sample("postgresql://ann:sword@fish@127.0.0.1:1/d", table="t")
    assert "fish" not in str(raised.value)


def test_a_user_without_rights_is_told_so_without_sql(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    user = f"user_{uuid.uuid4().hex}"
    connection.execute(f"CREATE TABLE t (x int); CREATE ROLE {user} LOGIN")
    try:
        with pytest.raises(InvalidArgument, match=r"\(permission denied for table t\); check"):
            open_sample(database.replace("postgres@", f"{user}@"), table="t")
    finally:
        connection.execute(f"DROP ROLE {user}")


def test_a_connection_that_was_lost_is_made_again_with_what_was_joined() -> None:
    name = loaded(pl.DataFrame({"id": [1, 2, 3], "y": [0.5, -1.0, 2.0]}))
    with proxy_to(server().socket) as proxy:
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres"
        sample: Any = open_database_table(url, name)
        joined = sample.joined("id", pl.DataFrame({"id": [3, 1], "good": [True, True]}))
        assert counts(joined, "good") == [2]
        proxy.cut()
        with pytest.raises(HoldfastError):  # it is noticed by whoever uses it first
            counts(joined, "good")
        assert counts(joined, "good") == [2]


def test_text_that_no_database_holds_is_refused_before_it_is_paid_for() -> None:
    sample = open_database_table(server().url(), loaded(pl.DataFrame({"t": ["a"]})))
    assert isinstance(sample, PostgresSample)
    nul = build.comparison(Op.EQUAL, Column("t", ColumnType.TEXT), build.constant("a\0"))
    with pytest.raises(InvalidQuestion, match="cannot compute the question"):
        sample.prepare([row_value(nul)])
