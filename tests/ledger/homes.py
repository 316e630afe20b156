"""Everything that keeps ledgers: the suite that all of them pass runs on each of these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import run

from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.store import home_of
from tests.postgres import server


def bare_repository(folder: Path) -> Path:
    """An empty repository that others push to, where nobody deletes or rewrites a branch."""
    remote = folder / "remote.git"
    run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    for forbidden in ("receive.denyDeletes", "receive.denyNonFastForwards"):
        run(["git", "config", forbidden, "true"], check=True, cwd=remote)
    return remote


# The home of a new ledger, given a folder of its own for files.
HOMES: dict[str, Callable[[Path], LedgerHome]] = {
    "sqlite": lambda folder: home_of(folder / "t.ledger"),
    "postgresql": lambda folder: home_of(server().ledger(), folder / "secret"),
    "git": lambda folder: home_of(f"git:{bare_repository(folder)}/ledger", folder / "secret"),
}
