"""`open`: new and resumed ledgers, changed data, sampling, and reading without data."""

from __future__ import annotations

import json
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import DataChanged, InvalidArgument, LedgerTampered
from holdfast.ledger.audit import audit
from holdfast.theory.base.dependence import PooledUnits
from tests.holdout.tables import (
    BOUNDS,
    LATE,
    copied,
    made,
    opened,
    sample_value,
    table,
    untouchable,
    watch,
)
from tests.ledger.forging import forged
from tests.seam import store_of, transcript_of

# Data ------------------------------------------------------------------------------------------

SAME = {
    "itself": lambda frame: frame,
    "rows in another order": lambda frame: frame.reverse(),
    "columns in another order": lambda frame: frame.select(sorted(frame.columns)),
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "lazy": lambda frame: frame.lazy(),
}
CHANGED = {
    "a cell": lambda frame: frame.with_columns(
        x=pl.when(pl.int_range(pl.len()) == 7).then(pl.col("x") + 1e-9).otherwise("x")
    ),
    "a null": lambda frame: frame.with_columns(
        late=pl.when(pl.int_range(pl.len()) != 7).then("late")
    ),
    "a text": lambda frame: frame.with_columns(origin=pl.col("origin").str.replace("JFK", "JFK ")),
    "a row less": lambda frame: frame.head(399),
    "a row twice": lambda frame: pl.concat([frame.head(1), frame.head(399)]),
    "a column less": lambda frame: frame.drop("unit"),
    "a column more": lambda frame: frame.with_columns(more=1),
    "a column renamed": lambda frame: frame.rename({"unit": "group"}),
    "a type": lambda frame: frame.with_columns(pl.col("unit").cast(pl.Float64)),
    "two columns exchanged": lambda frame: frame.with_columns(
        x=pl.col("unit").cast(pl.Float64), unit=pl.col("x").cast(pl.Int64)
    ),
}


@pytest.mark.parametrize("change", SAME)
def test_the_same_rows_are_the_same_data(tmp_path: Path, change: str) -> None:
    made(tmp_path)
    with opened(tmp_path, SAME[change](table())) as holdout:
        assert holdout.ask(LATE).number == 1


@pytest.mark.parametrize("change", CHANGED)
def test_changed_data_is_found(tmp_path: Path, change: str) -> None:
    made(tmp_path)
    with pytest.raises(
        DataChanged, match=r"not the one of the ledger .*t\.ledger.* \(400 rows, 4 columns\)"
    ):
        holdfast.open(CHANGED[change](table()), ledger=tmp_path / "t.ledger", described="off")
    with opened(tmp_path, table()) as holdout:  # and the ledger is still that of the old data
        assert holdout.budget.asked == 0


def test_files_that_were_not_touched_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "rows.parquet"
    table().write_parquet(data)
    with opened(tmp_path, str(data), tolerance=0.2) as holdout:
        assert holdout.source == str(data)
    with monkeypatch.context() as patched:
        patched.setattr("holdfast.ledger.opening.fingerprint", lambda _: untouchable())
        with opened(tmp_path, data) as holdout:
            assert holdout.rows == 400
    table(seed=2).write_parquet(data)
    with pytest.raises(DataChanged):
        holdfast.open(data, ledger=tmp_path / "t.ledger", described="off")
    (tmp_path / "t.ledger-files").write_text("{")  # a damaged memory is only forgotten
    table().write_parquet(data)
    with opened(tmp_path, data) as holdout:
        assert holdout.ask(LATE).number == 1


# New ledgers -----------------------------------------------------------------------------------


def test_names_and_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with holdfast.open(table(), name="flights", described="off") as holdout:
        assert holdout.name == "flights"
        terms = holdout.budget.terms
        assert (terms.tolerance, terms.confidence_level, terms.questions) == (0.05, 0.95, None)
    assert (tmp_path / "flights.ledger").is_file()
    with pytest.raises(InvalidArgument, match="needs a name= or a ledger="):
        holdfast.open(table(), described="off")


def test_the_tolerance_follows_from_the_questions(tmp_path: Path) -> None:
    with opened(tmp_path, table(), questions=20) as holdout:
        assert 0.1 < holdout.budget.terms.half_width < 0.25
        assert holdout.budget.questions_left == 20
    with pytest.raises(InvalidArgument, match="cannot answer 400 questions with any half-width"):
        holdfast.open(table(50), ledger=tmp_path / "u.ledger", questions=400, described="off")


@pytest.mark.parametrize(
    "declared",
    [
        {"tolerance": 0.0},
        {"tolerance": 0.5},
        {"questions": 0},
        {"confidence_level": 1.0},
        {"sampling": "random"},
        {"sampling": holdfast.clustered("patient", sizes="fixed")},
        {"schema": {"y": (0, 1)}},
        {"timeout": -1.0},
        {"timeout": float("inf")},
        {"data": None},
        {"data": pl.DataFrame({"x": [1.0]})},
    ],
    ids=lambda declared: " ".join(
        f"{what}={str(value)[:20]!r}" for what, value in declared.items()
    ),
)
def test_what_cannot_be_declared_leaves_no_ledger(tmp_path: Path, declared: dict[str, Any]) -> None:
    arguments = {"data": table(), "tolerance": 0.2, **declared}
    with pytest.raises(InvalidArgument):
        holdfast.open(**arguments, ledger=tmp_path / "t.ledger", described="off")
    assert not (tmp_path / "t.ledger").exists()
    assert not (tmp_path / "t.ledger-secret").exists()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"name": "n" * 250}, "name is .*; it must be a path, with names of at most 230 bytes"),
        ({"name": "é" * 120}, "name is .*; it must be a path, with names of at most 230 bytes"),
        ({"name": "a\0b"}, r"name is 'a\\x00b'; it must be text"),
        ({"name": 3}, "name is 3; it must be text"),
        ({"ledger": 3}, "ledger is 3; it must be a path"),
        ({"ledger": ""}, "cannot be the name of a file"),
        ({"ledger": ".."}, "cannot be the name of a file"),
        ({"ledger": ":memory:"}, "cannot be the name of a file"),
    ],
    ids=lambda named: str(named)[:30],
)
def test_what_cannot_be_a_name_leaves_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=said):
        holdfast.open(table(), tolerance=0.2, **{"described": "off", **named})
    assert list(tmp_path.iterdir()) == []


def test_the_longest_name(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "rows.parquet")
    with opened(tmp_path, tmp_path / "rows.parquet", "n" * 223, tolerance=0.2) as holdout:
        holdout.ask(LATE)
        assert holdout.source is not None


def test_declarations_of_other_number_types_can_be_read_again(tmp_path: Path) -> None:
    with opened(
        tmp_path,
        table(),
        tolerance=np.float32(0.25),
        questions=np.int64(7),
        sampling=holdfast.m_dependent(1.0),  # type: ignore[arg-type]
    ) as holdout:
        assert holdout.ask(LATE).assumes == "rows in order, independent when more than 1 apart"


def test_two_ledgers_in_one_folder(tmp_path: Path) -> None:
    made(tmp_path, name="one")
    made(tmp_path, table(seed=2), name="two")
    with opened(tmp_path, table(), "one") as one, opened(tmp_path, table(seed=2), "two") as two:
        first, second = one.ask(LATE), two.ask(LATE)
        assert first.number == second.number == 1
        assert first.value != second.value
        assert store_of(one).secret != store_of(two).secret
    with pytest.raises(DataChanged):
        holdfast.open(table(seed=2), ledger=tmp_path / "one.ledger", described="off")


# Resuming --------------------------------------------------------------------------------------


def test_without_data_repeats_are_answered_and_new_questions_need_it(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        first = holdout.ask(LATE, why="first")
    with opened(tmp_path) as blind:
        again = blind.ask(LATE)
        assert (again.status, again.value) == ("repeated", first.value)
        assert blind.cost("avg(x)").most > 0
        before = blind.budget.to_dict()
        with pytest.raises(InvalidArgument, match=r"opened without them; open it with its data"):
            blind.ask("avg(x)")
        assert blind.budget.to_dict() == before
        assert (blind.name, blind.rows, blind.source) == ("t", 400, None)


@pytest.mark.parametrize(
    "again",
    [
        {"tolerance": 0.1},
        {"questions": 21},
        {"confidence_level": 0.9},
        {"name_": "other"},
        {"sampling": holdfast.m_dependent(3)},
        {"sampling": holdfast.clustered("unit", sizes="fixed")},
        {"schema": {"x": (0, 100)}},
        {"schema": {}},
        {"mechanism": "rounding"},
        {"options": {"order": 2}},
        {"design": ["origin"]},
    ],
    ids=str,
)
def test_other_declarations_are_refused(tmp_path: Path, again: dict[str, Any]) -> None:
    path = made(tmp_path)
    declared = {"name" if what == "name_" else what: value for what, value in again.items()}
    with holdfast.open(table(), ledger=path) as holdout:
        holdout.ask("avg(late)")
    with pytest.raises(InvalidArgument, match=r"was opened with .* leave it out, .*use another"):
        holdfast.open(table(), ledger=path, **{"described": "off", **declared})


def test_other_options_are_refused_and_the_same_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "m.ledger"
    declared: dict[str, Any] = {"questions": 50, "mechanism": "median noise"}
    holdfast.open(table(), ledger=path, **declared, options={"order": 3}, described="off").close()
    holdfast.open(table(), ledger=path, **declared, options={"order": 3}, described="off").close()
    with holdfast.open(table(), ledger=path, described="off") as holdout:
        holdout.ask("avg(late)")
    with pytest.raises(InvalidArgument, match=r"options is \{'order': 2\}.* with \{'order': 3\}"):
        holdfast.open(table(), ledger=path, options={"order": 2}, described="off")


def test_the_same_declarations_are_fine(tmp_path: Path) -> None:
    path = made(tmp_path)
    with holdfast.open(
        table(),
        name="t",
        ledger=path,
        tolerance=0.2,
        questions=20,
        confidence_level=0.95,
        sampling="independent",
        schema=BOUNDS,
        described="off",
    ) as holdout:
        assert holdout.ask("avg(x)").interval.low >= -60


SCHEMA = """
favourites = ["avg(x > 0)"]
[bounds]
x = [0, 1]
[values]
origin = ["JFK", "LGA"]
[weights]
x = 2.5
"""


def test_the_whole_schema_is_kept_and_refused_otherwise(tmp_path: Path) -> None:
    path, schema = tmp_path / "m.ledger", tmp_path / "schema.toml"
    schema.write_text(SCHEMA, encoding="utf-8")
    holdfast.open(table(), ledger=path, tolerance=0.2, schema=schema, described="off").close()
    schema.write_text(SCHEMA.replace("2.5", "2.50").replace('"JFK", "LGA"', '"LGA", "JFK"'))
    with holdfast.open(ledger=path, schema=schema, described="off") as again:
        assert again.schema.bounds == {"x": (0.0, 1.0)}
        assert again.schema.values == {"origin": ("JFK", "LGA")}
        assert again.schema.weights == {"x": Decimal("2.5")}
        assert again.schema.favourites == ("avg(x > 0)",)
    for old, new, what in (
        ("[0, 1]", "[0, 2]", "bounds is"),
        (', "LGA"', "", "values is"),
        ("2.5", "3", r"weights is \{'x': '3'\}"),
        ("x > 0", "x > 1", "favourites is"),
    ):
        schema.write_text(SCHEMA.replace(old, new), encoding="utf-8")
        with pytest.raises(InvalidArgument, match=what):
            holdfast.open(ledger=path, schema=schema, described="off")


@pytest.mark.parametrize(
    ("mechanism", "tolerance"), [("exact", 0.1), ("bounded noise", None), ("exact", 0.5)]
)
def test_no_promise_can_be_written_into_an_opening(
    tmp_path: Path, mechanism: str, tolerance: float | None
) -> None:
    """Without a theorem there is no half-width, and with one there is: a word, not a number."""
    path = tmp_path / "m.ledger"
    with holdfast.open(table(), ledger=path, questions=5, mechanism=mechanism) as holdout:
        assert holdout.opening.terms.promises is (mechanism != "exact")
        assert ("no half-width is promised" in repr(holdout)) is (mechanism == "exact")
        holdout.ask("avg(late)")
    (fault,) = forged(path, lambda bodies: bodies[0].update(tolerance=tolerance))
    assert f"tolerance is {tolerance}" in fault


# Sampling --------------------------------------------------------------------------------------


def test_clusters_are_measured_in_the_table(tmp_path: Path) -> None:
    frame = table().with_columns(unit=pl.Series([0] * 40 + list(range(1, 361))))
    with opened(
        tmp_path, frame, tolerance=0.4, sampling=holdfast.clustered("unit", sizes="fixed")
    ) as holdout:
        # One unit of 40 rows and 360 of one row: sum of squares 1,960 over 400 rows.
        assert "independent units of 4.9 rows (column 'unit')" in holdout.ask(LATE).assumes
        sigma = 0.5 * np.sqrt(1_960) / 400
        assert holdout.budget.terms.concentration.sigma == pytest.approx(sigma)  # type: ignore[attr-defined]
        assert not holdout.budget.terms.independent


def test_a_size_that_was_planned_with_is_not_believed(tmp_path: Path) -> None:
    sampling = holdfast.clustered("unit", sizes="fixed", size=1)
    with opened(tmp_path, table(), tolerance=0.4, sampling=sampling) as holdout:
        assert "units of 4 rows" in holdout.budget.terms.assumption
    with opened(tmp_path, table(), sampling=sampling) as holdout:  # the same declaration again
        assert holdout.rows == 400


def test_of_units_that_were_drawn_nothing_is_public_but_their_number(tmp_path: Path) -> None:
    sizes = {  # the same number of rows in as many units
        "even": np.repeat(np.arange(150), [2] * 50 + [3] * 100),
        "uneven": np.repeat(np.arange(150), [4] * 50 + [3] * 50 + [1] * 50),
    }
    openings = []
    for name, units in sizes.items():
        frame, path = table().with_columns(unit=units), tmp_path / f"{name}.ledger"
        with holdfast.open(
            frame,
            ledger=path,
            tolerance=0.4,
            sampling=holdfast.clustered("unit", largest=4),
        ) as holdout:
            terms = holdout.opening.terms
            assert terms.concentration == PooledUnits(400, 150, 4)
            assert "150 independent units of at most 4 rows (column 'unit')" in terms.assumption
            openings.append(terms.to_dict())
        assert all(finding.fine for finding in audit(path, lambda: PolarsSample(frame)))  # noqa: B023
    assert openings[0] == openings[1]


def test_a_unit_larger_than_declared_is_refused_before_there_is_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    with pytest.raises(InvalidArgument) as refused:
        holdfast.open(table(), ledger=path, sampling=holdfast.clustered("unit", largest=3))
    assert str(refused.value).startswith("largest is 3, and a unit of column 'unit' has more rows")
    assert "4" not in str(refused.value)
    assert not path.exists()
    holdfast.open(table(), ledger=path, sampling=holdfast.clustered("unit", largest=4)).close()
    for other in (holdfast.clustered("unit", sizes="fixed"), holdfast.clustered("unit", largest=5)):
        with pytest.raises(InvalidArgument, match="was opened with"):
            holdfast.open(table(), ledger=path, sampling=other)


@pytest.mark.parametrize("largest", [0, 1.5, True, "4", 2**20 + 1])
def test_the_largest_unit_is_a_whole_number(largest: Any) -> None:
    with pytest.raises(InvalidArgument, match="largest"):
        holdfast.clustered("unit", largest=largest)


def test_a_size_beside_the_largest_unit_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="leave size out"):
        holdfast.clustered("unit", size=2, largest=4)
    with pytest.raises(InvalidArgument, match="leave units out"):
        holdfast.clustered("unit", sizes="fixed", units=4)


def test_what_the_sizes_of_units_are_must_be_said() -> None:
    """Either way is explained in the one sentence that refuses neither, and both."""
    for said in ({}, {"size": 4}, {"largest": 4, "sizes": "fixed"}):
        with pytest.raises(InvalidArgument) as refused:
            holdfast.clustered("unit", **said)
        words = str(refused.value)
        assert "largest=12 (no unit can have more than 12 rows" in words
        assert "sizes='fixed' (somebody decided them, as in a panel" in words
        assert "given the sizes of the units" in words
    with pytest.raises(InvalidArgument, match="sizes is 'equal'"):
        holdfast.clustered("unit", sizes="equal")  # type: ignore[arg-type]


def test_a_log_tail_cannot_be_written_in_a_ledger(tmp_path: Path) -> None:
    sampling = holdfast.declared(log_tail=lambda a: -100 * a)
    with pytest.raises(InvalidArgument, match="log_tail function cannot be written in a ledger"):
        holdfast.open(
            table(), ledger=tmp_path / "t.ledger", tolerance=0.2, sampling=sampling, described="off"
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("b", [None, 0.01])
def test_a_declared_scale_is_used_and_printed(tmp_path: Path, b: float | None) -> None:
    sampling = holdfast.declared(sigma=0.04, b=b)
    with opened(tmp_path, table(), tolerance=0.3, sampling=sampling) as holdout:
        answer = holdout.check(LATE, guess=0.25)
        assert answer.status == "confirmed"
        assert "sigma=0.04" in answer.assumes
        assert sampling == holdfast.declared(sigma=0.04, b=b)
        assert holdout.budget.terms.concentration == sampling.concentration


# From the ledger alone -------------------------------------------------------------------------


def test_a_session_is_explained_from_its_file_alone(tmp_path: Path) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        answers = [
            holdout.ask(LATE, why="to begin with"),
            holdout.check("avg(x)", guess=20),
            holdout.check("avg(x > 20)", guess=0.99),
        ]
        told, view = holdout.explain(), holdout.ledger.to_dicts()
    with opened(copied(path, tmp_path / "elsewhere").parent) as blind:
        assert blind.explain() == told
        assert blind.ledger.to_dicts() == view
        for answer in answers:
            assert f"{answer.number:>4}. {answer.name} = {answer.recorded.shown} " in told
            assert str(answer.interval) in told
        for word in ("Theorem L", "bounded noise", "guess and check", "Assumed: independent rows"):
            assert word in told
        assert f"Leakage in all: {blind.budget.nats:.6g} nats." in told
        assert f"{answers[0].cost:.5g} nats had leaked" in told


def test_the_ledger_as_a_table(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        empty = holdout.ledger
        assert (len(empty), empty.to_polars().height) == (0, 0)
        assert "no question has been asked yet" in str(empty)
        first = holdout.ask(LATE, why="to begin with")
        second = holdout.check("avg(x)", guess=20)
        view = holdout.ledger
    frame = view.to_polars()
    assert frame["question"].to_list() == [LATE, second.question]
    assert frame["value"].to_list() == [first.value, second.value]
    assert frame["low"].to_list() == [first.interval.low, second.interval.low]
    assert frame["cost"].to_list() == [first.cost, second.cost]
    assert frame["guess"].to_list() == [None, second.guess]
    assert frame["receipt"].to_list() == [first.receipt, second.receipt]
    assert empty.to_polars().schema == frame.schema
    assert view.to_pandas()["why"].isna().tolist() == [False, True]
    assert json.loads(json.dumps(view.to_dicts()))[1]["status"] == "confirmed"
    assert [each.number for each in view] == [view[0].number, view[1].number] == [1, 2]
    for shown in (str(view), view._repr_html_()):
        assert "to begin with" in shown
        assert "confirmed" in shown


def test_nothing_about_the_rows_is_written_but_their_print(tmp_path: Path) -> None:
    frame = table().with_columns(origin=pl.Series([f"secret-{i}" for i in range(400)]))
    made(tmp_path, frame)
    with opened(tmp_path, frame) as holdout:
        watch(holdout)
        holdout.ask("avg(origin = 'x')")
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"secret-" not in stored


def test_a_ledger_of_a_newer_version_is_not_guessed_at(tmp_path: Path) -> None:
    path = made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        store, transcript = store_of(holdout), transcript_of(holdout)
        with store.exclusive(1.0):
            store.append([({"kind": "median/2"}, ())], transcript.count, transcript.head)
        for _ in range(2):  # it does not get over it
            with pytest.raises(
                LedgerTampered, match=r"entry 2 .* unknown kind 'median/2'; use the"
            ):
                holdout.ask(LATE)
    with pytest.raises(LedgerTampered, match="entry 2"):
        holdfast.open(ledger=path, described="off")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs the files of a POSIX system")
def test_every_opening_closes_what_it_opened(tmp_path: Path) -> None:
    made(tmp_path)
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        with pytest.raises(DataChanged):
            holdfast.open(table(seed=2), ledger=tmp_path / "t.ledger", described="off")
        with opened(tmp_path, table()) as holdout:
            holdout.ask(LATE)
    assert len(os.listdir("/dev/fd")) == before


def test_another_table_of_the_same_file_is_another_table(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "two.duckdb") as database:
        for name, more in (("one", 0), ("two", 1)):
            database.execute(f"CREATE TABLE {name} AS SELECT i + {more} AS v FROM range(99) t(i)")
    declared: dict[str, Any] = {"ledger": tmp_path / "two.ledger", "tolerance": 0.3}
    holdfast.open(tmp_path / "two.duckdb", table="one", **{"described": "off", **declared}).close()
    with pytest.raises(DataChanged):
        holdfast.open(tmp_path / "two.duckdb", table="two", **{"described": "off", **declared})
    holdfast.open(tmp_path / "two.duckdb", table="one", **{"described": "off", **declared}).close()


# While a holdout is open -------------------------------------------------------------------------


def write_over(path: Path) -> None:
    """Other rows under the same name."""
    table(seed=2).write_parquet(path)


def test_a_file_that_was_changed_is_not_charged_for(tmp_path: Path) -> None:
    data = tmp_path / "rows.parquet"
    table().write_parquet(data)
    with opened(tmp_path, data, tolerance=0.2) as holdout:
        before = holdout.budget.to_dict()
        write_over(data)
        with pytest.raises(DataChanged, match=r"rows\.parquet' was changed, replaced"):
            holdout.ask(LATE)
        assert holdout.budget.to_dict() == before
        assert transcript_of(holdout).pending is None


def test_a_file_that_changes_after_the_reservation_is_finished_with_the_right_one(
    tmp_path: Path,
) -> None:
    data, copy = tmp_path / "rows.parquet", tmp_path / "copy.parquet"
    for path in (data, copy):
        table().write_parquet(path)
    with opened(tmp_path, data, tolerance=0.2) as holdout:
        watch(holdout, lambda: write_over(data))
        with pytest.raises(DataChanged):
            holdout.ask(LATE)
        assert transcript_of(holdout).pending is not None
        with pytest.raises(DataChanged):
            holdout.ask("avg(x > 20)")
    with opened(tmp_path, copy) as holdout:
        assert abs(float(holdout.ask(LATE)) - sample_value(LATE)) <= 0.2
        assert holdout.budget.asked == 1


def test_a_ledger_stays_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        holdfast.open(table(), ledger="x.ledger", tolerance=0.2, described="off").close()
    monkeypatch.chdir(tmp_path / "here")
    with holdfast.open(table(), ledger="x.ledger", described="off") as holdout:
        monkeypatch.chdir(tmp_path / "there")
        holdout.ask(LATE)
    with holdfast.open(table(), ledger="x.ledger", described="off") as untouched:
        assert untouched.budget.asked == 0
    with holdfast.open(table(), ledger=tmp_path / "here" / "x.ledger", described="off") as resumed:
        assert resumed.budget.asked == 1


# Declared surprises ----------------------------------------------------------------------------


def test_declared_surprises_are_written_down_and_set_the_prior(tmp_path: Path) -> None:
    declared: dict[str, Any] = {"questions": 8, "surprises": 1, "schema": BOUNDS}
    declared["described"] = "off"
    rows = table(20_000)
    with opened(tmp_path, rows, **declared) as holdout:
        planned = holdfast.plan(rows=20_000, questions=8, surprises=1, described="off").half_width
        assert planned is not None
        assert planned <= holdout.budget.terms.half_width <= planned + 1e-3
        costs = [holdout.cost(LATE, guess=0.25).least]
        holdout.check(LATE, guess=0.25)
        costs.append(holdout.cost("avg(x > 20)", guess=0.2).least)
    assert costs == pytest.approx([math.log(10 / 8)] * 2)  # eps = 2/10, whatever came before
    with opened(tmp_path, rows, surprises=1) as again:
        assert again.opening.terms.surprises == 1
    with pytest.raises(InvalidArgument, match=r"surprises is 2, and the ledger .* opened with 1"):
        holdfast.open(rows, ledger=tmp_path / "t.ledger", surprises=2, described="off")
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))


def test_a_ledger_cannot_be_given_another_prior_afterwards(tmp_path: Path) -> None:
    with opened(tmp_path, table(), questions=8, surprises=1) as holdout:
        holdout.check(LATE, guess=0.25, tolerance=0.3)

    (fault,) = forged(tmp_path / "t.ledger", lambda bodies: bodies[0].update(surprises=0))
    assert "prior of a surprise is not what follows from the ledger" in fault


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"surprises": 1}, "questions is not declared"),
        ({"surprises": 9, "questions": 8}, "surprises is 9 and questions is 8"),
        ({"surprises": 1, "questions": 8, "mechanism": "one look"}, "one look checks no guesses"),
        ({"surprises": 1, "questions": 8, "mechanism": "median noise"}, "median noise checks no"),
        ({"confidence_level": 0.05}, r"did you mean 0\.95\?"),
    ],
)
def test_declarations_that_cannot_be_meant_are_refused(
    tmp_path: Path, declared: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        holdfast.open(
            table(20_000), ledger=tmp_path / "t.ledger", **{"described": "off", **declared}
        )
    assert not (tmp_path / "t.ledger").exists()
