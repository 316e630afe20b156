"""What those who run a service see and do: logs, metrics of all workers, tokens, the unit."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.errors import InvalidArgument
from holdfast.service.data_set import Service
from holdfast.service.folder import Settings
from holdfast.service.logs import JsonLines, TextLines, log_failure, start_logging
from holdfast.service.metrics import Metrics
from holdfast.service.tokens import TokenStore, expiry_of
from tests.cli.run import holdfast
from tests.service.serving import CANARIES, LATE, TABLE, bearer

ROOT = Path(__file__).resolve().parent.parent.parent


def logged(caplog: pytest.LogCaptureFixture, name: str) -> list[dict[str, Any]]:
    """What a log in JSON has of a logger."""
    records = [each for each in caplog.records if each.name == name]
    return [json.loads(JsonLines().format(each)) for each in records]


def test_a_line_for_every_request(
    client: TestClient, ada: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    client.post(f"{TABLE}/ask?details=true", json={"question": LATE}, headers=ada)
    client.get("/nowhere%0A2026 forged")
    asked, lost = logged(caplog, "holdfast.access")
    known = {name: asked[name] for name in ("client", "token", "method", "path", "status")}
    told = {"client": "testclient", "token": "ada", "method": "POST", "status": 200}
    assert known == {**told, "path": f"{TABLE}/ask"}
    assert asked["seconds"] >= 0.0
    assert asked["level"] == "info"
    assert lost["token"] is None
    lines = [TextLines().format(each) for each in caplog.records]
    assert not [line for line in lines if "\n" in line or LATE in line]


def test_polls_are_logged_for_who_debugs(
    client: TestClient, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """Pages ask for news every five seconds, and whoever watches the service asks as often."""
    polled = ("/data/flights/news?seen=0", "/health", "/ready")
    client.post("/login", data={"token": service.tokens.create("eve", "analyst").text})
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="holdfast"):
        assert all(client.get(path).status_code < 300 for path in polled)
        assert not logged(caplog, "holdfast.access")
        assert client.get("/metrics").status_code >= 400  # which is news
        assert [each["path"] for each in logged(caplog, "holdfast.access")] == ["/metrics"]
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="holdfast"):
        client.get("/health")
    (line,) = logged(caplog, "holdfast.access")
    assert (line["level"], line["path"]) == ("debug", "/health")


def test_half_a_request_is_no_failure(
    client: TestClient, ada: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever hangs up in the middle, or is cut off by the end of the service, has one line."""
    replies: list[Any] = []
    half: dict[str, Any] = {"type": "http.request", "body": b"{", "more_body": True}
    cut_off = asyncio.CancelledError()

    async def send_half(what_follows: dict[str, Any] | BaseException) -> None:
        messages = iter((half, what_follows))

        async def receive() -> Any:
            message = next(messages)
            if isinstance(message, BaseException):
                raise message
            return message

        async def send(message: Any) -> None:
            replies.append(message)

        headers = {"content-type": "application/json", **ada}
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"{TABLE}/check",
            "query_string": b"",
            "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
            "client": ("127.0.0.1", 1),
            "state": {},
        }
        await client.app(scope, receive, send)

    with caplog.at_level(logging.INFO, logger="holdfast"):
        asyncio.run(send_half({"type": "http.disconnect"}))
        assert not replies
        asyncio.run(send_half(cut_off))
    assert replies[0]["status"] == 503
    assert json.loads(replies[1]["body"])["type"].endswith(":stopping")
    lines = logged(caplog, "holdfast.service")
    assert [each["level"] for each in lines] == ["info", "warning"]
    assert not [each for each in lines if "traceback" in each]
    assert [each["status"] for each in logged(caplog, "holdfast.access")] == [499, 503]


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_a_failure_is_logged_with_its_frames(
    client: TestClient,
    ada: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    level: int,
) -> None:
    """What the error says may be of the rows: it is for the level debug."""

    def broken(_: object) -> None:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise RuntimeError(CANARIES[0]) from error

    monkeypatch.setattr("holdfast.service.rest.JsonReply", broken)
    with caplog.at_level(level, logger="holdfast.service"):
        reply = client.get("/api/v1/me", headers=ada)
    assert reply.status_code == 500
    (failure,) = logged(caplog, "holdfast.service")
    assert failure["message"] == "/api/v1/me: RuntimeError"
    assert any("in broken: raise RuntimeError" in frame for frame in failure["traceback"])
    assert "of KeyError:" in failure["traceback"]
    (record,) = [each for each in caplog.records if each.name == "holdfast.service"]
    for text in (json.dumps(failure), TextLines().format(record)):
        assert (CANARIES[0] in text) == (level == logging.DEBUG)


def test_logs_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    """As `serve` does it, in a process where nothing else listens to the loggers."""
    before = {name: logging.getLogger(name) for name in ("", "holdfast", "uvicorn")}
    kept = {name: (each.handlers, each.propagate, each.level) for name, each in before.items()}
    try:
        start_logging("warning", "json")
        logging.getLogger("holdfast.access").info("not at this level")
        logging.getLogger("uvicorn.error").warning("of the server")
        log_failure(logging.getLogger("holdfast.service"), "here", ValueError("hidden"))
        logging.basicConfig(format="as a library likes it")
        logging.getLogger("python_multipart").warning("of a library")
    finally:
        for name, each in before.items():
            each.handlers, each.propagate = kept[name][:2]
            each.setLevel(kept[name][2])
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line["message"] for line in lines] == [
        "of the server",
        "here: ValueError",
        "of a library",
    ]
    with pytest.raises(InvalidArgument, match="log_level"):
        Settings(log_level="loud")  # type: ignore[arg-type]


def _count(folder: Path, requests: int, die: bool) -> None:
    metrics = Metrics(folder)
    for _ in range(requests):
        metrics.request("GET", "/health", 200)
    metrics.waiting("flights", 5)
    metrics.refusal("flights", InvalidArgument(""))
    if die:
        os.kill(os.getpid(), signal.SIGKILL)


def test_metrics_are_of_all_workers_also_of_those_that_died(tmp_path: Path) -> None:
    mine = Metrics(tmp_path)
    for requests, die in ((3, True), (4, False)):
        worker = multiprocessing.get_context("fork").Process(
            target=_count, args=(tmp_path, requests, die)
        )
        worker.start()
        worker.join()
        assert (worker.exitcode != 0) == die
    mine.request("GET", "/health", 200)
    mine.waiting("flights", 2)
    mine.waiting("others", 2)
    text = mine.text({"flights": None})
    assert 'holdfast_requests_total{method="GET",route="/health",status="200"} 8\n' in text
    assert 'holdfast_refusals_total{dataset="flights",error="InvalidArgument"} 2\n' in text
    assert 'holdfast_waiting{dataset="flights"} 2\n' in text  # those of the dead wait no more
    assert "holdfast_workers 1\n" in text
    assert 'holdfast_up{dataset="flights"} 0\n' in text
    assert "others" not in text  # the custodian of one data set learns nothing of another


def _count_on(folder: Path) -> None:
    metrics = Metrics(folder)
    while True:
        metrics.request("GET", "/health", 200)


def test_a_count_never_falls_while_another_worker_reads_it(tmp_path: Path) -> None:
    worker = multiprocessing.get_context("fork").Process(target=_count_on, args=(tmp_path,))
    worker.start()
    try:
        file = tmp_path / f"{worker.pid}.counts"
        while not file.exists() or file.stat().st_size < 8:
            time.sleep(0.001)
        with file.open("rb") as counts:
            read = [struct.unpack("<d", os.pread(counts.fileno(), 8, 0))[0] for _ in range(100_000)]
    finally:
        worker.kill()
        worker.join()
    assert read[-1] > 0
    assert read == sorted(read)


def test_metrics_say_what_is_left_and_what_was_refused(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    cy = bearer(service, "cy", "custodian")
    client.post(f"{TABLE}/ask", json={"question": LATE}, headers=ada)
    capped = bearer(service, "bob", questions=1)
    for x in (1, 2):
        client.post(f"{TABLE}/ask", json={"question": f"avg(x > {x})"}, headers=capped)
    reply = client.get("/metrics", headers=cy)
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    told = dict(line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#"))
    left = client.get(f"{TABLE}/budget", headers=cy).json()["questions_left"]
    assert told['holdfast_questions_left{dataset="flights"}'] == str(left)
    assert told['holdfast_refusals_total{dataset="flights",error="BudgetExhausted"}'] == "1"
    assert told['holdfast_answered{dataset="flights",kind="described"}'] == "2"
    assert told['holdfast_waiting{dataset="flights"}'] == "0"
    shape = re.compile(r"[a-z_]+(\{([a-z]+=\"[^\"]*\",?)+\})? [0-9.e+-]+")
    assert all(shape.fullmatch(f"{name} {value}") for name, value in told.items())


def test_whatever_is_read_by_get_has_a_head(client: TestClient, ada: dict[str, str]) -> None:
    for path in ("/health", "/ready", "/docs", "/login", "/openapi.json", TABLE, "/static/x"):
        whole, head = (client.request(each, path, headers=ada) for each in ("GET", "HEAD"))
        assert head.status_code == whole.status_code, path
        assert head.content == b""
        assert head.headers.get("content-length") == whole.headers.get("content-length")
    assert client.head(f"{TABLE}/ask", headers=ada).status_code == 405


def test_a_token_gets_another_secret(service: Service, client: TestClient) -> None:
    tokens = service.tokens
    first = tokens.create("ada", "analyst", questions=1)
    body = {"question": LATE}
    old = {"Authorization": f"Bearer {first.text}"}
    assert client.post(f"{TABLE}/ask", json=body, headers=old).status_code == 200
    cy = bearer(service, "cy", "custodian")
    rotated = client.post("/api/v1/tokens/ada/rotate", headers=cy).json()
    assert rotated["id"] == first.token.id
    new = {"Authorization": f"Bearer {rotated['token']}"}
    assert client.get("/api/v1/me", headers=old).status_code == 401
    assert client.get("/api/v1/me", headers=new).json()["spent"] == 1  # its cap goes on
    both = client.post("/api/v1/tokens/ada/rotate?overlap=1h", headers=cy).json()["token"]
    assert client.get("/api/v1/me", headers=new).status_code == 200
    assert client.get("/api/v1/me", headers=old).status_code == 401
    assert tokens.verify(both) == first.token
    tokens.rotate("ada", "2020-01-01T00:00:00+00:00")  # a time that is over
    assert tokens.verify(both) is None
    tokens.revoke("ada")
    with pytest.raises(InvalidArgument, match="revoked or expired"):
        tokens.rotate("ada")
    assert client.post("/api/v1/tokens/nobody/rotate", headers=cy).status_code == 422
    mine = bearer(service, "dee", "custodian", dataset="flights")
    assert client.post("/api/v1/tokens/cy/rotate", headers=mine).status_code == 403
    assert client.post("/api/v1/tokens/ada/rotate", headers=new).status_code == 401


def test_a_revoked_token_is_not_revived_by_its_old_secret(service: Service) -> None:
    first = service.tokens.create("ada", "analyst")
    second = service.tokens.rotate("ada", expiry_of("1h"))
    assert service.tokens.verify(first.text) is not None
    service.tokens.revoke("ada")
    assert service.tokens.verify(first.text) is service.tokens.verify(second.text) is None


def test_the_command_rotates(service: Service, tmp_path: Path) -> None:
    first = service.tokens.create("ada", "analyst", questions=5).text
    done = holdfast("token", "rotate", "ada", "--folder", "served", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = done.stdout.splitlines()[0]
    assert "5 questions" in done.stdout
    assert service.tokens.verify(first) is None
    verified = service.tokens.verify(text)
    assert verified is not None
    assert verified.name == "ada"


def test_who_signs_out_ends_the_session_and_every_copy_of_its_cookie(
    service: Service, client: TestClient
) -> None:
    text = service.tokens.create("ada", "analyst").text
    client.post("/login", data={"token": text})
    cookie = dict(client.cookies)
    page = client.get("/").text
    mark = re.findall(r'name="mark" value="(\w+)"', page)[0]
    client.post("/logout", data={"mark": mark})
    client.cookies.update(cookie)
    assert client.get("/", follow_redirects=False).headers["location"] == "/login"
    client.post("/login", data={"token": text})
    assert client.get("/", follow_redirects=False).headers["location"] != "/login"
    service.tokens.rotate("ada")
    assert client.get("/", follow_redirects=False).headers["location"] == "/login"


def test_a_folder_of_before_has_the_new_tables(service: Service) -> None:
    """Tokens that were made earlier are rotated, too."""
    path = service.folder.tokens
    made = service.tokens.create("ada", "analyst")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE rotated")
        connection.execute("DROP TABLE sessions")
    again = TokenStore(path, service.folder.secret)
    assert again.verify(again.rotate("ada").text) == made.token
    again.close()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_unit_may_do_little(tmp_path: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", ROOT / "examples/holdfast.service"],
        capture_output=True,
        text=True,
        check=True,
    )
    level = re.findall(r"exposure level for holdfast.service: ([0-9.]+)", done.stdout)[0]
    assert float(level) < 4.0


def test_what_the_unit_and_the_proxies_say_is_there(tmp_path: Path) -> None:
    """Options of the command, and the size of a body that the service takes."""
    unit = (ROOT / "examples/holdfast.service").read_text("utf-8")
    helped = holdfast("serve", "--help", cwd=tmp_path).stdout
    for option in re.findall(r"--[a-z-]+", re.findall("ExecStart=.*", unit)[0]):
        assert option in helped
    megabytes = Settings().largest_column // 2**20
    assert f"client_max_body_size {megabytes}m;" in (ROOT / "examples/nginx.conf").read_text()
    assert f"max_size {megabytes}MB" in (ROOT / "examples/Caddyfile").read_text()
