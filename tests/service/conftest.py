"""A service and its client, for every test of this folder; whatever is logged is looked at."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from holdfast.service.data_set import Service
from tests.service.serving import bearer, client_of_service, made_service, require_clean


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = made_service(tmp_path)
    yield made
    made.tokens.close()  # where no client did


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with client_of_service(service) as made:
        yield made


@pytest.fixture
def ada(service: Service) -> dict[str, str]:
    """An analyst."""
    return bearer(service)


@pytest.fixture(autouse=True)
def nothing_is_logged_that_should_not_be(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO):
        yield
    for record in caplog.get_records("call"):
        if record.name.startswith(("holdfast", "uvicorn")):
            require_clean(f"{record.getMessage()} {record.exc_text or ''}")
