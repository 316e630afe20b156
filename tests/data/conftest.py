"""What tests of engines share: a folder for files, and a connection."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.data.engines import duckdb_connection


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb_connection()
