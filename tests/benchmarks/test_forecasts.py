"""The sessions of `benchmarks.forecasts`, few of them: what forecasts spare, and what breaks."""

from __future__ import annotations

import pytest
from benchmarks.forecasts import Setting, is_deceived, session

SESSIONS = 8


@pytest.mark.parametrize("grouped", [False, True])
def test_training_rows_spare_more_than_half_and_confirm_more(grouped: bool) -> None:
    none, trained, misled = (
        [session(rule, Setting(), seed, grouped=grouped) for seed in range(SESSIONS)]
        for rule in ("no forecast", "training rows", "misleading ones")
    )
    assert sum(each.nats for each in trained) <= 0.5 * sum(each.nats for each in none)
    assert sum(each.confirmed for each in trained) >= sum(each.confirmed for each in none)
    assert sum(each.nats for each in misled) > sum(each.nats for each in trained)


def test_training_rows_that_are_protected_deceive() -> None:
    assert all(is_deceived("training rows", 1.0, seed) for seed in range(SESSIONS))
    assert not all(is_deceived("training rows", 0.0, seed) for seed in range(SESSIONS))
