"""No scripted session comes out differently unless the changelog says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.holdout.released_sessions import REWRITE, SESSIONS, differences, digest, line, recorded


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_as_it_was_released(name: str, tmp_path: Path) -> None:
    found = differences(name, tmp_path)
    assert not found, "\n".join([REWRITE, *found])


def test_every_session_is_in_the_record() -> None:
    assert list(recorded()) == list(SESSIONS), REWRITE


def test_what_moves_is_found() -> None:
    was = line("entry 1", {"at": "now", "charge": 0.75, "high": [0.1, None]})
    assert was == line(
        "entry 1", {"at": "later", "charge": 0.75 * (1 + 1e-13), "high": [0.1, None]}
    )
    moved = line("entry 1", {"at": "now", "charge": 0.75 * (1 + 1e-7), "high": [0.1, None]})
    assert digest(was[1]) != digest(moved[1])
