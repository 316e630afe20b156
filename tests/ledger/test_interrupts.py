"""Whatever interrupts a call: the same handle, other processes and the audit go on."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from tests.ledger.homes import HOMES
from tests.ledger.interrupts import ENDS, TROUBLES, VERBS, campaign, opened

TRIALS = int(os.environ.get("HOLDFAST_TRIALS", "6"))  # of each verb and trouble in the campaign
# Struck while it starts, a command of git runs on alone, as after Ctrl-C; Python warns of that.
_ALONE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
pytestmark = _ALONE
_KINDS = [
    pytest.param(kind, trouble, marks=[pytest.mark.campaign] if kind == "git" else [])
    for kind in HOMES
    for trouble in TROUBLES
    if kind == "postgresql" or trouble != "lost server"
]


@pytest.fixture(autouse=True)
def _commands_forgotten(request: pytest.FixtureRequest) -> Iterator[None]:
    """Commands of git that run on alone are warned of here, not in whatever is tested next."""
    yield
    if "git" in request.node.name:
        gc.collect()


@pytest.fixture
def ctrl_c_heard() -> Iterator[None]:
    """Python's own handler: a shell lets what it starts in the background ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_heard")
@pytest.mark.parametrize("kind", HOMES)
def test_ctrl_c_while_waiting_for_a_busy_ledger(kind: str, tmp_path: Path) -> None:
    """It is heard at once, and the lock that is freed later is not taken by who gave up."""
    home = HOMES[kind](tmp_path)
    with opened(home, timeout=60.0) as holdout, closing(Store.open(home)) as other:
        holdout.ask("avg(x)")
        heard: list[float] = []
        free = threading.Event()

        def hold() -> None:
            with other.exclusive(1.0):
                held.set()
                time.sleep(0.3)
                sent.append(time.monotonic())
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                free.wait(2.0)

        held, sent = threading.Event(), list[float]()
        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        with pytest.raises(KeyboardInterrupt) as error:
            holdout.ask("avg(y)")
        heard.append(time.monotonic())
        free.set()
        holder.join()
        assert heard[0] - sent[0] < 1.5
        with closing(Store.open(home)) as third, third.exclusive(0.5):
            pass  # though the error, with all its frames, is still alive
        assert error.value is not None
        assert holdout.ask("avg(y)").status == "answered"
    assert all(finding.fine for finding in audit(home))


@pytest.mark.parametrize(("kind", "trouble"), _KINDS)
@pytest.mark.parametrize("verb", ["ask", "key", "attach"])
def test_calls_that_are_struck(kind: str, trouble: str, verb: str, tmp_path: Path) -> None:
    tally = campaign(kind, verb, trouble, 12 if kind == "sqlite" else 2, tmp_path, 2026)
    assert not tally.broken, tally


@pytest.mark.campaign
@pytest.mark.parametrize(("kind", "trouble"), _KINDS)
@pytest.mark.parametrize("verb", [*VERBS, *ENDS])
def test_calls_that_are_struck_at_many_moments(
    kind: str, trouble: str, verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = campaign(kind, verb, trouble, TRIALS, tmp_path, 2027)
    with capsys.disabled():
        sys.stdout.write(f"{kind}, {verb}, {trouble}: {tally}\n")
    assert not tally.broken, tally.broken
