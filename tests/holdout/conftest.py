"""A holdout of a small table, for every test of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.holdout.holdout import Holdout
from tests.holdout.tables import made, opened, table


@pytest.fixture
def holdout(tmp_path: Path) -> Iterator[Holdout]:
    """Twenty questions of half-width 0.2 on 400 rows."""
    made(tmp_path)
    with opened(tmp_path, table()) as opened_again:
        yield opened_again
