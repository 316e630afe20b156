"""Replies are what OpenAPI says: of every operation a real one, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import polars as pl
import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.folder import Settings
from tests.service.generated_client import client_source

ROWS = 400
TABLE, BOARD = {"dataset": "table"}, {"dataset": "board"}
# What is called, with which parameters and body; in an order in which each can be answered.
Words = dict[str, str]
CALLS: tuple[tuple[str, Words, dict[str, Any] | None], ...] = (
    ("attach", TABLE, {"name": "v7", "values": [True] * ROWS}),
    ("ask", TABLE, {"question": "avg(late)"}),
    ("ask", {**TABLE, "details": "true"}, {"question": "avg(late)"}),
    ("ask", TABLE, {"question": "avg(late)", "by": ["origin"], "accept_cost": 99}),
    ("ask", TABLE, {"question": "distribution(x, 0, 1, 2)", "accept_cost": 99}),
    ("check", TABLE, {"question": "avg(late)", "guess": 0.5}),
    ("gate", TABLE, {"question": "avg(late)", "at_least": 0.01}),
    ("batch", TABLE, {"questions": ["avg(late)", "avg(x > 1)"]}),
    ("cost", TABLE, {"question": "avg(x > 0.5)"}),
    ("cost", TABLE, {"question": "avg(x > 0.5)", "at_least": 0.5, "gate": True}),
    ("submit_values", BOARD, {"name": "first", "values": [True] * ROWS, "claim": 0.5}),
    ("create_token", {}, {"name": "ada", "role": "analyst", "questions": 3, "expires": "1h"}),
    ("rotate_token", {"which": "ada", "overlap": "1h"}, None),
    ("dataset", TABLE, None),
    ("dataset", {**TABLE, "details": "true"}, None),
    ("dataset", BOARD, None),
    ("budget", {**TABLE, "details": "true"}, None),
    ("ledger", {**TABLE, "limit": "2"}, None),
    ("ledger", {**TABLE, "details": "true"}, None),
    ("ledger_csv", TABLE, None),
    ("columns", TABLE, None),
    ("audit", TABLE, None),
    ("certificate", TABLE, None),
    ("certificate", {**TABLE, "form": "json"}, None),
    ("public_key", {}, None),
    ("standings", BOARD, None),
    ("datasets", {}, None),
    ("tokens", {}, None),
    ("revoke_token", {"which": "ada"}, None),
    ("me", {}, None),
    ("plan", {"rows": "1000", "questions": "10"}, None),
    ("end_board", BOARD, None),
    ("health", {}, None),
    ("ready", {}, None),
    ("metrics", {}, None),
)
FILES = ("attach_file", "submit_a_file")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A table to ask about, and a leaderboard."""
    folder = tmp_path_factory.mktemp("replies")
    service = Service.of(folder / "served", Settings(release_step=0.0))
    x, origin = [n / 100 for n in range(ROWS)], ["EWR", "JFK"] * (ROWS // 2)
    table = pl.DataFrame(
        {"item": range(ROWS), "late": [True, False] * (ROWS // 2), "x": x, "origin": origin}
    )
    schema: dict[str, Any] = {"x": (0.0, 4.0), "origin": {"values": ["EWR", "JFK"]}}
    table.write_parquet(folder / "table.parquet")
    place = service.folder.ledger("table")
    holdfast.open(
        folder / "table.parquet", ledger=place, key="item", tolerance=0.4, schema=schema
    ).close()
    table.select("item", late=~pl.col("late")).write_parquet(folder / "labels.parquet")
    board = service.folder.ledger("board")
    holdfast.Leaderboard(folder / "labels.parquet", key="item", ledger=board).close()
    return service


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    made = service.tokens.create("cy", "custodian").to_dict()
    headers = {"Authorization": f"Bearer {made['token']}"}
    with TestClient(app_of(service), headers=headers) as client:
        yield client


def described(client: TestClient) -> dict[str, Any]:
    """What OpenAPI says, by the name of the operation, with the path and the method."""
    description: dict[str, Any] = client.get("/openapi.json").json()
    return {
        operation["operationId"]: {**operation, "path": path, "method": method}
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    }


def strict(schema: Any) -> Any:
    """A schema by which nothing may be told that it does not say."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return closed | {name: strict(each) for name, each in schema.items()}


def validator(client: TestClient, schema: dict[str, Any]) -> Any:
    """What compares a value with the schema of an operation."""
    components = client.get("/openapi.json").json()["components"]
    return jsonschema.Draft202012Validator(strict({**schema, "components": components}))


def replied(client: TestClient, operation: dict[str, Any], words: Words, **how: Any) -> Any:
    """The reply of an operation, compared with what is described of it."""
    path = operation["path"].format(**words)
    query = {name: value for name, value in words.items() if f"{{{name}}}" not in operation["path"]}
    reply = client.request(operation["method"], path, params=query, **how)
    assert reply.is_success, reply.text
    content = operation["responses"][str(reply.status_code)]["content"]
    kind = reply.headers["content-type"].partition(";")[0]
    schema = content[kind]["schema"]
    assert schema, path
    value = reply.json() if kind == "application/json" else reply.text
    validator(client, schema).validate(value)
    return value


def test_every_reply_is_as_described(client: TestClient) -> None:
    operations, met = described(client), set(FILES)
    for name, words, body in CALLS:
        replied(client, operations[name], words, json=body)
        met.add(name)
    assert met == operations.keys()


def test_replies_to_files_are_as_described(client: TestClient, service: Service) -> None:
    operations = described(client)
    rows = "item,v\n" + "".join(f"{n},0.5\n" for n in range(ROWS))
    upload = {"file": ("v.csv", rows.encode())}
    replied(client, operations["attach_file"], TABLE, files=upload, data={"name": "v9"})
    schema = operations["submit_a_file"]["responses"]["200"]["content"]
    assert schema == operations["submit_values"]["responses"]["200"]["content"]


def test_what_viewers_and_analysts_are_told_is_as_described(
    client: TestClient, service: Service
) -> None:
    operations = described(client)
    client.post("/api/v1/datasets/table/ask", json={"question": "avg(late)"})
    for role in ("viewer", "analyst"):
        text = service.tokens.create(f"a {role}", role).text
        headers = {"Authorization": f"Bearer {text}"}
        for name in ("dataset", "budget", "ledger", "columns", "standings", "me", "datasets"):
            words = BOARD if name == "standings" else TABLE
            own = words if "{dataset}" in operations[name]["path"] else {}
            told = replied(client, operations[name], own, headers=headers)
            if name == "ledger":
                assert ("asked_by" in told["lines"][0]) == (role == "analyst")


def test_the_comparison_sees_what_is_not_described(client: TestClient) -> None:
    """The sabotage twin: a field too many, one too few, and one of another type."""
    schema = described(client)["me"]["responses"]["200"]["content"]["application/json"]["schema"]
    fine: dict[str, Any] = client.get("/api/v1/me").json()
    compare = validator(client, schema)
    assert compare.is_valid(fine)
    assert not compare.is_valid({**fine, "secret": "x"})
    assert not compare.is_valid({name: fine[name] for name in fine if name != "spent"})
    assert not compare.is_valid({**fine, "spent": "many"})


def test_a_client_made_of_the_description_compiles_and_works(client: TestClient) -> None:
    """No generator is needed: types and calls are written from OpenAPI alone."""
    description = client.get("/openapi.json").json()
    source = client_source(description)
    module = ModuleType("generated")
    exec(compile(source, "generated.py", "exec"), module.__dict__)

    def send(method: str, path: str, query: dict[str, Any], headers: Any, body: Any) -> Any:
        reply = client.request(method, path, params=query, headers=headers, json=body)
        return reply.json()

    answer = module.ask(send, dataset="table", body={"question": "avg(late)"})
    assert answer.keys() >= module.AnswerReply.__required_keys__
    page = module.ledger(send, dataset="table", limit=1)
    assert page["next"] in (1, None)
    assert module.me(send)["name"] == "cy"
    with pytest.raises(TypeError, match="dataset"):
        module.ask(send, body={"question": "avg(late)"})
    hints = module.ask.__annotations__
    assert "AnswerReply" in str(hints["return"])
    assert module.AskBody.__required_keys__ == {"question"}


def test_pages_of_the_ledger_are_of_lines_alone(client: TestClient) -> None:
    lines, after = [], 0
    whole = client.get("/api/v1/datasets/table/ledger", params={"limit": 1000}).json()
    while True:
        page = client.get(
            "/api/v1/datasets/table/ledger", params={"limit": 2, "after": after}
        ).json()
        assert len(page["lines"]) <= 2
        lines += page["lines"]
        if page["next"] is None:
            break
        after = page["next"]
    assert json.dumps(lines) == json.dumps(whole["lines"])
    assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))
    nothing = client.get("/api/v1/datasets/table/ledger", params={"after": 10**6}).json()
    assert (nothing["lines"], nothing["next"]) == ([], None)


def test_a_page_costs_a_page(service: Service) -> None:
    """Of a long ledger only the lines of the page are told, and the view is made once."""
    with holdfast.open(ledger=service.folder.ledger("table")) as holdout:
        view = holdout.ledger
        assert holdout.ledger is view
        assert len(view) > 3
        page = view.page(1, 2)
        assert [line["number"] for line in page.to_dicts()] == [2, 3]
        assert len(page.lines) == 2
