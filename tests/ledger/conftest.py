"""A ledger with three answers, to be copied and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.holdout.tables import copied, made, opened, table

ASKED = ["avg(late)", "avg(x > 20)", "avg(x)"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with three answers, closed: never to be changed, only copied."""
    folder = tmp_path_factory.mktemp("finished")
    path = made(folder)
    with opened(folder, table()) as holdout:
        for question in ASKED:
            holdout.ask(question, why="to see")
    return path


@pytest.fixture
def ledger(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished ledger."""
    return copied(finished, tmp_path / "copy")
