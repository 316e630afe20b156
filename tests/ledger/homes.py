"""Everything that keeps ledgers: the suite that all of them pass runs on each of these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.store import home_of
from tests.postgres import server

# The home of a new ledger, given a folder of its own for files.
HOMES: dict[str, Callable[[Path], LedgerHome]] = {
    "sqlite": lambda folder: home_of(folder / "t.ledger"),
    "postgresql": lambda folder: home_of(server().ledger(), folder / "secret"),
}
