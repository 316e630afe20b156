"""Calls that wait for one data set: put together, told each their own, and released on the step."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio.to_thread
import pytest
from httpx import ASGITransport, AsyncClient, Response
from starlette.testclient import TestClient

from holdfast.data.source import FileSample
from holdfast.errors import InvalidQuestion
from holdfast.holdout.answer import Answer
from holdfast.holdout.holdout import Holdout
from holdfast.holdout.open import open as open_holdout
from holdfast.ledger.audit import audit
from holdfast.ledger.store import Store
from holdfast.service.access import Caller
from holdfast.service.app import app_of
from holdfast.service.data_set import Asking, Served, Service
from tests.service.serving import LATE, TABLE, bearer, client_of_service, entries, made_service


@pytest.fixture
def served(service: Service) -> Iterator[Served]:
    token = service.tokens.create("cy", "custodian").token
    yield service.served("flights", token)
    service.close()


def at_once(service: Service, calls: list[Awaitable[Any]]) -> list[Any]:
    """What calls are told that all came while another program held the ledger."""

    async def gathered() -> list[Any]:
        return await asyncio.gather(*calls, return_exceptions=True)

    store, loop = Store.open(service.folder.ledger("flights")), asyncio.new_event_loop()
    try:
        with store.exclusive(1.0):
            waiting = loop.create_task(gathered())
            loop.call_later(0.1, loop.stop)
            loop.run_forever()
        return loop.run_until_complete(waiting)
    finally:
        loop.close()
        store.close()


def test_two_first_requests_find_one_data_set(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, both = service.tokens.create("cy", "custodian").token, threading.Barrier(2)

    def slowly(*arguments: Any, **settings: Any) -> Served:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.2)
        return Served(*arguments, **settings)

    monkeypatch.setattr("holdfast.service.data_set.Served", slowly)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: service.served("flights", token), range(2)))
    service.close()
    assert found[0] is found[1]


def test_those_who_wait_are_one_batch(service: Service, served: Served) -> None:
    people = [
        Asking(f"avg(x > {n})", tolerance=0.2, asked_by=f"person {n}", request_key=f"key {n}")
        for n in range(12)
    ]
    found = at_once(service, [served.answer(each) for each in people])
    assert all(isinstance(each, Answer) for each in found)
    assert [each.recorded.request.by for each in found] == [each.asked_by for each in people]
    kinds = Counter(json.loads(entry)["kind"] for entry in entries(service))
    assert kinds["reserve/2"] <= 3  # who was first, and those who came meanwhile
    assert kinds["told/1"] == 12
    again = at_once(service, [served.answer(each) for each in people])
    assert [each.to_dict() for each in again] == [each.to_dict() for each in found]
    assert all(finding.fine for finding in audit(service.folder.ledger("flights")))


def test_a_request_takes_no_thread_but_that_of_its_data_set(
    client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other thread's turn costs it as much as its token and its route together."""
    turns: list[object] = []
    real = anyio.to_thread.run_sync

    async def counted(work: Any, *arguments: Any, **how: Any) -> Any:
        turns.append(work)
        return await real(work, *arguments, **how)

    monkeypatch.setattr("anyio.to_thread.run_sync", counted)
    for verb, body in (("check", {"question": LATE, "guess": 0.25}), ("ask", {"question": LATE})):
        assert client.post(f"{TABLE}/{verb}", json=body, headers=ada).status_code == 200
    assert client.get(f"{TABLE}/budget", headers=ada).status_code == 200
    assert turns == []


def test_what_is_free_takes_no_thread_while_the_ledger_is_as_it_was(
    service: Service, client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until somebody writes, here or in another process."""
    read, reads = Served.read, 0

    async def counted(served: Served, use: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(served, use)

    monkeypatch.setattr(Served, "read", counted)
    path = service.folder.ledger("flights")
    rows = service.folder.path.parent / "canaryfolder" / "flights.parquet"

    def told() -> tuple[int, int]:
        nonlocal reads
        reads = 0
        budget = client.get(f"{TABLE}/budget", headers=ada).json()
        assert client.get(f"{TABLE}/ledger?limit=1", headers=ada).status_code == 200
        return budget["described"], reads

    before = [told(), told()]
    with open_holdout(rows, ledger=path) as other:
        other.ask("avg(x > 7)")
    after = [told(), told()]
    (asked, _), _ = before
    assert before == [(asked, 2), (asked, 0)]
    assert after == [(asked + 1, 2), (asked + 1, 0)]


@contextmanager
def first_scan_held(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[threading.Event, list[threading.Thread]]]:
    """The first scan lasts until this is over: when it begins, and the threads of all scans."""
    begun, ended = threading.Event(), threading.Event()
    scans: list[threading.Thread] = []
    scan = FileSample.sums

    def held(sample: FileSample, rows: Any) -> list[int]:
        scans.append(threading.current_thread())
        if len(scans) == 1:
            begun.set()
            ended.wait(60.0)
        return scan(sample, rows)

    monkeypatch.setattr(FileSample, "sums", held)
    try:
        yield begun, scans
    finally:
        ended.set()


def test_what_is_free_does_not_wait_for_a_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a question over the cap of its token, nor what that token has asked before."""
    service = made_service(tmp_path, patience=3600.0)
    ada, eve = bearer(service), bearer(service, "eve", questions=1)
    cy = bearer(service, "cy", "custodian")
    reads = ["", "/budget", "/ledger", "/ledger.csv", "/columns", "/certificate", "/audit"]
    addresses = [*(TABLE + each for each in reads), "/api/v1/datasets", "/api/v1/me", "/ready"]

    async def meanwhile() -> None:
        transport = ASGITransport(app_of(service))
        async with AsyncClient(transport=transport, base_url="http://here") as client:
            check = {"question": LATE, "guess": 0.25}
            asked = await client.post(f"{TABLE}/check", json=check, headers=eve)
            assert asked.status_code == 200
            with first_scan_held(monkeypatch) as (begun, scans):
                scan = asyncio.create_task(
                    client.post(
                        f"{TABLE}/check", json={**check, "question": "avg(x > 3)"}, headers=ada
                    )
                )
                await asyncio.to_thread(begun.wait, 60.0)

                async def told(status: int, sent: Awaitable[Response]) -> None:
                    assert (await asyncio.wait_for(sent, 30.0)).status_code == status
                    assert not scan.done()

                for address in addresses:
                    await told(200, client.get(address, headers=cy))
                await told(200, client.post(f"{TABLE}/cost", json=check, headers=ada))
                await told(200, client.post(f"{TABLE}/check", json=check, headers=eve))
                other = {**check, "question": "avg(x > 4)"}
                await told(409, client.post(f"{TABLE}/check", json=other, headers=eve))
                # The question's scan, and that of the audit, which compares the data itself.
                assert [each.name.split("_")[0] for each in scans[1:]] == ["reports"]
            assert (await scan).status_code == 200

    asyncio.run(meanwhile())
    service.close()


def test_one_call_sent_twice_at_once_is_asked_once(service: Service, served: Served) -> None:
    call = Asking("avg(x > 3)", guess=0.6, asked_by="ada", request_key="same")
    calls = [call, call, Asking("avg(nothing)"), Asking(LATE, by=("origin",)), call]
    found = at_once(service, [served.answer(each) for each in calls])
    told = [found[place].to_dict() for place in (0, 1, 4)]
    assert told[0] == told[1] == told[2]
    assert isinstance(found[2], InvalidQuestion)
    assert len(found[3]) == 3


@pytest.mark.parametrize("question", [LATE, "avg(nothing)"])
def test_answers_are_released_on_the_step(tmp_path: Path, question: str) -> None:
    """Whether it is asked, repeated or not understood."""
    service = made_service(tmp_path, release_step=0.15)
    with client_of_service(service) as client:
        ada = bearer(service)
        for _ in range(2):
            began = perf_counter()
            client.post(f"{TABLE}/ask", json={"question": question}, headers=ada)
            assert perf_counter() - began >= 0.15


def test_a_call_that_is_cancelled_while_it_waits_is_not_asked(service: Service) -> None:
    """It takes nothing of the token's cap; one that was begun is finished, and counts."""
    token = service.tokens.create("ada", "analyst", questions=5).token
    caller = Caller(service, token, service.served("flights", token))
    begun, go_on = threading.Event(), threading.Event()

    def busy(_: Holdout) -> None:
        begun.set()
        go_on.wait(10)

    async def script() -> int:
        holding = asyncio.ensure_future(caller.served.ask(busy))
        await asyncio.to_thread(begun.wait, 10)
        left = asyncio.ensure_future(caller.answer(Asking(LATE)))
        while not service.tokens.spent(token):
            await asyncio.sleep(0.001)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        go_on.set()
        await holding
        asked = await caller.answer(Asking("avg(x > 3)"))
        assert isinstance(asked, Answer)
        return asked.number

    assert asyncio.run(script()) == 1
    assert service.tokens.spent(token) == 1
    service.close()
    assert len([text for text in entries(service) if LATE in text]) == 0
