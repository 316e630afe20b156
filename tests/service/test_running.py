"""The service in processes of its own: the page's examples, workers that die, and the end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import polars as pl
import pytest
from benchmarks.first_clients import first_questions, half_sent, two_tables
from benchmarks.serving import free_port, running as running_service

import holdfast as library
from holdfast.ledger.audit import audit
from holdfast.service.folder import Folder
from holdfast.service.tokens import TokenStore
from tests.cli.run import holdfast

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = 5_000


def flights() -> pl.DataFrame:
    """A table with the columns that the page speaks of."""
    rng = np.random.default_rng(1)
    late = rng.random(ROWS) < 0.237
    return pl.DataFrame(
        {
            "flight_id": range(ROWS),
            "arr_delay": np.where(late, 16, -5) + rng.integers(0, 15, ROWS),
            "dep_delay": np.where(late, 10, -5) + rng.integers(0, 60, ROWS),
            "distance": rng.integers(100, 3_000, ROWS),
            "origin": rng.choice(["EWR", "JFK", "LGA"], ROWS),
            "hour": rng.integers(5, 24, ROWS),
            "late": late,
        }
    )


class Running:
    """`holdfast serve`, with two workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "holdfast", "serve", "served", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--workers", "2"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.said: list[str] = []
        while "http://" not in "".join(self.said):
            self.said.append(self.process.stdout.readline())  # type: ignore[union-attr]
        self.url = re.findall(r"http://\S+", "".join(self.said))[0]

    def connect(self, name: str, **said: Any) -> Any:
        made = Folder.create(self.folder / "served")
        store = TokenStore(made.tokens, made.secret)
        text = store.create(name, "analyst", **said).text
        store.close()
        return library.connect(self.url, token=text, retries=40)

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        return "".join(self.said) + out + err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("running")
    table = flights()
    table.write_parquet(folder / "hold.parquet")
    said = table.select("flight_id", v7=~pl.col("late"))
    said.write_csv(folder / "predictions.csv")
    words = ("--name", "flights", "--questions", "500", "--key", "flight_id", "--tolerance", "0.1")
    made = holdfast("publish", "hold.parquet", *words, cwd=folder)
    assert made.returncode == 0, made.stderr
    assert (folder / "served").stat().st_mode & 0o777 == 0o700
    settings = folder / "served" / "holdfast.toml"
    settings.write_text("[service]\nrelease_step = 0.01\npatience = 30\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    service = Running(folder)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.stop()


def test_the_first_start_shows_a_token_once(running: Running) -> None:
    said = "".join(running.said)
    while "hf_" not in said:
        said += running.process.stdout.readline()  # type: ignore[union-attr]
    token = re.findall(r"hf_\S+", said)[0]
    assert said.startswith("Serving flights at http://127.0.0.1:")
    with library.connect(running.url, token=token, retries=40) as custodian:
        assert custodian.name == "flights"
    metrics = Request(f"{running.url}/metrics", headers={"Authorization": f"Bearer {token}"})
    until = time.monotonic() + 30
    while b"holdfast_workers 2\n" not in urlopen(metrics).read():  # whichever is asked
        assert time.monotonic() < until
        time.sleep(0.05)
    made = Folder.create(running.folder / "served")
    assert token.encode() not in made.tokens.read_bytes()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_example_of_the_page_works(running: Running, folder: Path) -> None:
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 6
    typed = re.findall(r"^(holdfast token .*)$", page, re.MULTILINE)
    made = holdfast(*typed[0].split()[1:], "--json", cwd=folder)
    assert made.returncode == 0, made.stderr
    token = json.loads(made.stdout)["token"]
    script = "set -e\n" + "\n".join(blocks).replace("curl ", "curl --retry 9 --retry-connrefused ")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # with holdfast
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env={**os.environ, "HOLDFAST": running.url, "TOKEN": token, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    python = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for block in python:
        names: dict[str, Any] = {"url": running.url, "token": token}
        exec(compile(block, "service.md", "exec"), names)
        names["holdout"].close()


def test_a_token_that_is_revoked_is_refused_by_every_worker(running: Running) -> None:
    with running.connect("gone") as remote:
        for _ in range(8):  # whichever worker answers
            remote.close()
            assert remote.budget.questions_left > 0
        assert holdfast("token", "revoke", "gone", cwd=running.folder).returncode == 0
        for _ in range(8):
            remote.close()
            with pytest.raises(library.errors.NotAllowed):
                _ = remote.budget


def test_workers_that_are_killed_charge_once_and_retries_are_told_the_same(
    running: Running, folder: Path
) -> None:
    """Under load, and under the same keys: nothing is charged less, or twice."""
    people, questions, kills = 3, 8, 2
    told: dict[str, list[str]] = {}
    progress = threading.Semaphore(0)

    def ask(person: int) -> None:
        with running.connect(f"person {person}") as remote:
            for n in range(questions):
                key = f"{person} {n}"
                for _ in range(2):  # the second time as if the answer had been lost
                    answer = remote.check(
                        # About values of their own: none follows from another.
                        f"avg(abs(distance - {100 * person + 10 * n + 200}) > 5)",
                        0.5,
                        request_key=key,
                    )
                    told.setdefault(key, []).append(json.dumps(answer.to_dict()))
                    progress.release()

    threads = [threading.Thread(target=ask, args=(person,)) for person in range(people)]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        for _ in range(6):
            progress.acquire()
        os.kill(_worker(running.process.pid), signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert len(told) == people * questions
    assert all(first == again for first, again in told.values())
    ledger = folder / "served" / "flights.ledger"
    with library.open(ledger=ledger) as local:
        lines = [line for line in local.ledger if line.request.by and "person" in line.request.by]
        assert len({line.question for line in lines}) == len(lines) == people * questions
        assert local.budget.account.checks >= people * questions
    assert all(finding.fine for finding in audit(ledger))


def _worker(parent: int) -> int:
    """A process that answers: one that the first one started, and that listens."""
    while True:
        for place in Path("/proc").glob("[0-9]*/stat"):
            try:
                facts = place.read_text().rpartition(")")[2].split()
                words = place.with_name("cmdline").read_bytes()
            except OSError:
                continue
            if int(facts[1]) == parent and b"spawn_main" in words and facts[0] != "Z":
                return int(place.parent.name)


def test_what_is_asked_when_it_is_stopped_is_finished(running: Running, folder: Path) -> None:
    """And nothing of the rows, and no traceback, was printed meanwhile."""
    found: list[Any] = []
    with running.connect("last") as remote:
        asking = threading.Thread(
            target=lambda: found.append(remote.ask_many([f"avg(hour > {n})" for n in range(9)]))
        )
        assert remote.rows == ROWS  # connected
        asking.start()
        said = running.stop()
        asking.join()
    assert "Traceback" not in said
    assert running.process.returncode in (0, -signal.SIGTERM)
    ledger = folder / "served" / "flights.ledger"
    with library.open(ledger=ledger) as local:
        asked = [line for line in local.ledger if line.request.by == "last"]
        assert len(asked) in (0, 9)
        assert found == [] or len(asked) == 9
    assert all(finding.fine for finding in audit(ledger))


_NEVER_ENDS = """
import sys, time
from holdfast.service import data_set, running
from holdfast.service.folder import Folder
def scan(self, use):
    time.sleep(600)
data_set.Served._used = scan
folder = Folder.create(sys.argv[1])
app = "holdfast.agents.mounting:worker_with_agents"
running.run(folder, folder.settings(port=int(sys.argv[2])), app)
"""


@pytest.mark.parametrize(
    "scanning",
    [False, pytest.param(True, marks=pytest.mark.campaign)],
    ids=["half sent", "scanning"],
)
def test_it_ends_in_time_whatever_is_going_on(
    tmp_path: Path, scanning: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """Requests that were never finished, and a scan that goes on, keep nobody from stopping it.

    Each that was cut off is a line of the log, and no failure; nor is one that hangs up meanwhile.
    """
    made, token = two_tables(tmp_path / "served")
    port = free_port()
    words = ["holdfast", "serve", str(made.path), "--port", str(port)]
    if scanning:
        script = tmp_path / "never_ends.py"
        script.write_text(_NEVER_ENDS)
        words = ["never_ends", str(made.path), str(port)]
    with running_service(
        words, port, PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    ) as process:
        asking = threading.Thread(target=first_questions, args=(port, token, 4), daemon=True)
        half = list(half_sent(port, token))
        assert half[-1].recv(12) == b"HTTP/1.1 200"
        if scanning:
            asking.start()
            time.sleep(0.5)  # it is being asked
        start = time.monotonic()
        process.terminate()
        half.pop(1).close()  # of an agent
        process.wait(20)
        assert time.monotonic() - start < 10
        for connection in half:
            connection.close()
    logged = capfd.readouterr().err
    assert "not answered before the service stopped" in logged
    assert not [each for each in ("Traceback", " ERROR ") if each in logged]
