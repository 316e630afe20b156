"""A ledger with answers, a column and a checkpoint, to be moved or copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import holdfast
from holdfast.errors import InvalidArgument, LedgerUnavailable
from holdfast.ledger.backend import LedgerHome
from holdfast.ledger.store import Store
from tests.holdout.tables import BOUNDS, table

ROWS = table().with_row_index("id").with_columns(pl.col("id").cast(pl.Int64))
SAID: dict[str, Any] = {"tolerance": 0.3, "questions": 20, "schema": BOUNDS, "key": "id"}


def opened(home: LedgerHome, **said: Any) -> holdfast.Holdout:
    return holdfast.open(ROWS, ledger=home, **said)  # type: ignore[arg-type]


def started(home: LedgerHome) -> LedgerHome:
    """A ledger with answers, a column and a checkpoint."""
    with opened(home, name="t", **SAID) as holdout:
        holdout.attach("v", pl.DataFrame({"id": ROWS["id"], "v": np.arange(ROWS.height) % 3 == 0}))
        holdout.ask("avg(v)")
    return home


def is_usable(home: LedgerHome) -> bool:
    try:
        Store.open(home).close()
    except (InvalidArgument, LedgerUnavailable):
        return False
    return True
