"""`make load-postgres`: two services on one PostgreSQL ledger, killed in a loop for ten minutes.

Each service is a `holdfast serve` with a folder, tokens and a port of its own; what they have in
common is rows of a database. Clients of both ask questions of their own and each other's, and send
again what was lost, while one service after the other is killed (-9) and started again. Afterwards
the audit is clean, every question stands in the ledger once and is what its client was told, each
call that was made twice was told the same bytes, and every token spent exactly what it may.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

import holdfast
from benchmarks.load import Body, Client
from benchmarks.serving import free_port
from holdfast.ledger.audit import audit
from holdfast.ledger.store import home_of
from holdfast.service.folder import Folder
from holdfast.service.tokens import Token, TokenStore
from tests.postgres import server

__all__ = ["Campaign", "Process", "Report", "Start", "serve"]

MINUTES, CLIENTS, CAP, PAUSE = 10.0, 3, 25, 3.0
ROWS = 100_000  # whose budget ten minutes do not use up
DATA = "/api/v1/datasets/t"
SAID: dict[str, Any] = {"questions": 10**6, "tolerance": 0.4, "described": "off"}
_OWN, _AGAIN = 4, 10  # every fourth call is what another client asked, every tenth is made twice


@dataclass(frozen=True, slots=True)
class Report:
    """What came of it: faults are sentences, and there should be none."""

    seconds: float
    questions: int
    repeats: int
    kills: int
    tokens: int
    faults: list[str]

    def __str__(self) -> str:
        how = "clean" if not self.faults else "; ".join(self.faults[:20])
        return (
            f"{self.questions:,} questions answered and {self.repeats:,} told again in "
            f"{self.seconds:.0f} s, {self.kills} services killed, {self.tokens} tokens spent: {how}"
        )


class Process(Protocol):
    """A process that serves."""

    @property
    def pid(self) -> int: ...

    def wait(self) -> object: ...


Start: TypeAlias = Callable[[Path, int], Process]


def serve(folder: Path, port: int) -> Process:
    """`holdfast serve`, as anybody starts it."""
    words = ["-m", "holdfast", "serve", str(folder), "--port", str(port)]
    return subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)


@dataclass
class Service:
    """A service in a process of its own, that is started again when it was killed."""

    folder: Folder
    port: int
    how: Start
    process: Process | None = None
    told: int = 0  # answers since it was started

    def start(self) -> None:
        self.told, self.process = 0, self.how(self.folder.path, self.port)

    def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            os.kill(self.process.pid, how)
            self.process.wait()

    def token(self, name: str) -> tuple[Token, str]:
        """A token for as many questions as one may ask."""
        store = TokenStore(self.folder.tokens, self.folder.secret)
        try:
            made = store.create(name, "analyst", questions=CAP)
            return made.token, made.text
        finally:
            store.close()

    def spent(self, token: Token) -> int:
        store = TokenStore(self.folder.tokens, self.folder.secret)
        try:
            return store.spent(token)
        finally:
            store.close()


class Campaign:
    """Two services on one ledger; `run` asks and kills until both are enough."""

    def __init__(
        self, place: Path, clients: int = CLIENTS, pause: float = PAUSE, start: Start = serve
    ) -> None:
        self._clients, self._pause, self._start = clients, pause, start
        self._rng = random.Random(1)
        self._enough = threading.Event()
        self._asked: list[str] = []  # by anybody
        self._told: dict[str, dict[str, Any]] = {}  # by question
        self._by: Counter[str] = Counter()  # questions that a token was told anew
        self._tokens: list[tuple[Service, Token]] = []
        self._repeats = 0
        self.faults: list[str] = []
        self._path = place / "t.parquet"
        pl.DataFrame({"x": np.random.default_rng(1).random(ROWS)}).write_parquet(self._path)
        self.address = server().ledger()
        with holdfast.open(self._path, ledger=self.address, **SAID):
            pass
        self._services = [self._service(place / name) for name in ("one", "two")]

    def _service(self, folder: Path) -> Service:
        made = Folder.create(folder)
        settings = f'[service]\nrelease_step = 0.0\n[ledgers]\nt = "{self.address}"\n'
        (folder / "holdfast.toml").write_text(settings, encoding="utf-8")
        return Service(made, free_port(), self._start)

    def run(self, seconds: float, kills: int) -> Report:
        start, killed = time.perf_counter(), 0
        with ExitStack() as ending, ThreadPoolExecutor(2 * self._clients) as pool:
            for service in self._services:
                service.start()
                ending.callback(service.end, signal.SIGTERM)
            sent = [
                pool.submit(self._client, service, f"{place}-{number}")
                for place, service in enumerate(self._services)
                for number in range(self._clients)
            ]
            try:
                while not self._enough.is_set() and (
                    killed < kills or time.perf_counter() - start < seconds
                ):
                    self._kill(self._services[killed % 2])
                    killed += 1
            finally:
                self._enough.set()
            for each in sent:
                each.result()
        took = time.perf_counter() - start
        self._examine()
        return Report(took, len(self._told), self._repeats, killed, len(self._tokens), self.faults)

    def _kill(self, service: Service) -> None:
        """When it has answered something, and then at any moment."""
        while service.told < 3 and not self._enough.is_set():
            time.sleep(0.01)
        time.sleep(self._rng.uniform(0.0, self._pause))
        service.end(signal.SIGKILL)
        service.start()

    def _client(self, service: Service, who: str) -> None:
        """Spend one token after the other, until it is enough."""
        rng, number = random.Random(who), 0
        while not self._enough.is_set():
            token, text = service.token(f"client {who} token {number}")
            self._tokens.append((service, token))
            with closing(Client(service.port, text, 0)) as client:
                self._spend(service, client, token, rng)
            number += 1

    def _spend(self, service: Service, client: Client, token: Token, rng: random.Random) -> None:
        call = 0
        while True:
            call += 1
            key = f"call-{call}"
            own = call % _OWN > 0 or not self._asked
            question = f"avg(x > {rng.random():.12f})" if own else rng.choice(self._asked)
            body = Body(question=question)
            reply = client.sent("POST", f"{DATA}/ask", body, key)
            told = json.loads(reply)
            if "receipt" not in told:
                if told.get("error") != "BudgetExhausted":
                    self.faults.append(f"{token.name} {key} was told {reply[:300]!r}")
                    self._enough.set()
                return
            service.told += 1
            if call % _AGAIN == 0 and client.sent("POST", f"{DATA}/ask", body, key) != reply:
                self.faults.append(f"{token.name} {key} was told two things")
            if own:
                self._asked.append(question)
                self._told[told["question"]] = told
                self._by[token.name] += 1
            else:
                self._repeats += 1

    def _examine(self) -> None:
        """What the ledger and the tokens say, against what clients were told."""
        faults = self.faults
        with holdfast.open(self._path, ledger=self.address) as holdout:
            lines = list(holdout.ledger)
        for question, times in Counter(line.question for line in lines).items():
            if times > 1:
                faults.append(f"{question} stands in the ledger {times} times")
        receipts = {line.question: line.receipt for line in lines}
        for question, told in self._told.items():
            if receipts.get(question) != told["receipt"]:
                faults.append(f"{question} was told otherwise than the ledger says")
        recorded = Counter(line.request.by for line in lines)
        for service, token in self._tokens:
            facts = (service.spent(token), recorded[token.name], self._by[token.name])
            if set(facts) != {CAP}:
                faults.append(
                    f"{token.name} spent {facts[0]}, has {facts[1]} lines and was told {facts[2]} "
                    f"answers of {CAP}"
                )
        found = audit(home_of(self.address), lambda: holdfast.data.open_sample(self._path))
        faults += [f"audit: {each.what}: {each.detail}" for each in found if not each.fine]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder  # where both services find the secret
        report = Campaign(Path(folder)).run(60.0 * MINUTES, 0)
    print(f"{report} (load {os.getloadavg()[0]:.1f})")
    if report.faults:
        raise SystemExit("the campaign found faults")


if __name__ == "__main__":
    main()
