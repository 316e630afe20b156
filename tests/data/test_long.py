"""Long questions: what can be read is computed, alike by every engine; the rest is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import add, mul, sub
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.data.polars import PolarsSample
from holdfast.data.sample import Sample
from holdfast.data.sql.duckdb import DuckDBSample
from holdfast.errors import InvalidQuestion
from holdfast.ledger.audit import audit
from holdfast.question import GRID, Schema, parse_row, row_value
from holdfast.question.expression import text_of
from tests.data.engines import duckdb_connection
from tests.holdout.tables import opened

ROWS, COLUMNS = 40, 20
_RNG = np.random.default_rng(20130131)
FRAME = pl.DataFrame(
    {f"x{place}": np.round(_RNG.random(ROWS), 3) for place in range(COLUMNS)}
    | {"k": _RNG.integers(0, 1_000, ROWS)}
).with_columns(x7=pl.when(pl.col("k") % 5 != 0).then("x7"))
SCHEMA = Schema(PolarsSample(FRAME).types).declare(
    {f"x{place}": (0, 1) for place in range(COLUMNS)}
)
MANY = pl.concat([FRAME] * 10)  # rows enough for a look at them within +-0.4
VALUES = {name: FRAME[name].to_numpy() for name in FRAME.columns}


@pytest.fixture(scope="module")
def samples() -> Iterator[list[Sample]]:
    with duckdb_connection() as connection:
        connection.register("frame", FRAME.to_arrow())
        relation = connection.sql("SELECT * FROM frame")
        yield [PolarsSample(FRAME), PolarsSample(FRAME.lazy()), DuckDBSample(relation)]


def x(place: int) -> str:
    return f"x{place % COLUMNS}"


def in_turn(fold: Callable[[Any, Any], Any], places: Iterable[int]) -> Any:
    """The terms from the left, one after the other, as doubles; what is missing counts as 0."""
    return np.nan_to_num(reduce(fold, [VALUES[x(place)] for place in places]))


def first_above() -> Any:
    """The place of the first column of the row that is above 0.97."""
    found = np.full(ROWS, -1.0)
    for place in reversed(range(COLUMNS)):
        found = np.where(VALUES[x(place)] > 0.97, float(place), found)
    return found


LONG = {
    "sum": (" + ".join(x(each) for each in range(1_000)), in_turn(add, range(1_000))),
    "sum, backwards": (
        " + ".join(x(each) for each in reversed(range(300))),
        in_turn(add, reversed(range(300))),
    ),
    "differences": (" - ".join(x(each) for each in range(300)), in_turn(sub, range(300))),
    "product": (" * ".join(x(each) for each in range(300)), in_turn(mul, range(300))),
    "and": (
        " and ".join(f"{x(each)} > {each / 1e5}" for each in range(400)),
        np.all([VALUES[x(each)] > each / 1e5 for each in range(400)], axis=0),
    ),
    "or": (
        " or ".join(f"{x(each)} > {1 - each / 1e5}" for each in range(400)),
        np.any([VALUES[x(each)] > 1 - each / 1e5 for each in range(400)], axis=0),
    ),
    "greatest": (
        f"greatest({', '.join(f'{x(each)} + {each}' for each in range(400))})",
        np.nan_to_num(np.max([VALUES[x(each)] + each for each in range(400)], axis=0), nan=399.0),
    ),
    "least": (
        f"least({', '.join(f'{x(each)} - {each}' for each in range(260))})",
        np.nan_to_num(np.min([VALUES[x(each)] - each for each in range(260)], axis=0), nan=-258.0),
    ),
    "coalesce": (
        f"coalesce({', '.join(f'{x(7)} + {each}' for each in range(400))}, 0.25)",
        np.where(np.isnan(VALUES["x7"]), 0.25, VALUES["x7"]),
    ),
    "case": (
        f"case {' '.join(f'when {x(each)} > 0.97 then {each}' for each in range(600))} else -1 end",
        first_above(),
    ),
    "in": (f"k in ({', '.join(map(str, range(0, 1_000, 2)))})", VALUES["k"] % 2 == 0),
}


@pytest.mark.parametrize(("written", "values"), LONG.values(), ids=LONG.keys())
def test_long_questions_are_the_same_on_every_engine(
    samples: list[Sample], written: str, values: Any
) -> None:
    expression = parse_row(written, SCHEMA)
    assert parse_row(text_of(expression), SCHEMA) == expression
    row = row_value(expression)
    found = []
    for sample in samples:
        sample.prepare([row])
        found.append(sample.moments([row]))
    assert found[0] == found[1] == found[2]
    average = row.low + found[0][0][0] / (ROWS * GRID) * (row.high - row.low)
    assert average == pytest.approx(values.mean(), abs=1e-8 * max(1.0, row.high - row.low))


HOPELESS = {
    "quotients of quotients": f"clip({' / '.join(x(each) for each in range(500))}, 0, 1)",
    "parentheses": "(" * 10_000 + "x1" + ")" * 10_000,
    "parentheses, closed too early": "(" * 4_000 + ")" * 4_000,
    "comparisons": " = ".join(["x1 > 0.5"] + ["true"] * 2_000 + ["(x2 > 0.5)"] * 400),
    "is null of is null": "x1" + " is null" * 3_000 + " = (x2 > 1)",
    "casts of casts": "(x1 > 1)" + "::double" * 3_000,
    "signs": "-" * 9_000 + "x1",
    "words": " ".join(["x1"] * 9_000),
    "a list of many": f"x1 in ({', '.join(map(str, range(9_000)))})",
    "a long name": "x" * 250 + " > 1",
    "many long names": " + ".join(["x" * 250] * 150),
    "cases in cases": "case when x1 > 1 then " * 200 + "1" + " end" * 200,
    "functions in functions": "greatest(x1, " * 300 + "1" + ")" * 300,
    "choices of a choice": "x1 in (1) " + "in (true) " * 900,
    "betweens": "x1 between 0 and 1 " + "between false and true " * 300,
}


@pytest.mark.parametrize("written", HOPELESS.values(), ids=HOPELESS.keys())
def test_what_is_too_long_is_refused_before_it_costs_anything(tmp_path: Path, written: str) -> None:
    bounds = {x(each): (0, 1) for each in range(COLUMNS)}
    with opened(tmp_path, MANY, schema=bounds) as holdout:
        before = (tmp_path / "t.ledger").read_bytes()
        with pytest.raises(InvalidQuestion) as refusal:
            holdout.ask(f"avg({written})", tolerance=0.4)
        assert (tmp_path / "t.ledger").read_bytes() == before
    said = str(refusal.value)
    assert said.endswith((".", "?"))
    assert len(said) < 600


def test_what_an_engine_cannot_take_is_refused_before_it_is_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.ledger"
    with opened(tmp_path, MANY) as holdout:
        written = path.read_bytes()

        def fail(*_: object) -> None:
            raise RecursionError

        with monkeypatch.context() as broken:
            broken.setattr("holdfast.question.writing.Writer.write", fail)
            with pytest.raises(InvalidQuestion, match="cannot compute the question"):
                holdout.ask("avg(x1 > 0.5)", tolerance=0.4)
        assert path.read_bytes() == written
        assert isinstance(holdout.ask("avg(x1 > 0.5)", tolerance=0.4), holdfast.Answer)


def test_a_sum_of_a_thousand_columns_with_declared_bounds_is_asked(tmp_path: Path) -> None:
    """Bounds are written out in the canonical text, which must be read again from the ledger."""
    rows = pl.DataFrame({name: [0.25, 0.5] * 100 for name in "abc"})
    total = " + ".join("abc"[n % 3] for n in range(1_000))
    bounds = dict.fromkeys("abc", (0.0, 1.0))
    with holdfast.open(
        rows, ledger=tmp_path / "t.ledger", tolerance=0.4, schema=bounds, described="off"
    ) as holdout:
        assert holdout.ask(f"avg(({total}) / 1000)").interval.low <= 0.375
    assert all(finding.fine for finding in audit(tmp_path / "t.ledger"))
