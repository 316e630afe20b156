"""The service beside a bare FastAPI endpoint that does one durable commit for each request.

Requests per second, the slowest of a hundred and the time of the processor, with 16 clients and
with one; both services run in processes of their own at the same time, and are asked in turns. The
bare endpoint runs as FastAPI and uvicorn come by themselves (asyncio and h11), and once more on the
loop and the parser that the service has (uvloop and httptools). A second bare endpoint does what no
honest check can do without: one commit before the rows are touched, the same scan in a thread of
its own, and another commit before the answer is shown. Answers are released at once, and once more
on the steps of time that a service has by default. Free reads are beside a bare one of the same
file.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import holdfast
from benchmarks.measure import Row
from holdfast.service.folder import Folder
from holdfast.service.tokens import TokenStore

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["bare", "free_port", "rows", "running"]

_FILE = "HOLDFAST_BENCH_FILE"
CLIENTS, REQUESTS, READS, ROUNDS = 16, 400, 1_600, 3
_QUICK = "on the same loop and parser"


def bare() -> FastAPI:
    """One endpoint that writes down what it is asked before it answers, and one that scans, too."""
    from fastapi import FastAPI

    rows = pl.DataFrame({"x": np.random.default_rng(1).random(1_000)}).lazy()
    scanning = ThreadPoolExecutor(1)

    app = FastAPI()
    written = sqlite3.connect(os.environ[_FILE], isolation_level=None, check_same_thread=False)
    written.execute("PRAGMA journal_mode = WAL")
    written.execute("PRAGMA synchronous = FULL")
    written.execute("CREATE TABLE asked (question TEXT)")

    @app.post("/check")
    async def check(body: dict[str, Any]) -> dict[str, Any]:
        written.execute("INSERT INTO asked VALUES (?)", (body["question"],))
        return {"value": body["guess"]}

    def write_and_scan(question: str) -> float:
        number = float(question.removeprefix("avg(x > ").removesuffix(")"))
        written.execute("INSERT INTO asked VALUES (?)", (f"{question:600}",))
        above = rows.select((pl.col("x") > number).sum()).collect(engine="in-memory").item()
        written.execute("INSERT INTO asked VALUES (?)", (f"{above:600}",))
        return float(above / 1_000)

    @app.post("/scan/check")
    async def scan(body: dict[str, Any]) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        return {"value": await loop.run_in_executor(scanning, write_and_scan, body["question"])}

    @app.get("/read")
    async def read() -> dict[str, Any]:
        return {"value": written.execute("SELECT max(rowid) FROM asked").fetchone()[0]}

    return app


@contextmanager
def running(words: list[str], port: int, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A service in a process of its own, as soon as it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"{words} ended") from None
                time.sleep(0.01)
        yield process
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _asked(
    port: int, token: str, question: Callable[[], str], path: str, clients: int, count: int
) -> tuple[float, float]:
    """Requests a second, and the time that 99 of 100 take at most."""

    def client(_: int) -> list[float]:
        times = []
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        for _ in range(count // clients):
            claim = {"question": question(), "guess": 0.5, "tolerance": 0.25}
            start = time.perf_counter()
            if path.endswith("/check"):
                connection.request("POST", path, json.dumps(claim), headers)
            else:
                connection.request("GET", path, headers=headers)
            reply = connection.getresponse()
            reply.read()
            times.append(time.perf_counter() - start)
            if reply.status != 200:
                raise RuntimeError(f"{path} replied {reply.status}")
        connection.close()
        return times

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        taken = sorted(itertools.chain(*pool.map(client, range(clients))))
    return len(taken) / (time.perf_counter() - start), taken[int(0.99 * len(taken))]


def _processor(process: subprocess.Popen[bytes]) -> float:
    """Seconds of the processor that the threads of a process have had."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


@dataclass(frozen=True, slots=True)
class _Side:
    """A service that is measured: its process, and what is asked of it."""

    process: subprocess.Popen[bytes]
    ask: Callable[[str, int, int], tuple[float, float]]

    def measured(self, path: str, clients: int, count: int) -> tuple[float, float, float]:
        """Requests a second, the slowest of a hundred, and seconds of the processor for each."""
        before = _processor(self.process)
        speed, slowest = self.ask(path, clients, count)
        return speed, slowest, (_processor(self.process) - before) / count


def _published(folder: Path, step: float, seed: int = 1) -> str:
    """A folder with a table of 1,000 rows, and a token."""
    made = Folder.create(folder)
    (folder / "holdfast.toml").write_text(f"[service]\nrelease_step = {step}\n")
    frame = pl.DataFrame({"x": np.random.default_rng(seed).random(1_000)})
    frame.write_parquet(folder / "t.parquet")
    with holdfast.open(folder / "t.parquet", ledger=made.ledger("t"), tolerance=0.25):
        pass
    store = TokenStore(made.tokens, made.secret)
    try:
        return store.create("bench", "analyst").text
    finally:
        store.close()


def rows() -> Iterator[Row]:
    numbers = itertools.count()

    def question() -> str:
        return f"avg(x > {0.5 + next(numbers) * 1e-9:.9f})"

    with tempfile.TemporaryDirectory() as place:
        plain_port, quick_port, own_port, padded_port = (free_port() for _ in range(4))
        token = _published(Path(place, "served"), 0.0)
        padded_token = _published(Path(place, "padded"), 0.05, seed=2)
        bare_words = ["uvicorn", "--factory", "benchmarks.serving:bare", "--log-level", "warning"]
        plain_words = [*bare_words, "--loop", "asyncio", "--http", "h11"]
        serve = ["holdfast", "serve", f"{place}/served", "--port", str(own_port)]
        padded = ["holdfast", "serve", f"{place}/padded", "--port", str(padded_port)]
        start = time.perf_counter()
        with running(serve, own_port):
            started = time.perf_counter() - start
        plain_words += ["--port", str(plain_port)]
        quick_words = [*bare_words, "--port", str(quick_port)]
        with (
            running(plain_words, plain_port, **{_FILE: f"{place}/f"}) as plain_process,
            running(quick_words, quick_port, **{_FILE: f"{place}/g"}) as quick_process,
            running(serve, own_port) as own_process,
            running(padded, padded_port),
        ):
            own, plain, quick = (
                _Side(process, partial(_asked, port, token, question))
                for process, port in (
                    (own_process, own_port),
                    (plain_process, plain_port),
                    (quick_process, quick_port),
                )
            )

            def beside(
                side: _Side, path: str, bare_path: str, clients: int, count: int
            ) -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
                """What the service and a bare one took, in turns."""
                return [
                    (own.measured(path, clients, count), side.measured(bare_path, clients, count))
                    for _ in range(ROUNDS)
                ]

            yield Row("holdfast serve, until it listens", "one second", started, started, 3.0)
            path = "/api/v1/datasets/t/check"
            for clients, least in ((CLIENTS, 2.0), (1, 3.0)):
                count = REQUESTS if clients > 1 else REQUESTS // 4
                pairs = beside(plain, path, "/check", clients, count)
                ours = [a for a, _ in pairs]
                speed = median(b[0] / a[0] for a, b in pairs)
                slowest = median(a[1] / b[1] for a, b in pairs)
                many = f"{clients} clients" if clients > 1 else "one client"
                against = "a bare endpoint with one durable commit"
                yield Row(
                    f"a check by HTTP, {many}",
                    against,
                    1 / median(a[0] for a in ours),
                    speed,
                    least,
                )
                yield Row(
                    f"the slowest of 100 checks, {many}",
                    against,
                    median(a[1] for a in ours),
                    slowest,
                    5.0,
                )
                what = f"a check by HTTP, {many}"
                yield _by_processor(what, against, pairs, least)
                pairs = beside(plain, path, "/scan/check", clients, count)
                both = "a bare endpoint with both commits and the scan"
                yield _by_processor(what, both, pairs, least)
                for commits, bare_path in ((against, "/check"), (both, "/scan/check")):
                    pairs = beside(quick, path, bare_path, clients, count)
                    yield _by_processor(what, f"{commits}, {_QUICK}", pairs, least)
                for name in ("budget", "ledger?limit=20"):
                    what = f"GET {name} by HTTP, {many}"
                    free = f"/api/v1/datasets/t/{name}"
                    for side, how in ((plain, ""), (quick, f", {_QUICK}")):
                        pairs = beside(side, free, "/read", clients, READS)
                        yield _by_processor(what, f"a bare read of a file{how}", pairs, 2.0)
            stepped = _asked(padded_port, padded_token, question, path, CLIENTS, REQUESTS // 4)
            yield Row(
                f"a check by HTTP on steps of 50 ms, {CLIENTS} clients",
                "one step for 16 clients",
                1 / stepped[0],
                1 / stepped[0] / (0.05 / CLIENTS),
                10.0,
            )


def _by_processor(
    what: str,
    against: str,
    pairs: Sequence[tuple[tuple[float, float, float], tuple[float, float, float]]],
    most: float,
) -> Row:
    ratio = median(a[2] / b[2] for a, b in pairs)
    return Row(f"{what}, by processor", against, median(a[2] for a, _ in pairs), ratio, most)


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
