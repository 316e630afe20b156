"""Whatever is given to a public call, what comes back is an answer or one of Holdfast's errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument, MissingExtra
from holdfast.holdout.holdout import Holdout
from tests.holdout.tables import made, opened, table, untouchable, watch

HOSTILE: dict[str, Any] = {
    "nothing": (),
    "none": None,
    "list": [],
    "dict": {},
    "object": object(),
    "type": type,
    "function": lambda row: row,
    "numpy number": np.float64(0.3),
    "numpy nan": np.float32("nan"),
    "numpy bool": np.bool_(True),
    "array without axes": np.array(0.3),
    "array": np.array([1, 2]),
    "frame": pl.DataFrame({"a": [1]}),
    "expression": pl.col("late"),
    "nan": float("nan"),
    "infinity": float("inf"),
    "huge": 10**400,
    "negative": -1,
    "complex": 1j,
    "bytes": b"avg(late)",
    "empty": "",
    "parentheses": "()",
    "nul": "avg(\0)",
    "half a character": "\ud800",
    "long": "x" * 250,
    "nested": "(" * 300 + "late" + ")" * 300,
    "list in a list": [["avg(late)"]],
    "memory": ":memory:",
    "slice": slice(1),
}

Call = Callable[[Holdout, Any], object]
CALLS: dict[str, Call] = {
    "ask": lambda h, v: h.ask(v),
    "ask_many": lambda h, v: h.ask_many(v),
    "ask, tolerance": lambda h, v: h.ask("avg(x) where late", tolerance=v),
    "ask, why": lambda h, v: h.ask("avg(late)", why=v),
    "check": lambda h, v: h.check(v, 0.2),
    "check, at_most": lambda h, v: h.check("avg(late)", at_most=v),
    "check_many": lambda h, v: h.check_many(v, 0.2),
    "check_many, guesses": lambda h, v: h.check_many(["std(x)"], [v]),
    "cost": lambda h, v: h.cost(v),
    "cost, at_least": lambda h, v: h.cost("avg(late)", at_least=v),
    "stability": lambda h, v: h.stability(v),
    "chart": lambda h, v: h.chart(v),
    "mean": lambda h, v: h.cost(holdfast.mean(v)),
    "mean, where": lambda h, v: h.cost(holdfast.mean("x", where=v)),
    "mean, by": lambda h, v: h.cost(holdfast.mean("x", by=v)),
    "mean, bounds": lambda h, v: h.cost(holdfast.mean("x", bounds=v)),
    "mean, end": lambda h, v: h.cost(holdfast.mean("x", bounds=(0, v))),
    "mean, variance": lambda h, v: h.cost(holdfast.mean("x", variance=v)),
    "quantile": lambda h, v: h.cost(holdfast.quantile("x", v)),
    "median, step": lambda h, v: h.cost(holdfast.median("x", step=v)),
    "histogram": lambda h, v: h.cost(holdfast.histogram("x", v)),
    "sum": lambda h, v: h.cost(holdfast.sum("x", population=v)),
    "difference": lambda h, v: h.cost(holdfast.difference(v, "late")),
    "difference, better": lambda h, v: h.cost(holdfast.difference("late", "late", better=v)),
    "row_function": lambda h, v: holdfast.row_function(
        v, columns=["x"], bounds=(0, 1), name="f", version="1"
    ),
    "row_function, columns": lambda h, v: holdfast.row_function(
        len, columns=v, bounds=(0, 1), name="f", version="1"
    ),
    "statistic, name": lambda h, v: holdfast.statistic(
        len, columns=["x"], bounds=(0, 1), name=v, sigma=0.1
    ),
    "clustered": lambda h, v: holdfast.clustered(v),
    "declared": lambda h, v: holdfast.declared(sigma=v),
    "plan, rows": lambda h, v: holdfast.plan(rows=v, questions=5),
    "plan, sampling": lambda h, v: holdfast.plan(rows=100, questions=5, sampling=v),
}
DECLARED = (
    "ledger",
    "name",
    "questions",
    "confidence_level",
    "sampling",
    "schema",
    "design",
    "mechanism",
    "options",
    "private",
    "guesser",
    "timeout",
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("hostile")
    made(folder, questions=None)
    with opened(folder, table()) as holdout:
        yield holdout


@pytest.mark.parametrize("name", CALLS)
def test_calls(asked: Holdout, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for value in HOSTILE.values():
        try:
            CALLS[name](asked, value)
        except HoldfastError as error:
            str(error).encode()  # it can be printed


@pytest.mark.parametrize("what", DECLARED)
def test_openings(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, value in HOSTILE.items():
        declared = {"ledger": tmp_path / f"{kind}.ledger", "tolerance": 0.3, what: value}
        try:
            holdfast.open(table(100), **{"described": "off", **declared}).close()
        except HoldfastError as error:
            str(error).encode()


def test_a_ledger_is_a_file_that_can_be_kept() -> None:
    with pytest.raises(InvalidArgument, match=r"':memory:', which cannot be the name of a file"):
        holdfast.open(table(), ledger=":memory:", described="off")


def test_long_values_are_cut_in_the_text(asked: Holdout) -> None:
    watch(asked, untouchable)
    with pytest.raises(InvalidArgument, match=r"tolerance is \[0, 1, 2.*\.\.\. \(list\);"):
        asked.ask("avg(late)", tolerance=list(range(1_000)))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "content", ["[bounds]\nx = " + "[" * 50_000, "\0", "bounds = 3"], ids=["deep", "nul", "flat"]
)
def test_side_files_that_are_something_else(tmp_path: Path, content: str) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text(content)
    with pytest.raises(InvalidArgument, match="The schema file"):
        holdfast.open(table(), ledger=tmp_path / "a.ledger", schema=schema, described="off")


def test_deep_memory_of_files_is_forgotten(tmp_path: Path) -> None:
    data = tmp_path / "hold.parquet"
    table().write_parquet(data)
    holdfast.open(data, ledger=tmp_path / "a.ledger", described="off").close()
    (memory,) = tmp_path.glob("a.ledger-files")
    memory.write_text("[" * 100_000)
    with holdfast.open(data, ledger=tmp_path / "a.ledger", described="off") as again:
        assert again.rows == 400


def test_missing_libraries_are_named_with_their_extra(
    asked: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: pl.DataFrame) -> None:
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(pl.DataFrame, "to_pandas", gone)
    with pytest.raises(MissingExtra, match=r"need pyarrow, .*holdfast\[data\]"):
        asked.ledger.to_pandas()
    groups = holdfast.Groups(("late",), (), "pandas")
    monkeypatch.setattr(holdfast.Groups, "to_polars", lambda _: pl.DataFrame())
    with pytest.raises(MissingExtra, match=r"holdfast\[data\]"):
        _ = groups.table


def test_a_group_that_cannot_be_one(asked: Holdout) -> None:
    groups = holdfast.Groups(("late",), ())
    members: list[Any] = [[], "nowhere"]
    for member in members:
        with pytest.raises(InvalidArgument, match="there is no group"):
            groups[member]
