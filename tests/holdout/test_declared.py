"""What is declared of columns at the opening, or learnt from training rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.errors import InvalidArgument, InvalidQuestion
from holdfast.ledger.audit import audit
from tests.cli.run import holdfast as run
from tests.holdout.tables import BOUNDS, table

SCHEMA: dict[str, Any] = {
    "x": {"bounds": (-60, 180), "weight": "2.5"},
    "origin": {"values": ["LGA", "EWR", "JFK"]},
    "favourites": ["avg(x > 15)", "avg(15 < x)"],
}
FILE = """
favourites = ["avg(x > 15)"]
[bounds]
x = [-60, 180.0]
[values]
origin = ["JFK", "LGA", "EWR"]
[weights]
x = 2.50
"""
AT_JFK = "avg(origin = 'JFK')"


def made(path: Path, **declared: Any) -> holdfast.Holdout:
    return holdfast.open(table(), ledger=path, described="exact", **declared)


def test_everything_that_is_declared_is_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    with made(path, schema=SCHEMA) as holdout:
        answer = holdout.ask(AT_JFK)
        body = holdout.opening.body()["schema"]
        assert str(holdout.schema).splitlines() == [
            "late    boolean",
            "origin  text; 3 values: 'EWR', 'JFK', 'LGA'",
            "unit    integer",
            "x       float; -60 to 180; weight 2.5",
            "favourite: avg(x > 15)",
        ]
        assert "  origin  text; 3 values: 'EWR', 'JFK', 'LGA'" in holdout.explain()
    assert body == {
        "types": {"late": "boolean", "origin": "text", "unit": "integer", "x": "float"},
        "bounds": {"x": [-60.0, 180.0]},
        "values": {"origin": ["EWR", "JFK", "LGA"]},
        "weights": {"x": "2.5"},
        "scales": {},
        "never_null": {},
        "favourites": ["avg(x > 15)"],
        "learnt": [],
    }
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(table())))
    with made(tmp_path / "plain.ledger") as plain:
        wide = plain.ask(AT_JFK).interval
    assert answer.interval.high - answer.interval.low < 0.9 * (wide.high - wide.low)


def test_a_file_declares_the_same(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(FILE, encoding="utf-8")
    path = tmp_path / "t.ledger"
    made(path, schema=SCHEMA).close()
    made(path, schema=tmp_path / "schema.toml").close()  # the same: it opens


@pytest.mark.parametrize(
    "other",
    [
        {**SCHEMA, "x": {"bounds": (-60, 180)}},
        {**SCHEMA, "x": {"bounds": (-60, 180), "weight": 2}},
        {**SCHEMA, "origin": {"values": ["EWR", "JFK"]}},
        {**SCHEMA, "favourites": ["avg(x > 16)"]},
        {"x": (-60, 180)},
    ],
)
def test_other_declarations_are_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    path = tmp_path / "t.ledger"
    with made(path, schema=SCHEMA) as holdout:
        holdout.ask("avg(late)")
    told = (
        r"was opened with .*, and answered 1 question by that; leave it out, and add to it: declare"
    )
    with pytest.raises(InvalidArgument, match=told):
        made(path, schema=other)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"favourites": ["avg(y)"]},
            r"The favourite 'avg\(y\)' has no description: .* column",
        ),
        ({"favourites": ["hello world"]}, "The favourite 'hello world' has no description"),
        ({"favourites": "avg(late)"}, "favourites must be a list of questions"),
        ({"x": {"weight": 0}}, "a finite number above 0"),
        ({"origin": {"values": ["a", "a"]}}, "'a' more than once"),
        ({"late": {"values": ["yes"]}}, "only text and numbers have declared values"),
    ],
)
def test_what_cannot_be_declared_makes_no_ledger(
    tmp_path: Path, schema: dict[str, Any], message: str
) -> None:
    with pytest.raises((InvalidArgument, InvalidQuestion), match=message):
        made(tmp_path / "t.ledger", schema=schema)
    assert list(tmp_path.iterdir()) == []


# Learnt from other rows --------------------------------------------------------------------------


def training() -> pl.DataFrame:
    frame = table(200, seed=2)
    names = [f"flight {number}" for number in range(200)]
    return frame.with_columns(number=pl.Series(names), carrier=pl.Series(["UA", None] * 100))


def protected() -> pl.DataFrame:
    names = [f"secret {number}" for number in range(400)]
    return table().with_columns(number=pl.Series(names), carrier=pl.Series(["UA", "ZZ"] * 200))


def test_categories_are_learnt_from_training_rows_and_from_no_others(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    train = training()
    with holdfast.open(protected(), ledger=path, train=train, schema={"x": (-90, 130)}) as holdout:
        assert holdout.schema.values == {"carrier": ("UA",), "origin": ("EWR", "JFK", "LGA")}
        assert holdout.schema.learnt == ("carrier", "origin", "unit")
        assert holdout.schema.bounds == {"x": (-90.0, 130.0), "unit": (0.0, 54.0)}
        assert "unit     0 to 54\n" in str(holdout.learnt)  # a range is never taken silently
        assert "1 value: 'UA' (learnt from training rows)" in str(holdout.schema)
    assert b"ZZ" not in path.read_bytes()
    others = train.with_columns(origin=pl.lit("BOS"))
    for again in (
        {},
        {"schema": {"x": (-90, 130)}},  # what was said, without what was learnt
        {"train": others},  # a ledger learns once
        {"schema": {"x": (-90, 130), **learnt(train, ["carrier", "origin"])}},
    ):
        with holdfast.open(protected(), ledger=path, **again) as holdout:
            assert holdout.schema.values["origin"] == ("EWR", "JFK", "LGA")
            holdout.ask("avg(late)")
    with pytest.raises(InvalidArgument, match="was opened with"):
        holdfast.open(
            protected(), ledger=path, schema={"x": (-90, 130), **learnt(others, ["origin"])}
        )
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(protected())))


def learnt(train: pl.DataFrame, columns: list[str]) -> dict[str, Any]:
    return holdfast.learn_schema(train, columns)


def test_declared_values_are_not_learnt(tmp_path: Path) -> None:
    schema = {"origin": {"values": ["JFK"]}}
    path = tmp_path / "t.ledger"
    with holdfast.open(table(), ledger=path, train=training(), schema=schema) as holdout:
        assert holdout.schema.values == {"origin": ("JFK",)}
        assert "origin" not in holdout.schema.learnt


def test_nothing_is_learnt_from_the_protected_rows(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="is the protected table of 't' itself"):
        holdfast.open(table(), ledger=tmp_path / "t.ledger", train=table())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["train", "schema", "schema with more", "guess", "reopened"])
def test_nothing_is_learnt_from_a_part_of_the_protected_rows(tmp_path: Path, given: str) -> None:
    """A row less, a row more: what is learnt is that of the protected rows all the same."""
    path, others, told = tmp_path / "t.ledger", table().head(-1), "are also in the protected table"
    learnt_schema = holdfast.learn_schema(others)
    ways: dict[str, dict[str, Any]] = {
        "train": {"train": others},
        "schema": {"schema": learnt_schema},
        "schema with more": {"schema": {**learnt_schema, "x": (0, 100)}},
    }
    said = ways.get(given)
    if said is not None:
        with pytest.raises(InvalidArgument, match=f"of the .* rows of the table .* {told} of 't'"):
            holdfast.open(table(), ledger=path, **said)
        assert list(tmp_path.iterdir()) == []
        return
    with holdfast.open(table(), ledger=path, schema=BOUNDS) as holdout:
        if given == "guess":
            with pytest.raises(InvalidArgument, match=told):
                holdout.check("avg(late)", guess=others)
            checked = holdout.check("avg(late)", guess=table(seed=2), tolerance=0.3)
            assert checked.number == 1
    if given == "reopened":
        with pytest.raises(InvalidArgument, match=told):
            holdfast.open(table(), ledger=path, train=others)


def test_a_schema_is_proposed_from_training_rows() -> None:
    train = training()
    x = train["x"].to_numpy()
    found = holdfast.learn_schema(train)
    assert found == {
        "x": (x.min(), x.max()),
        "origin": {"values": ["EWR", "JFK", "LGA"]},
        "unit": (0.0, 49.0),
        "carrier": {"values": ["UA"]},
    }
    assert holdfast.learn_schema(train, ["unit"]) == {"unit": (0.0, 49.0)}
    low, high = holdfast.learn_schema(train, ["x"], quantiles=(0.1, 0.9))["x"]
    assert low == np.sort(x)[19]
    assert high == np.sort(x)[180]


def test_many_values_are_no_categories() -> None:
    texts = [f"{number}" for number in range(1_001)]
    assert holdfast.learn_schema(pl.DataFrame({"t": texts * 2})) == {}
    assert (
        len(holdfast.learn_schema(pl.DataFrame({"t": texts[:1_000] * 2}))["t"]["values"]) == 1_000
    )
    numbers = [float("nan"), None, float("inf"), 1.0]
    assert holdfast.learn_schema(pl.DataFrame({"x": numbers}, strict=False)) == {}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"columns": ["nope"]}, "columns names 'nope', which is not a column"),
        ({"columns": ["number"]}, "nothing can be learnt from these rows"),
        ({"columns": ["late"]}, "nothing can be learnt from these rows"),
        ({"columns": "origin"}, "columns"),
        ({"quantiles": (0.9, 0.1)}, "the first below the second"),
        ({"quantiles": 0.5}, "the first below the second"),
        ({"quantiles": (0, 2)}, "quantiles is 2"),
    ],
)
def test_what_cannot_be_learnt_is_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        holdfast.learn_schema(training(), **how)


def test_the_command_line_learns_and_says_so(tmp_path: Path) -> None:
    table().write_parquet(tmp_path / "hold.parquet")
    training().drop("number", "carrier").write_parquet(tmp_path / "train.parquet")
    (tmp_path / "schema.toml").write_text("[bounds]\nx = [-60, 180]\n", encoding="utf-8")
    words = ["init", "hold.parquet", "--schema", "schema.toml", "--train", "train.parquet"]
    done = run(*words, "--name", "one", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  unit    integer; 0 to 54 (learnt from training rows)\n" in done.stdout
    assert "3 values: 'EWR', 'JFK', 'LGA' (learnt from training rows)\n" in done.stdout
    assert "Learnt from training rows.\n" in done.stdout
    assert "values outside count as the nearest end" in done.stdout
    with holdfast.open(ledger=tmp_path / "one.ledger") as holdout:
        assert holdout.schema.bounds == {"unit": (0.0, 54.0), "x": (-60.0, 180.0)}


def test_a_family_is_declared_by_arguments_by_a_schema_or_by_both(tmp_path: Path) -> None:
    frame = pl.DataFrame({"late": [True, False] * 60, "origin": ["A", "B", "C"] * 40})
    schema = {"outcomes": ["late"], "origin": {"values": ["A", "B", "C"]}}
    ledger = tmp_path / "family.ledger"
    family: dict[str, Any] = {"segments": ["origin"], "planned": ["avg(late) by origin"]}
    with holdfast.open(frame, ledger=ledger, schema=schema, **family) as made:
        assert made.schema.outcomes == ("late",)
        assert made.schema.segments == ("origin",)
        length = made.ask("difference(avg(late) where origin = 'B', rest)").bits
        assert length is not None
        assert length < 6
    again: dict[str, Any]
    for again in ({}, {"schema": schema, **family}, family):
        holdfast.open(frame, ledger=ledger, **again).close()
    with pytest.raises(InvalidArgument, match=r"segments is .*was opened with"):
        holdfast.open(frame, ledger=ledger, segments=["late"])


@pytest.mark.parametrize("way", ["python", "file", "command line"])
def test_cuts_are_declared_before_the_rows_are_looked_at(tmp_path: Path, way: str) -> None:
    frame = pl.DataFrame({"late": [True, False] * 60, "hour": [float(h) for h in range(24)] * 5})
    frame.write_parquet(tmp_path / "t.parquet")
    segments, ledger = ["hour at 6, 12, 18", "hour > 12"], tmp_path / "t.ledger"
    if way == "command line":
        told = [word for each in segments for word in ("--segment", each)]
        done = run("init", "t.parquet", "--name", "t", "--outcome", "late", *told, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    elif way == "file":
        file = tmp_path / "schema.toml"
        file.write_text(f'outcomes = ["late"]\nsegments = {segments}'.replace("'", '"'))
        holdfast.open(tmp_path / "t.parquet", ledger=ledger, schema=file).close()
    else:
        family: dict[str, Any] = {"outcomes": ["late"], "segments": segments}
        holdfast.open(tmp_path / "t.parquet", ledger=ledger, **family).close()
    with holdfast.open(tmp_path / "t.parquet", ledger=ledger) as made:
        assert made.schema.segments == tuple(segments)
        for text in (
            "avg(late) where hour > 12",
            "avg(late) where hour >= 6 and hour < 12",
            "difference(avg(late) where hour >= 18, rest)",
        ):
            assert (made.ask(text).bits or 99) < 7
        assert (made.ask("avg(late) where hour > 13").bits or 0) > 15
        assert [line["planned"] for line in made.ledger.to_dicts()] == [True, True, True, False]
    assert all(finding.fine for finding in audit(ledger))


def test_planned_questions_are_told_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame({"late": [True, False] * 60, "origin": ["A", "B", "C"] * 40})
    schema = {"origin": {"values": ["A", "B", "C"]}}
    planned = ["avg(late) by origin"]
    with holdfast.open(
        frame, name="p", ledger=tmp_path / "p.ledger", schema=schema, planned=planned
    ) as made:
        made.ask("avg(late) where origin = 'B'")
        made.ask("avg(origin = 'A')")
        made.gate("avg(late) where origin = 'B'", at_least=0.1)
        view = made.ledger
        page = made.certificate().to_html()
    assert [line["planned"] for line in view.to_dicts()] == [True, False, True]
    assert str(view).count("(planned)") == 2
    assert page.index("<h3>Planned questions</h3>") < page.index("<h3>Other questions</h3>")
    assert all(finding.fine for finding in audit(tmp_path / "p.ledger"))


def test_values_that_are_spelled_are_said_with_the_gain(tmp_path: Path) -> None:
    frame = pl.DataFrame({"late": [True, False] * 300, "origin": ["Newark", "Kennedy"] * 300})
    question = "avg(late) where origin = 'Kennedy'"
    with holdfast.open(frame, ledger=tmp_path / "spelled.ledger") as spelled:
        line = str(spelled.ask(question))
    assert "declare the values of origin: about " in line
    declared = {"origin": {"values": ["Newark", "Kennedy"]}}
    with holdfast.open(frame, ledger=tmp_path / "listed.ledger", schema=declared) as listed:
        answer = listed.ask(question)
        assert "declare the values" not in str(answer)
    assert answer.bits is not None
    assert answer.bits + 4 > float(
        line.split("about ")[1].split(" bits", maxsplit=1)[0]
    )  # 2 values, not 16


# Numbers with few values -------------------------------------------------------------------------


def doses(rows: int = 1_200, seed: int = 5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    dose = rng.choice([0.1, 0.25, 2.0], rows)
    return pl.DataFrame({"dose": dose, "well": rng.random(rows) < 0.2 + 0.3 * dose})


@pytest.mark.parametrize("described", ["exact", "off"])
def test_numbers_with_declared_values_are_groups(tmp_path: Path, described: Any) -> None:
    path, frame = tmp_path / "t.ledger", doses()
    schema = {"dose": [0.1, 0.25, 2]}
    with holdfast.open(frame, ledger=path, described=described, schema=schema) as holdout:
        named: dict[str, Any] = {"tolerance": 0.3} if described == "off" else {}
        groups = holdout.ask("avg(well)", by="dose", **named)
        assert [label for label, _ in groups] == [0.1, 0.25, 2.0]
        for label, answer in groups:
            truth: Any = frame.filter(pl.col("dose") == label)["well"].mean()
            assert answer.interval.low <= truth <= answer.interval.high
        assert holdout.ask("avg(dose)", **named).interval.high <= 2.0
        if described == "exact":
            assert holdout.ask("avg(well) where dose = 0.25").status == "repeated"
            with pytest.raises(InvalidQuestion, match="ask without discover="):
                holdout.ask("avg(well) by dose", discover=True)
    assert all(finding.fine for finding in audit(path, lambda: PolarsSample(frame)))


def test_a_number_without_declared_values_is_no_group(tmp_path: Path) -> None:
    with (
        holdfast.open(doses(), ledger=tmp_path / "t.ledger") as holdout,
        pytest.raises(InvalidQuestion, match=r"or declare its values, as in schema=\{'dose': \["),
    ):
        holdout.ask("avg(well) by dose")


def test_few_numbers_that_are_frequent_are_learnt(tmp_path: Path) -> None:
    frame = pl.concat([doses(), doses(seed=6)]).with_columns(
        wide=pl.int_range(pl.len()).cast(pl.Float64), missing=pl.lit(None, pl.Float64)
    )
    rare = frame.with_columns(
        rare=pl.when(pl.int_range(pl.len()) < 9).then(7.5).otherwise(pl.col("dose"))
    )
    train, held = rare.head(1_200), rare.tail(1_200)
    with holdfast.open(held, ledger=tmp_path / "t.ledger", train=train) as holdout:
        assert holdout.schema.values == {"dose": (0.1, 0.25, 2.0)}
        assert holdout.schema.bounds["dose"] == (0.1, 2.0)
        assert holdout.schema.without_learnt.values == {}
        assert len(holdout.ask("avg(well)", by="dose")) == 3
    with holdfast.open(
        held, ledger=tmp_path / "said.ledger", train=train, schema={"dose": (0, 3)}
    ) as holdout:
        assert holdout.schema.values == {}
        assert holdout.schema.without_learnt.bounds == {"dose": (0.0, 3.0)}
