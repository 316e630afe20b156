"""`make load`: a service under load, and what must be true of it afterwards.

16 clients send 1,000 mixed requests each to two workers, while workers are killed. No reply is a
5xx, every token spends exactly what it may, every retry is told the same bytes, and the audit is
clean. Then free reads are timed while a scan runs that takes ten seconds.

Then the first questions of 64 clients come together to services that have just begun to listen, 200
times over; 200 agents ask with one capped token for 30 minutes, and services are told to stop while
heads and bodies are half sent; tokens with a share of the pool ask for more; files that unpack to
gigabytes are uploaded, all at once. `STARTS` and `MINUTES` in the environment say otherwise how
long.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import holdfast
from benchmarks.bombs import bombs, parquet
from benchmarks.first_clients import agents_call, first_questions, half_sent, two_tables
from benchmarks.serving import free_port, running
from holdfast.ledger.audit import audit
from holdfast.service.folder import Folder
from holdfast.service.tokens import TokenStore

CLIENTS, REQUESTS, CAP, KILLS = 16, 1_000, 150, 20
SCANNED, COLUMNS = 4_000_000, 4  # what is scanned
SECONDS, TERMS, TRIED, MOST = 10.0, 30, 4, CAP - 8  # how long, by questions of so many terms
SLOWEST = 0.05  # seconds, of 99 of 100 free reads
FIRST, STARTS = 64, int(os.environ.get("STARTS", "200"))
AGENTS, MINUTES = 200, float(os.environ.get("MINUTES", "30"))
ITEMS, UPLOADS, MOST_MEMORY = 2_000, 6, 2**30  # of each file so many; bytes
LONGEST_END = 10.0  # seconds, from SIGTERM
DATA = "/api/v1/datasets/t"
READS = (f"{DATA}/budget", f"{DATA}/ledger?limit=20", DATA, "/api/v1/me")


Body = dict[str, Any]


class Client:
    """Somebody with a token, who sends again what was lost."""

    def __init__(self, port: int, token: str, number: int) -> None:
        self._port, self._token, self._number = port, token, number
        self.statuses: Counter[int] = Counter()
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def run(self) -> Counter[int]:
        for n in range(REQUESTS):
            if n % 5:
                self.sent("GET", READS[n % len(READS)])
                continue
            question = f"avg(x > {self._number / 100 + n / 1e6})"
            verb, body = "ask", Body(question=question)
            if n % 2:
                verb, body = "check", Body(question=question, guess=0.5, tolerance=0.3)
            key = f"client-{self._number}-call-{n}"
            told = self.sent("POST", f"{DATA}/{verb}", body, key)
            if n % 50 == 0 and self.sent("POST", f"{DATA}/{verb}", body, key) != told:
                raise SystemExit(f"the call {key} was told two things")
        self.close()
        return self.statuses

    def close(self) -> None:
        self._connection.close()

    def sent(self, method: str, path: str, body: Body | None = None, key: str = "") -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body)
        while True:
            try:
                self._connection.request(method, path, content, headers)
                reply = self._connection.getresponse()
                text = reply.read()
            except (OSError, HTTPException):  # its worker is gone
                self._connection.close()
                time.sleep(0.05)
                continue
            if reply.status in (429, 503) and reply.headers.get("Retry-After"):
                time.sleep(0.2)
                continue
            self.statuses[reply.status] += 1
            return text


def served(folder: Path, frame: pl.DataFrame) -> tuple[Folder, list[str]]:
    """A folder with a table, and a capped token for every client."""
    made = Folder.create(folder)
    (folder / "holdfast.toml").write_text("[service]\nrelease_step = 0.0\nworkers = 2\n")
    frame.write_parquet(folder / "t.parquet")
    with holdfast.open(folder / "t.parquet", ledger=made.ledger("t"), tolerance=0.3):
        pass
    store = TokenStore(made.tokens, made.secret)
    try:
        people = [
            store.create(f"client {n}", "analyst", questions=CAP).text for n in range(CLIENTS)
        ]
        return made, people
    finally:
        store.close()


def workers(parent: int) -> list[int]:
    """The processes that answer: those that the first one started."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            facts = place.read_text().rpartition(")")[2].split()
            words = place.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(facts[1]) == parent and b"spawn_main" in words and facts[0] != "Z":
            found.append(int(place.parent.name))
    return found


def under_load(place: Path) -> None:
    frame = pl.DataFrame({"x": np.random.default_rng(1).random(2_000)})
    made, people = served(place / "served", frame)
    port = free_port()
    words = ["holdfast", "serve", str(made.path), "--port", str(port)]
    with running(words, port) as process, ThreadPoolExecutor(CLIENTS) as pool:
        start, done = time.perf_counter(), threading.Event()
        sent = [pool.submit(Client(port, token, n).run) for n, token in enumerate(people)]
        killed = 0

        def kill() -> None:
            nonlocal killed
            while killed < KILLS and not done.wait(1.0):
                for worker in workers(process.pid)[:1]:
                    os.kill(worker, signal.SIGKILL)
                    killed += 1

        killer = threading.Thread(target=kill)
        killer.start()
        statuses = sum((each.result() for each in sent), Counter[int]())
        done.set()
        killer.join()
        took = time.perf_counter() - start
    store = TokenStore(made.tokens, made.secret)
    spent = [store.spent(token) for token in store.all() if token.questions == CAP]
    store.close()
    findings = audit(made.ledger("t"))
    total = sum(statuses.values())
    print(f"{total:,} replies in {took:.0f} s, {killed} workers killed: {dict(statuses)}")
    print(f"spent by each token: {sorted(set(spent))} of {CAP}")
    print(f"audit: {'clean' if all(each.fine for each in findings) else 'NOT CLEAN'}")
    if any(status >= 500 for status in statuses) or set(spent) != {CAP}:
        raise SystemExit("a reply was a 5xx, or a token spent other than it may")
    if not all(each.fine for each in findings):
        raise SystemExit("the audit is not clean")


def long_batch(first: int, count: int) -> Body:
    """Questions of many terms, none of which is in two of them."""
    questions = []
    for n in range(first, first + count):
        terms = (f"abs(x{i % COLUMNS} - 0.{n:03}{i:02})" for i in range(TERMS))
        questions.append(f"avg({' + '.join(terms)} > {TERMS / 3})")
    return Body(questions=questions)


def slowest_read(reader: Client, going: Iterator[bool]) -> float:
    """The seconds that 99 of 100 free reads take at most, while it goes on."""
    times = []
    reader.close()  # the service ends connections that were idle for some seconds
    for path, _ in zip(itertools.cycle(READS), going, strict=False):
        start = time.perf_counter()
        reader.sent("GET", path)
        times.append(time.perf_counter() - start)
        time.sleep(0.01)
    return sorted(times)[int(0.99 * len(times))]


def while_scanning(place: Path) -> None:
    """Free reads while a long scan runs."""
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({f"x{i}": draw.random(SCANNED) for i in range(COLUMNS)})
    made, people = served(place / "scanned", frame)
    port = free_port()
    words = ["holdfast", "serve", str(made.path), "--port", str(port), "--workers", "1"]
    with running(words, port):
        reader, asker = Client(port, people[0], 0), Client(port, people[1], 1)
        for path in READS:  # which opens the ledger
            reader.sent("GET", path)

        def scanned(first: int, count: int) -> float:
            start = time.perf_counter()
            asker.sent("POST", f"{DATA}/batch", long_batch(first, count))
            return time.perf_counter() - start

        scanned(0, TRIED)  # which opens the table
        count = min(MOST, math.ceil(SECONDS / scanned(TRIED, TRIED) * TRIED))
        before = slowest_read(reader, itertools.repeat(False, 100))
        with ThreadPoolExecutor(1) as pool:
            scan = pool.submit(scanned, 2 * TRIED, count)
            meanwhile = slowest_read(reader, iter(scan.done, True))
    print(
        f"a scan of {scan.result():.1f} s for {count} questions: 99 of 100 free reads within "
        f"{1000 * meanwhile:.0f} ms meanwhile, and {1000 * before:.0f} ms before (aim "
        f"{1000 * SLOWEST:.0f})"
    )
    if set(asker.statuses) | set(reader.statuses) != {200}:
        raise SystemExit(f"replies were {dict(asker.statuses)} and {dict(reader.statuses)}")


def cold_starts(place: Path) -> None:
    """First questions that come together, to one service after another."""
    made, token = two_tables(place / "cold")
    faults: list[str] = []
    for _ in range(STARTS):
        port = free_port()
        with running(["holdfast", "serve", str(made.path), "--port", str(port)], port):
            faults += first_questions(port, token, FIRST)
    print(f"{STARTS} cold starts, {FIRST} first clients each: {len(faults)} broken")
    if faults:
        raise SystemExit(faults[0])


def many_agents(place: Path) -> None:
    """Agents who share a capped token, all at once; then the end while others are half sent."""
    made, token = two_tables(place / "agents", questions=10**6)
    port = free_port()
    with running(["holdfast", "serve", str(made.path), "--port", str(port)], port) as process:
        faults = agents_call(port, token, AGENTS, 1, 60.0 * MINUTES)
        print(f"{AGENTS} agents for {MINUTES:g} minutes: {len(faults)} calls hung or broken")
        half = list(half_sent(port, token))
        start = time.perf_counter()
        process.terminate()
        process.wait()
        took = time.perf_counter() - start
        print(f"told to stop with {len(half)} requests half sent, it ended in {took:.1f} s")
        for connection in half:
            connection.close()
    if faults or took > LONGEST_END:
        raise SystemExit(faults[0] if faults else "it took too long to end")


def adversaries(place: Path) -> None:
    """Tokens with a share of the pool, which ask for as much as they can, at once."""
    for parts in (2, 4, 8):
        made, token = two_tables(place / f"share-{parts}", parts, share=1 / parts)
        with holdfast.open(ledger=made.ledger("a")) as before:
            whole = before.budget.questions_left
        port = free_port()
        with (
            running(["holdfast", "serve", str(made.path), "--port", str(port)], port),
            ThreadPoolExecutor(CLIENTS) as pool,
        ):
            statuses = Counter(pool.map(partial(_greedy, port, token), range(10 * CLIENTS)))
        with holdfast.open(ledger=made.ledger("a")) as after:
            taken = whole - after.budget.questions_left
        print(f"a share of 1/{parts} took {taken} of {whole} questions: {dict(statuses)}")
        if taken > whole / parts or 200 not in statuses:
            raise SystemExit("a token took more than its share, or nothing")


def _greedy(port: int, token: str, number: int) -> int:
    """One call for as much as there is."""
    client = Client(port, token, number)
    x = number / 1e5
    verb, body = (
        ("ask", Body(question=f"avg(x > {x})")),
        ("ask", Body(question=f"avg(x > {x})", by=["g"])),
        ("ask", Body(question=f"avg(x > {x})", tolerance=0.1)),
        ("check", Body(question=f"avg(x > {x})", guess=0.1)),
    )[number % 4]
    body["accept_cost"] = 10**6
    client.sent("POST", f"/api/v1/datasets/a/{verb}", body, f"greedy-{number}")
    client.close()
    (status,) = client.statuses
    return status


def uploads(place: Path) -> None:
    """Files that unpack to gigabytes, beside some that are fine and reads that are free."""
    made = Folder.create(place / "uploads")
    frame = pl.DataFrame({"item": range(ITEMS), "x": np.random.default_rng(1).random(ITEMS)})
    frame.write_parquet(made.path / "t.parquet")
    holdfast.open(made.path / "t.parquet", ledger=made.ledger("t"), key="item").close()
    store = TokenStore(made.tokens, made.secret)
    token = store.create("ada", "analyst").text
    store.close()
    fine = ("v.parquet", parquet(frame.select("item", v=pl.col("x") > 0.5)))
    files = [*bombs().values(), fine] * UPLOADS
    port = free_port()
    with (
        running(["holdfast", "serve", str(made.path), "--port", str(port)], port) as process,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        reader, before = Client(port, token, 0), peak_memory(process.pid)
        sent = [pool.submit(_uploaded, port, token, n, *each) for n, each in enumerate(files)]
        slowest = slowest_read(reader, iter(lambda: all(each.done() for each in sent), True))
        grown = peak_memory(process.pid) - before
        statuses = Counter(each.result() for each in sent)
    print(
        f"{len(files)} uploads, {len(bombs())} of {len(bombs()) + 1} of them bombs: "
        f"{dict(statuses)}, memory grew by {grown / 2**20:.0f} MB, 99 of 100 free reads within "
        f"{1000 * slowest:.0f} ms"
    )
    if statuses != {200: UPLOADS, 422: len(files) - UPLOADS} or grown > MOST_MEMORY:
        raise SystemExit("a bomb was taken, a file that is fine was not, or memory grew too much")


def _uploaded(port: int, token: str, number: int, filename: str, content: bytes) -> int:
    """The status of one upload."""
    boundary = "holdfast-load"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="'
    body = (
        f'{head}name"\r\n\r\nv{number}\r\n{head}file"; filename="{filename}"\r\n\r\n'
    ).encode() + content
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    }
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    path, end = f"{DATA}/columns/file", f"\r\n--{boundary}--\r\n".encode()
    try:
        connection.request("POST", path, body + end, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def peak_memory(process: int) -> int:
    """The most memory that a process has had, in bytes."""
    facts = Path(f"/proc/{process}/status").read_text().split("VmHWM:")[1]
    return int(facts.split()[0]) * 1024


def main() -> None:
    parts = {
        "killing": under_load,
        "scanning": while_scanning,
        "starting": cold_starts,
        "agents": many_agents,
        "sharing": adversaries,
        "uploading": uploads,
    }
    chosen = sys.argv[1:] or list(parts)
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            parts[name](Path(folder))


if __name__ == "__main__":
    main()
