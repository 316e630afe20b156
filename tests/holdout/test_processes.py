"""A holdout that was closed, copied, pickled, or taken along by a fork."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidArgument, LedgerUnavailable
from holdfast.holdout.holdout import Holdout
from tests.forks import in_a_fork
from tests.holdout.tables import BOUNDS, LATE, made, opened, table
from tests.seam import store_of, timeout_of

USES: dict[str, Callable[[Holdout], Any]] = {
    "ask": lambda holdout: holdout.ask(LATE),
    "ask anew": lambda holdout: holdout.ask("avg(x > 3)"),
    "ask many": lambda holdout: holdout.ask_many([LATE]),
    "check": lambda holdout: holdout.check(LATE, guess=table(seed=2)),
    "check one side": lambda holdout: holdout.check(LATE, at_most=0.5),
    "check many": lambda holdout: holdout.check_many([LATE], [0.2]),
    "groups": lambda holdout: holdout.ask(holdfast.mean("x", by="origin")),
    "quantile": lambda holdout: holdout.ask("median(x)"),
    "cost": lambda holdout: holdout.cost(LATE),
    "budget": lambda holdout: holdout.budget,
    "ledger": lambda holdout: holdout.ledger,
    "explain": lambda holdout: holdout.explain(),
    "stability": lambda holdout: holdout.stability(),
    "chart": lambda holdout: holdout.chart(),
    "name": lambda holdout: holdout.name,
}


@pytest.mark.parametrize("use", USES)
def test_a_closed_holdout_says_so(tmp_path: Path, use: str) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        holdout.ask(LATE)
    holdout.close()  # once more is fine
    with pytest.raises(LedgerUnavailable, match=r"t\.ledger' is closed; open it again\.$"):
        USES[use](holdout)
    assert "closed; open it again" in repr(holdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_is_refused_at_once(tmp_path: Path) -> None:
    made(tmp_path)

    def every_use() -> str:
        said = set()
        for use in USES.values():
            try:
                use(holdout)
            except HoldfastError as error:
                said.add(str(error))
        holdout.close()  # leaves the files to the process that opened them
        return "\n".join([*said, repr(holdout)])

    with opened(tmp_path, table()) as holdout:
        holdout.ask(LATE)
        with store_of(holdout).exclusive(1.0):  # as when another thread is asking
            said = in_a_fork(every_use).splitlines()
        assert len(said) == 2
        assert f"was opened by process {os.getpid()}, of which this one is a fork: what" in said[0]
        assert said[0] in said[1]
        assert holdout.ask("avg(x > 3)").number == 2  # nothing has happened here


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_opens_no_table(tmp_path: Path) -> None:
    """Polars would hang there."""
    rows = table()

    def opening() -> str:
        try:
            holdfast.open(rows, ledger=tmp_path / "forked.ledger", described="off")
        except HoldfastError as error:
            return str(error)
        return "opened"

    said = in_a_fork(opening)
    assert said.startswith(f"this process is a fork of process {os.getpid()}")
    assert "spawn" in said
    assert not (tmp_path / "forked.ledger").exists()


def test_a_copy_is_the_holdout_itself(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        assert copy.copy(holdout) is holdout
        assert copy.deepcopy({"mine": holdout})["mine"] is holdout


def test_a_pickle_opens_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, train = tmp_path / "t.parquet", tmp_path / "train.parquet"
    table().write_parquet(data)
    table(seed=2).write_parquet(train)
    monkeypatch.chdir(tmp_path)
    facts: dict[str, Any] = {"tolerance": 0.2, "questions": 20, "schema": BOUNDS, "timeout": 7.0}
    with holdfast.open(
        "t.parquet", name="t", train="train.parquet", **{"described": "off", **facts}
    ) as holdout:
        first = holdout.ask(LATE)
        pickled = pickle.dumps(holdout)
    monkeypatch.chdir("/")
    with pickle.loads(pickled) as again:
        assert again.ask(LATE).value == first.value
        assert again.ask("avg(x > 20)").number == 2
        assert timeout_of(again) == 7.0


def test_a_table_in_memory_is_not_pickled(tmp_path: Path) -> None:
    made(tmp_path)
    refused = pytest.raises(InvalidArgument, match=r"with a table in memory .* open it from files")
    with opened(tmp_path, table()) as holdout, refused:
        pickle.dumps(holdout)
    with opened(tmp_path) as looked_at:  # without rows there is nothing that could be lost
        assert pickle.loads(pickle.dumps(looked_at)).name == "t"


def test_nothing_of_sqlite_is_told(tmp_path: Path) -> None:
    made(tmp_path)
    with opened(tmp_path, table()) as holdout:
        pass
    with pytest.raises(LedgerUnavailable) as caught:
        holdout.ask(LATE)
    assert caught.value.__cause__ is None
    assert "sqlite" not in sys.exc_info().__repr__()
