"""A table in two lines: rows put aside by their content, and what is learnt from them."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import holdfast
from holdfast.data.fingerprint import row_words
from holdfast.data.learning import learnt_ranges
from holdfast.data.polars import PolarsSample
from holdfast.data.split import put_aside
from holdfast.errors import DataChanged, InvalidArgument, SecondLedger
from holdfast.ledger.audit import audit
from tests.cli.run import holdfast as run


def table(rows: int = 1_000, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "origin": rng.choice(["EWR", "JFK", "LGA"], rows),
            "delay": rng.normal(5, 30, rows).round(1),
            "month": rng.integers(1, 13, rows),
            "late": rng.random(rows) < 0.2,
        }
    )


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("numbers", "is_measured"),
    [
        (range(1_000), False),  # an id
        ([7 * each for each in range(1_000)], False),
        ([each**3 for each in range(1_000)], True),  # different, and too far apart to tell
        ([*range(500), *range(500)], True),
    ],
)
def test_numbers_of_rows_are_not_measured(numbers: Any, is_measured: bool) -> None:
    ds = holdfast.open(table().with_columns(pl.Series("item", numbers)), split=0.5)
    assert ("item" in ds.schema.outcomes) is is_measured
    assert "item" in ds.schema.bounds  # it can be asked for all the same


def test_two_lines_are_enough() -> None:
    ds = holdfast.open(table(), split=0.5)
    by_origin: Any = ds.ask("avg(delay) by origin")
    assert [group for group, _ in by_origin] == ["EWR", "JFK", "LGA"]
    assert ds.rows == 500
    assert ds.train is not None
    assert ds.train.height == 500
    low = np.quantile(ds.train["delay"], 0.001, method="lower")
    high = np.quantile(ds.train["delay"], 0.999, method="higher")
    margin = (high - low) / 10
    assert ds.schema.bounds["delay"].low == pytest.approx(low - margin, abs=10)
    assert ds.schema.bounds["delay"].high == pytest.approx(high + margin, abs=10)
    assert ds.schema.bounds["month"] == (1.0, 12.0)
    assert ds.schema.outcomes == ("late", "delay")
    assert ds.schema.segments == ("month", "origin")
    assert "origin  3 values: 'EWR', 'JFK', 'LGA'\n" in str(ds.learnt)
    assert "Learnt from 500 rows put aside." in str(ds.learnt)
    assert "0.1 % to the 99.9 % quantile" in str(ds.learnt)
    assert "<td>delay</td>" in ds.learnt._repr_html_()
    assert all(finding.fine for finding in audit(Path(f"{ds.name}.ledger")))
    ds.close()


def test_what_was_learnt_is_shown_until_something_is_asked() -> None:
    with holdfast.open(table(), split=0.5) as ds:
        assert str(ds.learnt) in repr(ds)
        assert "<td>delay</td>" in ds._repr_html_()
        ds.ask("avg(late)")
        assert str(ds.learnt) not in repr(ds)


def test_the_same_rows_are_protected_whatever_their_order_and_library() -> None:
    frame = table()
    with holdfast.open(frame, split=0.5) as ds:
        answer, name = ds.ask("avg(late)"), ds.name
    shuffled = frame.sample(fraction=1, shuffle=True, seed=5)
    for again in (
        shuffled,
        shuffled.to_pandas(),
        shuffled.select("month", "late", "delay", "origin"),
    ):
        with holdfast.open(again, split=0.5) as ds:
            assert ds.name == name
            assert ds.ask("avg(late)").status == "repeated"
            assert ds.ask("avg(late)").value == answer.value
    frame.write_parquet("whole.parquet")
    with holdfast.open("whole.parquet", ledger=f"{name}.ledger") as ds:  # the ledger knows the part
        assert ds.train is not None
        assert ds.train.height == 500
        assert pickle.loads(pickle.dumps(ds)).ask("avg(late)").status == "repeated"
    with pytest.raises(DataChanged):
        holdfast.open(frame.head(999), ledger=f"{name}.ledger")


def copies_put_aside() -> list[int]:
    """Of a table of four different rows, 250 of each: how many of each are put aside."""
    frame = pl.DataFrame({"a": [True, False] * 500, "b": ["x", "x", "y", "y"] * 250})
    train = pl.concat(put_aside(PolarsSample(frame), 0.5).train.frames(["a", "b"]))
    return [train.filter(a=a, b=b).height for a in (True, False) for b in ("x", "y")]


# Hypergeometric: of 1,000 rows 500 are drawn, and 250 are alike; for four counts together.
LOW, HIGH = stats.hypergeom(1_000, 250, 500).interval(1 - 1e-9 / 4)


def test_copies_of_a_row_are_divided_as_any_others() -> None:
    counts = copies_put_aside()
    assert sum(counts) == 500
    assert all(LOW <= count <= HIGH for count in counts)


def test_by_content_alone_they_would_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        import_module("holdfast.data.split"),
        "row_keys",
        lambda frame, types: row_words(frame, types)[0],
    )
    assert not all(LOW <= count <= HIGH for count in copies_put_aside())


def times_put_aside() -> int:
    """Of 400 tables that differ in a cell of each row, in how many the row 7 is put aside."""
    frames = (pl.DataFrame({"x": range(100), "y": [number] * 100}) for number in range(400))
    trains = (put_aside(PolarsSample(frame), 0.5).train for frame in frames)
    return sum(7 in pl.concat(train.frames(["x"]))["x"] for train in trains)


def test_a_row_is_put_aside_as_often_as_not() -> None:
    assert 200 - FAR <= times_put_aside() <= 200 + FAR


def test_by_its_place_it_would_always_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def placed(frame: pl.DataFrame, _: object) -> object:
        return np.arange(frame.height, dtype=np.uint64)

    monkeypatch.setattr(import_module("holdfast.data.split"), "row_keys", placed)
    assert not 200 - FAR <= times_put_aside() <= 200 + FAR


FAR = int(stats.binom.isf(0.5e-9, 400, 0.5)) - 200


def test_units_stay_together() -> None:
    frame = table().with_columns(site=pl.Series([f"s{number % 40}" for number in range(1_000)]))
    sampling = holdfast.sampling.clustered("site", largest=40)
    with holdfast.open(frame, split=0.5, sampling=sampling) as ds:
        assert ds.train is not None
        assert ds.train["site"].n_unique() == 20
        assert ds.rows == 500


@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        (10, {}, r"of 10 rows that puts 5 aside and leaves 5 to protect; both need at least 50"),
        (1_000, {"split": 0.001}, "puts 1 aside and leaves 999 to protect"),
        (1_000, {"split": 0.0}, r"split is 0.0; it must be in \(0, 1\)"),
        (1_000, {"split": 1}, r"split is 1; it must be in \(0, 1\)"),
        (1_000, {"split": "half"}, "split"),
        (1_000, {"train": table(seed=2)}, "train is given, too"),
        (1_000, {"schema": {"delay": (900, 901)}}, r"of 500 training rows 500 are outside"),
        (1_000, {"sampling": holdfast.sampling.m_dependent(3)}, "others would depend on them"),
    ],
)
def test_faults_make_nothing(
    tmp_path: Path, rows: int, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message) as refused:
        holdfast.open(table(rows), **{"split": 0.5, **given})
    assert len(str(refused.value)) < 400
    assert list(tmp_path.iterdir()) == []


def test_another_part_of_the_same_table_is_no_second_ledger(tmp_path: Path) -> None:
    holdfast.open(table(), split=0.5).close()
    with pytest.raises(InvalidArgument, match=r"split is 0.4, .* was opened with 0.5"):
        holdfast.open(table(), split=0.4)
    assert len(list(tmp_path.glob("*.ledger"))) == 1


SPLIT: dict[str, Any] = {"split": 0.5}


@pytest.mark.parametrize(("first", "second"), [(SPLIT, {"split": 0.3}), (SPLIT, {}), ({}, SPLIT)])
def test_rows_put_aside_are_not_protected_elsewhere_unnoticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Whoever has seen rows that were put aside would be told of them as if they were fresh."""
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    holdfast.open(table(), name="first", **first).close()
    with pytest.warns(SecondLedger, match=r"first\.ledger' protects the same rows"):
        holdfast.open(table().reverse(), name="second", **second).close()


def test_the_part_put_aside_may_be_protected_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    with holdfast.open(table(), name="first", split=0.5) as ds:
        train = ds.train
    holdfast.open(train, name="second").close()
    assert not [each for each in recwarn if each.category is SecondLedger]


def test_learnt_ranges_have_a_margin_and_round_ends() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "price": rng.gamma(2, 20, 5_000),
            "loss": -rng.gamma(2, 20, 5_000),
            "hour": rng.integers(0, 24, 5_000),
            "same": np.ones(5_000),
            "rare": [0.0] * 4_999 + [9.0],
            "nothing": [None] * 5_000,
        },
        schema_overrides={"nothing": pl.Float64},
    )
    ranges = learnt_ranges(PolarsSample(frame), frame.columns)
    assert ranges.keys() == {"price", "loss", "hour", "rare"}
    assert ranges["hour"] == (0.0, 23.0)
    assert ranges["price"].low == 0.0
    assert ranges["loss"].high == 0.0
    assert ranges["price"].high > np.quantile(frame["price"], 0.999) * 1.09
    assert ranges["price"].high == round(ranges["price"].high, -1)


def test_the_command_line_puts_rows_aside(tmp_path: Path) -> None:
    table().write_csv("flights.csv")
    done = run("init", "flights.csv", "--split", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Learnt from 500 rows put aside." in done.stdout
    assert pl.read_parquet("flights-train.parquet").height == 500
    answered = run("ask", "flights", "avg(delay) by origin", cwd=tmp_path)
    assert answered.returncode == 0, answered.stderr
    assert run("audit", "flights", cwd=tmp_path).returncode == 0
    refused = run("init", "flights.csv", "--split", "2", "--name", "other", cwd=tmp_path)
    assert refused.returncode == 2
    assert "split is 2; it must be in (0, 1)" in refused.stderr
    assert not Path("other.ledger").exists()


def test_a_table_with_training_rows_has_a_default_name_by_these() -> None:
    train, hold = table().head(500), table().tail(500)
    with holdfast.open(hold, train=train) as ds:
        answer, name = ds.ask("avg(late)"), ds.name
    for again in (train, train.reverse(), train.to_pandas()):
        with holdfast.open(hold, train=again) as ds:
            assert ds.name == name
            assert ds.ask("avg(late)").status == "repeated"
            assert ds.ask("avg(late)").value == answer.value
    with pytest.raises(DataChanged):  # the name tells nothing of what is protected
        holdfast.open(hold.head(499), train=train)
