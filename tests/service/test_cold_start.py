"""A service that has just begun: first questions that come together, and what it needs for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from benchmarks.first_clients import first_questions, two_tables
from benchmarks.serving import free_port, running
from starlette.testclient import TestClient

from holdfast.question.safe_text import read_sql
from holdfast.service.data_set import Service
from holdfast.service.folder import Settings
from tests.seam import SQL_DIALECT, real
from tests.service.serving import bearer, publish

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent.parent
# What the reader of questions imports first: the package, whose lock all other threads wait for.
# Who begins with a module of it holds that one's lock, and waits for the package's.
BEGINS = """
import builtins, json, sys
from holdfast.question import safe_text
asked, plain = [], builtins.__import__
def noted(name, space=None, *rest):
    if (space or {}).get("__name__") == safe_text.__name__:
        asked.append(name)
    return plain(name, space, *rest)
builtins.__import__ = noted
getattr(safe_text, sys.argv[1])("avg(x > 1)", *([["x"]] if sys.argv[1] == "read_sql" else []))
print(json.dumps(asked))
"""
# What is loaded by requests: nothing, but what draws pictures, in the one thread that draws.
LOADED = """
import json, sys
from starlette.testclient import TestClient
from holdfast.agents.mounting import worker_with_agents
token, = sys.argv[1:]
with TestClient(worker_with_agents(), headers={"Authorization": f"Bearer {token}"}) as client:
    before = set(sys.modules)
    data, agents = "/api/v1/datasets/flights", {"Accept": "application/json, text/event-stream"}
    sent = [
        ("cost", {"question": "avg(late)"}), ("ask", {"question": "avg(late)"}),
        ("ask", {"question": "median(x)"}), ("ask", {"question": "std(x)"}),
        ("ask", {"question": "avg(x)", "by": ["origin"], "accept_cost": 3}),
        ("ask", {"question": "avg(late)", "tolerance": 0.2}),
        ("check", {"question": "avg(x > 3)", "guess": 0.5}),
        ("gate", {"question": "avg(late)", "at_most": 0.5}),
        ("batch", {"questions": ["avg(x > 5)", "avg(x > 6)"]}),
    ]
    for verb, body in sent:
        reply = client.post(f"{data}/{verb}", json=body)
        assert reply.status_code == 200, (verb, body, reply.text)
    for path in ("", "/budget", "/ledger", "/ledger.csv", "/audit", "/certificate", "/columns"):
        assert client.get(data + path).status_code == 200, path
    for tool in ("describe", "budget", "history", "ask"):
        call = {"name": tool, "arguments": {"question": "avg(near)"} if tool == "ask" else {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        assert client.post("/mcp/", json=message, headers=agents).status_code == 200
    found = sorted(set(sys.modules) - before)
    print(json.dumps([name for name in found if not name.startswith("encodings.")]))
"""


def run(script: str, *words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("reader", ["read_sql", "read_words"])
def test_threads_that_read_together_begin_with_the_same_module(reader: str) -> None:
    assert json.loads(run(BEGINS, reader))[0] == "sqlglot"


def test_no_request_loads_anything(service: Service) -> None:
    """What the first requests load together, they break for one another."""
    token = bearer(service, "cy", "custodian")["Authorization"].removeprefix("Bearer ")
    settings = asdict(Settings(release_step=0.0))
    told = json.dumps({"folder": str(service.folder.path), "settings": settings})
    assert json.loads(run(LOADED, token, HOLDFAST_WORKER=told)) == []


def test_first_questions_that_come_together_are_all_answered(tmp_path: Path) -> None:
    made, token = two_tables(tmp_path / "served")
    port = free_port()
    with running(["holdfast", "serve", str(made.path), "--port", str(port)], port):
        assert first_questions(port, token, 64) == []


class Deadlock(RuntimeError):
    """As Python's own, which ends an import that waits for itself."""


TROUBLE: list[type[Exception]] = [ImportError, MemoryError, RecursionError, Deadlock]


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("where", ["tokenize", "parser"])
def test_trouble_of_the_machine_is_nobodys_question(
    where: str, trouble: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(dialect, name) if name != where else self.fail

        def fail(self, *_: object, **__: object) -> Any:
            raise trouble()

        def parse_into(self, *_: object) -> Any:
            raise trouble()

    dialect = real(SQL_DIALECT)()
    monkeypatch.setattr(SQL_DIALECT, Broken)
    if where == "parser":
        monkeypatch.setattr(Broken, "fail", lambda self, **_: self)
    with pytest.raises(trouble):
        read_sql(f"avg(x > {where} + {trouble.__name__})", ["x"])  # a text that nobody has read


def test_a_worker_that_cannot_read_questions_is_not_ready(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(service.folder, "other", seed=2)
    assert client.get("/ready").json() == {"status": "ready"}

    def broken() -> None:
        raise ImportError("half a package")

    monkeypatch.setattr(SQL_DIALECT, broken)
    assert client.get("/ready").status_code == 503
    assert client.get("/health").status_code == 200
