"""Caps in what all share: a token takes no more than its share, whatever it asks and however."""

from __future__ import annotations

import random
from typing import Any

import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.service.data_set import Service
from tests.service.serving import LATE, TABLE, bearer, client_of_service, publish

pytestmark = pytest.mark.long

WHOLE = 40  # questions of the pool, at least


@pytest.fixture
def service(tmp_path: Any) -> Service:
    """A pool of many questions: rounded answers leave more of them."""
    from holdfast.service.folder import Folder, Settings

    folder = Folder.create(tmp_path / "served")
    publish(folder, described="rounded", tolerance=0.2)
    return Service.of(folder.path, Settings(release_step=0.0))


def left(service: Service) -> int:
    with holdfast.open(ledger=service.folder.ledger("flights")) as holdout:
        return holdout.budget.questions_left


def adversary(client: TestClient, headers: dict[str, str], seed: int, calls: int = 60) -> int:
    """Ask for as much as there is, in every way there is; how many calls were answered."""
    rng = random.Random(seed)
    answered = 0
    for n in range(calls):
        x, many = rng.uniform(-50, 150), {"accept_cost": 10**6}
        text = f"avg(x > {x:.3f})"
        tries: list[tuple[str, dict[str, Any]]] = [
            ("ask", {"question": text}),
            ("ask", {"question": "avg(late)", "where": f"x > {x:.3f}", "by": ["origin"]}),
            ("ask", {"question": text, "tolerance": rng.choice([0.05, 0.1, 0.2])}),
            ("ask", {"question": f"median(clip(x, {x:.3f}, 180))", "tolerance": 0.2}),
            ("check", {"question": text, "guess": rng.random()}),
            ("check", {"question": "avg(late)", "guess": rng.random(), "by": ["origin"]}),
            ("batch", {"questions": [f"avg(x > {x + k:.3f})" for k in range(9)]}),
        ]
        verb, body = rng.choice(tries)
        keyed = {**headers, "Idempotency-Key": f"call-{n}"}
        for _ in range(2):  # the second time as if the reply had been lost
            reply = client.post(f"{TABLE}/{verb}", json={**body, **many}, headers=keyed)
            assert reply.status_code in (200, 409, 422, 503), reply.text
        answered += reply.status_code == 200
    return answered


@pytest.mark.parametrize(
    ("share", "seed"),
    [
        (0.5, 1),
        (0.25, 2),
        pytest.param(0.5, 2, marks=pytest.mark.campaign),
        pytest.param(0.25, 1, marks=pytest.mark.campaign),
    ],
)
def test_a_share_is_never_exceeded(service: Service, share: float, seed: int) -> None:
    whole = left(service)
    assert whole >= WHOLE
    with client_of_service(service) as client:
        thief = bearer(service, "thief", share=share)
        assert adversary(client, thief, seed) > 0
        assert whole - left(service) <= share * whole
        other = client.post(
            f"{TABLE}/ask",
            json={"question": "avg(x > 7)", "tolerance": 0.2},
            headers=bearer(service, "other"),
        )
        assert other.status_code == 200


def test_a_cap_of_one_question_takes_no_table(service: Service, client: TestClient) -> None:
    once = bearer(service, "once", questions=1)
    before = left(service)
    table = {"question": "avg(x > 3)", "by": ["origin"]}
    refused = client.post(f"{TABLE}/ask", json={**table, "accept_cost": 3}, headers=once)
    assert refused.status_code == 409
    assert "of this token" in refused.json()["detail"]
    assert left(service) == before
    assert client.post(f"{TABLE}/ask", json={"question": LATE}, headers=once).status_code == 200


def test_what_takes_more_than_one_question_names_its_price_first(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    before = left(service)
    for body in (
        {"question": "avg(x > 3)", "by": ["origin"]},
        {"question": "median(x)", "tolerance": 0.2},
        {"question": "histogram(x, 0, 50, 100)"},
    ):
        asked = client.post(f"{TABLE}/ask", json=body, headers=ada)
        assert asked.status_code == 409, body
        problem = asked.json()
        price = problem["requested"]
        assert price > 1
        assert f"accept_cost={price}" in problem["next_steps"][0]
        assert left(service) == before
        less = {**body, "accept_cost": price - 1}
        assert client.post(f"{TABLE}/ask", json=less, headers=ada).status_code == 409
    accepted = {"question": "avg(x > 3)", "by": ["origin"], "accept_cost": 3}
    assert client.post(f"{TABLE}/ask", json=accepted, headers=ada).status_code == 200
    one = {"question": "avg(x > 3)", "guess": 0.6}
    assert client.post(f"{TABLE}/check", json=one, headers=ada).status_code == 200


def test_a_call_made_again_counts_as_it_did(service: Service, client: TestClient) -> None:
    bob = bearer(service, "bob", questions=60)
    keyed = {**bob, "Idempotency-Key": "k"}
    body = {"question": "median(x)", "tolerance": 0.2, "accept_cost": 60}
    spent = set()
    for _ in range(3):
        assert client.post(f"{TABLE}/ask", json=body, headers=keyed).status_code == 200
        spent.add(client.get("/api/v1/me", headers=bob).json()["spent"])
    (once,) = spent
    assert once > 1


def test_the_page_asks_before_it_takes_more_than_one_question(
    service: Service, client: TestClient
) -> None:
    token = bearer(service, "cy", "custodian")["Authorization"].removeprefix("Bearer ")
    client.post("/login", data={"token": token})
    page = client.get("/data/flights/ask").text
    mark, key = (page.split(f'name="{name}" value="')[1].split('"')[0] for name in ("mark", "key"))
    form = {"question": "avg(x > 3) by origin", "do": "ask", "mark": mark, "key": key}
    before = left(service)
    refused = client.post("/data/flights/ask", data=form)
    assert refused.status_code == 409
    assert 'name="accept_cost" value="3"' in refused.text
    assert left(service) == before
    told = client.post("/data/flights/ask", data={**form, "accept_cost": "3"})
    assert told.status_code == 200
    assert "JFK" in told.text


def test_without_the_share_the_adversary_would_take_more(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sabotage twin: where every price is covered, the share is exceeded."""
    monkeypatch.setattr("holdfast.service.prices.Pool.covers", lambda *_: True)
    whole = left(service)
    with client_of_service(service) as client:
        adversary(client, bearer(service, "thief", share=0.25), 1)
    assert whole - left(service) > 0.25 * whole
