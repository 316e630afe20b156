"""What OpenAPI says is what happens: made-up requests get documented replies, and never a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from holdfast.service.app import app_of
from holdfast.service.service import Service
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
