"""Finite domains: what may be declared, and averages over cells against a table of all of them."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from holdfast.data.design import design_of
from holdfast.data.polars import PolarsSample
from holdfast.data.sampling import Independent
from holdfast.errors import HoldfastError, InvalidArgument
from holdfast.papers.domain import MOST_DOMAIN_CELLS, Cut, domain_of
from holdfast.question.columns import Schema
from holdfast.question.expression import ColumnType
from holdfast.question.row import GRID
from holdfast.statistics.bind import bind
from holdfast.statistics.entry import Table
from holdfast.statistics.mean import Mean

SCHEMA = Schema(
    {
        "late": ColumnType.BOOLEAN,
        "origin": ColumnType.TEXT,
        "hour": ColumnType.INTEGER,
        "x": ColumnType.FLOAT,
        "day": ColumnType.DATE,
        "free": ColumnType.FLOAT,
    }
).declare({"hour": (0, 23), "x": (-60.0, 180.0)})
TABLE = Table(SCHEMA)
COLUMNS: dict[str, Any] = {
    "late": None,
    "origin": ["EWR", "JFK", None],
    "hour": [0, 6, 12, 18],
    "x": 5,
    "day": [date(2020, 1, 1), date(2020, 7, 1)],
}
DOMAIN = domain_of(TABLE, COLUMNS, MOST_DOMAIN_CELLS)
QUESTIONS = [
    "late",
    "origin = 'JFK'",
    "origin is null",
    "late and hour > 6",
    "x > 0 or late",
    "x",
    "clip(x * hour, -100, 100)",
    "case when origin = 'EWR' then x else 0 end",
    "day >= date '2020-03-01' and not late",
    "late and origin = 'JFK' and hour = 12 and x > 100 and day < date '2020-03-01'",
]


def mean(text: str) -> Mean:
    found = bind(f"avg({text})", TABLE)
    assert isinstance(found, Mean)
    return found


def all_cells() -> pl.DataFrame:
    """Every cell as a row, by Polars' own cross joins."""
    frames = [
        pl.DataFrame({"late": [False, True]}),
        pl.DataFrame({"origin": ["EWR", "JFK", None]}),
        pl.DataFrame({"hour": [0, 6, 12, 18]}),
        pl.DataFrame({"x": [-36.0, 12.0, 60.0, 108.0, 156.0]}),
        pl.DataFrame({"day": [date(2020, 1, 1), date(2020, 7, 1)]}),
    ]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.join(frame, how="cross")
    return whole


@pytest.mark.parametrize("question", QUESTIONS)
def test_uniform_averages_are_those_of_a_table_of_all_cells(question: str) -> None:
    statistic = mean(question)
    sample = PolarsSample(all_cells())
    (total,) = sample.sums([statistic.row])
    uniform = np.full(DOMAIN.size, 1 / DOMAIN.size)
    assert sample.n == DOMAIN.size
    assert DOMAIN.covers(statistic)
    expected = total / GRID / sample.n
    assert DOMAIN.face(statistic.row).average(uniform) == pytest.approx(expected, abs=1e-8)


@given(question=st.sampled_from(QUESTIONS), seed=st.integers(0, 1000))
def test_weighted_averages_are_those_of_the_cells_one_by_one(question: str, seed: int) -> None:
    weights = np.random.default_rng(seed).dirichlet(np.ones(DOMAIN.size))
    statistic = mean(question)
    face = DOMAIN.face(statistic.row)
    cells = all_cells()
    values = np.array(
        [
            PolarsSample(cells[place : place + 1]).sums([statistic.row])[0] / GRID
            for place in range(0, DOMAIN.size, 37)
        ]
    )
    spread = np.broadcast_to(face.values, face.shape).ravel()
    assert spread[::37] == pytest.approx(values, abs=1e-8)
    assert face.average(weights) == pytest.approx(float(weights @ spread), abs=1e-12)
    assert face.weights(weights).sum() == pytest.approx(1.0)


def test_what_a_domain_covers() -> None:
    small = domain_of(TABLE, {"late": None, "hour": None}, MOST_DOMAIN_CELLS)
    assert small.shape == (2, 24)
    assert small.covers(mean("late and hour > 3"))
    assert not small.covers(mean("late and x > 3"))
    assert small.face_of("avg(late)") is not None
    for text in ("avg(x > 3)", "avg(nothing)", "gone(", "avg( late )"):
        assert small.face_of(text) is None


def test_cuts_and_bins_stand_for_their_middles() -> None:
    found = domain_of(TABLE, {"x": Cut(0, 10, 40), "hour": 4}, MOST_DOMAIN_CELLS)
    assert found.values == ((5.0, 25.0), (2.875, 8.625, 14.375, 20.125))


def test_without_declarations_every_known_column_is_in_it() -> None:
    found = domain_of(TABLE, None, MOST_DOMAIN_CELLS)
    assert dict(zip(found.columns, found.shape, strict=True)) == {"late": 2, "hour": 24, "x": 8}
    frame = pl.DataFrame({"arm": ["a", "b", "c"] * 4, "y": [1.0, 2.0] * 6})
    sample = PolarsSample(frame)
    table = Table(Schema(sample.types), design_of(sample, ["arm"], Independent()))
    assert domain_of(table, None, MOST_DOMAIN_CELLS).values == (("a", "b", "c"),)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"nowhere": None}, "not a column"),
        ({"origin": None}, "declare a list"),
        ({"free": None}, "declare a list"),
        ({"free": 4}, "where bounds are declared"),
        ({"origin": ["EWR", "EWR"]}, "different values"),
        ({"origin": []}, "different values"),
        ({"origin": "EWR"}, "different values"),
        ({"origin": Cut(0, 1)}, "different values"),
        ({"hour": ["one"]}, "different values"),
        ({"hour": [True, False]}, "different values"),
        ({"hour": True}, "different values"),
        ({"hour": 0}, "different values"),
        ({"x": [math.inf, 0.0]}, "different values"),
        ({"late": ["yes"]}, "different values"),
        ({"late": [True]}, "from 2 to"),
        ({"x": 2_000, "hour": None, "free": list(range(50))}, "2,400,000 cells"),
    ],
)
def test_bad_declarations_get_one_sentence(columns: Any, said: str) -> None:
    with pytest.raises(HoldfastError, match=said) as error:
        domain_of(TABLE, columns, MOST_DOMAIN_CELLS)
    assert "\n" not in str(error.value)


def test_a_table_of_which_nothing_is_known_needs_declarations() -> None:
    with pytest.raises(InvalidArgument, match="declare some"):
        domain_of(Table(Schema({"origin": ColumnType.TEXT})), None, MOST_DOMAIN_CELLS)


@pytest.mark.parametrize("edges", [(), (1.0,), (1.0, 1.0), (2.0, 1.0), (0.0, math.nan)])
def test_a_cut_needs_rising_edges(edges: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgument, match="edges"):
        Cut(*edges)
