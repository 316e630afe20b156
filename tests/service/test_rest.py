"""REST: every verb with the numbers of a local holdout, keys, caps, pages of the ledger."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.dependencies.utils import solve_dependencies
from starlette.testclient import TestClient

import holdfast
from holdfast.certificate.checking import audit_certificate
from holdfast.ledger.audit import audit
from holdfast.service.data_set import Service
from tests.cli.run import holdfast as holdfast_command
from tests.service.serving import LATE, ROWS, TABLE, bearer, entries, publish


def test_a_data_set_says_what_is_known_and_promised(
    client: TestClient, ada: dict[str, str]
) -> None:
    assert client.get("/api/v1/datasets", headers=ada).json()["datasets"][0]["name"] == "flights"
    told = client.get(TABLE, headers=ada).json()
    columns = {column["name"]: column for column in told["columns"]}
    assert columns["x"]["bounds"] == [-60.0, 180.0]
    assert columns["origin"]["values"] == ["EWR", "JFK", "LGA"]
    assert columns["note"]["values"] is None
    assert told["rows"] == ROWS
    assert told["described"] == "rounded"
    assert "with probability 95 %" in told["promise"]
    budget = client.get(f"{TABLE}/budget", headers=ada).json()
    assert budget["questions_left"] > 0


def test_the_verbs_say_what_a_local_holdout_says(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    with holdfast.open(ledger=service.folder.ledger("flights")) as local:
        cost = client.post(f"{TABLE}/cost", json={"question": "median(x)"}, headers=ada).json()
        assert cost["bits"] == local.cost("median(x)").bits
        said = {"question": LATE, "why": "a baseline"}
        answer = client.post(f"{TABLE}/ask", json=said, headers=ada).json()
        repeat = local.ask(LATE)
        assert repeat.status == "repeated"
        assert answer["status"] == "answered"
        same = set(answer) - {"status", "cost", "text"}
        told = repeat.to_dict()
        assert {name: answer[name] for name in same} == {name: told[name] for name in same}
        line = local.ledger[0]
        assert (line.request.by, line.why) == ("ada", "a baseline")


@pytest.mark.parametrize(
    ("verb", "body", "member"),
    [
        ("check", {"question": "avg(x > 20)", "guess": 0.5}, "confirmed"),
        ("check", {"question": "avg(x > 20)", "at_most": 0.7}, "confirmed"),
        ("ask", {"question": "avg(late)", "where": "origin = 'JFK'"}, "answered"),
        ("ask", {"question": "avg(amount)", "bounds": [0, 10], "tolerance": 0.2}, "answered"),
        ("ask", {"question": "avg(x)", "half_width": 40}, "answered"),
        (
            "ask",
            {"question": "difference(avg(late) where x > 0, avg(late) where x <= 0)"}
            | {"better": "higher"},
            "cannot tell",
        ),
    ],
)
def test_what_can_be_said_with_a_question(
    client: TestClient, ada: dict[str, str], verb: str, body: dict[str, Any], member: str
) -> None:
    reply = client.post(f"{TABLE}/{verb}", json=body, headers=ada)
    assert reply.status_code == 200, reply.text
    assert member in (reply.json()["status"], reply.json()["verdict"])


BY_ORIGIN = {"question": LATE, "by": ["origin"], "accept_cost": 3}


def test_groups_and_distributions_are_tables(client: TestClient, ada: dict[str, str]) -> None:
    groups = client.post(f"{TABLE}/ask", json=BY_ORIGIN, headers=ada)
    assert [each["origin"] for each in groups.json()["groups"]] == ["EWR", "JFK", "LGA"]
    said = {"question": "distribution(x, 0, 50, 100)", "accept_cost": 3}
    found = client.post(f"{TABLE}/ask", json=said, headers=ada).json()
    assert [each["threshold"] for each in found["thresholds"]] == [0, 50, 100]


@pytest.mark.parametrize(
    "question",
    [
        "avg(amount, sigma = 0.001)",
        "avg(x, variance <= 0.0001)",
        "catoni(amount, 0.001)",
        "difference(avg(x, variance <= 0.0001), avg(x))",
        "mse(amount, x, kappa = 1)",
    ],
)
def test_nobody_but_the_custodian_assumes_anything_of_the_rows(
    service: Service, client: TestClient, ada: dict[str, str], question: str
) -> None:
    before = entries(service)
    for verb, body in (
        ("ask", {"question": question}),
        ("check", {"question": question, "guess": 1.0}),
        ("cost", {"question": question}),
        ("batch", {"questions": [LATE, question]}),
    ):
        reply = client.post(f"{TABLE}/{verb}", json=body, headers=ada)
        assert reply.status_code == 422
        assert "for the custodian to declare" in reply.json()["detail"], reply.text
    assert entries(service) == before


def test_a_batch_is_one_look_for_all(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    said: dict[str, Any] = {"questions": ["avg(x > 1)", "avg(x > 30)"], "tolerance": 0.15}
    asked = client.post(f"{TABLE}/batch", json=said, headers=ada).json()["answers"]
    said |= {"guesses": [0.6, 0.4], "questions": ["avg(x > 10)", "avg(x > 40)"]}
    checked = client.post(f"{TABLE}/batch", json=said, headers=ada).json()["answers"]
    assert {each["status"] for each in asked} == {"answered"}
    assert {each["guess"] for each in checked} == {0.6, 0.4}
    reserved = [each for each in map(json.loads, entries(service)) if each["kind"] == "reserve/2"]
    assert [len(each["items"]) for each in reserved] == [2, 2]


def test_a_gate_is_shown_or_says_nothing(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    cost = {"question": "avg(x > -100)", "at_least": 0.5, "gate": True}
    assert client.post(f"{TABLE}/cost", json=cost, headers=ada).status_code == 200
    shown = {"question": "avg(x > -100)", "at_least": 0.5, "why": "a gate"}
    found = client.post(f"{TABLE}/gate", json=shown, headers=ada)
    assert found.status_code == 200, found.text
    assert found.json()["status"] == "shown"
    said = {"question": "avg(x > 20)", "at_least": 0.9}
    silent = client.post(f"{TABLE}/gate", json=said, headers=ada).json()
    assert (silent["status"], silent["value"]) == ("not shown", None)
    with holdfast.open(ledger=service.folder.ledger("flights")) as local:
        assert [line.request.verb for line in local.ledger] == ["gate", "gate"]
    for wrong in ({"question": LATE}, {"question": LATE, "at_least": 0, "at_most": 1}):
        assert client.post(f"{TABLE}/gate", json=wrong, headers=ada).status_code == 422


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "gate": ("gate", {"question": "avg(x > 40)", "at_most": 0.9}),
    "ask": ("ask", {"question": "median(x)"}),
    "check": ("check", {"question": "avg(x > 40)", "guess": 0.1}),
    "groups": ("ask", BY_ORIGIN),
    "batch": ("batch", {"questions": ["avg(x > 1)", LATE]}),
    "column": ("columns", {"name": "v1", "values": [n % 3 for n in range(ROWS)]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_key_gives_the_same_bytes(
    service: Service, client: TestClient, ada: dict[str, str], name: str
) -> None:
    verb, body = CALLS[name]
    keyed = {**ada, "Idempotency-Key": "call-1"}
    first = client.post(f"{TABLE}/{verb}", json=body, headers=keyed)
    assert first.status_code == 200, first.text
    client.post(f"{TABLE}/ask", json={"question": "avg(x > 70)"}, headers=ada)
    written = len(entries(service))
    again = client.post(f"{TABLE}/{verb}", json=body, headers=keyed)
    assert again.content == first.content
    assert len(entries(service)) == written
    if verb != "columns":
        other = client.post(f"{TABLE}/ask", json={"question": "avg(x > 9)"}, headers=keyed)
        assert other.status_code == 422
        assert other.json()["detail"].startswith("the key was used to ")  # whoever's it is
        bob = {**bearer(service, "bob"), "Idempotency-Key": "call-1"}  # a key of his own
        assert client.post(f"{TABLE}/ask", json={"question": LATE}, headers=bob).status_code == 200


def test_a_cap_is_inside_the_pool_and_repeats_are_free(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    bob = bearer(service, "bob", dataset="flights", questions=2)
    client.post(f"{TABLE}/ask", json={"question": LATE}, headers=ada)

    def ask(question: str, key: str | None = None) -> Any:
        headers = bob if key is None else {**bob, "Idempotency-Key": key}
        return client.post(f"{TABLE}/ask", json={"question": question}, headers=headers)

    assert ask(LATE).json()["status"] == "repeated"
    assert ask("avg(nonsense").status_code == 422
    assert client.get("/api/v1/me", headers=bob).json()["left"] == 2
    first = ask("avg(x > 0)", "k1")
    assert first.status_code == ask("avg(x > 10)").status_code == 200
    assert client.get("/api/v1/me", headers=bob).json()["left"] == 0
    refused = ask("avg(x > 20)")
    assert refused.status_code == 409
    body = refused.json()
    assert (body["of"], body["requested"], body["remaining"], body["missing"]) == (
        "questions",
        1,
        0,
        1,
    )
    assert "ask the custodian for more." in body["next_steps"][0]
    assert ask(LATE).json()["status"] == "repeated"
    assert ask("avg(x > 0)", "k1").content == first.content
    batch = {"questions": [LATE, "avg(x > 30)"]}
    assert client.post(f"{TABLE}/batch", json=batch, headers=bob).status_code == 409
    assert client.get("/api/v1/me", headers=bob).json()["spent"] == 2


def test_what_a_key_has_spent_is_not_given_back(service: Service, client: TestClient) -> None:
    """Another question under a key that was told is refused; what the key has spent stays so."""
    bob = bearer(service, "bob", dataset="flights", questions=4)

    def ask(question: str, key: str, **said: Any) -> int:
        headers, body = {**bob, "Idempotency-Key": key}, {"question": question, **said}
        return client.post(f"{TABLE}/ask", json=body, headers=headers).status_code

    def spent() -> int:
        return int(client.get("/api/v1/me", headers=bob).json()["spent"])

    assert ask("avg(x > 0)", "k") == 200
    assert ask("avg(x > 1)", "k") == 422
    assert spent() == 1
    assert ask("avg(x>0)", "k", why="the same, spelled otherwise") == 200
    assert spent() == 1
    assert ask("avg(", "m") == 422  # and its key may be used for what was meant
    assert ask("avg(late)", "m", by=["origin"], accept_cost=3) == 200
    assert spent() == 4
    assert ask("avg(late)", "n", by=["origin"]) == 200  # a repeat
    assert ask("avg(x > 2)", "o") == 409


def test_a_key_is_of_one_data_set(service: Service, client: TestClient) -> None:
    """Keys are kept in the ledger: what was told under one says nothing of another ledger."""
    publish(service.folder, "other", seed=2)
    bob = {**bearer(service, "bob", questions=2), "Idempotency-Key": "k"}
    for spent, name in enumerate(("flights", "other"), start=1):
        path = f"/api/v1/datasets/{name}/ask"
        assert client.post(path, json={"question": LATE}, headers=bob).status_code == 200
        assert client.get("/api/v1/me", headers=bob).json()["spent"] == spent


def test_a_table_that_was_told_is_told_again_for_free(service: Service, client: TestClient) -> None:
    bob = bearer(service, "bob", dataset="flights", questions=3)
    for _ in range(2):
        assert client.post(f"{TABLE}/ask", json=BY_ORIGIN, headers=bob).status_code == 200
        assert client.get("/api/v1/me", headers=bob).json()["spent"] == 3


def test_a_refusal_says_what_is_lacking_and_costs_nothing(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    written = len(entries(service))
    said = {"question": "avg(x > 20)", "tolerance": 0.001}
    refused = client.post(f"{TABLE}/ask", json=said, headers=ada)
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    body = refused.json()
    assert body["type"] == "urn:holdfast:problem:refused"
    assert (body["of"], body["requested"]) == ("half-width", 0.001)
    assert body["missing"] == pytest.approx(body["remaining"] - 0.001)
    assert body["next_steps"]
    assert len(entries(service)) == written


def test_a_retired_data_set_is_gone_and_names_its_successor(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    first = client.post(f"{TABLE}/ask", json={"question": LATE}, headers=ada).json()
    with holdfast.open(ledger=service.folder.ledger("flights")) as holdout:
        holdout.end.retire(why="new rows", successor="flights-2027")
    gone = client.post(f"{TABLE}/ask", json={"question": "avg(x > 1)"}, headers=ada)
    assert gone.status_code == 410
    assert "flights-2027" in gone.json()["next_steps"][0]
    again = client.post(f"{TABLE}/ask", json={"question": LATE}, headers=ada).json()
    assert again["value"] == first["value"]
    assert client.get(TABLE, headers=ada).json()["closed"]["successor"] == "flights-2027"


def test_the_ledger_comes_in_pages_and_as_csv(service: Service, client: TestClient) -> None:
    ada = bearer(service, "zebulon")
    for question in (LATE, "avg(x > 1)", "avg(x > 2)"):
        said = {"question": question, "why": "=1+1"}
        client.post(f"{TABLE}/ask", json=said, headers=ada)
    first = client.get(f"{TABLE}/ledger?limit=2", headers=ada).json()
    rest = client.get(f"{TABLE}/ledger?limit=2&after={first['next']}", headers=ada).json()
    assert [line["number"] for line in first["lines"] + rest["lines"]] == [1, 2, 3]
    assert rest["next"] is None
    assert {line["asked_by"] for line in first["lines"]} == {"zebulon"}
    text = client.get(f"{TABLE}/ledger.csv", headers=ada).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["question"] for row in rows if not row["part_of"]] == [
        LATE,
        "avg(x > 1)",
        "avg(x > 2)",
    ]
    assert rows[0]["why"] == "'=1+1"  # no formula of a spreadsheet
    viewer = bearer(service, "vera", "viewer")
    for page in (f"{TABLE}/ledger", f"{TABLE}/ledger.csv"):
        assert "zebulon" not in client.get(page, headers=viewer).text


def test_columns_are_brought_as_values_or_files(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    bob, vera = bearer(service, "bob"), bearer(service, "vera", "viewer")
    body = {"name": "v1", "keys": list(range(ROWS)), "values": [n % 2 for n in range(ROWS)]}
    made = client.post(f"{TABLE}/columns", json=body, headers=ada)
    assert made.status_code == 200, made.text
    keyed = {**ada, "Idempotency-Key": "v1"}
    assert client.post(f"{TABLE}/columns", json=body, headers=keyed).content == made.content
    other = client.post(f"{TABLE}/columns", json={**body, "name": "v9"}, headers=keyed)
    assert other.status_code == 422
    lines = "\n".join(f"{n},{n % 3}" for n in range(ROWS))
    file = {"file": ("predictions.csv", f"item,predicted\n{lines}\n")}
    form = {"name": "v2", "low": "0", "high": "2"}
    sent = client.post(f"{TABLE}/columns/file", data=form, files=file, headers=ada)
    assert sent.status_code == 200, sent.text
    said = {"question": "avg(v1 = 1)", "tolerance": 0.2}
    assert client.post(f"{TABLE}/ask", json=said, headers=bob).status_code == 200
    for who, digests, names in ((ada, 2, 2), (bob, 0, 2), (vera, 0, 0)):
        found = client.get(f"{TABLE}/columns", headers=who).json()["columns"]
        assert [each["name"] for each in found] == ["v1", "v2"]
        assert sum("digest" in each for each in found) == digests
        assert sum("by" in each for each in found) == names
    for wrong in (
        {**body, "name": "v3", "keys": [1]},
        {**body, "name": "v3", "values": "/etc/passwd"},
        {**body, "values": [0] * ROWS},
    ):
        assert client.post(f"{TABLE}/columns", json=wrong, headers=ada).status_code == 422
    bad = {"file": ("predictions.csv", "item,predicted\n1,\x00\n")}
    refused = client.post(f"{TABLE}/columns/file", data=form, files=bad, headers=ada)
    assert refused.status_code == 422
    pickled = {"file": ("predictions.pickle", b"\x80\x04.")}
    assert (
        client.post(f"{TABLE}/columns/file", data=form, files=pickled, headers=ada).status_code
        == 422
    )


def test_the_planner_is_for_everybody(service: Service, client: TestClient) -> None:
    vera = bearer(service, "vera", "viewer")
    plan = client.get("/api/v1/plan?rows=20000&questions=100", headers=vera).json()
    assert plan["recommended"] == "bounded noise"
    assert plan["text"] == str(holdfast.plan(rows=20_000, questions=100))
    few = client.get("/api/v1/plan?rows=10&questions=100&tolerance=0.01", headers=vera)
    assert few.status_code == 409
    assert client.get("/api/v1/plan?rows=10", headers=vera).status_code == 422


def test_custodians_audit_and_make_tokens(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    custodian = bearer(service, "cy", "custodian")
    client.post(f"{TABLE}/ask", json={"question": LATE}, headers=ada)
    found = client.get(f"{TABLE}/audit", headers=custodian).json()
    assert found["fine"]
    assert found["data_compared"]
    body = {"name": "bob", "role": "analyst", "dataset": "flights", "questions": 5}
    keyed = {**custodian, "Idempotency-Key": "make bob"}
    assert client.post("/api/v1/tokens", json=body, headers=keyed).status_code == 422
    keyed["Idempotency-Key"] = "make-bob"
    made = client.post("/api/v1/tokens", json={**body, "expires": "30d"}, headers=keyed)
    assert made.status_code == 201
    again = client.post("/api/v1/tokens", json={**body, "expires": "30d"}, headers=keyed)
    assert again.content == made.content
    other = client.post("/api/v1/tokens", json={**body, "name": "eve"}, headers=keyed)
    assert other.status_code == 422
    bob = {"Authorization": f"Bearer {made.json()['token']}"}
    assert client.get(f"{TABLE}/budget", headers=bob).status_code == 200
    listed = client.get("/api/v1/tokens", headers=custodian).json()["tokens"]
    assert {each["name"] for each in listed} == {"ada", "cy", "bob"}
    assert "token" not in listed[0]
    assert client.delete("/api/v1/tokens/bob", headers=custodian).json()["revoked"]
    assert client.get(f"{TABLE}/budget", headers=bob).status_code == 401
    assert client.delete("/api/v1/tokens/nobody", headers=custodian).status_code == 422


def test_a_custodian_of_one_data_set_has_no_power_over_others(
    service: Service, client: TestClient
) -> None:
    publish(service.folder, "other", seed=2)
    cy = bearer(service, "cy", "custodian", dataset="other")
    bearer(service, "bob", dataset="flights")
    for dataset in ("flights", None):
        body = {"name": "eve", "role": "analyst", "dataset": dataset}
        assert client.post("/api/v1/tokens", json=body, headers=cy).status_code == 403
    assert client.delete("/api/v1/tokens/bob", headers=cy).status_code == 403
    assert [each["name"] for each in client.get("/api/v1/tokens", headers=cy).json()["tokens"]] == [
        "cy"
    ]
    assert client.get(f"{TABLE}/audit", headers=cy).status_code == 403


def test_the_certificate_is_audited_alone(
    service: Service, client: TestClient, ada: dict[str, str], tmp_path: Path
) -> None:
    client.post(f"{TABLE}/ask", json={"question": LATE}, headers=ada)
    assert client.get(f"{TABLE}/certificate", headers=ada).status_code == 403
    cy = bearer(service, "cy", "custodian")
    page = client.get(f"{TABLE}/certificate", headers=cy)
    assert "attachment" in page.headers["content-disposition"]
    assert LATE in page.text
    found = client.get(f"{TABLE}/certificate?form=json", headers=cy)
    (tmp_path / "reuse.json").write_bytes(found.content)
    done = holdfast_command("audit", "reuse.json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert client.get(f"{TABLE}/certificate?form=pickle", headers=cy).status_code == 422


def test_those_who_run_it_see_that_it_is_up(service: Service, client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "up"}
    assert client.get("/ready").json() == {"status": "ready"}
    assert client.get("/metrics").status_code == 401
    told = client.get("/metrics", headers=bearer(service, "cy", "custodian")).text
    assert 'route="/health",status="200"} 1' in told
    service.folder.ledger("broken").write_bytes(b"no ledger")
    assert client.get("/health").status_code == 200
    assert client.get("/ready").status_code == 503


def test_every_interval_is_audited(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    for verb, body in CALLS.values():
        client.post(f"{TABLE}/{verb}", json=body, headers={**ada, "Idempotency-Key": verb})
    assert all(each.fine for each in audit(service.folder.ledger("flights")))


def test_certificates_are_signed_with_the_key_that_the_service_publishes(
    service: Service, client: TestClient, tmp_path: Path
) -> None:
    custodian = bearer(service, "cy", "custodian")
    client.post(f"{TABLE}/ask", json={"question": LATE}, headers=custodian)
    published = client.get("/api/v1/key").json()["key"]  # for everybody
    told = client.get(f"{TABLE}/certificate?form=json", headers=custodian)
    path = tmp_path / "reuse.json"
    path.write_bytes(told.content)
    assert all(each.fine for each in audit_certificate(path, key=published))
    assert (service.folder.path / "service.key").stat().st_mode & 0o777 == 0o600


def test_usual_requests_are_read_without_dependencies_and_others_with_them(
    client: TestClient, ada: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong is said by FastAPI, from the beginning."""
    looked_up: list[object] = []
    solve = solve_dependencies

    async def counted(**words: Any) -> Any:
        looked_up.append(words["request"].url.path)
        return await solve(**words)

    monkeypatch.setattr("fastapi.routing.solve_dependencies", counted)
    key = {**ada, "Idempotency-Key": "k1"}
    body = {"question": LATE}
    for reply in (
        client.post(f"{TABLE}/ask", json=body, headers=key),
        client.post(f"{TABLE}/ask?details=true", json=body, headers=ada),
        client.get(f"{TABLE}/ledger?limit=1&after=0", headers=ada),
        client.get(f"{TABLE}/budget", headers=ada),
        client.get("/api/v1/me", headers=ada),
    ):
        assert reply.status_code == 200, reply.text
    assert client.post(f"{TABLE}/ask", json=body).status_code == 401
    assert client.get("/api/v1/tokens", headers=ada).status_code == 403
    assert looked_up == []
    wrong: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"{TABLE}/ask", {"json": {**body, "wherre": "x"}, "headers": ada}),
        ("POST", f"{TABLE}/ask", {"json": body, "headers": {**ada, "Idempotency-Key": "a b"}}),
        ("POST", f"{TABLE}/ask?details=perhaps", {"json": body, "headers": ada}),
        ("GET", f"{TABLE}/ledger?limit=0", {"headers": ada}),
    ]
    for method, path, how in wrong:
        assert client.request(method, path, **how).status_code == 422
    text = json.dumps(body)
    for content, kind in ((text, "text/plain"), ("{", "application/json")):
        headers = {**ada, "Content-Type": kind}
        assert client.post(f"{TABLE}/ask", content=content, headers=headers).status_code >= 400
    assert len(looked_up) >= len(wrong)
    other = {**ada, "Content-Type": "application/json; charset=utf-8"}
    assert client.post(f"{TABLE}/ask", content=text, headers=other).status_code == 200


def test_what_is_free_is_written_once_until_somebody_asks(
    service: Service, client: TestClient, ada: dict[str, str]
) -> None:
    viewer = bearer(service, "vic", "viewer")
    for path in (f"{TABLE}/budget", f"{TABLE}/ledger", f"{TABLE}/ledger?details=true"):
        before = client.get(path, headers=ada).content
        assert client.get(path, headers=ada).content == before
        number = len(client.get(f"{TABLE}/ledger", headers=ada).json()["lines"])
        client.post(f"{TABLE}/ask", json={"question": f"avg(x > {number})"}, headers=ada)
        after = client.get(path, headers=ada).content
        assert after != before
    assert "asked_by" in client.get(f"{TABLE}/ledger", headers=ada).json()["lines"][0]
    assert "asked_by" not in client.get(f"{TABLE}/ledger", headers=viewer).json()["lines"][0]
