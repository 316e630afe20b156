"""Clients that say nothing, or say it slowly, keep nobody else waiting."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

import holdfast
from holdfast.service.data_set import Service
from tests.service.serving import LATE, TABLE, listening, made_service

IDLE = 1_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return made_service(tmp_path_factory.mktemp("connections"))


@pytest.fixture(scope="module")
def url(service: Service) -> Iterator[str]:
    with listening(service) as address:
        yield address


@pytest.fixture
def room_for_files() -> Iterator[None]:
    """Both ends of every connection are files of this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * IDLE + 500
    if hard not in (resource.RLIM_INFINITY, -1) and hard < wanted:
        pytest.skip(f"this machine lets a process have {hard} files; {wanted} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=30)


def test_a_thousand_connections_that_say_nothing(
    service: Service, url: str, room_for_files: None
) -> None:
    token = service.tokens.create("ada", "analyst").text
    with ExitStack() as open_ones:
        idle = [open_ones.enter_context(connected(url)) for _ in range(IDLE)]
        with holdfast.connect(url, token=token, timeout=30, retries=0) as remote:
            assert remote.ask(LATE).value is not None
            assert remote.budget.questions_left > 0
        idle[-1].sendall(b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
        assert idle[-1].recv(100).startswith(b"HTTP/1.1 200")


def test_a_slow_client_is_waited_for_alone(service: Service, url: str) -> None:
    """Half a request is nobody's turn: it is answered when it is whole, and nothing was asked."""
    token = service.tokens.create("bob", "analyst").text
    body = b'{"question": "avg(x > 3)"}'
    head = (
        f"POST {TABLE}/ask HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with connected(url) as slow:
        slow.sendall(head.encode() + body[:9])
        with holdfast.connect(url, token=token, timeout=30, retries=0) as remote:
            assert remote.ask("avg(x > 4)").value is not None
            assert "avg(x > 3)" not in [line.question for line in remote.ledger]
        slow.sendall(body[9:])
        assert slow.recv(100).startswith(b"HTTP/1.1 200")


def test_a_client_that_hangs_up_in_the_middle_costs_nothing(service: Service, url: str) -> None:
    token = service.tokens.create("cat", "analyst").text
    head = f"POST {TABLE}/ask HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n"
    with connected(url) as gone:
        gone.sendall(head.encode() + b"Content-Length: 900\r\n\r\n{")
    with holdfast.connect(url, token=token, timeout=30, retries=0) as remote:
        before = remote.budget.to_dict()
        assert remote.budget.to_dict() == before
    assert service.tokens.spent(service.tokens.verify(token)) == 0  # type: ignore[arg-type]
