"""A service on a small table with canaries, and a client that looks for them in every reply."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import uvicorn
from starlette.testclient import TestClient

import holdfast
from holdfast.ledger.store import Store
from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.folder import Folder, Settings
from holdfast.service.tokens import TokenRole

ROWS = 4_000
LATE, TABLE = "avg(late)", "/api/v1/datasets/flights"
# What is nowhere but in the rows, and in the name of the folder they are in.
CANARIES = ("canaryvalue", "8317265", "canaryfolder")
NEVER = re.compile(r"Traceback|\.py\b|SELECT |(?i:sqlite|polars\.|/tmp/|/home/)")


def table(seed: int = 1) -> pl.DataFrame:
    """Flights; one column of text and one of numbers that nobody declared anything of."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "item": range(ROWS),
            "x": rng.normal(20.0, 40.0, ROWS),
            "late": rng.random(ROWS) < 0.25,
            "origin": rng.choice(["EWR", "JFK", "LGA"], ROWS),
            "note": [f"canaryvalue{n}" for n in range(ROWS)],
            "amount": [8317265.0 + n / 7 for n in range(ROWS)],
            "near": [(n % 7 - 3) / 5 for n in range(ROWS)],
            "far": [1e9 + n % 7 for n in range(ROWS)],
        }
    )


DECLARED: dict[str, Any] = {
    "questions": 50,
    "tolerance": 0.1,
    "key": "item",
    "schema": {
        "near": holdfast.tails.sub_gaussian(1.0),
        "far": holdfast.tails.sub_gaussian(1.0),
        "x": (-60.0, 180.0),
        "origin": {"values": ["EWR", "JFK", "LGA"]},
    },
}


def publish(folder: Folder, name: str = "flights", seed: int = 1, **declared: Any) -> Path:
    """Protect the table in a service's folder; where its rows are."""
    place = folder.path.parent / "canaryfolder"
    place.mkdir(exist_ok=True)
    path = place / f"{name}.parquet"
    table(seed).write_parquet(path)
    with holdfast.open(path, ledger=folder.ledger(name), **{**DECLARED, **declared}):
        pass
    return path


def made_service(tmp_path: Path, **settings: Any) -> Service:
    """A service with the table, whose answers are released at once."""
    folder = Folder.create(tmp_path / "served")
    publish(folder)
    return Service.of(folder.path, Settings(**{"release_step": 0.0, **settings}))


def require_clean(text: str) -> None:
    """Nothing of the rows, of files or of programs is in a text."""
    for canary in CANARIES:
        assert canary not in text, canary
    found = NEVER.search(text)
    assert found is None, found


@contextmanager
def client_of_service(service: Service) -> Iterator[TestClient]:
    """A client of an app in this process that finds canaries in whatever is replied to anybody."""
    with TestClient(app_of(service)) as client:
        client.event_hooks = {"response": [_look_at]}
        yield client


def _look_at(reply: Any) -> None:
    require_clean(f"{reply.headers} {reply.read().decode()}")


@contextmanager
def listening(service: Service) -> Iterator[str]:
    """The address of a service that listens at a port of its own, in a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as free:  # who connects now waits until it listens
        config = uvicorn.Config(app_of(service), access_log=False, log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([free],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{free.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def bearer(
    service: Service, name: str = "ada", role: TokenRole = "analyst", **said: Any
) -> dict[str, str]:
    """The header of somebody new."""
    return {"Authorization": f"Bearer {service.tokens.create(name, role, **said).text}"}


def entries(service: Service, name: str = "flights") -> list[str]:
    """What the ledger of a data set says."""
    store = Store.open(service.folder.ledger(name))
    try:
        return [text for _, text, _ in store.news()]
    finally:
        store.close()
