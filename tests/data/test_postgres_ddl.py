"""Changes of a table's definition: a scan gives the same bits as before, or `DataChanged`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from random import Random
from typing import Any

import psycopg
import pytest

from holdfast.data.fingerprint import fingerprint
from holdfast.data.sql.postgres import PostgresSample, open_database_table
from holdfast.errors import DataChanged, InvalidArgument
from holdfast.question import GRID, Schema, parse_row, row_value
from tests.postgres import server
from tests.seam import COMPARE_DEFINITION

# All that a table consists of is made in one transaction: every row has the same `xmin`, in the
# table, beside it and in what is put in its place.
PLAIN = """
    CREATE TYPE {s}.mood AS ENUM ('a', 'b');
    CREATE TABLE {s}.t (k int, x float8, y float8, m {s}.mood, word varchar(9) COLLATE "C",
        price numeric(8, 2), g float8 GENERATED ALWAYS AS (k * 2) VIRTUAL);
    INSERT INTO {s}.t SELECT i, i / 7.0, -i / 3.0, (ARRAY['a', 'b'])[1 + i % 2]::{s}.mood,
        'w' || i % 5, i / 4.0 FROM generate_series(1, 60) AS i;
    ALTER TABLE {s}.t ADD COLUMN late float8 DEFAULT 3;
    CREATE TABLE {s}.other AS SELECT -k AS k, x + 100 AS x, y, m, word, price, g, late FROM {s}.t;
"""
PARTS = """
    CREATE TABLE {s}.t (k int, x float8, y float8, word text) PARTITION BY LIST (k);
    CREATE TABLE {s}.p1 PARTITION OF {s}.t FOR VALUES IN (1);
    CREATE TABLE {s}.p2 (word text, y float8, x float8, k int);
    ALTER TABLE {s}.t ATTACH PARTITION {s}.p2 FOR VALUES IN (2);
    INSERT INTO {s}.t SELECT 1 + i % 2, i / 7.0, -i / 3.0, 'w' || i % 5
        FROM generate_series(1, 60) AS i;
    CREATE TABLE {s}.spare AS SELECT k, x + 100 AS x, y, word FROM {s}.p1;
"""
HEIRS = """
    CREATE TABLE {s}.t (k int, x float8, y float8, word text);
    CREATE TABLE {s}.child () INHERITS ({s}.t);
    INSERT INTO {s}.t SELECT i, i / 7.0, -i / 3.0, 'w' || i % 5 FROM generate_series(1, 40) AS i;
    INSERT INTO {s}.child SELECT i, i / 9.0, i / 3.0, 'c' || i % 5 FROM generate_series(1, 20) AS i;
    CREATE TABLE {s}.stranger AS SELECT k, x + 100 AS x, y, word FROM {s}.child;
"""
SWAPPED = (
    "ALTER TABLE {s}.{t} RENAME {a} TO held; ALTER TABLE {s}.{t} RENAME {b} TO {a};"
    "ALTER TABLE {s}.{t} RENAME held TO {b}"
)
# What changes no row and no meaning.
BENIGN = (
    "ANALYZE {s}.t",
    "CREATE INDEX ON {s}.t (x)",
    "COMMENT ON TABLE {s}.t IS 'x'",
    "ALTER TABLE {s}.t ALTER x SET NOT NULL",
    "ALTER TABLE {s}.t ALTER x SET DEFAULT 9",
    "ALTER TABLE {s}.t ALTER x SET STATISTICS 10",
    "ALTER TABLE {s}.t RENAME TO u; ALTER TABLE {s}.u RENAME TO t",
    SWAPPED.format(s="{s}", t="t", a="x", b="y")
    + ";"
    + SWAPPED.format(s="{s}", t="t", a="x", b="y"),
    "INSERT INTO {s}.t (k, x) VALUES (1, 5); DELETE FROM {s}.t WHERE x = 5 AND y IS NULL",
)
HARMFUL = (
    SWAPPED.format(s="{s}", t="t", a="x", b="y"),
    "ALTER TABLE {s}.t DROP COLUMN y; ALTER TABLE {s}.t ADD COLUMN y float8 DEFAULT 4",
    "ALTER TABLE {s}.t DROP COLUMN y; ALTER TABLE {s}.t ADD COLUMN y float8",
    "ALTER TABLE {s}.t RENAME y TO z",
    "ALTER TABLE {s}.t ADD COLUMN z int",
    "ALTER TABLE {s}.t ALTER x TYPE numeric(9, 3)",
    "ALTER TABLE {s}.t ALTER word TYPE varchar(20)",
    'ALTER TABLE {s}.t ALTER word TYPE text COLLATE "POSIX"',
    "UPDATE {s}.t SET x = x WHERE x > 5",
    "DELETE FROM {s}.t WHERE x > 5",
    "TRUNCATE {s}.t",
)
TABLES: dict[str, tuple[str, ...]] = {
    PLAIN: (
        "ALTER TYPE {s}.mood RENAME VALUE 'a' TO 'c'; ALTER TYPE {s}.mood RENAME VALUE 'b' TO 'a'",
        "ALTER TABLE {s}.t RENAME TO u; ALTER TABLE {s}.other RENAME TO t",
        "ALTER TABLE {s}.t ALTER g SET EXPRESSION AS (k * 3)",
        "ALTER TABLE {s}.t DROP COLUMN late; ALTER TABLE {s}.t ADD COLUMN late float8 DEFAULT 5",
        "ALTER TABLE {s}.t ALTER price TYPE numeric(12, 2)",
        "VACUUM FULL {s}.t",
        "CREATE TABLE {s}.heir () INHERITS ({s}.t)",
    ),
    PARTS: (
        "ALTER TABLE {s}.t DETACH PARTITION {s}.p1;"
        "ALTER TABLE {s}.t ATTACH PARTITION {s}.spare FOR VALUES IN (1)",
        "ALTER TABLE {s}.t DETACH PARTITION {s}.p1;"
        + SWAPPED.format(s="{s}", t="p1", a="x", b="y")
        + "; ALTER TABLE {s}.t ATTACH PARTITION {s}.p1 FOR VALUES IN (1)",
        "ALTER TABLE {s}.t DETACH PARTITION {s}.p1;"
        "ALTER TABLE {s}.t ATTACH PARTITION {s}.p1 FOR VALUES IN (1)",
        "ALTER TABLE {s}.p1 RENAME TO held; ALTER TABLE {s}.p2 RENAME TO p1;"
        "ALTER TABLE {s}.held RENAME TO p2",
    ),
    HEIRS: (
        "ALTER TABLE {s}.child NO INHERIT {s}.t; ALTER TABLE {s}.stranger INHERIT {s}.t",
        "ALTER TABLE {s}.child NO INHERIT {s}.t;"
        + SWAPPED.format(s="{s}", t="child", a="x", b="y")
        + "; ALTER TABLE {s}.child INHERIT {s}.t",
        "ALTER TABLE {s}.child NO INHERIT {s}.t; ALTER TABLE {s}.child INHERIT {s}.t",
        "ALTER TABLE {s}.child NO INHERIT {s}.t",
    ),
}
CONDITIONS = ("x > 3", "y < 0", "x + y > 1", "word = 'w1'", "k = 1")


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database of one's own."""
    with server().database() as name:
        yield server().url(name)


@pytest.fixture
def connection(database: str) -> Iterator[psycopg.Connection[Any]]:
    with closing(psycopg.connect(database, autocommit=True)) as found:
        yield found


def run(connection: psycopg.Connection[Any], statements: str) -> None:
    """One statement after the other; what the table cannot take any more is left out."""
    for statement in statements.split(";"):
        try:
            connection.execute(statement)
        except psycopg.Error:
            return


def bits(sample: PostgresSample) -> list[Any]:
    """All that a scan can tell."""
    schema = Schema(sample.types)
    rows = [row_value(parse_row(text, schema)) for text in CONDITIONS]
    rows.append(row_value(parse_row("clip(x, -10, 200)", schema)))
    sample.prepare(rows)
    return [
        sample.sums(rows),
        sample.moments(rows),
        [(each.counts.tolist()) for each in sample.histograms([(rows[-1], None)])],
        fingerprint(sample),
    ]


def answered(sample: PostgresSample, before: Sequence[Any]) -> bool:
    """Whether the table is still answered about; then by the very same bits."""
    try:
        found = bits(sample)
    except DataChanged:
        return False
    assert found == before
    return True


def random_sequences(database: str, connection: psycopg.Connection[Any], number: int) -> int:
    """How many random sequences of statements left the table as it was."""
    random, same = Random(number), 0
    for place in range(number):
        schema = f"s{place}"
        table = list(TABLES)[place % len(TABLES)]
        connection.execute(f"CREATE SCHEMA {schema};" + table.format(s=schema))
        sample = open_database_table(database, f"{schema}.t")
        before = bits(sample)
        pools = [BENIGN, BENIGN, HARMFUL, TABLES[table]]
        for _ in range(random.randint(1, 3)):
            run(connection, random.choice(random.choice(pools)).format(s=schema))
            same += answered(sample, before)
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    return same


def test_random_definitions_give_the_same_bits_or_none(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    assert random_sequences(database, connection, 25) > 5  # not because nothing is answered


@pytest.mark.campaign
def test_many_random_definitions_give_the_same_bits_or_none(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    assert random_sequences(database, connection, 300) > 100


@pytest.mark.parametrize("table", TABLES, ids=["plain", "partitions", "heirs"])
def test_every_change_gives_the_same_bits_or_none(
    database: str, connection: psycopg.Connection[Any], table: str
) -> None:
    same = []
    for place, change in enumerate([*BENIGN, *HARMFUL, *TABLES[table]]):
        schema = f"s{place}"
        connection.execute(f"CREATE SCHEMA {schema};" + table.format(s=schema))
        sample = open_database_table(database, f"{schema}.t")
        before = bits(sample)
        run(connection, change.format(s=schema))
        if answered(sample, before):
            same.append(change)
    assert set(BENIGN) <= set(same)
    assert set(HARMFUL).isdisjoint(same)


def test_a_definition_that_changes_just_before_the_scan_is_seen(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    """It is compared under the lock of the scan itself, not only before the question."""
    connection.execute("CREATE SCHEMA s;" + PLAIN.format(s="s"))
    sample = open_database_table(database, "s.t")
    row = row_value(parse_row("x > 3", Schema(sample.types)))
    sample.require_unchanged()
    run(connection, SWAPPED.format(s="s", t="t", a="x", b="y"))
    with pytest.raises(DataChanged, match="renamed"):
        sample.sums([row])
    with pytest.raises(DataChanged, match="renamed"):
        list(sample.frames(["x"]))


def test_a_partition_that_is_attached_under_the_lock_of_a_scan_is_seen(
    database: str, connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ATTACH does not wait for readers: each row says which table it is of."""
    connection.execute("CREATE SCHEMA s;" + PARTS.format(s="s"))
    sample = open_database_table(database, "s.t")
    monkeypatch.setattr(COMPARE_DEFINITION, lambda _: None)
    row = row_value(parse_row("x > 3", Schema(sample.types)))
    before = sample.sums([row])
    run(connection, TABLES[PARTS][0].format(s="s"))
    with pytest.raises(DataChanged, match="rows were added, removed or changed"):
        assert sample.sums([row]) == before


# Names ------------------------------------------------------------------------------------------


def test_operators_and_functions_of_other_schemas_are_not_taken(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("CREATE TABLE t AS SELECT i::float8 AS x FROM generate_series(1, 100) AS i")
    connection.execute("CREATE SCHEMA evil")
    connection.execute(
        "CREATE FUNCTION evil.always(float8, float8) RETURNS bool IMMUTABLE LANGUAGE sql "
        "AS 'SELECT true'"
    )
    for operator in ("<", ">", "=", "<=", ">="):
        connection.execute(
            f"CREATE OPERATOR evil.{operator} "
            "(LEFTARG = float8, RIGHTARG = float8, FUNCTION = evil.always)"
        )
    connection.execute(
        "CREATE FUNCTION evil.set_config(text, text, bool) RETURNS text LANGUAGE sql AS 'SELECT $2'"
    )
    name = connection.info.dbname
    connection.execute(f"ALTER DATABASE {name} SET search_path = evil, pg_catalog, public")
    sample = open_database_table(database, "public.t")
    row = row_value(parse_row("x < 50", Schema(sample.types)))
    assert sample.sums([row]) == [49 * GRID]


def test_a_name_that_two_schemas_have_is_refused(
    database: str, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("CREATE SCHEMA lab")
    connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    connection.execute("CREATE TABLE lab.t AS SELECT 1 AS x FROM generate_series(1, 2)")
    with pytest.raises(InvalidArgument, match=r"2 schemas of .* have one: 'lab\.t', 'public\.t'"):
        open_database_table(database, "t")
    assert open_database_table(database, "lab.t").n == 2
    connection.execute("CREATE TABLE lab.only AS SELECT 1 AS x")
    assert open_database_table(database, "only").n == 1


def test_foreign_partitions_are_refused(database: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute(
        "CREATE FOREIGN DATA WRAPPER elsewhere; CREATE SERVER there FOREIGN DATA WRAPPER elsewhere"
    )
    connection.execute("CREATE TABLE t (k int) PARTITION BY LIST (k)")
    connection.execute("CREATE FOREIGN TABLE f PARTITION OF t FOR VALUES IN (1) SERVER there")
    with pytest.raises(InvalidArgument, match=r"public\.t has 1 foreign tables as partitions"):
        open_database_table(database, "t")
