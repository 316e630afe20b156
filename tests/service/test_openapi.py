"""What OpenAPI says is what happens: made-up requests get documented replies, and never a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from starlette.testclient import TestClient

from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.reference import operations_of
from holdfast.service.tokens import TokenRole
from tests.service.serving import bearer, made_service, require_clean


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Service]:
    service = made_service(tmp_path)
    yield service
    service.close()


def test_requests_made_up_from_the_description(served: Service) -> None:
    custodian = bearer(served, "cy", "custodian")
    described = schemathesis.openapi.from_asgi("/openapi.json", app_of(served))
    results: list[Any] = list(described.get_all_operations())
    operations = [each.ok() for each in results]
    assert len(operations) >= 18
    for operation in operations:

        @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def request(case: Any) -> None:
            _require_answered(custodian, case)

        request()


def _require_answered(custodian: dict[str, str], case: Any) -> None:
    if "dataset" in case.path_parameters:
        case.path_parameters["dataset"] = "flights"
    reply = case.call(headers=custodian)
    require_clean(reply.text)
    assert reply.status_code < 500, reply.text
    documented = case.operation.definition.raw["responses"]
    assert str(reply.status_code) in documented, (reply.status_code, reply.text)


@pytest.mark.parametrize("role", [None, *get_args(TokenRole)])
def test_whom_the_description_names_is_let_in(served: Service, role: TokenRole | None) -> None:
    """A body that is missing is looked at after the token; nothing is asked here."""
    app = app_of(served)
    headers = {} if role is None else bearer(served, "cy", role)
    client = TestClient(app, headers=headers)
    for operation in [each for tag in operations_of(app).values() for each in tag]:
        if operation.path.endswith("/final") or operation.method == "DELETE":
            continue  # they need no body, and end something
        path = operation.path.format(dataset="flights", which="nobody")
        status = client.request(operation.method, path).status_code
        if operation.caller.startswith("anyone"):
            assert status == 200, path
        elif role is None:
            assert status == 401, path
        else:
            turned_away = operation.caller != "any token" and role not in operation.caller
            assert (status == 403) is turned_away, (path, status)


def test_every_operation_and_every_field_says_what_it_is(served: Service) -> None:
    operations = [each for tag in operations_of(app_of(served)).values() for each in tag]
    assert all(each.about for each in operations)
    silent = [
        (each.path, field.name) for each in operations for field in each.fields if not field.about
    ]
    assert not silent
