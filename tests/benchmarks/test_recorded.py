"""What Holdfast asks engines for is heard, and asked again by the engine alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from benchmarks.engines import DuckDB, Engine, Polars, PostgreSQL, opened
from benchmarks.kinds import KINDS, Above
from benchmarks.page import QUICK
from benchmarks.questions import HEAD, lines
from benchmarks.recorded import Hook, Scan, listening

ROWS = 10_000
ENGINES: tuple[Engine, ...] = (Polars(), DuckDB(), PostgreSQL())


class Asked:
    """An engine that is asked in three ways."""

    def prepare(self) -> None:
        self.fetch("nothing")

    def fetch(self, what: str) -> str:
        return what.upper()

    def other(self) -> None:
        """Nobody listens to this."""


def test_what_is_asked_is_noted_but_for_what_is_prepared() -> None:
    done: list[str] = []

    def again(_: Asked, what: str) -> Scan | None:
        return None if what == "own" else lambda: done.append(what)

    before = Asked.fetch
    engine = Asked()
    with listening(Asked, Hook(Asked, "fetch", again)) as scans:
        engine.prepare()
        engine.other()
        assert engine.fetch("rows") == "ROWS"
        engine.fetch("own")
        engine.fetch("more")
        same = scans.taken()
        engine.fetch("later")
    same()
    same()
    assert done == ["rows", "more"] * 2
    assert Asked.fetch is before


def test_what_was_replaced_comes_back_after_a_failure() -> None:
    before = Asked.fetch, Asked.prepare
    with pytest.raises(ZeroDivisionError), listening(Asked, Hook(Asked, "fetch", lambda *_: None)):
        raise ZeroDivisionError
    assert (Asked.fetch, Asked.prepare) == before


@pytest.mark.filterwarnings("ignore::holdfast.errors.SecondLedger")
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_each_kind_of_question_scans_as_often_as_it_should(engine: Engine) -> None:
    if engine.missing():
        pytest.skip(f"{engine.name} needs {engine.missing()}")
    with opened(engine, ROWS) as (holdout, table, _):
        for kind in KINDS:
            table.scans.taken()
            kind.ask(holdout, [kind.text(number) for number in (1, 2)])
            # Polars reads a column of so small a file once, and holds it; PostgreSQL is given room.
            assert len(table.scans.noted) in ((1,) if engine.name == "DuckDB" else (1, 2))
            table.scans.taken()()  # the engine takes it
        holdout.check("avg(x1 > 0.25)", guess=0.5, tolerance=0.25)
        (scan,) = table.scans.noted
        # By itself it finds what the plain average finds, as a count.
        assert _first(scan()) == (ROWS, round(ROWS * _first(table.run([Above("x1", 0.25)]))[0]))


def _first(found: Any) -> tuple[float, ...]:
    """The only row of a result."""
    row = found.row(0) if isinstance(found, pl.DataFrame) else found[0]
    return tuple(map(float, row))


@pytest.mark.filterwarnings("ignore::holdfast.errors.SecondLedger")
def test_a_line_tells_both_ratios() -> None:
    class Few(DuckDB):
        many = 3

    found = list(lines(Few(), replace(QUICK, rows=(ROWS,))))
    assert [line[1] for line in found] == [
        *(kind.name for kind in KINDS[:-1]),
        "ask_many(3)",
    ]
    for line in found:
        assert len(line) == len(HEAD)
        assert all(float(cell) > 0 for cell in (*line[2:6], line[7]))
        assert line[6] == line[8] == ""
        assert line[9] == "1"
