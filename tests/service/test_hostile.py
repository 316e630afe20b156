"""Whatever is sent, by whomever: a problem with a status, nothing spent, and nothing told."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.errors import LedgerBusy, LedgerUnavailable
from holdfast.ledger.store import Store
from holdfast.service.data_set import Asking, Served, Service
from tests.seam import WRITE_ENTRIES
from tests.service.serving import (
    TABLE,
    bearer,
    client_of_service,
    entries,
    made_service,
    publish,
    require_clean,
    table,
)


def sent(client: TestClient, content: bytes, headers: dict[str, str], verb: str = "ask") -> Any:
    headers = {**headers, "Content-Type": "application/json"}
    return client.post(f"{TABLE}/{verb}", content=content, headers=headers)


BODIES: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 422),
    "no JSON": (b"{", 400),
    "not UTF-8": (b'{"question": "\xff\xfe"}', 400),
    "deep": (b"[" * 100_000, 400),
    "deep and whole": (b'{"question":' + b"[" * 50_000 + b"]" * 50_000 + b"}", 400),
    "a list": (b"[]", 422),
    "a number": (b'{"question": 5}', 422),
    "NaN": (b'{"question": "avg(late)", "tolerance": NaN}', 422),
    "infinity": (b'{"question": "avg(late)", "half_width": 1e999}', 422),
    "digits": (b'{"question": "avg(late)", "tolerance": ' + b"9" * 5_000 + b"}", 400),
    "unknown": (b'{"question": "avg(late)", "discover": true}', 422),
    "half a character": (b'{"question": "avg(late)", "why": "\\ud800"}', 422),
    "half a name": (b'{"question": "avg(late)", "\\ud800": 1}', 422),
    "long": (json.dumps({"question": "x" * 10_001}).encode(), 422),
    "too long": (b" " * 300_000, 413),
    "deep question": (
        json.dumps({"question": f"avg({'(' * 4_000}late{')' * 4_000})"}).encode(),
        422,
    ),
    "code": (b"{\"question\": \"__import__('os').system('true')\"}", 422),
    "SQL": (b'{"question": "avg(late); DROP TABLE entries"}', 422),
    "a file": (b'{"question": "avg(read_csv(\'/etc/passwd\'))"}', 422),
    "control": (b'{"question": "avg(late)\\u0000"}', 422),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_say_nothing(
    service: Service, client: TestClient, ada: dict[str, str], name: str
) -> None:
    content, status = BODIES[name]
    reply = sent(client, content, ada)
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["next_steps"]
    assert len(entries(service)) == 1


def test_a_long_body_is_not_read_to_its_end(client: TestClient, ada: dict[str, str]) -> None:
    """Where no length is said, what is read is counted."""

    def endless() -> Iterator[bytes]:
        for _ in range(200):
            yield b" " * 65_536

    reply = client.post(f"{TABLE}/ask", content=endless(), headers=ada)
    assert reply.status_code == 413
    assert reply.json()["type"] == "urn:holdfast:problem:too-large"


@pytest.mark.parametrize("path", [f"{TABLE}/columns", f"{TABLE}/board/file", "/data/flights/board"])
def test_strangers_are_not_listened_to_for_long(
    service: Service, client: TestClient, ada: dict[str, str], path: str
) -> None:
    """A column is longer than other requests; bodies are read before tokens are asked for."""
    nobody = {"Authorization": f"Bearer hf_{'0' * 16}_{'A' * 43}"}
    said = {"Content-Type": "application/json"}
    long = b'{"values": [' + b"1," * 200_000 + b"1]}"
    for headers, status in (({}, 413), (bearer(service, "eye", "viewer"), 413), (nobody, 401)):
        reply = client.post(path, content=long, headers={**headers, **said})
        assert reply.status_code == status
    assert client.post(path, content=long, headers={**ada, **said}).status_code != 413


@pytest.mark.parametrize(
    "name", ["..%2fflights", "%2e%2e", "flights%00", "nothing", "flights.ledger", "é", "x" * 300]
)
def test_names_are_names(client: TestClient, ada: dict[str, str], name: str) -> None:
    assert client.get(f"/api/v1/datasets/{name}", headers=ada).status_code == 404


def test_tokens_that_are_not_in_force(
    service: Service, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(service.folder, "other", seed=2)
    foreign = bearer(service, "foreign", dataset="other")
    for name in ("flights", "nothing"):  # whether there is such a data set is not told
        refused = client.get(f"/api/v1/datasets/{name}", headers=foreign)
        assert refused.status_code == 403
        assert "'other' alone" in refused.json()["detail"]
    listed = client.get("/api/v1/datasets", headers=foreign).json()["datasets"]
    assert [each["name"] for each in listed] == ["other"]
    old = bearer(service, "old", expires="2020-01-01T00:00:00+00:00")
    assert client.get(TABLE, headers=old).status_code == 401
    monkeypatch.setattr("holdfast.service.tokens.datetime", _Earlier)
    assert client.get(TABLE, headers=old).status_code == 401  # a clock that goes back
    gone = bearer(service, "gone")
    service.tokens.revoke("gone")
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic x"}, gone):
        refused = client.get(TABLE, headers=headers)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"


class _Earlier:
    """A clock of long ago."""

    @staticmethod
    def now(zone: Any) -> datetime:
        return datetime(2019, 1, 1, tzinfo=zone)


def test_viewers_look_and_do_not_ask(service: Service, client: TestClient) -> None:
    vera = bearer(service, "vera", "viewer")
    for verb in ("ask", "check", "cost", "batch", "columns"):
        assert client.post(f"{TABLE}/{verb}", json={}, headers=vera).status_code == 403
    for page in ("", "/budget", "/ledger", "/ledger.csv", "/columns"):
        assert client.get(f"{TABLE}{page}", headers=vera).status_code == 200
    for page in (f"{TABLE}/audit", "/api/v1/tokens", "/metrics"):
        assert client.get(page, headers=vera).status_code == 403
        assert client.get(page, headers=bearer(service, page)).status_code == 403


def test_guessing_is_limited_and_others_are_not(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    guessed = ada["Authorization"][:-8]
    for place in range(10):
        wrong = {"Authorization": f"{guessed}{place:08}"}
        assert client.get(TABLE, headers=wrong).status_code == 401
    limited = client.get(TABLE, headers={"Authorization": f"{guessed}{10:08}"})
    assert limited.status_code == 429
    assert client.get(TABLE, headers=ada).status_code == 200  # whoever else guesses at it
    assert 0 < int(limited.headers["retry-after"]) <= 61
    assert client.get(TABLE, headers=bearer(service, "bob")).status_code == 200
    for place in range(100):
        client.get(TABLE, headers={"Authorization": f"Bearer hf_{place:016}_x"})
    strange = client.get(TABLE, headers={"Authorization": "Bearer hf_0_x"})
    assert strange.status_code == 429


def test_a_ledger_that_others_hold(tmp_path: Path) -> None:
    service = made_service(tmp_path, patience=0.05)
    with client_of_service(service) as client:
        ada = bearer(service)
        store = Store.open(service.folder.ledger("flights"))
        with store.exclusive(1.0):
            busy = sent(client, b'{"question": "avg(late)"}', ada)
            assert busy.status_code == 503
            assert busy.headers["retry-after"] == "1"
            assert busy.json()["error"] == "LedgerBusy"
            assert client.get(f"{TABLE}/budget", headers=ada).status_code == 200  # free
            cost = sent(client, b'{"question": "avg(late)"}', ada, "cost")
            assert cost.status_code == 200
        store.close()
        assert sent(client, b'{"question": "avg(late)"}', ada).status_code == 200


def test_a_disk_that_is_full_loses_nothing(
    service: Service, client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LedgerUnavailable("the ledger '/tmp/canaryfolder/x' cannot be used (disk is full)")

    with monkeypatch.context() as patch:
        patch.setattr(WRITE_ENTRIES, full)
        reply = sent(client, b'{"question": "avg(late)"}', ada)
    assert reply.status_code == 503
    assert reply.json()["error"] == "LedgerUnavailable"
    assert len(entries(service)) == 1
    assert sent(client, b'{"question": "avg(late)"}', ada).status_code == 200


def test_data_that_changed_is_not_asked(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    path = service.folder.path.parent / "canaryfolder" / "flights.parquet"
    assert sent(client, b'{"question": "avg(late)"}', ada).status_code == 200
    written = len(entries(service))
    for other in (table(7), table(7).head(10)):
        other.write_parquet(path)
        changed = sent(client, b'{"question": "avg(x > 1)"}', ada)
        assert changed.status_code == 503
        assert changed.json()["error"] == "DataChanged"
    path.unlink()
    custodian = bearer(service, "cy", "custodian")
    audited = client.get(f"{TABLE}/audit", headers=custodian).json()  # which names no file
    assert [each["what"] for each in audited["findings"] if not each["fine"]] == ["data"]
    assert sent(client, b'{"question": "avg(x > 1)"}', ada).status_code == 503
    repeated = sent(client, b'{"question": "avg(late)"}', ada)  # which needs no rows
    assert repeated.json()["status"] == "repeated"
    assert client.get(f"{TABLE}/ledger", headers=ada).status_code == 200
    assert len(entries(service)) == written
    table().write_parquet(path)  # put back, it is compared, and served again
    assert sent(client, b'{"question": "avg(x > 1)"}', ada).status_code == 200


def test_a_ledger_that_was_tampered_with(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:

    sent(client, b'{"question": "avg(late)"}', ada)
    with closing(sqlite3.connect(service.folder.ledger("flights"))) as file, file as connection:
        connection.execute("UPDATE entries SET text = replace(text, 'avg', 'sum') WHERE seq = 2")
        connection.execute("DELETE FROM checkpoint")
    service.close()
    again = Service.of(service.folder.path, service.settings)
    with client_of_service(again) as fresh:
        custodian = bearer(again, "cy", "custodian")
        for reply in (
            fresh.get(f"{TABLE}/budget", headers=ada),
            sent(fresh, b'{"question": "avg(x > 1)"}', ada),
        ):
            assert reply.status_code == 503
            assert reply.json()["error"] == "LedgerTampered"
        found = fresh.get(f"{TABLE}/audit", headers=custodian)
        assert found.status_code == 503 or found.json()["fine"] is False


def test_what_nobody_foresaw_is_told_as_nothing(
    service: Service, client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("canaryvalue17 in /tmp/canaryfolder")

    monkeypatch.setattr(Served, "read", broken)
    failed = client.get(f"{TABLE}/budget", headers=ada)
    assert failed.status_code == 500
    assert failed.json()["type"] == "urn:holdfast:problem:failed"


def test_the_canaries_would_be_found() -> None:
    for text in ("x canaryvalue1", "8317265.0", "File app.py", "SELECT * FROM t", "/tmp/x"):
        with pytest.raises(AssertionError):
            require_clean(text)


def test_too_many_wait(tmp_path: Path) -> None:
    service = made_service(tmp_path, most_waiting=1, patience=5)
    custodian = service.tokens.create("cy", "custodian").token
    served = service.served("flights", custodian)

    async def crowd() -> list[Any]:
        calls = (served.answer(Asking(f"avg(x > {n})")) for n in range(50))
        return await asyncio.gather(*calls, return_exceptions=True)

    store, loop = Store.open(service.folder.ledger("flights")), asyncio.new_event_loop()
    with store.exclusive(1.0):  # until this is over nobody is answered
        task = loop.create_task(crowd())
        loop.call_later(0.2, loop.stop)
        loop.run_forever()
    store.close()
    found = loop.run_until_complete(task)
    loop.close()
    refused = [each for each in found if isinstance(each, LedgerBusy)]
    assert 0 < len(refused) < 50
    service.close()


def test_a_question_is_asked_of_the_rows_alone(client: TestClient, ada: dict[str, str]) -> None:
    """Guesses are numbers: a text would be a file to compute them from."""
    for guess in (b'"train.parquet"', b"{}", b"[0.2]", b"true"):
        body = b'{"question": "avg(late)", "guess": ' + guess + b"}"
        assert sent(client, body, ada, "check").status_code == 422
