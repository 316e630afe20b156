"""A holdout that is served elsewhere: the verbs, answers and errors of a local one."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import holdfast
from holdfast.errors import (
    BudgetExhausted,
    InvalidArgument,
    InvalidQuestion,
    LedgerBusy,
    NotAllowed,
    Refused,
    Retired,
    ServiceUnavailable,
)
from holdfast.holdout.holdout import Holdout
from holdfast.service.client import ServedHoldout
from holdfast.service.data_set import Service
from tests.service.serving import DECLARED, LATE, ROWS, listening, made_service, table


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return made_service(tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def url(service: Service) -> Iterator[str]:
    with listening(service) as address:
        yield address


@pytest.fixture(scope="module")
def remote(service: Service, url: str) -> Iterator[ServedHoldout]:
    with holdfast.connect(url, token=service.tokens.create("ada", "analyst").text) as made:
        yield made


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdout]:
    """The same table, asked the same."""
    path = tmp_path_factory.mktemp("local") / "flights.ledger"
    with holdfast.open(table(), ledger=path, **DECLARED) as made:
        yield made


def accepting(holdout: Any, price: int) -> dict[str, int]:
    """What a service wants to be told where others share what a call takes."""
    return {"accept_cost": price} if isinstance(holdout, ServedHoldout) else {}


CALLS: dict[str, Any] = {
    "a mean": lambda holdout: holdout.ask(LATE, why="a baseline"),
    "a repeat": lambda holdout: holdout.ask(LATE),
    "a call": lambda holdout: holdout.ask(holdfast.mean("x", bounds=(0, 50), where="late")),
    "bounds": lambda holdout: holdout.ask("avg(x) where late", bounds=(0, 40)),
    "the cost of bounds": lambda holdout: holdout.cost("avg(x)", bounds=(0, 30)),
    "a median": lambda holdout: holdout.ask("median(x)"),
    "a verdict": lambda holdout: holdout.ask(holdfast.difference("late", "x > 0", better="higher")),
    "a mean without a range": lambda holdout: holdout.ask("avg(near)"),
    "a half-line": lambda holdout: holdout.ask("avg(far)"),
    "the cost of a scale": lambda holdout: holdout.cost("avg(near)"),
    "groups": lambda holdout: holdout.ask(
        holdfast.mean("late", by="origin"), **accepting(holdout, 3)
    ),
    "a distribution": lambda holdout: holdout.ask(
        "distribution(x, 0, 50)", **accepting(holdout, 2)
    ),
    "a gate": lambda holdout: holdout.gate("avg(x > -100)", at_least=0.5, why="a gate"),
    "a gate with a forecast": lambda holdout: holdout.gate(
        "difference(x > -100, late)", at_least=0, dev=(40, 10, 1_000), expect=0.5
    ),
    "a gate with a grade": lambda holdout: holdout.gate("avg(x > -110)", at_least=0.5, grades=True),
    "a check with a forecast": lambda holdout: holdout.check("avg(x > -90)", 0.9, expect=0.4),
    "the cost of a check with a forecast": lambda holdout: holdout.cost(
        "avg(x > -80)", 0.9, expect=0.4
    ),
    "several": lambda holdout: holdout.ask_many(["avg(x > 2)", "avg(x > 3)"], why="both"),
    "none": lambda holdout: holdout.ask_many([]),
    "a cost": lambda holdout: holdout.cost("avg(x > 77)"),
    "the cost of a gate": lambda holdout: holdout.cost("avg(x > 77)", at_least=0.1, gate=True),
    "the cost of a forecast": lambda holdout: holdout.cost(
        "difference(x > 77, late)", at_least=0, gate=True, dev=[10, 40, 1_000]
    ),
    "the cost of a check": lambda holdout: holdout.cost("avg(x > 77)", 0.1),
    "columns": lambda holdout: holdout.columns,
    "the schema": lambda holdout: str(holdout.schema),
}


def said(found: Any) -> Any:
    """What is the same whatever the noise, and whatever the ledger's hashes."""
    if isinstance(found, list):
        return [said(each) for each in found]
    if not hasattr(found, "to_dict"):
        return found if isinstance(found, str) else [(label, said(each)) for label, each in found]
    changing = {"receipt", "value", "low", "high", "at", "half_width", "n", "n_most", "text"}
    return {name: value for name, value in found.to_dict().items() if name not in changing}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_told_what_a_local_one_is_told(
    remote: ServedHoldout, local: Holdout, name: str
) -> None:
    here, there = CALLS[name](local), CALLS[name](remote)
    assert type(there) is type(here)
    assert said(there) == said(here)


def test_the_ledger_and_the_budget_are_the_services(
    service: Service, remote: ServedHoldout
) -> None:
    remote.ask("median(x)")
    remote.ask(LATE)
    with holdfast.open(ledger=service.folder.ledger("flights")) as own:
        assert remote.budget.to_dict() == own.budget.to_dict()
        assert str(remote.budget) == str(own.budget)
        hidden = [{**line, "request_key": None} for line in own.ledger.to_dicts(parts=True)]
        assert remote.ledger.to_dicts(parts=True) == hidden
        assert str(remote.ledger) == str(own.ledger)
        answer, repeat = remote.ask(LATE), own.ask(LATE)
        assert str(answer) == str(repeat)
        assert answer.to_dict() == repeat.to_dict()
    assert (remote.name, remote.rows) == ("flights", ROWS)
    assert repr(remote).startswith("ServedHoldout 'flights': 4,000 rows at http://127.0.0.1:")


def test_a_key_is_told_the_same(remote: ServedHoldout) -> None:
    first = remote.check("avg(x > 25)", 0.45, request_key="mine", why="from training rows")
    remote.ask("avg(late and origin = 'JFK')")  # which says nothing of the first
    again = remote.check("avg(x > 25)", 0.45, request_key="mine", why="from training rows")
    assert again.to_dict() == first.to_dict()
    assert str(again.left) == str(first.left)
    assert remote.check_many(["avg(x > 25)"], [0.45])[0].status == "repeated"


def test_columns_are_brought(remote: ServedHoldout) -> None:
    made = remote.attach("v1", {n: n % 2 == 0 for n in range(ROWS)})
    again = remote.attach("v1", [n % 2 == 0 for n in range(ROWS)])
    assert again == made
    assert remote.attach("v1", np.arange(ROWS) % 2 == 0) == made
    gaps = np.where(np.arange(ROWS) % 2 == 0, np.nan, 1.0)
    with pytest.raises(InvalidArgument, match="have no value"):
        remote.attach("gaps", gaps)
    assert remote.attach("gaps", gaps, missing="null", bounds=(0, 1)).name == "gaps"
    answer = remote.ask(holdfast.accuracy("v1", "late"), tolerance=0.2)
    assert isinstance(answer, holdfast.Answer)
    with pytest.raises(InvalidArgument, match="cannot be read"):
        remote.attach("v2", "predictions.csv")
    with pytest.raises(InvalidArgument, match="is taken"):
        remote.attach("v1", [0] * ROWS)


def test_errors_are_those_of_a_local_one(
    service: Service, url: str, remote: ServedHoldout, tmp_path: Path
) -> None:
    with pytest.raises(InvalidQuestion, match="did you mean 'late'"):
        remote.ask("avg(lat)")
    with pytest.raises(Refused) as refused:
        remote.ask(LATE, tolerance=1e-4)
    assert refused.value.shortfall is not None
    assert refused.value.shortfall.requested == 1e-4
    with pytest.raises(InvalidArgument, match="one of guess"):
        remote.check(LATE)
    nevers: list[Any] = [
        pl.col("x").mean(),
        holdfast.mean(
            holdfast.row_function(
                lambda row: 1.0, columns=["x"], bounds=(0, 1), name="one", version="1"
            )
        ),
    ]
    for never in nevers:
        with pytest.raises((InvalidArgument, InvalidQuestion)):
            remote.ask(never)
    with pytest.raises(InvalidArgument, match="plain numbers"):
        remote.check(LATE, guess=object())  # type: ignore[call-overload]
    token = service.tokens.create("bob", "analyst", questions=1).text
    with holdfast.connect(url, token=token) as capped:
        capped.ask("avg(x > 31)")
        with pytest.raises(BudgetExhausted, match="remaining 0 of the 1 of this token"):
            capped.ask("avg(x > 32)")
        service.tokens.revoke("bob")
        with pytest.raises(NotAllowed, match="unknown, expired or revoked"):
            capped.ask("avg(x > 31)")


def test_a_retired_ledger_says_so(tmp_path: Path) -> None:
    service = made_service(tmp_path)
    with listening(service) as url:
        token = service.tokens.create("ada", "analyst").text
        with holdfast.connect(url, token=token, name="flights") as remote:
            with holdfast.open(ledger=service.folder.ledger("flights")) as own:
                own.end.retire(why="full", successor="next")
            with pytest.raises(Retired, match="'next'"):
                remote.ask(LATE)


@pytest.mark.parametrize("url", ["ftp://x", "x", "", "http://"])
def test_addresses_are_looked_at(url: str) -> None:
    with pytest.raises(InvalidArgument, match="url is"):
        holdfast.connect(url, token="x")


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        holdfast.connect(f"http://127.0.0.1:{port}", token="x", retries=0)


class Moody(BaseHTTPRequestHandler):
    """A service that loses what it said, is busy, and then answers."""

    moods: list[str]
    keys: list[str | None]

    def do_POST(self) -> None:
        mood = self.moods.pop(0)
        self.keys.append(self.headers["Idempotency-Key"])
        self.rfile.read(int(self.headers["Content-Length"]))
        if mood == "lost":
            self.close_connection = True
            return
        body = {"busy": {"error": "LedgerBusy", "detail": "busy."}, "well": {"answers": []}}
        body |= {"tampered": {"error": "LedgerTampered", "detail": "no."}, "odd": {}}
        content = json.dumps(body[mood]).encode() if mood != "odd" else b"<html>"
        self.send_response(200 if mood in ("well", "odd") else 503)
        # Who is in between may say when as a date.
        when = "0" if len(self.moods) % 2 else "Mon, 16 Nov 2026 12:00:00 GMT"
        self.send_header("Retry-After", when)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("moods", "error"),
    [
        (["lost", "busy", "lost", "well"], None),
        (["busy"] * 6, LedgerBusy),
        (["lost"] * 6, ServiceUnavailable),
        (["tampered"], holdfast.LedgerTampered),
        (["odd"], ServiceUnavailable),
    ],
)
def test_what_was_lost_is_sent_again_under_the_same_key(
    moods: list[str], error: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.service.sending import Sender

    monkeypatch.setattr("holdfast.service.sending.time.sleep", lambda _: None)

    class Now(Moody):
        pass

    Now.moods, Now.keys = list(moods), []
    with HTTPServer(("127.0.0.1", 0), Now) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        sender = Sender(f"http://127.0.0.1:{server.server_port}", "t", 5.0, 5)
        try:
            if error is None:
                assert sender.post("/x", {}, "k") == {"answers": []}
            else:
                with pytest.raises(error):
                    sender.post("/x", {}, "k")
        finally:
            sender.close()
            server.shutdown()
            thread.join()
    assert Now.keys == ["k"] * len(moods)
    assert Now.moods == []
