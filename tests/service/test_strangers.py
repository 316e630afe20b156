"""Strangers and hostile files: who fails locks out nobody, and what unpacks to much is not read."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import polars as pl
import pytest
from benchmarks.bombs import bombs, parquet
from starlette.testclient import TestClient

from holdfast.agents.mounting import mount_agents
from holdfast.errors import InvalidArgument
from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.folder import Folder, Settings
from holdfast.service.rest import SubmissionBody
from holdfast.service.uploads import Upload
from holdfast.service.wire import ColumnBody
from tests.seam import real
from tests.service.serving import ROWS, TABLE, bearer, made_service

WRONG = {"Authorization": f"Bearer hf_{'0' * 16}_{'x' * 43}"}


def test_who_fails_slows_down_failures_only(
    client: TestClient, service: Service, ada: dict[str, str]
) -> None:
    """From the same place, and with the ID of a token that is in use."""
    guessed = {"Authorization": ada["Authorization"][:-5] + "xxxxx"}
    statuses = [client.get("/api/v1/me", headers=WRONG).status_code for _ in range(120)]
    assert (statuses[0], statuses[-1]) == (401, 429)
    assert {client.get("/api/v1/me", headers=guessed).status_code for _ in range(20)} == {429}
    assert client.get("/api/v1/me", headers=ada).status_code == 200
    text = service.tokens.create("cy", "custodian").text
    login = client.post("/login", data={"token": text}, follow_redirects=False)
    assert login.status_code == 303


@pytest.mark.parametrize(
    ("trusted", "said", "secure"),
    [([], "https", False), (["127.0.0.0/8"], "https", True), (["127.0.0.1"], "http", False)],
)
def test_cookies_are_secure_behind_tls(
    tmp_path: Any, trusted: list[str], said: str, secure: bool
) -> None:
    service = made_service(tmp_path, trusted_proxies=trusted)
    text = service.tokens.create("cy", "custodian").text
    with TestClient(app_of(service), client=("127.0.0.1", 5000)) as client:
        headers = {"X-Forwarded-Proto": said, "X-Forwarded-For": "9.9.9.9, 1.2.3.4"}
        reply = client.post("/login", data={"token": text}, headers=headers, follow_redirects=False)
    assert ("Secure" in reply.headers["set-cookie"]) is secure


@pytest.mark.parametrize("trusted", [[], ["127.0.0.1"]])
def test_who_comes_through_a_trusted_proxy_is_counted_apart(
    tmp_path: Any, trusted: list[str]
) -> None:
    service = made_service(tmp_path, trusted_proxies=trusted)
    with TestClient(app_of(service), client=("127.0.0.1", 5000)) as client:

        def sent(place: str) -> int:
            # What a stranger says of itself comes before what the proxy says of it.
            headers = {**WRONG, "X-Forwarded-For": f"127.0.0.1, 9.9.9.9, {place}"}
            return client.get("/api/v1/me", headers=headers).status_code

        for _ in range(120):
            sent("1.2.3.4")
        assert sent("1.2.3.4") == 429
        assert sent("5.6.7.8") == (401 if trusted else 429)


def test_settings_name_proxies_by_address(tmp_path: Any) -> None:
    for wrong in (["here"], "127.0.0.1", [1]):
        with pytest.raises(InvalidArgument, match="trusted_proxies"):
            Settings(trusted_proxies=wrong)  # type: ignore[arg-type]
    folder = Folder.create(tmp_path / "served")
    (folder.path / "holdfast.toml").write_text('[service]\ntrusted_proxies = ["10.0.0.0/8"]\n')
    assert folder.settings().trusted_proxies == ("10.0.0.0/8",)


def test_nobody_is_sent_to_the_host_that_a_request_names(service: Service) -> None:
    app = app_of(service)
    mount_agents(app, service)
    with TestClient(app) as client:
        for path in ("/mcp", "/mcp?dataset=x", "/login/", "/api/v1/me/", "/data/flights/"):
            reply = client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
            assert "evil" not in reply.headers.get("location", ""), path
        assert reply.status_code == 404
        moved = client.post("/mcp?dataset=x", follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (307, "/mcp/?dataset=x")


@pytest.mark.parametrize("name", bombs())
def test_a_file_that_unpacks_to_much_is_not_read(
    name: str,
    client: TestClient,
    ada: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filename, content = bombs()[name]

    def never(*_: object, **__: object) -> Any:
        raise AssertionError("it was read")

    for reader in ("read_parquet", "read_csv"):
        monkeypatch.setattr(pl, reader, never)
    monkeypatch.setattr("holdfast.data.attached.from_python", never)
    files = {"file": (filename, content)}
    reply = client.post(f"{TABLE}/columns/file", data={"name": "v"}, files=files, headers=ada)
    assert reply.status_code == 422, reply.text


def test_files_that_fit_are_read(client: TestClient, ada: dict[str, str]) -> None:
    frame = pl.DataFrame({"item": range(ROWS), "v": [n % 3 for n in range(ROWS)]})
    csv = io.BytesIO()
    frame.write_csv(csv)
    lines = "\n".join(json.dumps(row) for row in frame.to_dicts()).encode()
    sent = {"v.parquet": parquet(frame), "v.csv": csv.getvalue(), "v.jsonl": lines}
    for place, (filename, content) in enumerate(sent.items()):
        reply = client.post(
            f"{TABLE}/columns/file",
            data={"name": f"v{place}"},
            files={"file": (filename, content)},
            headers=ada,
        )
        assert reply.status_code == 200, reply.text


def test_heads_that_lie_are_not_believed() -> None:
    """Whatever is changed in a file, judging it ends, in words."""
    content = parquet(pl.DataFrame({"item": range(50), "v": [1.5] * 50}))
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 255
        with suppress(InvalidArgument):
            Upload("v.parquet", bytes(changed), 10**6).judge(50)


def test_who_may_ask_nothing_more_brings_nothing(service: Service, client: TestClient) -> None:
    once = bearer(service, "once", questions=1)
    said = {"question": "avg(late)"}
    assert client.post(f"{TABLE}/ask", json=said, headers=once).status_code == 200
    column = {"name": "v", "values": [1.0] * ROWS}
    refused = client.post(f"{TABLE}/columns", json=column, headers=once)
    assert refused.status_code == 409


def test_what_is_long_is_read_and_written_beside_the_event_loop(
    client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, str] = {}

    def noting(what: str, do: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*words: Any, **said: Any) -> Any:
            threads[what] = threading.current_thread().name
            return do(*words, **said)

        return noted

    for model in (ColumnBody, SubmissionBody):
        read = noting(model.__name__, model.model_validate_json)
        monkeypatch.setattr(model, "model_validate_json", read)
    for what, name in (("batch", "question_of"), ("table", "told")):
        place = f"holdfast.service.rest.{name}"
        monkeypatch.setattr(place, noting(what, real(place)))
    client.post(f"{TABLE}/columns", json={"name": "v", "values": [1.0] * ROWS}, headers=ada)
    client.post(f"{TABLE}/board", json={"values": [1]}, headers=ada)
    client.post(f"{TABLE}/batch", json={"questions": ["avg(x > 1)"]}, headers=ada)
    table = {"question": "avg(late)", "by": ["origin"], "accept_cost": 3}
    assert client.post(f"{TABLE}/ask", json=table, headers=ada).status_code == 200
    assert set(threads) == {"ColumnBody", "SubmissionBody", "batch", "table"}
    assert {name.partition("_")[0] for name in threads.values()} == {"bodies"}


def test_of_a_long_list_one_fault_is_told(client: TestClient, ada: dict[str, str]) -> None:
    """To name each of a million wrong values would take minutes."""
    column = {"name": "v", "values": [[n] for n in range(200_000)]}
    began = time.perf_counter()
    reply = client.post(f"{TABLE}/columns", json=column, headers=ada)
    assert reply.status_code == 422
    assert len(reply.content) < 2_000
    assert time.perf_counter() - began < 20
    assert client.post(f"{TABLE}/columns", content=b"{", headers=ada).status_code == 400
    long = b'{"name": "v", "values": [' + b"1," * 5_000_000 + b"1]}"
    assert client.post(f"{TABLE}/columns", content=long, headers=ada).status_code == 413
