"""What replies of a service hold: a small one is asked, and the names of the fields are kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from starlette.testclient import TestClient

import holdfast
from holdfast.service.app import app_of
from holdfast.service.data_set import Service
from holdfast.service.folder import Settings

__all__ = ["reply_fields"]

_API = "/api/v1"
_ONE = f"{_API}/datasets/{{dataset}}"
_ROWS = 400
# An operation, whom it is sent to, and its body; in an order in which each can be answered.
_CALLS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    (f"POST {_ONE}/columns", "table", {"name": "v7", "values": [True] * _ROWS}),
    (f"POST {_ONE}/ask", "table", {"question": "avg(late)"}),
    (f"POST {_ONE}/check", "table", {"question": "avg(late)", "guess": 0.5}),
    (f"POST {_ONE}/gate", "table", {"question": "avg(late)", "at_least": 0.01}),
    (f"POST {_ONE}/batch", "table", {"questions": ["avg(late)"]}),
    (f"POST {_ONE}/cost", "table", {"question": "avg(late)"}),
    (f"POST {_ONE}/board", "board", {"name": "first", "values": [True] * _ROWS}),
    (f"POST {_API}/tokens", "", {"name": "ada", "role": "analyst"}),
    (f"GET {_ONE}", "table", None),
    (f"GET {_ONE}/budget", "table", None),
    (f"GET {_ONE}/ledger", "table", None),
    (f"GET {_ONE}/columns", "table", None),
    (f"GET {_ONE}/audit", "table", None),
    (f"GET {_ONE}/board", "board", None),
    (f"GET {_API}/datasets", "", None),
    (f"GET {_API}/tokens", "", None),
    (f"GET {_API}/me", "", None),
    (f"GET {_API}/plan?rows=1000&questions=10", "", None),
    (f"POST {_ONE}/board/final", "board", None),
    ("GET /health", "", None),
    ("GET /ready", "", None),
)


def reply_fields() -> dict[str, str]:
    """The fields of each operation's reply, as text."""
    with TemporaryDirectory() as folder:
        service = Service.of(Path(folder), Settings(release_step=0.0))
        _publish(service)
        made = service.tokens.create("custodian", "custodian").to_dict()
        headers = {"Authorization": f"Bearer {made['token']}"}
        with TestClient(app_of(service), headers=headers) as client:
            return {call[0].partition("?")[0]: _asked(client, *call) for call in _CALLS}


def _publish(service: Service) -> None:
    """A table to ask about, and a leaderboard."""
    table = pl.DataFrame({"item": range(_ROWS), "late": [True, False] * (_ROWS // 2)})
    path = service.folder.path / "table.parquet"
    table.write_parquet(path)
    holdfast.open(path, ledger=service.folder.ledger("table"), key="item").close()
    labels = path.with_name("labels.parquet")
    table.with_columns(~pl.col("late")).write_parquet(labels)
    holdfast.Leaderboard(labels, key="item", ledger=service.folder.ledger("board")).close()


def _asked(client: TestClient, call: str, dataset: str, body: dict[str, Any] | None) -> str:
    method, _, path = call.partition(" ")
    reply = client.request(method, path.format(dataset=dataset), json=body)
    if not reply.is_success:
        raise RuntimeError(f"{call}: {reply.text}")
    return _named(reply.json())


def _named(body: Mapping[str, Any]) -> str:
    """The names of fields; of a list of records also theirs."""
    return ", ".join(
        f"`{name}` (each: {_named(value[0])})"
        if isinstance(value, list) and value and isinstance(value[0], dict)
        else f"`{name}`"
        for name, value in body.items()
    )
