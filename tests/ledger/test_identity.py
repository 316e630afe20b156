"""Which table a ledger protects, where it is, and which other ledgers protect it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.fingerprint import ColumnDigests, fingerprint
from holdfast.data.source import open_sample
from holdfast.errors import DataChanged, InvalidArgument, SecondLedger
from holdfast.ledger.index import note_ledger, others_over
from holdfast.ledger.store import home_of
from tests.cli.run import holdfast as command
from tests.holdout.tables import LATE, copied, made, opened, table, untouchable
from tests.ledger.reading import rows_of

# The print ----------------------------------------------------------------------------------------


def written(folder: Path, *but: str) -> bytes:
    """All that lies in a folder."""
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.name not in but)


def test_the_plain_fingerprint_is_written_nowhere(tmp_path: Path) -> None:
    data = tmp_path / "rows.parquet"
    table().write_parquet(data)
    plain = fingerprint(open_sample(data))
    assert len(plain) == 32
    with opened(tmp_path, data, tolerance=0.2) as holdout:
        holdout.ask(LATE)
        assert plain.encode() not in written(tmp_path, "rows.parquet")
        assert plain[:12] not in repr(holdout.opening)
    table(seed=2).write_parquet(data)
    other = fingerprint(open_sample(data))
    with pytest.raises(DataChanged) as raised:
        holdfast.open(data, ledger=tmp_path / "t.ledger", described="off")
    for said in (str(raised.value), command("audit", "t", "--json", cwd=tmp_path).stdout):
        assert plain[:12] not in said
        assert other[:12] not in said


def test_one_table_has_another_print_in_every_ledger(tmp_path: Path) -> None:
    prints = {
        json.loads(rows_of(made(tmp_path, name=name))[0][1])["fingerprint"] for name in ("a", "b")
    }
    assert len(prints) == 2
    assert all(len(each) == 64 for each in prints)


def test_the_ledger_names_no_place(tmp_path: Path) -> None:
    data = tmp_path / "rows.parquet"
    table().write_parquet(data)
    with opened(tmp_path, data, tolerance=0.2) as holdout:
        holdout.ask(LATE)
        assert holdout.source == str(data)
    assert str(tmp_path).encode() not in written(tmp_path, "rows.parquet", "t.ledger-files")
    assert (tmp_path / "t.ledger-files").stat().st_mode & 0o777 == 0o600


# Where the data is --------------------------------------------------------------------------------


def forged(path: Path, **facts: Any) -> None:
    """Other facts in the file beside a ledger, and the seal that was there."""
    content = json.loads(path.read_text())
    content["facts"] = json.dumps(json.loads(content["facts"]) | facts)
    path.write_text(json.dumps(content))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file, and a ledger that protects it."""
    data = tmp_path / "rows.parquet"
    table().write_parquet(data)
    with opened(tmp_path, data, tolerance=0.2):
        pass
    return data


def test_a_forged_memory_lets_no_other_table_in(data: Path) -> None:
    side, ledger = data.with_name("t.ledger-files"), data.with_name("t.ledger")
    table(seed=2).write_parquet(data)
    found = data.stat()
    stamp = {
        "path": str(data),
        "size": found.st_size,
        "modified_ns": found.st_mtime_ns,
        "changed_ns": found.st_ctime_ns,
        "inode": found.st_ino,
    }
    forged(side, stamps=[stamp])
    with pytest.raises(DataChanged):
        holdfast.open(data, ledger=ledger, described="off")


def test_the_memory_of_another_ledger_is_not_believed(data: Path) -> None:
    made(data.parent, table(seed=2), name="u")
    folder = data.parent
    (folder / "t.ledger-files").replace(folder / "u.ledger-files")
    with pytest.raises(DataChanged):
        holdfast.open(data, ledger=folder / "u.ledger", described="off")


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '{"facts": 3, "seal": 4}', "{}"])
def test_a_damaged_memory_is_only_forgotten(data: Path, content: str) -> None:
    data.with_name("t.ledger-files").write_text(content)
    with opened(data.parent) as blind:
        assert blind.source is None
    with opened(data.parent, data) as holdout:
        assert holdout.source == str(data)


def test_a_folder_that_cannot_be_written_is_only_read_again(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = data.with_name("t.ledger-files")
    side.unlink()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(PermissionError()))
    with opened(data.parent, data) as holdout:
        assert holdout.ask(LATE).number == 1
        assert holdout.source is None
    assert sorted(path.name for path in data.parent.glob("t.ledger-files*")) == []


def test_a_moved_file_is_found_by_opening_it_once(data: Path) -> None:
    moved = data.with_name("moved.parquet")
    data.rename(moved)
    asked = command("ask", "t", LATE, cwd=data.parent)
    assert "rows.parquet' and is not there now; say where: --data FILE" in asked.stderr
    with opened(data.parent, moved) as holdout:
        assert holdout.source == str(moved)
    assert command("ask", "t", LATE, cwd=data.parent).returncode == 0
    with opened(data.parent, table()):  # a table in memory is nowhere
        pass
    assert command("ask", "t", "avg(x > 20)", cwd=data.parent).returncode == 0


def test_a_relative_path_is_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table().write_parquet(tmp_path / "rows.parquet")
    assert command("init", "rows.parquet", "--tolerance", "0.2", cwd=tmp_path).returncode == 0
    (tmp_path / "below").mkdir()
    asked = command("ask", str(tmp_path / "rows.ledger"), LATE, cwd=tmp_path / "below")
    assert asked.returncode == 0


def test_the_table_of_a_database_is_remembered(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "two.duckdb") as database:
        for name in ("one", "two"):
            database.execute(f"CREATE TABLE {name} AS SELECT i % 2 = 0 AS v FROM range(99) t(i)")
    words = ("init", "two.duckdb", "--tolerance", "0.3", "--table", "one")
    assert command(*words, cwd=tmp_path).returncode == 0
    assert command("ask", "two", "avg(v)", cwd=tmp_path).returncode == 0
    with pytest.raises(InvalidArgument, match="table is None; the database"):
        holdfast.open(tmp_path / "two.duckdb", ledger=tmp_path / "new.ledger", described="off")


def test_a_view_is_read_again_whatever_its_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE t AS SELECT i AS x FROM range(99) t(i)")
        database.execute("CREATE VIEW v AS SELECT x % 2 = 0 AS even FROM t")
    with opened(tmp_path, path, tolerance=0.3, table="v") as holdout:
        assert 0 < float(holdout.ask("avg(even)")) < 1
    monkeypatch.setattr("holdfast.ledger.opening.fingerprint", lambda _: "of other rows")
    with pytest.raises(DataChanged):
        holdfast.open(path, ledger=tmp_path / "t.ledger", table="v", described="off")


def drawn(kind: str, folder: Path) -> Any:
    """Rows that are other ones at each reading."""
    query = "SELECT random() AS x FROM range(99)"
    match kind:
        case "view":
            with duckdb.connect(folder / "v.duckdb") as database:
                database.execute(f"CREATE VIEW v AS {query}")
            return folder / "v.duckdb"
        case "relation":
            return duckdb.connect().sql(query)
        case _:
            rng = np.random.default_rng(1)
            return pl.LazyFrame({"x": range(99)}).select(
                pl.col("x").map_batches(lambda x: pl.Series(rng.random(len(x))), pl.Float64)
            )


@pytest.mark.parametrize("kind", ["view", "relation", "lazy frame"])
def test_a_table_that_is_another_one_at_each_reading_gets_no_ledger(
    tmp_path: Path, kind: str
) -> None:
    with pytest.raises(InvalidArgument, match=r"differs from one reading to the next.* Save it as"):
        holdfast.open(
            drawn(kind, tmp_path), ledger=tmp_path / "t.ledger", tolerance=0.3, described="off"
        )
    assert not list(tmp_path.glob("t.ledger*"))


def test_what_is_in_a_databases_log_belongs_to_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE t AS SELECT i AS x FROM range(99) t(i)")
    with opened(tmp_path, path, tolerance=0.3):
        pass
    before = path.read_bytes()
    with duckdb.connect(path) as database:
        database.execute("PRAGMA disable_checkpoint_on_shutdown")
        database.execute("UPDATE t SET x = 7")
    assert path.read_bytes() == before
    assert path.with_name("rows.duckdb.wal").exists()
    with pytest.raises(DataChanged):
        holdfast.open(path, ledger=tmp_path / "t.ledger", described="off")


def test_the_types_of_a_csv_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "rows.csv"
    table().write_csv(data)
    with opened(tmp_path, data, tolerance=0.2) as holdout:
        first = holdout.ask(LATE)
    real = pl.scan_csv

    def not_through_all_rows(*arguments: Any, **named: Any) -> pl.LazyFrame:
        assert "schema" in named or named["infer_schema_length"] is not None
        return real(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(pl, "scan_csv", not_through_all_rows)
        patched.setattr("holdfast.ledger.opening.fingerprint", lambda _: untouchable())
        with opened(tmp_path, data) as holdout:
            assert holdout.ask(LATE).value == first.value
            assert holdout.ask("avg(x > 20)").number == 2
    data.write_text(data.read_text().replace("true", "perhaps"))
    with pytest.raises(DataChanged):
        holdfast.open(data, ledger=tmp_path / "t.ledger", described="off")


# Other ledgers ------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's index, empty."""
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "ledgers"


def folder_of(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def test_a_second_ledger_in_the_folder_is_noticed(tmp_path: Path) -> None:
    made(tmp_path, name="one")
    made(tmp_path, table(seed=2), name="other")
    said = r"one\.ledger' protects the same table: two ledgers have two budgets.* Use that one"
    with pytest.warns(SecondLedger, match=said) as noticed:
        made(tmp_path, table().reverse(), name="two")
    assert len(noticed) == 1
    assert Path(noticed[0].filename).name == "tables.py"  # where `holdfast.open` was called


@pytest.mark.filterwarnings("error::holdfast.errors.SecondLedger")
def test_what_is_no_second_ledger(tmp_path: Path, index: Path) -> None:
    made(tmp_path, name="one")
    with opened(tmp_path, table(), "one"):  # the same again
        pass
    made(tmp_path, table(seed=2), name="other")
    (tmp_path / "damaged.ledger").write_text("no ledger")
    (tmp_path / "folder.ledger").mkdir()
    copied(tmp_path / "one.ledger", tmp_path / "nowhere")
    (tmp_path / "nowhere" / "one.ledger-secret").unlink()
    made(tmp_path / "nowhere", table(seed=3), name="third")


@pytest.mark.filterwarnings("error::holdfast.errors.SecondLedger")
def test_a_warning_made_an_error_makes_no_ledger(tmp_path: Path) -> None:
    made(tmp_path, name="one")
    with pytest.raises(SecondLedger):
        made(tmp_path, name="two")
    assert [path.name for path in tmp_path.glob("two*")] == []


def test_a_second_ledger_elsewhere_is_noticed_by_the_index(tmp_path: Path, index: Path) -> None:
    first = made(folder_of(tmp_path, "a"))
    with pytest.warns(SecondLedger, match="a/t.ledger"):
        second = made(folder_of(tmp_path, "b"))
    lines = [line.partition("\t") for line in index.read_text().splitlines()]
    assert [name for _, _, name in lines] == [str(first), str(second)]
    assert [mark for mark, _, _ in lines] == [rows_of(each)[0][2] for each in (first, second)]
    content = fingerprint(open_sample(table()))
    assert others_over(content, home_of(second)) == [home_of(first)]
    first.unlink()
    assert others_over(content, home_of(tmp_path / "c.ledger")) == [home_of(second)]
    third = made(folder_of(tmp_path, "c"), table(seed=2))
    lines = [line.partition("\t") for line in index.read_text().splitlines()]
    assert [name for _, _, name in lines] == [str(second), str(third)]


SAME_ROWS: dict[str, Any] = {
    "a column added": lambda rows: rows.with_columns(new=pl.lit(1)),
    "a column left out": lambda rows: rows.drop("x"),
    "another name": lambda rows: rows.rename({"x": "value", "unit": "house"}),
    "another type": lambda rows: rows.with_columns(pl.col("unit").cast(pl.Float64)),
    "numbers as text": lambda rows: rows.with_columns(pl.col("x").cast(pl.String)).reverse(),
    "rounded": lambda rows: rows.with_columns(pl.col("x").round(0)),
}


@pytest.mark.parametrize("how", SAME_ROWS)
def test_a_second_ledger_over_changed_columns_is_noticed(
    tmp_path: Path, index: Path, how: str
) -> None:
    made(folder_of(tmp_path, "a"))
    said = (
        r"a/t\.ledger' protects the same rows, by the content of \d of \d compared columns: two led"
    )
    with pytest.warns(SecondLedger, match=said):
        made(folder_of(tmp_path, "b"), SAME_ROWS[how](table()), schema={})
    kept = index.with_name("columns").read_text()
    assert len(kept.splitlines()) == 2
    assert not ColumnDigests(open_sample(table()).types).found()
    with pytest.warns(SecondLedger) as noticed:  # the very table is one warning
        made(folder_of(tmp_path, "c"))
    assert len(noticed) == 2


def growing(rows: int, seed: int = 8) -> pl.DataFrame:
    """A table whose first rows are the same, however many it has, and row numbers that are not."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({"x": rng.normal(size=6_000), "late": rng.random(6_000) < 0.3})
    return frame.head(rows).sample(fraction=1.0, shuffle=True, seed=rows).with_row_index("number")


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize(("before", "after"), [(None, None), (None, 0.3), (0.5, None), (0.5, 0.5)])
def test_a_table_that_grew_is_noticed(
    tmp_path: Path, before: float | None, after: float | None
) -> None:
    with holdfast.open(growing(3_000), ledger=tmp_path / "a.ledger", split=before) as first:
        rows = first.rows
    said = r"a\.ledger' protects rows that this table has, too, about \d+ %: two ledgers"
    with pytest.warns(SecondLedger, match=said) as noticed:
        holdfast.open(growing(5_000), ledger=tmp_path / "b.ledger", split=after).close()
    assert str(noticed[0].message).endswith("or protect only the rows that are new.")
    assert rows == (3_000 if before is None else 1_500)


@pytest.mark.usefixtures("index")
@pytest.mark.filterwarnings("error::holdfast.errors.SecondLedger")
@pytest.mark.parametrize(
    "other",
    [
        growing(5_000, 9),  # of the same population
        growing(6_000).tail(100),  # a few of its rows
    ],
)
def test_rows_of_its_own_are_no_table_that_grew(tmp_path: Path, other: pl.DataFrame) -> None:
    holdfast.open(growing(3_000), ledger=tmp_path / "a.ledger").close()
    holdfast.open(other, ledger=tmp_path / "b.ledger").close()


@pytest.mark.usefixtures("index")
@pytest.mark.filterwarnings("error::holdfast.errors.SecondLedger")
def test_equal_rows_tell_of_no_table(tmp_path: Path) -> None:
    few = pl.DataFrame({"a": [True, False] * 500, "b": [1, 2, 3, 4] * 250})
    holdfast.open(few, ledger=tmp_path / "a.ledger").close()
    holdfast.open(few.head(700), ledger=tmp_path / "b.ledger").close()


@pytest.mark.filterwarnings("error::holdfast.errors.SecondLedger")
def test_the_same_items_or_a_few_values_are_no_second_ledger(tmp_path: Path, index: Path) -> None:
    """Results of two models on the same items; and columns that any table may have."""
    rng = np.random.default_rng(4)
    items = [f"item-{place}" for place in range(1_000)]
    for name in "abc":
        right = rng.permuted(np.arange(1_000) < 700)
        rows = pl.DataFrame({"item": items, "row": range(1_000), "right": right, "task": "x"})
        made(folder_of(tmp_path, name), rows, schema={})
    with pytest.raises(SecondLedger, match="the content of 2 of 2"):  # beside items and numbers
        made(folder_of(tmp_path, "d"), rows.with_columns(model=pl.lit("m")).reverse(), schema={})


def test_the_command_line_says_it_on_stderr(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "rows.parquet")
    words = ("init", "rows.parquet", "--tolerance", "0.2", "--json", "--name")
    assert command(*words, "one", cwd=tmp_path).stderr == ""
    second = command(*words, "two", cwd=tmp_path)
    assert second.returncode == 0
    assert second.stderr.startswith("holdfast: the ledger '")
    assert second.stderr.endswith("Use that one instead.\n")
    assert json.loads(second.stdout)["ledger"] == "two.ledger"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b\n", None])
def test_an_index_that_cannot_be_used_stops_nothing(
    tmp_path: Path, index: Path, content: bytes | None
) -> None:
    if content is None:
        (tmp_path / "state").write_text("a file where a folder should be")
    else:
        index.parent.mkdir()
        index.write_bytes(content)
    made(tmp_path)


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"XDG_STATE_HOME": "/x"}, "/x/holdfast/ledgers"),
        ({"HOME": "/h", "XDG_STATE_HOME": ""}, "/h/.local/state/holdfast/ledgers"),
        ({"HOLDFAST_STATE": "/s"}, "/s/ledgers"),
    ],
)
def test_where_the_index_is(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], place: str
) -> None:
    from holdfast.ledger.index import index_path

    monkeypatch.delenv("HOLDFAST_STATE")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert index_path() == Path(place)


def test_a_ledger_that_is_looked_at_is_left_alone(tmp_path: Path, index: Path) -> None:
    path = made(tmp_path)
    before = {each.name: each.read_bytes() for each in tmp_path.glob("t.ledger*")}
    content, new = fingerprint(open_sample(table())), home_of(tmp_path / "new.ledger")
    assert others_over(content, new) == [home_of(path)]
    assert {each.name: each.read_bytes() for each in tmp_path.glob("t.ledger*")} == before
    with closing(sqlite3.connect(path)) as busy:  # nor does it wait for whoever writes
        busy.execute("BEGIN EXCLUSIVE")
        assert others_over(content, new) == [home_of(path)]
    first = rows_of(path)[0][2]
    assert note_ledger(home_of(path), first) == []
    assert index.read_text() == f"{first}\t{path}\n"


def test_ledgers_are_listed(tmp_path: Path, index: Path) -> None:
    here = folder_of(tmp_path, "here")
    assert "holdfast init DATA" in command("list", cwd=here).stdout
    elsewhere = made(folder_of(tmp_path, "elsewhere"), name="far")
    near = made(here, table(seed=2), name="near")
    with opened(here, table(seed=2), "near") as holdout:
        holdout.ask(LATE)
        left = holdout.budget.questions_left
    damaged = here / "damaged.ledger"
    damaged.write_text("no ledger")
    first, second, third = json.loads(command("list", "--json", cwd=here).stdout)
    assert (first["ledger"], first["name"], first["rows"]) == (str(elsewhere), "far", 400)
    assert second["ledger"] == str(damaged)
    assert "is damaged" in second["error"]
    assert third == {
        "ledger": str(near),
        "name": "near",
        "rows": 400,
        "answered": 1,
        "questions_left": left,
        "left": f"{left} questions left",
    }
    said = command("list", cwd=here)
    assert f"{near}\n  near: 400 rows, 1 answered, {left} questions left\n" in said.stdout
    assert "cannot be read: the ledger" in said.stdout
    assert said.returncode == 4  # as with every command that meets a damaged one
    assert said.stdout.endswith(f"Next: holdfast budget {elsewhere}\n")
