"""One record of options on every surface: `by` is a column, and `asked_by` a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.errors import HoldfastError
from holdfast.holdout import options
from holdfast.holdout.options import fields_of
from holdfast.service import wire
from holdfast.service.data_set import Service
from tests.agents.talking import called, facts_of, texts_of
from tests.cli.run import holdfast as run
from tests.service.serving import LATE, TABLE, bearer, client_of_service, listening

ORIGINS = ["EWR", "JFK", "LGA"]
# A surface is asked with options, and returns the labels of the groups it answers for; an error
# is raised, or is what its text says.
Surface = Callable[..., list[Any]]
SURFACES = ("python", "client", "rest", "cli", "mcp")
LOCAL = ("python", "cli")  # who asks is said; elsewhere the token, or the server, says it


class Failed(Exception):
    """What a surface says where it raises nothing."""


@pytest.fixture
def surface(request: pytest.FixtureRequest, service: Service, tmp_path: Path) -> Iterator[Surface]:
    path, ledger = tmp_path / "canaryfolder/flights.parquet", service.folder.ledger("flights")
    match request.param:
        case "python" | "mcp":
            with holdfast.open(path, ledger=ledger) as holdout:
                yield _python(holdout) if request.param == "python" else _tool(holdout)
        case "client":
            token = service.tokens.create("ada", "analyst").text
            with (
                listening(service) as url,
                holdfast.connect(url, token=token, retries=0) as remote,
            ):
                yield _client(remote)
        case "rest":
            with client_of_service(service) as client:
                yield _rest(client, bearer(service))
        case "cli":
            yield _command(ledger)


def _labels(answers: Any) -> list[Any]:
    return [label for label, _ in answers]


def _python(holdout: holdfast.Holdout) -> Surface:
    return lambda verb, **said: _labels(getattr(holdout, verb)(LATE, **said))


def _client(remote: Any) -> Surface:
    return lambda verb, **said: _labels(getattr(remote, verb)(LATE, accept_cost=20, **said))


def _rest(client: TestClient, who: dict[str, str]) -> Surface:
    def put(verb: str, request_key: str = "k", **said: Any) -> list[Any]:
        body = {"question": LATE, "accept_cost": 20, **said}
        body |= {"by": [said["by"]]} if "by" in said else {}
        reply = client.post(
            f"{TABLE}/{verb}", json=body, headers={**who, "Idempotency-Key": request_key}
        )
        if reply.status_code != 200:
            raise Failed(reply.text)
        return [each["origin"] for each in reply.json()["groups"]]

    return put


def _command(ledger: Path) -> Surface:
    def put(verb: str, **said: Any) -> list[Any]:
        words = [
            word
            for name, value in said.items()
            for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        done = run(verb, str(ledger), LATE, *words, "--json")
        if done.returncode:
            raise Failed(done.stdout + done.stderr)
        return [each["origin"] for each in json.loads(done.stdout)]

    return put


def _tool(holdout: holdfast.Holdout) -> Surface:
    def put(verb: str, **said: Any) -> list[Any]:
        said |= {"by": [said["by"]]} if "by" in said else {}
        result = called(holdout, verb, "ada", question=LATE, **said)
        if result.is_error:
            raise Failed(" ".join(texts_of(result)))
        return [label for each in facts_of(result)["answers"] for label in each["group"]]

    return put


def _lines(service: Service) -> list[Any]:
    with holdfast.open(ledger=service.folder.ledger("flights")) as holdout:
        return list(holdout.ledger)


@pytest.mark.parametrize("surface", SURFACES, indirect=True)
@pytest.mark.parametrize(("verb", "claim"), [("ask", {}), ("check", {"guess": 0.25})])
def test_by_is_a_column_and_asked_by_a_person(
    surface: Surface,
    verb: str,
    claim: dict[str, float],
    service: Service,
    request: pytest.FixtureRequest,
) -> None:
    local = request.node.callspec.params["surface"] in LOCAL
    person = {"asked_by": "ada"} if local else {}
    assert surface(verb, by="origin", request_key="k1", **person, **claim) == ORIGINS
    lines = _lines(service)
    assert [line.request.by for line in lines] == ["ada"] * 3
    assert {line.request.verb for line in lines} == {verb}
    (key,) = {line.request.key for line in lines}
    assert key.split(" ")[-1] == "k1"
    # The same call again is told the same, and writes nothing.
    assert surface(verb, by="origin", request_key="k1", **person, **claim) == ORIGINS
    assert len(_lines(service)) == 3


@pytest.mark.parametrize("surface", SURFACES, indirect=True)
def test_a_person_in_the_place_of_a_column_is_told_where_persons_go(surface: Surface) -> None:
    with pytest.raises((HoldfastError, Failed), match=r"'Ada'.*not a column.*asked_by="):
        surface("ask", by="Ada")


@pytest.mark.parametrize("surface", SURFACES, indirect=True)
def test_no_call_is_named_by_key(surface: Surface, service: Service) -> None:
    with pytest.raises((TypeError, Failed)):
        surface("ask", by="origin", key="k1")
    assert _lines(service) == []


@pytest.mark.parametrize(
    ("verb", "said", "new"),
    [
        ("ask", {"key": "k"}, "request_key="),
        ("check", {"key": "k", "guess": 0.2}, "request_key="),
        ("gate", {"by": "Ada", "at_least": 0.1}, "asked_by="),
        ("attach", {"values": [1.0], "by": "Ada"}, "asked_by="),
        ("promote", {"by": "Ada"}, "asked_by="),
        ("search", {"size": 3, "by": "Ada"}, "asked_by="),
        ("final", {"by": "Ada"}, "asked_by="),
    ],
)
def test_an_old_spelling_is_told_the_new_one(
    service: Service, verb: str, said: dict[str, Any], new: str
) -> None:
    with (
        holdfast.open(ledger=service.folder.ledger("flights")) as holdout,
        pytest.raises(TypeError, match=f"^{verb}\\(\\) takes no (by|key)=; .*{new}"),
    ):
        getattr(holdout, verb)("late", **said)


@pytest.mark.parametrize("name", ["reveal", "reveal_cost", "final_cost", "retire"])
def test_the_verbs_that_end_a_ledger_are_told_where_they_are(service: Service, name: str) -> None:
    with holdfast.open(ledger=service.folder.ledger("flights")) as holdout:
        with pytest.raises(AttributeError, match=f"it is holdout.end.{name}"):
            getattr(holdout, name)
        assert callable(getattr(holdout.end, name))
        with pytest.raises(AttributeError, match=r"no 'ledgr'; did you mean ledger\?$"):
            holdout.ledgr  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("verb", ["Ask", "Check", "Gate", "Batch"])
def test_the_fields_of_a_body_are_the_options_of_the_verb(verb: str) -> None:
    sent = set(fields_of(getattr(options, f"{verb}Sent"))) - {"request_key"}
    body = set(getattr(wire, f"{verb}Body").model_fields)
    beside = {"question", "questions", "by", "guess", "guesses", "accept_cost"}
    assert sent <= body <= sent | beside
