"""Workers on one PostgreSQL ledger, to be killed or to race: a program that forks them.

It uses no engine, as `children`, whose script and whose table that is a function it asks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.data.sample import Moments
from holdfast.errors import BudgetExhausted
from holdfast.ledger.backend import Addition, LedgerHome
from holdfast.ledger.postgres import APPEND, PostgresKeeper, append_values
from holdfast.ledger.store import home_of
from holdfast.question.row import RowValue
from tests.ledger.children import ROWS, ask_batch, create, die, end_of, forked, play, resumed, total
from tests.mechanisms.fake import Sums
from tests.seam import put_sample

# In the order in which a question passes them.
POINTS = (
    "lock",
    "reserve sent",
    "reserve acknowledged",
    "scan",
    "settle sent",
    "settle acknowledged",
)
BATCH = 2  # of the script: two questions asked together
ROUNDS = 50


def arm(point: str) -> Sums:
    """Die at this point of the next batch; the rows to put in place of the others."""
    append, hold = PostgresKeeper.append, PostgresKeeper.hold

    def dying_hold(self: PostgresKeeper, timeout: float) -> None:
        hold(self, timeout)
        if point == "lock":
            die()

    def dying_append(self: PostgresKeeper, addition: Addition) -> None:
        kind = json.loads(addition.rows[0][1])["kind"].partition("/")[0]
        if point == f"{kind} sent":
            _send(self, addition)
            die()
        append(self, addition)
        if point == f"{kind} acknowledged":
            die()

    def dying_total(row: RowValue) -> Moments:
        if point == "scan":
            die()
        return total(row)

    patch = pytest.MonkeyPatch()  # never undone: this process ends here
    patch.setattr(PostgresKeeper, "append", dying_append)
    patch.setattr(PostgresKeeper, "hold", dying_hold)
    return Sums(ROWS, dying_total)


def _send(keeper: PostgresKeeper, addition: Addition) -> None:
    """The whole statement is on its way, and nobody waits for its answer."""
    connection = keeper.session.connection
    identity = keeper.identity
    with connection.pipeline():
        connection.execute(APPEND, append_values(identity, keeper.session.backend, addition))
        connection.pgconn.pipeline_sync()
        while connection.pgconn.flush():
            pass
        die()


def killed_at(ledger: LedgerHome, point: str) -> None:
    with resumed(ledger) as holdout:
        play(holdout, BATCH)
        put_sample(holdout, arm(point))
        ask_batch(holdout, BATCH)


def racer(ledgers: Sequence[LedgerHome], who: int, start: int, done: int) -> None:
    """Make each ledger, ask its only question, and say whether it was granted."""
    for ledger in ledgers:
        os.read(start, 1)
        create(ledger, 1)
        with resumed(ledger) as holdout:
            try:
                holdout.ask(f"avg(x > {who})")
                os.write(done, b"1")
            except BudgetExhausted:
                os.write(done, b"0")


def race(ledgers: Sequence[LedgerHome]) -> dict[str, Any]:
    """Two processes want the only question of each ledger; how many got it."""
    (waiting, start), (granted, done) = os.pipe(), os.pipe()
    pids = [forked(partial(racer, ledgers, who, waiting, done)) for who in range(2)]
    found = {}
    for place, _ in enumerate(ledgers):
        os.write(start, b"!!")
        found[str(place)] = (os.read(granted, 1) + os.read(granted, 1)).decode().count("1")
    return {**found, "ends": [end_of(pid) for pid in pids]}


def main(what: str, folder: str, *addresses: str) -> None:
    homes = [home_of(each, Path(folder) / str(place)) for place, each in enumerate(addresses)]
    if what == "race":
        found = race(homes)
    else:
        pids = zip(POINTS, homes, strict=True)
        found = {point: end_of(forked(partial(killed_at, home, point))) for point, home in pids}
    sys.stdout.write(json.dumps(found))


def run(what: str, folder: Path, addresses: Sequence[str]) -> dict[str, Any]:
    """Run this file as a program; secret number i of the folder is that of address i."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ledger.workers", what, str(folder), *addresses],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[2],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
