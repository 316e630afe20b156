"""What is free does not wait for a scan: threads share a holdout, and one of them is scanning."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.holdout.holdout import Holdout
from holdfast.theory.leakage.claim_levels import surprise_prior
from holdfast.theory.leakage.nats import surprise_log_charge
from tests.holdout.tables import BOUNDS, LATE, opened, table, watch

READS: dict[str, Callable[[Holdout], Any]] = {
    "budget": lambda holdout: holdout.budget.questions_left,
    "ledger": lambda holdout: [line.question for line in holdout.ledger],
    "cost": lambda holdout: holdout.cost("avg(x > 3)").most,
    "repeat": lambda holdout: holdout.ask(LATE).status,
    "repeat by key": lambda holdout: holdout.ask(LATE, request_key="first").status,
    "repeat of parts": lambda holdout: (
        holdout.ask("difference(avg(x) where late, avg(late))").status
    ),
    "columns": lambda holdout: holdout.columns,
    "explain": lambda holdout: holdout.explain().splitlines()[0],
    "repr": repr,
}


def in_another_thread(do: Callable[[], Any]) -> Any:
    """What it comes to; it fails if that takes as long as a scan that is not over."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(do()), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it waits for the scan"
    return found[0]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("question", ["avg(x > 20)", "median(x)"])
def test_what_is_free_does_not_wait_for_the_scan_of_another_thread(
    tmp_path: Path, read: str, question: str
) -> None:
    with opened(
        tmp_path, table(), schema=BOUNDS, questions=20, tolerance=0.4, described_share=0.4
    ) as holdout:
        holdout.ask(LATE, request_key="first")
        holdout.ask("difference(avg(x) where late, avg(late))")
        before, during = READS[read](holdout), []
        watch(holdout, lambda: during.append(in_another_thread(lambda: READS[read](holdout))))
        holdout.ask(question)
    assert len(during) == 1
    if read not in ("budget", "cost", "repr"):  # what is reserved counts there
        assert during == [before]


def test_meanwhile_the_budget_counts_the_worst(tmp_path: Path) -> None:
    with opened(tmp_path, table(), schema=BOUNDS, questions=20, tolerance=0.4) as holdout:
        nats: list[float] = []
        watch(holdout, lambda: nats.append(in_another_thread(lambda: holdout.budget.nats)))
        # That it is refuted; what is asked then is reserved then.
        worst = surprise_log_charge(surprise_prior(0, 0), 0.0)
        assert holdout.check(LATE, guess=0.25).status == "confirmed"
        assert nats == [pytest.approx(worst)]
        assert holdout.budget.nats < worst


def test_who_asks_waits_for_its_turn_and_lets_others_read(tmp_path: Path) -> None:
    with opened(tmp_path, table(), schema=BOUNDS, questions=20, tolerance=0.4) as holdout:
        waiting, second = threading.Event(), []

        def ask() -> None:
            waiting.set()
            second.append(holdout.ask("avg(x > 20)").number)

        asker = threading.Thread(target=ask)

        def meanwhile() -> None:
            if not second and not asker.is_alive():
                asker.start()
                waiting.wait(10)
                assert in_another_thread(lambda: holdout.budget.asked) == 1
                assert second == []

        watch(holdout, meanwhile)
        assert holdout.ask(LATE).number == 1
        asker.join(20)
        assert second == [2]


def test_closing_waits_for_who_is_asking(tmp_path: Path) -> None:
    """What was reserved is settled before the files are let go."""
    with opened(tmp_path, table(), schema=BOUNDS, questions=20, tolerance=0.4) as holdout:
        closer = threading.Thread(target=holdout.close)

        def meanwhile() -> None:
            closer.start()
            assert holdout.budget.asked == 1

        watch(holdout, meanwhile)
        assert holdout.ask(LATE).number == 1
        closer.join(20)
        assert not closer.is_alive()
