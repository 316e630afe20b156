"""Two services on one PostgreSQL ledger, killed and started again: `make load-postgres`, in short.

Their processes are forks of one that has imported the libraries, so that a start takes little time.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from benchmarks.load_postgres import Campaign

from holdfast.service.folder import Folder
from holdfast.service.running import run

pytestmark = pytest.mark.long

_WARM = multiprocessing.get_context("forkserver")
_LIBRARIES = ["fastapi", "jinja2", "numpy", "polars", "psycopg", "scipy.special", "uvicorn"]
_WARM.set_forkserver_preload(_LIBRARIES)


def _serve(folder: Path, port: int, settings: str) -> None:
    os.environ["XDG_CONFIG_HOME"] = settings
    found = Folder.create(folder)
    run(found, found.settings(port=port))


class Forked:
    """A service in a process."""

    def __init__(self, folder: Path, port: int) -> None:
        said = (folder, port, os.environ["XDG_CONFIG_HOME"])
        self._process = _WARM.Process(target=_serve, args=said)
        self._process.start()
        self.pid = int(self._process.pid or 0)

    def wait(self) -> None:
        self._process.join()


def test_services_that_are_killed_leave_one_clean_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("benchmarks.load_postgres.CAP", 8)
    report = Campaign(tmp_path, clients=1, pause=0.05, start=Forked).run(seconds=0.0, kills=2)
    assert report.faults == []
    assert (report.kills, report.questions) == (2, 8 * report.tokens)
    assert report.repeats > 0
